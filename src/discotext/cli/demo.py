"""discotext demo: the whole way on real data, from training to the report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discotext.attacks.progress import AttackProgress
from discotext.cli.figures import print_flipped, print_summary
from discotext.cli.help import Count, GroupedCommand, attack_option, output_option
from discotext.cli.options import FOLDER
from discotext.cli.output import make_console
from discotext.cli.train import print_training, show_training
from discotext.support.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

DATA = "movie_reviews"
SOLVERS = ("disco", "left-to-right", "exact")


@click.command(cls=GroupedCommand)
@attack_option("--texts", default=200, type=Count(1), help="Number of sentences to attack.")
@attack_option(
    "--budget", default="0.2", metavar="SHARE", help="Share of the words that may change, above 0 and at most 1."
)
@output_option(
    "--out",
    default="discotext-demo",
    type=FOLDER,
    help="Folder for the classifier, the records and the report. A second run reuses them.",
)
def command(out: Path, texts: int, budget: str) -> None:
    """Train a small sentiment classifier, attack it, and write a report.

    Takes a few minutes, and works offline. The data are film reviews (Rotten Tomatoes, from the Python package
    movie-reviews), the classifier is an LSTM. Three solvers are compared; one of them is exact: where it finds no
    attack, there is none. Needs discotext[demo].

    \b
    Examples:
      discotext demo
      discotext demo --texts 50 --budget 0.1
    """
    from discotext.attacks.settings import parse_budgets
    from discotext.data.registry import check_data
    from discotext.support.extras import flush_denormals_globally, require

    (allowed,) = parse_budgets(budget, None)
    check_data(DATA)
    require("torch", extra="demo", reason="the demo")
    flush_denormals_globally()
    from discotext.attacks.attack import compare
    from discotext.report import make_page
    from discotext.report.figures import describe_bracket
    from discotext.report.flipped import choose_flipped
    from discotext.runs.certificate import make_certificate
    from discotext.runs.folder import read_run
    from discotext.support.files import write_atomically

    console = make_console(stderr=True)
    victim = prepare_victim(out / "victim", console)
    console.print(f"\n[bold]2  Attacking {texts} unseen sentences[/] with {', '.join(SOLVERS)}", highlight=False)
    run = out / f"run-{allowed}-{texts}"
    with AttackProgress(console, 1) as progress:
        result = compare(
            str(victim), DATA, SOLVERS, budget=budget, limit=texts, out=run, watch=progress.update, progress=False
        )
    print_summary(result.summary)
    print_flipped(choose_flipped(result.select("disco")), list(result.settings["labels"]))
    target = run / "report.html"
    write_atomically(target, make_page(read_run(run)))
    worst = make_certificate(result.settings, result.select("exact"), allowed)
    click.echo(f"\n{describe_bracket(worst)} `discotext certify` shows it for your model.")
    make_console().print(f"\nAll texts are in {target}", soft_wrap=True)


def prepare_victim(folder: Path, console: Console) -> Path:
    """Train the victim, unless the folder has one."""
    from discotext.victims.neural.training import train_victim

    if (folder / "settings.json").exists():
        console.print(f"[bold]1  Using the classifier[/] in {folder}", highlight=False, soft_wrap=True)
        return folder
    console.print("[bold]1  Training an LSTM[/] on 6,824 sentences of film reviews (about a minute)", highlight=False)
    # With the package's own vectors and in double precision, so that every machine gets the same classifier; that is
    # slow, and a few epochs are enough.
    settings = {"kind": "lstm", "seed": 0, "precise": True, "epochs": 6}
    with Progress(console) as progress:
        report = train_victim(DATA, folder, settings=settings, packaged=True, progress=partial(show_training, progress))
    print_training(report)
    return folder
