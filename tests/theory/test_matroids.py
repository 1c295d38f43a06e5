"""Independence systems and their axioms; the changes of a problem as one matroid."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.core.problem import Batch, Problem
from discotext.theory import (
    Changes,
    Intersection,
    PartitionMatroid,
    System,
    Truncation,
    UniformMatroid,
    check_extensible,
    check_matroid,
    subsets,
)


@dataclass(frozen=True)
class Family:
    """A system given by the list of its sets."""

    n: int
    sets: frozenset

    @property
    def ground(self) -> range:
        return range(self.n)

    def independent(self, members) -> bool:
        return members in self.sets


def closed(n: int, tops) -> Family:
    """All subsets of some sets."""
    return Family(n, frozenset(inner for top in tops for inner in subsets(top)) | {frozenset()})


FAMILIES = st.lists(st.frozensets(st.integers(0, 3)), max_size=5)


def matroid_by_definition(system):
    allowed = {s for s in subsets(system.ground) if system.independent(s)}
    return (
        frozenset() in allowed
        and all(inner in allowed for s in allowed for inner in subsets(s))
        and all(any(a | {e} in allowed for e in b - a) for a in allowed for b in allowed if len(a) < len(b))
    )


def extensible_by_definition(system, p):
    allowed = {s for s in subsets(system.ground) if system.independent(s)}
    return all(
        any(len(z) <= p and (b - z) | {e} in allowed for z in subsets(b - a))
        for b in allowed
        for a in subsets(b)
        for e in set(system.ground) - a
        if a | {e} in allowed
    )


MATROIDS = [
    UniformMatroid(5, 2),
    UniformMatroid(4, 0),
    UniformMatroid(0, 0),
    PartitionMatroid((0, 0, 1, 1, 1), (1, 2)),
    PartitionMatroid((0, 1), (0, 1)),
    Truncation(PartitionMatroid((0, 0, 1, 1, 2), (1, 2, 1)), 2),
    Truncation(UniformMatroid(4, 3), 0),
    Intersection((UniformMatroid(4, 2),)),
    Changes(Problem((3, 1, 2, 3), 2)),
    Changes(Problem((2, 2), 0)),
    Changes(Problem((), 0)),
]


@pytest.mark.parametrize("system", MATROIDS, ids=repr)
def test_the_ready_matroids_keep_the_axioms(system):
    assert isinstance(system, System)
    verdict = check_matroid(system)
    assert verdict.holds
    assert verdict.exhaustive
    assert verdict.witness is None
    assert matroid_by_definition(system)
    assert check_extensible(system, 1)


@settings(max_examples=300)
@given(FAMILIES, st.booleans())
def test_the_matroid_check_agrees_with_the_definition(tops, whole):
    system = closed(4, tops) if whole else Family(4, frozenset(tops))
    verdict = check_matroid(system)
    assert verdict.holds == matroid_by_definition(system)
    if whole:
        assert check_extensible(system, 1).holds == verdict.holds  # the 1-extensible systems are the matroids
    if whole and not verdict.holds:
        w = verdict.witness
        assert system.independent(w.smaller)
        assert system.independent(w.larger)
        assert len(w.smaller) < len(w.larger)
        assert not any(system.independent(w.smaller | {e}) for e in w.larger - w.smaller)


@settings(max_examples=100)
@given(FAMILIES, st.integers(0, 3))
def test_the_extensible_check_agrees_with_the_definition(tops, p):
    system = closed(4, tops)
    verdict = check_extensible(system, p)
    assert verdict.holds == extensible_by_definition(system, p)
    if not verdict.holds:
        w = verdict.witness
        assert w.smaller <= w.larger
        assert system.independent(w.larger)
        assert system.independent(w.smaller | {w.element})
        room = [z for z in subsets(w.larger - w.smaller) if len(z) <= p]
        assert not any(system.independent((w.larger - z) | {w.element}) for z in room)


@pytest.mark.parametrize("seed", range(20))
def test_two_matroids_together_are_2_extensible_and_in_general_no_matroid(seed):
    rng = np.random.default_rng(seed)
    parts = tuple(PartitionMatroid(tuple(rng.integers(0, 3, 6).tolist()), (1, 1, 1)) for _ in range(2))
    assert check_extensible(Intersection(parts), 2)
    path = Intersection((PartitionMatroid((0, 0, 1), (1, 1)), PartitionMatroid((0, 1, 0), (1, 1))))
    witness = check_matroid(path).witness
    assert (witness.smaller, witness.larger) == ({0}, {1, 2})
    assert not check_extensible(path, 1)


def test_each_axiom_has_its_own_witness():
    assert "empty set" in check_matroid(Family(2, frozenset())).witness.sentence
    not_closed = check_matroid(Family(2, frozenset({frozenset(), frozenset({0, 1}), frozenset({1})})))
    assert not_closed.witness.smaller == {0}
    assert not_closed.witness.larger == {0, 1}
    assert not check_extensible(Family(2, frozenset({frozenset(), frozenset({0, 1})})), 2)


def test_the_independent_sets_of_the_changes_are_the_feasible_choices():
    problem = Problem((3, 1, 2, 2), budget=2)
    system, batch = Changes(problem), Batch.of([problem])
    independent = {members for members in subsets(system.ground) if system.independent(members)}
    choices = np.array(list(product(*map(range, problem.counts))), dtype=np.int32)
    feasible = choices[~batch.take([0] * len(choices)).infeasible(choices)]
    assert {system.members(choice) for choice in feasible} == independent
    assert len(independent) == problem.feasible_choices == len(feasible)


@given(st.lists(st.integers(1, 4), max_size=6), st.integers(0, 2**32 - 1))
def test_elements_pairs_sets_and_choices_map_back_and_forth(counts, seed):
    system = Changes(Problem(tuple(counts), len(counts)))
    assert len(system.ground) == sum(counts) - len(counts)
    assert all(1 <= candidate < counts[position] for position, candidate in system.pairs)
    choice = np.random.default_rng(seed).integers(0, counts) if counts else np.zeros(0, dtype=int)
    members = system.members([*choice.tolist(), 0, 0])
    assert system.choice(members).tolist() == choice.tolist()
    assert system.choice(members).dtype == np.int32
    assert system.independent(members)


def test_what_cannot_be_checked_or_chosen_is_refused():
    with pytest.raises(ValueError, match=r"2\^30"):
        check_matroid(UniformMatroid(30, 2))
    with pytest.raises(ValueError, match="position 0"):
        Changes(Problem((3,), 1)).choice([0, 1])
