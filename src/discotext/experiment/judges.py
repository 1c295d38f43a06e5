"""Models that judge texts: one says where a text lies among meanings, the other how much it surprises.

Both are asked about texts of like length together, cut where the model ends. What they answer does not depend on which
texts go together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.extras import need
from discotext.padding import largest_first, like_lengths
from discotext.segments import Floats
from discotext.text.masked import load_pretrained

if TYPE_CHECKING:
    from torch import Tensor

TOKENS_A_TEXT = 64  # a call of `batch` texts is meant for texts of about this length
LOGITS = 2**25  # most numbers a call of a language model returns: one for each token and each that it knows
Watch = Callable[[str, int, int], None]


class SentenceEncoder:
    """Texts as vectors: the mean of the model's last states, of length 1.

    name: on the hub, or a folder with an `AutoModel` and its tokeniser. batch: texts of 64 tokens a call.
    """

    def __init__(self, name: str, batch: int = 64) -> None:
        self.name, self.loaded = name, Loaded(name, "AutoModel", "a sentence encoder", batch)
        if self.loaded.model.config.is_encoder_decoder:
            raise ValueError(f"{name!r} writes texts as well as it reads them; choose an encoder such as a MiniLM")

    def __call__(self, texts: Sequence[str], watch: Watch | None = None) -> tuple[list[Floats | None], int]:
        """(d,) for each text, None where there is nothing to read; and how many texts were cut."""
        rows, cut = self.loaded.read(texts, self.loaded.longest)
        return self.loaded.ask(rows, self._encode, "encoding texts", watch), cut

    def _encode(self, ids: Tensor, there: Tensor) -> Tensor:
        states: Tensor = self.loaded.model(input_ids=ids, attention_mask=there.long()).last_hidden_state.double()
        means = (states * there.unsqueeze(-1)).sum(1) / there.sum(1, keepdim=True)
        unit: Tensor = means / means.norm(dim=1, keepdim=True).clamp(min=1e-12)
        return unit


class LanguageModel:
    """The perplexity of texts: exp of the mean of −log p(token | those before).

    A token that begins a text (or, where there is none, one that ends it) stands before each text, so that the first
    word is judged, too.
    name: on the hub, or a folder with an `AutoModelForCausalLM` and its tokeniser. batch: texts of 64 tokens a call.
    """

    def __init__(self, name: str, batch: int = 64) -> None:
        self.name, self.loaded = name, Loaded(name, "AutoModelForCausalLM", "a language model", batch)
        self._look()
        tokeniser = self.loaded.tokeniser
        self.first = [mark for mark in (tokeniser.bos_token_id, tokeniser.eos_token_id) if mark is not None][:1]

    def __call__(self, texts: Sequence[str], watch: Watch | None = None) -> tuple[list[float | None], int]:
        """A number for each text, None where there is nothing to foretell; and how many texts were cut."""
        longest = self.loaded.longest
        room = None if longest is None else longest - len(self.first)
        rows, cut = self.loaded.read(texts, room, special=False)
        found = self.loaded.ask([self.first + row for row in rows], self._surprise, "reading texts", watch)
        return [None if one is None else float(one) for one in found], cut

    def _surprise(self, ids: Tensor, there: Tensor) -> Tensor:
        logits: Tensor = self.loaded.model(input_ids=ids, attention_mask=there.long()).logits[:, :-1].float()
        surprise = logits.logsumexp(-1) - logits.gather(-1, ids[:, 1:, None]).squeeze(-1)
        judged = there[:, 1:]
        return (surprise.double().masked_fill(~judged, 0.0).sum(1) / judged.sum(1)).exp()

    def _look(self) -> None:
        """Refuse a model that says of a token what it knows from those after it, as BERT, which the library loads too.

        Also, its answers are as wide as what it knows: keep calls within memory.
        """
        import torch

        model = self.loaded.model
        with torch.inference_mode():
            ids = torch.arange(8).repeat(2, 1) % model.get_input_embeddings().num_embeddings
            ids[1, -1] = ids[1, 0]
            logits = model(input_ids=ids.to(self.loaded.device)).logits[:, :-1].float()
        if not torch.allclose(logits[0], logits[1], rtol=1e-3, atol=1e-4):
            raise ValueError(
                f"{self.name!r} sees the words that it is to foretell: it is no causal language model, and has no "
                "perplexity; choose one such as GPT-2"
            )
        self.loaded.tokens = min(self.loaded.tokens, max(1, LOGITS // logits.shape[-1]))


class Loaded:
    """A model and its tokeniser, where there is a GPU on it. tokens: in one call, padding counted."""

    def __init__(self, name: str, kind: str, reason: str, batch: int) -> None:
        if batch < 1:
            raise ValueError(f"batch is {batch}; choose 1 or more")
        transformers = need("transformers", extra="hf", reason=reason)
        torch = need("torch", extra="hf", reason=reason)
        from discotext.victims.huggingface import quiet
        from discotext.victims.subword_model import longest

        with quiet(transformers, Path(name).expanduser().is_dir()):
            self.tokeniser, model = load_pretrained(name, kind, reason)
        self.tokens, self.longest = batch * TOKENS_A_TEXT, longest(model, self.tokeniser)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device).requires_grad_(False)

    def read(self, texts: Sequence[str], room: int | None, special: bool = True) -> tuple[list[list[int]], int]:
        """The tokens of each text, at most so many, and how many texts were cut. special: with the model's marks."""
        from discotext.victims.subword_model import LONE_SURROGATES

        # No tokeniser takes halves of characters.
        clean = [LONE_SURROGATES.sub("\ufffd", text) for text in texts]
        settings: dict[str, Any] = {"add_special_tokens": special, "verbose": False}
        rows: list[list[int]] = self.tokeniser(clean, **settings)["input_ids"] if clean else []
        long = [number for number, row in enumerate(rows) if room is not None and len(row) > room]
        for number in long:
            rows[number] = self.tokeniser(clean[number], truncation=True, max_length=room, **settings)["input_ids"]
        return rows, len(long)

    def ask(
        self,
        rows: Sequence[Sequence[int]],
        judge: Callable[[Tensor, Tensor], Tensor],
        doing: str,
        watch: Watch | None = None,
    ) -> list[Any]:
        """What a function of tokens (R, n) and what of them is not padding (R, n) says of each row; None for NaN."""
        import torch

        from discotext.victims.neural.victim import padded

        found: list[Any] = [None] * len(rows)
        done = 0
        tokens = np.array([len(row) for row in rows], dtype=np.int64)
        # So that memory that suffices once always does.
        for numbers in largest_first(like_lengths(tokens, self.tokens, spare_rows=0), tokens):
            ids, lengths = padded([np.array(rows[number], dtype=np.int64) for number in numbers.tolist()])
            there = torch.arange(ids.shape[1]) < lengths.unsqueeze(-1)
            ids = ids.masked_fill(~there, self.tokeniser.pad_token_id or 0)
            with torch.inference_mode():
                answers = judge(ids.to(self.device), there.to(self.device)).cpu().numpy()
            for number, answer in zip(numbers.tolist(), answers, strict=True):
                found[number] = answer if np.isfinite(answer).all() else None
            done += len(numbers)
            if watch is not None:
                watch(doing, done, len(rows))
        return found
