"""Charts as SVG: drawn by hand, coloured by `chart.css`, readable without colour.

A chart is drawn in its own units and scaled to the width of the page; the style makes its letters larger on a phone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path

from discotext.report.markup import Markup, element, join, read_resource
from discotext.support.files import write_atomically

WIDE, HIGH = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 12, 52
SHAPES = ("circle", "square", "diamond", "triangle", "hollow circle", "hollow square")
STYLES = 6  # kinds of line the style knows; with more solvers they come round again
ROW = 20  # the height of a line of the legend
# The colours of a picture of its own, which a notebook may show on any background.
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


class Drawing(Markup):
    """An SVG element that knows its height."""

    high: float


@dataclass(frozen=True, repr=False)
class Chart:
    """Panels side by side, each with a title, as one picture that a notebook shows and that can be saved."""

    panels: Sequence[tuple[str, Drawing]]

    def __repr__(self) -> str:
        return f"Chart({', '.join(title for title, _ in self.panels)})"

    def _repr_svg_(self) -> str:
        drawn = [
            element("g", _text(WIDE / 2, 20, title, "middle"), element("g", panel, transform="translate(0 32)"),
                    transform=f"translate({number * WIDE} 0)", class_="chart")
            for number, (title, panel) in enumerate(self.panels)
        ]  # fmt: skip
        wide, high = WIDE * len(self.panels), 32 + max(panel.high for _, panel in self.panels)
        return element(
            "svg", element("style", Markup(COLOURS), read_resource("chart.css")),
            element("rect", width=wide, height=high, fill="#fff"), *drawn,
            xmlns="http://www.w3.org/2000/svg", viewbox=f"0 0 {wide} {high}", width=wide, height=high,
        )  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the picture into an .svg file, and return where."""
        write_atomically(Path(path), self._repr_svg_())
        return Path(path)


@dataclass(frozen=True)
class Frame:
    """Where values lie on the drawing: x from 0 to right, y from 0 to top."""

    right: float
    top: float = 1.0
    left: float = LEFT

    def x(self, value: float) -> float:
        return round(self.left + value / self.right * (WIDE - self.left - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(TOP + (1 - value / self.top) * (HIGH - TOP - BOTTOM), 1)


def draw_curve(
    series: dict[str, list[Point]],
    ticks: Sequence[tuple[float, str]],
    axis: str,
    what: str = "Accuracy of the victim",
) -> Drawing:
    """Accuracy by budget, a line for each solver. ticks: where on the x axis which words stand. axis: its name.

    what: what is drawn, for those who cannot see it.
    """
    right = max(x for x, _ in ticks) or 1.0
    frame = Frame(right * 1.03)
    drawn = [_grid(frame)]
    last = -100.0
    for x, text in ticks:
        drawn.append(_line(frame.x(x), frame.y(0), frame.x(x), frame.y(0) + 4, "axis"))
        # Budgets may stand close together; better a tick without a number than two numbers in one place.
        if frame.x(x) - last >= 46:
            drawn.append(_text(frame.x(x), frame.y(0) + 20, text, "middle"))
            last = frame.x(x)
    drawn.append(_name_axis(axis))
    for number, points in enumerate(series.values()):
        drawn.append(_series(frame, points, number, len(series)))
    label = f"{what} by {axis}, for {', '.join(series)}; the table above has the numbers"
    return _svg(label, *drawn, _legend(series), high=HIGH + ROW * len(series))


def draw_frontier(points: dict[str, Point], least: float) -> Drawing:
    """Accuracy under attack against accuracy without one, a mark for each name. least: the x that must be reached."""
    values = [point.x for point in points.values()] + [least]
    low, high = min(values), max(values)
    margin = max(0.01, 0.12 * (high - low))
    low, width = low - margin, high - low + 2 * margin
    frame = Frame(width)
    drawn = [_grid(frame), _line(frame.x(least - low), frame.y(0), frame.x(least - low), frame.y(1), "grid")]
    for share in range(5):
        x = low + width * (share + 0.5) / 5
        drawn.append(_text(frame.x(x - low), frame.y(0) + 20, f"{100 * x:.1f} %", "middle"))
    drawn.append(_name_axis("accuracy without an attack"))
    for number, (name, point) in enumerate(points.items()):
        mark = element("g", _mark(frame.x(point.x - low), frame.y(point.y), number), element("title", name))
        drawn.append(element("g", mark, class_=f"series s{number % STYLES}"))
    label = f"Accuracy under attack by accuracy without one, for {', '.join(points)}; the table above has the numbers"
    return _svg(label, *drawn, _legend(points), high=HIGH + ROW * len(points))


def _name_axis(name: str) -> Markup:
    return _text((LEFT + WIDE - RIGHT) / 2, HIGH - 6, name, "middle")


def _legend(names: Iterable[str]) -> Markup:
    """A line for each series, below the axis: its mark and its name."""
    rows = []
    for number, name in enumerate(names):
        y = HIGH + ROW * number + 8
        line = element("polyline", points=f"{LEFT},{y} {LEFT + 32},{y}")
        rows.append(element("g", line, _mark(LEFT + 16, y, number), class_=f"series s{number % STYLES}"))
        rows.append(_text(LEFT + 40, y + 4, name, "start"))
    return join(*rows)


def _grid(frame: Frame) -> Markup:
    rows = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = frame.y(share)
        rows.append(_line(frame.left, y, WIDE - RIGHT, y, "axis" if share == 0 else "grid"))
        rows.append(_text(frame.left - 8, y + 4, f"{100 * share:.0f} %", "end"))
    return join(*rows)


def _series(frame: Frame, points: Sequence[Point], number: int, among: int) -> Markup:
    # Intervals of several solvers would cover each other: each stands a little aside.
    aside = (number - (among - 1) / 2) * min(5.0, 24 / among)
    parts, path = [], []
    for point in points:
        x, y = round(frame.x(point.x) + (aside if point.x else 0), 1), frame.y(point.y)
        path.append(f"{x},{y}")
        if point.high > point.low:
            parts.append(_line(x, frame.y(point.low), x, frame.y(point.high), "interval"))
        hover = element("title", f"{100 * point.y:.1f} % ({100 * point.low:.1f}–{100 * point.high:.1f})")
        parts.append(element("g", _mark(x, y, number), hover))
    line = element("polyline", points=" ".join(path))
    return element("g", line, *parts, class_=f"series s{number % STYLES}")


def _mark(x: float, y: float, number: int, size: float = 3.6) -> Markup:
    shape = SHAPES[number % len(SHAPES)]
    hollow = "hollow" if shape.startswith("hollow") else None
    if shape.endswith("circle"):
        return element("circle", cx=x, cy=y, r=size, class_=hollow)
    if shape.endswith("square"):
        side = round(1.8 * size, 1)
        corner = {"x": round(x - side / 2, 1), "y": round(y - side / 2, 1)}
        return element("rect", **corner, width=side, height=side, class_=hollow)
    tip = size * 1.4
    corners = [(x, y - tip), (x + tip, y), (x, y + tip), (x - tip, y)]
    if shape == "triangle":
        corners = [(x, y - tip), (x + tip, y + size), (x - tip, y + size)]
    return element("polygon", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in corners))


def draw_bars(rows: Sequence[tuple[str, Point]]) -> Drawing:
    """A bar for each row, its end marked with its interval: what there is to draw when there is but one budget."""
    step, top = 44, 8
    high = top + step * len(rows) + 22
    drawn = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = round(4 + share * (WIDE - 40), 1)
        drawn.append(_line(x, top, x, high - 20, "axis" if share == 0 else "grid"))
        drawn.append(_text(x, high - 4, f"{100 * share:.0f} %", "middle" if share else "start"))
    for number, (name, point) in enumerate(rows):
        y = top + number * step
        end = [round(4 + value * (WIDE - 40), 1) for value in (point.y, point.low, point.high)]
        drawn.append(_text(6, y + 14, f"{name}: {100 * point.y:.1f} %", "start"))
        kind = "bar" if number else "bar quiet"
        drawn.append(element("rect", x=4, y=y + 20, width=round(end[0] - 4, 1), height=14, class_=kind))
        drawn.append(_line(end[1], y + 27, end[2], y + 27, "interval"))
    label = "; ".join(f"{name}: {100 * point.y:.1f} %" for name, point in rows)
    return _svg(f"Accuracy. {label}", *drawn, high=high)


def draw_histogram(counts: Sequence[int], names: Sequence[str], axis: str) -> Drawing:
    """Bars side by side, each with its name below."""
    top = _round_up(max(counts, default=0))
    frame = Frame(len(counts), top)
    drawn = []
    for value in (0.0, top / 2, top):
        y = frame.y(value)
        drawn.append(_line(frame.left, y, WIDE - RIGHT, y, "grid" if value else "axis"))
        drawn.append(_text(frame.left - 8, y + 4, f"{value:,g}", "end"))
    every = -(-len(counts) // 10)  # more names than these have no room
    for number, (count, name) in enumerate(zip(counts, names, strict=True)):
        x, y = frame.x(number + 0.12), frame.y(count)
        size = {"width": round(frame.x(number + 0.88) - x, 1), "height": round(frame.y(0) - y, 1)}
        drawn.append(element("rect", element("title", f"{name}: {count:,}"), x=x, y=y, **size, class_="bar"))
        if number % every == 0:
            drawn.append(_text(frame.x(number + 0.5), frame.y(0) + 20, name, "middle"))
    drawn.append(_name_axis(axis))
    described = ", ".join(f"{name}: {count:,}" for name, count in zip(names, counts, strict=True))
    return _svg(f"{axis}: {described}", *drawn)


def _round_up(value: float) -> float:
    """A round number not below the value, with a half that is round too.

    >>> [_round_up(value) for value in (0, 3, 17, 130)]
    [2, 4, 20, 140.0]
    """
    if value <= 2:
        return 2
    power: float = 10 ** int(log10(value))
    steps = [round(step * power, 6) for step in (1, 1.2, 1.4, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)]
    return next(top for top in steps if top >= value and top % 2 == 0)


def _svg(label: str, *drawn: Markup, high: float = HIGH) -> Drawing:
    size = {"width": WIDE, "height": high, "viewbox": f"0 0 {WIDE} {high}"}
    made = Drawing(element("svg", *drawn, **size, role="img", aria_label=label, class_="chart"))
    made.high = high
    return made


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return element("text", text, x=round(x, 1), y=round(y, 1), text_anchor=anchor)
