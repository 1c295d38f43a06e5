"""The moves a gradient proposes, against all moves by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch
from discotext.core.problem import random_choices
from discotext.search.climbing import best_moves
from tests.conftest import problems


def moves_by_hand(problem, choice, slopes):
    """Every move within budget with its first-order gain: swaps, ways back, and exchanges."""
    starts = np.cumsum([0, *problem.counts])
    changed = [i for i, c in enumerate(choice) if c]
    room = len(changed) < problem.budget
    gain = {
        (i, j): slopes[starts[i] + j] - slopes[starts[i] + choice[i]]
        for i, k in enumerate(problem.counts)
        for j in range(k)
    }
    found = {}
    for (i, j), value in gain.items():
        moved = list(choice)
        moved[i] = j
        if j == choice[i]:
            continue
        if choice[i] or (room and j):
            found[tuple(moved)] = value
        elif j:
            for out in changed:
                exchanged = list(moved)
                exchanged[out] = 0
                found[tuple(exchanged)] = value + gain[out, 0]
    return found


@given(st.lists(problems(5, 3), min_size=1, max_size=4), st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_the_moves_proposed_are_the_best_there_are(listed, seed, count):
    # With three candidates at most, the two best of each position that are no original are all there are.
    rng = np.random.default_rng(seed)
    batch = Batch.of(listed)
    choices = random_choices(batch, rng)
    slopes = rng.normal(size=batch.candidates)
    moves = best_moves(batch, choices, slopes, count, 8)
    moved = moves.apply(choices)
    assert not batch.take(moves.rows).infeasible(moved).any()
    assert (np.diff(moves.rows) >= 0).all()
    for row, problem in enumerate(listed):
        own = slopes[batch.first_candidate[row] : batch.first_candidate[row + 1]]
        every = moves_by_hand(problem, choices[row, : len(problem)].tolist(), own)
        proposed = [tuple(m[: len(problem)]) for m in moved[moves.rows == row].tolist()]
        assert len(set(proposed)) == len(proposed) == min(count, len(every))
        values = [every[move] for move in proposed]
        np.testing.assert_allclose(values, sorted(every.values(), reverse=True)[:count])


def test_a_row_without_positions_has_no_moves():
    batch = Batch.of([])
    assert len(best_moves(batch, batch.originals(), np.empty(0), 5, 8)) == 0
