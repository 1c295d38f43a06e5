"""The one loop: needs, goals, limits, failures, pruning, the last check."""

import tracemalloc

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks

from discotext import Batch, Problem, solve
from discotext.core import FunctionOracle, Status
from discotext.core.problem import count_changes
from discotext.core.wrappers import Cached, Counted
from discotext.search import Proposal, Search, Solver, Stop
from discotext.search.pruning import MANY, Kept, exchange_down, prune, undo_singly
from discotext.search.solver import DEFAULT
from discotext.solvers import Disco, DiscoAdam, Exact, GradientGreedy, Greedy, LeftToRight, Random, RankedGreedy
from discotext.theory import subset_sum
from tests.conftest import Quadratic, Table


def additive(batch: Batch) -> FunctionOracle:
    return FunctionOracle(batch, lambda problem, choice: float(sum(choice)) - 1.5)


@pytest.mark.parametrize("solver", [Disco(), DiscoAdam(), GradientGreedy()], ids=repr)
def test_needs_are_checked_before_any_work(solver):
    batch = Batch.of([Problem((2,), 1)])
    asked = []
    oracle = FunctionOracle(batch, lambda problem, choice: asked.append(choice) or 0.0)
    with pytest.raises(TypeError, match=r"needs gradients .* FunctionOracle"):
        solve(batch, oracle, solver)
    with pytest.raises(TypeError, match="deletions"):
        solve(batch, oracle, RankedGreedy(rank="deletion"))
    with pytest.raises(TypeError, match="score"):
        solve(batch, object(), Greedy())
    assert not asked


def test_a_goal_the_original_reaches_costs_nothing_more():
    batch = Batch.of([Problem((3, 3), 2)])
    (solution,) = solve(batch, additive(batch), Greedy(), goal=-2.0)
    assert solution.status is Status.FEWEST
    assert solve(batch, additive(batch), Greedy(), goal=-2.0, stop=Stop(forwards=1))[0].status is Status.FEWEST
    assert solution.changes == 0
    assert solution.forwards == 2  # the original, and the check


def test_problems_leave_when_their_goal_is_reached():
    batch = Batch.of([Problem((2,) * 6, 6), Problem((9,) * 6, 6)])
    asked = []

    def score(problem, choice):
        asked.append(problem)
        return float(sum(choice)) - 5.5

    first, second = solve(batch, FunctionOracle(batch, score), Greedy(), goal=0.0)
    assert (first.changes, second.changes) == (6, 1)
    assert asked.index(1) < len(asked)
    assert max(i for i, problem in enumerate(asked[:-2]) if problem == 1) < 70  # one round of 48, then gone


def test_without_a_goal_ties_go_to_fewer_changes():
    batch = Batch.of([Problem((2, 2, 2), 3)])
    oracle = FunctionOracle(batch, lambda problem, choice: float(choice[1]))

    class Wasteful(Solver):
        def propose(self, batch, oracle, search):
            choices = np.ones((1, 3), dtype=np.int32)
            yield Proposal(np.array([0]), choices, oracle.score(np.array([0]), choices))

    (solution,) = solve(batch, oracle, Wasteful())
    assert solution.choice.tolist() == [0, 1, 0]


@pytest.mark.parametrize("gradients", [True, False])
def test_pruning_leaves_no_change_that_could_go(gradients):
    networks = RandomNetworks(range(30), positions=10, candidates=3, budget=10)
    batch = networks.batch
    oracle = (
        networks
        if gradients
        else FunctionOracle(batch, lambda p, c: float(networks.score(np.array([p]), np.array([c]))[0]))
    )
    counter = Counted(oracle, batch)
    counted = Cached(counter, batch)
    rng = np.random.default_rng(0)
    problems = np.arange(30)
    choices = rng.integers(0, 3, size=(30, 10)).astype(np.int32)
    scores = counted.score(problems, choices)
    floors = scores - 0.3
    kept = Kept(problems, choices.copy(), scores.copy(), floors, np.zeros(30, dtype=bool))
    choices_after, scores_after = prune(batch, counted, kept, Search.of(counter), DEFAULT, gradients=gradients)
    assert (scores_after >= floors).all()
    assert (count_changes(choices_after) <= count_changes(choices)).all()
    assert count_changes(choices_after).sum() < count_changes(choices).sum()
    for row in range(30):
        for position in np.flatnonzero(choices_after[row]):
            fewer = choices_after[row].copy()
            fewer[position] = 0
            if fewer.any():
                assert networks.score(np.array([row]), fewer[None])[0] < floors[row]


@pytest.mark.parametrize("interacting", [False, True])
def test_many_changes_are_undone_in_runs_and_none_that_could_go_is_left(interacting):
    rng = np.random.default_rng(1)
    n = 300
    gains, pairs = rng.exponential(size=n), rng.normal(scale=0.5, size=n - 1) * interacting
    batch = Batch.of([Problem((2,) * n, n)])

    def value(choices):
        return choices @ gains + (choices[:, 1:] * choices[:, :-1]) @ pairs

    asked = []
    oracle = FunctionOracle(batch, lambda problem, choice: asked.append(1) or float(value(np.array([choice]))[0]))
    choices = np.ones((1, n), dtype=np.int32)
    scores, floors = value(choices), value(choices) * 0.8
    kept = Kept(np.arange(1), choices.copy(), scores, floors, np.zeros(1, dtype=bool))
    undo_singly(oracle, kept, kept.several())
    left = int(count_changes(kept.choices)[0])
    assert kept.scores[0] >= floors[0]
    assert MANY < left < n
    # One in each round would take about n²/2 − left²/2.
    assert len(asked) < 10 * n
    undone = np.repeat(kept.choices, left, axis=0)
    undone[np.arange(left), np.flatnonzero(kept.choices[0])] = 0
    assert (value(undone) < floors[0]).all()


def test_exchanging_finds_fewer_changes_than_undoing_alone():
    networks = RandomNetworks(range(60), positions=10, candidates=4, budget=10)
    batch, problems = networks.batch, np.arange(60)
    counter = Counted(networks, batch)
    counted = Cached(counter, batch)
    choices = np.random.default_rng(0).integers(0, 4, size=(60, 10)).astype(np.int32)
    scores = counted.score(problems, choices)
    floors = np.minimum(scores, 0.3)
    kept = Kept(problems, choices.copy(), scores.copy(), floors, np.zeros(60, dtype=bool))
    undo_singly(counted, kept, kept.several())
    alone = kept.choices.copy()
    exchange_down(batch, counted, kept, Search.of(counter), DEFAULT)
    fewer = kept.choices
    assert (kept.scores >= floors).all()
    assert (count_changes(fewer) <= count_changes(alone)).all()
    assert count_changes(fewer).sum() < count_changes(alone).sum()


@pytest.mark.parametrize("stop", [*(Stop(forwards=limit) for limit in (1, 2, 7, 30)), Stop(backwards=4)], ids=str)
def test_limits_are_kept_to_the_last_one(stop):
    batch = Batch.of([Problem((4,) * 6, 3)] * 3)
    solver = Greedy() if stop.backwards is None else Disco(enumerate=False)
    for solution in solve(batch, Quadratic(batch), solver, stop=stop):
        assert solution.forwards <= (stop.forwards or np.inf)
        assert solution.backwards <= (stop.backwards or np.inf)
        assert np.isfinite(solution.score)
        assert solution.status is Status.STOPPED or stop.forwards == 30


@pytest.mark.parametrize("bounds", [True, False])
def test_a_search_that_was_cut_off_proves_nothing(bounds):
    batch, oracle = subset_sum([7, 11, 19, 23, 31, 41, 53, 61, 71, 83], 200)
    (full,) = solve(batch, oracle, Exact(bounds=bounds))
    assert full.status is Status.OPTIMAL
    for limit in (2, 5, 10, 20, 40, 80, 160, 320):
        for goal in (None, 0.5):
            (solution,) = solve(batch, oracle, Exact(bounds=bounds), stop=Stop(forwards=limit), goal=goal)
            if bounds and goal is not None and limit > 2:
                assert solution.status is Status.IMPOSSIBLE  # no score is above 0, which the first bound knows
            elif solution.forwards < full.forwards:
                assert solution.status is Status.STOPPED


class Clock:
    """Time that passes only where a test says so, or by so much with every look at it."""

    def __init__(self, step=0.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def test_the_clock_stops_a_search_and_keeps_what_it_found():
    batch = Batch.of([Problem((5,) * 40, 20)] * 4)
    table = Quadratic(batch)

    clock = Clock()

    class Slow(Quadratic):
        def score(self, problems, choices):
            clock.now += 0.02 * len(problems)
            return super().score(problems, choices)

    solutions = solve(batch, Slow(batch), Greedy(), stop=Stop(seconds=0.5, clock=clock))
    # Without shorter calls the first one alone, of 640 rows and more, would take 13 s.
    assert clock.now < 1.5
    for index, solution in enumerate(solutions):
        assert solution.status is Status.STOPPED
        assert solution.score == pytest.approx(table.score(np.array([index]), solution.choice[None])[0])


def test_no_time_at_all_returns_the_originals():
    batch = Batch.of([Problem((2, 2), 1)])
    (solution,) = solve(batch, additive(batch), Greedy(), stop=Stop(seconds=0))
    assert solution.status is Status.STOPPED
    assert solution.changes == 0
    assert solution.score == solution.original_score == -1.5


@pytest.mark.parametrize(("field", "value"), [("seconds", -1), ("forwards", 0), ("backwards", -3)])
def test_senseless_limits_are_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} is {value}"):
        Stop(**{field: value})


def test_the_last_word_is_the_oracles():
    """An oracle that drifts is reported as it answers at the end, not as it did in the search."""
    batch = Batch.of([Problem((2,), 1)])
    calls = []

    def drifting(problem, choice):
        calls.append(choice)
        return float(choice[0]) if len(calls) <= 2 else -1.0

    for solver, goal in ((Greedy(), 0.5), (Exact(), None), (Exact(), 0.5)):
        calls.clear()
        (solution,) = solve(batch, FunctionOracle(batch, drifting), solver, goal=goal)
        assert solution.status is Status.UNSTABLE
        assert not solution.proved
        assert not solution.reached
        assert solution.score == -1.0


def test_the_last_bits_of_a_score_are_no_drift():
    batch = Batch.of([Problem((2,), 1)])
    noise = iter(np.random.default_rng(0).normal(size=100) * 1e-4)
    oracle = FunctionOracle(batch, lambda problem, choice: float(choice[0]) + next(noise))
    assert solve(batch, oracle, Exact())[0].status is Status.OPTIMAL


def test_minus_infinity_forbids_a_choice():
    batch = Batch.of([Problem((3, 3), 2)])
    oracle = FunctionOracle(batch, lambda problem, choice: -np.inf if 2 in choice else float(sum(choice)))
    for solver in (Exact(), Greedy()):
        (solution,) = solve(batch, oracle, solver)
        assert solution.error is None
        assert solution.choice.tolist() == [1, 1]


def test_a_problem_that_fails_late_keeps_the_score_of_its_choice():
    batch = Batch.of([Problem((3, 3, 3), 3)])

    def late(problem, choice):
        if sum(choice) > 3:
            raise RuntimeError("too long")
        return float(sum(choice))

    (solution,) = solve(batch, FunctionOracle(batch, late), Greedy())
    assert solution.status is Status.FAILED
    assert solution.score == sum(solution.choice)
    assert "too long" in solution.error


def test_an_infeasible_proposal_is_the_solvers_fault_and_named():
    batch = Batch.of([Problem((2, 2), 1)])

    class Cheat(Solver):
        def propose(self, batch, oracle, search):
            yield Proposal(np.array([0]), np.ones((1, 2), dtype=np.int32), np.array([99.0]))

    with pytest.raises(RuntimeError, match=r"Cheat .*\[1, 1\]"):
        solve(batch, additive(batch), Cheat())


def test_an_oracle_broken_for_everything_fails_every_problem_without_a_traceback():
    batch = Batch.of([Problem((2, 2), 1)] * 3)

    def broken(problem, choice):
        raise OSError("gone")

    with pytest.warns(UserWarning, match="OSError: gone"):
        solutions = solve(batch, FunctionOracle(batch, broken), Greedy())
    assert [solution.status for solution in solutions] == [Status.FAILED] * 3
    assert all("OSError: gone" in solution.error for solution in solutions)


def test_who_watches_sees_problems_leave():
    networks = RandomNetworks(range(10))
    seen = []
    solve(networks.batch, networks, Greedy(), goal=0.2, watch=lambda left, total: seen.append((left, total)))
    assert all(total == 10 for _, total in seen)
    assert [left for left, _ in seen] == sorted(left for left, _ in seen)
    assert len(seen) >= 3
    assert seen[-1] == (10, 10)


def test_seconds_add_up_to_the_whole_and_those_inside_the_oracle_are_told_apart():
    networks, clock = RandomNetworks(range(30)), Clock(step=0.25)
    solutions = solve(networks.batch, networks, Greedy(), stop=Stop(clock=clock))
    whole = clock.now - 0.25  # from the first look at the clock to the last
    assert sum(solution.seconds for solution in solutions) == pytest.approx(whole)
    batch, clock, asked = Batch.of([Problem((3, 3), 2)] * 2), Clock(), []

    def slow(problem, choice):
        clock.now += 0.5
        asked.append(problem)
        return float(sum(choice))

    solutions = solve(batch, FunctionOracle(batch, slow), Greedy(), stop=Stop(clock=clock))
    assert sum(solution.oracle_seconds for solution in solutions) == pytest.approx(0.5 * len(asked))
    assert sum(solution.seconds for solution in solutions) == pytest.approx(0.5 * len(asked))


@pytest.mark.parametrize(
    ("arguments", "goal", "words"),
    [
        (lambda b, o: ([Problem((2,), 1)], o, Greedy()), None, "Batch.of"),
        (lambda b, o: (b, o, Greedy), None, "pass an instance: Greedy()"),
        (lambda b, o: (b, o, Disco), None, "pass an instance: Disco()"),
        (lambda b, o: (Batch.of([Problem((3,), 1)]), o, Greedy()), None, "built for another batch (1 problems with 2"),
        (lambda b, o: (b, lambda p, c: 0.0, Greedy()), None, "FunctionOracle(batch, function)"),
        (lambda b, o: (b, o, 3), None, "is not a solver"),
        (lambda b, o: (b, o, "greedy"), None, "make_solver('greedy')"),
        (lambda b, o: (b, o, Greedy()), "high", "goal is 'high'"),
        (lambda b, o: (b, o, Greedy()), float("nan"), "goal is nan"),
    ],
)
def test_a_wrong_call_of_solve_says_what_would_be_right(arguments, goal, words):
    batch = Batch.of([Problem((2,), 1)])
    with pytest.raises((TypeError, ValueError)) as caught:
        solve(*arguments(batch, additive(batch)), goal=goal)
    assert words in str(caught.value)


def test_repeated_choices_cost_nothing():
    batch = Batch.of([Problem((2,), 1)])
    (solution,) = solve(batch, Table(batch), Random(draws=200))
    assert solution.forwards == 3  # both choices, and the check


def test_what_is_settled_does_not_reach_the_solver():
    batch = Batch.of([Problem((1, 1), 1), Problem((2, 2), 1), Problem((3,), 0)])
    table = Table(batch)
    solutions = solve(batch, table, Exact())
    assert [solution.status for solution in solutions] == [Status.OPTIMAL] * 3
    assert [solution.forwards for solution in solutions] == [2, 4, 2]


@pytest.mark.parametrize("goal", [None, 9.0, 8.5])
def test_pruning_never_returns_less_than_it_saw(goal):
    batch = Batch.of([Problem((2, 2, 2), 3)])
    scores = {"000": 0, "100": 1, "110": 2, "111": 3, "011": 9, "001": 4, "101": 2.5, "010": 0.5}
    oracle = FunctionOracle(batch, lambda problem, choice: float(scores["".join(map(str, choice))]))
    (solution,) = solve(batch, oracle, LeftToRight(), goal=goal)
    assert solution.score == 9.0
    assert solution.reached == (goal is not None)


def test_an_independence_system_is_kept_to_the_end():
    networks = RandomNetworks(range(60), positions=10, candidates=4, budget=6)

    def even(problem):
        return lambda pairs: all(position % 2 == 0 for position, _ in pairs)

    for solution in solve(networks.batch, networks, Greedy(system=even), goal=0.5):
        assert not solution.choice[1::2].any()


def test_what_really_reached_the_model_is_what_is_counted_when_it_fails():
    batch = Batch.of([Problem((4,) * 5, 3)] * 6)
    asked = np.zeros(6, dtype=int)

    class Failing(Quadratic):
        def score(self, problems, choices):
            np.add.at(asked, problems, 1)
            if ((problems == 2) & (choices[:, 0] == 3)).any():
                raise ValueError("no")
            scores = Quadratic.relaxed(self, problems, self.batch.take(problems).one_hot(choices))[0]
            return np.where((problems == 4) & (choices[:, 0] == 2), np.nan, scores)

    counted_without_gradients = FunctionOracle(batch, lambda *_: 0.0)
    counted_without_gradients.score = Failing(batch).score
    solutions = solve(batch, counted_without_gradients, Greedy())
    assert [solution.forwards for solution in solutions] == asked.tolist()
    assert [solution.status for solution in solutions].count(Status.FAILED) == 2


def test_running_out_of_memory_is_not_charged():
    batch = Batch.of([Problem((4,) * 5, 3)])
    asked = []

    class Cramped(Table):
        def score(self, problems, choices):
            if len(problems) > 4:
                raise MemoryError
            asked.append(len(problems))
            return super().score(problems, choices)

    (solution,) = solve(batch, Cramped(batch), Greedy())
    assert solution.forwards == sum(asked)


def test_oracles_may_reuse_or_lock_their_memory():
    batch = Batch.of([Problem((3, 3), 2)] * 3)
    good = Quadratic(batch)
    buffer = np.empty(1000)

    class Reusing(Quadratic):
        def score(self, problems, choices):
            out = buffer[: len(problems)]
            out[:] = good.score(problems, choices)
            return out

        def relaxed(self, problems, alpha):
            scores, gradient = good.relaxed(problems, alpha)
            scores.flags.writeable = gradient.flags.writeable = False
            return scores, gradient

    for one, other in zip(
        solve(batch, Reusing(batch), Disco(enumerate=False)), solve(batch, good, Disco(enumerate=False)), strict=True
    ):
        assert (one.score, one.original_score) == (other.score, other.original_score)


def test_one_long_problem_among_short_ones_does_not_make_them_long():
    listed = [Problem((3,) * 20, 4)] * 400 + [Problem((3,) * 2000, 4)]
    batch = Batch.of(listed)
    weights = np.random.default_rng(0).normal(size=batch.candidates)

    class Linear:
        exact_at_vertices = True

        def score(self, problems, choices):
            layout = batch.take(problems)
            widest.append(choices.shape[1] * len(problems) / max(layout.sizes.sum(), 1))
            picked = weights[batch.flat_rows(problems)][layout.chosen(choices)]
            return np.bincount(layout.problem_of_position, weights=picked, minlength=len(layout))

        def relaxed(self, problems, alpha):
            own = weights[batch.flat_rows(problems)]
            return np.bincount(batch.take(problems).row_of, weights=own * alpha, minlength=len(problems)), own

    widest: list[float] = []
    tracemalloc.start()
    solutions = solve(batch, Linear(), Disco())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # rows padded to the longest would take several times that
    assert all(solution.score > solution.original_score for solution in solutions)


def test_a_limit_on_gradients_does_not_stop_a_solver_that_needs_none():
    batch = Batch.of([Problem((4,) * 6, 3)])
    (solution,) = solve(batch, Quadratic(batch), Greedy(), stop=Stop(backwards=0))
    assert solution.status is Status.IMPROVED
    assert solution.backwards == 0
