"""From what a user names to what trains it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from discotext.experiment.hardening.fixed_trainer import FixedTrainer
from discotext.experiment.hardening.sklearn_trainer import SklearnTrainer, make_tfidf
from discotext.experiment.hardening.task import Trainer
from discotext.experiment.hardening.transformer_trainer import TransformerTrainer
from discotext.support.extras import require
from discotext.victims.encoded import Encoded
from discotext.victims.huggingface import HuggingFaceVictim
from discotext.victims.registry import load_victim
from discotext.victims.scikit import SklearnVictim
from discotext.victims.victim import Victim

NETWORKS = ("lstm", "wcnn", "dan", "rnn")
TFIDF = "tfidf"
HINT = (
    f"choose {', '.join(NETWORKS)} or {TFIDF}, hf:FOLDER (a fine-tuned classifier), sklearn:FILE, or another victim, "
    "which gets a reader of synonyms"
)


def make_trainer(model: Any, epochs: int | None = None, trust: bool = False) -> Trainer:
    """The trainer of a model: a name as on the command line, a scikit-learn pipeline, or a victim.

    trust: allow pickled scikit-learn files, which can execute code when they are loaded.
    """
    if isinstance(model, str) and model in NETWORKS:
        require("torch", extra="torch", reason=f"the model {model}")
        from discotext.experiment.hardening.neural_trainer import NeuralTrainer

        return NeuralTrainer(model, epochs)  # type: ignore[arg-type]
    if model == TFIDF:
        return SklearnTrainer(make_tfidf(), TFIDF)
    if _is_unfitted(model):
        return SklearnTrainer(model, type(model).__name__)
    if isinstance(model, str) and ":" not in model and "/" not in model and not Path(model).exists():
        raise ValueError(f"there is no model {model!r}; {HINT}")
    return train_like(load_victim(model, trust), epochs)


def train_like(victim: Victim, epochs: int | None) -> Trainer:
    """The trainer of a victim: its own kind's, or one that leaves it as it is."""
    if isinstance(victim, SklearnVictim):
        return SklearnTrainer(victim.pipeline, victim.name)
    if isinstance(victim, HuggingFaceVictim):
        return TransformerTrainer(victim, epochs)
    if "torch" in sys.modules:  # otherwise it is no network of `discotext train`
        from discotext.experiment.hardening.neural_trainer import NeuralTrainer
        from discotext.victims.neural.victim import NeuralVictim

        inner = victim.victim if isinstance(victim, Encoded) else victim
        if isinstance(inner, NeuralVictim):
            return NeuralTrainer(inner.network.shape.kind, epochs)
    return FixedTrainer(victim)


def _is_unfitted(model: Any) -> bool:
    """Whether a model is a scikit-learn estimator that is not fitted yet."""
    return hasattr(model, "get_params") and hasattr(model, "fit") and not hasattr(model, "classes_")
