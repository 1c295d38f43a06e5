"""Failing when a model is not robust enough: --fail-under, and results as JUnit XML for what shows test results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discotext.cli.errors import TooLowError
from discotext.cli.help import combine, option
from discotext.cli.number_types import Number

if TYPE_CHECKING:
    from discotext.experiment.certificate import Certificate
    from discotext.experiment.summary import Summary

GATE_OPTIONS = ("fail_under", "fail_under_low", "junit")

threshold_options = combine(
    option(
        "--fail-under",
        section="Output",
        type=Number(0, 1),
        metavar="SHARE",
        help="Exit with status 4 if the accuracy under attack (for certify: the certified accuracy) is below this "
        "share, such as 0.65, for any solver or budget.",
    ),
    option(
        "--fail-under-low",
        section="Output",
        is_flag=True,
        help="Let --fail-under compare the lower end of the 95 % interval.",
    ),
)
gate_options = combine(
    threshold_options,
    option(
        "--junit",
        section="Output",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Also write the results as JUnit XML, a test case for each solver and budget.",
    ),
)


@dataclass(frozen=True)
class Gate:
    """What must hold for a command to succeed, and where the results are written for CI."""

    least: float | None = None
    low: bool | None = None
    junit: Path | None = None

    def __post_init__(self) -> None:
        if self.low and self.least is None:
            raise click.UsageError("--fail-under-low needs --fail-under SHARE, the least accuracy to compare with.")
        if self.junit is not None and not self.junit.parent.is_dir():
            # Better said now than after the work.
            raise ValueError(f"{self.junit} cannot be written: there is no folder {self.junit.parent}; create it first")

    def write(self, summaries: Sequence[Summary], flipped: Sequence[str]) -> None:
        """Write the results as JUnit XML, if a file was given. flipped: texts that a failure shows."""
        if self.junit is None:
            return
        from discotext.experiment.junit import make_junit
        from discotext.support.files import write_atomically

        write_atomically(self.junit, make_junit(summaries, self.least, bool(self.low), flipped))
        click.echo(f"wrote {self.junit}", err=True)

    def check(self, summaries: Sequence[Summary]) -> None:
        """Raise, for status 4, if an accuracy under attack is too low or says nothing."""
        from discotext.experiment.threshold import check_accuracy

        checks = [] if self.least is None else check_accuracy(summaries, self.least, bool(self.low))
        failed = [f"{check.name}: {check}" for check in checks if not check.passed]
        if failed:
            raise TooLowError("; ".join(failed))

    def check_certified(self, certificates: Sequence[Certificate]) -> None:
        """Raise, for status 4, if a certified accuracy is too low."""
        from discotext.experiment.figures_text import describe_budget

        for one in certificates if self.least is not None else ():
            found = one.certified_accuracy
            value = None if found is None else found.low if self.low else float(found)
            if found is None or value is None or value < (self.least or 0.0):
                said = "not known" if found is None else f"{100 * found:.1f} % (95 %: {100 * found.low:.1f} to "
                said += "" if found is None else f"{100 * found.high:.1f} %)"
                what = "of the lower end of the interval " if self.low else ""
                raise TooLowError(
                    f"at most {describe_budget(one.budget)} changed: certified accuracy is {said}; required "
                    f"{what}at least {100 * (self.least or 0.0):.12g} %"
                )
