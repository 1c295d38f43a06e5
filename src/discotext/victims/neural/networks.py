"""Networks that read word vectors: from (R, n, d), zero beyond a text's end, and lengths (R,) to scores (R, C).

None of them reads beyond a text's end, so a text's scores do not depend on its padding:

    lstm, rnn   recurrent, 200 units, pooled over the words or read at the last one; the paper's LSTM
    wcnn        windows of 3, 4 and 5 words, the maximum over the text (Kim 2014)
    dan         the mean of the vectors, then two layers (Iyyer et al. 2015)

As in the paper there are dropout (0.3) and batch normalisation, the latter of the text's representation. This module
imports torch, so import it only where torch is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

Kind = Literal["lstm", "rnn", "wcnn", "dan"]
Pool = Literal["last", "max", "mean"]
KINDS: tuple[Kind, ...] = ("lstm", "wcnn", "dan", "rnn")
POOLS: tuple[Pool, ...] = ("last", "max", "mean")
WINDOWS = (3, 4, 5)


@dataclass(frozen=True)
class Shape:
    """The architecture of a network, sufficient to build it again.

    width: of the word vectors. pool: how the states of a recurrent layer become one vector.
    """

    kind: Kind
    classes: int
    width: int
    hidden: int = 200
    dropout: float = 0.3
    pool: Pool = "max"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r}; choose one of {', '.join(KINDS)}")
        if self.pool not in POOLS:
            raise ValueError(f"pool is {self.pool!r}; choose one of {', '.join(POOLS)}")


class WordNetwork(nn.Module):
    """A recurrent, convolutional or averaging layer over word vectors, normalisation, dropout and a linear layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.reader: nn.Module
        hidden = shape.hidden
        if shape.kind in ("lstm", "rnn"):
            recurrent = nn.LSTM if shape.kind == "lstm" else nn.RNN
            self.reader = recurrent(shape.width, hidden, batch_first=True)
        elif shape.kind == "wcnn":
            self.reader = nn.ModuleList(nn.Conv1d(shape.width, hidden // 2, window) for window in WINDOWS)
            hidden = hidden // 2 * len(WINDOWS)
        else:
            self.reader = nn.Sequential(nn.Linear(shape.width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.norm = nn.BatchNorm1d(hidden)
        self.dropout = Dropout(shape.dropout)
        self.last = nn.Linear(hidden, shape.classes)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return (R, C) scores of vectors (R, n, d) with lengths (R,)."""
        if vectors.shape[1] == 0:
            vectors = vectors.new_zeros(len(vectors), 1, vectors.shape[2])
        if self.training:
            vectors = self.dropout(vectors)
        encode = {"wcnn": self._convolve, "dan": self._average}.get(self.shape.kind, self._recur)
        encoded = self.norm(encode(vectors, lengths))
        result: Tensor = self.last(self.dropout(encoded) if self.training else encoded)
        return result

    def _recur(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        states, _ = self.reader(vectors)
        if self.shape.pool == "last":
            # A recurrent layer has not seen what comes later: its state at the last word ignores the padding.
            at = (lengths.clamp(min=1) - 1).to(torch.int64)
            return torch.as_tensor(states[torch.arange(len(states), device=states.device), at])
        inside = mask_lengths(lengths.clamp(min=1), states.shape[1]).unsqueeze(-1)
        if self.shape.pool == "mean":
            return torch.as_tensor((states * inside).sum(1) / inside.sum(1))
        return torch.as_tensor(states.masked_fill(~inside, -torch.inf).amax(1))

    def _convolve(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        assert isinstance(self.reader, nn.ModuleList)
        inside = mask_lengths(lengths.clamp(min=1), vectors.shape[1]).unsqueeze(1)
        found = []
        for window, layer in zip(WINDOWS, self.reader, strict=True):
            # Every word begins a window; those at the end extend into zeros, whatever the padding.
            padded = nn.functional.pad(vectors.transpose(1, 2), (0, window - 1))
            found.append(torch.relu(layer(padded)).masked_fill(~inside, 0.0).amax(2))
        return torch.cat(found, dim=1)

    def _average(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        result: Tensor = self.reader(vectors.sum(1) / lengths.clamp(min=1).unsqueeze(-1).to(vectors))
        return result


class Dropout(nn.Dropout):
    """Dropout that is the same on every processor; PyTorch's own draws differently on Intel's and on others."""

    def forward(self, input: Tensor) -> Tensor:
        kept = torch.rand(input.shape, device=input.device) >= self.p
        return input * kept.to(input) / (1 - self.p)


def mask_lengths(lengths: Tensor, size: int) -> Tensor:
    """Return (R, n) whether each position lies within its text."""
    return torch.arange(size, device=lengths.device) < lengths.unsqueeze(-1)
