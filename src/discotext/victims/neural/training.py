"""Training: Adam on batches of similar length, keeping the best epoch on held-out texts.

`train_victim` trains from the name of a data set to a folder, `train` from examples to a victim.

A recurrent network's gradient fades over a long text until it consists of denormal numbers, which processors handle
fifteen times more slowly than others; this, and nothing in the model, is why a plain LSTM on film reviews seems
untrainable on a CPU. Denormals are treated as zero here (see `flush_denormals`; programs that call
`flush_denormals_globally` before anything else gain most). Training reads only the first words of very long texts; the
trained victim reads all of them.

In single precision, the last digit of a sum depends on the kind of processor and the number of threads. That digit
decides which of two nearly equal states is the maximum over a text, hence which word gets the gradient, and after a few
hundred steps the networks have little in common but their accuracy. In double precision (`precise`) such near ties
hardly happen, and different machines make the same network, to the last digit that is stored, at two to three times the
cost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from discotext.core.arrays import Ints
from discotext.core.embedding import flush_denormals
from discotext.core.objectives import predictions
from discotext.data.columns import AnyColumns, Columns
from discotext.data.examples import Examples
from discotext.data.labels import list_some
from discotext.data.registry import Split, has_name, load_data
from discotext.support.intervals import wilson
from discotext.support.threads import limit_threads
from discotext.text.candidates import Candidates
from discotext.text.merging import NOTHING_MERGED, MergedWords
from discotext.text.vectors import VECTOR_FORMATS, WordVectors, load_packaged_vectors
from discotext.victims.neural.adversary import (
    INTERVAL_KINDS,
    Options,
    bound_logits,
    choose_words,
    find_options,
    make_boxes,
    mix_words,
    pad_options,
)
from discotext.victims.neural.networks import Kind, Network, Pool, Shape, mask_lengths
from discotext.victims.neural.victim import NeuralVictim, build_vocabulary, pad

SORTED = 50  # batches whose texts are sorted by length together: similar lengths, yet different batches every epoch
TEST_SHARE = 0.2  # of a file without a test split
# With fewer texts than this there is time for more epochs and for training the word vectors.
SMALL = 20_000
STEPS = 1_000  # of training, on small data

Inner = Literal["vertex", "mixture", "interval"]
Stage = Literal["reading", "training", "testing", "done"]


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training. 200 units, dropout 0.3, batch normalisation and Adam are the paper's; the rest is ours.

    patience: epochs without improvement before training stops. rate: the largest learning rate. first_words: words of
    a text that are read. tune_vectors: train the word vectors, too. precise: train in double precision. rare: how often
    a word without a vector must occur to get one. validation: the share of the texts that is held out.
    adversarial: the weight, from 0 to below 1, of texts whose words were exchanged to raise the loss; needs candidates.
    share: of the words that are exchanged there. inner: what these texts are: words exchanged to raise the loss most
    ("vertex"), random mixtures of words ("mixture"), or all exchanges at once, by interval bounds ("interval").
    """

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
    adversarial: float = 0.0
    share: float = 0.2
    inner: Inner = "vertex"

    def __post_init__(self) -> None:
        if not 0 <= self.adversarial < 1:
            raise ValueError(f"adversarial is {self.adversarial}; choose a weight from 0 to below 1")
        if self.inner == "interval" and self.kind not in INTERVAL_KINDS:
            raise ValueError(f"there are no interval bounds for {self.kind}; choose one of {', '.join(INTERVAL_KINDS)}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share is {self.share}; choose a number above 0 and up to 1")
        for name, value in asdict(self).items():
            if name in ("epochs", "patience", "batch", "first_words", "rare", "hidden") and value < 1:
                raise ValueError(f"{name} is {value}; choose 1 or more")
        if not 0 < self.validation < 1:
            raise ValueError(f"validation is {self.validation}; choose a share of the texts between 0 and 1")
        if not self.rate > 0:
            raise ValueError(f"rate is {self.rate}; choose a number above 0")


@dataclass
class TrainingState:
    """The state of training, with which the progress callback is called after every batch and at every new stage.

    texts: the number of training texts. step, steps: batches done, and in all. loss: the mean over the epoch so far.
    best: the best accuracy on held-out texts. history: a row for each epoch. interrupted: ended by Ctrl-C.
    """

    texts: int
    epochs: int
    stage: Stage = "reading"
    epoch: int = 0
    step: int = 0
    steps: int = 0
    loss: float = float("nan")
    best: float = float("nan")
    history: list[dict[str, float]] = field(default_factory=list)
    interrupted: bool = False


ProgressCallback = Callable[[TrainingState], None]


def train(
    examples: Examples,
    vectors: WordVectors,
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 (frozen)
    progress: ProgressCallback | None = None,
    candidates: Candidates | None = None,
    merged: MergedWords = NOTHING_MERGED,
) -> tuple[NeuralVictim, TrainingState]:
    """Train a victim on examples, a random part of which is held out to choose the best epoch.

    candidates: for adversarial training; the best epoch is then the one whose accuracy on held-out texts is highest
    after their words were exchanged, too. merged: what the network is to read instead of words; what is returned must
    be put into `Encoded`.

    A KeyboardInterrupt ends training and keeps the best epoch so far.
    """
    state = TrainingState(len(examples), settings.epochs)
    report = progress or ignore
    report(state)
    began = time.perf_counter()
    kept, held = examples.split(settings.validation, settings.seed)
    read = [merged(text) for text in kept.texts]
    vocabulary, start = build_vocabulary(read, vectors, settings.rare, settings.seed)
    shape = Shape(
        settings.kind, len(examples.names), vectors.width, settings.hidden, settings.dropout, pool=settings.pool
    )
    torch.manual_seed(settings.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    real = torch.float64 if settings.precise else torch.float32
    network = Network(shape).to(real).apply(_initialise).to(device)
    # Half precision is enough for word vectors; rounded now, they do not change when they are stored.
    initial = torch.from_numpy(start).half().to(device, real)
    table = nn.Embedding(len(vocabulary), vectors.width, sparse=settings.tune_vectors, _weight=initial)
    table.requires_grad_(settings.tune_vectors)
    rows = [row[: settings.first_words] for row in vocabulary.read(read)]
    options = held_options = None
    if settings.adversarial:
        if candidates is None:
            raise ValueError("adversarial training needs candidates; pass a Candidates, as make_candidates() makes it")
        options = find_options(candidates, kept.texts, vocabulary, settings.first_words, merged)
        held_options = find_options(candidates, held.texts, vocabulary, settings.first_words, merged)
    held_rows = vocabulary.read(map(merged, held.texts))

    def make_victim() -> NeuralVictim:
        return NeuralVictim(network, vocabulary, table.weight.detach().half().to(table.weight), examples.names)

    trained = nn.ModuleDict({"network": network} | ({"table": table} if settings.tune_vectors else {}))
    best: dict[str, Tensor] = {}
    try:
        with flush_denormals(), limit_threads():
            idle = 0
            for _ in _run_epochs(network, table, rows, kept.labels, settings, state, report, options):
                now = make_victim()
                right = predictions(now.score_rows(held_rows)) == held.labels
                if held_options is not None:
                    exchanged = _exchange_words(now, held_rows, held.labels, held_options, settings.share)
                    right &= predictions(now.score_rows(exchanged)) == held.labels
                accuracy = float(right.mean())
                state.history.append({"epoch": state.epoch, "loss": state.loss, "validation_accuracy": accuracy})
                if not best or accuracy > state.best:
                    state.best, idle = accuracy, 0
                    best = {name: value.clone() for name, value in trained.state_dict().items()}
                else:
                    idle += 1
                if idle == settings.patience:
                    break
    except KeyboardInterrupt:
        if not best:
            raise
        state.interrupted = True
    table.float()
    trained.float().load_state_dict(best)
    made = make_victim()
    made.settings = {
        "training": asdict(settings),
        "data": examples.source,
        "rows": len(examples),
        "validation_accuracy": state.best,
        "history": state.history,
        "seconds": round(time.perf_counter() - began, 1),
    }
    return made, state


def ignore(state: TrainingState) -> None:
    """The progress callback that does nothing."""


def _initialise(module: nn.Module) -> None:
    """Initialise a layer in its present precision: in single precision, the last digit depends on the processor."""
    if isinstance(module, nn.RNNBase | nn.Linear | nn.Conv1d):
        module.reset_parameters()


def _run_epochs(
    network: Network,
    table: nn.Embedding,
    rows: Sequence[Ints],
    labels: Ints,
    settings: TrainingSettings,
    state: TrainingState,
    report: ProgressCallback,
    options: Options | None = None,
) -> Iterator[None]:
    """Train for one epoch after another, yielding after each, so that the caller can measure and stop."""
    rng = np.random.default_rng(settings.seed)
    optimisers: list[torch.optim.Optimizer] = [torch.optim.Adam(network.parameters(), settings.rate)]
    if settings.tune_vectors:
        optimisers.append(torch.optim.SparseAdam(table.parameters(), settings.rate / 2))
    state.steps = settings.epochs * len(_make_batches(rows, settings.batch, rng))
    schedules = [
        torch.optim.lr_scheduler.OneCycleLR(one, one.param_groups[0]["lr"], state.steps + 1) for one in optimisers
    ]
    targets = torch.from_numpy(np.asarray(labels, dtype=np.int64))
    device = table.weight.device
    for epoch in range(1, settings.epochs + 1):
        state.stage, state.epoch, total, count = "training", epoch, 0.0, 0
        # NeuralVictim has put the network into evaluation mode and frozen it.
        network.train().requires_grad_(True)
        for numbers in _make_batches(rows, settings.batch, rng):
            ids, lengths = pad([rows[number] for number in numbers], device)
            mask = mask_lengths(lengths, ids.shape[1]).unsqueeze(-1).to(table.weight)
            wanted = targets[numbers].to(device)
            vectors = table(ids) * mask
            for one in optimisers:
                one.zero_grad()
            # The gradient by the vectors is a by-product of that by the weights: an adversarial epoch costs about two.
            if options is not None:
                vectors.requires_grad_().retain_grad()
            loss = nn.functional.cross_entropy(network(vectors, lengths), wanted)
            ((1 - settings.adversarial) * loss).backward()  # type: ignore[no-untyped-call, unused-ignore]
            if options is not None:
                gradient = torch.zeros_like(vectors) if vectors.grad is None else vectors.grad
                padded = pad_options([options[number] for number in numbers], ids.shape[1]).to(device)
                if settings.inner == "interval":
                    # Boxes grow in the first half of training, as published; at full size from the start it diverges.
                    size = min(1.0, 2 * state.step / state.steps)
                    low, high = (one * mask for one in make_boxes(table(ids), ids, padded, table.weight, size))
                    worst = bound_logits(network, low, high, lengths, wanted)
                elif settings.inner == "mixture":
                    mixed = mix_words(ids, lengths, padded, table.weight, settings.share, rng)
                    worst = network(mixed * mask, lengths)
                else:
                    exchanged = choose_words(ids, lengths, padded, gradient, table.weight.detach(), settings.share)
                    worst = network(table(exchanged) * mask, lengths)
                worse = nn.functional.cross_entropy(worst, wanted)
                (settings.adversarial * worse).backward()  # type: ignore[no-untyped-call, unused-ignore]
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            for one, schedule in zip(optimisers, schedules, strict=True):
                one.step()
                schedule.step()
            total, count = total + float(loss.detach()) * len(numbers), count + len(numbers)
            state.step, state.loss = state.step + 1, total / count
            report(state)
        yield


def _make_batches(rows: Sequence[Ints], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return batches of texts of similar length, in random order; batches of one have no statistics and are dropped."""
    found: list[list[int]] = []
    order = rng.permutation(len(rows)).tolist()
    for begin in range(0, len(order), size * SORTED):
        some = sorted(order[begin : begin + size * SORTED], key=lambda number: len(rows[number]))
        found += [some[at : at + size] for at in range(0, len(some), size)]
    found = [batch for batch in found if len(batch) > 1]
    rng.shuffle(found)
    return found


def _exchange_words(
    victim: NeuralVictim, rows: Sequence[Ints], labels: Ints, options: Options, share: float
) -> list[Ints]:
    """Return texts with the words exchanged that raise the loss most, to first order."""
    found: list[Ints] = []
    table, device = victim.table, victim.table.device
    for begin in range(0, len(rows), 256):
        part = slice(begin, begin + 256)
        ids, lengths = pad(rows[part], device)
        inside = mask_lengths(lengths, ids.shape[1]).unsqueeze(-1).to(table)
        wanted = torch.from_numpy(np.asarray(labels[part])).to(device)
        vectors = (nn.functional.embedding(ids, table) * inside).requires_grad_()
        loss = nn.functional.cross_entropy(victim.network(vectors, lengths), wanted, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, vectors)
        padded = pad_options(options[part], ids.shape[1]).to(device)
        changed = choose_words(ids, lengths, padded, gradient, table, share).cpu().numpy()
        found += [row[: len(before)] for row, before in zip(changed, rows[part], strict=True)]
    return found


def train_victim(
    data: str,
    out: Path,
    test: str | None = None,
    vectors: Path | None = None,
    limit: int | None = None,
    columns: AnyColumns = (None, None),
    settings: dict[str, Any] | None = None,
    packaged: bool = False,
    progress: ProgressCallback | None = None,
    candidates: Candidates | None = None,
) -> dict[str, Any]:
    """Train a victim on a named data set or a file, measure its accuracy, save it, and return the figures.

    out: the folder of the victim. test: data to measure on; by default the data set's test split, or a fifth of a file.
    vectors: initial word vectors; by default those of `load_default_vectors`. limit: train on a stratified sample of so
    many texts. columns: the text and label columns of a file. settings: of `TrainingSettings`; those that are missing
    or None depend on the number of texts. packaged: ignore the data folder and start from the package's own vectors.
    candidates: for adversarial training (`TrainingSettings.adversarial`).
    progress: called with a `TrainingState` after every batch and at every new stage.
    """
    settings = settings or {}
    seed = settings.get("seed") or 0
    training, testing = _load_splits(data, test, columns, seed)
    if testing.names != training.names:
        raise ValueError(
            f"the test data has the classes {list_some(testing.names)}, but the training data has "
            f"{list_some(training.names)}; use data with the same classes"
        )
    if limit is not None:
        training = training.sample(limit, seed)
    initial, name = (WordVectors.read(vectors), str(vectors)) if vectors else load_default_vectors(packaged)
    complete = make_settings(settings, len(training))
    victim, state = train(training, initial, complete, progress, candidates)
    report = progress or ignore
    state.stage = "testing"
    report(state)
    correct = int((predictions(victim.scores(testing.texts)) == testing.labels).sum())
    low, high = wilson(correct, len(testing))
    figures = {
        "model": complete.kind,
        "data": data,
        "train_rows": len(training),
        "test_rows": len(testing),
        "test_accuracy": correct / len(testing),
        "test_accuracy_low": low,
        "test_accuracy_high": high,
        "validation_accuracy": state.best,
        "epochs": len(state.history),
        "seconds": victim.settings["seconds"],
        "seed": complete.seed,
        "vectors": name,
    }
    victim.settings |= figures
    victim.save(out)
    state.stage = "done"
    report(state)
    return {**figures, "out": str(out)}


def make_settings(chosen: dict[str, Any], texts: int) -> TrainingSettings:
    """Return training settings: those chosen, and for those that are missing or None what suits so many texts."""
    # A GPU is slow in double precision, and its results differ from a processor's anyway.
    defaults: dict[str, Any] = {
        "tune_vectors": texts < SMALL,
        "precise": texts < SMALL and not torch.cuda.is_available(),
    }
    if texts < SMALL:
        epochs = max(6, min(40, round(STEPS * TrainingSettings.batch / max(texts, 1))))
        defaults |= {"epochs": epochs, "patience": 6}
    return TrainingSettings(**{**defaults, **{name: value for name, value in chosen.items() if value is not None}})


def load_default_vectors(packaged: bool = False) -> tuple[WordVectors, str]:
    """Load the default initial vectors, and return them with their name.

    These are GloVe vectors in the data folder, or else those in the package. packaged: always the latter.
    """
    folder = None if packaged else os.environ.get("DISCOTEXT_DATA")
    endings = VECTOR_FORMATS if folder else ()
    found = sorted(path for ending in endings for path in Path(str(folder), "vectors").glob(f"glove*100d*{ending}"))
    if found:
        return WordVectors.read(found[0]), found[0].name
    return load_packaged_vectors(), "discotext (GloVe, counter-fitted)"


def _load_splits(data: str, test: str | None, columns: AnyColumns, seed: int) -> tuple[Examples, Examples]:
    """Return the examples to train on and those to test on, with the same classes."""
    how = columns if isinstance(columns, Columns) else Columns(*columns)

    def load(source: str, split: Split, names: Sequence[str] | None) -> Examples:
        return load_data(source, split, how.text, how.label, names, how.rename)

    training = load(data, "train", None)
    if test or has_name(data):
        return training, load(test or data, "test", training.names)
    return training.split(TEST_SHARE, seed)
