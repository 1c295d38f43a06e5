"""How much of a bare model's speed is left: texts per second through a victim, and through the model alone.

    python -m benchmarks.throughput FOLDER:DATA hf:FOLDER:DATA …

Three calls are timed on the same 64 texts, alternating with the bare model on the same tensors, best of several rounds:
`scores` (from strings, so the bare model tokenises, too), `score` of an oracle (from choices), and `relaxed` (from a
mixture to scores and gradient; the bare model does a forward and a backward pass down to its word vectors).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.results_file import save, show
from discotext import Candidates
from discotext.core import Untargeted
from discotext.core.problem import interior_point
from discotext.data import load_data
from discotext.text import Space
from discotext.victims import load_victim
from discotext.victims.neural.victim import NeuralVictim, pad

TEXTS, ROUNDS = 64, 7


def best_of(ours: Callable[[], Any], bare: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of each. The calls alternate, so that other load on the machine affects both."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for seconds, call in zip(found, (ours, bare), strict=True):
            began = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - began)
    return min(found[0]), min(found[1])


def bare_neural(victim: NeuralVictim, texts: list[str]) -> dict[str, Callable[[], Any]]:
    def forward() -> Any:
        ids, lengths = pad(victim.vocabulary.read(texts))
        with torch.inference_mode():
            return victim.network(torch.nn.functional.embedding(ids, victim.table), lengths)

    ids, lengths = pad(victim.vocabulary.read(texts))

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
    victim: Any = load_victim(name)
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
