"""Confusion tables: what a writer or a machine is known to mistake for what.

    wrong<TAB>right[<TAB>count]     one pair on each line; the count tells how often it was seen
    wrong->right, right             as in the dictionary of codespell; a trailing comma or comment is allowed

Empty lines and lines that start with # are skipped. Words are compared in lower case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from discotext.data.texts import read_file
from discotext.language.sentences import normalise


def read_confusions(paths: Iterable[str | Path]) -> dict[str, dict[str, float]]:
    """Read tables: of each wrong word its right ones, with the share of each. A wrong line is refused."""
    counts: dict[str, dict[str, float]] = {}
    for path in paths:
        for number, line in enumerate(read_file(path), start=1):
            text = line.rstrip("\r\n")
            if text.strip() and not text.startswith("#"):
                for wrong, right, count in _parse(text, f"{path}, line {number}"):
                    rights = counts.setdefault(wrong, {})
                    rights[right] = rights.get(right, 0.0) + count
    return share_counts(counts)


def share_counts(counts: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Counts as shares that sum to 1 for each wrong word.

    >>> share_counts({"teh": {"the": 3.0, "ten": 1.0}})
    {'teh': {'the': 0.75, 'ten': 0.25}}
    """
    return {
        wrong: {right: count / sum(rights.values()) for right, count in rights.items()}
        for wrong, rights in counts.items()
    }


def _parse(text: str, where: str) -> list[tuple[str, str, float]]:
    if "\t" in text:
        fields = text.split("\t")
        if len(fields) not in (2, 3):
            raise ValueError(f"{where}: there are {len(fields)} fields; expected wrong, right and perhaps a count")
        try:
            count = float(fields[2]) if len(fields) == 3 else 1.0
        except ValueError:
            raise ValueError(f"{where}: the count is {fields[2][:40]!r}; expected a number") from None
        if not 0 < count < float("inf"):
            raise ValueError(f"{where}: the count is {fields[2]}; expected a number above 0")
        pairs = [(fields[0], fields[1], count)]
    elif "->" in text:
        wrong, _, rights = text.partition("->")
        # A last part after a comma, with several words, is a comment of codespell's.
        pairs = [(wrong, right, 1.0) for right in rights.split(",") if right.strip()]
    else:
        raise ValueError(f"{where}: {text[:40]!r} is neither `wrong<TAB>right` nor `wrong->right`; write one of them")
    tidy = [(normalise(wrong.strip().lower()), normalise(right.strip().lower()), n) for wrong, right, n in pairs]
    return [(wrong, right, n) for wrong, right, n in tidy if wrong and right and wrong != right]
