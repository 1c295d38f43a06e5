"""How well words fit what follows: a causal language model that compares the same text with different words in it.

The words before are read once for all candidates of a place (their keys and values are kept), many places at a time.
This needs the extra `hf`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Floats
from discotext.models.pretrained import load_pretrained
from discotext.support.extras import require

ROLE = "the language model of a scorer"
TOKENS_PER_CALL = 1024  # of continuations, padding included: each needs a score for every token of the vocabulary
Tokens = list[int]


@dataclass(frozen=True)
class Place:
    """What stands before a word, the forms to compare there (the word itself first), and what stands after."""

    before: str
    forms: Sequence[str]
    after: str


@dataclass(frozen=True, eq=False)
class Continuations:
    """Compares words by how likely they and what follows are.

    source: a folder, a name on the hub, or a GGUF file. after: how many tokens after the word count.
    """

    source: str
    after: int = 12

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        """The tokeniser and the model."""
        torch = require("torch", extra="hf", reason=ROLE)
        tokeniser, model = load_pretrained(self.source, "AutoModelForCausalLM", ROLE, dtype=torch.float32)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return tokeniser, model.to(device).requires_grad_(False)

    def compare(self, places: Sequence[Place]) -> list[Floats]:
        """For each place, how much likelier the text is from there on with each other form than with the first."""
        cut = [self._cut(place) for place in places]
        found: list[Floats] = [np.zeros(0)] * len(places)
        for numbers in _group(cut):
            for number, totals in zip(numbers, self._read([cut[number] for number in numbers]), strict=True):
                found[number] = totals[1:] - totals[0]
        return found

    def _cut(self, place: Place) -> tuple[Tokens, list[Tokens]]:
        """The tokens before a place, and those of each form with what follows."""
        tokeniser, _ = self._model

        def tokenise(part: str) -> Tokens:
            return list(tokeniser(part, add_special_tokens=False)["input_ids"]) if part else []

        space = " " if place.before.strip() and place.before[-1:].isspace() else ""
        start = [tokeniser.eos_token_id if tokeniser.bos_token_id is None else tokeniser.bos_token_id]
        start += tokenise(place.before.rstrip())
        after = tokenise(place.after)[: self.after]
        return start, [tokenise(space + form) + after for form in place.forms]

    def _read(self, cut: Sequence[tuple[Tokens, list[Tokens]]]) -> list[Floats]:
        """The log-probability of each continuation of some places."""
        import torch

        _, model = self._model
        starts, owners = [start for start, _ in cut], np.repeat(np.arange(len(cut)), [len(rows) for _, rows in cut])
        rows = [row for _, ones in cut for row in ones]
        before, before_mask = (torch.from_numpy(one).to(model.device) for one in _pad(starts, left=True))
        after, mask = (torch.from_numpy(one).to(model.device) for one in _pad(rows))
        owner = torch.from_numpy(owners).to(model.device)
        with torch.inference_mode():
            positions = (before_mask.cumsum(1) - 1).clamp(min=0)
            read = model.base_model(
                input_ids=before, attention_mask=before_mask, position_ids=positions, use_cache=True
            )
            cache = read.past_key_values
            cache.batch_select_indices(owner)
            places = before_mask.sum(1)[owner, None] + torch.arange(after.shape[1], device=model.device)
            states = model.base_model(
                input_ids=after,
                attention_mask=torch.cat([before_mask[owner], mask], dim=1),
                position_ids=places,
                past_key_values=cache,
            ).last_hidden_state
            # The state before each token predicts it; before the first stands the last word of the beginning.
            states = torch.cat([read.last_hidden_state[owner, -1:], states[:, :-1]], dim=1)[mask.bool()]
            logits = model.get_output_embeddings()(states).float()
            chances = torch.log_softmax(logits, -1).gather(1, after[mask.bool()][:, None]).squeeze(1)
            row_of = torch.arange(len(rows), device=model.device)[:, None].expand_as(after)[mask.bool()]
            sums = torch.zeros(len(rows), dtype=torch.float64, device=model.device)
            totals = sums.index_add_(0, row_of, chances.double()).cpu().numpy()
        return np.split(totals, np.cumsum([len(ones) for _, ones in cut])[:-1])


def _pad(rows: Sequence[Tokens], left: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(R, longest) tokens with zeros after them, or before, and where they are."""
    longest = max(map(len, rows))
    ids, mask = (np.zeros((len(rows), longest), dtype=np.int64) for _ in range(2))
    for number, row in enumerate(rows):
        where = slice(longest - len(row), longest) if left else slice(0, len(row))
        ids[number, where], mask[number, where] = row, 1
    return ids, mask


def _group(cut: Sequence[tuple[Tokens, list[Tokens]]]) -> Iterator[list[int]]:
    """Places of like length, as many as one call takes."""
    order = sorted(range(len(cut)), key=lambda number: len(cut[number][0]))
    group: list[int] = []
    rows = longest = 0
    for number in order:
        _, ones = cut[number]
        more = max(longest, *map(len, ones))
        if group and (rows + len(ones)) * more > TOKENS_PER_CALL:
            yield group
            group, rows, longest, more = [], 0, 0, max(map(len, ones))
        group.append(number)
        rows, longest = rows + len(ones), more
    if group:
        yield group
