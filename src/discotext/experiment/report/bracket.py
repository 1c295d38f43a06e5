"""The bracket: between which accuracies the true worst case lies, budget by budget, for runs of `discotext certify`."""

from __future__ import annotations

from collections.abc import Sequence

from discotext.experiment.certificate import Certificate, make_certificate
from discotext.experiment.record import Budget
from discotext.experiment.report.curve import Point, draw_curve
from discotext.experiment.report.figures import format_budget, format_number, format_percent, format_share, make_table
from discotext.experiment.report.markup import Markup, element, join
from discotext.experiment.run import Run
from discotext.experiment.summary import Estimate

HEADINGS = ("at most changed", "certified", "attacked", "bracket", "robust", "broken", "open")
LONGEST_CURVE = 40  # budgets on the curve


def show_bracket(run: Run) -> Markup | None:
    """The answer in words, a table, and a curve over the number of words; None if nothing was to be proved."""
    found = run.certificates
    if not found:
        return None
    budgets = run.settings["certify"]["budgets"]
    rows = [
        element(
            "tr",
            element("th", format_budget(budget, " of the words"), scope="row"),
            format_share(one.certified_accuracy),
            format_share(one.attacked_accuracy),
            element("td", "–" if one.bracket is None else format_number(one.bracket, f"{100 * one.bracket:.1f}")),
            *(element("td", format_number(number, f"{number:,}")) for number in list_verdicts(one)),
        )
        for budget, one in zip(budgets, found, strict=True)
    ]
    note = (
        "Certified: proved to keep the label, whatever words are exchanged. Attacked: not flipped by any text found. "
        "The bracket is the difference, in points. Small figures are 95\u00a0% intervals. " + found[-1].scope
    )
    return join(
        element("p", describe_bracket(found[-1]), class_="lead"),
        make_table("The bracket under every budget", HEADINGS, element("tbody", *rows)),
        element("p", note, class_="fine"),
        draw_brackets(run),
    )


def list_verdicts(one: Certificate) -> list[int]:
    return [one.verdicts[name] for name in ("robust", "broken", "open")]


def describe_bracket(one: Certificate) -> str:
    """The bracket of one budget in a sentence."""
    if one.certified_accuracy is None or one.attacked_accuracy is None:
        return "There is no text yet."
    low, high = format_percent(one.certified_accuracy), format_percent(one.attacked_accuracy)
    if one.unstable:
        return (
            f"Nothing is certified: the victim answered differently when asked again on {one.unstable:,} of {one.n:,} "
            "texts, and a proof rests on answers that stay the same."
        )
    if not one.open:
        return f"The worst case is known exactly: {high} of the texts keep their right label, and that is proved."
    return f"The worst case lies between {low} (proved) and {high} (attacked); {one.verdicts['open']:,} texts are open."


def draw_brackets(run: Run) -> Markup | None:
    """Certified and attacked accuracy by the number of changed words; None where shares of words were given."""
    words = [Budget.parse(text).words for text in run.settings["budgets"]]
    if len(words) != 1 or words[0] is None or words[0] < 2:
        return None
    most = words[0]
    step = max(1, -(-most // LONGEST_CURVE))
    steps = [*range(0, most, step), most]
    found = [make_certificate(run.settings, run.records, Budget(words=number)) for number in steps]
    series = {
        "attacked": [_point(number, one.attacked_accuracy) for number, one in zip(steps, found, strict=True)],
        "certified": [_point(number, one.certified_accuracy) for number, one in zip(steps, found, strict=True)],
    }
    return draw_curve(series, _ticks(steps), "changed words")


def _point(words: int, share: Estimate | None) -> Point:
    return Point(words, 0, 0, 0) if share is None else Point(words, float(share), share.low, share.high)


def _ticks(steps: Sequence[int]) -> list[tuple[float, str]]:
    return [(number, str(number)) for number in steps]
