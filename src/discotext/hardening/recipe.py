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

DEFAULTS: dict[str, float] = {"merged": 0.5, "adversarial": 0.5, "mixed": 0.5, "interval": 0.5, "augmented": 2}
WEIGHTS = {"adversarial": "vertex", "mixed": "mixture", "interval": "interval"}  # and what they are in training
HINT = (
    "a recipe is plain, or parts joined by +: merged:LOSS (0 or more), one of adversarial:WEIGHT, mixed:WEIGHT and "
    "interval:WEIGHT (0 to below 1), and augmented:ROUNDS (a whole number below 100)"
)


@dataclass(frozen=True)
class Recipe:
    """The numbers of a recipe's parts.

    merged: the most that a merge may lose, or None if nothing is merged.
    weight: how much texts with other words count in training; 0 if there are none.
    inner: what these texts are, a value of `WEIGHTS`.
    augmented: how many rounds of training on flipped texts there are.

    >>> Recipe.parse("merged:0.2+adversarial"), str(Recipe(merged=0.2, weight=0.5)), str(Recipe())
    (Recipe(merged=0.2, weight=0.5, inner='vertex', augmented=0), 'merged:0.2+adversarial', 'plain')
    """

    merged: float | None = None
    weight: float = 0.0
    inner: str = "vertex"
    augmented: int = 0

    @property
    def parts(self) -> dict[str, float]:
        """The number of each part, by name."""
        trained = next(name for name, inner in WEIGHTS.items() if inner == self.inner)
        every = {"merged": self.merged, trained: self.weight or None, "augmented": self.augmented or None}
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
            allowed = value < 1 if name in WEIGHTS else name != "augmented" or value in range(100)
            if name in found or not (value >= 0 and allowed):
                raise ValueError(f"the recipe {text!r} has a part {part!r}; {HINT}")
            found[name] = value
        trained = [name for name in WEIGHTS if name in found]
        if len(trained) > 1:
            raise ValueError(f"the recipe {text!r} trains on other words in two ways; {HINT}")
        weight, inner = (found[trained[0]], WEIGHTS[trained[0]]) if trained else (0.0, "vertex")
        return cls(found.get("merged"), weight, inner, int(found.get("augmented", 0)))


PLAIN = Recipe()
