"""Hardening the networks of `discotext train`."""

from __future__ import annotations

from discotext.data.examples import Examples
from discotext.experiment.hardening.recipe import Recipe
from discotext.experiment.hardening.task import Task, Trainer
from discotext.text.merging import NOTHING_MERGED
from discotext.victims.encoded import Encoded
from discotext.victims.neural.networks import Kind
from discotext.victims.neural.train_victim import load_default_vectors, make_settings
from discotext.victims.neural.training import TrainingState, train
from discotext.victims.victim import Victim

AUTO = ("plain", "adversarial", "merged:0.2", "merged", "merged:0.2+adversarial", "merged+adversarial")


class NeuralTrainer(Trainer):
    """kind: lstm, wcnn, dan or rnn. epochs: at most so many [default: as `train` chooses]."""

    auto = AUTO

    def __init__(self, kind: Kind, epochs: int | None = None) -> None:
        self.name: str = kind
        self.kind, self.epochs = kind, epochs

    def check(self, recipe: Recipe) -> None:
        if recipe.augmented:
            raise ValueError(
                f"the recipe {recipe} trains again on flipped texts; for {self.name} use adversarial, which does so in "
                "every batch"
            )
        make_settings({"kind": self.kind, "adversarial": recipe.weight, "inner": recipe.inner}, 1)

    def train(self, recipe: Recipe, task: Task) -> Victim:
        vectors, name = load_default_vectors()
        merged = task.merge(recipe)
        settings = make_settings(
            {
                "kind": self.kind,
                "epochs": self.epochs,
                "seed": task.seed,
                "adversarial": recipe.weight,
                "inner": recipe.inner,
                "share": task.share,
            },
            len(task.examples),
        )

        def report(state: TrainingState) -> None:
            task.progress(f"epoch {max(state.epoch, 1)} of {state.epochs}", state.step / max(state.steps, 1))

        found, ended = train(task.examples, vectors, settings, report, task.candidates, merged)
        if ended.interrupted:
            raise KeyboardInterrupt
        found.settings |= {"vectors": name, "recipe": str(recipe)}
        return found if merged is NOTHING_MERGED else Encoded(found, merged)

    def settings(self, examples: Examples) -> dict[str, object]:
        return {"model": self.name, "epochs": self.epochs}
