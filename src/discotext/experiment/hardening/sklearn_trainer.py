"""Hardening scikit-learn pipelines: they are fitted again, on texts with synonyms merged or on flipped texts, too."""

from __future__ import annotations

import hashlib
from typing import Any

from discotext.data.examples import Examples
from discotext.experiment.attack import attack
from discotext.experiment.hardening.recipe import Recipe
from discotext.experiment.hardening.task import Task, Trainer
from discotext.support.extras import require
from discotext.text.merging import NOTHING_MERGED
from discotext.victims.encoded import Encoded
from discotext.victims.scikit import SklearnVictim
from discotext.victims.scikit_vocabulary import find_vocabulary
from discotext.victims.victim import Victim

AUTO = ("plain", "augmented", "merged:0.1", "merged:0.2", "merged", "merged:1", "merged:3")
ATTACKED = 1_000  # training texts in a round of augmentation


def make_tfidf() -> Any:
    """An unfitted pipeline of TF-IDF weights and logistic regression."""
    pipeline = require("sklearn.pipeline", "sklearn", "the model tfidf")
    text = require("sklearn.feature_extraction.text", "sklearn", "the model tfidf")
    linear = require("sklearn.linear_model", "sklearn", "the model tfidf")
    return pipeline.make_pipeline(text.TfidfVectorizer(), linear.LogisticRegression(C=10, max_iter=1000))


class SklearnTrainer(Trainer):
    """pipeline: fitted or not; it is cloned for each recipe, and stays as it is."""

    auto = AUTO

    def __init__(self, pipeline: Any, name: str) -> None:
        self.pipeline, self.name = pipeline, name

    def check(self, recipe: Recipe) -> None:
        if recipe.weight:
            raise ValueError(
                f"the recipe {recipe} needs training by gradients, which {self.name} has not; use merged or augmented"
            )

    def train(self, recipe: Recipe, task: Task) -> Victim:
        clone = require("sklearn.base", "sklearn", "fitting a pipeline").clone
        merged = task.merge(recipe, unseen=self._reads_any_word(task))
        texts, labels = list(map(merged, task.examples.texts)), task.examples.labels.tolist()
        flipped: list[tuple[str, int]] = []
        for number in range(recipe.augmented + 1):
            task.progress("fitting", number / (recipe.augmented + 1))
            fitted = clone(self.pipeline).fit(
                texts + [merged(text) for text, _ in flipped], labels + [label for _, label in flipped]
            )
            inner = SklearnVictim(fitted, self.name)
            inner.labels = task.examples.names
            victim: Victim = inner if merged is NOTHING_MERGED else Encoded(inner, merged)
            if number < recipe.augmented:
                some = task.examples.sample(ATTACKED, task.seed + number)
                flipped += find_flipped(victim, some, task)
        return victim

    def _reads_any_word(self, task: Task) -> bool:
        """Whether the pipeline, fitted to a few texts, reads words that these lack, as one of characters does."""
        clone = require("sklearn.base", "sklearn", "fitting a pipeline").clone
        some = task.examples.sample(max(100, 2 * len(task.examples.names)), task.seed)
        return find_vocabulary(clone(self.pipeline).fit(list(some.texts), some.labels.tolist())) is None

    def settings(self, examples: Examples) -> dict[str, object]:
        return {"model": self.name, "pipeline": hashlib.sha256(repr(self.pipeline).encode()).hexdigest()[:16]}


def find_flipped(victim: Victim, examples: Examples, task: Task) -> list[tuple[str, int]]:
    """Texts that an attack flips, with their true labels."""
    found = attack(victim, examples, budget=task.share, candidates=task.candidates, seed=task.seed, progress=False)
    return [(record.adversarial_text, record.label) for record in found.records if record.succeeded]
