"""discotext demo: the main job on real data, from training to the page one can show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from discotext.cli.options import Count

DATA = "movie_reviews"
SOLVERS = ("disco", "left-to-right", "exact")
SHOWN = 5


@click.command()
@click.option(
    "--out",
    default="discotext-demo",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the victim, the records and the page go; a second run uses what is there.",
)
@click.option("--texts", default=200, show_default=True, type=Count(1), help="How many sentences are attacked.")
@click.option("--budget", default="0.2", show_default=True, help="Share of words that may change.")
def command(out: Path, texts: int, budget: str) -> None:
    """Train a small classifier of film reviews, attack it, and show what a few synonyms do to it.

    Real data (Rotten Tomatoes, from the package movie-reviews), a real LSTM, three ways to search on equal terms, one
    of them exact: what it leaves standing is proved to withstand every allowed text. No network is needed.
    """
    from discotext.data.named import look_for_data
    from discotext.experiment.given import budgets_of
    from discotext.extras import need, quick_start

    (allowed,) = budgets_of(budget, None)
    look_for_data(DATA)
    need("torch", extra="demo", reason="the demo")
    quick_start()
    from discotext.cli.attacking import show, watched
    from discotext.experiment.attack import compare
    from discotext.experiment.report import page, read_run
    from discotext.files import write_whole

    talk = Console(stderr=True)
    victim = trained(out / "victim", talk)
    talk.print(f"\n[bold]2  Attacking {texts} sentences it has not seen[/]: {', '.join(SOLVERS)}", highlight=False)
    run = out / f"run-{allowed}-{texts}"
    with watched(talk, 1) as watch:
        result = compare(str(victim), DATA, SOLVERS, budget=budget, limit=texts, out=run, watch=watch)
    show(result.summary)
    examples(result.of("disco"), list(result.settings["labels"]))
    target = run / "report.html"
    write_whole(target, page(read_run(run)))
    said(result.summary)
    Console(width=None if sys.stdout.isatty() else 160).print(f"\nThe page with every text: {target}", soft_wrap=True)


def trained(folder: Path, talk: Console) -> Path:
    """The victim, trained if it is not there."""
    from discotext.cli.train import show
    from discotext.victims.neural.making import make

    if (folder / "settings.json").exists():
        talk.print(f"[bold]1  The classifier[/] is in {folder} already", highlight=False, soft_wrap=True)
        return folder
    talk.print("[bold]1  Training an LSTM[/] on 6,824 sentences of film reviews (about a minute)", highlight=False)
    # With the package's own vectors and in double precision, so that every machine gets the same classifier; that is
    # dear, and a few epochs are enough.
    chosen: dict[str, Any] = {"kind": "lstm", "seed": 0, "precise": True, "epochs": 6}
    show(make(DATA, folder, test=None, vectors=None, limit=None, columns=(None, None), chosen=chosen, packaged=True))
    return folder


def examples(records: list[dict[str, Any]], labels: list[str]) -> None:
    """Some texts that were turned, the old word in red and struck out, the new one in blue."""
    from discotext.experiment.metrics import succeeded

    console = Console(width=None if sys.stdout.isatty() else 160)
    won = [record for record in records if succeeded(record)]
    for record in won[:: max(1, len(won) // SHOWN)][:SHOWN]:
        line, at = Text("\n"), 0
        line.append(f"{labels[record['label']]} → {labels[record['adversarial_predicted']]}  ", style="bold")
        for change in record["changes"]:
            line.append(record["text"][at : change["start"]])
            # Where colours do not show, brackets do.
            plain = not console.is_terminal
            line.append("[" if plain else "")
            line.append(change["old"], style="red strike")
            line.append(" → " if plain else " ")
            line.append(change["new"], style="bold blue underline")
            line.append("]" if plain else "")
            at = change["end"]
        line.append(record["text"][at:])
        console.print(line)


def said(summary: dict[str, Any]) -> None:
    """The answer in a sentence."""
    disco, exact = summary["solvers"]["disco"], summary["solvers"]["exact"]
    near = "which is the true worst case" if disco["adversarial_accuracy"] == exact["adversarial_accuracy"] else (
        f"and {100 * exact['adversarial_accuracy']:.1f} % is the true worst case")  # fmt: skip
    proof = "proved" if exact["optimal"] == 1 else f"proved for {100 * (exact['optimal'] or 0):.0f} % of the texts"
    if fixed := summary["unchangeable_texts"]:
        proof += f"; {fixed} of the {summary['n']} texts have no word that can change, and prove nothing"
    click.echo(
        f"\nChanging at most {100 * summary['budget']:g} % of the words takes accuracy from "
        f"{100 * disco['original_accuracy']:.1f} % to {100 * disco['adversarial_accuracy']:.1f} %, {near} ({proof})."
    )
