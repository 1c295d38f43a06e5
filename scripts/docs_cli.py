"""Writes docs/reference/command-line.md, what every command says with --help, and the example of the candidates guide.

    python scripts/docs_cli.py

`tests/test_docs.py` fails when the page is not what this script would write.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from discotext.cli import cli

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reference" / "command-line.md"
GUIDE = DOCS / "how-to" / "candidates.md"
EXAMPLE = "I enjoyed an awful film about mice."
WIDTH = 100
INTRODUCTION = """\
# Command line

<!-- Written by scripts/docs_cli.py from the commands themselves; change those, and run it again. -->

What each command prints with `--help`. Results go to standard output (as JSON with `--json`), progress and messages to
standard error; `-` stands for standard input. Exit statuses are in [formats](formats.md#exit-statuses).
"""


def render_help(command: click.Command, parent: click.Context | None, name: str) -> str:
    """The --help text of a command, as a block."""
    with make_context(command, parent, name) as context:
        return "```text\n" + click.unstyle(command.get_help(context)).rstrip() + "\n```\n"


def make_context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    """What click makes when a command is called, but of a fixed width."""
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    return click.Context(command, parent, info_name=name, **settings)


def summarise(command: click.Command) -> str:
    """The first sentence of a command's help."""
    first = (command.help or "").strip().split("\n\n")[0].replace("\b", "")
    return " ".join(first.split())


def render() -> str:
    """The page."""
    root = make_context(cli, None, "discotext")
    found = {name: cli.get_command(root, name) for name in cli.list_commands(root)}
    commands = {name: command for name, command in found.items() if command is not None and not command.hidden}
    rows = [f"| [`{name}`](#discotext-{name}) | {summarise(command)} |" for name, command in commands.items()]
    parts = [INTRODUCTION, "\n".join(["| command | what it does |", "|---|---|", *rows]) + "\n"]
    parts += ["## discotext\n", render_help(cli, None, "discotext")]
    for name, command in commands.items():
        parts += [f"## discotext {name}\n", render_help(command, root, name)]
    return "\n".join(parts)


def render_example() -> str:
    """The guide on candidates, with what the command prints between the markers."""
    done = subprocess.run(
        [sys.executable, "-m", "discotext", "candidates", EXAMPLE], capture_output=True, encoding="utf-8", check=True
    )
    printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    before, rest = GUIDE.read_text(encoding="utf-8").split("<!-- example -->\n")
    after = ("\n" + rest).split("\n<!-- end -->", 1)[1]
    return f"{before}<!-- example -->\n```text\n{printed}\n```\n<!-- end -->{after}"


def pages() -> dict[Path, str]:
    """Every page and what it should hold."""
    return {PAGE: render(), GUIDE: render_example()}


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
