"""Mixtures of words for a model that reads subwords.

A subword model does not have one vector per word: its tokeniser splits a word into one or several pieces, another
candidate into more or fewer, and how it does so may depend on the surrounding characters. A mixture is therefore built
around one real text, that of the heaviest candidate of every position. The tokeniser itself splits this text, which
determines how many tokens there are, where they are, and what is truncated. The tokens of each word are its slots, and
in slot t the model reads

    Σ_j α_j E[piece t of candidate j]

instead of one piece's vector. A candidate with fewer pieces repeats its last one; a candidate with more puts the mean
of the remaining ones into the last slot, so that every piece of every candidate contributes to the gradient. At a
one-hot α this is, whatever the model and the tokeniser do, exactly what the model reads in the real text: no slot has
to be masked and no position renumbered. The price: the mixture jumps where the heaviest candidate changes to one of
another length. The score that counts is always that of the real string, which is tokenised anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discotext.core.arrays import Bools, Floats, Ints, ranges, segment_argmax
from discotext.core.embedding import flush_denormals, to_numpy
from discotext.core.objectives import Objective
from discotext.core.problem import Batch
from discotext.text.space import Space
from discotext.text.words import Words
from discotext.victims.transformers.subword_model import SubwordModel, Tokens
from discotext.victims.victim import TextOracle, Victim

CONTEXT = 32  # characters on each side of a candidate when it is tokenised: tokenisers look no further
# A backward pass keeps the activations of the forward pass in memory, so a call gets fewer tokens.
SHARE_WITH_GRADIENT = 0.5


@dataclass(frozen=True)
class TokenMixtures:
    """What is mixed in each of T tokens: E weighted pieces, in the order of the tokens they belong to.

    pieces: (E,) rows of the model's table. sources: (E,) the index in alpha of the weight, or len(alpha) for a fixed 1.
    shares: (E,) what the weight is multiplied by. counts: (T,) the number of pieces of each token.
    """

    pieces: Ints
    sources: Ints
    shares: Floats
    counts: Ints


class SubwordOracle(TextOracle):
    """The oracle of a subword victim: scores choices as real strings, and mixtures as mixtures of their pieces."""

    def __init__(self, victim: Victim, reader: SubwordModel, space: Space, objective: Objective) -> None:
        super().__init__(victim, space, objective)
        self.reader = reader
        # Scores may be in half precision; mixtures never are.
        self.exact_at_vertices = not reader.half
        self._pieces = CandidatePieces(reader, space)

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        import torch

        layout = self.batch.take(problems)
        top = segment_argmax(alpha, layout.starts, layout.position_of)[0] if len(alpha) else np.zeros(0, np.int64)
        rows = zip(problems.tolist(), layout.dense(top, 0), strict=True)
        texts = [Words(self.space.words(row, choice), self.space.texts[row].gaps) for row, choice in rows]
        tokens = self.reader.read([str(text) for text in texts], spans=True)
        mixtures = self._mix(problems, layout, layout.starts + top, tokens, assign_words(tokens, texts))
        first_entry = np.cumsum(mixtures.counts) - mixtures.counts
        weights = np.append(alpha, 1.0)[mixtures.sources] * mixtures.shares
        values, gradient = np.empty(len(problems)), np.zeros(len(alpha) + 1)
        for call in self.reader.plan_calls(tokens.lengths, SHARE_WITH_GRADIENT, mixtures=True):
            at = tokens.find(call)
            entries = ranges(first_entry[at], mixtures.counts[at])
            leaf = self.reader.to_tensor(weights[entries]).requires_grad_()
            with torch.enable_grad(), flush_denormals():
                counts = mixtures.counts[at]
                # Each token's vector is the weighted sum of its pieces.
                vectors = torch.nn.functional.embedding_bag(
                    torch.from_numpy(mixtures.pieces[entries]).to(self.reader.table.device),
                    self.reader.table,
                    torch.from_numpy(np.cumsum(counts) - counts).to(self.reader.table.device),
                    mode="sum",
                    per_sample_weights=leaf,
                )
                logits = self.reader.logits(tokens, call, vectors)
                found = to_numpy(logits)
                by_score = self.reader.to_tensor(self.objective.gradient(found, problems[call]))
                (by_entry,) = torch.autograd.grad(logits, leaf, grad_outputs=by_score.to(logits.dtype))
            values[call] = self.objective.value(found, problems[call])
            gradient += np.bincount(
                mixtures.sources[entries],
                weights=to_numpy(by_entry) * mixtures.shares[entries],
                minlength=len(gradient),
            )
        return values, gradient[:-1]

    def _mix(self, problems: Ints, layout: Batch, top: Ints, tokens: Tokens, word: Ints) -> TokenMixtures:
        """Mix the pieces of all candidates into the tokens of the heaviest ones.

        top: (N,) the heaviest candidate of each position, as an index in alpha. word: (T,) each token's position.
        """
        in_word = np.flatnonzero(word >= 0)
        slots = np.bincount(word[in_word], minlength=len(layout.counts))
        first_slot = np.cumsum(slots) - slots
        # The real text: tokens outside words have weight 1, those of a word the weight of its candidate.
        real_source = np.full(len(word), len(layout.position_of))
        real_source[in_word] = top[word[in_word]]
        # All other candidates, fitted into the same slots: piece `number` of candidate `whose` goes to `slot`.
        others = np.ones(len(layout.position_of), dtype=bool)
        others[top] = False
        begins, lengths, pieces = self._pieces.find(problems)
        other = np.flatnonzero(others & (slots[layout.position_of] > 0) & (lengths > 0))
        position, length = layout.position_of[other], lengths[other]
        sizes = np.maximum(length, slots[position])
        number = ranges(np.zeros(len(other), dtype=np.int64), sizes)
        whose = np.repeat(np.arange(len(other)), sizes)
        last_slot, last_piece = slots[position][whose] - 1, length[whose] - 1
        slot = np.minimum(number, last_slot)
        crowded = (number >= last_slot) & (last_piece > last_slot)
        token = np.concatenate([np.arange(len(word)), in_word[first_slot[position][whose] + slot]])
        order = np.argsort(token, kind="stable")
        piece = pieces[begins[other][whose] + np.minimum(number, last_piece)]
        share = np.where(crowded, 1.0 / (last_piece - last_slot + 1).clip(1), 1.0)
        return TokenMixtures(
            np.concatenate([tokens.ids, piece])[order],
            np.concatenate([real_source, other[whose]])[order],
            np.concatenate([np.ones(len(word)), share])[order],
            np.bincount(token, minlength=len(word)),
        )


class CandidatePieces:
    """The pieces of all candidates, each tokenised in its context; those of a text when they are first needed."""

    def __init__(self, reader: SubwordModel, space: Space) -> None:
        self.reader, self.space = reader, space
        total = space.batch.candidates
        self.begins, self.lengths = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
        self.pieces: Ints = np.zeros(0, dtype=np.int64)
        self.known: Bools = np.zeros(len(space), dtype=bool)

    def find(self, problems: Ints) -> tuple[Ints, Ints, Ints]:
        """Return, for all candidates of these rows in turn, where their pieces begin and how many; and the pieces."""
        new = np.unique(problems[~self.known[problems]])
        if len(new):
            self._tokenise(new)
        flat = self.space.batch.flat_rows(problems)
        return self.begins[flat], self.lengths[flat], self.pieces

    def _tokenise(self, problems: Ints) -> None:
        places: list[int] = []
        windows: list[Words] = []
        for problem in problems.tolist():
            place = int(self.space.batch.first_candidate[problem])
            text = self.space.texts[problem]
            for number, candidates in enumerate(self.space.options[problem]):
                # A word without candidates is never mixed.
                if len(candidates) > 1:
                    before, after = find_context(text, number)
                    places += range(place, place + len(candidates))
                    windows += [Words((candidate,), (before, after)) for candidate in candidates]
                place += len(candidates)
        self.known[problems] = True
        if not windows:
            return
        tokens = self.reader.read([str(window) for window in windows], spans=True, whole=True)
        word = assign_words(tokens, windows)
        lengths = np.bincount(word[word >= 0], minlength=len(windows))
        self.lengths[places] = lengths
        self.begins[places] = len(self.pieces) + np.cumsum(lengths) - lengths
        self.pieces = np.concatenate([self.pieces, tokens.ids[word >= 0]])


def find_context(text: Words, number: int) -> tuple[str, str]:
    """Return the characters before and after a word that can affect how it is tokenised."""
    before, after = text.gaps[number], text.gaps[number + 1]
    if number > 0:
        before = text.words[number - 1] + before
    if number + 1 < len(text):
        after += text.words[number + 1]
    return before[-CONTEXT:], after[:CONTEXT]


def assign_words(tokens: Tokens, texts: Sequence[Words]) -> Ints:
    """Return (T,) the word that each token belongs to, numbered through all texts, or −1 for none.

    A token that covers characters of two words belongs to the first.
    """
    spans = np.array([span for text in texts for span in text.spans()], dtype=np.int64).reshape(-1, 2)
    out = np.full(len(tokens.ids), -1, dtype=np.int64)
    if not len(spans) or not len(out):
        return out
    # Each text gets its own range of numbers, so that one search serves all of them: the first word that ends after the
    # beginning of the token.
    apart = 1 + max(int(spans.max()), int(tokens.spans.max()))
    word_shift = apart * np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    token_shift = apart * np.repeat(np.arange(len(texts)), tokens.lengths)
    found = np.searchsorted(spans[:, 1] + word_shift, tokens.spans[:, 0] + token_shift, side="right")
    begins = np.append(spans[:, 0] + word_shift, np.iinfo(np.int64).max)
    inside = begins[found] < tokens.spans[:, 1] + token_shift
    out[inside] = found[inside]
    return out
