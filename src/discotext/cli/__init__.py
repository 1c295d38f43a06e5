"""The command line: one file per command, loaded when it is called."""

from __future__ import annotations

import importlib
from typing import Any

import click

from discotext.version import __version__

COMMANDS = {
    "demo": "Train a small classifier of film reviews, attack it, and show what a few synonyms do to it.",
    "data": "List the named data sets, or tell origin, licence and checksum of one.",
    "train": "Train a classifier of the paper's kind on a data set, and print its accuracy on texts it has not seen.",
    "predict": "Print what a victim predicts for each text, as JSON lines: text, label, predicted, scores.",
    "check": "Tell whether a victim is fit to be attacked: accuracy, determinism, gradients, logits or probabilities.",
    "attack": "Attack a victim on data: how many texts can be turned by changing a few words?",
    "compare": "Compare solvers on the same texts, candidates and budget, in one table.",
    "merge": "Put the shards of one attack together into one run.",
    "augment": "Write a run's texts and the texts that turned the victim, with their true labels, as data to train on.",
    "candidates": "Show what may replace each word of a text, and by which filter the rest was refused.",
    "report": "Make a table, a page and files of a run's records.",
    "reproduce": "Make the paper's table again, its own figures beside ours.",
    "optima": "Solve problems whose optimum is known with every solver, and show them side by side.",
    "counterfit": "Fit word vectors to synonyms and antonyms, and say what it did.",
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and first sentence, and imports only the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"discotext.cli.{name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        from discotext.cli.ending import ending_well

        with ending_well(ctx):
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="discotext")
def cli() -> None:
    """How far can a few word changes push a text classifier, and how near is that to the true worst case?"""


def main() -> None:
    """Run the command line. A mistake of the user's ends in one sentence and status 1, a wrong call in status 2."""
    cli(prog_name="discotext")
