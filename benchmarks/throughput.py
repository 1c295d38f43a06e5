"""How much of a bare model's speed is left: texts per second through a victim, and through the model alone.

    python -m benchmarks.throughput FOLDER:DATA hf:FOLDER:DATA …

Three calls are timed on the same 64 texts, each against the bare model on the same tensors, turn about, best of
several: `scores` (strings in, so the bare model gets the same reading or tokenising), `score` of an oracle (choices
in), and `relaxed` (a mixture in, scores and gradient out; the bare model goes forward and backward to its vectors).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.results_file import save, show
from discotext import Candidates, Space, Untargeted, load_data, victim_from
from discotext.sampling import interior_point
from discotext.victims.neural.victim import NeuralVictim, padded

TEXTS, ROUNDS = 64, 7


def best_of(ours: Callable[[], Any], bare: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of each, turn about, so that what else the machine does falls on both."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for seconds, call in zip(found, (ours, bare), strict=True):
            began = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - began)
    return min(found[0]), min(found[1])


def bare_neural(victim: NeuralVictim, texts: list[str]) -> dict[str, Callable[[], Any]]:
    def forward() -> Any:
        ids, lengths = padded(victim.vocabulary.read(texts))
        with torch.inference_mode():
            return victim.network(torch.nn.functional.embedding(ids, victim.table), lengths)

    ids, lengths = padded(victim.vocabulary.read(texts))

    def tensors() -> Any:
        with torch.inference_mode():
            return victim.network(torch.nn.functional.embedding(ids, victim.table), lengths)

    def gradient() -> Any:
        vectors = torch.nn.functional.embedding(ids, victim.table).requires_grad_()
        return torch.autograd.grad(victim.network(vectors, lengths).sum(), vectors)

    return {"scores": forward, "score": tensors, "relaxed": gradient}


def bare_transformer(victim: Any, texts: list[str]) -> dict[str, Callable[[], Any]]:
    def tokens() -> Any:
        return victim.reader.tokeniser(texts, return_tensors="pt", padding=True, truncation=True)

    def forward() -> Any:
        with torch.inference_mode():
            return victim.reader.model(**tokens()).logits

    ready = tokens()

    def gradient() -> Any:
        rest = {name: value for name, value in ready.items() if name != "input_ids"}
        vectors = victim.reader.model.get_input_embeddings()(ready["input_ids"]).detach().requires_grad_()
        return torch.autograd.grad(victim.reader.model(inputs_embeds=vectors, **rest).logits.sum(), vectors)

    return {"scores": forward, "score": forward, "relaxed": gradient}


def measure(name: str, data: str) -> list[dict[str, Any]]:
    victim: Any = victim_from(name)
    examples = load_data(data, "test").sample(TEXTS, 0)
    texts = list(examples.texts)
    space = Space.of(texts, Candidates())
    oracle = victim.oracle(space, Untargeted(examples.labels))
    problems = np.arange(len(texts))
    choices, alpha = space.batch.originals(), interior_point(space.batch, np.random.default_rng(0))
    ours = {
        "scores": lambda: victim.scores(texts),
        "score": lambda: oracle.score(problems, choices),
        "relaxed": lambda: oracle.relaxed(problems, alpha),
    }
    bare = bare_neural(victim, texts) if isinstance(victim, NeuralVictim) else bare_transformer(victim, texts)
    rows = []
    for call in ours:
        mine, alone = best_of(ours[call], bare[call])
        rows.append(
            {
                "victim": name.rstrip("/").rpartition("/")[2],
                "data": data,
                "call": call,
                "texts/s": TEXTS / mine,
                "bare texts/s": TEXTS / alone,
                "share %": 100 * alone / mine,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victims", nargs="+", metavar="VICTIM:DATA")
    rows = []
    for given in parser.parse_args().victims:
        name, _, data = given.rpartition(":")
        rows += measure(name, data)
    save("throughput", rows)
    show("Speed through the victim against the bare model, 64 texts", rows)


if __name__ == "__main__":
    main()
