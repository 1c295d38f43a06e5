"""Results files, and the provenance of every result: machine, versions, date and commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import discotext

RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def commit() -> str | None:
    """The checked-out commit, with a + if files differ from it; None outside a repository."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=8", "--dirty=+"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def provenance() -> dict[str, Any]:
    """Machine, versions, date and commit of a measurement."""
    versions = {"discotext": discotext.__version__, "python": platform.python_version(), "numpy": np.__version__}
    if "torch" in sys.modules:
        versions["torch"] = sys.modules["torch"].__version__
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    date = datetime.now(UTC).date().isoformat()
    return {"machine": machine, "versions": versions, "date": date, "commit": commit()}


def load(name: str) -> list[dict[str, Any]]:
    """The rows of a results file; none if there is no file yet."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def save(
    name: str, rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], Hashable] = lambda row: None
) -> list[dict[str, Any]]:
    """Write rows with their provenance, one JSON object a line, and return all rows of the file.

    key: rows that are there already stay if theirs is not that of a new row; without a key, none stays.
    """
    new = {key(row) for row in rows}
    found = [row for row in load(name) if key(row) not in new] + [{**row, **provenance()} for row in rows]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return found


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for key, value in rows[0].items():
        table.add_column(key, justify="left" if isinstance(value, str) else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)


def draw(
    name: str, title: str, axes: tuple[str, str], series: dict[str, tuple[list[float], list[float]]], **kw: Any
) -> None:
    """Save lines (or labelled points) as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 4.5))
    for label, (x, y) in series.items():
        ax.plot(x, y, marker="o", label=label, linestyle="-" if len(x) > 1 else "")
        if len(x) == 1:
            ax.annotate(label, (x[0], y[0]), xytext=(4, 4), textcoords="offset points", fontsize=8)
    ax.set(title=title, xlabel=axes[0], ylabel=axes[1], **kw)
    if kw.get("xscale") == "log" and max(x[0] for x, _ in series.values()) < 10_000:
        ax.set_xticks([25, 50, 100, 200, 400, 800], ["25", "50", "100", "200", "400", "800"])
        ax.set_xticks([], minor=True)
        ax.margins(x=0.12)
    if any(len(x) > 1 for x, _ in series.values()):
        ax.legend()
    figure.tight_layout()
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / f"{name}.png", dpi=100)
    plt.close(figure)
