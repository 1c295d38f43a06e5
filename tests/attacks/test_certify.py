"""certify: what is robust is so by brute force, what is broken is shown, and one run answers for smaller budgets."""

import dataclasses
import itertools
import json
import re

import numpy as np
import pytest

import discotext
from discotext.report import make_page
from discotext.runs.certificate import count_allowed, explain_open, judge, make_certificates
from discotext.runs.folder import read_run
from discotext.runs.record import Budget
from discotext.solvers.exact import exactly
from discotext.text import make_candidates
from tests.fuzzing import run as run_cli

WORDS = ["good", "bad", "great", "awful", "fine", "film", "movie", "plot", "story", "actor", "scene", "old", "new"]
SYNONYMS = {word: [other for other in WORDS if other != word][:3] for word in WORDS}


@pytest.fixture
def synonyms(tmp_path):
    path = tmp_path / "synonyms.json"
    path.write_text(json.dumps(SYNONYMS))
    return path


def make_data(seed, texts=30):
    rng = np.random.default_rng(seed)
    written = [" ".join(rng.choice(WORDS, size=int(rng.integers(1, 7)))) for _ in range(texts)]
    return written, make_scores(seed)(written).argmax(axis=1).tolist()


def make_scores(seed):
    """A function of pairs of words: no bound is known for it."""
    rng = np.random.default_rng(seed + 100)
    single = {word: rng.normal(size=3) for word in WORDS}
    pair = {both: 0.5 * rng.normal(size=3) for both in itertools.product(WORDS, WORDS)}

    def scores(texts):
        found = []
        for text in texts:
            words = [word for word in text.split() if word in single]
            total = sum((single[word] for word in words), np.zeros(3))
            found.append(total + sum((pair[both] for both in itertools.pairwise(words)), np.zeros(3)))
        return np.array(found)

    return scores


def fewest_changes(victim, record, space):
    """By brute force, the fewest words that flip a text; infinite if none do."""
    problem = space.batch[0]
    for changes in range(1, problem.budget + 1):
        for rows in exactly(problem, changes):
            texts = [space.text(0, row) for row in rows]
            if len(texts) and (np.asarray(victim(texts)).argmax(axis=1) != record.label).any():
                return changes
    return np.inf


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("passes", [5, 60, 100_000])
def test_every_verdict_agrees_with_brute_force(seed, passes, synonyms):
    scores, data = make_scores(seed), make_data(seed)
    finder = make_candidates(synonyms=[synonyms], without=["all"])
    result = discotext.certify(scores, data, words=[1, 2, 3], candidates=finder, passes=passes, seed=seed)
    space = discotext.text.Space.of(data[0], finder, words=3)
    for record in result.records:
        truth = fewest_changes(scores, record, space.take([record.id]))
        assert record.radius < truth
        if record.succeeded:
            assert len(record.changes) >= truth
        if passes == 100_000:
            assert record.radius == min(truth - 1, record.budget)
            assert judge(record) == ("broken" if truth <= record.budget else "robust")
    if passes == 100_000:
        assert [certificate.open for certificate in result.certificates] == [0, 0, 0]


def test_one_run_answers_for_smaller_budgets_as_runs_of_their_own_do(synonyms):
    scores, data = make_scores(5), make_data(5)
    finder = make_candidates(synonyms=[synonyms], without=["all"])
    together = discotext.certify(scores, data, words=[1, 2, 3], candidates=finder, passes=10**6).certificates
    for words, one in zip([1, 2, 3], together, strict=True):
        alone = discotext.certify(scores, data, words=words, candidates=finder, passes=10**6).certificates[0]
        assert one.verdicts == alone.verdicts
        assert one.budget == words
        assert float(one.certified_accuracy) == pytest.approx(float(one.attacked_accuracy))
        assert sum(one.radius.values()) == one.n - one.verdicts["wrong"]
    shares = discotext.certify(scores, data, budget=[0.2, 0.5], candidates=finder, passes=10**6)
    assert [one.budget for one in shares.certificates] == [0.2, 0.5]
    assert len(shares.records) == len(data[0])
    assert all(count_allowed(one, Budget(share="0.2")) <= one.budget for one in shares.records)


def test_attack_and_certify_mean_the_same_by_proved(synonyms):
    scores, data = make_scores(6), make_data(6)
    finder = make_candidates(synonyms=[synonyms], without=["all"])
    exact = discotext.attack(scores, data, "exact", words=2, candidates=finder)
    certified = discotext.certify(scores, data, words=2, candidates=finder, passes=10**6)
    for one, other in zip(exact.records, certified.records, strict=True):
        assert one.radius == other.radius
        assert one.succeeded == other.succeeded
        assert len(one.changes) == len(other.changes) or not one.succeeded


def test_a_victim_that_is_wrong_or_fails_is_not_certified():
    def scores(texts):
        if any("fail" in text for text in texts):
            raise RuntimeError("no")
        return [[text.count("good"), 0.5] for text in texts]

    texts, labels = ["good film", "a film", "please fail", "bad"], [0, 0, 0, 1]
    result = discotext.certify(scores, (texts, labels), words=1)
    assert [judge(one) for one in result.records][1:] == ["wrong", "open", "robust"]
    found = result.certificates[0]
    assert (found.verdicts["wrong"], found.verdicts["open"], found.n) == (1, 1, 4)
    assert found.certified_accuracy <= found.attacked_accuracy


def test_what_is_open_says_why(synonyms):
    def firm(texts):
        return [[1.0, 0.0] for _ in texts]

    texts, _ = make_data(7)
    finder = make_candidates(synonyms=[synonyms], without=["all"])
    for passes, radius in ((1, 0), (25, 1), (10**6, 3)):
        result = discotext.certify(firm, (texts, [0] * len(texts)), words=3, candidates=finder, passes=passes)
        longest = max(result.records, key=lambda one: one.words)
        assert longest.radius == radius
        assert judge(longest) == ("robust" if radius == 3 else "open")
        if radius < 3:
            known = f"robust up to {radius} changed word{'s' if radius != 1 else ''}"
            expected = f"a proof would take more than the limit of {passes} passes; {known}"
            assert explain_open(longest, passes) == longest.reason == expected


def test_a_run_is_read_as_it_was_made_and_has_a_page(tmp_path, synonyms):
    finder = make_candidates(synonyms=[synonyms], without=["all"])
    settings = {"words": [1, 3], "candidates": finder, "chunk": 8}
    made = discotext.certify(make_scores(8), make_data(8), **settings, out=tmp_path / "run")
    read = read_run(tmp_path / "run")
    assert read.certificates == made.certificates
    page = make_page(read)
    assert "What is proved" in page
    assert re.search("worst case (is known|lies between)", page)
    assert "changed words" in page


def test_on_the_command_line(tmp_path, synonyms):
    data = tmp_path / "data.csv"
    texts, _ = make_data(9)
    labels = ["b" if "bad" in text or "awful" in text else "a" for text in texts]
    data.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in zip(texts, labels, strict=True)))
    model = tmp_path / "model.py"
    model.write_text(
        "def scores(texts):\n"
        "    return [[0.5, sum(word in ('bad', 'awful') for word in text.split())] for text in texts]\n"
        "scores.labels = ['a', 'b']\n"
    )
    common = ["--words", "1", "--words", "2", "--synonyms", synonyms, "--without", "all"]
    command = ["certify", f"py:{model}:scores", data, *common, "--json", "--passes", "50", "--out", tmp_path / "run"]
    done = run_cli(*command)
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["budget"] for line in lines] == [1, 2]
    for line in lines:
        assert line["certified_accuracy"] <= line["attacked_accuracy"] <= line["original_accuracy"]
        assert line["bracket"] == pytest.approx(line["attacked_accuracy"] - line["certified_accuracy"])
        assert sum(line["verdicts"].values()) == line["n"]
    done = run_cli("report", tmp_path / "run", "--json")
    assert [json.loads(line).get("bracket") is not None for line in done.stdout.splitlines()] == [False, True, True]


def test_certificates_are_made_only_where_proofs_were_asked_for():
    result = discotext.attack(make_scores(1), make_data(1), words=1)
    assert result.certificates == []
    assert make_certificates(result.settings, result.records) == []
    assert all(one.radius is not None and one.radius <= one.budget for one in result.records)


def test_a_flipped_text_is_kept_where_the_proof_that_fewer_words_do_not_fails():
    from dataclasses import replace

    from discotext.attacks.proof import _conclude
    from discotext.core.problem import Solution, Status

    flipped = Solution(np.array([1, 1]), 1.0, -1.0, Status.REACHED, 5, 2, 0.1, 0.1)
    failed = replace(flipped, choice=np.zeros(2), score=-1.0, status=Status.FAILED, error="no", forwards=3)
    kept = _conclude(flipped, failed, 0.0)
    assert kept.reached
    assert kept.choice.tolist() == [1, 1]
    assert (kept.status, kept.forwards, kept.error) == (Status.REACHED, 8, None)
    assert _conclude(flipped, replace(failed, status=Status.IMPOSSIBLE, error=None), 0.0).status is Status.FEWEST


HOSTILE = [
    ("They need a <large> room", {"large": ["big", "small", "strong", "center", "code", "table", "huge"]}),
    ("A wide; open room", {"wide": ["amp", "lt", "broad"]}),
    ("It is fine in america today", {"america": ["u.s.", "usa"], "fine": ["o.k.", "24/7", "'tis", "good"]}),
    ("<b result; of it> was fine", {"result": ["outcome"], "fine": ["good"]}),
]


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize(("text", "listed"), HOSTILE)
def test_a_text_whose_words_could_become_markup_or_fall_apart_is_judged_as_its_strings_are(text, listed, merges):
    torch = pytest.importorskip("torch")
    from discotext.text.merging import MergedWords
    from discotext.text.sources import SynonymList
    from discotext.text.words import split
    from discotext.victims.encoded import Encoded
    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    words = sorted({word.lower() for word in split(text).words} | {one for some in listed.values() for one in some})
    codes = {word: some[0] for word, some in listed.items()} if merges else {}
    finder = discotext.Candidates(SynonymList(listed), filters=(), unknown_words=True)
    for seed in range(20):
        torch.manual_seed(seed)
        network = WordNetwork(Shape("dan", 2, 8, hidden=4))
        table = 10 * torch.randn(len(words) + 1, 8)
        inner = NeuralVictim(network, Vocabulary(words), table, ("0", "1"))
        victim = Encoded(inner, MergedWords(codes))
        label = int(victim.scores([text])[0].argmax())
        result = discotext.certify(victim, ([text], [label]), words=1, candidates=finder, passes=10**4, progress=False)
        space = discotext.text.Space.of([text], finder, words=1)
        truth = fewest_changes(victim.scores, result.records[0], space)
        assert result.records[0].verdict == ("robust" if truth == np.inf else "broken")


def test_a_victim_that_reads_finished_texts_otherwise_than_its_oracle_does_proves_nothing():
    class Careless(discotext.victims.FunctionVictim):
        """Its oracle leaves out a word that its scores count."""

        def oracle(self, space, objective):
            short = [tuple("it" if word == "bought" else word for word in words) for words in space.options[0]]
            return super().oracle(dataclasses.replace(space, options=(tuple(short),)), objective)

    victim = Careless(lambda texts: [[1.0 + 0.1 * text.count("bought"), 0.0] for text in texts])
    record = discotext.certify(victim, (["They purchased it"], [0]), words=1, progress=False).records[0]
    assert record.changeable == 1
    assert record.verdict == "open"
    assert record.radius is None


def test_what_is_proved_leaves_room_for_rounding_errors_and_a_text_that_is_broken_has_a_smaller_radius():
    from discotext.text.sources import SynonymList

    others = {word: [word + str(number) for number in range(8)] for word in ("film", "of", "the", "old", "kind")}
    finder = discotext.Candidates(SynonymList({"good": ["fine"], **others}), filters=(), unknown_words=True)
    for times in (0.3, 0.7, 1.4, 1.9, 2.5):
        beyond = float(np.float32(1 + times * 1e-6))

        def scores(texts, beyond=beyond):
            return [[1.0, beyond if "fine" in text else 0.5] for text in texts]

        data = (["A good film of the old kind", "It is so"], [0, 0])
        for result in (
            discotext.certify(scores, data, words=1, candidates=finder, passes=10**4, progress=False),
            discotext.attack(scores, data, "exact", words=1, candidates=finder, progress=False),
        ):
            record = result.records[0]
            assert record.tolerance == pytest.approx(1e-6)
            assert record.succeeded == (times > 1)
            assert record.status != "unstable"
            assert not (record.succeeded and record.radius)
            # A tie is for the defender; but of what rounding errors may turn into a flip nothing is proved.
            assert (record.status == "impossible") == (times < 0.5)
            if record.verdict is not None:
                assert record.verdict == ("robust" if times < 0.5 else "broken" if times > 1 else "open")
