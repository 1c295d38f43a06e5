"""Laws of every solver, in one table, and what is special to each."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, Problem, solve
from discotext.core import FunctionOracle, Multilinear, Status
from discotext.core.problem import count_changes
from discotext.core.reach import Reach
from discotext.core.wrappers import Counted
from discotext.search import Search, Stop
from discotext.search.cost import greedy_passes
from discotext.search.enumeration import enumerate_levels
from discotext.search.pruning import Kept, prune
from discotext.search.rounds import climb_greedily
from discotext.search.solver import drive
from discotext.search.tuning import DEFAULT
from discotext.solvers import (
    SOLVERS,
    Beam,
    Disco,
    DiscoAdam,
    DiscoFrankWolfe,
    DiscoProximal,
    Exact,
    Genetic,
    GradientGreedy,
    Greedy,
    LazyGreedy,
    LeftToRight,
    LocalSearch,
    ParticleSwarm,
    PrefixBeam,
    Random,
    RankedGreedy,
    StochasticGreedy,
    make_solver,
)
from discotext.solvers.genetic import weigh
from discotext.solvers.particle_swarm import accelerate
from discotext.theory import Changes, LinearBag, best_among, greedy, make_random_recurrent_unit, subset_sum
from discotext.theory.random_networks import RandomNetworks
from tests.conftest import Quadratic, Table, feasible, problems

ALL = {
    **{name: make() for name, make in SOLVERS.items()},
    "disco without enumeration": Disco(enumerate=False),
    "disco-high without enumeration": Disco(effort="high", enumerate=False),
    "disco from greedy": Disco(start=Greedy()),
    "disco from enumeration": Disco(start=Exact()),
    "disco-proximal p=3, constant step": DiscoProximal(p=3, step=0.05, steps=20),
    "disco-proximal, schedule": DiscoProximal(step=lambda k: 1 / k, steps=20),
    "disco-adam, confidence": DiscoAdam(reading="confidence", steps=20),
    "disco-frank-wolfe without climbing": DiscoFrankWolfe(proposals=0),
    "local-search, random": LocalSearch(guide="random"),
    "ranked-greedy, swap": RankedGreedy(rank="swap"),
    "exact without bounds": Exact(bounds=False),
}
DETERMINISTIC = [
    name for name, solver in ALL.items() if "random" not in repr(solver).lower() and "stochastic" not in name
]
every_solver = pytest.mark.parametrize("solver", ALL.values(), ids=ALL)


@every_solver
@pytest.mark.parametrize("goal", [None, 0.5])
def test_what_is_returned_is_feasible_scored_and_no_worse_than_the_original(batch, solver, goal):
    oracle = Quadratic(batch, seed=1)
    for index, solution in enumerate(solve(batch, oracle, solver, goal=goal, seed=5)):
        assert tuple(solution.choice) in feasible(batch[index])
        expected = oracle.score(np.array([index]), solution.choice[None])[0] if len(batch[index]) else solution.score
        assert solution.score == pytest.approx(expected)
        assert solution.score >= solution.original_score
        assert solution.changes == np.count_nonzero(solution.choice)
        assert solution.reached == (goal is not None and solution.score >= goal)
        assert solution.forwards >= 1


@every_solver
@given(listed=st.lists(problems(), min_size=1, max_size=3), seed=st.integers(0, 1000))
def test_no_shape_of_problem_breaks_a_solver(solver, listed, seed):
    batch = Batch.of(listed)
    solutions = solve(batch, Quadratic(batch, seed), solver, seed=seed)
    assert [len(solution.choice) for solution in solutions] == [len(problem) for problem in listed]
    for problem, solution in zip(listed, solutions, strict=True):
        if problem.feasible_choices == 1:
            assert solution.status is Status.OPTIMAL


@every_solver
@pytest.mark.parametrize("goal", [None, 0.5])
def test_a_model_is_never_asked_about_nothing(batch, solver, goal):
    assert 0 not in calls_of(batch, solver, goal)


def calls_of(batch, solver, goal):
    """How many rows each call to the oracle had."""
    counts = []

    class Counting(Quadratic):
        def relaxed(self, rows, alpha):
            counts.append(len(rows))
            return super().relaxed(rows, alpha)

    solve(batch, Counting(batch, seed=6), solver, goal=goal)
    return counts


@every_solver
def test_the_seed_decides_everything(batch, solver):
    oracle = Quadratic(batch, seed=2)
    first, second = (solve(batch, oracle, solver, seed=7) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.choice, other.choice)
        assert (one.forwards, one.backwards, one.status) == (other.forwards, other.backwards, other.status)


@pytest.mark.parametrize("name", [name for name in DETERMINISTIC if "high" not in name])
def test_company_in_the_batch_changes_nothing(batch, name):
    oracle = Quadratic(batch, seed=3)
    together = solve(batch, oracle, ALL[name])
    for index, solution in enumerate(together):
        twice = batch.take([index])
        inner = FunctionOracle(twice, lambda *_: 0.0)
        inner.score = lambda rows, choices, index=index: oracle.score(np.full(len(rows), index), choices)
        inner.relaxed = lambda rows, alpha, index=index: oracle.relaxed(np.full(len(rows), index), alpha)
        (alone,) = solve(twice, inner, ALL[name])
        assert alone.score == pytest.approx(solution.score)
        assert (alone.forwards, alone.backwards) == (solution.forwards, solution.backwards)


@every_solver
def test_a_goal_is_reached_with_changes_none_of_which_can_be_taken_back(solver):
    networks = RandomNetworks(range(20), positions=8, candidates=3, budget=4)
    goal = 0.4
    solutions = solve(networks.batch, networks, solver, goal=goal, seed=1)
    if solver == ALL["random"] or "left" in repr(solver).lower():
        assert any(solution.reached for solution in solutions)
    for index, solution in enumerate(solutions):
        if solution.reached and solution.changes:
            assert solution.original_score < goal <= solution.score
            for position in np.flatnonzero(solution.choice):
                fewer = solution.choice.copy()
                fewer[position] = 0
                assert networks.score(np.array([index]), fewer[None])[0] < goal


@every_solver
def test_an_oracle_that_fails_for_one_problem_leaves_the_others_their_answers(batch, solver):
    good = Quadratic(batch, seed=4)

    class Failing(Quadratic):
        def relaxed(self, rows, alpha):
            if (rows == 4).any() and alpha.max() < 2:
                layout = batch.take(rows)
                owner = np.repeat(rows, layout.widths)
                mine = alpha[(owner == 4)]
                if mine.size and not np.array_equal(
                    mine, np.tile(batch.take([4]).one_hot(np.zeros((1, 5), int)), (rows == 4).sum())
                ):
                    raise ValueError("cannot score this text")
            return super().relaxed(rows, alpha)

    expected = solve(batch, good, solver, seed=3)
    found = solve(batch, Failing(batch, seed=4), solver, seed=3)
    assert found[4].status is Status.FAILED
    assert "problem 4" in found[4].error
    assert "cannot score this text" in found[4].error
    for index in (0, 1, 2, 3, 5, 6):
        assert found[index].error is None
        if "high" not in repr(solver) and "Random" not in repr(solver) and "random" not in repr(solver):
            assert found[index].score == pytest.approx(expected[index].score)


# Greedy and its kin


def greedy_by_hand(table: Table, index: int) -> float:
    problem = table.batch[index]
    choice = (0,) * len(problem)
    while True:
        options = [
            (*choice[:position], candidate, *choice[position + 1 :])
            for position, count in enumerate(problem.counts)
            if choice[position] == 0
            for candidate in range(1, count)
        ]
        options = [option for option in options if option in table.scores[index]]
        best = max(options, key=table.scores[index].get, default=choice)
        if table.scores[index][best] <= table.scores[index][choice]:
            return table.scores[index][choice]
        choice = best


@given(st.lists(problems(), min_size=1, max_size=3), st.integers(0, 1000))
def test_greedy_is_algorithm_1(listed, seed):
    batch = Batch.of(listed)
    table = Table(batch, seed)
    # Taking back may only help what greedy found, so compare before it: nothing is taken back from one change.
    for index, solution in enumerate(solve(batch, table, Greedy())):
        assert solution.score >= greedy_by_hand(table, index) - 1e-12
        if solution.changes <= 1:
            assert solution.score == pytest.approx(greedy_by_hand(table, index))


@pytest.mark.parametrize("seed", range(10))
def test_greedy_agrees_with_greedy_over_its_matroid(seed):
    batch = Batch.of([Problem((3, 2, 4, 2), 3)])
    bag = Quadratic(batch, seed)
    chain = greedy(best_among(batch, 0, bag), Changes(batch[0]))
    (solution,) = solve(batch, bag, Greedy())
    assert solution.score >= chain.values[-1] - 1e-9


def test_greedy_runs_on_any_independence_system():
    batch = Batch.of([Problem((2, 2, 2, 2), 4)])
    oracle = FunctionOracle(batch, lambda problem, choice: float(np.dot(choice, [4, 3, 2, 1])))

    def not_neighbours(problem):
        return lambda pairs: all(abs(a - b) != 1 for a, _ in pairs for b, _ in pairs)

    (solution,) = solve(batch, oracle, Greedy(system=not_neighbours))
    assert solution.choice.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("seed", range(20))
def test_lazy_greedy_equals_greedy_for_submodular_scores_and_asks_less(seed):
    unit = make_random_recurrent_unit(seed, words=8, candidates=4)
    batch = unit.batch.with_budgets(np.array([4]))
    (eager,) = solve(batch, unit, Greedy())
    (lazy,) = solve(batch, unit, LazyGreedy())
    assert lazy.score == pytest.approx(eager.score)
    assert lazy.forwards <= eager.forwards


def test_stochastic_greedy_asks_as_much_as_it_says():
    networks = RandomNetworks(range(10), positions=20, candidates=6, budget=10)
    solutions = solve(networks.batch, networks, StochasticGreedy(epsilon=0.2))
    sample = np.ceil(100 / 10 * np.log(5))
    # The originals, ten rounds, pruning, the check.
    assert all(solution.forwards <= 1 + 10 * sample + 80 for solution in solutions)


def test_stochastic_greedy_does_not_give_up_after_one_unlucky_sample():
    batch = Batch.of([Problem((2,) * 40, 40)] * 10)
    oracle = FunctionOracle(batch, lambda problem, choice: float(sum(choice[:5])) - 0.01 * sum(choice[5:]))
    scores = [solution.score for solution in solve(batch, oracle, StochasticGreedy())]
    assert np.mean(scores) > 2.5


def left_to_right_by_hand(table: Table, index: int) -> tuple[int, ...]:
    problem = table.batch[index]
    choice = [0] * len(problem)
    for position, count in enumerate(problem.counts):
        if sum(candidate != 0 for candidate in choice) == problem.budget:
            break
        options = [(*choice[:position], candidate, *choice[position + 1 :]) for candidate in range(count)]
        choice = list(max(options, key=table.scores[index].get))
    return tuple(choice)


@given(problems(), st.integers(0, 1000))
def test_left_to_right_is_the_sweep_of_the_paper(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, LeftToRight())
    swept = left_to_right_by_hand(table, 0)
    assert solution.score >= table.scores[0][swept] - 1e-12
    if sum(candidate != 0 for candidate in swept) <= 1:
        assert tuple(solution.choice) == swept


def test_ranked_greedy_ranks_by_deletion_where_the_oracle_can():
    batch = Batch.of([Problem((2, 2, 2), 1)])

    class Deleting(Table):
        deleted = 0

        def without(self, rows, positions):
            Deleting.deleted += len(rows)
            return np.array([0.0, 5.0, 1.0])[positions]

    oracle = Deleting(batch)
    oracle.scores[0] = {choice: float(choice[0] * 3 + choice[1] * 2 + choice[2]) for choice in oracle.scores[0]}
    (solution,) = solve(batch, oracle, RankedGreedy())
    assert solution.choice.tolist() == [0, 1, 0]  # deletion says the second word matters most
    assert Deleting.deleted == 3
    (solution,) = solve(batch, oracle, RankedGreedy(rank="swap"))
    assert solution.choice.tolist() == [1, 0, 0]


@given(problems(4, 3), st.integers(0, 1000))
def test_a_beam_wide_enough_is_exact(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, Beam(width=100))
    assert solution.score == pytest.approx(table.best(0))


def test_a_wider_beam_is_no_worse_on_average():
    networks = RandomNetworks(range(30), budget=3)
    means = [
        np.mean([solution.score for solution in solve(networks.batch, networks, Beam(width))]) for width in (1, 3, 9)
    ]
    assert means == sorted(means)


# Populations

POPULATIONS = [Genetic(), ParticleSwarm()]


@pytest.mark.parametrize("solver", POPULATIONS, ids=repr)
def test_a_population_finds_the_best_more_often_than_greedy_and_than_random_draws(solver):
    networks = RandomNetworks(range(30), positions=8, candidates=4, budget=3)
    best, greedily, found = (solve(networks.batch, networks, one) for one in (Exact(), Greedy(), solver))
    floor = solve(networks.batch, networks, Random(draws=21 * 60))
    hits, by_greedy, by_chance = (
        np.mean([one.score >= top.score - 1e-9 for one, top in zip(some, best, strict=True)])
        for some in (found, greedily, floor)
    )
    assert hits > by_greedy
    assert hits > by_chance


@pytest.mark.parametrize("solver", POPULATIONS, ids=repr)
def test_a_population_asks_once_a_generation_for_all_problems_and_no_more_than_it_says(solver):
    calls = []

    class Counting(RandomNetworks):
        def score(self, rows, choices):
            calls.append(len(rows))
            return super().score(rows, choices)

    networks = Counting(range(10), positions=20, candidates=6, budget=5)
    counted = Counted(networks, networks.batch)
    proposals = []
    everyone = np.arange(len(networks.batch))
    drive(solver.propose(networks.batch, counted, Search.of(counted)), lambda one: proposals.append(one) or everyone)
    each = 60 * solver.tries if isinstance(solver, Genetic) else 60
    assert len(calls) == len(proposals) == 21
    assert max(calls) <= 10 * each
    assert (counted.forwards <= 21 * each).all()


@pytest.mark.parametrize("solver", POPULATIONS, ids=repr)
def test_a_population_keeps_costs_within_their_limit(solver):
    costs = ((0.0, 1.0, 9.0), (0.0, 2.0, 0.5), (0.0, 0.5, 0.5), (0.0, 1.0, 3.0))
    batch = Batch.of([Problem((3, 3, 3, 3), 3, costs, 2.0), Problem((3, 3), 2)])
    oracle = Quadratic(batch, seed=3)
    first, _ = solve(batch, oracle, solver)
    assert sum(own[candidate] for own, candidate in zip(costs, first.choice, strict=True)) <= 2.0
    assert first.score == pytest.approx(solve(batch, oracle, Exact())[0].score)


def test_parents_are_drawn_by_score_whatever_its_scale():
    scores = np.array([[0.0, 1.0, 2.0, -np.inf]])
    weights = weigh(scores, 1.0)
    np.testing.assert_allclose(weights, weigh(100 * scores - 7, 1.0))
    spread = np.std([0.0, 1.0, 2.0])
    np.testing.assert_allclose(weights[0] / weights[0, 0], [1, np.exp(1 / spread), np.exp(2 / spread), 0])


def test_a_particle_speeds_up_where_it_differs_from_the_best():
    places, own, leaders = (np.array([[row]], dtype=np.int32) for row in ([0, 0, 1], [0, 1, 2], [0, 1, 1]))
    faster = accelerate(np.zeros((1, 1, 3)), places, own, leaders, keep=0.75)
    np.testing.assert_allclose(faster[0, 0], [-1.5, 1.5, 0.0])


# Exact


@given(st.lists(problems(), min_size=1, max_size=3), st.integers(0, 1000))
def test_exact_finds_the_best_of_all_with_the_fewest_changes_and_asks_each_once(listed, seed):
    batch = Batch.of(listed)
    table = Table(batch, seed)
    for scores in table.scores:
        for choice in scores:
            scores[choice] = round(scores[choice])  # ties
    solutions = solve(batch, table, Exact())
    for index, solution in enumerate(solutions):
        assert solution.status is Status.OPTIMAL
        assert solution.proved
        assert solution.score == table.best(index)
        fewest = min(np.count_nonzero(c) for c, score in table.scores[index].items() if score == table.best(index))
        assert solution.changes == fewest
        assert solution.forwards == batch[index].feasible_choices + 1  # and the check


def test_spaces_beyond_counting_are_no_trouble():
    batch = Batch.of([Problem((4,) * 1000, 200)])
    rng = np.random.default_rng(0)
    bag = LinearBag(batch, rng.normal(size=(batch.candidates, 1)), np.zeros((1, 1)))
    (solution,) = solve(batch, bag, Disco(effort="high"), stop=Stop(forwards=200))
    assert solution.score > solution.original_score
    with pytest.raises(ValueError, match=r"about 10\^3\d\d choices"):
        solve(batch, FunctionOracle(batch, lambda problem, choice: 0.0), Exact())


@given(problems(), st.integers(0, 1000), st.floats(-1, 2))
def test_exact_with_a_goal_proves_fewest_changes_or_impossibility(problem, seed, goal):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    (solution,) = solve(batch, table, Exact(), goal=goal)
    reaching = [np.count_nonzero(choice) for choice, score in table.scores[0].items() if score >= goal]
    if reaching:
        assert solution.status is Status.FEWEST
        assert solution.changes == min(reaching)
    else:
        assert solution.status is Status.IMPOSSIBLE
        assert solution.score == table.best(0)


def test_exact_refuses_with_the_number_of_choices():
    batch = Batch.of([Problem((2,), 1), Problem((5,) * 12, 6)])
    asked = []
    oracle = FunctionOracle(batch, lambda problem, choice: asked.append(problem) or 0.0)
    with pytest.raises(ValueError, match=r"problem 1 has 4,\d{3},\d{3} choices .* Exact\(limit=…\)"):
        solve(batch, oracle, Exact(limit=1_000_000))
    assert not asked


@pytest.mark.parametrize("seed", range(5))
def test_branch_and_bound_finds_what_enumeration_finds_and_asks_less(seed):
    rng = np.random.default_rng(seed)
    integers = rng.integers(1, 300, size=12).tolist()
    batch, oracle = subset_sum(integers, int(rng.integers(300, 1200)))
    (bounded,) = solve(batch, oracle, Exact())
    (plain,) = solve(batch, oracle, Exact(bounds=False))
    assert bounded.status is plain.status is Status.OPTIMAL
    assert bounded.score == plain.score
    assert bounded.forwards < plain.forwards


class Guessing(Table):
    """Bounds that say nothing, so that branch and bound must open everything."""

    def reach(self, rows, allowed, goals):
        layout = self.batch.take(rows)
        return Reach(np.zeros(len(rows)), np.zeros(layout.candidates), np.zeros(layout.candidates))


@pytest.mark.parametrize("limit", [5, 20, 100, 1000])
def test_a_problem_that_runs_out_of_nodes_is_not_proved_by_its_neighbours(limit):
    batch = Batch.of([Problem((4,) * 5, 5), Problem((2,) * 12, 1), Problem((3, 3), 2)])
    table = Guessing(batch, 1)
    for index, solution in enumerate(solve(batch, table, Exact(passes=limit))):
        if solution.proved:
            assert solution.score == table.best(index)


@given(st.lists(problems(4, 4), min_size=1, max_size=3), st.integers(0, 1000), st.sampled_from([None, -0.5, 0.5, 1.5]))
def test_branch_and_bound_is_exact_with_the_fewest_changes_too(listed, seed, goal):
    batch = Batch.of(listed)
    table = Guessing(batch, seed)
    for scores in table.scores:
        for choice in scores:
            scores[choice] = round(2 * scores[choice]) / 2  # ties
    for index, solution in enumerate(solve(batch, table, Exact(), goal=goal)):
        assert solution.proved
        if goal is not None and table.best(index) < goal:
            assert solution.status is Status.IMPOSSIBLE
            continue
        wanted = table.best(index) if goal is None else goal
        fewest = min(np.count_nonzero(c) for c, score in table.scores[index].items() if score >= wanted)
        assert solution.changes == fewest
        assert solution.score >= wanted


def test_branch_and_bound_out_of_nodes_makes_no_claim():
    batch, oracle = subset_sum(list(range(101, 161, 3)), 7)
    (solution,) = solve(batch, oracle, Exact(passes=70))
    assert not solution.proved


# Disco


@pytest.mark.parametrize("solver", [Disco(enumerate=False), Greedy(), DiscoFrankWolfe()], ids=repr)
@pytest.mark.parametrize("seed", range(10))
def test_for_an_affine_margin_the_top_gains_are_found(solver, seed):
    rng = np.random.default_rng(seed)
    batch = Batch.of([Problem(tuple(rng.integers(1, 6, size=15)), 4) for _ in range(5)])
    bag = LinearBag(batch, rng.normal(size=(batch.candidates, 1)), rng.normal(size=(5, 1)))
    for index, solution in enumerate(solve(batch, bag, solver)):
        assert solution.score == pytest.approx(bag.optimum(index)[1])


@pytest.mark.parametrize("solver", [Disco(), DiscoFrankWolfe()], ids=repr)
def test_the_path_does_not_change_with_the_scale_of_the_score(solver):
    networks = RandomNetworks(range(15))

    class Scaled:
        def score(self, rows, choices):
            return 37.0 * networks.score(rows, choices) - 11.0

        def relaxed(self, rows, alpha):
            scores, gradient = networks.relaxed(rows, alpha)
            return 37.0 * scores - 11.0, 37.0 * gradient

    plain = solve(networks.batch, networks, solver)
    scaled = solve(networks.batch, Scaled(), solver)
    for one, other in zip(plain, scaled, strict=True):
        np.testing.assert_array_equal(one.choice, other.choice)
        assert (one.forwards, one.backwards) == (other.forwards, other.backwards)


def test_small_spaces_are_enumerated_and_proved():
    batch = Batch.of([Problem((3, 2, 2), 2), Problem((5,) * 30, 10)])
    oracle = Quadratic(batch, seed=0)
    small, large = solve(batch, oracle, Disco())
    assert small.status is Status.OPTIMAL
    assert small.score == pytest.approx(
        max(oracle.score(np.array([0]), np.array([choice]))[0] for choice in feasible(batch[0]))
    )
    assert small.forwards <= batch[0].feasible_choices + 1
    assert large.status is Status.IMPROVED
    assert solve(batch, oracle, Disco(enumerate=False))[0].status is Status.IMPROVED


def test_effort_one_spends_no_more_than_greedy_and_finds_more():
    networks = RandomNetworks(range(100))
    results = {
        name: solve(networks.batch, networks, solver)
        for name, solver in {
            "greedy": Greedy(),
            "disco": Disco(enumerate=False),
            "once": Disco(effort=1, enumerate=False),
            "triple": Disco(effort=3, enumerate=False),
            "high": Disco(effort="high", enumerate=False),
            "best": Exact(),
        }.items()
    }
    passes = {name: np.mean([s.forwards + s.backwards for s in found]) for name, found in results.items()}
    hits = {
        name: np.mean([s.score >= best.score - 1e-9 for s, best in zip(found, results["best"], strict=True)])
        for name, found in results.items()
    }
    assert passes["disco"] < 0.5 * passes["greedy"]
    assert passes["once"] <= passes["greedy"]
    assert passes["triple"] <= 3 * passes["greedy"]
    assert passes["high"] <= 1.2 * DEFAULT.least_passes
    assert hits["greedy"] < hits["disco"] < hits["once"] <= hits["triple"] <= hits["high"]
    assert hits["once"] > 0.8
    assert hits["triple"] > 0.93
    assert hits["high"] > 0.97


def test_high_effort_with_a_goal_spends_no_more_than_greedy():
    networks = RandomNetworks(range(60), positions=20, candidates=6, budget=5)
    scores = [solution.score for solution in solve(networks.batch, networks, Greedy())]
    goal = float(np.median(scores))
    greedy, high = (solve(networks.batch, networks, solver, goal=goal) for solver in (Greedy(), Disco(effort="high")))
    assert np.mean([s.forwards + s.backwards for s in high]) <= np.mean([s.forwards + s.backwards for s in greedy])
    assert sum(s.reached for s in high) >= sum(s.reached for s in greedy)


class Additive:
    """Each candidate adds its own worth; the slope says nothing about which."""

    exact_at_vertices = True

    def __init__(self, batch: Batch, seed: int) -> None:
        self.batch, self.worth = batch, np.random.default_rng(seed).exponential(size=batch.candidates)
        self.worth[batch.starts] = 0.0

    def score(self, problems, choices):
        layout = self.batch.take(problems)
        worth = self.worth[self.batch.flat_rows(problems)][layout.chosen(choices)]
        return np.bincount(layout.problem_of_position, weights=worth, minlength=len(problems))

    def relaxed(self, problems, alpha):
        return np.zeros(len(problems)), np.zeros(len(alpha))


def test_rebuilding_finds_the_fewest_changes_where_gains_add_up():
    batch = Batch.of([Problem((4,) * 12, 12) for _ in range(30)])
    oracle = Additive(batch, seed=0)
    everyone = np.arange(len(batch))
    best = np.sort(oracle.worth.reshape(len(batch), 12, 4).max(axis=2), axis=1)[:, ::-1]
    goal = 5.0
    fewest = 1 + (np.cumsum(best, axis=1) < goal).sum(axis=1)
    assert fewest.max() < 12
    words = {}
    for thorough in (False, True):
        choices = np.full((len(batch), 12), 3, dtype=np.int32)
        scores = oracle.score(everyone, choices)
        possible = np.flatnonzero(scores >= goal)
        kept = Kept(
            possible, choices[possible], scores[possible], np.full(len(possible), goal), scores[possible] < goal
        )
        counted = Counted(oracle, batch)
        found, reached = prune(batch, counted, kept, Search.of(counted), DEFAULT, gradients=True, thorough=thorough)
        assert (reached >= goal).all()
        words[thorough] = count_changes(found)
    np.testing.assert_array_equal(words[True], fewest[possible])
    assert words[False].sum() > words[True].sum()


def test_greedy_passes_are_what_greedy_spends():
    networks = RandomNetworks(range(5), positions=10, candidates=4, budget=4)
    table = [solution.forwards for solution in solve(networks.batch, networks, Greedy(), stop=Stop(backwards=0))]
    # Greedy asks besides for the original and the check, and pruning asks for single changes.
    assert all(
        0 <= spent - expected <= 2 + 4 + 3 for spent, expected in zip(table, greedy_passes(networks.batch), strict=True)
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DiscoProximal(p=0), "p is 0"),
        (lambda: DiscoProximal(step=-1.0), "step is -1.0"),
        (lambda: DiscoProximal(step="tiny"), "'backtracking'"),
        (lambda: Disco(effort="huge"), "'default', 'high' or a number"),
        (lambda: Disco(start=Greedy), "pass an instance: Greedy()"),
        (lambda: DiscoAdam(reading="third"), "'budget' or 'confidence'"),
        (lambda: Beam(width=0), "width is 0"),
        (lambda: StochasticGreedy(epsilon=1.5), "between 0 and 1"),
        (lambda: Random(draws=0), "draws is 0"),
        (lambda: LocalSearch(proposals=0), "proposals is 0"),
        (lambda: LocalSearch(guide="stars"), "'auto', 'gradient' or 'random'"),
        (lambda: RankedGreedy(rank="length"), "'auto', 'deletion' or 'swap'"),
        (lambda: GradientGreedy(patience=0), "patience is 0"),
        (lambda: Genetic(population=1), "population is 1; choose 2 or more"),
        (lambda: Genetic(temperature=0.0), "temperature is 0.0"),
        (lambda: ParticleSwarm(iterations=-1), "iterations is -1; choose 0 or more"),
        (lambda: make_solver("grady"), "there is no solver 'grady'"),
    ],
)
def test_wrong_settings_say_what_would_be_right(make, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_have_names_with_hyphens_or_underscores(name):
    assert type(make_solver(name.replace("-", "_"))) is type(SOLVERS[name]())


@pytest.mark.parametrize("start", [Greedy(), Random(draws=3), LeftToRight()], ids=repr)
def test_disco_climbs_from_what_its_start_found(start):
    networks = RandomNetworks(range(20), positions=10, candidates=4, budget=4)
    found = solve(networks.batch, networks, start, seed=1)
    polished = solve(networks.batch, networks, Disco(start=start), seed=1)
    assert all(one.score >= other.score - 1e-9 for one, other in zip(polished, found, strict=True))
    assert any(one.score > other.score for one, other in zip(polished, found, strict=True))


def test_disco_refuses_what_its_start_refuses():
    batch = Batch.of([Problem((5,) * 12, 6)])
    with pytest.raises(ValueError, match="more than the 10 that exact search enumerates"):
        solve(batch, Quadratic(batch), Disco(start=Exact(limit=10, bounds=False)))
    with pytest.raises(TypeError, match="start from PrefixBeam, which needs states of prefixes"):
        solve(batch, Quadratic(batch), Disco(start=PrefixBeam()))


def test_every_choice_of_a_level_has_as_many_changes_and_all_come():
    batch = Batch.of([Problem((3, 1, 2, 4), 3)])
    table = Table(batch)
    proposals = enumerate_levels(batch, table, np.arange(len(batch)))
    active = np.array([0])
    next(proposals)
    try:
        while True:
            proposals.send(active)
    except StopIteration:
        pass
    asked = [choice for _, choice in table.asked]
    assert len(asked) == len(set(asked))
    assert set(asked) == {c for c in product(range(3), range(1), range(2), range(4)) if any(c)}
    levels = count_changes(np.array(asked))
    assert (np.diff(levels) >= 0).all()


def test_a_black_box_can_be_relaxed_at_its_price():
    batch = Batch.of([Problem((3, 3, 3), 2)])
    table = Table(batch)
    (solution,) = solve(batch, Multilinear(Bounded(table), batch), Disco(enumerate=False))
    assert solution.backwards == 0
    assert solution.forwards > 7
    assert solution.score > solution.original_score


class Bounded:
    """A table that answers −5 for what is beyond the budget, which draws from a mixture may ask for."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def score(self, rows, choices):
        return np.array(
            [
                self.table.scores[row].get(tuple(choice), -5.0)
                for row, choice in zip(rows, choices.tolist(), strict=True)
            ]
        )


@pytest.mark.parametrize("stop", [Stop(forwards=60), Stop(backwards=8), Stop(seconds=1e-4)])
def test_with_limits_nothing_is_spent_on_rebuilding(stop):
    networks = RandomNetworks(range(20), positions=30, candidates=6, budget=10)
    goal = float(np.median([solution.score for solution in solve(networks.batch, networks, Disco())])) / 2
    high = solve(networks.batch, networks, Disco(effort="high"), goal=goal, stop=stop)
    for one in high:
        assert one.forwards <= (stop.forwards or np.inf)
        assert one.backwards <= (stop.backwards or np.inf)
        assert not one.reached or one.score >= goal


@pytest.mark.parametrize("effort", ["default", "high"])
def test_where_greedy_is_cheap_disco_reaches_every_goal_that_greedy_reaches(effort):
    networks = RandomNetworks(range(40), positions=9, candidates=4, budget=3)
    batch = networks.batch
    ends = np.array([solution.score for solution in solve(batch, networks, Greedy())])
    before = networks.score(np.arange(len(batch)), batch.originals())
    for share in (0.6, 1.0):
        goals = before + share * (ends - before)
        for number in range(0, len(batch), 8):
            goal = float(goals[number])
            greedy, ours = (
                solve(batch, networks, solver, goal=goal)
                for solver in (Greedy(), Disco(effort=effort, enumerate=False))
            )
            reached = [one.reached for one in greedy]
            assert all(mine.reached for mine, theirs in zip(ours, reached, strict=True) if theirs)


def test_climbing_greedily_ends_where_greedy_ends():
    networks = RandomNetworks(range(10), positions=8, candidates=3, budget=3)
    batch = networks.batch
    some = np.array([1, 4, 7])
    ended = drive(climb_greedily(batch, networks, some), lambda proposal: np.arange(len(batch)))
    wanted = solve(batch, networks, Greedy())
    for problem, choice, score in zip(ended.problems, ended.choices, ended.scores, strict=True):
        assert score >= wanted[problem].score - 1e-12
        assert np.count_nonzero(choice) <= 3
    assert sorted(ended.problems.tolist()) == some.tolist()
