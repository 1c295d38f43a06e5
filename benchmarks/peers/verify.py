"""Verify every record with code that neither search uses.

    python -m benchmarks.peers.verify --out peers-run --victims victims

The text is read from the data again and the returned string is split again. Only words may differ, at most m of them (m
is computed again), each replaced by a word of the published list that the victim knows. A freshly loaded victim scores
both strings: it must classify the original correctly, and the result incorrectly if and only if the record says so. A
text that was misclassified before must be returned unchanged.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.peers.cells import CELLS, Cell
from benchmarks.peers.records import Folder, Key, Record
from benchmarks.peers.texts import Split, neighbours
from discotext.data import load_data
from discotext.text.words import split
from discotext.victims import load_victim

FINE = ""
CALL = 64  # batch size of the victim


@dataclass(frozen=True)
class Rules:
    """What may replace what. listed: candidates of words in lower case. known: whether the victim knows a word."""

    listed: Mapping[str, set[str]]
    known: Callable[[str], bool]

    def allow(self, old: str, new: str) -> bool:
        return new.lower() in self.listed.get(old.lower(), set()) and self.known(new)


def published(path: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for word, listed in json.loads(path.read_text(encoding="utf-8")).items():
        found.setdefault(word.lower(), set()).update(other.lower() for other in listed)
    return found


def most(words: int, share: str | None, number: int | None) -> int:
    """The number of words that may change: the number, or the share rounded down but at least one.

    >>> most(30, "0.1", None), most(29, "0.1", None), most(9, "0.1", None), most(2, None, 3)
    (3, 2, 1, 2)
    """
    if number is not None:
        return min(number, words)
    part = Fraction(share or "nan") * words
    return min(words, max(1, part.numerator // part.denominator))


def changes(original: str, returned: str, rules: Rules) -> int | str:
    """The number of changed words, or what is wrong."""
    before, after = split(original), split(returned)
    if before.gaps != after.gaps:
        return "something other than words has changed"
    pairs = [(old, new) for old, new in zip(before.words, after.words, strict=True) if old != new]
    wrong = [(old, new) for old, new in pairs if not rules.allow(old, new)]
    return f"{wrong[0][1]!r} is not a candidate of {wrong[0][0]!r}" if wrong else len(pairs)


def verdict(
    record: Record, cell: Cell, original: str, label: int, rules: Rules, predicted: Callable[[str], int]
) -> str:
    """What is wrong with a record, or an empty string. predicted: the victim's class of a string."""
    m = most(len(split(original).words), cell.share, cell.words)
    changed = changes(original, record["text"], rules)
    right = predicted(original) == label
    if record["label"] != label or record["budget"] != m:
        return f"label {record['label']} and m {record['budget']}, but they are {label} and {m}"
    if (record["predicted"] == label) != right:
        return (
            f"the record says the victim was {'right' if record['predicted'] == label else 'wrong'} before; it was not"
        )
    if isinstance(changed, str):
        return changed
    if changed != record["changes"] or changed > m:
        return f"{changed} words changed, of {m} allowed; the record says {record['changes']}"
    if not right:
        return FINE if not changed and not record["broken"] else "attacked although it was misclassified before"
    wrong_now = predicted(record["text"]) != label
    if wrong_now != record["broken"]:
        return f"the victim is {'wrong' if wrong_now else 'right'} about the text, the record says otherwise"
    return FINE


class Predictions:
    """The victim's classes of strings, each computed once."""

    def __init__(self, victim: Any, texts: Iterable[str]) -> None:
        every = sorted(set(texts), key=len)
        self.found: dict[str, int] = {}
        for start in range(0, len(every), CALL):
            some = every[start : start + CALL]
            self.found |= zip(some, victim.scores(some).argmax(axis=1).tolist(), strict=True)

    def __call__(self, text: str) -> int:
        return self.found[text]


def verdicts(records: Mapping[Key, Record], split: Split, victims: Path) -> dict[Key, str]:
    """What is wrong with each record of a run; an empty string if nothing is."""
    listed, found = published(neighbours()), {}
    for cell in CELLS.values():
        mine = {key: record for key, record in records.items() if key[0] == cell.name}
        if not mine:
            continue
        kind, _, name = cell.victim.rpartition(":")
        victim: Any = load_victim(f"{kind}:{victims / name}" if kind else str(victims / name))
        vocabulary = getattr(victim, "vocabulary", None)
        rules = Rules(listed, lambda word, known=vocabulary: known is None or word in known)  # type: ignore[misc]
        data = load_data(cell.data, split)
        asked = {data.texts[record["id"]] for record in mine.values()} | {one["text"] for one in mine.values()}
        predicted = Predictions(victim, asked)
        for key, record in mine.items():
            row = record["id"]
            found[key] = verdict(record, cell, data.texts[row], int(data.labels[row]), rules, predicted)
    return found


def tell(found: Mapping[Key, str]) -> int:
    """Print what is wrong; returns the number of wrong records."""
    wrong = {key: what for key, what in found.items() if what}
    for key, what in wrong.items():
        print(*key, what, sep="\t", file=sys.stderr)
    held = Counter(key[0] for key in found if key not in wrong)
    print(f"{len(found) - len(wrong)} of {len(found)} records hold ({dict(held)})", file=sys.stderr)
    return len(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("peers-run"))
    parser.add_argument("--victims", type=Path, default=Path("victims"))
    options = parser.parse_args()
    folder = Folder(options.out)
    try:
        sys.exit(1 if tell(verdicts(folder.records(), folder.settings["split"], options.victims)) else 0)
    except ValueError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
