"""What every trainer is given, and what it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from discotext.data.examples import Examples
from discotext.experiment.hardening.recipe import Recipe
from discotext.text.candidates import Candidates
from discotext.text.merging import NOTHING_MERGED, Exchanges, LabelCounts, MergedWords, merge_words
from discotext.text.packaged_vectors import load_packaged_vectors
from discotext.victims.victim import Victim, compute_scores

Progress = Callable[[str, float], None]  # an activity, and the share of it that is done
FIRST = 2  # texts whose scores identify a victim
LOOKED_AT = 10_000  # texts in which exchanges are counted


def ignore(activity: str, done: float) -> None:
    """The progress callback that does nothing."""


@dataclass(frozen=True, eq=False)
class Task:
    """Training texts, what their words may be exchanged for, and how many of them.

    source: a task with the same texts, whose counts are used instead of counting again.
    """

    examples: Examples
    candidates: Candidates
    share: float
    seed: int
    progress: Progress = ignore
    source: Task | None = None

    @cached_property
    def _counts(self) -> LabelCounts:
        if self.source is not None:
            return self.source._counts
        return LabelCounts.of(self.examples.texts, self.examples.labels, len(self.examples.names))

    @cached_property
    def _exchanges(self) -> Exchanges:
        if self.source is not None:
            return self.source._exchanges
        some = self.examples.sample(LOOKED_AT, self.seed).texts
        words = [*self._counts.counts, *load_packaged_vectors().words]

        def report(done: float) -> None:
            self.progress("looking for exchanges", done)

        return Exchanges.find(self.candidates, some, words, report)

    def prepare(self) -> None:
        """Look for exchanges now, so that this does not count as the training of whichever recipe comes first."""
        self._exchanges  # noqa: B018 (it is kept)

    def merge(self, recipe: Recipe, unseen: bool = True) -> MergedWords:
        """The words that a recipe merges. unseen: whether the model reads words that the training texts lack."""
        if recipe.merged is None:
            return NOTHING_MERGED
        return merge_words(self._exchanges, self._counts, recipe.merged, unseen)


class Trainer(ABC):
    """Makes a victim by a recipe. name: of the model. auto: the recipes that are worth trying, plain first."""

    name: str
    auto: tuple[str, ...]

    @abstractmethod
    def check(self, recipe: Recipe) -> None:
        """Raise ValueError if the recipe is not for this model."""

    @abstractmethod
    def train(self, recipe: Recipe, task: Task) -> Victim:
        """Train by a recipe. A victim whose synonyms are merged is `Encoded`."""

    def saves(self, recipe: Recipe) -> bool:
        """Whether what a recipe makes is the trainer's to save; a model that the user holds is not."""
        return True

    @property
    def given(self) -> Victim | None:
        """The victim that the user holds, if the model is not made from scratch: `plain` is that one."""
        return None

    def settings(self, examples: Examples) -> dict[str, object]:
        """What the result depends on, beside the recipe and the task; another model of the same name differs here."""
        if self.given is None:
            return {"model": self.name}
        scores = compute_scores(self.given, examples.texts[:FIRST])
        return {"model": self.name, "first_scores": [[float(f"{value:.3g}") for value in row] for row in scores]}
