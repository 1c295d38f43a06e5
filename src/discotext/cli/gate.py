"""Failing when a model is not robust enough: --fail-under."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discotext.cli.errors import TooLowError
from discotext.cli.help import Number, option

if TYPE_CHECKING:
    from discotext.runs.certificate import Certificate
    from discotext.runs.summary import Summary

gate_option = option(
    "--fail-under",
    section="Output",
    type=Number(0, 1),
    metavar="SHARE",
    help="Exit with status 4 if the accuracy under attack (for certify: the certified accuracy) is below this share, "
    "such as 0.65, for any solver or budget.",
)


def check_summaries(summaries: Sequence[Summary], least: float) -> None:
    """Raise, for status 4, if an accuracy under attack is too low or says nothing."""
    from discotext.runs.threshold import check_accuracy

    failed = [f"{check.name}: {check}" for check in check_accuracy(summaries, least) if not check.passed]
    if failed:
        raise TooLowError("; ".join(failed))


def check_certificates(certificates: Sequence[Certificate], least: float) -> None:
    """Raise, for status 4, if a certified accuracy is too low or not known."""
    for one in certificates:
        if one.certified_accuracy is None or one.certified_accuracy < least:
            raise TooLowError(f"{one}; required: certified accuracy of at least {100 * least:.12g} %")
