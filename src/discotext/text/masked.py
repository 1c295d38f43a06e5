"""What a Hugging Face model thinks of a replacement: words for a gap, and whether a sentence still says the same.

Both need the extra `hf`. Texts are cut into tokens here and nowhere else on the way from text to problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from discotext.extras import need
from discotext.text.place import Place
from discotext.text.words import Words, split

BATCH = 32  # texts a call
AROUND = 96  # words kept on each side of a gap: a model takes no more than some hundred tokens


def window(text: Words, number: int, replacement: str) -> str:
    """The text around a word, with the word replaced."""
    first, last = max(0, number - AROUND), min(len(text), number + AROUND + 1)
    part = Words(text.words[first:last], ("", *text.gaps[first + 1 : last], ""))
    return str(part.replaced({number - first: replacement}))


def load_pretrained(name: str, kind: str, reason: str) -> tuple[Any, Any]:
    """A tokeniser and a model, from a folder or the hub, or a sentence about why not.

    Weights come from safetensors and code from the library alone. Weights that are not there would be made up at
    random, so a model without them is refused; only a pooler may be missing, for nothing here asks it.
    kind: a class of the library, such as "AutoModel". reason: what the model is for, for the sentence.
    """
    transformers = need("transformers", extra="hf", reason=reason)
    need("torch", extra="hf", reason=reason)
    # A shell leaves the tilde of `--option=~/model` alone.
    folder = Path(name).expanduser()
    where = str(folder) if folder.is_dir() else name
    if not folder.is_dir() and name.startswith(("/", ".", "~")):
        raise ValueError(f"there is no folder {name!r} with {reason}; name one written by save_pretrained")
    try:
        model, found = getattr(transformers, kind).from_pretrained(
            where, use_safetensors=True, trust_remote_code=False, output_loading_info=True
        )
        tokeniser = transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(
            f"{name!r} cannot be loaded as a model for {reason}: {first}; name a folder written by save_pretrained, "
            "or a model on the hub"
        ) from None
    missing = sorted(key for key in found["missing_keys"] if "pooler" not in key)
    if missing:
        raise ValueError(
            f"{name!r} cannot be loaded as a model for {reason}: it lacks {missing[0]}, which would be made up at "
            "random; choose one that was trained for it"
        )
    # Where there are no files, the library makes a tokeniser that knows its special tokens and nothing else.
    if len(tokeniser) <= len(tokeniser.all_special_ids):
        raise ValueError(f"{name!r} has no tokeniser; write it beside the model by tokenizer.save_pretrained")
    return tokeniser, model.eval()


@dataclass(frozen=True, eq=False)
class MaskedModel:
    """The words a masked language model finds likeliest in the place of a word; they fit, but need not mean the same.

    model: a name on the hub or a folder with an `AutoModelForMaskedLM` and its tokeniser. k: words asked for.
    """

    model: str
    k: int = 24
    name: str = "masked-lm"
    context: bool = True
    _parts: tuple[Any, Any] = field(init=False, repr=False)
    _last: dict[Words, list[tuple[str, ...]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        parts = load_pretrained(self.model, "AutoModelForMaskedLM", "a masked language model")
        if parts[0].mask_token is None:
            raise ValueError(f"{self.model!r} has no mask token; choose a masked language model such as BERT")
        object.__setattr__(self, "_parts", parts)

    def of(self, place: Place) -> Sequence[str]:
        # All gaps of a text are filled together; the next places asked about are those of the same text.
        if place.text not in self._last:
            self._last.clear()
            self._last[place.text] = self._fill(place.text)
        return self._last[place.text][place.number]

    def _fill(self, text: Words) -> list[tuple[str, ...]]:
        import torch

        tokeniser, model = self._parts
        gaps = [window(text, number, tokeniser.mask_token) for number in range(len(text))]
        found: list[tuple[str, ...]] = []
        for begin in range(0, len(gaps), BATCH):
            inputs = tokeniser(gaps[begin : begin + BATCH], return_tensors="pt", padding=True, truncation=True)
            with torch.inference_mode():
                logits = model(**inputs).logits
            masked = inputs["input_ids"] == tokeniser.mask_token_id
            for row in range(len(logits)):
                at = masked[row].nonzero()[:1, 0]
                best = logits[row, at].topk(min(self.k, logits.shape[-1])).indices.flatten().tolist() if len(at) else []
                found.append(tuple(dict.fromkeys(self._word(token) for token in best if self._word(token))))
        return found

    def _word(self, token: int) -> str:
        """The whole word a token stands for, or nothing: pieces and marks of punctuation are no words."""
        tokeniser = self._parts[0]
        if tokeniser.convert_ids_to_tokens(token).startswith("##") or token in tokeniser.all_special_ids:
            return ""
        word = tokeniser.decode([token]).strip().lower()
        return word if split(word).words == (word,) else ""


@dataclass(frozen=True, eq=False)
class SentenceSimilarity:
    """The text with the candidate says nearly what it said: cosine of the means of an encoder's last states.

    encoder: a name on the hub or a folder with an `AutoModel` and its tokeniser, one made for sentences.
    """

    encoder: str
    least: float = 0.85
    name: str = "sentence"
    context: bool = True
    _parts: tuple[Any, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parts", load_pretrained(self.encoder, "AutoModel", "a sentence encoder"))
        # The text itself is encoded once, not once for each of its candidates.
        object.__setattr__(self, "encode", lru_cache(4096)(self.encode))

    def refuses(self, place: Place, candidate: str) -> bool:
        before, after = (self.encode(window(place.text, place.number, word)) for word in (place.word, candidate))
        return float(before @ after) < self.least

    def encode(self, text: str) -> NDArray[np.float32]:
        """(d,) of length 1."""
        import torch

        tokeniser, model = self._parts
        inputs = tokeniser([text], return_tensors="pt", truncation=True)
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state[0].mean(0).numpy()
        return np.asarray(states / max(float(np.linalg.norm(states)), 1e-12), dtype=np.float32)
