"""The benchmark on TREC: the truth that it enumerates and the shares that it counts. TREC itself is not needed."""

from dataclasses import replace

import numpy as np
from benchmarks import trec_optimum as bench
from benchmarks.trec_optimum import Truth
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch, solve
from discotext.core import Solution, Status
from discotext.solvers import Exact, Greedy
from tests.conftest import Table, feasible, problems


@given(problems(), st.integers(0, 1000))
def test_the_truth_is_that_of_all_products_of_candidates_and_of_exact(problem, seed):
    batch = Batch.of([problem])
    table = Table(batch, seed)
    seen = []
    truth = bench.enumerate_texts(table, batch, seen.append)
    scores = table.scores[0]
    assert truth.texts == sum(seen) == len(feasible(problem)) == problem.feasible_choices
    assert sorted(choice for _, choice in table.asked) == sorted(feasible(problem))
    assert scores[truth.choice] == truth.optimum == max(scores.values())
    assert truth.second == (sorted(scores.values())[-2] if len(scores) > 1 else -np.inf)
    assert len(truth.best) == problem.budget + 1
    for changes, best in enumerate(truth.best):
        assert best == max(score for choice, score in scores.items() if np.count_nonzero(choice) <= changes)
    (best,) = solve(batch, table, Exact())
    (aimed,) = solve(batch, table, Exact(), goal=0.0)
    assert best.score == truth.optimum
    assert aimed.reached == (truth.fewest is not None)
    assert not aimed.reached or aimed.changes == truth.fewest


@given(st.lists(problems(), min_size=1, max_size=6), st.integers(0, 1000))
def test_shares_of_solvers_on_random_problems_are_those_counted_by_hand(several, seed):
    batch = Batch.of(several)
    table = Table(batch, seed)
    truths = []
    for number, problem in enumerate(several):
        alone = Table(Batch.of([problem]), 0)
        alone.scores = [table.scores[number]]
        truths.append(bench.enumerate_texts(alone, alone.batch))
    exact = bench.shares(solve(batch, table, Exact()), solve(batch, table, Exact(), goal=0.0), truths)
    assert exact["optimum_share"] == exact["verdict_share"] == exact["gain_share"] == 1.0
    assert exact["fewest_share"] in (1.0, None)
    found, aimed = solve(batch, table, Greedy()), solve(batch, table, Greedy(), goal=0.0)
    greedy = bench.shares(found, aimed, truths)
    assert greedy["optimum_share"] == np.mean([one.score == table.best(row) for row, one in enumerate(found)])
    right = [(one.score >= 0) == (table.best(row) >= 0) for row, one in enumerate(aimed)]
    assert greedy["verdict_share"] == np.mean(right)


def test_the_optimum_is_reached_by_its_text_or_within_the_tolerance_which_grows_with_the_score():
    def solution(score, choice=(0, 1)):
        return Solution(np.array(choice, dtype=np.int32), score, -1.0, Status.IMPROVED, 5, 1, 0.1, 0.05)

    def share(truth, score, choice=(0, 1)):
        return bench.shares([solution(score, choice)], [solution(0.0)], [truth])["optimum_share"]

    turned, safe = Truth(9, (-1.0, -0.5, 2.0), (1, 1), 1.5), Truth(9, (-30.0, -25.0, -20.0), (2, 1), -21.0)
    assert share(turned, 2.0) == share(turned, 2.0 - 1.9e-5) == share(safe, -20.0 - 1.9e-4) == 1.0
    assert share(turned, 2.0 - 2.1e-5) == share(safe, -20.0 - 2.1e-4) == share(turned, 1.5) == 0.0
    assert share(turned, 1.9, choice=(1, 1)) == 1.0
    assert share(replace(turned, best=(-1.0, -0.5, 0.01)), 0.01 - 0.9e-5) == 1.0
    assert share(replace(turned, best=(-1.0, -0.5, 0.01)), 0.01 - 1.1e-5) == 0.0
