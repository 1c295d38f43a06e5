"""Set functions: values, gains, the ready examples; monotone and submodular with witnesses; curvature and ratio."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.theory import (
    SetFunction,
    UniformMatroid,
    coverage,
    curvature,
    greedy,
    is_monotone,
    is_submodular,
    modular,
    submodularity_ratio,
    subsets,
    tabulate,
)


def test_a_value_is_computed_once_gains_are_differences_and_many_sets_are_asked_for_in_one_call():
    calls = []
    f = SetFunction(3, lambda members: 0.0, many=lambda sets: calls.append(list(sets)) or [len(s) ** 2 for s in sets])
    assert f.values([[0], [1], [0], []]).tolist() == [1, 1, 1, 0]
    assert (f([0, 1]), f({1, 0}), f.gain(2, [0, 1]), f.gain(1, [0, 1])) == (4, 4, 5, 0)
    assert [len(sets) for sets in calls if sets] == [3, 1, 1]
    assert f.evaluations == len({one for sets in calls for one in sets}) == 5


def test_the_table_is_indexed_by_bits():
    f = modular([1.0, 10.0, 100.0], offset=0.5)
    assert tabulate(f).tolist() == [0.5, 1.5, 10.5, 11.5, 100.5, 101.5, 110.5, 111.5]
    assert tabulate(SetFunction(0, lambda members: 7.0)).tolist() == [7.0]


@given(st.integers(0, 2**32 - 1))
def test_coverage_is_the_weight_of_the_union(seed):
    rng = np.random.default_rng(seed)
    incidence = rng.random((4, 6)) < 0.4
    weights = rng.random(6)
    f = coverage([np.flatnonzero(row).tolist() for row in incidence], dict(enumerate(weights.tolist())))
    for members in subsets(range(4)):
        covered = incidence[sorted(members)].any(axis=0) if members else np.zeros(6, dtype=bool)
        assert f(members) == pytest.approx(weights[covered].sum())


TABLES = st.integers(0, 4).flatmap(lambda n: st.lists(st.integers(0, 4), min_size=2**n, max_size=2**n))


def from_table(values) -> SetFunction:
    n = (len(values) - 1).bit_length()
    return SetFunction(n, lambda members: float(values[sum(1 << element for element in members)]))


def monotone_table(rng: np.random.Generator, n: int) -> SetFunction:
    """A random monotone function that is rarely submodular: each value at least those of its subsets."""
    values = rng.random(2**n)
    for mask in range(2**n):
        values[mask] = max(values[mask ^ (1 << bit)] for bit in range(n) if mask >> bit & 1) if mask else 0.0
        values[mask] += rng.random() ** 3 * (mask > 0)
    return from_table(values)


def chains(n):
    """All A ⊆ B ⊆ E."""
    return ((a, b) for b in subsets(range(n)) for a in subsets(b))


def submodular_by_definition(f):
    return all(f.gain(e, a) >= f.gain(e, b) for a, b in chains(f.n) for e in f.ground if e not in b)


@settings(max_examples=200)
@given(TABLES)
def test_the_checks_agree_with_the_definitions(values):
    f = from_table(values)
    verdict = is_monotone(f)
    assert verdict.holds == all(f(a) <= f(b) for a, b in chains(f.n))
    if verdict.witness is not None:
        w = verdict.witness
        assert w.smaller | {w.element} == w.larger
        assert w.gains == (f(w.larger) - f(w.smaller),)
        assert w.gains[0] < 0
    verdict = is_submodular(f)
    assert verdict.exhaustive
    assert verdict.holds == bool(verdict) == submodular_by_definition(f)
    sets = list(subsets(f.ground))
    assert verdict.holds == all(f(a) + f(b) >= f(a & b) + f(a | b) for a in sets for b in sets)
    if verdict.witness is not None:
        w = verdict.witness
        assert w.smaller <= w.larger
        assert w.element not in w.larger
        assert w.gains == (f.gain(w.element, w.smaller), f.gain(w.element, w.larger))
        assert w.gains[0] < w.gains[1]


def test_sampling_refutes_with_a_true_witness_and_says_that_it_sampled():
    f = SetFunction(40, lambda members: float(len(members) ** 2))
    verdict = is_submodular(f, samples=50, seed=1)
    assert not verdict.holds
    assert not verdict.exhaustive
    assert verdict.checks == 50
    w = verdict.witness
    assert f.gain(w.element, w.smaller) == w.gains[0] < w.gains[1] == f.gain(w.element, w.larger)
    falling = is_monotone(SetFunction(40, lambda members: -float(len(members))), samples=50, seed=1)
    assert not falling.holds
    assert not falling.exhaustive
    assert falling.witness.gains == (-1.0,)


def test_sampling_does_not_refute_what_is_true_and_depends_on_the_seed_only():
    rng = np.random.default_rng(0)
    f = coverage([rng.permutation(30)[:6].tolist() for _ in range(25)])
    assert is_submodular(f, samples=300, seed=2)
    assert is_monotone(f, samples=300, seed=2)
    g = SetFunction(25, lambda members: float(len(members) ** 2 + (3 in members)))
    first, again, other = (is_submodular(g, samples=20, seed=seed) for seed in (4, 4, 5))
    assert first == again
    assert first.witness != other.witness


def test_rounding_is_forgiven_at_any_scale_and_real_violations_are_not():
    rng = np.random.default_rng(3)
    weights = rng.random(6)
    for scale in (1e-9, 1.0, 1e12):
        f = SetFunction(
            6, lambda members, s=scale: s * sum(weights[e] for e in sorted(members, reverse=len(members) % 2))
        )
        assert is_submodular(f)
        bent = SetFunction(2, lambda members, s=scale: s * [0, 1, 2.001][len(members)])
        assert not is_submodular(bent)
        assert is_submodular(bent, tolerance=0.1)


def test_degenerate_ground_sets_and_the_number_of_checks():
    assert is_monotone(modular([0.0] * 5)).checks == 5 * 2**4
    assert is_submodular(modular([0.0] * 5)).checks == 10 * 2**3
    for n in (0, 1):
        f = SetFunction(n, lambda members: -float(len(members)))
        assert is_submodular(f)
        assert is_submodular(f, exhaustive_up_to=0)
        assert is_monotone(f).holds == (n == 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_ratio_agrees_with_its_definition_and_is_1_exactly_for_submodular_functions(seed):
    rng = np.random.default_rng(seed)
    f = monotone_table(rng, 4)
    for inside, size in ((None, None), ([0, 1], 2), (None, 1)):
        ratios = [
            sum(f.gain(e, held) for e in added) / (f(held | added) - f(held))
            for held in subsets(f.ground if inside is None else inside)
            for added in subsets(set(f.ground) - held)
            if f(held | added) > f(held) and len(added) <= (size or 4)
        ]
        assert submodularity_ratio(f, inside=inside, size=size) == pytest.approx(min(ratios))
    assert submodularity_ratio(f) < 1
    assert not is_submodular(f)
    for g in (
        coverage([np.flatnonzero(rng.random(6) < 0.5).tolist() for _ in range(5)]),
        modular(rng.random(5).tolist()),
    ):
        assert submodularity_ratio(g) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(30))
def test_greedy_keeps_the_bound_of_das_and_kempe_without_submodularity(seed):
    f = monotone_table(np.random.default_rng(seed), 6)
    size = 3
    chain = greedy(f, UniformMatroid(6, size), to_the_end=True)
    ratio = submodularity_ratio(f, inside=chain.sets[-1], size=size)
    best = max(f(members) for members in combinations(range(6), size))
    assert chain.gain >= (1 - np.exp(-ratio)) * (best - f([])) - 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_curvature_is_the_largest_share_an_element_has_in_common_and_bounds_greedy(seed):
    rng = np.random.default_rng(seed)
    incidence = rng.random((5, 9)) < 0.35
    weights = rng.uniform(0.1, 1, 9)
    f = coverage([np.flatnonzero(row).tolist() for row in incidence], dict(enumerate(weights.tolist())))
    alone = incidence & (incidence.sum(axis=0) == 1)
    shares = [1 - (alone[e] @ weights) / (incidence[e] @ weights) for e in range(5) if incidence[e].any()]
    assert curvature(f) == pytest.approx(max(shares, default=0.0))

    c = curvature(f)
    factor = (1 - np.exp(-c)) / c if c else 1.0
    for size in (2, 3, 4):  # the bound of Conforti and Cornuéjols
        best = max(f(members) for members in combinations(range(5), size))
        assert max(greedy(f, UniformMatroid(5, size)).values) >= factor * best - 1e-12


def test_modular_functions_have_no_curvature():
    assert curvature(modular([1.0, 2.5, 0.0], offset=-7.0)) == 0.0
    assert curvature(coverage([{"a"}, {"a"}])) == 1.0
    assert curvature(modular([])) == 0.0


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: modular([1.0])([1]), "{1}"),
        (lambda: SetFunction(1, lambda members: float("nan"))([]), "nan"),
        (lambda: tabulate(SetFunction(21, lambda members: 0.0)), "2^21"),
        (lambda: curvature(modular([1.0, -1.0])), "element 1"),
        (lambda: submodularity_ratio(modular([1.0, -1.0])), "-1"),
        (lambda: submodularity_ratio(modular([1.0] * 20)), "3^20"),
    ],
)
def test_what_has_no_answer_is_refused_with_the_value(make, named):
    with pytest.raises(ValueError, match=re.escape(named)):
        make()
