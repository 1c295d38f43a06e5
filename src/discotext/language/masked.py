"""Masked language models of the Hugging Face library, such as BERT: how well does each word fit between its neighbours?

Such a model has no probability of a sentence. The pseudo-log-likelihood stands for it: the sum over all words of
ln p(word | all other words).

    PseudoLikelihood   exact: a pass for each word, in which all its pieces are masked together
    OnePass            approximate: one pass in which nothing is masked, and each word is predicted by what the model
                       reads in its place. It sees the word itself, so that its values are too high; only their
                       differences mean something. About as many times faster as a sentence has words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.language.model import LanguageModel, Sentence
from discotext.language.pieces import Cutter, Pieces, group_rows, load_model, pad

ROLE = "a masked language model"


class MaskedModel(LanguageModel):
    """What both kinds share. tokeniser, model: of the Hugging Face library; `load_masked` reads them."""

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

    def _cut(self, sentence: Sentence) -> list[Pieces]:
        """The pieces of each word."""
        pieces = (list(self.cutter.pieces(token)) for token in sentence)
        return [one for one in pieces if one]

    def _predict(self, lines: Sequence[Pieces], places: Sequence[Sequence[int]], wanted: Sequence[Pieces]) -> Floats:
        """(R,) the sum of ln p of wanted pieces at places of lines."""
        import torch

        found = np.zeros(len(lines))
        for rows in group_rows([len(line) for line in lines]):
            ids, mask = (torch.from_numpy(one).to(self.model.device) for one in pad([lines[row] for row in rows]))
            owners = np.repeat(np.arange(len(rows)), [len(places[row]) for row in rows])
            at = np.array([place for row in rows for place in places[row]], dtype=np.int64)
            pieces = np.array([piece for row in rows for piece in wanted[row]], dtype=np.int64)
            with torch.inference_mode():
                logits = self.model(input_ids=ids, attention_mask=mask).logits[owners, at].float()
                chances = torch.log_softmax(logits, dim=-1)[np.arange(len(at)), pieces].double().cpu().numpy()
            found[rows] = np.bincount(owners, weights=chances, minlength=len(rows))
        return found


class PseudoLikelihood(MaskedModel):
    """The pseudo-log-likelihood of sentences, exactly: each word is masked in turn."""

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        lines: list[Pieces] = []
        places: list[list[int]] = []
        wanted: list[Pieces] = []
        owners: list[int] = []
        for number, sentence in enumerate(sentences):
            words = self._cut(sentence)
            at = len(self.before)
            whole = [*self.before, *(piece for word in words for piece in word), *self.after]
            for word in words:
                hidden = list(whole)
                hidden[at : at + len(word)] = [self.mask] * len(word)
                lines.append(hidden)
                places.append(list(range(at, at + len(word))))
                wanted.append(word)
                owners.append(number)
                at += len(word)
        scores = self._predict(lines, places, wanted) if lines else np.zeros(0)
        return np.asarray(np.bincount(owners, weights=scores, minlength=len(sentences)), dtype=np.float64)


class OnePass(MaskedModel):
    """An approximation of the pseudo-log-likelihood in one pass for each sentence."""

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        wanted = [[piece for word in self._cut(sentence) for piece in word] for sentence in sentences]
        lines = [[*self.before, *pieces, *self.after] for pieces in wanted]
        places = [list(range(len(self.before), len(self.before) + len(pieces))) for pieces in wanted]
        return self._predict(lines, places, wanted) if lines else np.zeros(0)


def load_masked(name: str, fast: bool = False) -> MaskedModel:
    """Load a masked model from a folder or the hub. fast: approximate in one pass."""
    tokeniser, model = load_model(name, "AutoModelForMaskedLM", ROLE)
    return (
        OnePass(tokeniser, model, f"masked-fast:{name}")
        if fast
        else PseudoLikelihood(tokeniser, model, f"masked:{name}")
    )
