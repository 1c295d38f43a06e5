"""Hardening a model that cannot be trained here: merged synonyms in front of it, and nothing else."""

from __future__ import annotations

from discotext.experiment.hardening.recipe import Recipe
from discotext.experiment.hardening.task import Task, Trainer
from discotext.text.merging import NOTHING_MERGED
from discotext.victims.encoded import Encoded
from discotext.victims.victim import Victim


class FixedTrainer(Trainer):
    """victim: a function, a service, or any model that is to stay as it is."""

    auto = ("plain", "merged:0.05", "merged:0.1", "merged:0.2", "merged", "merged:1")

    def __init__(self, victim: Victim) -> None:
        self.victim, self.name = victim, victim.name

    def check(self, recipe: Recipe) -> None:
        if recipe.weight or recipe.augmented:
            raise ValueError(
                f"{self.name} cannot be trained here, only asked, so the recipe {recipe} is not for it; use merged, "
                "which puts a reader of synonyms in front of it"
            )

    def train(self, recipe: Recipe, task: Task) -> Victim:
        merged = task.merge(recipe)
        return self.victim if merged is NOTHING_MERGED else Encoded(self.victim, merged)

    @property
    def given(self) -> Victim:
        return self.victim

    def saves(self, recipe: Recipe) -> bool:
        return False
