"""The paper's two procedures against second implementations, written from the formulas."""

import numpy as np
import pytest

from discotext import Batch, Problem
from discotext.core.relaxation import experiment_start, row_sum, theorem_start, to_alpha
from discotext.core.wrappers import Cached, Counted
from discotext.search import Search
from discotext.solvers import DiscoAdam, DiscoProximal
from discotext.solvers.disco_proximal import Adam, Iterate, penalty_weight
from tests.conftest import Quadratic

torch = pytest.importorskip("torch")

BATCH = Batch.of([Problem((3, 2, 4), 2), Problem((2, 3, 1, 3), 2)])


class Recording(Quadratic):
    """Remembers every mixture of problem 0 that it is asked about."""

    def __init__(self, batch, seed=0, curve=1.0):
        super().__init__(batch, seed, curve)
        self.mixtures = []

    def score(self, problems, choices):
        return Quadratic.relaxed(self, problems, self.batch.take(problems).one_hot(choices))[0]

    def relaxed(self, problems, alpha):
        if 0 in problems:
            row = int(np.flatnonzero(problems == 0)[0])
            layout = self.batch.take(problems)
            self.mixtures.append(alpha[layout.flat_rows(np.array([row]))])
        return super().relaxed(problems, alpha)


def follow(solver, oracle, yields=None):
    """Run a solver by hand, everybody active, and collect what it proposes."""
    counted = Counted(oracle, oracle.batch)
    proposals = solver.propose(oracle.batch, Cached(counted, oracle.batch), Search.of(counted))
    found = []
    try:
        found.append(next(proposals))
        while yields is None or len(found) < yields:
            found.append(proposals.send(np.arange(len(oracle.batch))))
    except StopIteration:
        pass
    return found


def torch_alpha(beta: torch.Tensor, counts: tuple[int, ...], p: int) -> torch.Tensor:
    return torch.cat([part ** (2 * p) / (part ** (2 * p)).sum() for part in beta.split(list(counts))])


@pytest.mark.parametrize("reading", ["budget", "confidence"])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_adam_is_the_experimental_set_up_by_autograd(reading, p, seed):
    oracle = Recording(BATCH, seed)
    follow(DiscoAdam(reading=reading, p=p, steps=12), oracle)
    counts, n = BATCH[0].counts, 3
    linear, square = torch.tensor(oracle.linear[0]), torch.tensor(oracle.square[0])

    def score(alpha):
        return linear @ alpha + alpha @ square @ alpha

    start = torch.cat([torch.tensor([10.0] + [0.05] * (count - 1)) for count in counts]).double()
    original = torch.cat([torch.tensor([1.0] + [0.0] * (count - 1)) for count in counts]).double()
    size = score(original).abs()
    weight = 3 * size / (10 * n + 0.05 * sum(count - 1 for count in counts))
    gamma = 6 * size / np.sqrt(n)
    beta = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([beta], lr=1.0)
    expected = []
    for _ in range(12):
        alpha = torch_alpha(beta, counts, p)
        expected.append(alpha.detach().numpy().copy())
        kept = torch.stack([part[0] for part in alpha.split(list(counts))])
        mass = torch.linalg.norm(1 - kept)
        if reading == "budget":
            cost = -score(alpha) + gamma * torch.clamp(mass - np.sqrt(0.2 * n), min=0)
        else:
            cost = torch.clamp(-score(alpha), min=-0.2) + gamma * mass
        loss = cost + weight * beta.abs().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    for found, wanted in zip(oracle.mixtures, expected, strict=False):
        np.testing.assert_allclose(found, wanted, atol=2e-5)
    assert len(oracle.mixtures) >= 12


def test_adam_moments_are_those_of_the_library():
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(20, 5)) * [1, 10, 0.1, 1e-4, 100]
    ours, theirs = np.zeros(5), torch.zeros(5, dtype=torch.float64, requires_grad=True)
    adam, optimiser = Adam(np.zeros(5), np.zeros(5)), torch.optim.Adam([theirs], lr=1.0)
    for step, gradient in enumerate(gradients, start=1):
        ours = ours - adam.direction(gradient, step)
        theirs.grad = torch.tensor(gradient)
        optimiser.step()
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-9)


def algorithm_2(oracle: Quadratic, problem: int, step: float, steps: int, p: int, weight: float) -> list[np.ndarray]:
    """As printed, one position at a time, with autograd for ∇f."""
    counts = BATCH[problem].counts
    linear, square = torch.tensor(oracle.linear[problem]), torch.tensor(oracle.square[problem])
    beta = torch.cat([torch.full((count,), count ** (-1 / (2 * p)), dtype=torch.float64) for count in counts])
    path = [torch_alpha(beta, counts, p).numpy().copy()]
    for _ in range(steps):
        beta = beta.requires_grad_()
        alpha = torch_alpha(beta, counts, p)
        (gradient,) = torch.autograd.grad(-(linear @ alpha + alpha @ square @ alpha), beta)
        moved = beta.detach() - step * gradient
        parts = []
        for part in moved.split(list(counts)):
            shrunk = torch.where(
                part > step * weight,
                part - step * weight,
                torch.where(part < -step * weight, part + step * weight, 0.0),
            )
            if not shrunk.any():
                shrunk[part.abs().argmax()] = 1.0
            parts.append(shrunk / (shrunk.abs() ** (2 * p)).sum() ** (1 / (2 * p)))
        beta = torch.cat(parts)
        path.append(torch_alpha(beta, counts, p).numpy().copy())
    return path


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_proximal_is_algorithm_2_as_printed(p, seed):
    oracle = Recording(BATCH, seed)
    follow(DiscoProximal(p=p, step=0.05, steps=15), oracle)
    start = theorem_start(BATCH, p)
    original = oracle.score(np.array([0]), BATCH.originals()[:1])[0]
    weight = 3 * max(abs(original), 1e-3) / row_sum(np.abs(start), BATCH)[0]
    for found, wanted in zip(oracle.mixtures, algorithm_2(oracle, 0, 0.05, 15, p, weight), strict=False):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert len(oracle.mixtures) > 5


def test_a_schedule_is_asked_for_each_iteration_from_1():
    asked = []
    follow(DiscoProximal(step=lambda k: asked.append(k) or 0.1 / k, steps=5), Quadratic(BATCH))
    assert asked[:5] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("curve", [0.1, 10.0, 1000.0])
def test_backtracking_descends_whatever_the_scale(curve):
    """φ = cost + λ‖β‖_1 never rises for p = 1, with no Lipschitz constant given."""
    oracle = Quadratic(BATCH, 1, curve)
    layout = BATCH
    solver = DiscoProximal(steps=30)
    rows = np.arange(2)
    at = Iterate.of(oracle, rows, theorem_start(layout), layout, 1)
    weight = np.array([0.3, 0.1]) * curve
    sizes = np.ones(2)
    objective = at.cost + weight * row_sum(np.abs(at.beta), layout)
    for _ in range(30):
        at, sizes = solver._backtrack(oracle, rows, at, weight, 2 * sizes, layout)
        new = at.cost + weight * row_sum(np.abs(at.beta), layout)
        assert (new <= objective + 1e-9 * curve).all()
        objective = new
    np.testing.assert_allclose(to_alpha(at.beta, layout), at.alpha)


def test_the_penalty_starts_at_three_times_the_cost():
    oracle = Quadratic(BATCH, 3)
    originals = oracle.score(np.arange(2), BATCH.originals())
    for start in (theorem_start(BATCH), experiment_start(BATCH)):
        weight = penalty_weight(3.0, originals, start, BATCH)
        np.testing.assert_allclose(weight * row_sum(np.abs(start), BATCH), 3 * np.abs(originals))
