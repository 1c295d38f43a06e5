"""What a hardening found: figures, JSON, and sentences that say what was gained and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

from discotext.attacks.result import Result
from discotext.hardening.matrix import BLACK_BOX, OWN, Pair
from discotext.runs.certificate import Certificate
from discotext.runs.summary import Estimate, spread
from discotext.support.plain_text import LINE, percent, shorten
from discotext.victims.victim import Victim

SIGNIFICANT = 0.05
MASKED = 0.02  # share of the texts by which a search without gradients may find more


@dataclass(frozen=True)
class Trial:
    """A recipe on held-out texts: accuracy on all of them, accuracy under attack on so many, seconds of training."""

    clean: float
    attacked: float
    seconds: float
    texts: int


@dataclass(frozen=True, eq=False)
class Hardening:
    """A hardened victim beside the plain one.

    chosen: the recipe. trials: all recipes, on held-out texts. clean: accuracy on all test texts, before and after.
    trained: whether the hardened victim was trained, and is not a given one with merged words in front.
    matrix: accuracy under every attack. runs: the attack that the victim was built for, certified, before and after.
    """

    victim: Victim
    plain: Victim
    chosen: str
    trials: Mapping[str, Trial]
    max_loss: float
    share: float
    model: str
    data: str
    seed: int
    clean: tuple[Estimate, Estimate]
    matrix: Mapping[str, Pair]
    trained: bool
    runs: tuple[Result, Result]

    def __repr__(self) -> str:
        head = f"Hardening: {shorten(self.model, 30)} on {shorten(self.data, 30)}"
        return "\n".join([head, *(line for note in describe(self) for line in wrap(note, LINE))])

    @property
    def certificates(self) -> tuple[Certificate, Certificate]:
        """What is proved under the attack that the victim was built for, before and after."""
        return self.runs[0].certificates[0], self.runs[1].certificates[0]

    @property
    def worst(self) -> str:
        """The attack that leaves the hardened model least."""
        return min(self.matrix, key=lambda name: self.matrix[name].after)

    @property
    def cost(self) -> float | None:
        """Seconds of training as a multiple of those of the plain model; None where that was not trained here."""
        plain = self.trials["plain"].seconds
        return self.trials[self.chosen].seconds / plain if self.trained and plain >= 0.1 else None

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        own, worst, (before, after) = self.matrix[OWN], self.matrix[self.worst], self.certificates
        figures = {
            "clean": self.clean,
            "attacked": (own.before, own.after),
            "certified": (before.certified_accuracy, after.certified_accuracy),
            "worst": (min(pair.before for pair in self.matrix.values()), worst.after),
        }
        test: dict[str, Any] = {"n": before.n}
        for name, (old, new) in figures.items():
            test |= spread(f"{name}_before", old) | spread(f"{name}_after", new)
        test |= {"worst": self.worst, "p": own.p, "open_after": after.open}
        test["matrix"] = {
            name: {**spread("before", pair.before), **spread("after", pair.after), "p": pair.p}
            for name, pair in self.matrix.items()
        }
        return {
            "model": self.model,
            "data": self.data,
            "seed": self.seed,
            "budget": self.share,
            "max_loss": self.max_loss,
            "chosen": self.chosen,
            "cost": None if self.cost is None else round(self.cost, 2),
            "recipes": {name: asdict(trial) for name, trial in self.trials.items()},
            "test": test,
            "notes": list(describe(self)),
        }


def describe(found: Hardening) -> Iterator[str]:
    """What was gained, at what price, and what was not, a sentence each."""
    trials, (before, after) = found.trials, found.clean
    if found.chosen == "plain":
        yield (
            f"No recipe is more robust within {found.max_loss:g} points of accuracy on held-out texts, so the plain "
            "model is kept."
        )
        best = max(trials, key=lambda name: trials[name].attacked)
        if best != "plain":
            lost = 100 * (trials["plain"].clean - trials[best].clean)
            yield (
                f"{best} keeps {percent(trials[best].attacked)} under attack, at {lost:.1f} points; raise --max-loss "
                "for it."
            )
        return
    own, worst = found.matrix[OWN], found.matrix[found.worst]
    price = f"{100 * (before - after):.1f} points" if before - after >= 0.0005 else "no loss"
    seconds = ""
    if found.cost is not None:
        seconds = f", {trials[found.chosen].seconds:,.0f} s of training instead of {trials['plain'].seconds:,.0f} s"
    yield (
        f"{found.chosen}: {percent(own.before)} → {percent(own.after)} under the attack it was built for, at {price} "
        f"of accuracy without one ({percent(before)} → {percent(after)}){seconds}."
    )
    yield (
        f"Worth {percent(worst.after)} against an attacker who chooses the strongest of these ({found.worst}), and "
        f"the plain model {percent(min(pair.before for pair in found.matrix.values()))}."
    )
    significant = {name: pair for name, pair in found.matrix.items() if pair.p < SIGNIFICANT}
    groups = {
        "Nothing significant was gained against": [name for name in found.matrix if name not in significant],
        "The hardened model is worse against": [name for name, pair in significant.items() if pair.after < pair.before],
    }
    for beginning, names in groups.items():
        if names:
            yield f"{beginning}: {'; '.join(f'{name} ({found.matrix[name]})' for name in names)}."
    blind = found.matrix.get(BLACK_BOX)
    if blind is not None and own.after - blind.after > MASKED:
        yield (
            f"Its gradients mislead: a search without them leaves {percent(blind.after)}, one with them "
            f"{percent(own.after)}. Part of what it gained is hidden, not robust."
        )
    elif blind is not None:
        yield "Its gradients do not mislead: a search without them finds no more than one with them."
