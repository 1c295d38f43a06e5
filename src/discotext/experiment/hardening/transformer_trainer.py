"""Hardening Hugging Face classifiers: fine-tuned further, with synonyms merged and words exchanged in every batch.

The words that raise the loss most are found as an attack finds them: the gradient by the mixtures of subwords at the
original text, and the best vertex of the budget polytope for it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from discotext.core.objectives import Untargeted
from discotext.core.oracle import RelaxedOracle
from discotext.core.rounding import best_vertex
from discotext.data.examples import Examples
from discotext.experiment.hardening.recipe import PLAIN, Recipe
from discotext.experiment.hardening.task import Task, Trainer
from discotext.text.merging import NOTHING_MERGED, MergedWords
from discotext.text.space import Space
from discotext.victims.encoded import Encoded
from discotext.victims.huggingface import HuggingFaceVictim
from discotext.victims.victim import Victim

AUTO = ("plain", "adversarial", "merged", "merged+adversarial")
BATCH, RATE, WARM_UP, EPOCHS = 32, 5e-5, 0.1, 2


class TransformerTrainer(Trainer):
    """victim: a fine-tuned classifier; `plain` leaves it as it is. epochs: of further fine-tuning."""

    auto = AUTO

    def __init__(self, victim: HuggingFaceVictim, epochs: int | None = None) -> None:
        self.victim, self.name, self.epochs = victim, victim.name, epochs or EPOCHS

    def check(self, recipe: Recipe) -> None:
        if recipe.augmented:
            raise ValueError(
                f"the recipe {recipe} trains again on flipped texts; for {self.name} use adversarial, which does so in "
                "every batch"
            )
        if recipe.inner != "vertex":
            raise ValueError(f"the recipe {recipe} is for the networks of `discotext train`; use adversarial")

    def train(self, recipe: Recipe, task: Task) -> Victim:
        if recipe == PLAIN:
            return self.victim
        merged = task.merge(recipe)
        reader = self.victim.reader
        found = HuggingFaceVictim(copy.deepcopy(reader.model), reader.tokeniser, device=str(reader.device))
        found.name, found.labels = self.name, self.victim.labels
        _fine_tune(found, merged, recipe, task, self.epochs)
        return found if merged is NOTHING_MERGED else Encoded(found, merged)

    def saves(self, recipe: Recipe) -> bool:
        return recipe != PLAIN

    @property
    def given(self) -> Victim:
        return self.victim

    def settings(self, examples: Examples) -> dict[str, object]:
        return {**super().settings(examples), "epochs": self.epochs}


def _fine_tune(victim: HuggingFaceVictim, merged: MergedWords, recipe: Recipe, task: Task, epochs: int) -> None:
    """Fine-tune in place: AdamW, linear warm-up and decay, batches of similar length."""
    import torch

    if recipe.weight and not victim.capabilities.gradients:
        raise ValueError(f"{victim.name} accepts no vectors in place of tokens, so it has no gradients; use merged")
    model = victim.reader.model
    rng = np.random.default_rng(task.seed)
    torch.manual_seed(task.seed)
    encoded = Encoded(victim, merged)
    texts = task.examples.texts
    spaces = Space.of(texts, task.candidates, share=task.share) if recipe.weight else None
    plans = [_make_batches([len(text) for text in texts], rng) for _ in range(epochs)]
    steps = sum(map(len, plans))
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    done = 0
    for epoch, plan in enumerate(plans, start=1):
        for rows in plan:
            wanted = task.examples.labels[rows]
            worse = None
            if spaces is not None:
                worse = _exchange(encoded, spaces.take(rows.tolist()), wanted)
            warm = WARM_UP * steps
            for group in optimiser.param_groups:
                group["lr"] = RATE * min((done + 1) / warm, (steps - done) / max(steps - warm, 1))
            model.train().requires_grad_(True)
            optimiser.zero_grad()
            targets = torch.from_numpy(wanted).to(victim.reader.device)
            _backward(victim, [merged(texts[row]) for row in rows], targets, 1 - recipe.weight)
            if worse is not None:
                _backward(victim, worse, targets, recipe.weight)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            model.eval().requires_grad_(False)
            done += 1
            task.progress(f"epoch {epoch} of {epochs}", done / steps)


def _exchange(encoded: Encoded, space: Space, labels: Any) -> list[str]:
    """The texts as the model reads them, with the words exchanged that raise the loss most, to first order."""
    oracle = encoded.oracle(space, Untargeted(labels))
    assert isinstance(oracle, RelaxedOracle)
    problems = np.arange(len(space))
    batch = space.batch
    _, slope = oracle.relaxed(problems, batch.one_hot(batch.originals()))
    choices = best_vertex(slope, batch)
    return [encoded.merged(space.text(number, choice)) for number, choice in enumerate(choices)]


def _backward(victim: HuggingFaceVictim, texts: Sequence[str], targets: Any, weight: float) -> None:
    import torch

    reader = victim.reader
    limits = {} if reader.longest is None else {"truncation": True, "max_length": reader.longest}
    read = reader.tokeniser(list(texts), padding=True, return_tensors="pt", **limits).to(reader.device)
    loss = torch.nn.functional.cross_entropy(reader.model(**read).logits, targets)
    (weight * loss).backward()  # type: ignore[no-untyped-call, unused-ignore]


def _make_batches(lengths: Sequence[int], rng: np.random.Generator) -> list[Any]:
    """Batches of texts of similar length, in random order; different ones every epoch."""
    order = np.argsort(np.array(lengths) + rng.uniform(-20, 20, size=len(lengths)), kind="stable")
    batches = [order[begin : begin + BATCH] for begin in range(0, len(order), BATCH)]
    return [np.sort(batches[number]) for number in rng.permutation(len(batches))]
