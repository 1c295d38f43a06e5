"""Charts as SVG: drawn by hand, coloured by `chart.css`, readable without colour.

A chart is drawn in its own units and scaled to the width of the page; the style makes its letters larger on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discotext.report.markup import Markup, element, join, read_resource
from discotext.support.files import write_atomically

WIDE, HIGH = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 12, 52
STYLES = 6  # kinds of line the style knows; with more solvers they come round again
ROW = 20  # the height of a line of the legend
# The colours of a picture without a page, which a notebook may show on any background.
COLOURS = (
    "svg { --paper: #fff; --ink: #1d1f23; --quiet: #5b606a; --line: #dedbd4; --accent: #1a56b8; --sans: sans-serif }"
)


@dataclass(frozen=True)
class Point:
    """A share with its interval, at a budget. low and high are the same as y where nothing is uncertain."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Chart:
    """A picture for a page or a notebook, which can be saved. label: what it shows, for those who cannot see it."""

    label: str
    content: Markup
    high: float

    def __repr__(self) -> str:
        return f"Chart({self.label!r})"

    def as_html(self) -> Markup:
        """The chart for a page, which has its style."""
        size = {"width": WIDE, "height": self.high, "viewbox": f"0 0 {WIDE} {self.high}"}
        return element("svg", self.content, **size, role="img", aria_label=self.label, class_="chart")

    def _repr_svg_(self) -> str:
        return element(
            "svg", element("style", Markup(COLOURS), read_resource("chart.css")),
            element("rect", width=WIDE, height=self.high, fill="#fff"), self.content,
            xmlns="http://www.w3.org/2000/svg", viewbox=f"0 0 {WIDE} {self.high}", width=WIDE, height=self.high,
            class_="chart",
        )  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the picture into an .svg file, and return where."""
        write_atomically(Path(path), self._repr_svg_())
        return Path(path)


def draw_curve(series: dict[str, list[Point]], ticks: Sequence[tuple[float, str]], axis: str) -> Chart:
    """Accuracy by budget, a line for each solver. ticks: where on the x axis which words stand. axis: its name."""
    right = 1.03 * max(x for x, _ in ticks) or 1.0

    def place(value: float) -> float:
        return round(LEFT + value / right * (WIDE - LEFT - RIGHT), 1)

    drawn = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawn.append(_line(LEFT, _height(share), WIDE - RIGHT, _height(share), "grid" if share else "axis"))
        drawn.append(_text(LEFT - 8, _height(share) + 4, f"{100 * share:.0f} %", "end"))
    last = -100.0
    for x, text in ticks:
        drawn.append(_line(place(x), _height(0), place(x), _height(0) + 4, "axis"))
        # Budgets may stand close together; better a tick without a number than two numbers in one place.
        if place(x) - last >= 46:
            drawn.append(_text(place(x), _height(0) + 20, text, "middle"))
            last = place(x)
    drawn.append(_text((LEFT + WIDE - RIGHT) / 2, HIGH - 6, axis, "middle"))
    for number, (name, points) in enumerate(series.items()):
        # Intervals of several solvers would cover each other: each stands a little aside.
        aside = (number - (len(series) - 1) / 2) * min(5.0, 24 / len(series))
        places = [round(place(point.x) + (aside if point.x else 0), 1) for point in points]
        drawn.append(_series(number, list(zip(places, points, strict=True))))
        y = HIGH + ROW * number + 8
        sample = element("polyline", points=f"{LEFT},{y} {LEFT + 32},{y}")
        drawn.append(element("g", sample, _mark(LEFT + 16, y), class_=f"series s{number % STYLES}"))
        drawn.append(_text(LEFT + 40, y + 4, name, "start"))
    label = f"Accuracy of the victim by {axis}, for {', '.join(series)}"
    return Chart(label, join(*drawn), HIGH + ROW * len(series))


def _series(number: int, places: Sequence[tuple[float, Point]]) -> Markup:
    parts = [element("polyline", points=" ".join(f"{x},{_height(point.y)}" for x, point in places))]
    for x, point in places:
        if point.high > point.low:
            parts.append(_line(x, _height(point.low), x, _height(point.high), "interval"))
        hover = element("title", f"{100 * point.y:.1f} % ({100 * point.low:.1f}–{100 * point.high:.1f})")
        parts.append(element("g", _mark(x, _height(point.y)), hover))
    return element("g", *parts, class_=f"series s{number % STYLES}")


def _height(share: float) -> float:
    """Where a share lies on the y axis of a curve."""
    return round(TOP + (1 - share) * (HIGH - TOP - BOTTOM), 1)


def _mark(x: float, y: float) -> Markup:
    return element("circle", cx=x, cy=y, r=3.6)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return element("text", text, x=round(x, 1), y=round(y, 1), text_anchor=anchor)
