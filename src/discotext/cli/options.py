"""Options that several commands share, so that they are called the same and mean the same everywhere."""

from __future__ import annotations

from typing import Any

import click


def data_options(command: Any) -> Any:
    """Which columns of a file hold text and label."""
    for name, what in (("label", "the labels"), ("text", "the texts")):
        option = f"--{name}-column"
        command = click.option(option, help=f"The column with {what}, where it cannot be told by its name.")(command)
    return command


def sample_options(command: Any) -> Any:
    """A seeded, stratified sample."""
    command = click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of all chance.")(
        command
    )
    return click.option("--limit", type=click.IntRange(1), help="Take only so many, each class by its share.")(command)


def trust_option(command: Any) -> Any:
    """Load what could run code."""
    return click.option("--trust", is_flag=True, help="Load a pickled sklearn: file, which runs what it holds.")(
        command
    )
