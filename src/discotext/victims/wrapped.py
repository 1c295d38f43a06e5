"""Victims in front of others: `WrappedVictim` passes everything on, and a subclass writes what it changes.

`AdaptedVictim` gives objects that do not inherit from `Victim` the same interface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.arrays import Bools, Floats
from discotext.core.objectives import Objective
from discotext.core.oracle import Oracle
from discotext.text.space import Space
from discotext.victims.victim import Capabilities, TextOracle, Victim


class WrappedVictim(Victim):
    """A victim in front of another one, from which it does not differ.

    A subclass overrides what it changes; of `scores` and `oracle`, which ask the model about a text in two ways, both.
    Labels and capabilities are read from the inner victim each time: a function's are known after its first answer.
    """

    def __init__(self, victim: Victim, name: str | None = None) -> None:
        if not isinstance(victim, Victim):
            raise TypeError(
                f"a {type(victim).__name__} is not a Victim; `load_victim` makes one of a model or function"
            )
        self.victim, self.name = victim, name or victim.name

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.victim.labels

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        return self.victim.capabilities

    def scores(self, texts: Sequence[str]) -> Floats:
        return self.victim.scores(texts)

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        return self.victim.oracle(space, objective)

    def truncates(self, texts: Sequence[str]) -> list[bool]:
        return self.victim.truncates(texts)

    def remembers(self, texts: Sequence[str]) -> Bools:
        return self.victim.remembers(texts)

    def explain_bounds(self) -> str:
        return self.victim.explain_bounds()

    def save(
        self, folder: str | Path, settings: Mapping[str, Any] | None = None, more: Mapping[str, bytes] | None = None
    ) -> None:
        self.victim.save(folder, settings, more)

    def supports(self, ability: type) -> bool:
        return self.victim.supports(ability)


class AdaptedVictim(Victim):
    """An object with `name`, `labels` and `scores` that does not inherit from `Victim`.

    Its `capabilities`, and the methods of a victim that it has, are its own; the rest is as for any victim. Its oracle
    is used only for gradients; without them, `TextOracle` does.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.name = model, model.name
        declared = getattr(model, "capabilities", None)
        has_oracle = hasattr(model, "oracle")
        if not isinstance(declared, Capabilities) and (has_oracle or declared is not None):
            raise TypeError(
                f"{model.name} has a method `oracle` but does not declare whether that oracle has gradients; set its "
                "attribute `capabilities` to Capabilities(gradients=True), or False"
                if declared is None
                else f"the capabilities of {model.name} are a {type(declared).__name__}; expected Capabilities(…)"
            )
        if declared is not None and declared.gradients and not has_oracle:
            raise TypeError(
                f"{model.name} declares gradients but has no method `oracle`; write one, or set it to False"
            )
        for method in ("truncates", "remembers", "explain_bounds"):
            if hasattr(model, method):
                setattr(self, method, getattr(model, method))

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.model.labels)

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        declared: Capabilities = getattr(self.model, "capabilities", Victim.capabilities)
        return declared

    def scores(self, texts: Sequence[str]) -> Floats:
        return np.asarray(self.model.scores(texts))

    def oracle(self, space: Space, objective: Objective) -> Oracle:
        if not self.capabilities.gradients:
            return TextOracle(self, space, objective)
        own: Oracle = self.model.oracle(space, objective)
        return own
