"""Texts with known spelling errors, from DISCOTEXT_DATA/decode, in one form for all correctors.

holbrook    essays of pupils with tagged errors, non-words and real words
jfleg       sentences of learners: an error is a word that the published spell-checked version changes and a human
            rewrite changes, too; right is what any of the four rewrites has in its place
ocr_acl     paragraphs of scanned papers with the right text beside them
imdb, ag_news   test texts, taken to be right as they are (which not all are)
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discotext.data.registry import load_split
from discotext.decoding.channel import align
from discotext.text.sentences import normalise
from discotext.text.words import split

TAG = re.compile(r"<ERR targ=(.*?)>\s*(.*?)\s*</ERR>")
FOLDS = 10


@dataclass(frozen=True)
class Gold:
    """What is right in place of some words. start, end: words. right: in lower case. error: whether it must change."""

    start: int
    end: int
    right: frozenset[str]
    error: bool


@dataclass(frozen=True)
class Labelled:
    """A text, what is right in it, the right texts as a whole, and the fold it belongs to."""

    text: str
    gold: tuple[Gold, ...]
    truths: tuple[str, ...]
    fold: int


def folder() -> Path:
    return Path(os.environ["DISCOTEXT_DATA"]) / "decode"


def lower_words(text: str) -> list[str]:
    return [normalise(word) for word in split(text).lower]


def read_holbrook() -> list[Labelled]:
    """Lines of essays. Folds are runs of lines, so that an essay is in one fold or two."""
    found = []
    lines = (folder() / "holbrook" / "developers.dat").read_text().split("\n")
    lines = [line for line in lines if line.strip() and not re.fullmatch(r"\d+\.\s*", line)]
    lines = [line for line in lines if not (" page" in line and line.split(" page")[0].strip().isupper())]
    for number, line in enumerate(lines):
        text, spans, at = "", [], 0
        for match in TAG.finditer(line):
            text += line[at : match.start()]
            spans.append((len(text), len(text) + len(match[2]), match[1]))
            text += match[2]
            at = match.end()
        text += line[at:]
        gold = []
        for start, end, right in spans:
            inside = [place for place, (a, b) in enumerate(split(text).spans()) if a < end and b > start]
            if inside:
                gold.append(Gold(inside[0], inside[-1] + 1, frozenset([normalise(right.lower().strip())]), True))
        truth = TAG.sub(lambda match: match[1], line)
        found.append(Labelled(text, tuple(gold), (truth,), number * FOLDS // len(lines)))
    return found


def pair_words(first: list[str], second: list[str]) -> list[str | None]:
    """For each word of the first text the word of the second that stands in its place, or None. Similar words pair."""
    known: dict[tuple[str, str], float] = {}

    def cost(a: str, b: str) -> float:
        if (a, b) not in known:
            known[a, b] = 0.0 if a == b else 0.6 + 0.6 * min(1.0, len(align(a, b)) / max(len(a), len(b)))
        return known[a, b]

    table = np.zeros((len(first) + 1, len(second) + 1))
    table[:, 0], table[0] = np.arange(len(first) + 1), np.arange(len(second) + 1)
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            both = table[i - 1, j - 1] + cost(first[i - 1], second[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, both)
    found: list[str | None] = [None] * len(first)
    i, j = len(first), len(second)
    while i and j:
        if table[i, j] == table[i - 1, j - 1] + cost(first[i - 1], second[j - 1]):
            found[i - 1] = second[j - 1]
            i, j = i - 1, j - 1
        elif table[i, j] == table[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return found


def read_jfleg() -> list[Labelled]:
    where = folder() / "jfleg"
    sources, checked, *rewrites = (
        (where / name).read_text().splitlines()
        for name in ("dev.src", "dev.spellchecked.src", "dev.ref0", "dev.ref1", "dev.ref2", "dev.ref3")
    )
    found = []
    for number, text in enumerate(sources):
        words = lower_words(text)
        flagged = pair_words(words, lower_words(checked[number]))
        others = [pair_words(words, lower_words(rewrite[number])) for rewrite in rewrites]
        gold = []
        for place, word in enumerate(words):
            right = {one[place] for one in others} - {None, word}
            if right:
                plain = frozenset(one for one in right if one is not None)
                gold.append(Gold(place, place + 1, plain, flagged[place] != word))
        truths = tuple(rewrite[number] for rewrite in rewrites)
        found.append(Labelled(text, tuple(gold), truths, number * FOLDS // len(sources)))
    return found


def read_ocr() -> list[Labelled]:
    where = folder() / "ocr_acl"
    pairs = zip(
        (where / "development_ocr.txt").read_text().splitlines(),
        (where / "development_correct.txt").read_text().splitlines(),
        strict=True,
    )
    return [Labelled(text, (), (truth,), number % FOLDS) for number, (text, truth) in enumerate(pairs)]


def write_ocr_table(path: Path) -> None:
    """The pairs of ocr-errors.txt that are words, as a table for --confusions."""
    with (folder() / "ocr_acl" / "ocr-errors.txt").open(encoding="utf-8", errors="replace") as source:
        rows = [line.rstrip("\n").split("\t") for line in source]
    kept = [row for row in rows if len(row) == 3 and all(split(one).words == (one,) for one in row[:2])]
    path.write_text("".join("\t".join(row) + "\n" for row in kept))


def read_clean(name: str, texts: int) -> list[Labelled]:
    """The last test texts. Rules and the margin were chosen with an eye on the first ones, which are left out."""
    return [Labelled(text, (), (text,), 0) for text in load_split(name, "test").texts[-texts:]]
