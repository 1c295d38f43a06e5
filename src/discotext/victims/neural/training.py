"""Training: Adam on batches of like length, the best epoch on held-out texts kept.

A recurrent network's gradient fades over a long text until its numbers are so small that processors handle them fifteen
times more slowly than others; that, and nothing in the model, is why a plain LSTM on film reviews seems untrainable on
a CPU. Such numbers are treated as zero here (see `flushed_denormals`; programs that call `extras.quick_start` before
anything else gain most). Only the first words of very long texts are learnt from; all are read in use.

In single precision, kinds of processors and numbers of threads differ in the last digit of a sum. That digit decides
which of two nearly equal states is the maximum over a text, hence which word learns, and after a few hundred steps the
networks have little in common but their accuracy. In double precision (`precise`) such near ties hardly happen, and
machines that differ make the same network, to the last digit of what is kept, for two to three times the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discotext.data.examples import Examples
from discotext.embedding import flushed_denormals
from discotext.goals import predictions
from discotext.segments import Ints
from discotext.text.vectors import WordVectors
from discotext.victims.neural.networks import Kind, Network, Pool, Shape
from discotext.victims.neural.victim import NeuralVictim, padded
from discotext.victims.neural.vocabulary import build

SORTED = 50  # batches whose texts are sorted by length together: like lengths, yet another mixture every epoch


@dataclass(frozen=True)
class Training:
    """Settings. What the paper gives: 200 units, dropout 0.3, batch normalisation, Adam. The rest is ours."""

    kind: Kind = "lstm"
    pool: Pool = "max"
    hidden: int = 200
    dropout: float = 0.3
    epochs: int = 6
    patience: int = 2
    batch: int = 64
    rate: float = 2e-3
    first_words: int = 300
    tune_vectors: bool = False
    precise: bool = False
    rare: int = 2
    validation: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch", "first_words", "rare", "hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; choose 1 or more")
        if not 0 < self.validation < 1:
            raise ValueError(f"validation is {self.validation}, a share of the texts; choose between 0 and 1")
        if not self.rate > 0:
            raise ValueError(f"rate is {self.rate}; choose a number above 0")


@dataclass
class Progress:
    """What is known while training goes on; `watch` is called with it after every batch."""

    epoch: int = 0
    step: int = 0
    steps: int = 0
    loss: float = float("nan")
    best: float = float("nan")
    history: list[dict[str, float]] = field(default_factory=list)


def train(
    examples: Examples,
    vectors: WordVectors,
    settings: Training = Training(),  # noqa: B008 (frozen)
    watch: Callable[[Progress], None] | None = None,
) -> tuple[NeuralVictim, Progress]:
    """Train a victim on examples, a seeded part of them held out to choose the best epoch.

    A KeyboardInterrupt ends training and keeps the best so far.
    """
    began = time.perf_counter()
    kept, held = examples.split(settings.validation, settings.seed)
    vocabulary, start = build(kept.texts, vectors, settings.rare, settings.seed)
    shape = Shape(
        settings.kind, len(examples.names), vectors.width, settings.hidden, settings.dropout, pool=settings.pool
    )
    torch.manual_seed(settings.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    real = torch.float64 if settings.precise else torch.float32
    network = Network(shape).to(real).apply(_draw).to(device)
    # Half precision holds all that such vectors know; rounded now, they are the same after being stored.
    known = torch.from_numpy(start).half().to(device, real)
    table = nn.Embedding(len(vocabulary), vectors.width, sparse=settings.tune_vectors, _weight=known)
    table.requires_grad_(settings.tune_vectors)
    progress = Progress()
    rows = [row[: settings.first_words] for row in vocabulary.read(kept.texts)]
    judge = _Judge(vocabulary.read(held.texts), held.labels)

    def victim() -> NeuralVictim:
        return NeuralVictim(network, vocabulary, table.weight.detach().half().to(table.weight), examples.names)

    best: dict[str, Tensor] = {}
    try:
        with flushed_denormals():
            idle = 0
            for _ in _epochs(network, table, rows, kept.labels, settings, progress, watch):
                accuracy = judge.accuracy(victim())
                progress.history.append(
                    {"epoch": progress.epoch, "loss": progress.loss, "validation_accuracy": accuracy}
                )
                if not best or accuracy > progress.best:
                    progress.best, idle = accuracy, 0
                    best = {name: value.clone() for name, value in _state(network, table).items()}
                else:
                    idle += 1
                if idle == settings.patience:
                    break
    except KeyboardInterrupt:
        if not best:
            raise
    _restore(network.float(), table.float(), best)
    made = victim()
    made.settings = {
        "training": asdict(settings),
        "data": examples.source,
        "rows": len(examples),
        "validation_accuracy": progress.best,
        "history": progress.history,
        "seconds": round(time.perf_counter() - began, 1),
    }
    return made, progress


def _draw(module: nn.Module) -> None:
    """Draw a layer's start in the precision it has now: drawn in single, its last digit depends on the processor."""
    if isinstance(module, nn.RNNBase | nn.Linear | nn.Conv1d):
        module.reset_parameters()


def _state(network: Network, table: nn.Embedding) -> dict[str, Tensor]:
    """What training changes: the table only if it is tuned."""
    found = dict(network.state_dict())
    return found | {"table": table.weight.detach()} if table.weight.requires_grad else found


def _restore(network: Network, table: nn.Embedding, state: dict[str, Tensor]) -> None:
    state = dict(state)
    if "table" in state:
        table.weight.data.copy_(state.pop("table"))
    network.load_state_dict(state)


def _epochs(
    network: Network,
    table: nn.Embedding,
    rows: Sequence[Ints],
    labels: Ints,
    settings: Training,
    progress: Progress,
    watch: Callable[[Progress], None] | None,
) -> Iterator[None]:
    """Run epoch after epoch, stopping after each to be looked at."""
    rng = np.random.default_rng(settings.seed)
    optimisers: list[torch.optim.Optimizer] = [torch.optim.Adam(network.parameters(), settings.rate)]
    if settings.tune_vectors:
        optimisers.append(torch.optim.SparseAdam(table.parameters(), settings.rate / 2))
    progress.steps = settings.epochs * len(_batches(rows, settings.batch, rng))
    schedules = [
        torch.optim.lr_scheduler.OneCycleLR(one, one.param_groups[0]["lr"], progress.steps + 1) for one in optimisers
    ]
    targets = torch.from_numpy(np.asarray(labels, dtype=np.int64))
    device = table.weight.device
    for epoch in range(1, settings.epochs + 1):
        progress.epoch, total, count = epoch, 0.0, 0
        # Making a victim of it put the network into evaluation mode and froze it.
        network.train().requires_grad_(True)
        for numbers in _batches(rows, settings.batch, rng):
            ids, lengths = padded([rows[number] for number in numbers])
            inside = torch.arange(ids.shape[1]) < lengths.unsqueeze(-1)
            vectors = table(ids.to(device)) * inside.unsqueeze(-1).to(table.weight)
            loss = nn.functional.cross_entropy(network(vectors, lengths.to(device)), targets[numbers].to(device))
            for one in optimisers:
                one.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            for one, schedule in zip(optimisers, schedules, strict=True):
                one.step()
                schedule.step()
            total, count = total + float(loss.detach()) * len(numbers), count + len(numbers)
            progress.step, progress.loss = progress.step + 1, total / count
            if watch is not None:
                watch(progress)
        yield


def _batches(rows: Sequence[Ints], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Batches of texts of like length, in random order; none of a single text, which has no batch statistics."""
    found: list[list[int]] = []
    order = rng.permutation(len(rows)).tolist()
    for begin in range(0, len(order), size * SORTED):
        some = sorted(order[begin : begin + size * SORTED], key=lambda number: len(rows[number]))
        found += [some[at : at + size] for at in range(0, len(some), size)]
    found = [batch for batch in found if len(batch) > 1]
    rng.shuffle(found)
    return found


@dataclass(frozen=True)
class _Judge:
    """Held-out texts, read once."""

    rows: Sequence[Ints]
    labels: Ints

    def accuracy(self, victim: NeuralVictim) -> float:
        return float((predictions(victim.scores_of_rows(self.rows)) == self.labels).mean())


def measured(victim: NeuralVictim, examples: Examples) -> dict[str, Any]:
    """How many of some examples the victim gets right."""
    right = predictions(victim.scores(examples.texts)) == examples.labels
    return {"right": int(right.sum()), "n": len(examples), "accuracy": float(right.mean())}
