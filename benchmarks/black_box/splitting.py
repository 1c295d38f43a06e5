"""Hostile texts: whatever words are chosen among those offered, the text that a model reads is split into just these.

Texts are made of brackets, ampersands, semicolons, entities, names of tags, apostrophes, hyphens and combining marks.
Words offered come from a synonym list that is as hostile. All choices of a text are tried, or 64 of many, as they are
and as a victim with merged words reads them.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable

import numpy as np

from benchmarks.black_box import Outcome, main
from discotext.text.candidates import Candidates
from discotext.text.merging import MergedWords
from discotext.text.sources import SynonymList
from discotext.text.space import Space
from discotext.text.words import split
from discotext.victims.encoded import Encoded
from discotext.victims.function import FunctionVictim

WORDS = (
    "big large strong b a u s center code table h1 lt gt amp quot nbsp apos x41 39 1234567 result default lagt xgt "
    "re-lt wörd word well-made don't éclair e\u0301clair I K ſ ŉ straſse BIG Lt film"
).split()
WORDS += ["w" * 120, "v" * 250]
OFFERED = [*WORDS, *"o.k. u.s. 24/7 'tis dash- &amp; <b> lt; #39; of-".split(), "of course", "", "&", "a b"]
SPACES = [" ", " ", " ", "\n", "\t", ", ", ". ", " – ", "😀"]
MARKS = ["<", ">", "</", "/>", "< ", "&", "#", ";", "; ", "&#", "lt;", "&lt;", "gt;", "&gt;", "/", "_", "-", "'", "’"]
MARKS += ["(", ")", "\u0301", "‐", "", "&lt; ", " lt;", "lt; /", '="', '" ']
TAGS = "b big strong center code table a u s h1".split()
# A tag may be too long, or contain what looks like the opening of another.
ATTRIBUTES = ["word", "result;", "film", "w" * 120, "v" * 250, "lagt;", "default; x", 'large="b"']
MOST = 64  # choices of a text


def make_text(rng: np.random.Generator) -> str:
    """A text of up to a dozen words; in a third of the texts some stand where the attributes of a tag would."""
    parts = [_gap(rng)]
    for _ in range(int(rng.integers(1, 8))):
        parts += [str(rng.choice(WORDS)), _gap(rng)]
    if rng.random() < 0.3:
        opening, closing = rng.choice([("<", ">"), ("&lt;", "&gt;"), ("lt;", "gt;"), ("</", "/>"), ("< ", " >")])
        inside = " ".join(rng.choice(ATTRIBUTES, int(rng.integers(1, 4))))
        parts.append(f"{opening}{rng.choice([*TAGS, 'large', 'wörd'])} {inside}{closing}{_gap(rng)}")
    return "".join(parts)


def _gap(rng: np.random.Generator) -> str:
    kind = MARKS if rng.random() < 0.4 else SPACES
    return "".join(rng.choice(kind, int(rng.integers(1, 3))))


def run(tries: int, seed: int) -> Outcome:
    """Check so many choices."""
    rng = np.random.default_rng(seed)
    done, failures = 0, list[str]()
    while done < tries:
        listed = {word: [str(one) for one in rng.choice(OFFERED, 5)] for word in sorted({w.lower() for w in WORDS})}
        candidates = Candidates(SynonymList(listed), filters=(), limit=5)
        texts = [make_text(rng) for _ in range(100)]
        space = Space.of(texts, candidates, share=1)
        codes = rng.choice([word.lower() for word in OFFERED], 3).tolist()
        merged = MergedWords({word: word if word in codes else str(rng.choice(codes)) for word in listed})
        encoded = _encode(space, merged)
        for number, text in enumerate(space.texts):
            for choice in _choose(space, number, rng):
                done += 1
                written, words = space.text(number, choice), space.words(number, choice)
                if split(written).words != words or split(written).gaps != text.gaps:
                    failures.append(f"{written!r} is not split into {words}")
                if split(merged(written)).words != encoded.words(number, choice):
                    failures.append(f"{merged(written)!r} is not {encoded.words(number, choice)}")
    return Outcome("splitting", done, tuple(failures))


def _encode(space: Space, merged: MergedWords) -> Space:
    """The search space that the victim behind merged words gets."""
    seen: list[Space] = []

    class Inner(FunctionVictim):
        def oracle(self, space, objective):  # type: ignore[no-untyped-def]
            seen.append(space)
            return super().oracle(space, objective)

    Encoded(Inner(lambda texts: [[0.0, 1.0]] * len(texts)), merged).oracle(space, None)  # type: ignore[arg-type]
    return seen[0]


def _choose(space: Space, number: int, rng: np.random.Generator) -> Iterable[list[int]]:
    counts = [len(words) for words in space.options[number]]
    if math.prod(counts) <= MOST:
        return map(list, itertools.product(*map(range, counts)))
    return ([int(rng.integers(count)) for count in counts] for _ in range(MOST))


if __name__ == "__main__":
    sys.exit(main(run, 250_000, __doc__ or ""))
