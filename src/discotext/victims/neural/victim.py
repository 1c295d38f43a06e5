"""A trained network as a victim: it reads texts word by word, and has gradients.

Strings and rows of the table lead to the same scores: `scores` splits a text and looks up its words, the oracle looks
up each candidate once and selects rows. Texts of similar length share a call, so that there is little padding.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from discotext.core.arrays import Bools, Floats, Ints
from discotext.core.embedding import EmbeddingOracle, to_numpy
from discotext.core.objectives import DifferenceObjective, Objective
from discotext.core.padding import group_by_length
from discotext.core.problem import Batch
from discotext.core.reach import AdditiveBound, Reach, find_reach_of
from discotext.support.plain_text import describe_error
from discotext.support.threads import limit_threads
from discotext.text.space import Space
from discotext.text.vectors import Vectors, WordVectors
from discotext.text.words import split
from discotext.victims.folder import read_file, read_settings, write_folder
from discotext.victims.neural.bounds import BOUNDS, ChoiceSet, NetworkBound, Projected
from discotext.victims.neural.networks import Shape, WordNetwork, mask_lengths
from discotext.victims.victim import Capabilities, Victim

UNKNOWN = 0
VOCABULARY, WEIGHTS = "vocabulary.txt", "weights.safetensors"
CELLS = 32_768  # words per call, padding included
# The network computes in single precision, the bound in double: relative to the scores, the difference is below this.
PRECISION = 1e-5
MEMORY = 400_000_000  # bytes of projections that are kept


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words, the first of which has row 1.

    >>> Vocabulary(["good", "film"]).rows(["Good", "gnu", "film"])
    [1, 0, 2]
    """

    words: Sequence[str]

    @cached_property
    def row(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=1)}

    def __len__(self) -> int:
        """The number of rows of the table: one more than there are words."""
        return len(self.words) + 1

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word.lower() in self.row

    def rows(self, words: Iterable[str]) -> list[int]:
        """Return the rows of words, 0 for unknown ones."""
        row = self.row
        return [row.get(word.lower(), UNKNOWN) for word in words]

    def read(self, texts: Iterable[str]) -> list[Ints]:
        """Return the rows of each text's words."""
        return [np.array(self.rows(split(text).words), dtype=np.int64) for text in texts]


def build_vocabulary(texts: Iterable[str], vectors: WordVectors, least: int, seed: int) -> tuple[Vocabulary, Vectors]:
    """Return the words of the vectors and of the texts, and a table of their vectors.

    least: how often a word without a vector must occur in the texts to be included. It then gets a random vector of
    typical length, so that it differs from other words. Row 0, for unknown words, is zero.
    """
    seen = Counter(word.lower() for text in texts for word in split(text).words)
    new = sorted(word for word, count in seen.items() if count >= least and word not in vectors)
    rng = np.random.default_rng(seed)
    scale = float(np.sqrt(np.mean(np.square(vectors.vectors[:5000])))) if len(vectors) else 1.0
    drawn = rng.normal(0.0, scale, size=(len(new), vectors.width))
    table = np.concatenate([np.zeros((1, vectors.width)), vectors.vectors, drawn]).astype(np.float32)
    return Vocabulary([*vectors.words, *new]), table


class NeuralVictim(Victim):
    """A network, its vocabulary and its table of word vectors.

    table: (len(vocabulary), d), row 0 for unknown words. settings: how it was trained, for people to read.
    """

    def __init__(
        self,
        network: WordNetwork,
        vocabulary: Vocabulary,
        table: Tensor,
        labels: Sequence[str],
        name: str = "network",
        settings: dict[str, Any] | None = None,
    ) -> None:
        if table.shape != (len(vocabulary), network.shape.width):
            raise ValueError(
                f"the table has shape {tuple(table.shape)}; expected ({len(vocabulary)}, {network.shape.width}), a row "
                "for unknown words and one for each word"
            )
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = network.to(device).eval().requires_grad_(False)
        self.vocabulary, self.labels, self.name = vocabulary, tuple(labels), name
        self.capabilities = Capabilities(gradients=True, uses_gpu=True, vocabulary=vocabulary)
        self.table = table.detach().to(device)
        self.settings = settings or {}

    def scores(self, texts: Sequence[str]) -> Floats:
        """Return (N, C) logits of texts."""
        return self.score_rows(self.vocabulary.read(texts))

    @limit_threads()
    def score_rows(self, rows: Sequence[Ints]) -> Floats:
        """Return (N, C) logits of texts given as rows of the table."""
        found = np.empty((len(rows), len(self.labels)))
        with torch.inference_mode():
            for numbers in group_by_length([len(row) for row in rows], CELLS):
                ids, lengths = pad([rows[number] for number in numbers.tolist()], self.table.device)
                vectors = nn.functional.embedding(ids, self.table) * mask_lengths(lengths, ids.shape[1]).unsqueeze(-1)
                found[numbers] = to_numpy(self.network(vectors, lengths))
        return found

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        """Write the victim to a folder (`discotext.victims.folder`) with two files of its own:

        vocabulary.txt        one word per line; the first has row 1 of the table
        weights.safetensors   the network's parameters and the table of word vectors
        """
        tensors = {f"network.{name}": tensor.cpu().contiguous() for name, tensor in self.network.state_dict().items()}
        # Vectors are rounded to half precision before training, so this saves half the space without any loss.
        tensors["table"] = self.table.cpu().half().contiguous()
        files = {WEIGHTS: save(tensors), VOCABULARY: "\n".join(self.vocabulary.words).encode(), **(more or {})}
        write_folder(folder, asdict(self.network.shape), self.labels, {**self.settings, **(settings or {})}, files)

    def explain_bounds(self) -> str:
        kind = self.network.shape.kind
        return f"bounds of a {kind} are used" if kind in BOUNDS else super().explain_bounds()

    def oracle(self, space: Space, objective: Objective) -> WordOracle:
        """Return an oracle with gradients for the texts of a search space, and with bounds where there are any."""
        words = (word for text in space.options for options in text for word in options)
        ids = np.array(self.vocabulary.rows(words), dtype=np.int64)
        bounded = self.network.shape.kind in BOUNDS and isinstance(objective, DifferenceObjective)
        return (BoundedWordOracle if bounded else WordOracle)(space.batch, ids, self, objective)


class WordOracle(EmbeddingOracle):
    """An `EmbeddingOracle` of a network that can also score a text with a word left out."""

    def __init__(self, batch: Batch, ids: Ints, victim: NeuralVictim, objective: Objective) -> None:
        super().__init__(batch, ids, victim.table, victim.network, objective)
        self.victim = victim

    score = limit_threads()(EmbeddingOracle.score)
    relaxed = limit_threads()(EmbeddingOracle.relaxed)

    def without(self, problems: Ints, positions: Ints) -> Floats:
        """Return the scores of the original texts, each without one word."""
        assert self.objective is not None
        originals = self.ids.cpu().numpy()[self.batch.starts]
        texts = [originals[slice(*self.batch.first_position[[problem, problem + 1]])] for problem in problems.tolist()]
        rows = [np.delete(text, position) for text, position in zip(texts, positions.tolist(), strict=True)]
        return self.objective.value(self.victim.score_rows(rows), problems)


class BoundedWordOracle(WordOracle):
    """A `WordOracle` with bounds, of a network and an objective that have them."""

    objective: DifferenceObjective

    @cached_property
    def _bound(self) -> NetworkBound:
        return BOUNDS[self.victim.network.shape.kind](self.victim.network)

    @cached_property
    def _projected(self) -> OrderedDict[int, Projected]:
        return OrderedDict()

    def reach(self, problems: Ints, allowed: Bools, goals: Floats) -> Reach:
        layout = self.batch.take(problems)
        numbers = np.flatnonzero(allowed)
        counts = np.bincount(layout.position_of[numbers], minlength=len(layout.counts))
        forced = numbers[np.cumsum(counts) - counts] != layout.starts
        parts = [slice(*layout.first_position[[row, row + 1]]) for row in range(len(layout))]
        sets = [
            ChoiceSet(counts[part], forced[part], int(budget))
            for part, budget in zip(parts, layout.budgets, strict=True)
        ]
        most = max((one.left for one in sets), default=0)
        # The fewer changes a bound has to allow for, the nearer it is to the truth.
        found = [
            self._reach_with(more, layout, problems, sets, allowed, goals) for more in sorted({min(1, most), most})
        ]
        if len(found) == 1:
            return found[0]
        # The first is about choices with one change beside those that must be made, the second about any.
        near, far = found
        limits = np.array([int(one.forced.sum()) + min(1, one.left) for one in sets], dtype=np.float64)
        beyond = limits[layout.row_of]
        return Reach(
            np.where(near.levels <= limits, near.levels, np.maximum(far.levels, limits + 1)),
            np.where(near.by_candidate <= beyond, near.by_candidate, np.maximum(far.by_candidate, beyond + 1)),
            far.worth,
        )

    def _reach_with(
        self, more: int, layout: Batch, problems: Ints, sets: Sequence[ChoiceSet], allowed: Bools, goals: Floats
    ) -> Reach:
        """Return the reach where at most `more` words change beside those that must."""
        constants, gains = [], np.zeros((layout.candidates, 0))
        for row, (problem, choices) in enumerate(zip(problems.tolist(), sets, strict=True)):
            part = slice(*layout.first_candidate[[row, row + 1]])
            limited = replace(choices, budget=int(choices.forced.sum()) + min(more, choices.left))
            projected = [one.compress(allowed[part], axis=self._bound.axis) for one in self._project(problem)]
            found = self._bound.bound(limited, projected, self.objective.pieces(problem, len(self.victim.labels)))
            if not row:
                gains = np.zeros((layout.candidates, found.gains.shape[1]))
            constants.append(found.constants)
            gains[part][allowed[part]] = found.gains
        bound = AdditiveBound(np.concatenate(constants), gains)
        lowered = goals - PRECISION * (1 + np.abs(bound.constants).max(axis=1))
        return find_reach_of(layout, allowed, bound, lowered, self.objective.any_piece)

    def _project(self, problem: int) -> Projected:
        """Return what the candidates of a problem give to the first layer."""
        found = self._projected.get(problem)
        if found is None:
            vectors = to_numpy(self.table[self._ids_of(np.array([problem]))])
            found = self._projected[problem] = self._bound.project(vectors, int(self.batch.sizes[problem]))
            while sum(one.nbytes for ones in self._projected.values() for one in ones) > MEMORY:
                self._projected.popitem(last=False)
        return found


def load_neural(folder: str | Path) -> NeuralVictim:
    """Load a victim from the folder that `NeuralVictim.save` wrote."""
    folder = Path(folder)
    settings = read_settings(folder)
    content = {file: read_file(folder, settings, file) for file in (VOCABULARY, WEIGHTS)}
    try:
        shape = Shape(**settings["model"])
        # Built without memory, then given the tensors of the file: sizes that do not fit them allocate nothing.
        with torch.device("meta"):
            network = WordNetwork(shape)
        tensors = load(content[WEIGHTS])
        table = tensors.pop("table").float()
        network.load_state_dict({key.removeprefix("network."): value for key, value in tensors.items()}, assign=True)
        labels = tuple(map(str, settings["labels"]))
        if len(labels) != shape.classes:
            raise ValueError(f"there are {len(labels)} labels for {shape.classes} classes")
        words = content[VOCABULARY].decode("utf-8").split("\n")
        return NeuralVictim(network, Vocabulary(words), table, labels, str(folder), settings)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(f"{folder} cannot be loaded as a victim: {describe_error(error)}; train it again") from None


def pad(rows: Sequence[Ints], device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """Return rows of different lengths as one tensor (R, n), zero beyond their ends, and their lengths (R,)."""
    ids = nn.utils.rnn.pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True)
    return ids.to(device), torch.tensor([len(row) for row in rows], device=device)
