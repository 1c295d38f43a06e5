"""Certificates: between which accuracies the true worst case lies.

At least the certified share of texts keeps its label whatever words are exchanged within the candidates and the budget;
that is proved. At most the attacked share does; that is shown by texts that lose it. In between are texts of which
neither is known. One run answers for every smaller budget: a text that was proved up to r words, and flipped with k, is
robust up to r, broken from k on, and open between.

A proof rests on answers that stay the same. Where the victim contradicts itself on any text of a run, no proof of the
run holds: robust becomes open, and the certified accuracy is 0. The file of records is only ever appended, and may have
proofs from before the contradiction; whatever reads it takes them back (`take_back`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from discotext.runs.record import Budget, Record, describe_budget
from discotext.runs.summary import (
    Estimate,
    estimate_share,
    find_accept,
    flatten_figures,
    hash_spaces,
    make_lines,
    name_classes,
)
from discotext.support.plain_text import percent, shorten
from discotext.text.words import compute_budget

Verdict = Literal["robust", "broken", "open", "wrong"]
SCOPE = (
    "What is certified: this model, on these texts, with these candidates and this budget. Other words or more changes "
    "may still flip a label."
)
CONTRADICTION = "the victim does not answer the same when asked again about a text of this run, so nothing is proved"


def count_allowed(record: Record, budget: Budget) -> int:
    """How many words of a record's text may change under a budget."""
    if budget.words is not None:
        return min(budget.words, record.words)
    return compute_budget(record.words, str(budget.share))


def judge(record: Record, allowed: int | None = None) -> Verdict:
    """The verdict on a text if so many of its words may change [default: as many as in the run].

    Of its text alone: see `take_back`.
    """
    changes = record.budget if allowed is None else allowed
    if record.predicted is not None and record.predicted != record.label:
        return "wrong"
    if record.status == "failed":
        return "open"
    if record.status == "misclassified":
        return "robust"  # of the target's class already: there is nothing to flip
    if record.succeeded and len(record.changes) <= changes:
        return "broken"
    return "robust" if record.radius is not None and record.radius >= changes else "open"


def explain_open(record: Record, passes: int) -> str:
    """Why nothing is known of a text."""
    if record.status == "failed":
        return f"the victim failed: {record.error}"
    if record.tied:
        return "a swap leaves the two best classes within the victim's rounding errors"
    if record.status == "unstable":
        return "the victim does not answer the same when asked again, or when asked about the finished text"
    # Enumeration does not begin what does not fit into the limit, so that less may have been spent.
    radius = record.radius or 0
    known = f"robust up to {radius} changed word{'' if radius == 1 else 's'}"
    return f"a proof would take more than the limit of {passes:,} passes; {known}"


def count_unstable(records: Iterable[Record]) -> int:
    """On how many texts the victim contradicted itself."""
    return len({record.id for record in records if record.status == "unstable"})


def take_back(records: Sequence[Record], stable: bool | None = None) -> list[Record]:
    """Records of one run, without their proofs if the victim contradicts itself. stable: whether it does not."""
    if not count_unstable(records) if stable is None else stable:
        return list(records)
    open_: dict[str, Any] = {"verdict": "open", "reason": CONTRADICTION}
    return [replace(one, radius=None, **(open_ if one.verdict == "robust" else {})) for one in records]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The figures of one budget.

    certified_accuracy: at least this share keeps its label. attacked_accuracy: at most this share does.
    bracket: the difference of the two. open: the share of undecided texts. verdicts: how many texts have each verdict.
    radius: how many texts, among those the victim is right about, are proved up to exactly so many changed words.
    forwards, backwards, bounds, seconds: the sums over all texts. labels, target: the names of the classes, and of the
        one that texts were to be flipped to, if any.
    unstable: how many texts of the run the victim contradicted itself on; if there is one, nothing is certified.
    """

    victim: str
    data: str
    seed: int
    n: int
    budget: float | int
    accept: float | None
    space: str
    original_accuracy: Estimate | None
    certified_accuracy: Estimate | None
    attacked_accuracy: Estimate | None
    bracket: float | None
    open: float | None
    verdicts: Mapping[str, int]
    radius: Mapping[int, int]
    forwards: int
    backwards: int
    bounds: int
    seconds: float
    version: str
    scope: str = SCOPE
    labels: Sequence[str] = ()
    target: str | None = None
    unstable: int = 0

    def __repr__(self) -> str:
        return f"Certificate({self})"

    def __str__(self) -> str:
        low, high = percent(self.certified_accuracy), percent(self.attacked_accuracy)
        return shorten(f"{low} proved to stay right, {high} at most, if {describe_budget(self.budget)} may change")

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        counts = {"verdicts": dict(self.verdicts), "radius": {str(key): n for key, n in self.radius.items()}}
        return flatten_figures(self) | counts | {"labels": list(self.labels)}


def make_certificate(
    settings: Mapping[str, Any], records: Sequence[Record], budget: Budget, unstable: int | None = None
) -> Certificate:
    """The figures of one budget, from records under that budget or a larger one.

    unstable: on how many texts of the whole run the victim contradicted itself [default: of these].
    """
    unstable = count_unstable(records) if unstable is None else unstable
    records = take_back(records, stable=not unstable)
    verdicts = [judge(record, count_allowed(record, budget)) for record in records]
    if unstable:  # also a text whose label was proved to stay without a radius
        verdicts = ["open" if one == "robust" else one for one in verdicts]
    count = Counter(verdicts)
    right = np.array([record.predicted == record.label for record in records], dtype=bool)
    robust, broken = (np.array([one == kind for one in verdicts], dtype=bool) for kind in ("robust", "broken"))
    certified, attacked = estimate_share(robust), estimate_share(right & ~broken)
    n = len(records)
    return Certificate(
        victim=settings["victim"],
        data=settings["data"],
        seed=settings["seed"],
        n=n,
        budget=budget.value,
        accept=find_accept(settings, str(budget)),
        space=hash_spaces(make_lines(records)),
        original_accuracy=estimate_share(right),
        certified_accuracy=certified,
        attacked_accuracy=attacked,
        bracket=None if certified is None or attacked is None else float(attacked) - float(certified),
        open=count["open"] / n if n else None,
        verdicts={name: count[name] for name in get_args(Verdict)},
        radius=count_radii(records, budget),
        forwards=sum(record.forwards for record in records),
        backwards=sum(record.backwards for record in records),
        bounds=sum(record.bounds for record in records),
        seconds=sum(record.seconds for record in records),
        version=settings["version"],
        unstable=unstable,
        **name_classes(settings),
    )


def count_radii(records: Iterable[Record], budget: Budget) -> dict[int, int]:
    """How many texts are proved up to exactly so many changed words, and no more than the budget allows."""
    right = [one for one in records if one.predicted == one.label and one.status != "failed"]
    found = Counter(min(one.radius or 0, count_allowed(one, budget)) for one in right)
    return dict(sorted(found.items()))


def make_certificates(settings: Mapping[str, Any], records: Sequence[Record]) -> list[Certificate]:
    """One for each budget that was asked for; empty if the run was not to prove anything."""
    found, unstable = [], count_unstable(records)
    for budget in map(Budget.parse, (settings.get("certify") or {"budgets": []})["budgets"]):
        kind = budget.accept, budget.share is None
        mine = [record for record in records if (record.accept, record.share is None) == kind]
        found.append(make_certificate(settings, mine, budget, unstable))
    return found


def find_largest(budgets: Sequence[Budget]) -> tuple[Budget, ...]:
    """Of the budgets of each level of acceptance, the largest: it answers for the others."""
    largest: dict[str | None, Budget] = {}
    for budget in sorted(budgets, key=lambda one: one.value):
        largest[budget.accept] = budget
    return tuple(largest.values())
