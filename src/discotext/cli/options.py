"""Options that several commands share, so that they are called the same and mean the same everywhere."""

from __future__ import annotations

import math
from typing import Any

import click


class Share(click.FloatRange):
    """A number in a range. NaN, which is neither below nor above anything, is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not in the range {self._describe_range()}.", param, ctx)
        return found


class Count(click.IntRange):
    """A whole number that every machine can hold."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if found >= 2**63:
            self.fail(f"{str(value)[:40]} is too large; choose less than 2⁶³.", param, ctx)
        return found


def data_options(command: Any) -> Any:
    """Which columns of a file hold text and label."""
    for name, what in (("label", "the labels"), ("text", "the texts")):
        option = f"--{name}-column"
        command = click.option(option, help=f"The column with {what}, where it cannot be told by its name.")(command)
    return command


def sample_options(command: Any) -> Any:
    """A seeded, stratified sample."""
    command = click.option("--seed", default=0, show_default=True, type=Count(0), help="Of all chance.")(command)
    return click.option("--limit", type=Count(1), help="Take only so many, each class by its share.")(command)


def trust_option(command: Any) -> Any:
    """Load what could run code."""
    return click.option("--trust", is_flag=True, help="Load a pickled sklearn: file, which runs what it holds.")(
        command
    )


WORKER_OPTIONS = ("workers", "threads", "time_limit", "ray", "ray_address", "gpus")


def worker_options(command: Any) -> Any:
    """Who does the work."""
    for option in (
        click.option(
            "--gpus",
            type=Share(0),
            help="With Ray: GPUs of each worker; 1 for a network unless told.",
        ),
        click.option("--ray-address", help="Work on this Ray cluster: 'auto', HOST:6379 or ray://HOST:10001."),
        click.option("--ray", is_flag=True, help="Work on a Ray of its own on this machine."),
        click.option(
            "--time-limit",
            type=Share(0, min_open=True),
            help="Seconds for the texts of a unit; a text that takes longer alone is given up, and its record says so.",
        ),
        click.option("--threads", type=Count(1), help="Of each worker; the processors are shared out unless told."),
        click.option("--workers", type=Count(1), help="How many processes; records are the same."),
    ):
        command = option(command)
    return command
