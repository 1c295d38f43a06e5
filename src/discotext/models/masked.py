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
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.models.mixing import ROWS_AT_ONCE, Slots, make_bias, mix, run_rows
from discotext.models.model import MixtureModel, Sentence, Token
from discotext.models.pieces import Cutter, Pieces, group_rows, load_model, pad

if TYPE_CHECKING:
    from torch import Tensor

ROLE = "a masked language model"


class MaskedModel(MixtureModel):
    """What both kinds share. tokeniser, model: of the Hugging Face library; `load_masked` reads them."""

    exact_at_vertices = True
    masks: bool  # whether a word is masked where it is predicted

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

    def prepare(self, networks: Sequence[Sequence[Sequence[Token]]]) -> list[Slots]:
        return [Slots.of(self.cutter, positions, before=len(self.before)) for positions in networks]

    def relaxed(self, prepared: list[Slots], problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        # A masked position is a row of its own.
        return run_rows(self._score_mixtures, prepared, problems, alpha, 1 if self.masks else ROWS_AT_ONCE)

    def _score_mixtures(self, rows: Sequence[Slots], alpha: Tensor) -> Tensor:
        """(R,) the mean log-probability of the candidates in their places, the other positions being mixtures."""
        import torch

        mixed = mix(self.model, rows, alpha, (self.before, self.after))
        vectors, bias, places = mixed.vectors, make_bias(mixed.mass, causal=False), mixed.places
        if self.masks:
            (row,) = rows
            hidden = np.zeros((len(row.firsts), vectors.shape[1], 1), dtype=bool)
            ends = [*row.firsts[1:].tolist(), row.count]
            for number, (first, end) in enumerate(zip(row.firsts.tolist(), ends, strict=True)):
                hidden[number, first:end] = True
            vector = self.model.get_input_embeddings().weight[self.mask]
            vectors = torch.where(torch.from_numpy(hidden).to(vectors.device), vector, vectors)
            bias, places = (one.expand(len(hidden), *one.shape[1:]) for one in (bias, places))
        owners = [
            np.searchsorted(row.firsts, row.slot, side="right") - 1 if self.masks else np.full(len(row.slot), number)
            for number, row in enumerate(rows)
        ]
        # Candidates of one slot are predicted together.
        flat = np.concatenate(owners) * vectors.shape[1] + np.concatenate([row.slot for row in rows])
        read, inverse = np.unique(flat, return_inverse=True)
        logits = self._read_at(
            *np.divmod(read, vectors.shape[1]), inputs_embeds=vectors, attention_mask=bias, position_ids=places
        )
        chances = torch.log_softmax(logits.float(), dim=-1)
        pieces = torch.from_numpy(np.concatenate([row.pieces for row in rows]))
        gains = chances[torch.from_numpy(inverse), pieces].double().cpu()
        offsets = np.cumsum([0, *(row.width for row in rows)])
        candidates = np.concatenate([row.candidate + offset for row, offset in zip(rows, offsets, strict=False)])
        parts = torch.split(gains * alpha[torch.from_numpy(candidates)], [len(row.pieces) for row in rows])
        return torch.stack([part.sum() for part in parts])

    def _read_at(self, rows: Ints, places: Ints, **given: Any) -> Tensor:
        """(P, V) what the model predicts at places (P,) of rows (P,). given: what it reads.

        The head takes as long as the rest of a small model. So only what is asked for goes into its last layer.
        """

        def pick(_: Any, hidden: tuple[Any, ...]) -> Any:
            return hidden[0][rows, places]

        head = self.model.get_output_embeddings()
        hook = None if head is None else head.register_forward_pre_hook(pick)
        try:
            logits: Tensor = self.model(**given).logits
        finally:
            if hook is not None:
                hook.remove()
        return logits if logits.ndim == 2 else logits[rows, places]

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
                logits = self._read_at(owners, at, input_ids=ids, attention_mask=mask)
                chances = torch.log_softmax(logits.float(), dim=-1)[np.arange(len(at)), pieces].double().cpu().numpy()
            found[rows] = np.bincount(owners, weights=chances, minlength=len(rows))
        return found


class PseudoLikelihood(MaskedModel):
    """The pseudo-log-likelihood of sentences, exactly: each word is masked in turn."""

    masks = True

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

    masks = False

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
