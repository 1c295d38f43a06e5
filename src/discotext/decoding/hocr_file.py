"""Scanned text in hOCR, with alternatives.

A paragraph (`ocr_par`), or a line (`ocr_line`) outside any, is a network. The alternatives of a word are the elements
of class `alt` inside one of class `alternatives`, as the format has it: the first is the original, and `nlp` in a title
is the negative logarithm of its probability. A word (`ocrx_word`) without alternatives stands alone. Text lines end in
a line break.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from discotext.decoding.lines import Lines
from discotext.decoding.network import Alternative, Network, NetworkError

BLOCKS = ("ocr_par", "ocr_line")
EMPTY_TAGS = frozenset("area base br col embed hr img input link meta source track wbr".split())


@dataclass
class Block:
    """The words of a paragraph so far."""

    id: str
    rows: list[tuple[Alternative, ...]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    line_ended: bool = False

    def add(self, row: list[Alternative]) -> None:
        merged: dict[str, Alternative] = {}
        for one in row:
            if one.word and (one.word not in merged or one.score > merged[one.word].score):
                merged[one.word] = one
        if merged:
            self.gaps.append("\n" if self.line_ended and self.rows else " " if self.rows else "")
            self.rows.append(tuple(merged.values()))
            self.line_ended = False

    def network(self) -> Network:
        return Network(self.id, tuple(self.rows), (*self.gaps, ""))


class HocrParser(HTMLParser):
    """Collects the networks of a page as it is fed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, str]] = []  # tags with what they are: a block, a word, alternatives, one of them
        self.done: list[Network] = []
        self.block: Block | None = None
        self.row: list[Alternative] = []
        self.text, self.score, self.number = "", 0.0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes, inside = given.get("class", "").split(), {kind for _, kind in self.open}
        kind = ""
        if any(name in classes for name in BLOCKS) and "block" not in inside:
            kind, self.number = "block", self.number + 1
            self.block = Block(given.get("id") or str(self.number))
        elif "ocr_line" in classes:
            kind = "line"
        elif "alternatives" in classes:
            kind, self.row = "alternatives", []
        elif "alt" in classes and "alternatives" in inside:
            kind = "alt"
            self.text, self.score = "", read_property(given.get("title", ""), "nlp")
        elif "ocrx_word" in classes:
            kind, self.row = "word", []
            self.text, self.score = "", 0.0
        if tag not in EMPTY_TAGS:
            self.open.append((tag, kind))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        while self.open:
            name, kind = self.open.pop()
            self._close(kind)
            if name == tag:
                return

    def _close(self, kind: str) -> None:
        word = "".join(self.text.split())
        if kind == "alt":
            self.row.append(Alternative(word, -self.score))
            self.text = ""
        elif kind == "alternatives" and not any(other == "word" for _, other in self.open):
            self._add()
        elif kind == "word":
            if not self.row:
                self.row = [Alternative(word)]
            self._add()
        elif kind == "line" and self.block is not None:
            self.block.line_ended = True
        elif kind == "block" and self.block is not None:
            if self.block.rows:
                self.done.append(self.block.network())
            self.block = None

    def _add(self) -> None:
        if self.block is not None:
            self.block.add(self.row)
        self.row = []


def read_property(title: str, name: str) -> float:
    """A number in a title such as 'nlp 0.3; bbox 0 0 5 5'; 0 if it is not there."""
    found = re.search(rf"\b{name}\s+(\S+?)(?:;|\s|$)", title)
    if found is None:
        return 0.0
    try:
        value = float(found[1])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NetworkError(f"{name} is {found[1]!r} in the title {title[:60]!r}; expected a number")
    return value


def read_hocr(lines: Lines) -> Iterator[Network]:
    """The networks of a page, one at a time."""
    parser, found = HocrParser(), 0
    for line in lines:
        try:
            parser.feed(line)
        except NetworkError as error:
            raise lines.error(str(error)) from None
        found += len(parser.done)
        yield from parser.done
        parser.done = []
    if not found:
        raise lines.error("no words of class ocrx_word were found in a paragraph or line; is this hOCR?")
