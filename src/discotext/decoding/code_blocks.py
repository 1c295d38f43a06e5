"""Blocks of code in plain text and Markdown: between fences, or indented after an empty line.

A text may come line by line, so what is known at the end of one piece holds at the start of the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Span = tuple[int, int]

# Three or more backticks or tildes, perhaps in a quotation or a list; backticks later on the line make it inline code.
FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,})[^`]*|(~{3,}).*)$", re.DOTALL)
INDENTED = re.compile(r"(?: {4}| {0,3}\t)")


@dataclass
class CodeBlocks:
    r"""Finds code in the pieces of one text, given in their order.

    >>> blocks = CodeBlocks()
    >>> blocks.read("so:\n```\nx = 1\n"), blocks.read("y = 2\n"), blocks.read("```\n"), blocks.read("done\n")
    ([(4, 14)], [(0, 6)], [(0, 4)], [])
    """

    fence: str = ""  # what opened the block that a piece begins in
    indented: bool = False  # whether the last line that is not empty was indented code
    empty: bool = False  # whether the last line was empty
    broken: bool = False  # whether the last piece ended within a line
    inside: bool = False  # whether the last line was code

    def read(self, text: str) -> list[Span]:
        """The characters of the next piece that are code, as spans in their order."""
        found: list[Span] = []
        at = 0
        for line in re.split(r"(?<=\n)", text):
            if not line:
                continue
            if not self.broken:
                self.inside = self._is_code(line)
            self.broken = not line.endswith("\n")
            if self.inside:
                start = found.pop()[0] if found and found[-1][1] == at else at
                found.append((start, at + len(line)))
            at += len(line)
        return found

    def _is_code(self, line: str) -> bool:
        match = FENCE.match(line)
        if self.fence:
            bare = line.strip(" \t\r\n>")
            # As many of the same sign, and nothing else, end a block.
            if len(bare) >= len(self.fence) and not bare.strip(self.fence[0]):
                self.fence, self.empty, self.indented = "", False, False
            return True
        if match:
            self.fence = match[1] or match[2]
            return True
        if not line.strip():
            self.empty = True
            return self.indented
        self.indented = bool(INDENTED.match(line)) and (self.empty or self.indented)
        self.empty = False
        return self.indented
