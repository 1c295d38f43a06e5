"""What a decoding returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discotext.core.arrays import Choices
from discotext.core.solution import Solution, Status
from discotext.decoding.network import Network
from discotext.language.model import LanguageModel
from discotext.search.nbest import NBest
from discotext.support.plain_text import shorten


@dataclass(frozen=True)
class Option:
    """A word that might have stood in place of a change. score: of the whole text with it."""

    word: str
    score: float


@dataclass(frozen=True)
class WordChange:
    """A position where something else than the original was chosen.

    start, end: where the original stands in the original text. options: the other words, best first, where they were
    asked for; margin: how much the score is better than with the best of them.
    """

    position: int
    start: int
    end: int
    old: str
    new: str
    options: tuple[Option, ...] = ()
    margin: float | None = None

    def as_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "position": self.position, "start": self.start, "end": self.end, "old": self.old, "new": self.new
        }  # fmt: skip
        if self.options:
            plain["margin"] = to_json(self.margin)
            plain["alternatives"] = [{"word": one.word, "score": to_json(one.score)} for one in self.options]
        return plain


@dataclass(frozen=True)
class ScoredText:
    """An entry of an n-best list."""

    text: str
    score: float


@dataclass(frozen=True)
class Decoded:
    """The decoded text of a network.

    text, words: the text and how many words it has. original: the text without any change.
    score, original_score: of both; NaN where the original is forbidden.
    status: whether it is proved to be the best, see `Status`.
    unknown: how many of its words a language model does not know.
    nbest: the best texts, this one first. parts: the weighted parts that the score is the sum of.
    solver: what searched. forwards, backwards: passes spent. error: why it failed, where it did.
    """

    id: str
    text: str
    original: str
    words: int
    unknown: int
    score: float
    original_score: float
    status: Status
    changes: tuple[WordChange, ...]
    nbest: tuple[ScoredText, ...]
    parts: dict[str, float]
    solver: str
    forwards: int
    backwards: int
    error: str | None = None

    def __repr__(self) -> str:
        changes = "1 change" if len(self.changes) == 1 else f"{len(self.changes):,} changes"
        proof = "proved to be the best" if self.proved else self.status.name.lower()
        text = shorten(self.text, 100)
        return f"Decoded(id={shorten(self.id, 20)!r}, {text!r}, {changes}, score={self.score:.3f}, {proof})"

    @property
    def proved(self) -> bool:
        """Whether no allowed text scores higher, by proof."""
        return self.status.proved

    def as_json(self) -> dict[str, Any]:
        """The result as JSON can hold it; what is not a finite number is null."""
        return {
            "id": self.id,
            "text": self.text,
            "words": self.words,
            "unknown": self.unknown,
            "score": to_json(self.score),
            "original_score": to_json(self.original_score),
            "status": self.status.name.lower(),
            "proved": self.proved,
            "changes": [change.as_json() for change in self.changes],
            "nbest": [{"text": one.text, "score": to_json(one.score)} for one in self.nbest],
            "parts": {name: to_json(part) for name, part in self.parts.items()},
            **({"error": self.error} if self.error else {}),
        }


def to_json(value: float | None) -> float | None:
    """A number, or None for what JSON cannot hold."""
    return value if value is not None and math.isfinite(value) else None


def list_changes(network: Network, choice: Sequence[int]) -> tuple[WordChange, ...]:
    """The changes of a choice, with their places in the original text.

    >>> list_changes(Network.of("1", [["a"], ["god", "good"]]), (0, 1))
    (WordChange(position=1, start=2, end=5, old='god', new='good', options=(), margin=None),)
    """
    places, end, begun = {}, 0, False
    for position, one in network.path(network.original):
        start = end + len(network.gap(position if begun else 0)) if one.word else end
        end = start + len(one.word)
        begun = begun or bool(one.word)
        places[position] = (start, end)
    changes = []
    for position, one in network.path(choice):
        if choice[position]:
            # A position that the original path covers is not in its text; it would stand at its end.
            start, stop = places.get(position, (end, end))
            changes.append(WordChange(position, start, stop, network.positions[position][0].word, one.word))
    return tuple(changes)


def explain_changes(
    network: Network,
    choice: Sequence[int],
    changes: Sequence[WordChange],
    score: float,
    ask: Callable[[Choices], list[float]],
) -> tuple[WordChange, ...]:
    """The same changes, each with what the other words would have scored. ask: the scores of choices."""
    explained = []
    for change in changes:
        row = network.positions[change.position]
        others = [number for number in range(len(row)) if number != choice[change.position]]
        rows = np.tile(np.array(choice, dtype=np.int32), (len(others), 1))
        rows[:, change.position] = others
        scored = zip(others, ask(rows), strict=True)
        options = sorted((Option(row[at].word, found) for at, found in scored), key=rank)
        margin = score - options[0].score if options and math.isfinite(options[0].score) else None
        explained.append(replace(change, options=tuple(options), margin=margin))
    return tuple(explained)


def rank(option: Option) -> float:
    return -option.score


def list_texts(network: Network, solution: Solution, nbest: NBest | None, count: int) -> tuple[ScoredText, ...]:
    """The best texts, each once, the solution first."""
    found = {network.text(solution.choice.tolist()): solution.score}
    for choice, score in zip(nbest.choices.tolist(), nbest.scores.tolist(), strict=True) if nbest else ():
        if network.is_consistent(choice):
            found.setdefault(network.text(choice), score)
    return tuple(ScoredText(text, score) for text, score in list(found.items())[:count])


def score_parts(
    networks: Sequence[Network],
    choices: Sequence[Sequence[int]],
    models: Sequence[LanguageModel],
    weights: Sequence[float],
    channel_weight: float,
    word_penalty: float,
) -> list[dict[str, float]]:
    """The parts of scores, by name: the channel, each language model, and the word penalty if there is one."""
    pairs = list(zip(networks, choices, strict=True))
    sentences = [network.tokens(choice) for network, choice in pairs]
    parts = [
        {"channel": channel_weight * sum(one.score for _, one in network.path(choice) if one.score > -math.inf)}
        for network, choice in pairs
    ]
    for number, (model, weight) in enumerate(zip(models, weights, strict=True)):
        scores = model.score(sentences)
        for one, score in zip(parts, scores.tolist(), strict=True):
            one[model.name if model.name not in one else f"{model.name} ({number + 1})"] = weight * score
    if word_penalty:
        for one, sentence in zip(parts, sentences, strict=True):
            one["word penalty"] = -word_penalty * len(sentence)
    return parts


def make_decoded(
    network: Network,
    choice: Sequence[int],
    solution: Solution,
    changes: tuple[WordChange, ...],
    nbest: tuple[ScoredText, ...],
    parts: dict[str, float],
    unknown: int,
    solver: str,
) -> Decoded:
    """Put a result together."""
    return Decoded(
        id=network.id,
        text=network.text(choice),
        original=network.text(network.original),
        words=len(network.words(choice)),
        unknown=unknown,
        score=solution.score,
        original_score=solution.original_score,
        status=solution.status,
        changes=changes,
        nbest=nbest,
        parts=parts,
        solver=solver,
        forwards=solution.forwards,
        backwards=solution.backwards,
        error=solution.error,
    )
