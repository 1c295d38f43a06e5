"""Running a subword model: texts to tokens, tokens to batches of similar length, batches to logits.

Most of a batch's cost is padding: texts are sorted by length, and a call gets as many as make a fixed number of tokens,
padding included. The scores come back in the order of the texts.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats, Ints, ranges
from discotext.core.embedding import to_numpy
from discotext.core.padding import group_by_length, largest_first
from discotext.models.pretrained import LONE_SURROGATES, TOKENS_PER_TEXT, find_longest
from discotext.support.extras import require

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Tokens:
    """The tokens of R texts, concatenated.

    ids: (T,). lengths: (R,) the number of tokens of each text. spans: (T, 2) the characters of the text that each
    token stands for, (0, 0) for special tokens; empty unless requested. kinds: (T,) the token types, if the model has
    any.
    """

    ids: Ints
    lengths: Ints
    spans: Ints
    kinds: Ints | None

    @cached_property
    def starts(self) -> Ints:
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    def find(self, rows: Ints) -> Ints:
        """Return the indices of the tokens of these rows."""
        return ranges(self.starts[rows], self.lengths[rows])


def choose_device(wanted: str | None) -> str:
    """The name of a device that can be used: the one that is wanted, or else a GPU if there is one."""
    torch = require("torch", extra="hf", reason="a Hugging Face victim")
    name = wanted or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=name)
    except (AssertionError, RuntimeError) as error:  # a build without CUDA ends in an assertion
        reason = (str(error).splitlines() or [""])[0]
        raise ValueError(f"the device {name!r} cannot be used ({reason}); choose another, such as cpu") from None
    return name


class SubwordModel:
    """A sequence classifier and its tokeniser: on its device, in evaluation mode, frozen.

    batch: texts of 64 tokens per call; more of shorter and fewer of longer texts.
    half: compute scores in half precision, on a GPU only.
    """

    def __init__(self, model: Any, tokeniser: Any, device: str | None, batch: int, half: bool) -> None:
        import torch

        self.device = torch.device(choose_device(device))
        if half and self.device.type != "cuda":
            raise ValueError(f"half precision needs a GPU, but the model runs on {self.device.type}; set half=False")
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.tokeniser, self.tokens_per_call, self.half = tokeniser, batch * TOKENS_PER_TEXT, half
        self.longest = find_longest(model, tokeniser)
        accepted = inspect.signature(model.forward).parameters
        self.takes_vectors, self.takes_kinds = "inputs_embeds" in accepted, "token_type_ids" in accepted
        configured = getattr(model.config, "pad_token_id", None)
        # Without a padding token such models accept only one text at a time.
        self.one_at_a_time = configured is None and tokeniser.pad_token_id is None
        marks = (tokeniser.pad_token_id, configured, tokeniser.eos_token_id, 0)
        self.padding: int = next(mark for mark in marks if mark is not None)

    def read(self, texts: Sequence[str], spans: bool = False, whole: bool = False) -> Tokens:
        """Tokenise texts. spans: also return the characters of each token. whole: do not truncate."""
        truncation = {} if whole or self.longest is None else {"truncation": True, "max_length": self.longest}
        # The tokeniser rejects lone surrogates; a character of the same length leaves every span unchanged.
        clean = [text if text.isascii() else LONE_SURROGATES.sub("\ufffd", text) for text in texts]
        found = (
            self.tokeniser(
                clean,
                return_offsets_mapping=spans,
                return_attention_mask=False,
                return_token_type_ids=self.takes_kinds,
                verbose=False,
                **truncation,
            )
            if clean
            else {"input_ids": [], "token_type_ids": [], "offset_mapping": []}
        )
        # Some tokenisers return no tokens for an empty text, which no model accepts.
        ids = [one or [self.padding] for one in found["input_ids"]]
        where = [one or [(0, 0)] for one in found["offset_mapping"]] if spans else []
        kinds = [one or [0] for one in found["token_type_ids"]] if "token_type_ids" in found else None
        return Tokens(
            concatenate(ids),
            np.array([len(one) for one in ids], dtype=np.int64),
            np.array(list(chain.from_iterable(where)), dtype=np.int64).reshape(-1, 2),
            None if kinds is None else concatenate(kinds),
        )

    def plan_calls(self, lengths: Ints, share: float = 1.0, mixtures: bool = False) -> Iterator[Ints]:
        """Yield the rows of each call, the largest call first, so that memory runs out at once or not at all.

        share: of the tokens per call. mixtures: the rows are vectors, which may not be padded (`pads_mixtures`).
        """
        cells = 0 if self.one_at_a_time else int(share * self.tokens_per_call)
        apart = np.unique(lengths) if mixtures and not self.pads_mixtures else [None]
        for length in apart[::-1]:
            rows = np.arange(len(lengths)) if length is None else np.flatnonzero(lengths == length)
            for call in largest_first(group_by_length(lengths[rows], cells, spare_rows=0), lengths[rows]):
                yield rows[call]

    def scores(self, texts: Sequence[str]) -> Floats:
        """Return (N, C) logits of texts."""
        import torch

        tokens = self.read(texts)
        out = np.empty((len(texts), max(2, self.model.config.num_labels)))
        with torch.inference_mode(), torch.autocast(self.device.type, enabled=self.half):
            for rows in self.plan_calls(tokens.lengths):
                out[rows] = to_numpy(self.logits(tokens, rows))
        return out

    def logits(self, tokens: Tokens, rows: Ints, vectors: Tensor | None = None) -> Tensor:
        """Return (R, C) logits of some rows. vectors: (T, d), read in place of the tokens' own."""
        import torch

        lengths, at = tokens.lengths[rows], tokens.find(rows)
        mask = np.arange(int(lengths.max())) < lengths[:, None]
        if self.tokeniser.padding_side == "left":
            mask = mask[:, ::-1].copy()
        there = torch.from_numpy(mask).to(self.device)
        inputs = {"attention_mask": there.long()}
        if self.takes_kinds and tokens.kinds is not None:
            inputs["token_type_ids"] = self._pad(tokens.kinds[at], mask, 0)
        if vectors is None:
            inputs["input_ids"] = self._pad(tokens.ids[at], mask, self.padding)
        else:
            padded = self.table[self.padding].expand(*mask.shape, -1)
            inputs["inputs_embeds"] = padded.masked_scatter(there.unsqueeze(-1), vectors)
        logits = self.model(**inputs).logits
        # A single output is the log-odds of the second class; the two scores differ by it.
        return torch.cat([-logits / 2, logits / 2], dim=1) if logits.shape[1] == 1 else logits

    def _pad(self, values: Ints, mask: NDArray[np.bool_], fill: int) -> Tensor:
        import torch

        out = np.full(mask.shape, fill, dtype=np.int64)
        out[mask] = values
        return torch.from_numpy(out).to(self.device)

    def to_tensor(self, values: Floats) -> Tensor:
        """Convert an array to the device and precision of the model's vectors."""
        import torch

        return torch.from_numpy(values).to(self.table)

    @cached_property
    def table(self) -> Tensor:
        """(V, d) the vector of every token, as the model reads it."""
        import torch

        module = self.model.get_input_embeddings()
        if type(module).forward is torch.nn.Embedding.forward:
            return module.weight.detach()  # type: ignore[no-any-return]
        # Some models scale their vectors, and expect vectors from outside to be scaled.
        with torch.no_grad():
            return module(torch.arange(module.num_embeddings, device=self.device))  # type: ignore[no-any-return]

    @cached_property
    def reads_mixtures(self) -> bool:
        """Whether the model accepts vectors in place of tokens, with the same scores, and has gradients for them."""
        return self.takes_vectors and self._accepts_vectors(["a"]) and self._accepts_vectors(["a b c d e f"])

    @cached_property
    def pads_mixtures(self) -> bool:
        """Whether vectors may be padded; a model that finds a text's end by the padding token's id cannot see it."""
        return not self.one_at_a_time and self._accepts_vectors(["a", "a b c d e f"])

    def _accepts_vectors(self, texts: Sequence[str]) -> bool:
        """Whether the model gives texts the same logits by their vectors as by their tokens, and finite gradients."""
        import torch

        tokens, rows = self.read(texts), np.arange(len(texts))
        with torch.no_grad():
            expected = self.logits(tokens, rows)
        try:
            with torch.enable_grad():
                vectors = self.table[torch.from_numpy(tokens.ids).to(self.device)].clone().requires_grad_()
                found = self.logits(tokens, rows, vectors)
                (gradient,) = torch.autograd.grad(found.sum(), vectors)
        except Exception:  # a model may reject vectors with any error, and quantised layers have no backward pass
            return False
        same = torch.allclose(found, expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))
        return same and bool(torch.isfinite(gradient).all())


def concatenate(lists: Sequence[Sequence[int]]) -> Ints:
    """Return lists of integers as one array."""
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)
