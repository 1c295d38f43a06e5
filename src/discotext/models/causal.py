"""Causal language models of the Hugging Face library, GGUF files included.

Going from left to right, prefixes keep the keys and values of what they have read. Nothing is read before it is needed:
the first piece of a word is scored by what its prefix predicts already, and the word itself is read when a prefix goes
on from there. So of many candidates only those that are kept are ever read, each common beginning once.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.models.mixing import Slots, find_last_slots, make_bias, mix, run_rows
from discotext.models.model import MixtureModel, Sentence, SequentialModel, Token
from discotext.models.pieces import Cutter, Pieces, group_rows, load_model, pad

if TYPE_CHECKING:
    from torch import Tensor

ROLE = "a causal language model"


@dataclass(frozen=True)
class Prefixes:
    """Prefixes that have been read up to some piece. All tensors have a row for each of B prefixes that were read.

    cache: keys and values. mask: (B, n) where they are real. next: (B, V) ln p of the next piece.
    rows: (R,) the row that each prefix goes on from. pending: its pieces that have not been read.
    """

    cache: Any
    mask: Tensor
    next: Tensor
    rows: Ints
    pending: list[Pieces]


class CausalModel(SequentialModel, MixtureModel):
    """A causal language model. The end of a sentence is the model's own end of a text.

    tokeniser, model: of the Hugging Face library; `load_causal` reads them.
    """

    exact_at_vertices = True

    def __init__(self, tokeniser: Any, model: Any, name: str) -> None:
        self.model, self.name, self.cutter = model, name, Cutter(tokeniser)
        ends = [tokeniser.eos_token_id, tokeniser.bos_token_id]
        known = [mark for mark in ends if mark is not None]
        if not known:
            raise ValueError(f"{name} has no mark for the end of a text; choose another causal model")
        self.end: int = known[0]
        self.begin: int = known[-1]

    def knows(self, word: str) -> bool:
        return self.cutter.knows(word)

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        import torch

        lines = [[self.begin, *self.cutter.sentence(sentence), self.end] for sentence in sentences]
        found = np.zeros(len(lines))
        for rows in group_rows([len(line) for line in lines]):
            ids, mask = (torch.from_numpy(one).to(self.model.device) for one in pad([lines[row] for row in rows]))
            with torch.inference_mode():
                logits = self.model(input_ids=ids, attention_mask=mask).logits[:, :-1]
                chances = _log_softmax(logits).gather(2, ids[:, 1:, None]).squeeze(2)
                found[rows] = (chances.double() * mask[:, 1:]).sum(1).cpu().numpy()
        return found

    def start(self, count: int) -> Prefixes:
        import torch

        ids = torch.tensor([[self.begin]], device=self.model.device)
        with torch.inference_mode():
            read = self.model(input_ids=ids, use_cache=True)
            after = _log_softmax(read.logits[:, -1])
        return Prefixes(
            read.past_key_values,
            torch.ones_like(ids),
            after,
            np.zeros(count, dtype=np.int64),
            [[] for _ in range(count)],
        )

    def extend(self, states: Prefixes, parents: Ints, tokens: Sequence[Token]) -> tuple[Prefixes, Floats]:
        if not len(parents):
            return Prefixes(states.cache, states.mask, states.next, states.rows[:0], []), np.zeros(0)
        needed, rows = np.unique(parents, return_inverse=True)
        read = self._read(states, needed)
        pieces = [list(self.cutter.pieces(token)) for token in tokens]
        gains = np.zeros(len(parents))
        begun = [number for number, one in enumerate(pieces) if one]
        if begun:
            first = [pieces[number][0] for number in begun]
            gains[begun] = read.next[rows[begun], first].double().cpu().numpy()
        longer = [number for number, one in enumerate(pieces) if len(one) > 1]
        if longer:
            gains[longer] += self._score_rest(read, rows[longer], [pieces[number] for number in longer])
        return Prefixes(read.cache, read.mask, read.next, rows, pieces), gains

    def finish(self, states: Prefixes) -> Floats:
        if not len(states.rows):
            return np.zeros(0)
        read = self._read(states, np.arange(len(states.rows)))
        return np.asarray(read.next[:, self.end].double().cpu().numpy())

    def prepare(self, networks: Sequence[Sequence[Sequence[Token]]]) -> list[Slots]:
        return [Slots.of(self.cutter, positions, before=1) for positions in networks]

    def relaxed(self, prepared: list[Slots], problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        return run_rows(self._score_mixtures, prepared, problems, alpha)

    def _score_mixtures(self, rows: Sequence[Slots], alpha: Tensor) -> Tensor:
        """(R,) the mean log-probability of the candidates, each piece after a mixture of what may stand before it."""
        import torch

        mixed = mix(self.model, rows, alpha, ([self.begin], []))
        read = self.model(
            inputs_embeds=mixed.vectors, attention_mask=make_bias(mixed.mass, causal=True), position_ids=mixed.places
        )
        chances = _log_softmax(read.logits).double().cpu()
        totals, at = [], 0
        for row, after in zip(rows, chances, strict=True):
            weights = list(torch.split(alpha[at : at + row.width], [len(one) for one in row.lengths]))
            at += row.width
            last = find_last_slots(row, weights, len(after))
            total = last[-1] @ after[:, self.end]
            within = np.isin(row.slot, row.firsts)
            mine = alpha[at - row.width : at][torch.from_numpy(row.candidate)]
            position = np.searchsorted(row.firsts, row.slot, side="right") - 1
            pieces = torch.from_numpy(row.pieces)
            # The first piece of a word follows whatever was last; the others follow the slot before theirs.
            for place in np.unique(position[within]).tolist():
                here = torch.from_numpy(np.flatnonzero(within & (position == place)))
                total = total + ((last[place] @ after[:, pieces[here]]) * mine[here]).sum()
            rest = torch.from_numpy(np.flatnonzero(~within))
            before = torch.from_numpy(row.slot)[rest] - 1
            totals.append(total + (after[before, pieces[rest]] * mine[rest]).sum())
        return torch.stack(totals)

    def _read(self, states: Prefixes, needed: Ints) -> Prefixes:
        """Read what is pending in some prefixes. Each has a row of its own afterwards."""
        import torch

        pending = [states.pending[number] for number in needed]
        rows = torch.from_numpy(states.rows[needed]).to(self.model.device)
        nothing: list[Pieces] = [[] for _ in needed]
        chosen = self._choose(states, rows)
        if any(pending):
            ids, mask = (torch.from_numpy(one).to(self.model.device) for one in pad(pending))
            cache, whole, logits = self._forward(chosen, states.mask[rows], ids, mask)
            last = mask.sum(1)
            picked = logits[torch.arange(len(rows), device=rows.device), (last - 1).clamp(min=0)]
            after = torch.where((last > 0)[:, None], _log_softmax(picked), states.next[rows])
            return Prefixes(cache, whole, after, np.arange(len(needed)), nothing)
        return Prefixes(chosen, states.mask[rows], states.next[rows], np.arange(len(needed)), nothing)

    def _score_rest(self, read: Prefixes, rows: Ints, pieces: Sequence[Pieces]) -> Floats:
        """(R,) ln p of all pieces but the first, each after those before it."""
        import torch

        chosen = torch.from_numpy(rows).to(self.model.device)
        ids, _ = (torch.from_numpy(one).to(self.model.device) for one in pad([one[:-1] for one in pieces]))
        targets, mask = (torch.from_numpy(one).to(self.model.device) for one in pad([one[1:] for one in pieces]))
        _, _, logits = self._forward(self._choose(read, chosen), read.mask[chosen], ids, mask)
        chances = _log_softmax(logits).gather(2, targets[..., None]).squeeze(2)
        return np.asarray((chances.double() * mask).sum(1).cpu().numpy())

    def _choose(self, states: Prefixes, rows: Tensor) -> Any:
        """A copy of the keys and values of some rows."""
        # The library reads on in place, and others may go on from the same prefix.
        cache = copy.deepcopy(states.cache)
        cache.batch_select_indices(rows)
        return cache

    def _forward(self, cache: Any, before: Tensor, ids: Tensor, mask: Tensor) -> tuple[Any, Tensor, Tensor]:
        """Read pieces after prefixes. Returns keys and values, where they are real, and the logits (R, n, V)."""
        import torch

        whole = torch.cat([before, mask], dim=1)
        places = (before.sum(1, keepdim=True) + mask.cumsum(1) - 1).clamp(min=0)
        with torch.inference_mode():
            read = self.model(
                input_ids=ids, attention_mask=whole, position_ids=places, past_key_values=cache, use_cache=True
            )
        return read.past_key_values, whole, read.logits


def _log_softmax(logits: Tensor) -> Tensor:
    import torch

    return torch.log_softmax(logits.float(), dim=-1)


def load_causal(name: str) -> CausalModel:
    """Load a causal model: a folder, a name on the hub, or a GGUF file."""
    tokeniser, model = load_model(name, "AutoModelForCausalLM", ROLE)
    return CausalModel(tokeniser, model, f"hf:{name}")
