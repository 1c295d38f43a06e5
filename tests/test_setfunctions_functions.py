"""Set functions: memory, gains, combinations, the ready examples, and the best score inside a set."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.core.oracle import FunctionOracle
from discotext.core.problem import Batch, Problem
from discotext.theory import (
    Changes,
    SetFunction,
    UniformMatroid,
    best_among,
    best_inside,
    best_within,
    combine,
    coverage,
    greedy,
    is_monotone,
    is_submodular,
    modular,
    subsets,
    tabulate,
)


def random_coverage(rng: np.random.Generator, n: int, items: int = 6) -> SetFunction:
    covers = [np.flatnonzero(rng.random(items) < 0.4).tolist() for _ in range(n)]
    return coverage(covers, dict(enumerate(rng.random(items).tolist())))


class Recording:
    """A random score for every choice, and a note of every call."""

    def __init__(self, batch: Batch, seed: int) -> None:
        self.batch, self.calls = batch, []
        self.scores = {}
        self.rng = np.random.default_rng(seed)

    def score(self, problems, choices):
        self.calls.append(len(problems))
        keys = [(int(problem), *row) for problem, row in zip(problems, choices.tolist(), strict=True)]
        assert len(set(keys)) == len(keys), "a choice was asked for twice in one call"
        assert not set(keys) & set(self.scores), "a choice was asked for twice"
        return np.array([self.scores.setdefault(key, float(self.rng.normal())) for key in keys])


def test_a_value_is_computed_once_and_gains_are_differences():
    asked = []
    f = SetFunction(3, lambda members: asked.append(members) or float(len(members) ** 2))
    assert f([0, 1]) == 4
    assert f({1, 0}) == 4
    assert f.gain(2, [0, 1]) == 5
    assert f.gain(1, [0, 1]) == 0  # already inside
    assert len(asked) == len(set(asked)) == f.evaluations == 2


def test_many_sets_are_asked_for_in_one_call_without_repeats():
    calls = []
    f = SetFunction(2, lambda members: 0.0, many=lambda sets: calls.append(list(sets)) or [len(s) for s in sets])
    assert f.values([[0], [1], [0], []]).tolist() == [1, 1, 1, 0]
    assert f.values([[0], [0, 1]]).tolist() == [1, 2]
    assert calls == [[frozenset({0}), frozenset({1}), frozenset()], [frozenset({0, 1})]]


def test_the_table_is_indexed_by_bits():
    f = modular([1.0, 10.0, 100.0], offset=0.5)
    assert tabulate(f).tolist() == [0.5, 1.5, 10.5, 11.5, 100.5, 101.5, 110.5, 111.5]
    assert tabulate(SetFunction(0, lambda members: 7.0)).tolist() == [7.0]


def test_subsets_are_all_of_them_once():
    listed = list(subsets({5, 1, 3}))
    assert len(listed) == len(set(listed)) == 8
    assert all(subset <= {1, 3, 5} for subset in listed)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), weights=st.lists(st.floats(0, 10), min_size=1, max_size=4))
def test_non_negative_combinations_stay_monotone_and_submodular(seed, weights):
    rng = np.random.default_rng(seed)
    parts = [random_coverage(rng, 4) for _ in weights]
    f = combine(parts, weights)
    expected = sum(weight * tabulate(part) for weight, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(tabulate(f), expected, atol=1e-12)
    assert is_submodular(f)
    assert is_monotone(f)


def test_a_negative_weight_would_break_submodularity_and_is_refused():
    f = coverage([{"a"}, {"a"}])
    assert not is_submodular(SetFunction(2, lambda members: -f(members)))
    with pytest.raises(ValueError, match="only weights of 0 or more"):
        combine([f, f], [1.0, -0.5])
    with pytest.raises(ValueError, match="only weights of 0 or more"):
        combine([f], [float("nan")])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_coverage_is_the_weight_of_the_union(seed):
    rng = np.random.default_rng(seed)
    incidence = rng.random((4, 6)) < 0.4
    weights = rng.random(6)
    f = coverage([np.flatnonzero(row).tolist() for row in incidence], dict(enumerate(weights.tolist())))
    for members in subsets(range(4)):
        covered = incidence[sorted(members)].any(axis=0) if members else np.zeros(6, dtype=bool)
        assert f(members) == pytest.approx(weights[covered].sum())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SetFunction(-1, lambda members: 0.0), "n is -1"),
        (lambda: modular([1.0])([1]), "outside the ground set"),
        (lambda: SetFunction(1, lambda members: float("nan"))([]), "nan"),
        (lambda: tabulate(SetFunction(21, lambda members: 0.0)), "sample"),
        (lambda: combine([], []), "0 functions"),
        (lambda: combine([modular([1.0]), modular([1.0, 2.0])], [1, 1]), "expected the same ground set"),
        (lambda: coverage([{"a"}], {"a": -1.0}), "'a' has weight -1.0"),
        (lambda: best_inside(Batch.of([Problem((2,), 1)]), 1, None), "problem 1 is not in the batch"),
    ],
)
def test_errors_name_the_value_and_the_way_out(make, message):
    with pytest.raises(ValueError, match=message):
        make()


COUNTS = [(2, 3, 1, 2), (3, 3), (1, 1), (1,), ()]


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_best_inside_is_the_maximum_over_choices_whose_changes_lie_inside(counts):
    batch = Batch.of([Problem((2,), 1), Problem(counts, 0)])
    oracle = Recording(batch, seed=3)
    f = best_inside(batch, 1, oracle)
    found = {members: f(members) for members in subsets(range(len(counts)))}
    assert set(oracle.scores) == {(1, *choice) for choice in product(*map(range, counts))}
    for members, value in found.items():
        inside = [c for c in product(*map(range, counts)) if all(i in members for i, j in enumerate(c) if j)]
        assert value == max(oracle.scores[1, *choice] for choice in inside)
    assert is_monotone(f)


def test_best_inside_asks_in_large_calls_and_never_twice(monkeypatch):
    batch = Batch.of([Problem((3,) * 5, 5)])
    oracle = Recording(batch, seed=0)
    tabulate(best_inside(batch, 0, oracle))
    assert oracle.calls == [3**5]
    monkeypatch.setattr(best_within, "ROWS_PER_CALL", 100)
    oracle = Recording(batch, seed=0)
    tabulate(best_inside(batch, 0, oracle))
    assert oracle.calls == [100, 100, 43]
    oracle = Recording(batch, seed=0)
    greedy(best_inside(batch, 0, oracle), UniformMatroid(5, 2))
    assert len(oracle.calls) <= 3  # the original, all first changes, all second changes


def test_best_inside_refuses_a_search_that_is_too_large(monkeypatch):
    monkeypatch.setattr(best_within, "CHOICES_LIMIT", 1000)
    batch = Batch.of([Problem((4,) * 12, 12)])
    oracle = FunctionOracle(batch, lambda problem, choice: 0.0)
    assert best_inside(batch, 0, oracle)([0, 1, 2]) == 0.0
    for too_large in (range(7), range(12)):  # too many choices; too many subsets to begin with
        with pytest.raises(ValueError, match="itself a search"):
            best_inside(batch, 0, oracle)(too_large)


@pytest.mark.parametrize("counts", [(2, 3, 1), (3, 2), (4,), (1,)], ids=str)
def test_best_among_is_the_maximum_over_choices_made_of_the_changes(counts):
    batch = Batch.of([Problem(counts, len(counts))])
    oracle = Recording(batch, seed=5)
    f, system = best_among(batch, 0, oracle), Changes(batch[0])
    for members in subsets(system.ground):
        value = f(members)
        allowed = [c for c in product(*map(range, counts)) if system.members(c) <= members]
        assert value == max(oracle.scores[0, *choice] for choice in allowed)


def test_best_among_all_changes_of_some_positions_is_best_inside_those_positions():
    batch = Batch.of([Problem((3, 2, 3), 3)])
    oracle = Recording(batch, seed=6)
    among, system = best_among(batch, 0, oracle), Changes(batch[0])
    tabulate(among)
    replay = FunctionOracle(batch, lambda problem, choice: oracle.scores[problem, *choice])
    inside = best_inside(batch, 0, replay)
    for positions in subsets(range(3)):
        assert inside(positions) == among([e for e in system.ground if system.pair(e)[0] in positions])
