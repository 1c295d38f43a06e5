"""The inner maximum of adversarial training: for each text of a batch, the words whose exchange raises the loss most.

To first order, exchanging the word at a position adds gradient · (new vector − old vector) to the loss. The best choice
within the budget for that sum is a vertex of the budget polytope: the best candidate of each position, and of these the
m that gain most. One gradient gives it for a whole batch, and that gradient is needed for training anyway.
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
from discotext.victims.neural.victim import Vocabulary

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
    budgets = torch.tensor([compute_budget(int(length), share) for length in lengths.tolist()], device=ids.device)
    within = best.argsort(dim=1, descending=True).argsort(1) < budgets[:, None]
    return torch.where(within & (best > 0), chosen, ids)


def pad_options(options: Sequence[Ints], width: int) -> Tensor:
    """(B, width, k) the options of some texts, zero beyond their ends."""
    most = max((one.shape[1] for one in options), default=0)
    padded = np.zeros((len(options), width, most), dtype=np.int64)
    for number, one in enumerate(options):
        padded[number, : one.shape[0], : one.shape[1]] = one[:width]
    return torch.from_numpy(padded)
