"""The command line: the file of a command is imported when the command runs."""

from __future__ import annotations

import importlib
from typing import Any

import click

from discotext.support.threads import prepare_threads
from discotext.version import __version__

WIDTH = 100  # columns of a help page at most
SECTIONS = {
    "Attack": {
        "demo": "Train a small sentiment classifier, attack it, and write a report.",
        "attack": "Attack a classifier: how many predictions flip when a few words change?",
        "certify": "Certify a classifier: what accuracy is proved to survive, whatever words are exchanged?",
        "compare": "Compare solvers on the same texts, candidates and budgets.",
        "serve": "Type a text on a local web page, and watch attacks on it.",
        "report": "Print the results of a run, and write them as an HTML page.",
        "merge": "Merge the shards of an attack into one run.",
        "augment": "Write a run's texts and its successful attacks as training data.",
        "terms": "Explain the columns of tables and the words of reports.",
    },
    "Decode": {"decode": "Choose the best word at each position, under language models."},
    "Models and data": {
        "harden": "Train a classifier that is robust when words are exchanged, and show how robust it is.",
        "train": "Train a classifier on a data set, and print its test accuracy.",
        "train-lm": "Train a language model on plain text, and print its perplexity on held-out lines.",
        "predict": "Print a classifier's predictions as JSON lines.",
        "check": "Check whether a classifier is fit to be attacked.",
        "data": "List the named data sets, or describe one.",
    },
    "Candidates and vectors": {
        "candidates": "Show the candidates for each word of a text.",
        "counterfit": "Counter-fit word vectors to synonyms and antonyms.",
    },
    "Paper": {"reproduce": "Reproduce the paper's table, next to its own figures."},
}
# Commands that stand in the file of another one; the others are called `command`, in files of their names.
SHARED = {
    "compare": "attack", "certify": "attack", "merge": "report", "augment": "report", "terms": "report",
    "predict": "check",
}  # fmt: skip
COMMANDS = {name: summary for commands in SECTIONS.values() for name, summary in commands.items()}


class LazyGroup(click.Group):
    """A group that knows its commands by name and summary, and imports only the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"discotext.cli.{SHARED.get(name, name.replace('-', '_'))}")
        command: click.Command = vars(module)[name if name in SHARED else "command"]
        return command

    def invoke(self, ctx: click.Context) -> Any:
        from discotext.cli.errors import report_errors

        with report_errors(ctx):
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
    epilog="Run `discotext COMMAND --help` for the options and examples of a command.",
)
@click.version_option(__version__, prog_name="discotext")
def cli() -> None:
    """Attack text classifiers with synonyms, and measure how close the attack is to the worst case.

    \b
    Examples:
      discotext demo
      discotext train movie_reviews --out victim
      discotext attack victim --text "A charming and often affecting film"
      discotext attack victim movie_reviews --budget 0.1 --limit 100 --out run
      discotext certify victim movie_reviews --words 1 --words 2 --limit 100
      discotext report run
    """


def main() -> None:
    """Run the command line. Errors end in one sentence and status 1, a wrong command line in status 2."""
    prepare_threads()
    cli(prog_name="discotext")
