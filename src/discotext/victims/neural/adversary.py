"""The inner maximum of adversarial training: for each text of a batch, the words whose exchange raises the loss most.

To first order, exchanging the word at a position adds gradient · (new vector − old vector) to the loss. The best choice
within the budget for that sum is a vertex of the budget polytope: the best candidate of each position, and of these the
m that gain most. One gradient gives it for a whole batch, and that gradient is needed for training anyway.

There are two other kinds of texts to train on: random mixtures of words, and interval bounds, scores that no exchange
of any number of words can exceed. For the latter each word becomes the smallest box that contains the vectors of all
its candidates, and boxes are carried through the layers (Gowal et al. 2018; for words Jia et al. 2019). The bound is
loose for a network that was not trained for it. There are such bounds for the networks dan and wcnn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from discotext.core.arrays import Ints
from discotext.text.candidates import Candidates
from discotext.text.merging import MergedWords
from discotext.text.words import compute_budget
from discotext.victims.neural.networks import WINDOWS, Network, mask_lengths
from discotext.victims.neural.victim import Vocabulary

INTERVAL_KINDS = ("dan", "wcnn")  # the networks with interval bounds
CHUNK = 512  # texts whose candidates are looked up together
Options = list[Ints]  # for each text, (n, k) rows of the table, 0 where there is no further candidate


def find_options(
    finder: Candidates, texts: Sequence[str], vocabulary: Vocabulary, first_words: int, merged: MergedWords
) -> Options:
    """The candidates of the words of texts, as rows of the table; words that are not in it are left out.

    merged: what the network reads instead of a word.
    """
    known = finder.restrict_to(vocabulary)
    found: Options = []
    for begin in range(0, len(texts), CHUNK):
        for text in known.find(texts[begin : begin + CHUNK]):
            rows = [vocabulary.rows(map(merged.read_word, one.candidates)) for one in text[:first_words]]
            table = np.zeros((len(rows), max(map(len, rows), default=0)), dtype=np.int64)
            for position, row in enumerate(rows):
                table[position, : len(row)] = row
            found.append(table)
    return found


def choose_words(
    ids: Tensor, lengths: Tensor, options: Tensor, gradient: Tensor, table: Tensor, share: float
) -> Tensor:
    """(B, n) rows of the table after the exchange of the words that raise the loss most, to first order.

    ids: (B, n). options: (B, n, k), 0 for none. gradient: (B, n, d) of the loss by the vectors. share: of the words of
    each text that may change.
    """
    if options.shape[2] == 0:
        return ids
    old = nn.functional.embedding(ids, table)
    new = nn.functional.embedding(options, table)
    gains = torch.einsum("bnkd,bnd->bnk", new, gradient) - (old * gradient).sum(-1, keepdim=True)
    gains = gains.masked_fill(options == 0, -torch.inf)
    best, which = gains.max(dim=2)
    chosen = options.gather(2, which[..., None]).squeeze(2)
    return torch.where(choose_positions(best, lengths, share) & (best > 0), chosen, ids)


def mix_words(
    ids: Tensor, lengths: Tensor, options: Tensor, table: Tensor, share: float, rng: np.random.Generator
) -> Tensor:
    """(B, n, d) the vectors of texts in which some words, at random, are mixtures of their candidates and themselves.

    The weights of a mixture are uniform on the simplex (Dirichlet). share: of the words of each text that are mixed.
    """
    vectors = nn.functional.embedding(ids, table)
    if options.shape[2] == 0:
        return vectors
    allowed = torch.cat([torch.ones_like(options[..., :1], dtype=torch.bool), options > 0], dim=2)
    drawn = torch.from_numpy(rng.exponential(size=tuple(allowed.shape))).to(table) * allowed
    words = torch.cat([ids.unsqueeze(-1), options], dim=2)
    mixed = torch.einsum("bnk,bnkd->bnd", drawn / drawn.sum(2, keepdim=True), nn.functional.embedding(words, table))
    worth = -torch.from_numpy(rng.random(tuple(ids.shape))).to(table)
    worth = worth - (~allowed[..., 1:].any(2)).to(table)  # words without a candidate come last
    return torch.where(choose_positions(worth, lengths, share).unsqueeze(-1), mixed, vectors)


def choose_positions(worth: Tensor, lengths: Tensor, share: float) -> Tensor:
    """(B, n) the positions of each text that are worth most, as many as may change."""
    budgets = torch.tensor([compute_budget(int(length), share) for length in lengths.tolist()], device=worth.device)
    return worth.argsort(dim=1, descending=True).argsort(1) < budgets[:, None]


def pad_options(options: Sequence[Ints], width: int) -> Tensor:
    """(B, width, k) the options of some texts, zero beyond their ends."""
    most = max((one.shape[1] for one in options), default=0)
    padded = np.zeros((len(options), width, most), dtype=np.int64)
    for number, one in enumerate(options):
        padded[number, : one.shape[0], : one.shape[1]] = one[:width]
    return torch.from_numpy(padded)


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
