"""Recipes: what is done to a model to make it robust. A recipe is a sum of parts, and a name that can be typed.

    merged[:LOSS]            synonyms are read as one word (`discotext.text.merging`); LOSS is the most that a merge may
                             lose about the label, in nats for each place where it prevents an exchange
    adversarial[:WEIGHT]     training on texts whose words are exchanged to raise the loss, with this weight
    augmented[:ROUNDS]       training again on texts that an attack has flipped, so many times

Numbers may be left out. `plain` is the recipe without parts.
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULTS: dict[str, float] = {"merged": 0.5, "adversarial": 0.5, "augmented": 2}
HINT = (
    "a recipe is plain, or parts joined by +: merged:LOSS (0 or more), adversarial:WEIGHT (0 to below 1) and "
    "augmented:ROUNDS (a whole number below 100)"
)


@dataclass(frozen=True)
class Recipe:
    """The numbers of a recipe's parts.

    merged: the most that a merge may lose, or None if nothing is merged.
    adversarial: how much texts with exchanged words count in training; 0 if there are none.
    augmented: how many rounds of training on flipped texts there are.

    >>> Recipe.parse("merged:0.2+adversarial"), str(Recipe(merged=0.2, adversarial=0.5)), str(Recipe())
    (Recipe(merged=0.2, adversarial=0.5, augmented=0), 'merged:0.2+adversarial', 'plain')
    """

    merged: float | None = None
    adversarial: float = 0.0
    augmented: int = 0

    @property
    def parts(self) -> dict[str, float]:
        """The number of each part, by name."""
        every = {"merged": self.merged, "adversarial": self.adversarial or None, "augmented": self.augmented or None}
        return {name: value for name, value in every.items() if value is not None}

    def __str__(self) -> str:
        parts = self.parts.items()
        return "+".join(name if value == DEFAULTS[name] else f"{name}:{value:g}" for name, value in parts) or "plain"

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read a recipe's name; a ValueError says what is wrong with it."""
        found: dict[str, float] = {}
        for part in text.replace(" ", "").split("+") if text != "plain" else ():
            name, _, number = part.partition(":")
            try:
                value = float(number or DEFAULTS[name]) if name in DEFAULTS else -1.0
            except ValueError:
                value = -1.0
            allowed = {"adversarial": value < 1, "augmented": value in range(100)}.get(name, True)
            if name in found or not (value >= 0 and allowed):
                raise ValueError(f"the recipe {text!r} has a part {part!r}; {HINT}")
            found[name] = value
        return cls(found.get("merged"), found.get("adversarial", 0.0), int(found.get("augmented", 0)))


PLAIN = Recipe()
