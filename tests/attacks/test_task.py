"""What counts as a success, as a proof and as a failure: nothing that only looks like one."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

import discotext as d
from discotext.text.candidates import make_candidates
from discotext.text.sources import SynonymList
from discotext.victims.function import FunctionVictim
from discotext.victims.victim import evaluate
from discotext.victims.victim import measure_tolerance as measure

FINDER = d.Candidates(SynonymList({"good": ["fine", "poor"], "bad": ["weak", "fine"]}), ())
WORDS = {"good": 2.0, "fine": 1.0, "poor": -1.0, "weak": -0.5, "bad": -2.0}
TEXTS = ["a good film", "a bad film", "good and good", "a film", "one bad film"]


def margin(text):
    return sum(WORDS.get(word, 0.0) for word in text.lower().split())


def scores(texts):
    return [[-margin(text), margin(text)] for text in texts]


def measure_tolerance(victim, texts):
    ask = partial(evaluate, victim)
    return measure(ask, texts, ask(texts))


@pytest.mark.parametrize("label", [0, 1])
def test_an_attack_whose_last_check_fails_is_failed_whatever_the_label(label):
    asked = Counter()
    old, new = (("good", "poor"), ("bad", "fine"))[1 - label]

    def tires(texts):
        """Fails on a flipped text when it is asked for the third time, after the search and its own check."""
        for text in texts:
            asked[text] += 1
            if new in text and asked[text] > 2:
                raise RuntimeError("tired")
        return scores(texts)

    found = d.attack(tires, ([f"a {old} film"], [label]), "greedy", candidates=FINDER, words=1)
    (record,) = found.records
    assert record.status == "failed"
    assert "tired" in record.error
    assert record.adversarial_predicted is None
    row = found.summary.solvers["greedy"]
    assert (row.success_rate, row.adversarial_accuracy, row.failed) == (0.0, 1.0, 1)


def test_texts_in_which_nothing_can_change_are_counted_apart_and_prove_nothing():
    data = (TEXTS, [int(margin(text) > 0) for text in TEXTS])
    found = d.compare(scores, data, ["greedy", "exact"], candidates=FINDER, words=1)
    assert [record.status for record in found.select("exact")][3] == "unchangeable"
    assert [record.changeable for record in found.select("exact")] == [1, 1, 2, 0, 1]
    summary = found.summary
    assert summary.unchangeable_texts == 1
    assert summary.changeable_words == 5 / 14
    assert summary.candidates_per_word == 2
    assert summary.solvers["exact"].optimal == 1  # of the four that can change
    assert any("1 of 5 texts nothing can change" in note for note in found.notes)


FOREIGN = [
    "Dieser Film ist langweilig und viel zu lang.",
    "这部电影很无聊",
    "هذا الفيلم ممل",
    "🙂🙂🙂",
    "Ein guter Film.",
]


@pytest.mark.parametrize(
    ("texts", "candidates", "says"),
    [
        (["🙂🙂", "🙁", "😀!"], d.Candidates(), "none of the 3 texts has a word"),
        (FOREIGN, d.Candidates(), "of the words have candidates.* for English"),
        (FOREIGN, make_candidates(without=["all"]), "the sources have nothing.*--synonyms"),
        (FOREIGN, d.Candidates(SynonymList({"Gurke": ["Kürbis"]})), "lists that have them"),
    ],
)
def test_texts_without_candidates_are_warned_of_and_not_called_robust(texts, candidates, says):
    with pytest.warns(UserWarning, match=says):
        found = d.attack(
            lambda texts: [[1.0, 0.0]] * len(texts), (texts, [0] * len(texts)), "exact", candidates=candidates
        )
    assert found.summary.solvers["exact"].optimal is None
    assert found.summary.unchangeable_texts == len(texts)
    assert {record.status for record in found.records} == {"unchangeable"}


# --- rounding


def tying(texts):
    """Five classes that tie but for rounding, wherever the text says `poor`; clear otherwise."""
    rows = []
    for text in texts:
        row = np.full(5, np.log(0.2))
        if "poor" in text:
            row[3] += 3e-12
        else:
            row[1] += 1.0
        rows.append(row)
    return np.array(rows)


def test_a_tie_within_rounding_is_no_success_and_is_counted():
    data = ([f"a good film no. {number}" for number in range(20)], [1] * 20)
    found = d.attack(tying, data, "exact", candidates=FINDER, words=1)
    row = found.summary.solvers["exact"]
    assert row.success_rate == 0
    assert row.adversarial_accuracy == 1
    assert row.ties == 20
    assert any("tie" in note for note in found.notes)
    assert all(0 < record.tolerance < 1e-6 for record in found.records)


def test_a_small_margin_beyond_rounding_is_a_success():
    def close(texts):
        return [[1e-4 if "poor" in text else -1.0, 0.0] for text in texts]

    found = d.attack(close, (["a good film"], [1]), "exact", candidates=FINDER, words=1)
    assert found.records[0].status == "fewest"
    assert not found.records[0].tied


def test_a_search_goes_on_beyond_a_tie_to_a_real_success():
    """`fine` only ties; `poor`, which comes later, really flips the label."""

    def mixed(texts):
        return [[0.5 if "poor" in text else 1e-15 if "fine" in text else -1.0, 0.0] for text in texts]

    found = d.attack(mixed, (["a good film"], [1]), "exact", candidates=FINDER, words=1)
    assert found.records[0].changes[0].new == "poor"
    assert found.records[0].status == "fewest"


@pytest.mark.parametrize(("precision", "least", "most"), [(np.float32, 1e-7, 1e-3), (np.float64, 1e-12, 1e-7)])
def test_the_tolerance_follows_the_precision_of_the_scores(precision, least, most):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(300, 2)).astype(precision)

    def linear(texts):
        rows = np.stack([np.random.default_rng(len(text)).normal(size=300) for text in texts]).astype(precision)
        return rows @ weights

    found = measure_tolerance(FunctionVictim(linear), [f"{'x' * length}" for length in range(1, 30)])
    assert least < found < most


def test_the_noise_of_company_widens_the_tolerance():
    def noisy(texts):
        return [[1.0 + 1e-4 * len(texts), 0.0] for _ in texts]

    assert measure_tolerance(FunctionVictim(noisy), ["a", "b", "c"]) == pytest.approx(4 * 2e-4)
    # A victim that answers at random is not merely inexact.
    rng = np.random.default_rng(0)
    random = FunctionVictim(lambda texts: rng.normal(size=(len(texts), 2)))
    wild = measure_tolerance(random, ["a", "b", "c"])
    assert wild < 0.03


def test_one_text_that_fails_leaves_the_others_their_scores():
    def touchy(texts):
        if "b" in texts:
            raise RuntimeError("no b")
        return [[1.0, 2.0] for _ in texts]

    found = evaluate(FunctionVictim(touchy), ["a", "b", "c"])
    assert [error is None for error in found.errors] == [True, False, True]
    assert np.isnan(found.scores[1]).all()
    assert found.forwards.tolist() == [2, 2, 2]  # together, and then each alone


# --- words that a victim does not know


def known(texts):
    return scores(texts)


known.vocabulary = frozenset("a good bad film poor fine".split())


def test_words_unknown_to_a_function_are_refused_or_counted():
    data = (["a bad film"] * 3, [0] * 3)
    finder = d.Candidates(SynonymList({"bad": ["weak", "lame"]}), ())

    def lame(texts):
        return [[0.5, 1.0 if "lame" in text else 0.0] for text in texts]

    lame.vocabulary = known.vocabulary
    with pytest.warns(UserWarning, match="unknown-to-victim"):
        assert d.attack(lame, data, "greedy", candidates=finder).summary.unchangeable_texts == 3
    allowed = d.Candidates(SynonymList({"bad": ["weak", "lame"]}), (), unknown_words=True)
    found = d.attack(lame, data, "greedy", candidates=allowed)
    row = found.summary.solvers["greedy"]
    assert (row.success_rate, row.swaps, row.unknown_swaps) == (1.0, 3, 3)
    assert any("3 of the 3 swaps" in note for note in found.notes)
