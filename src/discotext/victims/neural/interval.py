"""Interval bounds of a network while it is trained: scores that no exchange of any number of words can exceed.

Each word becomes the smallest box that contains the vectors of all its candidates, and boxes are carried through the
layers (Gowal et al. 2018; for words Jia et al. 2019). The bound is loose for a network that was not trained for it.
There are bounds for the networks dan and wcnn.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discotext.victims.neural.networks import WINDOWS, Network, mask_lengths

KINDS = ("dan", "wcnn")


def make_boxes(vectors: Tensor, ids: Tensor, options: Tensor, table: Tensor, size: float) -> tuple[Tensor, Tensor]:
    """(B, n, d) lower and upper ends of the boxes around each word and its candidates.

    options: (B, n, k) rows of the table, 0 for none. size: from 0, the word alone, to 1, the whole box.
    """
    others = torch.where(options == 0, ids.unsqueeze(-1), options)
    candidates = nn.functional.embedding(others, table)
    if candidates.shape[2] == 0:
        return vectors, vectors
    low = torch.minimum(candidates.amin(2), vectors)
    high = torch.maximum(candidates.amax(2), vectors)
    return vectors + size * (low - vectors), vectors + size * (high - vectors)


def bound_logits(network: Network, low: Tensor, high: Tensor, lengths: Tensor, wanted: Tensor) -> Tensor:
    """(B, C) by how much each class can exceed the wanted one at most; 0 for that itself.

    Batch normalisation uses its running statistics, and there is no dropout.
    """
    low, high = (_convolve if network.shape.kind == "wcnn" else _average)(network, low, high, lengths)
    norm = network.norm
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    shift = norm.bias - scale * norm.running_mean
    # The last layer and the normalisation together, as differences from the wanted class: tighter than one by one.
    weight = network.last.weight - network.last.weight[wanted].unsqueeze(1)  # (B, C, H)
    constant = network.last.bias - network.last.bias[wanted].unsqueeze(1) + weight @ shift
    weight = weight * scale
    middle, half = (low + high) / 2, (high - low) / 2
    return constant + torch.einsum("bch,bh->bc", weight, middle) + torch.einsum("bch,bh->bc", weight.abs(), half)


def _affine(layer: nn.Module, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    middle, half = layer((low + high) / 2), (high - low) / 2
    if isinstance(layer, nn.Conv1d):
        spread = nn.functional.conv1d(half, layer.weight.abs())
    else:
        assert isinstance(layer, nn.Linear)
        spread = nn.functional.linear(half, layer.weight.abs())
    return middle - spread, middle + spread


def _average(network: Network, low: Tensor, high: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    count = lengths.clamp(min=1).unsqueeze(-1).to(low)
    low, high = low.sum(1) / count, high.sum(1) / count
    assert isinstance(network.reader, nn.Sequential)
    for number in (0, 2):
        low, high = (torch.relu(one) for one in _affine(network.reader[number], low, high))
    return low, high


def _convolve(network: Network, low: Tensor, high: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    assert isinstance(network.reader, nn.ModuleList)
    inside = mask_lengths(lengths.clamp(min=1), low.shape[1]).unsqueeze(1)
    found: list[tuple[Tensor, Tensor]] = []
    for window, layer in zip(WINDOWS, network.reader, strict=True):
        padded = (nn.functional.pad(one.transpose(1, 2), (0, window - 1)) for one in (low, high))
        ends = (torch.relu(one).masked_fill(~inside, 0.0).amax(2) for one in _affine(layer, *padded))
        found.append((next(ends), next(ends)))
    return torch.cat([one for one, _ in found], dim=1), torch.cat([one for _, one in found], dim=1)
