"""Plots: accuracy under attack against passes and seconds, seconds against length and number of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.cells import CELLS, title

Row = dict[str, Any]
COLUMNS = 3
# Searches in the growth plots, all on one text at a time.
GROWTH = ("disco-alone", "disco-high-alone", "greedy-alone", "textattack-greedy", "textattack-wir-delete")


def draw_all(rows: Sequence[Row], texts: Sequence[Row], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    clouds(rows, "passes per attacked text", folder / "peers_passes.png", cost=passes)
    clouds(rows, "seconds per attacked text", folder / "peers_seconds.png", cost=seconds)
    growth(texts, "words", "words of the text", folder / "peers_length.png")
    growth(texts, "candidates", "candidates of the text", folder / "peers_candidates.png")


def passes(row: Row) -> float:
    return float((row["forwards"] + row["backwards"]) / max(row["attacked"], 1))


def seconds(row: Row) -> float:
    return float(row["seconds"] / max(row["attacked"], 1))


def style(searches: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour and a marker for each search: circles for ours (stars for `disco`), squares for TextAttack.

    Variants (`-alone`, `-dynamic`) have the same colour and another marker.
    """
    import matplotlib.pyplot as plt

    found, seen = {}, dict[str, list[str]]()
    for name in searches:
        peer = name.startswith("textattack")
        plain = name.removesuffix("-alone").removesuffix("-dynamic")
        known = seen.setdefault("tab10" if peer else "tab20", [])
        if plain not in known:
            known.append(plain)
        mark = "^" if name.endswith("-alone") else "D" if name.endswith("-dynamic") else "s" if peer else "o"
        star = name in ("disco", "disco-high")
        colour = plt.get_cmap("tab10" if peer else "tab20")(known.index(plain))
        found[name] = {"color": colour, "marker": "*" if star else mark, "markersize": 12 if star else 6}
    return found


def clouds(rows: Sequence[Row], label: str, path: Path, cost: Any) -> None:
    """One panel per cell; lower left is better. Hollow markers are searches with fewer texts."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    cells = [cell for cell in CELLS if any(row["cell"] == cell for row in rows)]
    searches = list(dict.fromkeys(row["search"] for row in rows))
    styles = style(searches)
    down = -(-(len(cells) + 1) // COLUMNS)
    figure, axes = plt.subplots(down, COLUMNS, figsize=(4.2 * COLUMNS, 3.4 * down), squeeze=False)
    for ax, cell in zip(axes.flat, cells, strict=False):
        mine = [row for row in rows if row["cell"] == cell]
        n = max(row["n"] for row in mine)
        for row in mine:
            fill = "full" if row["n"] == n else "none"
            left = 100 * row["adversarial_accuracy"]
            ax.plot(cost(row), left, linestyle="", fillstyle=fill, **styles[row["search"]])
        ax.set(title=title(cell), xscale="log", xlabel=label, ylabel="accuracy left, %")
    # The legend has a separate panel.
    for ax in axes.flat[len(cells) :]:
        ax.axis("off")
    handles = [Line2D([], [], linestyle="", label=name, **styles[name]) for name in searches]
    axes.flat[len(cells)].legend(handles=handles, loc="center", ncols=2, fontsize=7, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def growth(texts: Sequence[Row], key: str, label: str, path: Path) -> None:
    """Seconds of single texts, and medians in bins of equal size; budgets are a share of the words."""
    import matplotlib.pyplot as plt

    shares = {cell.name for cell in CELLS.values() if cell.share == "0.05"}
    chosen = [text for text in texts if text["cell"] in shares and text["right"]] or [
        text for text in texts if text["right"] and not CELLS[text["cell"]].victim.startswith("hf:")
    ]
    figure, ax = plt.subplots(figsize=(7, 4.5))
    styles = style(GROWTH)
    for search in GROWTH:
        some = [(max(text[key], 1), text["searches"][search][3]) for text in chosen if search in text["searches"]]
        if not some:
            continue
        size, spent = (np.array(values, dtype=float) for values in zip(*some, strict=True))
        colour = styles[search]["color"]
        ax.plot(size, spent, ".", color=colour, alpha=0.25, markersize=4)
        order = np.argsort(size)
        bins = np.array_split(order, max(1, min(8, len(order) // 5)))
        middle = [(np.median(size[one]), np.median(spent[one])) for one in bins]
        ax.plot(*zip(*middle, strict=True), label=search, **{**styles[search], "markersize": 6})
    ax.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds for the text", title=f"Seconds against {label}")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
