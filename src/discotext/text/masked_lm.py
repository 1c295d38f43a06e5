"""A masked language model as a source of candidates: the words it finds likeliest in a gap. It needs the extra `hf`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discotext.models.pretrained import find_longest, load_pretrained
from discotext.text.sources import Source
from discotext.text.words import WordContext, Words, split

GAPS_PER_CALL = 32
WINDOW_WORDS = 96  # kept on each side of a word, since models read only a few hundred tokens


@dataclass(frozen=True, eq=False)
class MaskedWords(Source):
    """The words a masked language model finds likeliest in place of a word; they fit, but may mean something else.

    model: a name on the hub, or a folder with an `AutoModelForMaskedLM` and its tokeniser. k: words to propose.
    """

    model: str
    k: int = 24
    name = "masked-lm"
    context_dependent = True
    _parts: tuple[Any, Any] = field(init=False, repr=False)
    _last: dict[Words, list[tuple[str, ...]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        parts = load_pretrained(self.model, "AutoModelForMaskedLM", "a masked language model")
        if parts[0].mask_token is None:
            raise ValueError(f"{self.model!r} has no mask token; choose a masked language model such as BERT")
        object.__setattr__(self, "_parts", parts)

    def propose(self, context: WordContext) -> Sequence[str]:
        # All gaps of a text are filled together, since its other words are asked for next.
        if context.text not in self._last:
            self._last.clear()
            self._last[context.text] = self._fill(context.text)
        return self._last[context.text][context.number]

    def _fill(self, text: Words) -> list[tuple[str, ...]]:
        import torch

        tokeniser, model = self._parts
        windows = (text.around(number, WINDOW_WORDS, WINDOW_WORDS) for number in range(len(text)))
        gaps = [before + tokeniser.mask_token + after for before, after in windows]
        settings = {"padding": True, "truncation": True, "max_length": find_longest(model, tokeniser)}
        found: list[tuple[str, ...]] = []
        for begin in range(0, len(gaps), GAPS_PER_CALL):
            inputs = tokeniser(gaps[begin : begin + GAPS_PER_CALL], return_tensors="pt", **settings)
            with torch.inference_mode():
                logits = model(**inputs).logits
            masked = inputs["input_ids"] == tokeniser.mask_token_id
            for row in range(len(logits)):
                at = masked[row].nonzero()[:1, 0]
                best = logits[row, at].topk(min(self.k, logits.shape[-1])).indices.flatten().tolist() if len(at) else []
                found.append(tuple(dict.fromkeys(filter(None, map(self._decode, best)))))
        return found

    def _decode(self, token: int) -> str:
        """The whole word a token stands for; empty for pieces of words, punctuation and special tokens."""
        tokeniser = self._parts[0]
        if tokeniser.convert_ids_to_tokens(token).startswith("##") or token in tokeniser.all_special_ids:
            return ""
        word = tokeniser.decode([token]).strip().lower()
        return word if split(word).words == (word,) else ""
