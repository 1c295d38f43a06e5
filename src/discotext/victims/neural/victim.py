"""A trained network as a victim: it reads texts word by word, and has gradients.

Strings and rows of the table lead to the same scores: `scores` splits a text and looks up its words, the oracle looks
up each candidate once and selects rows. Texts of similar length share a call, so that there is little padding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from discotext.core.arrays import Floats, Ints
from discotext.core.embedding import to_numpy
from discotext.core.objectives import DifferenceObjective, Objective
from discotext.core.padding import group_by_length
from discotext.support.threads import limit_threads
from discotext.text.space import Space
from discotext.text.vectors import Vectors, WordVectors
from discotext.text.words import split
from discotext.victims.folder import read_file, read_settings, write_folder
from discotext.victims.neural.bounds import BOUNDS
from discotext.victims.neural.networks import Network, Shape, mask_lengths
from discotext.victims.neural.oracle import BoundedWordOracle, WordOracle
from discotext.victims.victim import Capabilities, Victim

UNKNOWN = 0
VOCABULARY, WEIGHTS = "vocabulary.txt", "weights.safetensors"


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

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

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


CELLS = 32_768  # words per call, padding included


class NeuralVictim(Victim):
    """A network, its vocabulary and its table of word vectors.

    table: (len(vocabulary), d), row 0 for unknown words. settings: how it was trained, for people to read.
    """

    def __init__(
        self,
        network: Network,
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


def load_neural(folder: str | Path) -> NeuralVictim:
    """Load a victim from the folder that `NeuralVictim.save` wrote."""
    folder = Path(folder)
    settings = read_settings(folder)
    content = {file: read_file(folder, settings, file) for file in (VOCABULARY, WEIGHTS)}
    try:
        shape = Shape(**settings["model"])
        # Built without memory, then given the tensors of the file: sizes that do not fit them allocate nothing.
        with torch.device("meta"):
            network = Network(shape)
        tensors = load(content[WEIGHTS])
        table = tensors.pop("table").float()
        network.load_state_dict({key.removeprefix("network."): value for key, value in tensors.items()}, assign=True)
        labels = tuple(map(str, settings["labels"]))
        if len(labels) != shape.classes:
            raise ValueError(f"there are {len(labels)} labels for {shape.classes} classes")
        words = content[VOCABULARY].decode("utf-8").split("\n")
        return NeuralVictim(network, Vocabulary(words), table, labels, str(folder), settings)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        # PyTorch lists what does not fit after a first line that only says that something does not.
        message = lines[1].strip() if len(lines) > 1 and lines[0].endswith(":") else lines[0]
        raise ValueError(f"{folder} cannot be loaded as a victim: {message}; train it again") from None


def pad(rows: Sequence[Ints], device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """Return rows of different lengths as one tensor (R, n), zero beyond their ends, and their lengths (R,)."""
    ids = nn.utils.rnn.pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True)
    return ids.to(device), torch.tensor([len(row) for row in rows], device=device)
