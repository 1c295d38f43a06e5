"""A word where it stands: what sources of candidates and filters are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discotext.text.words import Words

BEGINNING = frozenset('.!?:;…"“”«»()[]*>\n•')  # a word after one of these may have a capital without being a name


@dataclass(frozen=True)
class Place:
    """One word of a text, by number, with its tag (Penn Treebank).

    >>> from discotext.text.words import split
    >>> place = Place(split("A Good film."), ("DT", "JJ", "NN"), 1)
    >>> place.word, place.lower, place.tag, place.before(1), place.before(2)
    ('Good', 'good', 'JJ', 'a', '')
    """

    text: Words
    tags: tuple[str, ...]
    number: int

    @cached_property
    def word(self) -> str:
        return self.text.words[self.number]

    @cached_property
    def lower(self) -> str:
        return self.word.lower()

    @cached_property
    def tag(self) -> str:
        return self.tags[self.number]

    @property
    def next_tag(self) -> str:
        """The tag of the word after, where nothing but space lies between; else empty."""
        return self.tags[self.number + 1] if self.after(1) else ""

    @property
    def first(self) -> bool:
        """Whether a sentence, a line or a quotation begins here."""
        return self.number == 0 or any(sign in BEGINNING for sign in self.text.gaps[self.number])

    def before(self, steps: int) -> str:
        """The word so many steps before, in lower case; empty beyond the beginning or a mark."""
        return self._other(-steps)

    def after(self, steps: int) -> str:
        """The word so many steps after, likewise."""
        return self._other(steps)

    def _other(self, steps: int) -> str:
        there = self.number + steps
        if not 0 <= there < len(self.text):
            return ""
        gaps = self.text.gaps[min(self.number, there) + 1 : max(self.number, there) + 1]
        return self.text.words[there].lower() if all(gap.isspace() for gap in gaps) else ""
