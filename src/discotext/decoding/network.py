"""Networks of words: what may stand at each position of a text.

A network is a row of positions, each with its alternatives and their channel scores: how well each fits what was heard,
seen or typed, as a natural logarithm. The first alternative of a position is its original: what stands in the text, or
the best guess of the recogniser. Choosing another one is a change. (A network of this form is also called a confusion
network, or a sausage.)

An alternative may be empty, which skips its position, or a phrase of several words. It may also *span* several
positions, which it then covers: what stands there is not used, and its choice is 0. So a network can be a word graph:
the nodes of the graph in topological order are the boundaries of the positions, and an edge from node u to node v is an
alternative at position u that spans v − u positions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from discotext.core.problem import Batch, Problem
from discotext.models.model import Token

LARGEST = 1e100  # size of a score; sums of a few that are larger would overflow


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the words that may stand at a position.

    word: The word; empty to skip the position, with spaces for a phrase.
    score: The channel's score.
    span: How many positions it covers, from its own on.
    """

    word: str
    score: float = 0.0
    span: int = 1


class NetworkError(ValueError):
    """A network that is wrong in itself; the message names the position, counted from 0, where there is one."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message if position is None else f"position {position}: {message}")


@dataclass(frozen=True)
class Network:
    """Alternatives at each position.

    id: How results refer to it.
    positions: The alternatives of each position, the original first.
    gaps: What stands before each position and at the end, n + 1 strings; single spaces if None. A position that is
        skipped takes its gap with it; the first word is always preceded by the first gap.

    >>> network = Network.of("1", [["a"], ["god", "good"], ["film", ""]])
    >>> network.text((0, 1, 0)), network.text((0, 1, 1)), len(network)
    ('a good film', 'a good', 3)
    """

    id: str
    positions: tuple[tuple[Alternative, ...], ...]
    gaps: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.gaps is not None and len(self.gaps) != len(self.positions) + 1:
            raise NetworkError(
                f"{len(self.gaps)} gaps for {len(self.positions)} positions; give one before each and one at the end"
            )
        for position, alternatives in enumerate(self.positions):
            check_position(position, alternatives, len(self.positions))

    @classmethod
    def of(cls, id: str, positions: Iterable[Iterable[str | tuple[str, float] | Alternative]]) -> Network:
        """Make a network of words, pairs of words and scores, or alternatives."""

        rows = ([Alternative(one) if isinstance(one, str) else one for one in row] for row in positions)
        return cls(
            id, tuple(tuple(Alternative(*one) if isinstance(one, tuple) else one for one in row) for row in rows)
        )

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def spans(self) -> bool:
        """Whether any alternative covers more than its own position."""
        return any(one.span > 1 for alternatives in self.positions for one in alternatives)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many alternatives each position has."""
        return tuple(map(len, self.positions))

    @cached_property
    def original(self) -> tuple[int, ...]:
        """The choice that changes nothing."""
        return (0,) * len(self)

    def path(self, choice: Sequence[int]) -> list[tuple[int, Alternative]]:
        """The alternatives that a choice uses, each with its position: all but those that are covered."""
        found, position = [], 0
        while position < len(self):
            alternative = self.positions[position][choice[position]]
            found.append((position, alternative))
            position += alternative.span
        return found

    def is_consistent(self, choice: Sequence[int]) -> bool:
        """Whether a choice changes nothing at positions that are covered."""
        used = {position for position, _ in self.path(choice)}
        return all(position in used or not candidate for position, candidate in enumerate(choice))

    def tokens(self, choice: Sequence[int]) -> list[Token]:
        """The words of a choice, each with what stands before it. Phrases are split."""
        found: list[Token] = []
        for position, alternative in self.path(choice):
            found += make_tokens(self.gap(position if found else 0), alternative.word.split())
        return found

    def gap(self, position: int) -> str:
        """What stands before a position."""
        return self.gaps[position] if self.gaps is not None else " " if position else ""

    def text(self, choice: Sequence[int]) -> str:
        """The text of a choice."""
        end = self.gaps[-1] if self.gaps is not None else ""
        return "".join(token.before + token.word for token in self.tokens(choice)) + end


def make_tokens(before: str, words: Sequence[str]) -> list[Token]:
    """The tokens of a phrase. before: What stands before its first word."""
    return [Token(" " if number else before, word) for number, word in enumerate(words)]


def check_position(position: int, alternatives: Sequence[Alternative], size: int) -> None:
    """Raise NetworkError if a position has no alternatives, or one that is there twice or has no usable score."""
    if not alternatives:
        raise NetworkError("there are no words; give at least one, or an empty word to skip the position", position)
    seen: set[tuple[str, int]] = set()
    for one in alternatives:
        if one.score != -math.inf and not abs(one.score) <= LARGEST:
            wanted = f"expected a natural logarithm of at most {LARGEST:g} in size, or −inf to forbid"
            raise NetworkError(f"the score of {one.word!r} is {one.score:g}; {wanted}", position)
        if not 1 <= one.span <= size - position:
            raise NetworkError(f"{one.word!r} spans {one.span} positions, but {size - position} are left", position)
        if (one.word, one.span) in seen:
            raise NetworkError(f"the word {one.word!r} is there twice; give each once, with the better score", position)
        seen.add((one.word, one.span))


def check_possible(network: Network, budget: int) -> None:
    """Raise NetworkError if no text is possible: all words are forbidden where every way arrives, or too many
    originals are."""
    reached = {0}
    for position, row in enumerate(network.positions):
        if position in reached:
            reached |= {position + one.span for one in row if one.score != -math.inf}
    if len(network) not in reached:
        words = ", ".join(repr(one.word) for one in network.positions[max(reached)][:3])
        raise NetworkError(f"every word ({words}) has a score of −inf; allow at least one", max(reached))
    changing = [number for number, row in enumerate(network.positions) if row[0].score == -math.inf]
    if len(changing) > budget and not network.spans:  # in a graph, which are covered depends on the choice
        raise NetworkError(
            f"{len(changing)} positions may not keep their words (the first is {changing[0]}), but at most {budget} "
            "may change; allow more changes, or other words"
        )


def make_batch(networks: Sequence[Network], budgets: Sequence[int]) -> Batch:
    """The problems of networks: as many candidates as there are alternatives, and so many changes allowed in each."""
    pairs = zip(networks, budgets, strict=True)
    return Batch.of(Problem(network.counts, budget) for network, budget in pairs)
