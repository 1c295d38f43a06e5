"""Trainers make a victim of a model by a recipe: one for each kind of model.

A network of `discotext train` is trained from scratch, a scikit-learn pipeline is fitted again, a Hugging Face
classifier is fine-tuned further, and any other victim stays as it is and gets a reader of synonyms.
"""

from __future__ import annotations

import copy
import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from discotext.attacks.attack import attack
from discotext.data.examples import Examples
from discotext.hardening.recipe import PLAIN, Recipe
from discotext.support.extras import require
from discotext.text.candidates import Candidates
from discotext.text.merging import NOTHING_MERGED, Exchanges, LabelCounts, MergedWords, merge_words
from discotext.text.space import Space
from discotext.text.vectors import load_packaged_vectors
from discotext.victims.encoded import Encoded, encode_space, exchange_words
from discotext.victims.registry import load_victim
from discotext.victims.sklearn.model import find_vocabulary
from discotext.victims.sklearn.victim import SklearnVictim
from discotext.victims.transformers.victim import HuggingFaceVictim
from discotext.victims.victim import Victim, compute_scores

Report = Callable[[str, float], None]  # gets an activity, and the share of it that is done
NETWORKS = ("lstm", "wcnn", "dan", "rnn")
TFIDF = "tfidf"
FIRST = 2  # texts whose scores identify a victim
LOOKED_AT = 10_000  # texts in which exchanges are counted
ATTACKED = 1_000  # training texts in a round of augmentation
BATCH, RATE, WARM_UP, EPOCHS = 32, 5e-5, 0.1, 2  # of fine-tuning


@dataclass(eq=False)
class Training:
    """Training texts, what their words may be exchanged for, and the share of the words that may be exchanged.

    title: what is being trained; it stands before each activity that is reported.
    """

    examples: Examples
    candidates: Candidates
    share: float
    seed: int
    listener: Report = lambda activity, done: None
    title: str = ""

    def report(self, activity: str, done: float) -> None:
        self.listener(f"{self.title}{activity}", done)

    @cached_property
    def _counts(self) -> LabelCounts:
        return LabelCounts.of(self.examples.texts, self.examples.labels, len(self.examples.names))

    @cached_property
    def exchanges(self) -> Exchanges:
        """What may be exchanged for what in the texts; finding it takes a while, once."""
        some = self.examples.sample(LOOKED_AT, self.seed).texts
        words = [*self._counts.counts, *load_packaged_vectors().words]
        return Exchanges.find(self.candidates, some, words, partial(self.report, "looking for exchanges"))

    def merge(self, recipe: Recipe, unseen: bool = True) -> MergedWords:
        """The words that a recipe merges. unseen: whether the model reads words that the training texts lack."""
        if recipe.merged is None:
            return NOTHING_MERGED
        return merge_words(self.exchanges, self._counts, recipe.merged, unseen)


def read_merged(victim: Victim, merged: MergedWords) -> Victim:
    """The victim, with merged words in front of it where there are any."""
    return victim if merged is NOTHING_MERGED else Encoded(victim, merged)


class Trainer(ABC):
    """Makes a victim by a recipe: a class for each kind of model.

    parts: the parts of recipes that are for it. auto: the recipes that are worth trying, plain first.
    given: the victim that the user holds, if the model is not made from scratch; the recipe `plain` leaves it as it is.
    details: what the result depends on, beside the name of the model, the recipe and the texts.
    """

    parts: tuple[str, ...]
    auto: tuple[str, ...]

    def __init__(self, name: str, given: Victim | None = None, **details: object) -> None:
        self.name, self.given, self.details = name, given, details

    def check(self, recipe: Recipe) -> None:
        """Raise ValueError if the recipe is not for this model."""
        if not recipe.parts.keys() <= set(self.parts):
            raise ValueError(f"the recipe {recipe} is not for {self.name}; its parts may be {', '.join(self.parts)}")

    @abstractmethod
    def train(self, recipe: Recipe, training: Training) -> Victim:
        """Train by a recipe. A victim whose synonyms are merged is `Encoded`."""

    def settings(self, examples: Examples) -> dict[str, object]:
        """What tells this model from others, also of the same name: a folder is not resumed with another one."""
        found = {"model": self.name, **self.details}
        if self.given is not None:
            scores = compute_scores(self.given, examples.texts[:FIRST])
            found["first_scores"] = [[float(f"{value:.3g}") for value in row] for row in scores]
        return found


def make_trainer(model: Any, epochs: int | None = None, trust: bool = False) -> Trainer:
    """The trainer of a model: a name as on the command line, a scikit-learn pipeline, or a victim.

    epochs: of training, at most. trust: allow pickled scikit-learn files, which can execute code when they are loaded.
    """
    if isinstance(model, str) and model in NETWORKS:
        require("torch", extra="torch", reason=f"the model {model}")
        return NeuralTrainer(model, epochs)
    if model == TFIDF:
        return SklearnTrainer(make_tfidf(), TFIDF)
    if "sklearn" in sys.modules:
        from sklearn.base import BaseEstimator

        if isinstance(model, BaseEstimator) and not hasattr(model, "classes_"):  # not fitted, so it is no victim yet
            return SklearnTrainer(model, type(model).__name__)
    if isinstance(model, str) and ":" not in model and "/" not in model and not Path(model).exists():
        raise ValueError(
            f"there is no model {model!r}; choose {', '.join(NETWORKS)} or {TFIDF}, hf:FOLDER (a fine-tuned "
            "classifier), sklearn:FILE, or another victim, which gets a reader of synonyms"
        )
    victim = load_victim(model, trust)
    if isinstance(victim, SklearnVictim):
        return SklearnTrainer(victim.pipeline, victim.name)
    if isinstance(victim, HuggingFaceVictim):
        return TransformerTrainer(victim, epochs)
    if "torch" in sys.modules:  # otherwise it is no network of `discotext train`
        from discotext.victims.neural.victim import NeuralVictim

        inner = victim.victim if isinstance(victim, Encoded) else victim
        if isinstance(inner, NeuralVictim):
            return NeuralTrainer(inner.network.shape.kind, epochs)
    return FixedTrainer(victim.name, victim)


class FixedTrainer(Trainer):
    """Leaves a victim as it is, a function or a service for one, and puts merged synonyms in front of it."""

    parts = ("merged",)
    auto = ("plain", "merged:0.05", "merged:0.1", "merged:0.2", "merged", "merged:1")

    def train(self, recipe: Recipe, training: Training) -> Victim:
        assert self.given is not None
        return read_merged(self.given, training.merge(recipe))


class SklearnTrainer(Trainer):
    """Fits a pipeline again, on texts with synonyms merged or on flipped texts, too.

    pipeline: fitted or not; it is cloned for each recipe, and stays as it is.
    """

    parts = ("merged", "augmented")
    auto = ("plain", "augmented", "merged:0.1", "merged:0.2", "merged", "merged:1", "merged:3")

    def __init__(self, pipeline: Any, name: str) -> None:
        super().__init__(name, pipeline=hashlib.sha256(repr(pipeline).encode()).hexdigest()[:16])
        self.pipeline = pipeline

    def train(self, recipe: Recipe, training: Training) -> Victim:
        # A pipeline of characters, for one, also reads words that the training texts lack.
        some = training.examples.sample(max(100, 2 * len(training.examples.names)), training.seed)
        reads_any = find_vocabulary(self._fit(list(some.texts), some.labels.tolist())) is None
        merged = training.merge(recipe, unseen=reads_any)
        texts, labels = list(map(merged, training.examples.texts)), training.examples.labels.tolist()
        for number in range(recipe.augmented + 1):
            training.report("fitting", number / (recipe.augmented + 1))
            inner = SklearnVictim(self._fit(texts, labels), self.name)
            inner.labels = training.examples.names
            victim = read_merged(inner, merged)
            if number < recipe.augmented:
                some = training.examples.sample(ATTACKED, training.seed + number)
                for text, label in find_flipped(victim, some, training):
                    texts.append(merged(text))
                    labels.append(label)
        return victim

    def _fit(self, texts: list[str], labels: list[int]) -> Any:
        from sklearn.base import clone

        return clone(self.pipeline).fit(texts, labels)


def make_tfidf() -> Any:
    """An unfitted pipeline of TF-IDF weights and logistic regression."""
    require("sklearn", "sklearn", "the model tfidf")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=1000))


def find_flipped(victim: Victim, examples: Examples, training: Training) -> list[tuple[str, int]]:
    """Texts that an attack flips, with their true labels."""
    found = attack(
        victim, examples, budget=training.share, candidates=training.candidates, seed=training.seed, progress=False
    )
    return [(record.adversarial_text, record.label) for record in found.records if record.succeeded]


class NeuralTrainer(Trainer):
    """Trains a network of `discotext train` from scratch.

    name: lstm, wcnn, dan or rnn. epochs: at most so many [default: as `train` chooses].
    """

    parts = ("merged", "adversarial")
    auto = ("plain", "adversarial", "merged:0.2", "merged", "merged:0.2+adversarial", "merged+adversarial")

    def __init__(self, name: str, epochs: int | None = None) -> None:
        super().__init__(name, epochs=epochs)
        self.epochs = epochs

    def train(self, recipe: Recipe, training: Training) -> Victim:
        from discotext.victims.neural.training import TrainingState, load_default_vectors, make_settings, train

        vectors, name = load_default_vectors()
        merged = training.merge(recipe)
        chosen = {"kind": self.name, "epochs": self.epochs, "seed": training.seed, "share": training.share}
        settings = make_settings({**chosen, "adversarial": recipe.adversarial}, len(training.examples))

        def report(state: TrainingState) -> None:
            training.report(f"epoch {max(state.epoch, 1)} of {state.epochs}", state.step / max(state.steps, 1))

        found, ended = train(training.examples, vectors, settings, report, training.candidates, merged)
        if ended.interrupted:
            raise KeyboardInterrupt
        found.settings |= {"vectors": name, "recipe": str(recipe)}
        return read_merged(found, merged)


class TransformerTrainer(Trainer):
    """Fine-tunes a Hugging Face classifier further, with synonyms merged and words exchanged in every batch.

    victim: a fine-tuned classifier; `plain` leaves it as it is. epochs: of further fine-tuning.
    """

    parts = ("merged", "adversarial")
    auto = ("plain", "adversarial", "merged", "merged+adversarial")

    def __init__(self, victim: HuggingFaceVictim, epochs: int | None = None) -> None:
        self.victim, self.epochs = victim, epochs or EPOCHS
        super().__init__(victim.name, victim, epochs=self.epochs)

    def train(self, recipe: Recipe, training: Training) -> Victim:
        if recipe == PLAIN:
            return self.victim
        merged = training.merge(recipe)
        reader = self.victim.reader
        found = HuggingFaceVictim(copy.deepcopy(reader.model), reader.tokeniser, device=str(reader.device))
        found.name, found.labels = self.name, self.victim.labels
        fine_tune(found, merged, recipe, training, self.epochs)
        return read_merged(found, merged)


def fine_tune(victim: HuggingFaceVictim, merged: MergedWords, recipe: Recipe, training: Training, epochs: int) -> None:
    """Fine-tune in place: AdamW, linear warm-up and decay, batches of similar length."""
    import torch

    from discotext.victims.neural.training import make_batches

    if recipe.adversarial and not victim.capabilities.gradients:
        raise ValueError(f"{victim.name} accepts no vectors in place of tokens, so it has no gradients; use merged")
    model = victim.reader.model
    rng = np.random.default_rng(training.seed)
    torch.manual_seed(training.seed)
    texts = training.examples.texts
    space = None
    if recipe.adversarial:
        space = encode_space(Space.of(texts, training.candidates, training.share), merged)
    plan = [(epoch, rows) for epoch in range(1, epochs + 1) for rows in make_batches(texts, BATCH, rng)]
    warm = WARM_UP * len(plan)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    for step, (epoch, rows) in enumerate(plan):
        labels = training.examples.labels[rows]
        worse = None if space is None else exchange_words(victim, space.take(rows), labels)
        for group in optimiser.param_groups:
            group["lr"] = RATE * min((step + 1) / warm, (len(plan) - step) / max(len(plan) - warm, 1))
        model.train().requires_grad_(True)
        optimiser.zero_grad()
        targets = torch.from_numpy(labels).to(victim.reader.device)
        _backward(victim, [merged(texts[row]) for row in rows], targets, 1 - recipe.adversarial)
        if worse is not None:
            _backward(victim, worse, targets, recipe.adversarial)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        model.eval().requires_grad_(False)
        training.report(f"epoch {epoch} of {epochs}", (step + 1) / len(plan))


def _backward(victim: HuggingFaceVictim, texts: Sequence[str], targets: Any, weight: float) -> None:
    import torch

    logits = victim.reader.logits(victim.reader.read(texts), np.arange(len(texts)))
    loss = torch.nn.functional.cross_entropy(logits, targets)
    (weight * loss).backward()  # type: ignore[no-untyped-call, unused-ignore]
