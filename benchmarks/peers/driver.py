"""TextAttack's side, run by its own Python: reads one text per line, attacks it, and writes a line.

The attack is composed of TextAttack's own goal function, caches, constraints and searches, with our words (`coding`),
candidates and m. It gets scores as probabilities in double precision, so that it can distinguish candidates whose
probability single precision would round to 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import random
import sys
import time
import traceback
from importlib.metadata import version
from typing import Any

import numpy as np
import textattack
import torch
from textattack.constraints import Constraint, PreTransformationConstraint
from textattack.constraints.pre_transformation import RepeatModification
from textattack.goal_functions import UntargetedClassification
from textattack.models.wrappers import ModelWrapper
from textattack.search_methods import (
    AlzantotGeneticAlgorithm,
    BeamSearch,
    GreedySearch,
    GreedyWordSwapWIR,
    ParticleSwarmOptimization,
)
from textattack.transformations import WordSwap

from benchmarks.peers.asking import Asking, load_ways
from benchmarks.peers.coding import Coded

SEARCHES = {
    "textattack-greedy": GreedySearch,
    "textattack-wir-delete": lambda: GreedyWordSwapWIR(wir_method="delete"),
    "textattack-wir-gradient": lambda: GreedyWordSwapWIR(wir_method="gradient"),
    "textattack-beam": lambda: BeamSearch(beam_width=8),
    # Sizes as in TextAttack's recipes. The genetic recipe does not check children, which could then exceed m.
    "textattack-genetic": lambda: AlzantotGeneticAlgorithm(pop_size=60, max_iters=20, post_crossover_check=True),
    "textattack-pso": lambda: ParticleSwarmOptimization(pop_size=60, max_iters=20),
}


class Translated(ModelWrapper):  # type: ignore[misc]
    """The victim for texts of tokens; counts and times what reaches the model."""

    def __init__(self, asking: Asking, text: Coded) -> None:
        self.asking, self.text, self.model = asking, text, asking.model
        self.reached = self.backwards = 0
        self.inside = self.translating = 0.0

    def __call__(self, texts: list[str], **_: Any) -> torch.Tensor:
        began = time.perf_counter()
        strings = [self.text.decode(text) for text in texts]
        ready = time.perf_counter()
        scores = torch.from_numpy(self.asking.scores(strings))
        self.translating += ready - began
        self.inside += time.perf_counter() - ready
        self.reached += len(texts)
        return torch.softmax(scores, dim=1)

    def get_grad(self, text: str) -> dict[str, Any]:
        assert text == self.text.original
        began = time.perf_counter()
        gradients = self.asking.gradients(self.text)
        self.inside += time.perf_counter() - began
        self.reached += 1
        self.backwards += 1
        return {"ids": None, "gradient": gradients}

    def _tokenize(self, texts: list[str]) -> list[list[str]]:
        return [text.split() for text in texts]


class Given(WordSwap):  # type: ignore[misc]
    """Our candidates."""

    def __init__(self, text: Coded) -> None:
        super().__init__()
        self.text = text

    def _get_replacement_words(self, word: str) -> list[str]:
        return self.text.replacements(word)


class Changeable(PreTransformationConstraint):  # type: ignore[misc]
    """Excludes words without candidates, as recipes exclude stop words, so that no query is spent on ranking them."""

    def __init__(self, text: Coded) -> None:
        self.text = text

    def _get_modifiable_indices(self, current: Any) -> set[int]:
        # A token contains its position; no text has lost a word here.
        return set(self.text.changeable)


class AtMost(Constraint):  # type: ignore[misc]
    """Our m, counted word by word (TextAttack's own constraint rounds up and uses a slow edit distance)."""

    def __init__(self, m: int) -> None:
        super().__init__(compare_against_original=True)
        self.m = m

    def _check_constraint(self, transformed: Any, reference: Any) -> bool:
        changed = sum(a != b for a, b in zip(transformed.words, reference.words, strict=True))
        return bool(changed <= self.m)


def attack(asking: Asking, question: dict[str, Any], search: Any, batch: int) -> dict[str, Any]:
    """Attack one text; returns what was found, and the cost."""
    text = Coded(question["gaps"], question["options"])
    random.seed(question["seed"])
    np.random.seed(question["seed"])
    torch.manual_seed(question["seed"])
    began, busy = time.perf_counter(), time.process_time()
    wrapper = Translated(asking, text)
    goal = UntargetedClassification(wrapper, model_batch_size=batch)
    rules = [RepeatModification(), Changeable(text), AtMost(question["budget"])]
    made = textattack.Attack(goal, rules, Given(text), search)
    assert textattack.shared.AttackedText(text.original).words == text.original.split(), "tokens were taken apart"
    result = made.attack(text.original, question["label"])
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    final = result.perturbed_result
    skipped = isinstance(result, textattack.attack_results.SkippedAttackResult)
    broken = isinstance(result, textattack.attack_results.SuccessfulAttackResult)
    found = text.original if skipped else final.attacked_text.text
    return {
        "predicted": int(result.original_result.output),
        "broken": broken,
        "text": text.decode(found),
        "changes": sum(candidate != 0 for candidate in text.choice(found)),
        # A gradient takes one forward and one backward pass; TextAttack counts neither.
        "forwards": int(goal.num_queries) + wrapper.backwards,
        "backwards": wrapper.backwards,
        "reached": wrapper.reached,
        "seconds": seconds - wrapper.translating,
        "cpu_seconds": busy - wrapper.translating,
        "victim_seconds": wrapper.inside,
    }


def failed(asking: Asking, question: dict[str, Any], error: Exception) -> dict[str, Any]:
    """The record of a text on which TextAttack raised: unchanged text, and the reason."""
    text = Coded(question["gaps"], question["options"])
    string = text.decode(text.original)
    return {
        "predicted": int(asking.scores([string])[0].argmax()),
        "broken": False,
        "text": string,
        "changes": 0,
        **dict.fromkeys(("forwards", "backwards", "reached"), 0),
        **dict.fromkeys(("seconds", "cpu_seconds", "victim_seconds"), 0.0),
        "error": f"{type(error).__name__}: {error}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--victim", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    # TextAttack prints to standard output, which is reserved for answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    torch.set_num_threads(options.threads)
    textattack.shared.utils.logger.setLevel(logging.ERROR)  # it warns about every unknown model
    ways = load_ways(options.victim)
    for way in ways.values():
        # The first call is slower than the following ones.
        way.scores(["a first call"] * 2)
        way.gradients(Coded(("", " ", " ", ""), (("a",), ("first",), ("call",))))
    names = ("textattack", "torch", "transformers", "numpy")
    versions = {"python": platform.python_version(), **{name: version(name) for name in names}}
    print(json.dumps({"versions": versions}), file=answers, flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        name = question["search"]
        ending = "-dynamic" if name.endswith("-dynamic") else ""
        search = SEARCHES[name.removesuffix(ending)]()
        try:
            answer = attack(ways[ending], question, search, options.batch)
        except Exception as error:
            traceback.print_exc()
            answer = failed(ways[ending], question, error)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
