"""Masked language models of the Hugging Face library, such as BERT: how well does each word fit between its neighbours?

Such a model has no probability of a sentence. The pseudo-log-likelihood stands for it: the sum over all words of
ln p(word | all other words). Each word takes a pass, in which all its pieces are masked together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.core.padding import group_by_length
from discotext.models.model import LanguageModel, Sentence
from discotext.models.pretrained import TOKENS_PER_CALL, Cutter, Pieces, load_model, pad, predict


class MaskedModel(LanguageModel):
    """The pseudo-log-likelihood of sentences. tokeniser, model: of the Hugging Face library, see `load_masked`."""

    def __init__(self, tokeniser: Any, model: Any, name: str) -> None:
        if tokeniser.mask_token_id is None:
            raise ValueError(f"{name} has no mask; choose a masked language model, such as a BERT")
        self.model, self.name, self.cutter = model, name, Cutter(tokeniser)
        self.mask: int = tokeniser.mask_token_id
        # What stands around a text, such as [CLS] and [SEP].
        around = list(tokeniser(tokeniser.mask_token)["input_ids"])
        place = around.index(self.mask)
        self.before: Pieces = around[:place]
        self.after: Pieces = around[place + 1 :]

    def knows(self, word: str) -> bool:
        return self.cutter.knows(word)

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        lines: list[Pieces] = []
        firsts: list[int] = []
        wanted: list[Pieces] = []
        owners: list[int] = []
        for number, sentence in enumerate(sentences):
            whole, at = [*self.before, *self.cutter.sentence(sentence), *self.after], len(self.before)
            for word in filter(None, map(self.cutter.pieces, sentence)):
                lines.append([*whole[:at], *[self.mask] * len(word), *whole[at + len(word) :]])
                firsts.append(at)
                wanted.append(word)
                owners.append(number)
                at += len(word)
        scores = self._predict(lines, firsts, wanted)
        return np.asarray(np.bincount(owners, weights=scores, minlength=len(sentences)), dtype=np.float64)

    def _predict(self, lines: Sequence[Pieces], firsts: Sequence[int], wanted: Sequence[Pieces]) -> Floats:
        """(R,) the sum of ln p of wanted pieces in lines, each from its first place on."""
        import torch

        found = np.zeros(len(lines))
        for rows in group_by_length([len(line) for line in lines], TOKENS_PER_CALL, spare_rows=0):
            ids, mask = pad([lines[row] for row in rows], self.model.device)
            owners = np.repeat(np.arange(len(rows)), [len(wanted[row]) for row in rows])
            places = np.concatenate([firsts[row] + np.arange(len(wanted[row])) for row in rows])
            pieces = np.concatenate([wanted[row] for row in rows])
            where = torch.from_numpy(owners), torch.from_numpy(places)
            chances, _ = predict(self.model, *where, input_ids=ids, attention_mask=mask)
            gains = chances[np.arange(len(pieces)), pieces].double().cpu().numpy()
            found[rows] = np.bincount(owners, weights=gains, minlength=len(rows))
        return found


def load_masked(name: str) -> MaskedModel:
    """Load a masked model from a folder or the hub."""
    loaded = load_model(name, "AutoModelForMaskedLM", "a masked language model")
    return MaskedModel(loaded.tokeniser, loaded.model, f"masked:{name}")
