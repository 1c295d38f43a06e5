"""discotext counterfit: vectors in which near means alike."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from discotext.cli.options import Count, Share
from discotext.text.counterfit import (
    CounterFit,
    Fitted,
    counterfit,
    read_pairs,
    read_simlex,
    rows_of,
    sides,
    spearman,
    without,
)
from discotext.text.vectors import FORMATS, WordVectors

Constraints = dict[str, list[tuple[str, str]]]
EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("vectors", type=EXISTING)
@click.option("--synonyms", multiple=True, required=True, type=EXISTING, help="Pairs, one a line; repeatable.")
@click.option("--antonyms", multiple=True, required=True, type=EXISTING, help="Pairs, one a line; repeatable.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Where the vectors go.")
@click.option("--simlex", type=EXISTING, help="SimLex-999, to print Spearman's ρ before and after.")
@click.option("--words", type=Count(2), help="Keep only so many of the first (most frequent) words.")
@click.option("--hold-out", default=0.0, type=Share(0, 0.9), help="Share of pairs kept from the fit, reported apart.")
@click.option(
    "--neighbours", default=0.1, show_default=True, type=Share(0, 1e6), help="Weight k₃ of keeping neighbourhoods."
)
@click.option("--seed", default=0, show_default=True, type=Count(0), help="Which pairs are held out.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output instead of tables.")
def command(
    vectors: Path,
    synonyms: tuple[Path, ...],
    antonyms: tuple[Path, ...],
    out: Path,
    simlex: Path | None,
    words: int | None,
    hold_out: float,
    neighbours: float,
    seed: int,
    as_json: bool,
) -> None:
    """Fit word vectors to synonyms and antonyms, and say what it did.

    The formats of VECTORS and of the file written are told by their endings: .txt (GloVe), .vec, .bin, .npz or
    .safetensors.
    """
    # What can be wrong is looked at before what takes time.
    if out.suffix not in FORMATS:
        raise ValueError(f"{out} ends in {out.suffix!r}; vectors are written to {', '.join(FORMATS)} files")
    if not out.parent.is_dir():
        raise ValueError(f"{out} cannot be written: there is no folder {out.parent}; make it first")
    judged = None if simlex is None else read_simlex(simlex)
    before = WordVectors.read(vectors)
    if words is not None:
        before = before.take(before.words[:words])
    settings = CounterFit(neighbours=neighbours)
    rng = np.random.default_rng(seed)
    pairs = {
        "synonyms": [pair for path in synonyms for pair in read_pairs(path)],
        "antonyms": [pair for path in antonyms for pair in read_pairs(path)],
    }
    # A pair and its mirror, or a pair of two lists, are one pair: held out together or not at all.
    kept: Constraints = {}
    held: Constraints = {}
    for name, listed in pairs.items():
        distinct = sorted({(min(pair), max(pair)) for pair in listed})
        out_of_fit = rng.random(len(distinct)) < hold_out
        held[name] = [pair for pair, yes in zip(distinct, out_of_fit, strict=True) if yes]
        kept[name] = [pair for pair, yes in zip(distinct, out_of_fit, strict=True) if not yes]
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("finding neighbours", total=settings.steps)

        def watch(step: int, cost: float) -> None:
            progress.update(task, completed=step, description=f"fitting, cost {cost:,.0f}")

        fitted = counterfit(before, kept["synonyms"], kept["antonyms"], settings, watch)
    fitted.vectors.write(out)
    report = describe(before, fitted, kept, held if hold_out else None, settings)
    if judged is not None:
        (report["simlex_before"], report["simlex_pairs"]) = spearman(before, judged)
        report["simlex_after"] = spearman(fitted.vectors, judged)[0]
    report["out"] = str(out)
    if as_json:
        sys.stdout.write(json.dumps(report) + "\n")
    else:
        show(report)


def describe(
    before: WordVectors, fitted: Fitted, kept: Constraints, held: Constraints | None, settings: CounterFit
) -> dict[str, Any]:
    """What to report: words, pairs, sides before and after, the learning curve."""
    report: dict[str, Any] = {
        "words": len(before),
        "width": before.width,
        "steps": len(fitted.curve) - 1,
        "curve": fitted.curve,
    }
    for name, part in (("fitted", kept), ("held_out", held)):
        if part is None:
            continue
        apart = rows_of(before, part["antonyms"])
        together = without(rows_of(before, part["synonyms"]), apart)
        report[name] = {
            "synonym_pairs": len(together),
            "antonym_pairs": len(apart),
            "before": sides(before, together, apart, settings),
            "after": sides(fitted.vectors, together, apart, settings),
        }
    return report


def show(report: dict[str, Any]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table(box=None, pad_edge=False)
    for heading in ("", "before", "after"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    if "simlex_after" in report:
        label = f"SimLex-999, Spearman's ρ ({report['simlex_pairs']} pairs)"
        table.add_row(label, f"{report['simlex_before']:.3f}", f"{report['simlex_after']:.3f}", style="bold")
    for name, shown in (("fitted", "fitted"), ("held_out", "held out")):
        if name in report:
            part = report[name]
            for key, label in (
                ("antonyms_apart", f"{part['antonym_pairs']:,} {shown} antonyms, share apart"),
                ("antonym_distance", "  mean distance"),
                ("synonym_distance", f"{part['synonym_pairs']:,} {shown} synonyms, mean distance"),
                ("synonyms_nearer_than_antonyms", "  share nearer than the median antonym"),
            ):
                table.add_row(label, f"{part['before'][key]:.3f}", f"{part['after'][key]:.3f}")
    console.print(table)
    curve = [sum(step.values()) for step in report["curve"]]
    marks = sorted({round(i * (len(curve) - 1) / 7) for i in range(8)})
    console.print("cost  " + "  ".join(f"{curve[i]:,.0f} (step {i})" for i in marks), soft_wrap=True)
    console.print(f"{report['words']:,} words × {report['width']} in {report['out']}")
