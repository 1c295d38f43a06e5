"""discotext counterfit: word vectors in which near words are synonyms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discotext.cli.help import Count, Decorator, GroupedCommand, Number, argument, option, output_option
from discotext.cli.options import EXISTING_FILE, OUTPUT_FILE, json_option, seed_option
from discotext.cli.output import make_console, make_table, write_json
from discotext.support.progress import Progress

Constraints = dict[str, list[tuple[str, str]]]


def pairs_option(name: str) -> Decorator:
    """The option for files of synonyms, or of antonyms."""
    text = f"Pairs of {name}, one pair per line. Repeatable."
    return option(f"--{name}", section="Constraints", multiple=True, required=True, type=EXISTING_FILE, help=text)


@click.command(cls=GroupedCommand)
@argument("vectors", "Word vectors: a .txt (GloVe), .vec, .bin, .npz or .safetensors file.", type=EXISTING_FILE)
@pairs_option("synonyms")
@pairs_option("antonyms")
@option(
    "--words",
    section="Constraints",
    type=Count(2),
    show_default="all words",
    help="Keep only the first (most frequent) N words.",
)
@option(
    "--neighbours",
    section="Constraints",
    default=0.1,
    type=Number(0, 1e6),
    metavar="WEIGHT",
    help="Weight k₃ of the term that preserves neighbourhoods.",
)
@option(
    "--hold-out",
    section="Evaluation",
    default=0.0,
    show_default="0",
    type=Number(0, 0.9),
    metavar="SHARE",
    help="Share of the pairs to hold out of the fit and evaluate separately, 0 to 0.9.",
)
@seed_option("Evaluation", "for the pairs held out")
@option(
    "--simlex", section="Evaluation", type=EXISTING_FILE, help="SimLex-999, to print Spearman's ρ before and after."
)
@output_option(
    "--out", required=True, type=OUTPUT_FILE, help="Fitted vectors; the ending selects the format, as for VECTORS."
)
@json_option("one JSON object instead of a table")
def command(
    vectors: Path, words: int | None, neighbours: float, hold_out: float, seed: int, simlex: Path | None, out: Path,
    as_json: bool, **pairs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Counter-fit word vectors to synonyms and antonyms.

    Moves synonyms together and antonyms apart, keeps neighbourhoods, and prints what changed.

    \b
    Examples:
      discotext counterfit glove.txt --synonyms syn.txt --antonyms ant.txt \\
          --out fitted.npz
      discotext counterfit glove.txt --synonyms syn.txt --antonyms ant.txt \\
          --words 60000 --simlex SimLex-999.txt --hold-out 0.2 --out fitted.npz
    """
    import numpy as np

    from discotext.text.counterfit import (
        CounterFit,
        counterfit,
        look_up_pairs,
        measure_separation,
        read_pairs,
        read_simlex,
        remove_pairs,
        spearman,
    )
    from discotext.text.vectors import VECTOR_FORMATS, WordVectors

    # Mistakes in the command line are reported before anything slow begins.
    if out.suffix not in VECTOR_FORMATS:
        raise ValueError(f"{out} ends in {out.suffix!r}; vectors are written to {', '.join(VECTOR_FORMATS)} files")
    if not out.parent.is_dir():
        raise ValueError(f"{out} cannot be written: there is no folder {out.parent}; create it first")
    judged = None if simlex is None else read_simlex(simlex)
    before = WordVectors.read(vectors)
    if words is not None:
        before = before.take(before.words[:words])
    settings = CounterFit(neighbours=neighbours)
    rng = np.random.default_rng(seed)
    kept: Constraints = {}
    held: Constraints = {}
    for name in ("synonyms", "antonyms"):
        # A pair and its mirror image, or a pair that two lists have, are one pair: held out together or not at all.
        distinct = sorted({(min(pair), max(pair)) for path in pairs[name] for pair in read_pairs(path)})
        out_of_fit = rng.random(len(distinct)) < hold_out
        held[name] = [pair for pair, yes in zip(distinct, out_of_fit, strict=True) if yes]
        kept[name] = [pair for pair, yes in zip(distinct, out_of_fit, strict=True) if not yes]
    with Progress() as progress:
        progress.update("finding neighbours", 0, settings.steps)

        def watch(step: int, cost: float) -> None:
            progress.update(f"fitting, cost {cost:,.0f}", step, settings.steps)

        fitted = counterfit(before, kept["synonyms"], kept["antonyms"], settings, watch)
    fitted.vectors.write(out)
    report: dict[str, Any] = {"words": len(before), "width": before.width, "steps": len(fitted.curve) - 1}
    report |= {"curve": fitted.curve, "out": str(out)}
    for name, part in [("fitted", kept), *([("held_out", held)] if hold_out else [])]:
        apart = look_up_pairs(before, part["antonyms"])
        together = remove_pairs(look_up_pairs(before, part["synonyms"]), apart)
        report[name] = {
            "synonym_pairs": len(together),
            "antonym_pairs": len(apart),
            "before": measure_separation(before, together, apart, settings),
            "after": measure_separation(fitted.vectors, together, apart, settings),
        }
    if judged is not None:
        (report["simlex_before"], report["simlex_pairs"]) = spearman(before, judged)
        report["simlex_after"] = spearman(fitted.vectors, judged)[0]
    if as_json:
        write_json(report)
    else:
        print_fit(report)


def print_fit(report: dict[str, Any]) -> None:
    """Print what changed as a table."""
    console = make_console()
    table = make_table("", "before", "after")
    if "simlex_after" in report:
        label = f"SimLex-999, Spearman's ρ ({report['simlex_pairs']} pairs)"
        table.add_row(label, f"{report['simlex_before']:.3f}", f"{report['simlex_after']:.3f}", style="bold")
    for name in [name for name in ("fitted", "held_out") if name in report]:
        part, shown = report[name], name.replace("_", " ")
        for key, label in (
            ("antonyms_apart", f"{part['antonym_pairs']:,} {shown} antonyms, share separated"),
            ("antonym_distance", "  mean distance"),
            ("synonym_distance", f"{part['synonym_pairs']:,} {shown} synonyms, mean distance"),
            ("synonyms_nearer_than_antonyms", "  share closer than the median antonym"),
        ):
            table.add_row(label, f"{part['before'][key]:.3f}", f"{part['after'][key]:.3f}")
    console.print(table)
    console.print(f"wrote {report['words']:,} words × {report['width']} to {report['out']}")
