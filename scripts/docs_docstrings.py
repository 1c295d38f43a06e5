"""How docstrings are shown in the reference: an extension that mkdocstrings loads (see mkdocs.yml).

Docstrings here are prose. Two things in them mean more than Markdown would see: a line `name: what it is` describes a
parameter, and `>>>` begins an example.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

PARAMETERS = re.compile(r"^((?:\w+, )*\w+): \S")


def as_markdown(text: str) -> str:
    """A docstring with its parameters as a list and its examples as code."""
    return "\n\n".join(map(paragraph_as_markdown, re.split(r"\n\s*\n", text.strip("\n"))))


def paragraph_as_markdown(text: str) -> str:
    """One paragraph of a docstring."""
    lines = text.split("\n")
    if lines[0].startswith(">>> "):
        return "\n".join(["```pycon", *lines, "```"])
    shown: list[str] = []
    listed = False
    for line in lines:
        found = PARAMETERS.match(line)
        if found:
            if shown and not listed:
                shown.append("")
            line = f"- **{found[1]}**: {line[found.end() - 1 :]}"
            listed = True
        elif listed and not line.startswith(" "):
            line = f"    {line}"
        shown.append(line)
    return "\n".join(shown)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
