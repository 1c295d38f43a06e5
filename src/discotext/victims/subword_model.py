"""A subword model at work: texts to tokens, tokens to calls of like length, calls to logits.

Most of a batch's cost is what is padded: texts are sorted by length, and a call holds as many as make a fixed number
of tokens, padding counted. The answers come back in the order of the texts.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discotext.embedding import to_numpy
from discotext.padding import largest_first, like_lengths
from discotext.segments import Floats, Ints, ranges

if TYPE_CHECKING:
    from torch import Tensor

TOKENS_A_TEXT = 64  # a call of `batch` texts is meant for texts of about this length
UNLIMITED = 10**9  # tokenisers that know no limit say 10 ** 30
LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Tokens:
    """The tokens of some texts, end to end.

    ids: (T,). lengths: (R,) tokens of each text. spans: (T, 2) the characters of the text each stands for, (0, 0) for
    what is not in the text; empty if not asked for. kinds: (T,) the token types, if the model takes any.
    """

    ids: Ints
    lengths: Ints
    spans: Ints
    kinds: Ints | None

    @cached_property
    def starts(self) -> Ints:
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    def places(self, rows: Ints) -> Ints:
        """Where the tokens of these rows stand."""
        return ranges(self.starts[rows], self.lengths[rows])


class SubwordModel:
    """A sequence classifier and its tokeniser, ready to be asked: on its device, in evaluation mode, frozen.

    batch: texts of 64 tokens a call; there are more of shorter and fewer of longer ones.
    half: score in half precision, on a GPU.
    """

    def __init__(self, model: Any, tokeniser: Any, device: str | None, batch: int, half: bool) -> None:
        import torch

        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if half and self.device.type != "cuda":
            raise ValueError(f"half precision is for GPUs, and the model runs on {self.device.type}; leave half out")
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.tokeniser, self.budget, self.half = tokeniser, batch * TOKENS_A_TEXT, half
        self.longest = longest(model, tokeniser)
        accepted = inspect.signature(model.forward).parameters
        self.takes_vectors, self.takes_kinds = "inputs_embeds" in accepted, "token_type_ids" in accepted
        configured = getattr(model.config, "pad_token_id", None)
        # Without a padding token such models refuse more than one text at a time.
        self.alone = configured is None and tokeniser.pad_token_id is None
        marks = (tokeniser.pad_token_id, configured, tokeniser.eos_token_id, 0)
        self.padding: int = next(mark for mark in marks if mark is not None)

    def read(self, texts: Sequence[str], spans: bool = False, whole: bool = False) -> Tokens:
        """Cut texts into tokens. spans: say where they stand. whole: also beyond what the model can read."""
        cut = {} if whole or self.longest is None else {"truncation": True, "max_length": self.longest}
        # The tokeniser takes no lone surrogates; a sign of the same length keeps every span where it was.
        clean = [text if text.isascii() else LONE_SURROGATES.sub("\ufffd", text) for text in texts]
        found = (
            self.tokeniser(
                clean,
                return_offsets_mapping=spans,
                return_attention_mask=False,
                return_token_type_ids=self.takes_kinds,
                verbose=False,
                **cut,
            )
            if clean
            else {"input_ids": [], "token_type_ids": [], "offset_mapping": []}
        )
        # Some tokenisers make nothing of an empty text, and no model reads nothing.
        ids = [one or [self.padding] for one in found["input_ids"]]
        where = [one or [(0, 0)] for one in found["offset_mapping"]] if spans else []
        kinds = [one or [0] for one in found["token_type_ids"]] if "token_type_ids" in found else None
        return Tokens(
            joined(ids),
            np.array([len(one) for one in ids], dtype=np.int64),
            np.array(list(chain.from_iterable(where)), dtype=np.int64).reshape(-1, 2),
            None if kinds is None else joined(kinds),
        )

    def calls(self, lengths: Ints, share: float = 1.0, mixtures: bool = False) -> Iterator[Ints]:
        """The rows of each call, the largest first (so that memory that suffices once always does)."""
        cells = 0 if self.alone else int(share * self.budget)
        apart = np.unique(lengths) if mixtures and not self.pads_mixtures else [None]
        for length in apart[::-1]:
            rows = np.arange(len(lengths)) if length is None else np.flatnonzero(lengths == length)
            for call in largest_first(like_lengths(lengths[rows], cells, spare_rows=0), lengths[rows]):
                yield rows[call]

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C)"""
        import torch

        tokens = self.read(texts)
        out = np.empty((len(texts), max(2, self.model.config.num_labels)))
        with torch.inference_mode(), torch.autocast(self.device.type, enabled=self.half):
            for rows in self.calls(tokens.lengths):
                out[rows] = to_numpy(self.logits(tokens, rows))
        return out

    def logits(self, tokens: Tokens, rows: Ints, vectors: Tensor | None = None) -> Tensor:
        """(R, C) of some rows. vectors: (T, d), read in place of the tokens' own."""
        import torch

        lengths, at = tokens.lengths[rows], tokens.places(rows)
        mask = np.arange(int(lengths.max())) < lengths[:, None]
        if self.tokeniser.padding_side == "left":
            mask = mask[:, ::-1].copy()
        there = torch.from_numpy(mask).to(self.device)
        inputs = {"attention_mask": there.long()}
        if self.takes_kinds and tokens.kinds is not None:
            inputs["token_type_ids"] = self._spread(tokens.kinds[at], mask, 0)
        if vectors is None:
            inputs["input_ids"] = self._spread(tokens.ids[at], mask, self.padding)
        else:
            padded = self.table[self.padding].expand(*mask.shape, -1)
            inputs["inputs_embeds"] = padded.masked_scatter(there.unsqueeze(-1), vectors)
        logits = self.model(**inputs).logits
        # One number is the log-odds of yes; as two scores it has the same difference.
        return torch.cat([-logits / 2, logits / 2], dim=1) if logits.shape[1] == 1 else logits

    def _spread(self, values: Ints, mask: NDArray[np.bool_], fill: int) -> Tensor:
        import torch

        out = np.full(mask.shape, fill, dtype=np.int64)
        out[mask] = values
        return torch.from_numpy(out).to(self.device)

    def tensor(self, values: Floats) -> Tensor:
        """Numbers where the model's vectors are, and like them."""
        import torch

        return torch.from_numpy(values).to(self.table)

    @cached_property
    def table(self) -> Tensor:
        """(V, d) the vector of every token, as the model makes it from the token's number."""
        import torch

        module = self.model.get_input_embeddings()
        if type(module).forward is torch.nn.Embedding.forward:
            return module.weight.detach()  # type: ignore[no-any-return]
        # Some scale their vectors, and expect those that come from outside to be scaled.
        with torch.no_grad():
            return module(torch.arange(module.num_embeddings, device=self.device))  # type: ignore[no-any-return]

    @cached_property
    def reads_mixtures(self) -> bool:
        """Whether the model can be given vectors instead of tokens, reads them alike, and has gradients for them."""
        if not (self.takes_vectors and self._same_by_vectors(["a"]) and self._same_by_vectors(["a b c d e f"])):
            return False
        return self._has_gradients()

    @cached_property
    def pads_mixtures(self) -> bool:
        """Whether vectors may be padded; a model that looks for the padding token's number loses the text's end."""
        return not self.alone and self._same_by_vectors(["a", "a b c d e f"])

    def _same_by_vectors(self, texts: Sequence[str]) -> bool:
        import torch

        tokens = self.read(texts)
        rows = np.arange(len(texts))
        with torch.no_grad():
            expected = self.logits(tokens, rows)
            try:
                vectors = self.table[torch.from_numpy(tokens.ids).to(self.device)]
                found = self.logits(tokens, rows, vectors)
            except Exception:  # a model may object to vectors in any way
                return False
            return bool(torch.allclose(found, expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max())))

    def _has_gradients(self) -> bool:
        """Whether a backward pass reaches the vectors, and what arrives is finite."""
        import torch

        tokens = self.read(["a b c d e f"])
        vectors = self.table[torch.from_numpy(tokens.ids).to(self.device)].detach().clone().requires_grad_()
        try:
            with torch.enable_grad():
                (slope,) = torch.autograd.grad(self.logits(tokens, np.arange(1), vectors).sum(), vectors)
        except Exception:  # quantised layers, for example, know no way back
            return False
        return bool(torch.isfinite(slope).all())


def longest(model: Any, tokeniser: Any) -> int | None:
    """How many tokens the model reads, special ones included; None if it knows no end."""
    import torch

    limits = [tokeniser.model_max_length]
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # Models after RoBERTa count positions from behind the padding token's number, and have so many fewer.
        skipped = [
            module.padding_idx + 1
            for name, module in model.named_modules()
            if name.endswith("position_embeddings")
            and isinstance(module, torch.nn.Embedding)
            and module.padding_idx is not None
        ]
        limits.append(positions - max(skipped, default=0))
    least = min(limits)
    return None if least >= UNLIMITED else int(least)


def joined(lists: Sequence[Sequence[int]]) -> Ints:
    """Lists of numbers, end to end."""
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)
