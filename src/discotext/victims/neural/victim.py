"""A trained network as a victim: it reads texts word by word, and has gradients.

Strings and rows of the table are two ways to the same scores: `scores` splits a text and looks its words up, the oracle
looks up each candidate once and picks rows. Calls carry texts of like length, so that little is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discotext.embedding import EmbeddingOracle, to_numpy
from discotext.goals import Goal
from discotext.padding import like_lengths
from discotext.segments import Floats, Ints
from discotext.text.space import Space
from discotext.victims.neural.networks import Network
from discotext.victims.neural.vocabulary import Vocabulary
from discotext.victims.victim import Victim

CELLS = 32_768  # words in one call, padding included


class NeuralVictim(Victim):
    """A network, its vocabulary and its table of word vectors.

    table: (len(vocabulary), d), row 0 for unknown words. settings: what is known of its making, for people to read.
    """

    gradients = True
    uses_gpu = True
    vocabulary: Vocabulary

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
                f"the table has shape {tuple(table.shape)}, but there are {len(vocabulary)} rows of "
                f"{network.shape.width}; give a row for each word and one for unknown words"
            )
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = network.to(device).eval().requires_grad_(False)
        self.vocabulary, self.labels, self.name = vocabulary, tuple(labels), name
        self.table = table.detach().to(device)
        self.settings = settings or {}

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) logits of texts."""
        return self.scores_of_rows(self.vocabulary.read(texts))

    def scores_of_rows(self, rows: Sequence[Ints]) -> Floats:
        """(N, C) logits of texts given as rows of the table."""
        found = np.empty((len(rows), len(self.labels)))
        with torch.inference_mode():
            for numbers in like_lengths([len(row) for row in rows], CELLS):
                ids, lengths = padded([rows[number] for number in numbers.tolist()])
                vectors = torch.nn.functional.embedding(ids.to(self.table.device), self.table)
                inside = (torch.arange(ids.shape[1]) < lengths.unsqueeze(-1)).to(vectors)
                found[numbers] = to_numpy(self.network(vectors * inside.unsqueeze(-1), lengths.to(self.table.device)))
        return found

    def oracle(self, space: Space, goal: Goal) -> WordOracle:
        """An oracle for the texts of a space, with gradients."""
        return WordOracle(self, space, goal)


class WordOracle(EmbeddingOracle):
    """The oracle of a network over word vectors; it can also leave a word out."""

    def __init__(self, victim: NeuralVictim, space: Space, goal: Goal) -> None:
        words = (word for text in space.options for options in text for word in options)
        ids = np.array(victim.vocabulary.rows(words), dtype=np.int64)
        super().__init__(space.batch, ids, victim.table, victim.network, goal)
        self.victim = victim

    def without(self, problems: Ints, positions: Ints) -> Floats:
        """Scores of the original texts, each without one word."""
        assert self.goal is not None
        flat = self.ids.cpu().numpy()
        rows = []
        for problem, position in zip(problems.tolist(), positions.tolist(), strict=True):
            layout = self.batch.take(np.array([problem]))
            originals = flat[self.batch.flat_rows(np.array([problem]))][layout.starts]
            rows.append(np.delete(originals, position))
        return self.goal.value(self.victim.scores_of_rows(rows), problems)


def padded(rows: Sequence[Ints]) -> tuple[Tensor, Tensor]:
    """Rows of differing lengths as one tensor (R, n), zero beyond their ends, and their lengths (R,)."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    out = np.zeros((len(rows), max(1, int(lengths.max(initial=0)))), dtype=np.int64)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return torch.from_numpy(out), torch.from_numpy(lengths)
