"""The Lovász and the multilinear extension against the set function, expectations and each other."""

import re
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.theory import (
    SetFunction,
    coverage,
    is_submodular,
    lovasz,
    modular,
    multilinear,
    subsets,
)
from tests.theory.test_set_functions import from_table

SEEDS = st.integers(0, 2**32 - 1)


def random_function(rng, n):
    return from_table(rng.normal(size=2**n))


def random_submodular(rng, n):
    covered = coverage([np.flatnonzero(rng.random(8) < 0.4).tolist() for _ in range(n)])
    weights = rng.normal(size=n)
    return SetFunction(n, lambda members: covered(members) + float(sum(weights[e] for e in members)) - 3.0)


def corner(members, n):
    return [float(element in members) for element in range(n)]


@given(SEEDS, st.integers(0, 5), st.booleans())
def test_the_extensions_are_expectations_by_enumeration_and_f_at_every_vertex(seed, n, vertex):
    rng = np.random.default_rng(seed)
    f, x = random_function(rng, n), rng.random(n)
    if vertex:
        x = x.round()
        assert lovasz(f, x) == pytest.approx(f(np.flatnonzero(x).tolist())) == multilinear(f, x)
    chances = {members: prod(x[e] if e in members else 1 - x[e] for e in range(n)) for members in subsets(range(n))}
    assert multilinear(f, x) == pytest.approx(sum(f(members) * chance for members, chance in chances.items()))
    cuts = np.sort(np.concatenate([[0.0, 1.0], x]))
    expected = sum((high - low) * f(np.flatnonzero(x > (low + high) / 2).tolist()) for low, high in pairwise(cuts))
    assert lovasz(f, x) == pytest.approx(expected)


@given(SEEDS)
def test_the_extensions_of_a_submodular_function_are_convex_and_concave_along_growing_directions(seed):
    rng = np.random.default_rng(seed)
    f = random_submodular(rng, 5)
    x, y, t = rng.random(5), rng.random(5), rng.random()
    assert lovasz(f, t * x + (1 - t) * y) <= t * lovasz(f, x) + (1 - t) * lovasz(f, y) + 1e-12
    y = x + rng.random() * (1 - x) * rng.random(5)
    assert multilinear(f, (x + y) / 2) >= (multilinear(f, x) + multilinear(f, y)) / 2 - 1e-12
    assert lovasz(f, x) <= multilinear(f, x) + 1e-12  # the convex closure lies below every expectation


@given(SEEDS)
def test_a_witness_against_submodularity_is_a_pair_against_convexity(seed):
    f = random_function(np.random.default_rng(seed), 4)
    w = is_submodular(f).witness
    assert w is not None  # sixteen normal numbers are not submodular
    x, y = np.array(corner(w.smaller | {w.element}, 4)), np.array(corner(w.larger, 4))
    assert lovasz(f, (x + y) / 2) > (lovasz(f, x) + lovasz(f, y)) / 2 + 1e-12


def test_the_lovasz_extension_takes_n_plus_1_values():
    f = modular([1.0] * 30)
    assert lovasz(f, [0.5] * 30) == 15.0
    assert f.evaluations == 31


@pytest.mark.parametrize("point", [[0.5], [0.5, 1.5], [0.5, float("nan")]], ids=str)
def test_a_point_outside_the_cube_is_refused(point):
    with pytest.raises(ValueError, match=re.escape(str(point))):
        lovasz(modular([1.0, 2.0]), point)
