"""Algorithm 1 and what it is sure of, against the optimum found by enumeration."""

from math import e, exp, inf

import numpy as np
import pytest

from discotext.core.oracle import FunctionOracle
from discotext.core.problem import Batch, Problem
from discotext.theory import (
    Changes,
    Intersection,
    PartitionMatroid,
    SetFunction,
    Standing,
    Truncation,
    UniformMatroid,
    best_among,
    coverage,
    greedy,
    guarantee,
    lazy_greedy,
    modular,
    subsets,
)


def random_coverage(rng, n, offset=0.0):
    covers = [np.flatnonzero(rng.random(10) < 0.3).tolist() for _ in range(n)]
    f = coverage(covers, dict(enumerate(rng.random(10).tolist())))
    return SetFunction(n, lambda members: offset + f(members))


def random_partition(rng, n, capacity=1):
    return PartitionMatroid(tuple(rng.integers(0, 3, n).tolist()), (capacity,) * 3)


def best_value(f, system):
    return max(f(members) for members in subsets(system.ground) if system.independent(members))


def within_a_group_of_three(n):
    """Sets inside one of {0, 1, 2}, {3, 4, 5}, …: 3-extensible, and known only by its test."""

    class OneGroup:
        ground = range(n)

        def independent(self, members):
            return len({element // 3 for element in members}) <= 1

    return OneGroup()


SYSTEMS = {
    "uniform": lambda rng: UniformMatroid(7, int(rng.integers(1, 6))),
    "partition": lambda rng: random_partition(rng, 7, int(rng.integers(1, 3))),
    "truncated": lambda rng: Truncation(random_partition(rng, 7, 2), 3),
    "two matroids": lambda rng: Intersection((random_partition(rng, 7), random_partition(rng, 7))),
    "three matroids": lambda rng: Intersection(tuple(random_partition(rng, 7) for _ in range(3))),
    "changes": lambda rng: Changes(Problem((3, 2, 4, 2), 2)),
    "only a test": lambda rng: within_a_group_of_three(7),
}


@pytest.mark.parametrize("kind", SYSTEMS)
def test_greedy_respects_every_guarantee(kind):
    shortfalls = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        system = SYSTEMS[kind](rng)
        f = random_coverage(rng, 7, offset=-5.0)  # a margin may be negative: the gain is what is guaranteed
        chain, bound = greedy(f, system), guarantee(f, system)
        best = best_value(f, system)
        assert bound.proved
        assert bound.applies
        assert chain.gain >= bound.factor * (best - f([])) - 1e-12
        assert bound.ceiling(chain) >= best - 1e-12
        shortfalls += chain.gain < best - f([]) - 1e-9
    if kind != "uniform":
        assert shortfalls  # otherwise nothing was tested: greedy is not always right


def test_the_bound_after_t_steps():
    shortfalls = 0
    for seed in range(40):
        f = random_coverage(np.random.default_rng(seed), 8, offset=2.0)
        system = UniformMatroid(8, 4)
        chain, best = greedy(f, system), best_value(f, system)
        for step in range(5):
            bound = guarantee(f, system, step=step)
            assert bound.factor == pytest.approx(1 - exp(-step / 4))
            assert chain.value_at(step) - f([]) >= bound.factor * (best - f([])) - 1e-12
            assert bound.ceiling(chain) >= best - 1e-12
            shortfalls += chain.value_at(step) < best - 1e-9
        assert guarantee(f, system, step=4).factor == pytest.approx(guarantee(f, system).factor) == 1 - 1 / e
    assert shortfalls > 100


@pytest.mark.parametrize(
    ("system", "factor"),
    [
        (UniformMatroid(6, 2), 1 - 1 / e),
        (Truncation(PartitionMatroid((0, 0, 1, 1, 2, 2), (1, 1, 1)), 2), 1 / 2),
        (Changes(Problem((3, 3, 3), 2)), 1 / 2),
        (Intersection((UniformMatroid(6, 2), PartitionMatroid((0,) * 6, (3,)))), 1 / 3),
        (Intersection((UniformMatroid(6, 2),) * 3), 1 / 4),
    ],
    ids=repr,
)
def test_the_factor_belongs_to_the_system(system, factor):
    bound = guarantee(coverage([{i, i + 1} for i in range(6)]), system)
    assert bound.factor == pytest.approx(factor)
    assert [h.standing for h in bound.hypotheses[-2:]] == [Standing.VERIFIED] * 2
    assert all(h.standing is Standing.PROVED for h in bound.hypotheses[:-2])


def test_a_system_known_by_its_test_only_is_checked_and_gets_the_smallest_p():
    f = coverage([{i} for i in range(6)])

    class AtMostTwo:
        ground = range(6)

        def independent(self, members):
            return len(members) <= 2

    one = guarantee(f, AtMostTwo())
    assert one.factor == 1 / 2
    assert one.hypotheses[0].standing is Standing.VERIFIED
    shared = guarantee(f, within_a_group_of_three(6))
    assert shared.factor == pytest.approx(1 / 4)
    assert shared.hypotheses[0].claim == "3-extensible"

    class NotClosed(AtMostTwo):
        def independent(self, members):
            return len(members) != 1

    none = guarantee(f, NotClosed())
    assert none.factor == 0
    assert not none.applies
    assert none.ceiling(greedy(f, AtMostTwo())) == inf


def test_a_refuted_hypothesis_comes_with_its_witness_and_greedy_may_then_fall_below_the_factor():
    # Two elements that pay only together, beside two that pay a little alone.
    f = SetFunction(4, lambda members: 0.1 * len(members & {2, 3}) + 10.0 * ({0, 1} <= members))
    system = UniformMatroid(4, 2)
    bound, chain = guarantee(f, system), greedy(f, system)
    assert not bound.applies
    assert not bound.proved
    (refuted,) = [h for h in bound.hypotheses if h.refuted]
    assert refuted.claim == "submodular"
    assert refuted.verdict.witness.gains == (0.0, 10.0)
    assert chain.gain < bound.factor * best_value(f, system)
    assert bound.ceiling(chain) == inf
    assert "refuted" in str(bound)


def test_hypotheses_say_how_they_are_known():
    large = coverage([{i, (i + 1) % 30} for i in range(30)])
    bound = guarantee(large, UniformMatroid(30, 3), samples=50)
    assert [h.standing for h in bound.hypotheses] == [Standing.PROVED, Standing.SAMPLED, Standing.SAMPLED]
    assert bound.applies
    assert not bound.proved
    bound = guarantee(large, UniformMatroid(30, 3), assume=["monotone", "submodular"])
    assert [h.standing for h in bound.hypotheses[1:]] == [Standing.ASSUMED] * 2
    assert not bound.proved
    falling = guarantee(modular([1.0, -1.0]), UniformMatroid(2, 1))
    assert [h.claim for h in falling.hypotheses if h.refuted] == ["monotone"]


def test_greedy_by_hand():
    f = coverage([{1, 2, 3}, {1, 2, 4}, {3, 5}, {6}])
    chain = greedy(f, UniformMatroid(4, 3))
    assert (chain.sets, chain.values) == ((set(), {0}, {0, 1}, {0, 1, 2}), (0, 3, 4, 5))
    assert (chain.best, chain.gain, chain.value_at(9)) == ({0, 1, 2}, 5, 5)


def test_greedy_stops_where_nothing_helps_unless_told_to_go_on():
    f = modular([2.0, 0.0, -1.0])
    assert greedy(f, UniformMatroid(3, 3)).sets[-1] == {0}
    chain = greedy(f, UniformMatroid(3, 3), to_the_end=True)
    assert (chain.values, chain.best, chain.gain) == ((0, 2, 2, 1), {0}, 2)
    assert greedy(f, UniformMatroid(3, 0)).sets == (frozenset(),)
    assert greedy(modular([]), UniformMatroid(0, 0)).values == (0.0,)
    # Read as printed, Algorithm 1 would go on to add elements of a block that is full.
    assert greedy(modular([3.0, 2.0, 1.0]), PartitionMatroid((0, 0, 1), (1, 1))).sets[-1] == {0, 2}


def test_greedy_over_the_changes_of_a_problem_reads_as_choices_within_budget():
    problem = Problem((3, 2, 3), 2)
    batch, system = Batch.of([problem]), Changes(problem)
    oracle = FunctionOracle(batch, lambda _, choice: [0.0, 5.0, 4.0][choice[0]] + 3.0 * choice[1] + 2.0 * choice[2] - 9)
    f = best_among(batch, 0, oracle)
    chain = greedy(f, system)
    assert [system.choice(members).tolist() for members in chain.sets] == [[0, 0, 0], [1, 0, 0], [1, 0, 2]]
    assert chain.values == (-9.0, -4.0, 0.0)
    bound = guarantee(f, system)
    assert bound.proved
    assert bound.factor == 1 / 2
    assert bound.ceiling(chain) == 9.0


@pytest.mark.parametrize("kind", ["uniform", "partition", "truncated", "two matroids", "changes"])
def test_lazy_greedy_finds_the_chain_of_greedy_for_submodular_functions_and_evaluates_less(kind):
    saved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        system, f = SYSTEMS[kind](rng), random_coverage(np.random.default_rng(seed), 7)
        lazy = lazy_greedy(f, system)
        asked = f.evaluations
        eager = SetFunction(7, f.rule)
        # Gains that differ by rounding alone may be taken in another order.
        assert lazy.values == pytest.approx(greedy(eager, system).values)
        assert asked <= eager.evaluations
        saved += eager.evaluations - asked
    assert saved > 0


def test_a_function_and_a_system_share_their_elements():
    for make in (greedy, lazy_greedy, guarantee):
        with pytest.raises(ValueError, match="1 elements and the system 2"):
            make(modular([1.0]), UniformMatroid(2, 1))
    for system in (UniformMatroid(1, 1), PartitionMatroid((0,), (1,))):
        with pytest.raises(ValueError, match="step is 2"):
            guarantee(modular([1.0]), system, step=2)
