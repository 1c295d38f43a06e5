"""Tables and pictures of the side-by-side benchmark, from its results alone.

python -m benchmarks.peers.tables            prints the tables, draws the pictures, writes the docs
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.cells import CELLS, title
from benchmarks.peers.plots import draw_all
from benchmarks.results_file import PICTURES, RESULTS
from benchmarks.tables import origin, put, table
from discotext.runs.summary import mcnemar_of_pairs

Row = dict[str, Any]
HEROES = ("disco", "disco-high")


def read(results: Path, name: str) -> list[Row]:
    path = results / f"{name}.jsonl"
    if not path.exists():
        raise ValueError(f"there is no {path}; make it by python -m benchmarks.peers.report")
    return [json.loads(line) for line in path.read_text().splitlines()]


def matrix(rows: Sequence[Row], shown: Callable[[Row], str], before: Callable[[Row], str] | None = None) -> str:
    """Searches down, cells across. before: what stands in a first line, for the cell as a whole."""
    cells = [cell for cell in CELLS if any(row["cell"] == cell for row in rows)]
    searches = list(dict.fromkeys(sorted((row["search"] for row in rows), key=lambda name: "textattack" in name)))
    found = {(row["search"], row["cell"]): row for row in rows}
    full = {cell: max((row for row in rows if row["cell"] == cell), key=lambda row: int(row["n"])) for cell in cells}
    lines = []
    if before is not None:
        lines.append(["texts", *(str(full[cell]["n"]) for cell in cells)])
        lines.append(["before", *(before(full[cell]) for cell in cells)])
    for search in searches:
        line = [f"`{search}`"]
        for cell in cells:
            row = found.get((search, cell))
            few = "" if row is None or row["n"] == full[cell]["n"] else f" ({row['n']} texts)"
            line.append("" if row is None else shown(row) + few + ("" if row["verified"] else " (not verified)"))
        lines.append(line)
    return table(["search", *map(title, cells)], lines)


def two_digits(value: float) -> str:
    """Two significant digits, without an exponent: a third would be noise on a machine that is shared.

    >>> two_digits(169.7), two_digits(0.00188)
    ('170', '0.0019')
    """
    return f"{float(f'{value:.2g}'):,g}"


def accuracy(rows: Sequence[Row]) -> str:
    def share(row: Row, name: str) -> str:
        return f"{100 * row[name]:.1f}"

    return matrix(rows, lambda row: share(row, "adversarial_accuracy"), lambda row: share(row, "original_accuracy"))


def passes(rows: Sequence[Row]) -> str:
    """Forwards and backwards for each text attacked; in brackets what that is in forwards, where gradients are used."""

    def shown(row: Row) -> str:
        per = max(row["attacked"], 1)
        plain = f"{(row['forwards'] + row['backwards']) / per:,.0f}"
        return f"{plain} ({row['forward_equivalents'] / per:,.0f})" if row["backwards"] else plain

    return matrix(rows, shown)


def seconds(rows: Sequence[Row]) -> str:
    return matrix(rows, lambda row: two_digits(row["seconds"] / max(row["attacked"], 1)))


def inside(rows: Sequence[Row]) -> str:
    """The share of the time that is the victim's, in percent."""
    return matrix(rows, lambda row: f"{100 * row['victim_seconds'] / row['seconds']:.0f}")


def words(rows: Sequence[Row]) -> str:
    return matrix(rows, lambda row: "" if row["words_changed"] is None else f"{row['words_changed']:.2f}")


RATIOS = {
    "passes, `greedy` ÷ `disco`": ("passes", "greedy", "disco"),
    "passes, `greedy` ÷ `disco-high`": ("passes", "greedy", "disco-high"),
    "forward-equivalents, `textattack-greedy` ÷ `disco`": ("work", "textattack-greedy", "disco"),
    "seconds, `textattack-greedy` ÷ `disco`": ("seconds", "textattack-greedy", "disco"),
    "seconds, `textattack-greedy-dynamic` ÷ `disco`": ("seconds", "textattack-greedy-dynamic", "disco"),
    "seconds, `textattack-wir-delete` ÷ `disco`": ("seconds", "textattack-wir-delete", "disco"),
    "seconds, `textattack-wir-gradient` ÷ `disco`": ("seconds", "textattack-wir-gradient", "disco"),
    "seconds, `textattack-greedy` ÷ our `greedy`": ("seconds", "textattack-greedy", "greedy"),
    "seconds, `textattack-beam` ÷ our `beam`": ("seconds", "textattack-beam", "beam"),
}


def cost(row: Row, what: str) -> float:
    """What a text attacked costs: passes, passes with gradients by their weight, or seconds."""
    sums = {
        "passes": row["forwards"] + row["backwards"],
        "work": row["forward_equivalents"],
        "seconds": row["seconds"],
    }
    return float(sums[what]) / max(int(row["attacked"]), 1)


def ratios(rows: Sequence[Row]) -> str:
    """Cost ratio, other ÷ ours, cell by cell; and the share of our time that is spent inside the victim."""
    cells = [cell for cell in CELLS if any(row["cell"] == cell for row in rows)]
    found = {(row["search"], row["cell"]): row for row in rows}
    lines = []
    for shown, (what, other, ours) in RATIOS.items():
        both = [(found.get((other, cell)), found.get((ours, cell))) for cell in cells]
        if any(first and second for first, second in both):
            values = [cost(first, what) / cost(second, what) if first and second else None for first, second in both]
            lines.append([shown, *("" if value is None else two_digits(value) for value in values)])
    for hero in HEROES:
        mine = [found.get((hero, cell)) for cell in cells]
        shares = ("" if row is None else f"{100 * row['victim_seconds'] / row['seconds']:.0f} %" for row in mine)
        lines.append([f"time of `{hero}` inside the victim", *shares])
    return table(["", *map(title, cells)], lines)


def p_value(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided.

    >>> p_value(0, 5), p_value(3, 3)
    (0.0625, 1.0)
    """
    return mcnemar_of_pairs([(True, False)] * only_first + [(False, True)] * only_second)


def pairs(texts: Iterable[Mapping[str, Any]], hero: str, least: int = 1) -> list[list[str]]:
    """One of ours against every other search, over all texts that both attacked and that allow so many changes."""
    found: dict[str, list[int]] = {}
    for text in texts:
        tried = text["searches"]
        if hero not in tried or not text["right"] or text["budget"] < least:
            continue
        mine = tried[hero]
        for search, (broken, changed, *_) in tried.items():
            counts = found.setdefault(search, [0, 0, 0, 0, 0])
            counts[0] += 1
            counts[1] += mine[0] > broken
            counts[2] += broken > mine[0]
            if broken and mine[0]:
                counts[3] += mine[1]
                counts[4] += changed
    return [
        [
            f"`{hero}`",
            f"`{search}`",
            str(n),
            str(only),
            str(other),
            f"{p_value(only, other):.2g}",
            f"{100 * (ours / theirs - 1):+.1f} %" if theirs else "",
        ]
        for search, (n, only, other, ours, theirs) in sorted(found.items(), key=lambda item: "textattack" in item[0])
        if search != hero
    ]


def against(texts: Sequence[Mapping[str, Any]]) -> str:
    head = ["ours", "against", "texts", "only ours flips", "only the other flips", "p", "words changed, both flip"]
    return table(head, [line for hero in HEROES for line in pairs(texts, hero)])


def blocks(rows: Sequence[Row], texts: Sequence[Row]) -> list[tuple[Path, str, str]]:
    """(page, marker, text) of what these results say in the docs."""
    page = PICTURES.parent / "benchmarks" / "textattack.md"
    measured = origin("peers", rows)
    tables = {
        "accuracy": accuracy(rows),
        "passes": passes(rows),
        "seconds": seconds(rows),
        "ratios": ratios(rows),
        "pairs": against(texts),
    }
    return [(page, f"peers-{name}", f"{text}\n\n{measured}") for name, text in tables.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    options = parser.parse_args()
    try:
        rows, every = read(options.results, "peers"), read(options.results, "peers_texts")
    except ValueError as error:
        raise SystemExit(str(error)) from None
    for heading, text in (
        ("Accuracy left, %", accuracy(rows)),
        ("Passes for each text attacked (in brackets forward-equivalents)", passes(rows)),
        ("Seconds for each text attacked", seconds(rows)),
        ("Of these inside the victim, %", inside(rows)),
        ("Cost ratio, other ÷ ours", ratios(rows)),
        ("Words changed where the text was broken", words(rows)),
        ("Text by text, all cells together", against(every)),
    ):
        print(f"\n{heading}\n\n{text}")
    draw_all(rows, every, options.pictures)
    if options.results == RESULTS:
        for page, name, text in blocks(rows, every):
            put(page, name, text)


if __name__ == "__main__":
    main()
