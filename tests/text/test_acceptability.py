"""Acceptability: a calibrated probability per swap, the same however texts are batched."""

import csv
import json
import math

import numpy as np
import pytest

import discotext
from discotext import Candidates
from discotext.report import make_page
from discotext.runs.folder import read_run
from discotext.text import LightScorer, Scorer, make_candidates, split
from discotext.text.acceptability import Occurrence, load_arrays, load_network
from discotext.text.swap_features import FEATURES, SwapFeatures
from discotext.text.thesaurus import load_thesaurus
from tests.fuzzing import run

TEXTS = [
    "The movie was good, and the actors were great.",
    "It is a bad idea to buy such a big house this fall.",
    "They really like the old theatre near the river.",
    "",
    "10",
]


@pytest.fixture(scope="module")
def finder() -> Candidates:
    return make_candidates(accept=0.2)


def swaps(found):
    words = [one for text in found for one in text]
    return [(one.word, *pair) for one in words for pair in zip(one.candidates, one.accept, strict=True)]


def test_candidates_and_probabilities_do_not_depend_on_the_batch(finder):
    texts = [*TEXTS, "He can open the can quickly.", "WHAT A GREAT MOVIE", "How did she die?"]
    alone = [make_candidates(accept=0.2)(text) for text in texts]
    assert finder.find(texts) == alone
    assert finder.find(texts) == alone  # and the cache changes nothing
    # A word without content words around has the same probability in a batch of any size.
    assert make_candidates(accept=0.2).find([*[" ".join(TEXTS)] * 300, texts[-1]])[-1] == alone[-1]
    assert any(one.candidates for one in alone[-1])


def test_a_higher_level_keeps_a_part_of_the_candidates_with_the_same_probabilities(finder):
    strict = swaps(make_candidates(accept=0.5).find(TEXTS))
    assert strict == [swap for swap in swaps(finder.find(TEXTS)) if swap[2] >= 0.5]
    assert 0 < len(strict) < len(swaps(finder.find(TEXTS)))


def test_spellings_of_a_word_are_not_its_synonyms():
    for text, other in (("We honor it", "honour"), ("The theatre", "theater"), ("We realise it", "realize")):
        assert other not in [name for one in make_candidates(accept=0)(text) for name in one.candidates]


def test_no_prior_is_for_the_word_itself_and_priors_are_in_order():
    table = load_thesaurus()
    for lemma, part in [("good", "ADJ"), ("film", "NOUN"), ("say", "VERB"), ("very", "ADV")]:
        found = table.look_up(lemma, part)
        assert lemma not in found
        assert list(found.values()) == sorted(found.values(), reverse=True)
    assert table.look_up("frobnicate", "VERB") == {}


def test_the_network_is_what_its_formula_says():
    network = load_network()
    features = np.random.default_rng(0).normal(size=(7, len(FEATURES))).astype(np.float32)
    scaled = np.clip((features - network.mean) / network.scale, -6, 6)
    hidden = np.maximum(np.einsum("sf,efh->esh", scaled, network.inner) + network.inner_bias[:, None], 0)
    logits = (np.einsum("esh,eh->es", hidden, network.outer) + network.outer_bias[:, None]).mean(axis=0)
    assert network.logits(features) == pytest.approx(network.factor * logits + network.shift, rel=1e-4, abs=1e-4)
    for name in ("light", "encoder", "full"):
        assert (np.diff(load_arrays()[f"{name}.least_prior"]) >= 0).all()


def test_what_could_not_reach_a_level_does_not():
    scorer = LightScorer()
    text, tags = split("The old film was about a good idea."), ["DT", "JJ", "NN", "VBD", "IN", "DT", "JJ", "NN"]
    for position, part in ((1, "ADJ"), (2, "NOUN"), (6, "ADJ"), (7, "NOUN")):
        names = tuple(load_thesaurus().look_up(text.words[position], part))
        (chances,) = scorer.score([text], [tags], [Occurrence(0, position, names)])
        for name, chance in zip(names, chances, strict=True):
            if chance >= 0.6:
                assert scorer.could_reach(text.words[position], tags[position], name, 0.6)


def test_features_have_names_and_a_row_for_each_swap():
    asked = [Occurrence(0, 1, ("fine", "nice")), Occurrence(0, 2, ("movie",))]
    found = SwapFeatures().compute([split("A good film.")], [["DT", "JJ", "NN"]], asked)
    assert found.shape == (3, len(FEATURES)) == (3, len(set(FEATURES)))
    assert np.isfinite(found).all()


class Fixed(Scorer):
    """Gives every candidate of a word the same probability, by its length."""

    name = "fixed"

    def score(self, texts, tags, asked, least=0.0):
        return [np.array([1 / len(name) for name in one.candidates]) for one in asked]


def test_a_custom_scorer_decides():
    finder = Candidates(scorer=Fixed(), accept=0.25)
    found = swaps(finder.find(["a good film"]))
    assert found
    assert all(len(name) <= 4 and chance == round(1 / len(name), 3) for _, name, chance in found)
    assert finder.settings["scorer"] == "fixed"
    with pytest.raises(TypeError, match="'light'"):
        Candidates(scorer="light")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"1\.5"):
        Candidates(accept=1.5)


def test_probabilities_are_calibrated_on_documents_left_out(shared_data):
    from benchmarks.acceptability import FILE, measure, read_judgements, read_offers

    judged = read_judgements(shared_data)
    with FILE.open(encoding="utf-8") as file:
        assert {row["target"] for row in csv.DictReader(file, delimiter="\t")} <= set(judged)
    for scorer in ("light", "encoder", "full"):
        for level in (0.3, 0.4, 0.5, 0.6, 0.7):
            found = measure(judged, read_offers(scorer), level)
            assert abs(found["promised"] - found["acceptable"]) <= 0.05, (scorer, level)
    # The order of the scorers, at like shares of words.
    light, full = (measure(judged, read_offers(name), level) for name, level in (("light", 0.5), ("full", 0.57)))
    assert full["acceptable"] > light["acceptable"]


# --- attacks


def scores(texts):
    return [[sum(word in text for word in ("good", "big", "movie")), 0.5] for text in texts]


def test_levels_give_a_summary_each_and_less_is_flipped_at_higher_ones():
    result = discotext.attack(scores, (TEXTS[:2], [0, 0]), words=3, accept=[0.2, 0.5, 0.9])
    assert [summary.accept for summary in result.summaries] == [0.2, 0.5, 0.9]
    after = [summary.solvers["disco"].adversarial_accuracy for summary in result.summaries]
    assert after == sorted(after)
    assert after[-1] == 1.0
    for record in result.records:
        assert all(change.accept >= float(record.accept) for change in record.changes)
        assert record.all_accepted == pytest.approx(math.prod(change.accept for change in record.changes))
    with pytest.raises(ValueError, match="accept is None"):
        result.p_value("greedy", "greedy")


def test_a_run_with_levels_is_resumed_read_and_shown(tmp_path):
    given = {"words": [1, 3], "accept": [0.2, 0.5], "out": tmp_path / "run"}
    first = discotext.attack(scores, (TEXTS[:2], [0, 0]), **given)
    again = discotext.attack(scores, (TEXTS[:2], [0, 0]), **given)
    assert [one.as_dict() for one in first.records] == [one.as_dict() for one in again.records]
    assert run("report", tmp_path / "run").exit_code == 0
    assert run("report", tmp_path / "run", "--csv", tmp_path / "run.csv").exit_code == 0
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "accept ≥ 0.5" in page
    with (tmp_path / "run.csv").open(encoding="utf-8") as file:
        assert {row["accept"] for row in csv.DictReader(file)} == {"0.2", "0.5"}


@pytest.mark.parametrize("options", [{"accept": 0.2}, {"without": ["accept"]}], ids=str)
def test_what_is_expected_of_people_follows_from_the_records(options):
    finder = make_candidates(**options)
    result = discotext.attack(scores, (TEXTS[:2], [0, 0]), words=3, candidates=finder)
    (figures,) = result.summary.solvers.values()
    won = [record for record in result.records if record.succeeded]
    chances = [change.accept for record in won for change in record.changes]
    assert chances
    assert figures.acceptable == pytest.approx(np.mean(chances))
    assert figures.all_acceptable == pytest.approx(np.mean([record.all_accepted for record in won]))
    kept = len(result.records) - len(won) + sum(1 - record.all_accepted for record in won)
    assert figures.accepted_accuracy == pytest.approx(kept / len(result.records))


@pytest.mark.parametrize("switched_off", ["accept", "all"])
def test_switching_the_filter_off_does_not_switch_the_estimate_off(switched_off, tmp_path):
    path = tmp_path / "list.json"
    path.write_text('{"movie": ["film", "refrigerator"], "filme": ["kino", "lichtspielhaus"]}')
    for synonyms in ((), (path,)):
        one = make_candidates(synonyms=synonyms, without=[switched_off])
        assert one.accept is None
        known = {(word, new): chance for word, new, chance in swaps(one.find(["The movie was good.", "filme zzqx"]))}
        assert all(chance is None or 0 < chance < 1 for chance in known.values())
    assert known["movie", "film"] > 0.5 > 0.1 > known["movie", "refrigerator"]
    # Nothing is known of words of another language: no estimate, instead of a bad one.
    assert switched_off == "accept" or known["filme", "lichtspielhaus"] is None


def test_what_nobody_estimated_is_null_everywhere(tmp_path):
    path = tmp_path / "list.json"
    path.write_text('{"filme": ["kinozz"]}')
    finder = make_candidates(synonyms=[path], without=["all"])

    def scores(texts):
        return [["filme" in text, 0.5] for text in texts]

    result = discotext.attack(scores, (["zwei filme"], [0]), words=1, candidates=finder, out=tmp_path / "run")
    assert [change.accept for change in result.records[0].changes] == [None]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    (figures,) = summary["solvers"].values()
    assert [figures[key] for key in ("acceptable", "all_acceptable", "accepted_accuracy")] == [None] * 3
    assert "probability 1.00" not in make_page(read_run(tmp_path / "run"))
