"""Constraints on what a decoding may return: words that must or must not be there, letters and lengths.

They are met by taking alternatives out of a network. The original of a position stays, because a choice of 0 must have
a meaning; where a constraint forbids it, its score is −inf, and the position has to change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from discotext.decoding.network import Alternative, Network, NetworkError


@dataclass(frozen=True)
class Constraints:
    """What the words of a text must be like. Letters and words are compared without regard to case.

    forced: the word that must stand at a position, by its number from 0; the empty word skips the position.
    forbidden: words that may stand nowhere.
    contain: letters that every word must have, each of them.
    exclude: letters that no word may have.
    shortest, longest: letters of a word, at least and at most.
    positions: where the last five apply; everywhere if None.

    >>> network = Network.of("1", [["a"], ["funny", "good", "fine"]])
    >>> [one.word for one in Constraints(exclude="u", longest=4).apply(network).positions[1]]
    ['funny', 'good', 'fine']
    >>> Constraints(exclude="u").apply(network).positions[1][0].score
    -inf
    """

    forced: Mapping[int, str] = field(default_factory=dict)
    forbidden: Iterable[str] = ()
    contain: str = ""
    exclude: str = ""
    shortest: int = 0
    longest: int | None = None
    positions: Iterable[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "forbidden", frozenset(word.casefold() for word in self.forbidden))
        if self.positions is not None:
            object.__setattr__(self, "positions", frozenset(self.positions))
        both = sorted(set(self.contain.casefold()) & set(self.exclude.casefold()))
        if both:
            raise ValueError(f"words must both contain and exclude {both[0]!r}; take it out of one of the two")
        if self.longest is not None and self.shortest > self.longest:
            raise ValueError(
                f"words must have at least {self.shortest} and at most {self.longest} letters; no word has"
            )
        for position, word in self.forced.items():
            if word.casefold() in self.forbidden:
                raise ValueError(f"{word!r} is forced at position {position} and forbidden; take back one of the two")

    def __bool__(self) -> bool:
        return self != Constraints(positions=self.positions)

    def apply(self, network: Network) -> Network:
        """The network without the alternatives that are not allowed; NetworkError where none is left."""
        for position in self.forced:
            if not 0 <= position < len(network):
                raise NetworkError(
                    f"a word is forced at position {position}, but the network has {len(network)}; choose 0 to "
                    f"{len(network) - 1}"
                )
        return replace(
            network, positions=tuple(self._keep(position, row) for position, row in enumerate(network.positions))
        )

    def _keep(self, position: int, row: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
        reasons = [self._refuse(position, one.word) for one in row]
        if all(reasons):
            words = ", ".join(repr(one.word) for one in row[:5]) + (", …" if len(row) > 5 else "")
            raise NetworkError(f"none of {words} is allowed: {reasons[0]}; relax the constraints", position)
        first = replace(row[0], score=-math.inf) if reasons[0] else row[0]
        return (first, *(one for one, reason in zip(row[1:], reasons[1:], strict=True) if not reason))

    def _refuse(self, position: int, word: str) -> str | None:
        """Why a word may not stand at a position, or None."""
        plain = word.casefold()
        if position in self.forced and plain != self.forced[position].casefold():
            return f"{self.forced[position]!r} is forced there"
        if self.positions is not None and position not in self.positions:
            return None
        if plain in self.forbidden:
            return f"{word!r} is forbidden"
        if not word:
            return None  # a position that is skipped has no letters
        if missing := [letter for letter in self.contain.casefold() if letter not in plain]:
            return f"{word!r} does not contain {missing[0]!r}"
        if found := [letter for letter in self.exclude.casefold() if letter in plain]:
            return f"{word!r} contains {found[0]!r}"
        if len(word) < self.shortest:
            return f"{word!r} has {len(word)} letters, and {self.shortest} are the least"
        if self.longest is not None and len(word) > self.longest:
            return f"{word!r} has {len(word)} letters, and {self.longest} are the most"
        return None


def check_budget(network: Network, budget: int) -> None:
    """Raise NetworkError if more positions have to change than may."""
    if network.spans:
        return  # which positions are covered depends on the choice
    changing = [number for number, row in enumerate(network.positions) if row[0].score == -math.inf]
    if len(changing) > budget:
        raise NetworkError(
            f"{len(changing)} positions may not keep their words (the first is {changing[0]}), but at most {budget} "
            "may change; allow more changes, or relax the constraints"
        )
