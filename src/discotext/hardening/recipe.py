"""Recipes: what is done to a model to make it robust. A recipe is a sum of parts, and a name that can be typed.

    merged[:LOSS]            synonyms are read as one word (`discotext.text.merging`); LOSS is the most that a merge may
                             lose about the label, in nats for each place where it prevents an exchange
    adversarial[:WEIGHT]     training on texts whose words are exchanged to raise the loss, with this weight
    mixed[:WEIGHT]           the same with random mixtures of words in place of the exchange that raises the loss most
    interval[:WEIGHT]        the same with interval bounds of all exchanges at once; for dan and wcnn
    augmented[:ROUNDS]       training again on texts that an attack has flipped, so many times

Numbers may be left out. `plain` is the recipe without parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DEFAULTS: dict[str, float] = {"merged": 0.5, "adversarial": 0.5, "mixed": 0.5, "interval": 0.5, "augmented": 2}
WEIGHTS = {"adversarial": "vertex", "mixed": "mixture", "interval": "interval"}  # and what they are in training


@dataclass(frozen=True)
class Recipe:
    """merged: the most that a merge may lose, None for no merging. weight: of the texts with other words, 0 for none.
    inner: what these are, a value of `WEIGHTS`. augmented: rounds of training on flipped texts.

    >>> Recipe.parse("merged:0.2+adversarial"), str(Recipe(merged=0.2, weight=0.5)), str(Recipe())
    (Recipe(merged=0.2, weight=0.5, inner='vertex', augmented=0), 'merged:0.2+adversarial', 'plain')
    """

    merged: float | None = None
    weight: float = 0.0
    inner: str = "vertex"
    augmented: int = 0

    def __str__(self) -> str:
        trained = next(name for name, inner in WEIGHTS.items() if inner == self.inner)
        parts = {"merged": self.merged, trained: self.weight or None, "augmented": self.augmented or None}
        written = [
            name if value == DEFAULTS[name] else f"{name}:{value:g}"
            for name, value in parts.items()
            if value is not None
        ]
        return "+".join(written) or "plain"

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read a recipe's name; a ValueError says what is wrong with it."""
        hint = f"a recipe is plain, or parts among {', '.join(DEFAULTS)} joined by +, such as merged:0.2+adversarial"
        found: dict[str, Any] = {}
        for part in text.replace(" ", "").split("+") if text != "plain" else ():
            name, _, number = part.partition(":")
            if name not in DEFAULTS or name in found:
                raise ValueError(f"the recipe {text!r} has a part {part!r}; {hint}")
            try:
                found[name] = float(number) if number else DEFAULTS[name]
            except ValueError:
                raise ValueError(f"the recipe {text!r} has a number {number!r}; {hint}") from None
        trained = [name for name in WEIGHTS if name in found]
        if len(trained) > 1:
            raise ValueError(f"the recipe {text!r} trains on other words in two ways; choose {' or '.join(trained)}")
        weight = found[trained[0]] if trained else 0.0
        if not 0 <= weight < 1:
            raise ValueError(f"the recipe {text!r} has the weight {weight:g}; choose 0 to below 1")
        if not found.get("merged", 0.0) >= 0:
            raise ValueError(f"the recipe {text!r} has the loss {found['merged']:g}; choose 0 or more")
        rounds = found.get("augmented", 0)
        if rounds not in range(100):
            raise ValueError(f"the recipe {text!r} has {rounds:g} rounds; choose a whole number from 1 to 99")
        return cls(found.get("merged"), weight, WEIGHTS[trained[0]] if trained else "vertex", int(rounds))


PLAIN = Recipe()
