"""Neighbours equal those of a full sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import discotext.text.neighbours as module
from discotext.text.neighbours import Neighbours, find_nearest
from discotext.text.vectors import WordVectors

STEP = 2.0**-23


def named(vectors: np.ndarray) -> WordVectors:
    return WordVectors([f"w{row}" for row in range(len(vectors))], np.asarray(vectors, dtype=np.float32))


def some(count: int = 40, width: int = 6, seed: int = 0) -> WordVectors:
    """Random vectors, among them copies, multiples and zeros."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, width)).astype(np.float32)
    for row in range(count // 8):
        vectors[rng.integers(count)] = vectors[rng.integers(count)] * [1, 2, 3][row % 3]
    vectors[rng.integers(count, size=count // 15)] = 0
    return named(vectors)


def all_distances(vectors: WordVectors, rows: np.ndarray) -> np.ndarray:
    """(M, N) distances of these rows in float64, from the unscaled vectors."""
    exact = vectors.vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    unit = exact / np.where(lengths == 0, 1, lengths)
    return np.clip(1 - unit[rows] @ unit.T, 0, 2)


def nearest(vectors: WordVectors, settings: Neighbours, rows: np.ndarray | None = None) -> list[list]:
    """The neighbours of each word, by row, with their distances."""
    rows = np.arange(len(vectors)) if rows is None else rows
    found = [[] for _ in rows]
    for place, row, distance in zip(*(one.tolist() for one in find_nearest(vectors, rows, settings)), strict=True):
        found[place].append((row, distance))
    return found


def check(vectors: WordVectors, settings: Neighbours) -> None:
    """The neighbours equal those of a full sort, up to float32 rounding."""
    distances = all_distances(vectors, np.arange(len(vectors)))
    slack = 4 * STEP
    for row, pairs in enumerate(nearest(vectors, settings)):
        near, far = np.array([one for one, _ in pairs], dtype=int), np.array([one for _, one in pairs])
        others = np.delete(distances[row], row)
        reach = settings.ball * (others.max() if len(others) else 0)
        assert row not in near
        assert len(set(near.tolist())) == len(near)
        np.testing.assert_allclose(far, distances[row, near], atol=slack)
        assert pairs == sorted(pairs, key=lambda pair: pair[::-1])
        # Words inside the ball by more than rounding are there, words outside by more are not.
        surely, perhaps = (min(settings.k, int((others <= reach + sign * slack).sum())) for sign in (-1, 1))
        assert surely <= len(near) <= perhaps
        np.testing.assert_allclose(far, np.sort(others)[: len(near)], atol=slack)


@given(
    vectors=arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, max_side=12),
        # Few distinct numbers, so that copies, zeros and ties are common; and arbitrary numbers.
        elements=st.sampled_from([-1.0, 0.0, 1.0, 0.5]) | st.floats(-100, 100, width=32, allow_subnormal=False),
    ),
    k=st.integers(1, 14),
    ball=st.sampled_from([0.1, 0.5, 0.9, 1.0]),
)
def test_neighbours_equal_those_of_a_full_sort(vectors, k, ball):
    check(named(vectors), Neighbours(k, ball))


@pytest.mark.parametrize("ball", [0.3, 1.0])
@pytest.mark.parametrize("count", [33, 3000])
def test_neighbours_equal_those_of_a_full_sort_for_many_words_with_copies_and_zeros(count, ball):
    check(some(count), Neighbours(5, ball))


def test_a_case_by_hand():
    words = named([[1, 0], [2, 0], [0, 3], [-1, 0], [0, 0], [5, 0]])
    # Row 0: its copies 1 and 5 at 0, then 2 and the zero vector at 1; the furthest, 3, at 2.
    assert nearest(words, Neighbours(3, 0.5))[0] == [(1, 0.0), (5, 0.0), (2, 1.0)]
    assert nearest(words, Neighbours(9, 0.5))[0] == [(1, 0), (5, 0), (2, 1), (4, 1)]
    assert nearest(words, Neighbours(9, 0.4))[0] == [(1, 0.0), (5, 0.0)]
    # Row 4 is zero: R = 1, and none is nearer than that.
    assert nearest(words, Neighbours(2, 0.9))[4] == []
    assert nearest(words, Neighbours(2, 1.0))[4] == [(0, 1.0), (1, 1.0)]
    # A word without others, no words at all, and lengths that float32 cannot square.
    assert nearest(named([[1, 2]]), Neighbours()) == [[]]
    assert nearest(named(np.empty((0, 3))), Neighbours()) == []
    extreme = named([[1e-30, 0], [1e30, 1e28], [0, 1e-30], [-1e30, 0]])
    assert [row for row, _ in nearest(extreme, Neighbours(1))[0]] == [1]


@pytest.mark.parametrize("block", [1, 100_000, 24_000_000])
def test_the_result_does_not_depend_on_the_blocks(monkeypatch, block):
    words, settings = some(3000, width=50), Neighbours(4, 0.8)
    whole = nearest(words, settings)
    monkeypatch.setattr(module, "BLOCK_BYTES", block)
    rows = np.array([2999, 0, 17, 17, *range(40, 400)])
    assert nearest(words, settings, rows) == [whole[row] for row in rows]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Neighbours(k=0), "k is 0"),
        (lambda: Neighbours(ball=0.0), "ball is 0.0"),
        (lambda: Neighbours(ball=float("nan")), "ball is nan"),
        (lambda: nearest(named([[1, 2], [np.nan, 0]]), Neighbours()), "'w1'"),
    ],
)
def test_invalid_input_is_refused_with_a_reason(make, words):
    with pytest.raises(ValueError, match=words):
        make()
