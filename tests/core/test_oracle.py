"""The law of oracles, and what the wrappers promise."""

import time

import numpy as np
import pytest
from benchmarks.random_networks import RandomNetworks
from hypothesis import given
from hypothesis import strategies as st

from discotext import Batch
from discotext.core import (
    Cached,
    Chunked,
    Counted,
    EmbeddingOracle,
    FunctionOracle,
    Guarded,
    RelaxedOracle,
    check_oracle,
)
from discotext.core.oracle import can
from discotext.core.oracle_check import difference_gap
from discotext.core.problem import random_choices
from discotext.core.wrappers import Renumbered, running_total
from discotext.theory import LinearBag, subset_sum
from tests.conftest import SHAPES, Quadratic, Table, needs_torch

try:
    import torch
except ImportError:
    torch = None

BATCH = Batch.of(SHAPES)


def embedding_oracle(batch: Batch = BATCH, dtype: str = "float64") -> EmbeddingOracle:
    torch.manual_seed(0)
    dtype = getattr(torch, dtype)
    table = torch.randn(20, 3, dtype=dtype)
    lstm = torch.nn.LSTM(3, 4, batch_first=True).to(dtype)

    def model(vectors, lengths):
        states, _ = lstm(vectors) if vectors.shape[1] else (vectors.new_zeros(len(vectors), 0, 4), None)
        mask = torch.arange(vectors.shape[1])[None] < lengths[:, None]
        return (states * mask.unsqueeze(-1)).sum((1, 2))

    return EmbeddingOracle(batch, np.random.default_rng(0).integers(20, size=batch.candidates), table, model)


LAWFUL = {
    "table": (BATCH, Table(BATCH)),
    "quadratic": (BATCH, Quadratic(BATCH)),
    "subset sum": subset_sum([3, 5, 8, 13], 16),
    "relu networks": (RandomNetworks(range(4)).batch, RandomNetworks(range(4))),
    "tanh networks": (RandomNetworks(range(4)).batch, RandomNetworks(range(4), activation="tanh", scale=2)),
    "linear bag": (
        BATCH,
        LinearBag(BATCH, np.random.default_rng(0).normal(size=(BATCH.candidates, 3)), np.zeros((7, 3))),
    ),
    "counted": (BATCH, Counted(Quadratic(BATCH), BATCH)),
    "cached": (BATCH, Cached(Quadratic(BATCH), BATCH)),
    "chunked": (BATCH, Chunked(Quadratic(BATCH), BATCH, cells=7)),
    "guarded": (BATCH, Guarded(Quadratic(BATCH), BATCH)),
    "all of them": (BATCH, Cached(Chunked(Guarded(Counted(Quadratic(BATCH), BATCH), BATCH), BATCH, 3), BATCH)),
    "renumbered": (BATCH.take([4, 0]), Renumbered(Quadratic(BATCH), BATCH.take([4, 0]), np.array([4, 0]))),
}


if torch is not None:
    LAWFUL |= {f"lstm {dtype}": (BATCH, embedding_oracle(dtype=dtype)) for dtype in ("float64", "float32")}


@pytest.mark.parametrize("name", LAWFUL)
def test_oracles_keep_the_law(name):
    batch, oracle = LAWFUL[name]
    report = check_oracle(batch, oracle)
    assert report.passed, report.failures
    assert (report.vertex_gap is None) == (not can(oracle, RelaxedOracle))


class Liar(Quadratic):
    """A quadratic that breaks one law."""

    def __init__(self, lie: str) -> None:
        super().__init__(BATCH)
        self.lie, self.calls = lie, 0

    def score(self, problems, choices):
        self.calls += 1
        scores = Quadratic.relaxed(self, problems, self.batch.take(problems).one_hot(choices))[0]
        if self.lie == "moods":
            return scores + self.calls
        return scores + (len(scores) if self.lie == "company" else 0)

    def relaxed(self, problems, alpha):
        scores, gradient = Quadratic.relaxed(self, problems, alpha)
        return (
            (scores + 1, gradient) if self.lie == "vertices" else (scores, gradient * (2 if self.lie == "slope" else 1))
        )


@pytest.mark.parametrize(
    ("lie", "word"),
    [("moods", "asked again"), ("company", "other rows"), ("vertices", "one-hot"), ("slope", "not the derivative")],
)
def test_the_check_names_the_law_that_is_broken(lie, word):
    report = check_oracle(BATCH, Liar(lie))
    assert not report.passed
    assert any(word in failure for failure in report.failures)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda n: np.full(n, np.nan), "scored nan"),
        (lambda n: np.zeros((n, 1)), "expected (16,), one number per row"),
        (lambda n: np.zeros((n, 2)), "expected (16,)"),
        (lambda n: 3.0, "shape ()"),
        (lambda n: ["a"] * n, "it raised ValueError"),
    ],
)
def test_the_check_reports_answers_that_are_no_scores(answer, word):
    class Odd:
        def score(self, problems, choices):
            return answer(len(problems))

    report = check_oracle(BATCH, Odd())
    assert not report.passed
    assert word in str(report)


@needs_torch
def test_the_check_survives_a_model_that_cannot_be_asked():
    torch.manual_seed(0)
    norm = torch.nn.BatchNorm1d(3)
    oracle = EmbeddingOracle(
        BATCH, np.zeros(BATCH.candidates, dtype=int), torch.randn(20, 3), lambda v, n: norm(v.sum(1)).sum(1)
    )
    report = check_oracle(BATCH, oracle)
    assert not report.passed
    norm.eval()
    assert check_oracle(BATCH, oracle).passed


def test_an_oracle_may_say_that_its_vertices_are_approximate():
    liar = Liar("vertices")
    liar.exact_at_vertices = False
    report = check_oracle(BATCH, liar)
    assert not any("one-hot" in failure for failure in report.failures)
    assert report.vertex_gap > 0.1


@needs_torch
def test_the_embedding_oracle_mixes_vectors_as_the_padded_product_does():
    oracle = embedding_oracle()
    rows = np.array([0, 4, 0, 6])
    layout = BATCH.take(rows)
    alpha = np.random.default_rng(1).dirichlet(np.ones(3), size=layout.candidates)[:, 0]
    ids = oracle.ids[torch.from_numpy(BATCH.flat_rows(rows))]
    mixed = torch.zeros(4, layout.n_max, 3, dtype=torch.float64)
    at = 0
    for row in range(4):
        for position in range(int(layout.sizes[row])):
            count = int(layout.dense_counts[row, position])
            mixed[row, position] = torch.from_numpy(alpha[at : at + count]) @ oracle.table[ids[at : at + count]]
            at += count
    expected = oracle.model(mixed, torch.from_numpy(layout.sizes))
    np.testing.assert_allclose(oracle.relaxed(rows, alpha)[0], expected.detach().numpy())


@needs_torch
@pytest.mark.parametrize(
    ("ids", "word"),
    [
        (np.zeros(3, dtype=int), r"shape \(3,\)"),
        (np.zeros(BATCH.candidates), "float64"),
        (np.full(BATCH.candidates, 20), "20 rows"),
    ],
)
def test_the_embedding_oracle_refuses_ids_that_do_not_fit(ids, word):
    with pytest.raises(ValueError, match=word):
        EmbeddingOracle(BATCH, ids, torch.zeros(20, 3), lambda vectors, lengths: vectors.sum((1, 2)))


# Wrappers


def many(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    problems = rng.integers(len(BATCH), size=count)
    choices = np.zeros((count, BATCH.n_max), dtype=np.int32)
    layout = BATCH.take(problems)
    choices[:, : layout.n_max] = random_choices(layout, rng)
    return problems, choices


def test_counted_counts_forwards_and_backwards_by_problem():
    counted = Counted(Quadratic(BATCH), BATCH)
    problems, choices = many(30)
    counted.score(problems, choices)
    counted.relaxed(np.array([0, 0, 4]), BATCH.take([0, 0, 4]).one_hot(choices[:3] * 0))
    expected = np.bincount(problems, minlength=len(BATCH))
    np.testing.assert_array_equal(counted.forwards, expected + np.array([2, 0, 0, 0, 1, 0, 0]))
    np.testing.assert_array_equal(counted.backwards, [2, 0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(counted.passes(np.array([0])), expected[0] + 4)


def test_counted_charges_what_the_oracle_says_a_gradient_costs():
    class Priced(Quadratic):
        def cost(self, request):
            return np.full(len(request), 7), np.zeros(len(request), dtype=np.int64)

    counted = Counted(Priced(BATCH), BATCH)
    counted.relaxed(np.array([0]), BATCH.take([0]).one_hot(BATCH.originals()[:1]))
    assert (counted.forwards[0], counted.backwards[0]) == (7, 0)


def test_counted_stops_exactly_at_its_limits():
    table = Table(BATCH)
    counted = Counted(table, BATCH, max_forwards=3)
    problems, choices = np.zeros(5, dtype=np.int64), np.zeros((5, BATCH.n_max), dtype=np.int32)
    scores = counted.score(problems, choices)
    assert np.isfinite(scores).tolist() == [True] * 3 + [False] * 2
    assert len(table.asked) == 3
    assert counted.exhausted.tolist() == [True] + [False] * 6
    late = Counted(table, BATCH, deadline=time.perf_counter() - 1)
    assert np.isneginf(late.score(problems, choices)).all()
    assert len(table.asked) == 3


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=12))
def test_running_totals_are_what_a_loop_would_find(rows):
    problems = np.array([problem for problem, _ in rows], dtype=np.int64)
    amounts = np.array([amount for _, amount in rows], dtype=np.int64)
    spent = dict.fromkeys(range(4), 0)
    expected = []
    for problem, amount in rows:
        spent[problem] += amount
        expected.append(spent[problem])
    assert running_total(problems, amounts).tolist() == expected


def test_cached_never_asks_twice_and_answers_the_same():
    table = Table(BATCH)
    cached = Cached(table, BATCH)
    for seed in (0, 1, 0):
        problems, choices = many(60, seed)
        np.testing.assert_array_equal(cached.score(problems, choices), Table(BATCH).score(problems, choices))
    assert len(table.asked) == len(set(table.asked))


def test_cached_forgets_the_oldest_beyond_its_bound():
    table = Table(BATCH)
    cached = Cached(table, BATCH, entries=2)
    rows = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], dtype=np.int32)
    for choice in (*rows, rows[2], rows[0]):
        cached.score(np.array([0]), choice[None])
    assert len(table.asked) == 4
    assert cached.hits == 1


def test_chunked_splits_by_length_and_keeps_the_order():
    sizes = []

    class Recording(Table):
        def score(self, problems, choices):
            sizes.append(choices.shape)
            return super().score(problems, choices)

    problems, choices = many(50)
    np.testing.assert_array_equal(
        Chunked(Recording(BATCH), BATCH, cells=12).score(problems, choices), Table(BATCH).score(problems, choices)
    )
    assert all(rows * max(width, 1) <= 12 for rows, width in sizes)
    assert {width for _, width in sizes} >= {1, 5}


class Cramped(Quadratic):
    """Runs out of memory with more than three rows."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__(BATCH)
        self.error = error

    def relaxed(self, problems, alpha):
        if len(problems) > 3:
            raise self.error("CUDA out of memory. Tried to allocate 20 GiB")
        return super().relaxed(problems, alpha)


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_chunked_halves_when_memory_runs_out_and_goes_on(error):
    problems, choices = many(40)
    alpha = BATCH.take(problems).one_hot(choices)
    chunked = Chunked(Cramped(error), BATCH)
    scores, gradient = chunked.relaxed(problems, alpha)
    expected = Quadratic(BATCH).relaxed(problems, alpha)
    np.testing.assert_allclose(scores, expected[0])
    np.testing.assert_allclose(gradient, expected[1])
    assert chunked.cells < 65_536


def test_chunked_does_not_hide_other_errors():
    def broken(problem, choice):
        raise KeyError("not a matter of memory")

    with pytest.raises(KeyError):
        Chunked(FunctionOracle(BATCH, broken), BATCH).score(*many(5))


@pytest.mark.parametrize("kind", ["raises", "nan", "infinite"])
def test_guarded_fails_one_problem_and_keeps_the_others(kind):
    table = Table(BATCH)

    def score(problem, choice):
        if problem == 4 and choice[0] == 1:
            if kind == "raises":
                raise ValueError("cannot read this text")
            return np.nan if kind == "nan" else np.inf
        return table.scores[problem][tuple(choice)]

    guarded = Guarded(FunctionOracle(BATCH, score), BATCH)
    problems, choices = many(80)
    scores = guarded.score(problems, choices)
    assert set(guarded.failures) == {4}
    assert "problem 4" in guarded.failures[4]
    assert "choice [1, " in guarded.failures[4]
    others = problems != 4
    np.testing.assert_array_equal(scores[others], table.score(problems, choices)[others])
    assert np.isneginf(scores[~others]).all()


def test_guarded_asks_about_a_failed_problem_no_more():
    asked = []

    def score(problem, choice):
        asked.append(problem)
        if problem == 0:
            raise RuntimeError("boom")
        return 0.0

    guarded = Guarded(FunctionOracle(BATCH, score), BATCH)
    guarded.score(*many(20))
    asked.clear()
    guarded.score(*many(20))
    assert 0 not in asked


@pytest.mark.parametrize("shape", ["column", "short"])
def test_guarded_names_a_wrong_shape(shape):
    class Misshapen(Table):
        def score(self, problems, choices):
            scores = super().score(problems, choices)
            return scores[:, None] if shape == "column" else scores[:-1]

    guarded = Guarded(Misshapen(BATCH), BATCH)
    guarded.score(np.arange(3), BATCH.originals()[:3])
    assert set(guarded.failures) == {0, 1, 2}
    assert "expected (1,), one number per row" in guarded.failures[0]


def test_guarded_finds_the_row_of_a_gradient_that_is_not_finite():
    class Steep(Quadratic):
        def relaxed(self, problems, alpha):
            scores, gradient = super().relaxed(problems, alpha)
            layout = self.batch.take(problems)
            gradient[np.repeat(problems, layout.widths) == 5] = np.nan
            return scores, gradient

    guarded = Guarded(Steep(BATCH), BATCH)
    rows = np.arange(len(BATCH))
    scores, gradient = guarded.relaxed(rows, BATCH.one_hot(BATCH.originals()))
    assert set(guarded.failures) == {5}
    assert np.isfinite(gradient).all()
    assert np.isfinite(scores[rows != 5]).all()


def test_abilities_are_seen_through_wrappers():
    assert can(Cached(Counted(Quadratic(BATCH), BATCH), BATCH), RelaxedOracle)
    assert not can(Cached(Counted(Table(BATCH), BATCH), BATCH), RelaxedOracle)


def test_the_difference_check_is_sharp_for_smooth_oracles():
    rows = np.arange(len(BATCH))
    assert difference_gap(BATCH, rows, Quadratic(BATCH), np.random.default_rng(0), 1.0) < 1e-9
