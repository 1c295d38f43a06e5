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
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from discotext.core.arrays import Ints
from discotext.core.embedding import flush_denormals
from discotext.core.objectives import predictions
from discotext.data.columns import AnyColumns
from discotext.data.examples import Examples
from discotext.data.labels import list_some
from discotext.data.registry import load_splits
from discotext.support.intervals import wilson
from discotext.support.threads import limit_threads
from discotext.text.candidates import Candidates
from discotext.text.merging import NOTHING_MERGED, MergedWords
from discotext.text.space import Space
from discotext.text.vectors import VECTOR_FORMATS, WordVectors, load_packaged_vectors
from discotext.victims.encoded import EncodedVocabulary, encode_space, exchange_words
from discotext.victims.neural.networks import Kind, Pool, Shape, WordNetwork, mask_lengths
from discotext.victims.neural.victim import NeuralVictim, build_vocabulary, pad

SORTED = 50  # batches whose texts are sorted by length together: similar lengths, yet different batches every epoch
# With fewer texts than this there is time for more epochs and for training the word vectors.
SMALL = 20_000
STEPS = 1_000  # of training, on small data

Stage = Literal["reading", "training", "testing", "done"]


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training. 200 units, dropout 0.3, batch normalisation and Adam are the paper's; the rest is ours.

    patience: epochs without improvement before training stops. rate: the largest learning rate. first_words: words of
    a text that are read. tune_vectors: train the word vectors, too. precise: train in double precision. rare: how often
    a word without a vector must occur to get one. validation: the share of the texts that is held out.
    adversarial: the weight, from 0 to below 1, of texts whose words were exchanged to raise the loss. share: of the
    words that are exchanged there.
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

    def __post_init__(self) -> None:
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
    report = progress or (lambda state: None)
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
    network = WordNetwork(shape).to(real).apply(_initialise).to(device)
    # Half precision is enough for word vectors; rounded now, they do not change when they are stored.
    initial = torch.from_numpy(start).half().to(device, real)
    table = nn.Embedding(len(vocabulary), vectors.width, sparse=settings.tune_vectors, _weight=initial)
    table.requires_grad_(settings.tune_vectors)
    rows = [row[: settings.first_words] for row in vocabulary.read(read)]
    spaces: list[Space] = []
    if settings.adversarial:
        assert candidates is not None
        known = candidates.restrict_to(EncodedVocabulary(vocabulary, merged))
        spaces = [encode_space(Space.of(some.texts, known, settings.share), merged) for some in (kept, held)]
    held_rows = vocabulary.read(map(merged, held.texts))

    def make_victim() -> NeuralVictim:
        return NeuralVictim(network, vocabulary, table.weight.detach().half().to(table.weight), examples.names)

    def exchange(numbers: list[int]) -> list[Ints]:
        """The rows of training texts with the words exchanged that raise the loss most."""
        now = NeuralVictim(network, vocabulary, table.weight.detach(), examples.names)
        texts = exchange_words(now, spaces[0].take(numbers), kept.labels[numbers])
        return [row[: settings.first_words] for row in vocabulary.read(texts)]

    trained = nn.ModuleDict({"network": network} | ({"table": table} if settings.tune_vectors else {}))
    best: dict[str, Tensor] = {}
    try:
        with flush_denormals(), limit_threads():
            idle = 0
            epochs = _run_epochs(
                network, table, rows, kept.labels, settings, state, report, exchange if spaces else None
            )
            for _ in epochs:
                now = make_victim()
                right = predictions(now.score_rows(held_rows)) == held.labels
                if spaces:
                    right &= predictions(now.scores(exchange_words(now, spaces[1], held.labels))) == held.labels
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


def _initialise(module: nn.Module) -> None:
    """Initialise a layer in its present precision: in single precision, the last digit depends on the processor."""
    if isinstance(module, nn.RNNBase | nn.Linear | nn.Conv1d):
        module.reset_parameters()


def _run_epochs(
    network: WordNetwork,
    table: nn.Embedding,
    rows: Sequence[Ints],
    labels: Ints,
    settings: TrainingSettings,
    state: TrainingState,
    report: ProgressCallback,
    exchange: Callable[[list[int]], list[Ints]] | None,
) -> Iterator[None]:
    """Train for one epoch after another, yielding after each, so that the caller can measure and stop.

    exchange: makes the rows of texts harder, for adversarial training.
    """
    rng = np.random.default_rng(settings.seed)
    optimisers: list[torch.optim.Optimizer] = [torch.optim.Adam(network.parameters(), settings.rate)]
    if settings.tune_vectors:
        optimisers.append(torch.optim.SparseAdam(table.parameters(), settings.rate / 2))
    state.steps = settings.epochs * len(make_batches(rows, settings.batch, rng))
    schedules = [
        torch.optim.lr_scheduler.OneCycleLR(one, one.param_groups[0]["lr"], state.steps + 1) for one in optimisers
    ]
    targets = torch.from_numpy(np.asarray(labels, dtype=np.int64))
    device = table.weight.device

    def compute_loss(texts: Sequence[Ints], wanted: Tensor) -> Tensor:
        ids, lengths = pad(texts, device)
        inside = mask_lengths(lengths, ids.shape[1]).unsqueeze(-1).to(table.weight)
        return nn.functional.cross_entropy(network(table(ids) * inside, lengths), wanted)

    for epoch in range(1, settings.epochs + 1):
        state.stage, state.epoch, total, count = "training", epoch, 0.0, 0
        for numbers in make_batches(rows, settings.batch, rng):
            worse = None if exchange is None else exchange(numbers)
            # NeuralVictim has put the network into evaluation mode and frozen it.
            network.train().requires_grad_(True)
            for one in optimisers:
                one.zero_grad()
            wanted = targets[numbers].to(device)
            loss = compute_loss([rows[number] for number in numbers], wanted)
            ((1 - settings.adversarial) * loss).backward()  # type: ignore[no-untyped-call, unused-ignore]
            if worse is not None:
                (settings.adversarial * compute_loss(worse, wanted)).backward()  # type: ignore[no-untyped-call, unused-ignore]
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            for one, schedule in zip(optimisers, schedules, strict=True):
                one.step()
                schedule.step()
            total, count = total + float(loss.detach()) * len(numbers), count + len(numbers)
            state.step, state.loss = state.step + 1, total / count
            report(state)
        yield


def make_batches(texts: Sequence[Sized], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return batches of texts of similar length, in random order; batches of one have no statistics and are dropped."""
    found: list[list[int]] = []
    order = rng.permutation(len(texts)).tolist()
    for begin in range(0, len(order), size * SORTED):
        some = sorted(order[begin : begin + size * SORTED], key=lambda number: len(texts[number]))
        found += [some[at : at + size] for at in range(0, len(some), size)]
    found = [batch for batch in found if len(batch) > 1]
    rng.shuffle(found)
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
) -> dict[str, Any]:
    """Train a victim on a named data set or a file, measure its accuracy, save it, and return the figures.

    out: the folder of the victim. test: data to measure on; by default the data set's test split, or a fifth of a file.
    vectors: initial word vectors; by default those of `load_default_vectors`. limit: train on a stratified sample of so
    many texts. columns: the text and label columns of a file. settings: of `TrainingSettings`; those that are missing
    or None depend on the number of texts. packaged: ignore the data folder and start from the package's own vectors.
    progress: called with a `TrainingState` after every batch and at every new stage.
    """
    settings = settings or {}
    seed = settings.get("seed") or 0
    training, testing = load_splits(data, test, columns, seed)
    if testing.names != training.names:
        raise ValueError(
            f"the test data has the classes {list_some(testing.names)}, but the training data has "
            f"{list_some(training.names)}; use data with the same classes"
        )
    if limit is not None:
        training = training.sample(limit, seed)
    initial, name = (WordVectors.read(vectors), str(vectors)) if vectors else load_default_vectors(packaged)
    complete = make_settings(settings, len(training))
    victim, state = train(training, initial, complete, progress)
    report = progress or (lambda state: None)
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
