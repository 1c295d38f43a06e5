"""Causal language models of the Hugging Face library, GGUF files included.

Going from left to right, prefixes keep the keys and values of what they have read. Nothing is read before it is needed:
the first piece of a word is scored by what its prefix predicts already, and the word itself is read when a prefix is
continued. So of many candidates only those that are kept are ever read, each common beginning once.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.core.padding import group_by_length
from discotext.models.model import Sentence, SequentialModel, Token
from discotext.models.pretrained import TOKENS_PER_CALL, Cutter, Pieces, load_model, pad, predict

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Prefixes:
    """Prefixes that have been read up to some piece. All tensors have a row for each of B prefixes that were read.

    cache: Keys and values. mask: (B, n) where they are real. next: (B, V) ln p of the next piece.
    rows: (R,) the row that each prefix continues. pending: Its pieces that have not been read.
    """

    cache: Any
    mask: Tensor
    next: Tensor
    rows: Ints
    pending: Sequence[Pieces]


class CausalModel(SequentialModel):
    """A causal language model. The end of a sentence is the model's end of a text.

    tokeniser, model: Those of the Hugging Face library; `load_causal` reads them.
    """

    def __init__(self, tokeniser: Any, model: Any, name: str) -> None:
        self.model, self.name, self.cutter = model, name, Cutter(tokeniser)
        known = [mark for mark in (tokeniser.eos_token_id, tokeniser.bos_token_id) if mark is not None]
        if not known:
            raise ValueError(f"{name} has no mark for the end of a text; choose another causal model")
        self.end: int = known[0]
        self.begin: int = known[-1]

    def knows(self, word: str) -> bool:
        return self.cutter.knows(word)

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        lines = [[*self.cutter.sentence(sentence), self.end] for sentence in sentences]
        found, start = np.zeros(len(lines)), self.start(1)
        for rows in group_by_length([len(line) for line in lines], TOKENS_PER_CALL, spare_rows=0):
            _, found[rows] = self.continue_by(start, np.zeros(len(rows), int), [lines[row] for row in rows])
        return found

    def start(self, count: int) -> Prefixes:
        import torch

        ids, first = torch.tensor([[self.begin]], device=self.model.device), torch.zeros(1, dtype=torch.long)
        after, read = predict(self.model, first, first, input_ids=ids, use_cache=True)
        return Prefixes(
            read.past_key_values, torch.ones_like(ids), after, np.zeros(count, dtype=np.int64), [[]] * count
        )

    def extend(self, states: Prefixes, parents: Ints, tokens: Sequence[Token]) -> tuple[Prefixes, Floats]:
        return self.continue_by(states, parents, [self.cutter.pieces(token) for token in tokens])

    def continue_by(self, states: Prefixes, parents: Ints, pieces: Sequence[Pieces]) -> tuple[Prefixes, Floats]:
        """Put pieces behind prefixes, as `extend` puts tokens."""
        gains = np.zeros(len(parents))
        if not len(parents):
            return replace(states, rows=states.rows[:0], pending=[]), gains
        needed, rows = np.unique(parents, return_inverse=True)
        read = self._read(states, needed)
        begun = [number for number, one in enumerate(pieces) if one]
        if begun:
            gains[begun] = read.next[rows[begun], [pieces[number][0] for number in begun]].double().cpu().numpy()
        longer = [number for number, one in enumerate(pieces) if len(one) > 1]
        if longer:
            gains[longer] += self._score_rest(read, rows[longer], [pieces[number] for number in longer])
        return replace(read, rows=rows, pending=pieces), gains

    def finish(self, states: Prefixes) -> Floats:
        if not len(states.rows):
            return np.zeros(0)
        read = self._read(states, np.arange(len(states.rows)))
        return np.asarray(read.next[:, self.end].double().cpu().numpy())

    def _read(self, states: Prefixes, needed: Ints) -> Prefixes:
        """Read what is pending in some prefixes. Each has a row to itself afterwards."""
        import torch

        pending = [states.pending[number] for number in needed]
        rows = torch.from_numpy(states.rows[needed]).to(self.model.device)
        own = Prefixes(states.cache, states.mask[rows], states.next[rows], np.arange(len(needed)), [[]] * len(needed))
        if not any(pending):
            return replace(own, cache=self._choose(states, rows))
        ids, mask = pad(pending, self.model.device)
        last = mask.sum(1)
        everyone = torch.arange(len(rows), device=rows.device)
        after, read = self._forward(states, rows, ids, mask, (everyone, (last - 1).clamp(min=0)))
        after = torch.where((last > 0)[:, None], after, own.next)
        return replace(own, cache=read.past_key_values, mask=torch.cat([own.mask, mask], dim=1), next=after)

    def _score_rest(self, read: Prefixes, rows: Ints, pieces: Sequence[Pieces]) -> Floats:
        """(R,) ln p of all pieces but the first, each after those before it."""
        import torch

        ids, mask = pad([one[:-1] for one in pieces], self.model.device)
        owners, places = mask.nonzero(as_tuple=True)
        chosen = torch.from_numpy(rows).to(self.model.device)
        chances, _ = self._forward(read, chosen, ids, mask, (owners, places))
        wanted = [piece for one in pieces for piece in one[1:]]
        gains = chances[np.arange(len(wanted)), wanted].double().cpu().numpy()
        return np.asarray(np.bincount(owners.cpu().numpy(), weights=gains, minlength=len(rows)))

    def _choose(self, states: Prefixes, rows: Tensor) -> Any:
        """A copy of the keys and values of some rows."""
        # The library reads on in place, and others may continue the same prefix.
        cache = copy.deepcopy(states.cache)
        cache.batch_select_indices(rows)
        return cache

    def _forward(
        self, states: Prefixes, rows: Tensor, ids: Tensor, mask: Tensor, where: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Any]:
        """Read pieces after the prefixes of some rows. Returns what is predicted at places, and all that was read."""
        import torch

        before = states.mask[rows]
        return predict(
            self.model,
            *where,
            input_ids=ids,
            attention_mask=torch.cat([before, mask], dim=1),
            position_ids=(before.sum(1, keepdim=True) + mask.cumsum(1) - 1).clamp(min=0),
            past_key_values=self._choose(states, rows),
            use_cache=True,
        )


def load_causal(name: str, role: str = "a causal language model") -> CausalModel:
    """Load a causal model: a folder, a name on the hub, or a GGUF file."""
    loaded = load_model(name, "AutoModelForCausalLM", role)
    return CausalModel(loaded.tokeniser, loaded.model, f"hf:{name}")


@dataclass(frozen=True)
class Place:
    """What stands before a word, the forms to compare there (the word itself first), and what stands after."""

    before: str
    forms: Sequence[str]
    after: str


@dataclass(frozen=True, eq=False)
class Continuations:
    """Compares words by how likely they and what follows are, many places of texts at a time.

    source: A folder, a name on the hub, or a GGUF file. after: How many tokens after the word count.
    """

    source: str
    after: int = 12

    @cached_property
    def model(self) -> CausalModel:
        return load_causal(self.source, "the language model of a scorer")

    def compare(self, places: Sequence[Place]) -> list[Floats]:
        """For each place, how much likelier the text is from there on with each other form than with the first."""
        cut = [self._cut(place) for place in places]
        found: list[Floats] = [np.zeros(0)] * len(places)
        # The pieces before a place are read once, and what follows once for each form.
        sizes = [len(before) + sum(map(len, forms)) for before, forms in cut]
        for numbers in group_by_length(sizes, TOKENS_PER_CALL // 2, spare_rows=0):
            start = replace(self.model.start(len(numbers)), pending=[cut[number][0] for number in numbers])
            counts = [len(cut[number][1]) for number in numbers]
            rows = [row for number in numbers for row in cut[number][1]]
            _, gains = self.model.continue_by(start, np.repeat(np.arange(len(numbers)), counts), rows)
            for number, totals in zip(numbers, np.split(gains, np.cumsum(counts)[:-1]), strict=True):
                found[number] = totals[1:] - totals[0]
        return found

    def _cut(self, place: Place) -> tuple[Pieces, list[Pieces]]:
        """The pieces before a place, and those of each form with what follows."""
        cut = self.model.cutter.cut
        space = " " if place.before.strip() and place.before[-1:].isspace() else ""
        after = cut(place.after)[: self.after]
        return list(cut(place.before.rstrip())), [[*cut(space + form), *after] for form in place.forms]
