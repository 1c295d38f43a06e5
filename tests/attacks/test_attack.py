"""The main job: records, resuming, shards, figures."""

import copy
import itertools
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from discotext import Candidates
from discotext.attacks.attack import attack, compare
from discotext.attacks.job import Job, share_out
from discotext.attacks.run import run
from discotext.attacks.settings import Settings
from discotext.attacks.task import TaskRunner
from discotext.cli import cli
from discotext.data import Examples, load_data
from discotext.runs.folder import read_lines
from discotext.runs.merge import collect_examples, merge, write_examples
from discotext.solvers import Exact, Greedy
from discotext.text import Space
from discotext.text.sources import SynonymList
from discotext.victims.function import FunctionVictim
from tests.conftest import job_for, untimed

GOOD, BAD = ["good", "great", "fine", "nice"], ["bad", "poor", "awful", "weak"]
LISTS = {word: [other for other in GOOD if other != word] for word in GOOD}
LISTS |= {word: [other for other in BAD if other != word] for word in BAD}
WEIGHTS = {"good": 2.0, "great": 1.5, "fine": 0.4, "nice": 0.2, "bad": -2.0, "poor": -1.2, "awful": -0.5, "weak": -0.3}
FINDER = Candidates(SynonymList(LISTS), ())


def scores(texts):
    found = []
    for text in texts:
        words = [word.strip(".,!").lower() for word in text.split()]
        z = sum(WEIGHTS.get(word, 0.0) for word in words) - 0.6 * (0.5 if "film" in words else 0)
        found.append([-z, z])
    return found


def data(n=150, seed=0):
    rng = random.Random(seed)
    texts, labels = [], []
    for number in range(n):
        label = number % 2
        words = [rng.choice(GOOD if label else BAD) for _ in range(rng.randint(1, 4))]
        texts.append(f"The {' '.join(words)} film no. {number}")
        labels.append(label)
    return texts, labels


SETTINGS = {"candidates": FINDER, "budget": 0.3, "chunk": 16}


def take_part(job, part, parts):
    return replace(job, asked=replace(job.asked, shard=f"{part}/{parts}"))


@pytest.fixture(scope="module")
def result():
    return compare(scores, data(), ["greedy", "exact"], **SETTINGS)


def test_every_text_has_one_record_for_each_solver_with_what_was_promised(result):
    keys = "id text label predicted adversarial_text adversarial_predicted score adversarial_score changes words"
    keys += " budget status solver seed space forwards backwards seconds"
    texts, labels = data()
    for name in ("greedy", "exact"):
        records = result.select(name)
        assert [record.id for record in records] == list(range(150))
        assert [record.text for record in records] == texts
        assert [record.label for record in records] == labels
        for record in records:
            assert set(keys.split()) <= set(record.as_dict())


def test_records_are_true(result):
    for record in result.records:
        before, after = np.array(scores([record.text, record.adversarial_text]))
        assert record.predicted == before.argmax()
        assert record.adversarial_predicted == after.argmax()
        assert len(record.changes) <= record.budget
        text = record.text
        for change in reversed(record.changes):
            assert text[change.start : change.end] == change.old
            assert change.new.lower() in LISTS[change.old.lower()]
            text = text[: change.start] + change.new + text[change.end :]
        assert text == record.adversarial_text
        assert (record.status in ("reached", "fewest")) == (
            record.predicted == record.label != record.adversarial_predicted
        )
        if record.status == "misclassified":
            assert not record.changes


def test_figures_are_what_the_records_say(result):
    for name, row in result.summary.solvers.items():
        records = result.select(name)
        right = [record for record in records if record.predicted == record.label]
        won = [record for record in right if record.adversarial_predicted != record.label]
        assert row.original_accuracy == pytest.approx(len(right) / 150)
        assert row.adversarial_accuracy == pytest.approx((len(right) - len(won)) / 150)
        assert row.success_rate == pytest.approx(len(won) / len(right))
        shares = [len(record.changes) / record.words for record in won]
        assert row.perturbation == pytest.approx(np.mean(shares))
        everything = [len(record.changes) / record.words for record in records]
        assert row.perturbation_all == pytest.approx(np.mean(everything))
        assert row.adversarial_accuracy.low <= row.adversarial_accuracy <= row.adversarial_accuracy.high
        assert row.forwards == sum(record.forwards for record in records)
    exact = result.summary.solvers["exact"]
    assert exact.optimal == 1.0
    assert exact.success_rate >= result.summary.solvers["greedy"].success_rate


def test_solvers_have_names_of_their_own_or_given_ones():
    found = compare(scores, data(10), {"mine": "greedy", "proof": Exact()}, **SETTINGS)
    assert list(found.summary.solvers) == ["mine", "proof"]
    assert {one.solver for one in found.records} == {"mine", "proof"}
    assert found.settings["solvers"]["mine"] == repr(Greedy())
    with pytest.raises(ValueError, match="given twice"):
        compare(scores, data(), ["greedy", Greedy()], candidates=FINDER)


def test_the_space_is_the_same_for_every_solver_and_another_with_other_candidates(result):
    by_text = {}
    for record in result.records:
        by_text.setdefault(record.id, set()).add(record.space)
    assert all(len(spaces) == 1 for spaces in by_text.values())
    few = Candidates(SynonymList({"good": ["fine"]}), ())
    other = attack(scores, data(), "greedy", **{**SETTINGS, "candidates": few})
    assert other.summary.space != result.summary.space


def test_several_budgets_make_a_curve_that_only_falls_for_exact():
    curve = attack(scores, data(), Exact(), candidates=FINDER, budget=[0.1, 0.3, 0.6], chunk=16)
    left = [summary.solvers["exact"].adversarial_accuracy for summary in curve.summaries]
    assert left == sorted(left, reverse=True)
    assert [summary.budget for summary in curve.summaries] == [0.1, 0.3, 0.6]
    words = attack(scores, data(), Exact(), candidates=FINDER, words=[0, 1], chunk=16)
    assert [summary.budget for summary in words.summaries] == [0, 1]
    assert words.summaries[0].solvers["exact"].success_rate == 0.0


def test_a_target_is_a_class_and_texts_of_it_are_left_alone():
    aimed = attack(scores, data(), "exact", target=1, **SETTINGS)
    for record in aimed.records:
        if record.label == 1:
            assert record.status == "misclassified"
        elif record.status in ("reached", "fewest"):
            assert record.adversarial_predicted == 1


# --- the folder


def test_other_settings_data_or_victims_into_the_same_folder_are_refused(tmp_path):
    attack(scores, data(), "greedy", out=tmp_path / "r", **SETTINGS)
    with pytest.raises(ValueError, match=r"seed was 0"):
        attack(scores, data(), "greedy", out=tmp_path / "r", seed=1, **SETTINGS)
    with pytest.raises(ValueError, match="texts was"):
        attack(scores, data(seed=1), "greedy", out=tmp_path / "r", **SETTINGS)
    with pytest.raises(ValueError, match="differently"):
        attack(lambda texts: (-np.array(scores(texts))).tolist(), data(), "greedy", out=tmp_path / "r", **SETTINGS)


@pytest.mark.parametrize("parts", [2, 3, 20])
def test_shards_merge_into_the_run_that_was_not_sharded(tmp_path, parts):
    compare(scores, data(), ["greedy", "exact"], out=tmp_path / "whole", **SETTINGS)
    job = job_for(scores, data(), ["greedy", "exact"], **SETTINGS)
    folders = [tmp_path / f"s{part}" for part in range(1, parts + 1)]
    for part, folder in enumerate(folders, start=1):
        run(take_part(job, part, parts), folder)
    for folder in folders:
        (folder / "records.jsonl").touch()
    merge(folders[::-1], tmp_path / "merged")
    assert untimed(read_lines(tmp_path / "merged")) == untimed(read_lines(tmp_path / "whole"))


def test_shards_that_do_not_fit_are_refused(tmp_path):
    job = job_for(scores, data(), ["greedy"], **SETTINGS)
    run(take_part(job, 1, 2), tmp_path / "a")
    with pytest.raises(ValueError, match=r"2/2"):
        merge([tmp_path / "a"], tmp_path / "m")
    with pytest.raises(ValueError, match="1/2"):
        merge([tmp_path / "a", tmp_path / "a"], tmp_path / "m")
    other = job_for(scores, data(), ["exact"], **SETTINGS)
    run(take_part(other, 2, 2), tmp_path / "b")
    with pytest.raises(ValueError, match="another job"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "m")
    with pytest.raises(ValueError, match="nowhere"):
        merge([tmp_path / "nowhere"], tmp_path / "m")


def test_augmented_data_has_every_text_once_and_the_flipped_ones_with_true_labels(tmp_path):
    found = compare(scores, data(), ["greedy", "exact"], out=tmp_path / "r", **SETTINGS)
    rows = list(itertools.chain(*collect_examples(tmp_path / "r")))
    texts, labels = data()
    assert rows[:150] == [(text, str(label)) for text, label in zip(texts, labels, strict=True)]
    won = {(one.adversarial_text, str(one.label)) for one in found.records if one.status in ("reached", "fewest")}
    assert set(rows[150:]) == won
    assert won
    for ending in (".jsonl", ".csv", ".tsv"):
        write_examples(rows, tmp_path / f"a{ending}")
        again = load_data(tmp_path / f"a{ending}")
        assert list(again.texts) == [text for text, _ in rows]
    with pytest.raises(ValueError, match=r"\.jsonl"):
        write_examples(rows, tmp_path / "a.txt")
    (tmp_path / "r" / "summary.json").unlink()
    whole = (tmp_path / "r" / "records.jsonl").read_bytes()
    (tmp_path / "r" / "records.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:100]))
    with pytest.warns(UserWarning, match="100 of 300"):
        collect_examples(tmp_path / "r")


# --- things that go wrong


def test_a_victim_that_fails_on_one_text_costs_that_text_alone():
    def touchy(texts):
        if any("no. 7" in text for text in texts):
            raise RuntimeError("seven")
        return scores(texts)

    found = attack(FunctionVictim(touchy), data(40), "greedy", **SETTINGS)
    failed = [one for one in found.records if one.status == "failed"]
    assert [one.id for one in failed] == [7]
    assert "seven" in failed[0].error
    others = [one for one in attack(scores, data(40), "greedy", **SETTINGS).records if one.id != 7]
    # Those that were in one call with it were asked once more, each alone.
    mine = [one for one in found.records if one.id != 7]
    assert all(one.forwards >= other.forwards for one, other in zip(mine, others, strict=True))
    known = {"forwards": 0, "flipped_after": None, "tolerance": 0.0}
    assert untimed(replace(one, **known) for one in mine) == untimed(replace(one, **known) for one in others)


def test_a_victim_that_breaks_down_is_not_called_broken_by_the_attack():
    calls = []

    def tiring(texts):
        calls.append(1)
        if len(calls) > 4:
            raise RuntimeError("tired")
        return scores(texts)

    found = attack(FunctionVictim(tiring), data(10), "greedy", **SETTINGS)
    row = found.summary.solvers["greedy"]
    assert row.failed > 0
    assert row.adversarial_accuracy == row.original_accuracy


def test_a_victim_that_answers_by_chance_gives_no_successes_without_a_change():
    rng = np.random.default_rng(0)
    found = attack(lambda texts: rng.normal(size=(len(texts), 2)), data(60), "greedy", **SETTINGS)
    for record in found.records:
        assert record.changes or record.status not in ("reached", "fewest")


def test_texts_of_one_class_can_be_attacked_and_names_are_taken_in_order():
    assert len(attack(scores, (["a good film"], [1]), "greedy", **SETTINGS).records) == 1
    named = attack(scores, (["a bad film", "a good film"], ["negative", "positive"]), "greedy", **SETTINGS)
    assert [record.predicted == record.label for record in named.records] == [True, True]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"solver": "best"}, ValueError, "'best'"),
        ({"solver": "disco", "surrogate": "none"}, ValueError, "disco needs gradients.*greedy"),
        ({"solver": Greedy}, TypeError, r"pass .*Greedy\(\)"),
        ({"solver": 3}, TypeError, r"pass .*Greedy\(\)"),
        ({"budget": 0}, ValueError, "above 0"),
        ({"budget": "many"}, ValueError, "many"),
        ({"target": 5}, ValueError, "0, 1"),
        ({"data": (["a good film"], [5])}, ValueError, "5"),
        ({"data": (["a good film"] * 3, ["A", "B", "C"])}, ValueError, "the label is 'A'"),
        *(({"shard": shard}, ValueError, "i/n") for shard in ("2", "0/2", "3/2", "a/b", "1/", "/1")),
        *(({name: 3}, TypeError, f"^{name} is 3; pass ") for name in ("candidates", "out", "watch", "executor")),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence_before_anything_is_written(tmp_path, given, error, says):
    with pytest.raises(error, match=says):
        attack(scores, **{"data": data(20), "candidates": FINDER, "out": tmp_path / "run", **given})
    assert not (tmp_path / "run").exists()


def test_the_command_prints_one_object_for_each_budget_with_the_promised_keys(tmp_path):
    (tmp_path / "victim.py").write_text("def scores(texts):\n    return [[text.count('bad'), 0.5] for text in texts]\n")
    rows = (json.dumps({"text": text, "label": label}) for text, label in zip(*data(20), strict=True))
    (tmp_path / "data.jsonl").write_text("\n".join(rows))
    (tmp_path / "lists.json").write_text(json.dumps(LISTS))
    command = ["compare", f"py:{tmp_path}/victim.py:scores", f"{tmp_path}/data.jsonl", "--json"]
    command += ["--synonyms", f"{tmp_path}/lists.json", "--solver", "greedy", "--solver", "left_to_right"]
    done = CliRunner().invoke(cli, [*command, "--budget", "0.3", "--budget", "0.5"])
    assert done.exit_code == 0, done.stderr
    summary, other = map(json.loads, done.stdout.splitlines())
    assert (summary["budget"], other["budget"], summary["n"]) == (0.3, 0.5, 20)
    assert {"victim", "data", "seed", "n", "budget", "space", "solvers"} <= set(summary)
    assert list(summary["solvers"]) == ["greedy", "left-to-right"]
    keys = "original_accuracy adversarial_accuracy success_rate perturbation perturbation_all forwards backwards"
    keys += " seconds victim_seconds optimal original_accuracy_low adversarial_accuracy_high success_rate_low"
    assert set(keys.split()) <= set(summary["solvers"]["greedy"])


def test_the_papers_table_has_its_methods_and_its_figures(monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    from discotext.attacks import paper
    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    torch.manual_seed(0)
    words = [*GOOD, *BAD, "the", "film", "wonderful", "terrible"]
    network = WordNetwork(Shape("lstm", 2, 8, hidden=8))
    victim = NeuralVictim(network, Vocabulary(words), torch.randn(len(words) + 1, 8), ("negative", "positive"))
    victim.save(tmp_path / "victims" / "lstm_imdb")
    monkeypatch.setattr(paper, "load_split", lambda name, split: Examples.of(*data(40), names=["negative", "positive"]))
    found = paper.reproduce(tmp_path, ["imdb"], per_class=5, texts=16)
    rows = paper.make_table(found)
    methods = [*paper.list_methods(), "the paper's disco", "the paper's greedy"]
    whole = [method for method in methods if method != "greedy"]  # greedy is too slow for more than the sample
    assert [row["method"] for row in rows] == methods + whole
    assert [row.get("n") for row in rows] == [10] * 7 + [None] * 2 + [16] * 6 + [None] * 2
    assert rows[len(methods) - 2]["adversarial_accuracy"] == 0.18
    again = paper.reproduce(tmp_path, ["imdb"], per_class=5, texts=16)
    assert [untimed(row.sample + row.rest) for row in again] == [untimed(row.sample + row.rest) for row in found]


def test_more_texts_hold_the_papers_sample_and_as_many_of_each_class_as_there_are(monkeypatch):
    from discotext.attacks import paper

    labels = [0] * 50 + [1] * 30 + [2] * 4
    texts = [f"text {number}" for number in range(84)]
    monkeypatch.setattr(paper, "load_split", lambda name, split: Examples.of(texts, labels, names=["a", "b", "c"]))
    parts = paper.draw_samples("trec", 10, 60, seed=3)
    assert np.bincount(parts["sample"].labels).tolist() == [10, 10, 4]
    assert np.bincount(parts["sample"].labels)[2] + len(parts["rest"]) == 60 - 20
    assert np.bincount(np.concatenate([parts["sample"].labels, parts["rest"].labels])).tolist() == [28, 28, 4]
    assert not set(parts["sample"].texts) & set(parts["rest"].texts)
    assert "rest" not in paper.draw_samples("trec", 10, 20, seed=3)


def test_a_search_to_the_end_spends_its_budget_and_knows_who_flipped():
    texts, labels = data(20)
    any_word = Candidates(SynonymList({word: [*GOOD, *BAD] for word in [*GOOD, *BAD]}), ())
    short = attack(scores, (texts, labels), "left-to-right", budget=0.5, candidates=any_word)
    long = attack(scores, (texts, labels), "left-to-right", budget=0.5, candidates=any_word, to_the_end=True)
    for one, other in zip(short.records, long.records, strict=True):
        assert len(other.changes) >= len(one.changes)
        flipped = other.adversarial_predicted != other.label
        assert (other.status in ("reached", "misclassified")) == flipped
    assert sum(len(r.changes) for r in long.records) > sum(len(r.changes) for r in short.records)


def test_a_p_value_is_of_solvers_of_the_run_and_of_one_budget_at_a_time(result):
    with pytest.raises(ValueError, match=r"'foo'.*greedy, exact"):
        result.p_value("greedy", "foo")
    settings = {key: value for key, value in SETTINGS.items() if key != "budget"}
    both = compare(scores, data(), ["greedy", "exact"], words=[1, 2], **settings)
    for budget in (None, 3):
        with pytest.raises(ValueError, match=rf"{budget}.* 1 words; 2 words"):
            both.p_value("greedy", "exact", budget=budget)
    for words in (1, 2):
        alone = compare(scores, data(), ["greedy", "exact"], words=words, **settings)
        assert both.p_value("greedy", "exact", budget=words) == alone.p_value("greedy", "exact")


def test_chunks_hold_every_text_once_and_of_each_window_the_longest_first():
    texts = ["word " * (1 + (7 * number) % 23) + f"no. {number}" for number in range(300)]
    made = job_for(scores, (texts, [0, 1] * 150), ["greedy"], **SETTINGS | {"chunk": 7})
    assert sorted(number for chunk in made.schedule.chunks for number in chunk) == list(range(300))
    assert [len(chunk) for chunk in made.schedule.chunks] == [7] * 42 + [6]
    for start in range(0, 43, 16):  # the window of sixteen chunks
        window = made.schedule.chunks[start : start + 16]
        assert {number // (7 * 16) for chunk in window for number in chunk} == {start // 16}
        for longer, shorter in itertools.pairwise(window):
            assert min(len(texts[number]) for number in longer) >= max(len(texts[number]) for number in shorter)
        assert all(chunk == tuple(sorted(chunk)) for chunk in window)


def test_what_a_worker_gets_is_the_job_without_texts():
    made = job_for(scores, data(), ["greedy"], **SETTINGS)
    sent = copy.copy(made)  # copied as it is sent, by __getstate__
    assert sent.examples.texts == ()
    unit = made.schedule.units[1]
    assert untimed(TaskRunner(sent).run(made.task(unit))) == untimed(TaskRunner(made).run(made.task(unit)))


def test_a_search_space_is_built_once_for_all_solvers_and_budgets(monkeypatch):
    built = []
    usual = Space.of.__func__

    def count(cls, texts, *arguments, **more):
        built.append(len(texts))
        return usual(cls, texts, *arguments, **more)

    monkeypatch.setattr(Space, "of", classmethod(count))
    settings = {**SETTINGS, "budget": [0.1, 0.3, 0.6]}
    compare(scores, data(32), ["greedy", "exact", "random"], **settings)
    assert built == [16, 16]


def test_describing_a_job_asks_the_victim_nothing():
    asked = []

    def counting(texts):
        asked.append(len(texts))
        return scores(texts)

    job = Job.of(counting, data(20), ["greedy"], Settings(budget=0.3, candidates=FINDER)).identify()
    before = len(asked)
    assert job.settings["n"] == 20
    assert job.schedule.units
    assert job.identify() is job
    assert len(asked) == before


def test_queries_in_all_that_do_not_suffice_for_each_text_are_refused():
    job = Job.of(scores, data(30), ["disco"], Settings(budget=0.2, candidates=FINDER))
    with pytest.raises(ValueError, match=r"^10 queries .* 30 attacks"):
        share_out(job, 10)
    assert share_out(job, 1000).max_queries >= 3
