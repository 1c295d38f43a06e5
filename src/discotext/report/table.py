"""A table as one value, and its writers: lines of text for a terminal and for `repr`, and HTML for pages and notebooks.

A cell is a value, not a text: a number, an estimate with its interval, a word, or None where there is nothing to say.
The column knows how it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discotext.report.markup import Markup, element
from discotext.report.terms import explain
from discotext.support.plain_text import align, interval, percent

GAP = 2  # spaces between two columns of text
# For notebooks, whose viewers differ in what they do with a style sheet. Letters keep the colour of the theme.
CELL = "text-align: right; padding: 0.2em 0.8em; white-space: nowrap"
# Said, because pages of an old mode do not hand their colour down to tables.
TABLE = "border-collapse: collapse; margin: 0 0 0.6em 0; color: inherit"


def points(value: float) -> str:
    """A difference of shares in percentage points.

    >>> points(-0.1234), points(0.0)
    ('−12.3', '0.0')
    """
    shown = f"{100 * value:.1f}"
    return ("0.0" if float(shown) == 0 else shown).replace("-", "−")


def write_percent(value: float | None, digits: int = 1) -> str:
    """A share in percent for a page: the space does not break, so that no line begins with a percent sign."""
    return percent(value, digits).replace(" ", "\u00a0")


@dataclass(frozen=True)
class Column:
    """A column: its heading, its cells, and how a cell is written.

    rank: where there is too little room, columns with the highest rank are left out first; those of rank 0 never.
    ends: writes the interval of an estimate; None where it is not shown.
    """

    heading: str
    cells: Sequence[Any]
    write: Callable[[Any], str] = str
    rank: int = 0
    ends: Callable[[Any], str] | None = None

    @property
    def texts(self) -> list[str]:
        return ["–" if cell is None else self.write(cell) for cell in self.cells]

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, *self.texts)))

    def as_cells(self, tag: str = "td", **attributes: Any) -> list[Markup]:
        """The cells of HTML: each number for readers, with the exact one for programs, and its interval."""
        found = []
        for value, text in zip(self.cells, self.texts, strict=True):
            shown: Any = value if isinstance(value, Markup) else text.replace(" %", "\u00a0%")
            if isinstance(value, int | float):
                shown = element("data", shown, value=repr(value))
            ends = None if self.ends is None or value is None else element("small", self.ends(value), class_="interval")
            found.append(element(tag, shown, ends, **attributes))
        return found


@dataclass(frozen=True)
class Table:
    """Columns of equal length under a title. The first column names the rows, and is aligned to the left."""

    title: str
    columns: Sequence[Column]

    def only(self, *headings: str) -> Table:
        """The table with these columns alone."""
        return replace(self, columns=[column for column in self.columns if column.heading in headings])

    def without(self, *headings: str) -> Table:
        return replace(self, columns=[column for column in self.columns if column.heading not in headings])

    @property
    def spread(self) -> Table:
        """The table with a column of intervals after each column that has some: text has no small print."""
        found: list[Column] = []
        for column in self.columns:
            found.append(replace(column, ends=None))
            if column.ends is not None:
                found.append(Column("(95 %)", column.cells, column.ends, column.rank + 1))
        return replace(self, columns=found)

    def fit(self, width: int) -> Table:
        """The table with the most important columns, as many as there is room for, in their order.

        >>> columns = [Column("solver", ["disco"]), Column("s/text", ["0.1"], rank=2), Column("after", ["1"], rank=1)]
        >>> [column.heading for column in Table("", columns).fit(14).columns]
        ['solver', 'after']
        """
        kept = list(self.columns)
        while sum(column.width + GAP for column in kept) - GAP > width and any(column.rank for column in kept):
            kept.remove(max(reversed(kept), key=lambda column: column.rank))
        return replace(self, columns=kept)

    @property
    def lines(self) -> list[str]:
        """The headings and rows as lines of text."""
        texts = [column.texts for column in self.columns]
        return align([[column.heading for column in self.columns], *zip(*texts, strict=True)])

    def as_html(self, best: int | None = None) -> Markup:
        """The table for a page; it scrolls by itself where the page is too narrow. best: the row to be marked."""
        names, *rest = self.columns
        cells = [names.as_cells("th", scope="row"), *(column.as_cells() for column in rest)]
        rows = [
            element("tr", *row, class_="best" if number == best else None)
            for number, row in enumerate(zip(*cells, strict=True))
        ]
        headings = [element("th", explain(column.heading), scope="col") for column in self.columns]
        caption = element("caption", element("span", self.title))
        whole = element("table", caption, element("thead", element("tr", *headings)), element("tbody", *rows))
        return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Table")

    def as_notebook(self) -> Markup:
        """The table for a notebook, with styles in its elements."""
        shown = self.spread.columns
        head = element("tr", *(element("th", column.heading, style=CELL, scope="col") for column in shown))
        texts = zip(*(column.texts for column in shown), strict=True)
        rows = [element("tr", *(element("td", text, style=CELL) for text in row)) for row in texts]
        return element("table", element("thead", head), element("tbody", *rows), style=TABLE)


def share(heading: str, cells: Sequence[Any], rank: int = 0, between: bool = False) -> Column:
    """A column of shares. between: whether their intervals are shown."""
    return Column(heading, cells, percent, rank, interval if between else None)


def count(heading: str, cells: Sequence[Any], rank: int = 0, digits: int = 0) -> Column:
    """A column of numbers."""
    return Column(heading, cells, lambda value: f"{value:,.{digits}f}", rank)
