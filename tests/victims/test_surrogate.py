"""Surrogates of victims without gradients: closed forms, and attacks that ask less than greedy."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import discotext
from discotext.core.objectives import Untargeted
from discotext.core.rounding import best_vertex
from discotext.core.swaps import additions
from discotext.text.candidates import Candidates
from discotext.text.sources import SynonymList
from discotext.text.space import Space
from discotext.text.words import split
from discotext.victims.function import FunctionVictim
from discotext.victims.surrogate import Surrogate, borrow_gains, foresee_gains, make_lessons
from tests.conftest import needs_sklearn

WORDS = ["able", "baker", "charlie", "dog", "easy", "fox", "george", "how", "item", "jig", "king", "love"]
WEIGHTS = {word: float(np.sin(3 * number)) for number, word in enumerate(WORDS)}
SYNONYMS = {word: [other for other in WORDS if other != word][:4] for word in WORDS}
FINDER = Candidates(source=SynonymList(SYNONYMS), filters=())
IDENTIFIES = 1 + 64 + 2  # a function is tried once; then the first chunk is asked together, and two texts alone


def mean_weight(texts):
    """Scores that are linear in the words."""
    values = [sum(WEIGHTS.get(word, 0.0) for word in text.split()) / len(text.split()) for text in texts]
    return [[value, -value] for value in values]


def make_texts(number: int, seed: int = 0, length: int = 10) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=length)) for _ in range(number)]


def make_data(number: int, seed: int = 0, length: int = 10) -> tuple[list[str], list[int]]:
    """Texts and their true labels."""
    texts = make_texts(number, seed, length)
    return texts, [int(row[0] < row[1]) for row in mean_weight(texts)]


class Counted:
    """The function, noting what it is asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        return mean_weight(texts)


def test_what_is_linear_in_the_words_is_learnt_exactly():
    texts = make_texts(80)
    found = Surrogate.learn(texts, np.array(mean_weight(texts)))
    given = found.contributions(WORDS)[:, 0]
    true = np.array([WEIGHTS[word] for word in WORDS])
    assert np.allclose(given - given.mean(), true - true.mean(), atol=0.05)


def test_a_surrogate_knows_how_good_it_is():
    space = Space.of(make_texts(40), FINDER, words=3)
    texts, groups = make_lessons(space, seed=0)
    good = Surrogate.learn(texts, np.array(mean_weight(texts)), groups)
    noise = np.random.default_rng(0).normal(size=(len(texts), 2))
    bad = Surrogate.learn(texts, noise, groups)
    assert good.correlation > 0.9
    assert abs(bad.correlation) < 0.3


def test_lessons_are_the_texts_and_variants_within_the_space():
    space = Space.of(make_texts(5), FINDER, words=2)
    texts, groups = make_lessons(space, seed=1)
    assert texts[:5] == [str(text) for text in space.texts]
    for text, group in zip(texts, groups, strict=True):
        words = split(text).words
        assert all(word in options for word, options in zip(words, space.options[group], strict=True))


def test_a_surrogate_survives_its_file_and_a_file_of_something_else_is_none():
    texts = make_texts(30)
    found = Surrogate.learn(texts, np.array(mean_weight(texts)))
    again = Surrogate.parse(found.to_bytes(), "file")
    for content in (b"", b"PK", b"nonsense", b"\x93NUMPY", replace(found, own=found.own[1:]).to_bytes()):
        with pytest.raises(ValueError, match=r"file\.npz"):
            Surrogate.parse(content, "file.npz")
    assert np.array_equal(again.contributions(WORDS), found.contributions(WORDS))
    assert (again.spread, again.correlation, again.queries) == (found.spread, found.correlation, found.queries)


def test_what_a_surrogate_foresees_is_what_a_swap_gains_by_its_words():
    victim, texts = FunctionVictim(mean_weight), make_texts(3, length=6)
    space, objective = Space.of(texts, FINDER, words=2), Untargeted([0, 1, 0])
    found = Surrogate.learn(make_texts(80), np.array(mean_weight(make_texts(80))))
    gains, sizes = foresee_gains(found, space, objective, victim.scores(texts))
    oracle = victim.oracle(space, objective)
    before = oracle.score(np.arange(3), space.batch.originals())
    swaps = additions(space.batch, space.batch.originals())
    true = oracle.score(swaps.rows, swaps.apply(space.batch.originals())) - before[swaps.rows]
    flat = space.batch.starts[space.batch.first_position[swaps.rows] + swaps.positions] + swaps.candidates
    assert np.allclose(gains[flat], true, atol=0.03)
    assert (gains[space.batch.starts] == 0).all()
    assert (sizes > 0).all()


def test_a_poor_surrogate_says_nothing():
    victim, texts = FunctionVictim(mean_weight), make_texts(3)
    space = Space.of(texts, FINDER, words=2)
    learnt = Surrogate.learn(make_texts(30), np.array(mean_weight(make_texts(30))))
    for correlation, silent in ((0.1, True), (0.5, False), (None, False)):
        found = replace(learnt, correlation=correlation)
        gains, sizes = foresee_gains(found, space, Untargeted([0, 0, 0]), victim.scores(texts))
        assert (gains == 0).all() == silent
        assert (sizes > 0).all()


def test_a_function_is_attacked_as_well_as_by_greedy_with_a_fraction_of_its_queries():
    texts, labels = make_data(40, 3, 20)
    found = discotext.compare(mean_weight, (texts, labels), ["disco", "greedy"], budget=0.3, candidates=FINDER)
    ours, theirs = (found.summary.solvers[name] for name in ("disco", "greedy"))
    assert ours.adversarial_accuracy <= theirs.adversarial_accuracy + 0.05
    assert ours.forwards + found.summary.surrogate_queries < 0.7 * theirs.forwards
    assert ours.backwards == 0
    assert list(ours.success_by_queries) == ["10", "20", "50", "100", "200", "500"]
    assert 0 <= theirs.query_area <= ours.query_area <= 1


def test_a_limit_on_queries_is_kept():
    texts, labels = make_data(12, 4, 30)
    for solver in ("auto", "greedy", "random", "beam"):
        found = discotext.attack(mean_weight, (texts, labels), solver, candidates=FINDER, max_queries=15)
        assert max(record.forwards for record in found.records) <= 15 + 2  # the first and the last answer


def test_the_surrogate_is_kept_beside_the_run_and_can_be_used_again(tmp_path):
    texts, labels = make_data(30, 5)
    counted = Counted()
    settings = {"candidates": FINDER, "words": 2}
    first = discotext.attack(counted, (texts, labels), out=tmp_path / "a", **settings)
    number = len(counted.asked)
    again = discotext.attack(counted, (texts, labels), out=tmp_path / "a", **settings)
    assert [r.adversarial_text for r in again.records] == [r.adversarial_text for r in first.records]
    assert len(counted.asked) - number <= IDENTIFIES
    other = discotext.attack(mean_weight, (texts, labels), surrogate=tmp_path / "a" / "surrogate.npz", **settings)
    assert [r.adversarial_text for r in other.records] == [r.adversarial_text for r in first.records]


@needs_sklearn
def test_a_transfer_model_provides_gradients():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, labels = make_data(200, 6)
    transfer = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    found = discotext.attack(mean_weight, (texts[:30], labels[:30]), "disco", candidates=FINDER, surrogate=transfer)
    assert found.summary.surrogate_queries is None
    assert found.settings["surrogate"] == {"victim": "sklearn"}
    assert next(iter(found.summary.solvers.values())).success_rate > 0
    with pytest.raises(ValueError, match="gradients"):
        discotext.attack(mean_weight, (texts[:3], labels[:3]), "disco", candidates=FINDER, surrogate=mean_weight)


def test_where_a_surrogate_is_poor_the_search_learns_from_its_own_answers(tmp_path):
    def erratic(texts):
        """Scores that no sum over words explains."""
        return [[float(hash_of(text) % 1000), 500.0] for text in texts]

    def hash_of(text: str) -> int:
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")

    texts = make_texts(40, seed=8)
    labels = [int(row[0] < row[1]) for row in erratic(texts)]
    with pytest.warns(UserWarning, match="predicts .* poorly"):
        found = discotext.attack(erratic, (texts, labels), candidates=FINDER, words=2, out=tmp_path / "r")
    assert found.summary.surrogate_queries > 0
    assert found.summary.solvers["disco"].success_rate > 0.5
    with pytest.warns(UserWarning, match="poorly"):
        again = discotext.attack(erratic, (texts, labels), candidates=FINDER, words=2, out=tmp_path / "r")
    assert [one.adversarial_text for one in again.records] == [one.adversarial_text for one in found.records]


def test_queries_in_all_are_kept_and_shared_out():
    texts, labels = make_data(30, 4, 20)
    counted = Counted()
    for total in (200, 1000):
        counted.asked.clear()
        found = discotext.attack(counted, (texts, labels), candidates=FINDER, total_queries=total)
        assert len(counted.asked) <= total
        assert found.summary.surrogate_queries <= 0.2 * total
    with pytest.raises(ValueError, match=r"50 .* 30"):
        discotext.attack(mean_weight, (texts, labels), candidates=FINDER, total_queries=50)


def test_a_surrogate_of_other_classes_is_refused_and_an_unused_one_is_told(tmp_path):
    texts = make_texts(20)
    three = Surrogate.learn(texts, np.random.default_rng(0).normal(size=(20, 3)))
    (tmp_path / "s.npz").write_bytes(three.to_bytes())
    with pytest.raises(ValueError, match="3 classes"):
        discotext.attack(mean_weight, (texts, [0, 1] * 10), candidates=FINDER, surrogate=tmp_path / "s.npz")
    with pytest.raises(ValueError, match=r"none\.npz"):
        discotext.attack(mean_weight, (texts, [0, 1] * 10), candidates=FINDER, surrogate=tmp_path / "none.npz")


def test_a_run_without_a_surrogate_is_not_resumed_with_one_and_nothing_is_asked(tmp_path):
    counted, (texts, labels) = Counted(), make_data(20)
    discotext.attack(counted, (texts, labels), "greedy", candidates=FINDER, words=1, out=tmp_path / "r")
    number = len(counted.asked)
    with pytest.raises(ValueError, match="a surrogate"):
        discotext.attack(counted, (texts, labels), candidates=FINDER, words=1, out=tmp_path / "r")
    assert len(counted.asked) - number <= IDENTIFIES


def test_a_victim_that_answers_labels_is_flipped_by_choices_drawn_around_the_surrogate():
    def labels_of(texts):
        return [[float(row[0] >= row[1]), float(row[0] < row[1])] for row in mean_weight(texts)]

    texts = make_texts(60, seed=9, length=20)
    true = [int(row[0] < row[1]) for row in labels_of(texts)]
    found = discotext.compare(labels_of, (texts, true), ["disco", "random", "greedy"], budget=0.2, candidates=FINDER)
    ours, chance, greedy = (found.summary.solvers[name] for name in ("disco", "random", "greedy"))
    assert ours.adversarial_accuracy < greedy.adversarial_accuracy
    assert ours.adversarial_accuracy <= chance.adversarial_accuracy
    assert ours.forwards < chance.forwards


def test_answers_that_are_not_numbers_are_not_asked_for_twice():
    texts, labels = make_data(30, 4, 20)
    broken, asked = set(texts[::5]), []

    def partly(given):
        asked.extend(given)
        return [[np.nan, 0.0] if text in broken else row for text, row in zip(given, mean_weight(given), strict=True)]

    found = discotext.attack(partly, (texts, labels), candidates=FINDER, total_queries=400)
    assert len(asked) <= 400
    assert {record.text for record in found.records if record.status == "failed"} == broken
    assert all("nan" in record.error for record in found.records if record.status == "failed")


def test_gains_from_a_transfer_model_are_the_same_whatever_the_units_of_its_scores():
    texts, labels = make_data(40, 3, 20)
    space = Space.of(texts, FINDER, words=4)
    victim = FunctionVictim(mean_weight)
    before = Untargeted(labels).value(victim.scores(texts), np.arange(40))
    batch, gradient = space.batch, np.random.default_rng(0).normal(size=space.batch.candidates)

    class Transfer:
        def __init__(self, unit):
            self.unit = unit

        def score(self, problems, choices):
            return np.zeros(len(problems))

        def relaxed(self, problems, alpha):
            return np.zeros(len(problems)), self.unit * gradient

    small, large = (borrow_gains(Transfer(unit), batch, before) for unit in (0.001, 1000.0))
    assert np.allclose(small[0], large[0])
    assert np.allclose(small[1], large[1])
    best = best_vertex(small[0], batch)
    promised = np.bincount(batch.problem_of_position, weights=small[0][batch.chosen(best)], minlength=40)
    assert np.allclose(promised, np.abs(before))
