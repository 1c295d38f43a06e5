"""Mixtures of candidates for models of pieces: the vectors that a network reads where each position holds a mixture.

A position has as many *slots* as its longest candidate has pieces. A slot holds the mean of its candidates' vectors,
weighted by alpha, and is there to the degree that its candidates have a piece for it: the logarithm of that mass is
added to every attention to the slot, and positions are counted by mass. So at a one-hot alpha unused slots vanish, and
the network sees what it would see of the text itself. Needs the extra `hf`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.models.model import Token
from discotext.models.pieces import Cutter, Pieces

if TYPE_CHECKING:
    from torch import Tensor

NOTHING = 1e-12  # the mass of a slot that is not there: attention to it is as good as none
ROWS_AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class Slots:
    """The pieces of a network. before, after: what stands around it.

    pieces, slot, candidate: (P,) of each piece of a candidate its id, its slot and the number of its candidate.
    lengths: of each candidate, by position. firsts: (n,) the first slot of each position. count: of all slots.
    """

    pieces: Ints
    slot: Ints
    candidate: Ints
    lengths: list[Ints]
    firsts: Ints
    count: int

    @classmethod
    def of(cls, cutter: Cutter, positions: Sequence[Sequence[Token]], before: int) -> Slots:
        """Cut the candidates of a network. before: slots in front of the first position."""
        pieces: Pieces = []
        slot: list[int] = []
        candidate: list[int] = []
        lengths, firsts, at, number = [], [], before, 0
        for row in positions:
            cut = [cutter.pieces(token) for token in row]
            for one in cut:
                pieces += one
                slot += range(at, at + len(one))
                candidate += [number] * len(one)
                number += 1
            firsts.append(at)
            lengths.append(np.array([len(one) for one in cut], dtype=np.int64))
            at += max(map(len, cut))
        arrays = [np.array(one, dtype=np.int64) for one in (pieces, slot, candidate, firsts)]
        return cls(arrays[0], arrays[1], arrays[2], lengths, arrays[3], at)

    @property
    def width(self) -> int:
        """How many candidates there are in all."""
        return sum(map(len, self.lengths))


@dataclass(frozen=True)
class Mixed:
    """Rows ready to be read. vectors: (R, n, d). mass, places: (R, n). alpha: the rows' weights, concatenated."""

    vectors: Tensor
    mass: Tensor
    places: Tensor
    alpha: Tensor


def mix(model: Any, rows: Sequence[Slots], alpha: Tensor, around: tuple[Pieces, Pieces]) -> Mixed:
    """The vectors of mixtures, with fixed pieces before and behind each row. alpha: differentiable."""
    import torch

    before, after = around
    table = model.get_input_embeddings().weight
    size = max(row.count for row in rows) + len(after)
    vectors = torch.zeros(len(rows) * size, table.shape[1]).to(table)
    mass = torch.zeros(len(rows) * size).to(table)
    offsets = np.cumsum([0, *(row.width for row in rows)])
    pieces: list[Ints] = []
    slots: list[Ints] = []
    candidates: list[Ints] = []
    fixed_pieces: list[int] = []
    fixed_slots: list[int] = []
    for number, row in enumerate(rows):
        pieces.append(row.pieces)
        slots.append(row.slot + number * size)
        candidates.append(row.candidate + offsets[number])
        fixed_pieces += [*before, *after]
        fixed_slots += [
            number * size + place for place in (*range(len(before)), *range(row.count, row.count + len(after)))
        ]
    where = torch.from_numpy(np.concatenate(slots)).to(table.device)
    weights = alpha[torch.from_numpy(np.concatenate(candidates))].to(table)
    vectors = vectors.index_add(0, where, weights[:, None] * table[torch.from_numpy(np.concatenate(pieces))])
    mass = mass.index_add(0, where, weights)
    fixed = torch.tensor(fixed_slots, device=table.device, dtype=torch.long)
    vectors = vectors.index_add(0, fixed, table[torch.tensor(fixed_pieces, dtype=torch.long)])
    mass = mass.index_add(0, fixed, torch.ones(len(fixed_slots)).to(table))
    vectors = vectors / mass.clamp(min=NOTHING)[:, None]
    mass = mass.reshape(len(rows), size)
    places = (mass.detach().cumsum(1).round() - 1).clamp(min=0).long()
    return Mixed(vectors.reshape(len(rows), size, -1), mass, places, alpha)


def make_bias(mass: Tensor, causal: bool) -> Tensor:
    """(R, 1, n, n) what is added to the attention of each slot (rows) to each other (columns)."""
    import torch

    size = mass.shape[1]
    bias = mass.clamp(min=NOTHING).log()[:, None, None, :].expand(-1, 1, size, size)
    if causal:
        later = torch.ones(size, size, dtype=torch.bool, device=mass.device).triu(1)
        bias = bias.masked_fill(later, torch.finfo(mass.dtype).min)
    return bias


def find_last_slots(row: Slots, alpha: Sequence[Tensor], size: int) -> list[Tensor]:
    """For each position and the end, (size,) the weight with which each slot is the last one before it.

    alpha: the weights of each position. A skipped position leaves the last slot as it was.
    """
    import torch

    last = torch.zeros(size, dtype=torch.float64)
    last[int(row.firsts[0]) - 1 if len(row.firsts) else row.count - 1] = 1.0
    found = [last]
    for first, lengths, weights in zip(row.firsts.tolist(), row.lengths, alpha, strict=True):
        there = np.flatnonzero(lengths)
        skipped = weights[torch.from_numpy(np.flatnonzero(lengths == 0))].sum()
        ends = torch.from_numpy(first + lengths[there] - 1)
        last = (skipped * last).index_add(0, ends, weights[torch.from_numpy(there)])
        found.append(last)
    return found


def run_rows(
    score: Any, prepared: Sequence[Slots], problems: Ints, alpha: Floats, at_once: int = ROWS_AT_ONCE
) -> tuple[Floats, Floats]:
    """Score rows a few at a time, with gradients. score: takes slots and alpha, returns (R,), differentiable."""
    import torch

    scores, gradient, at = np.zeros(len(problems)), np.zeros(len(alpha)), 0
    for start in range(0, len(problems), at_once):
        rows = [prepared[problem] for problem in problems[start : start + at_once].tolist()]
        width = sum(row.width for row in rows)
        with torch.enable_grad():
            weights = torch.from_numpy(alpha[at : at + width].astype(np.float64)).requires_grad_()
            found = score(rows, weights)
            (slopes,) = torch.autograd.grad(found.sum(), weights)
        scores[start : start + at_once] = found.detach().numpy()
        gradient[at : at + width] = slopes.numpy()
        at += width
    return scores, gradient
