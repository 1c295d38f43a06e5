"""Which search finds the best text of a network, and at what price.

    python -m benchmarks.decoding --lm FILE [--only NAME] [--problems N]          needs the extra `hf`

Networks of random words: each position has k words drawn from the 5,000 most frequent of the vocabulary of a trigram
(that of pocketsphinx in the results kept), and the first drawn is the original. So nothing in a network hints at its
best text, every choice interacts with its neighbours, and budgets bind. Viterbi proves the optimum, which the others
are compared with:

    optimum   share of problems whose optimum was found
    gap       what is missing of the way from the original's score to the optimum's, on average
    passes    forwards and backwards for each problem; n words read one at a time are a forward

The same with a causal transformer (SmolLM2, 135 million parameters), whose optimum nobody knows: the best that any
search here has found stands in for it, so its gaps are lower bounds.
"""

from __future__ import annotations

import argparse
import time
from operator import itemgetter
from typing import Any

import numpy as np

from benchmarks.results_file import save, show
from discotext import decode, solve
from discotext.decoding import Network, make_batch, make_oracle
from discotext.decoding.oracle import NetworkOracle, RelaxedNetworkOracle
from discotext.decoding.paths import PrefixBeam, Viterbi
from discotext.models.model import LanguageModel, NGramModel
from discotext.models.registry import load_language_model
from discotext.search import Solver
from discotext.solvers import Disco, Greedy

SOLVERS: dict[str, Solver] = {
    "Viterbi": Viterbi(),
    "beam of 32, left to right": PrefixBeam(width=32, per_change=False),
    "beam of 8 per number of changes": PrefixBeam(width=8),
    "`Disco`": Disco(),
    "`Greedy`": Greedy(),
}
CELLS = {"n 20, no budget": (20, None), "n 20, at most 2 changes": (20, 2), "n 40, at most 5 changes": (40, 5)}
CAUSAL_SOLVERS: dict[str, Solver] = {
    "beam of 32, left to right": PrefixBeam(width=32, per_change=False),
    "beam of 8 per number of changes": PrefixBeam(width=8),
}
CAUSAL_CELLS = {"causal, n 14, no budget": (14, None), "causal, n 14, at most 3 changes": (14, 3)}
FREQUENT = 5000
CANDIDATES, CAUSAL_CANDIDATES = 20, 16
SEED = 20


def frequent_words(model: NGramModel) -> list[str]:
    """The most probable words of a model, without marks and letters."""
    words = [word for word in model.words if word.isalpha() and len(word) > 1]  # type: ignore[attr-defined]
    contexts = np.full((len(words), 0), 0, dtype=np.int64)
    scores = model.log_probs(contexts, model.ids(words))
    return [words[at] for at in np.argsort(-scores, kind="stable")[:FREQUENT]]


def random_networks(words: list[str], count: int, size: int, candidates: int) -> list[Network]:
    """Networks of random words."""
    rng = np.random.default_rng(SEED)
    return [
        Network.of(str(number), [rng.choice(words, candidates, replace=False).tolist() for _ in range(size)])
        for number in range(count)
    ]


class CountingOracle:
    """An oracle that counts the prefixes that are read, by problem: n of them are as much as a forward."""

    def __init__(self, oracle: NetworkOracle) -> None:
        self.oracle, self.batch, self.sequential, self.order = oracle, oracle.batch, oracle.sequential, oracle.order
        self.score, self.start, self.recombine = oracle.score, oracle.start, oracle.recombine
        if isinstance(oracle, RelaxedNetworkOracle):
            self.relaxed, self.exact_at_vertices = oracle.relaxed, oracle.exact_at_vertices
        self.read = np.zeros(len(oracle.batch))

    def extend(self, states: Any, parents: Any, position: int, candidates: Any) -> Any:
        np.add.at(self.read, states.problems[np.unique(parents)], 1)
        return self.oracle.extend(states, parents, position, candidates)

    def take_passes(self) -> Any:
        """(B,) the passes since the last time."""
        found = np.ceil(self.read / np.maximum(self.batch.sizes, 1))
        self.read[:] = 0
        return found


def run_cell(
    name: str, shape: tuple[int, int | None], solvers: dict[str, Solver], model: LanguageModel, networks: list[Network]
) -> list[dict[str, Any]]:
    """All solvers on the networks of one cell."""
    (size, budget), count = shape, len(networks)
    batch = make_batch(networks, [size if budget is None else budget] * count)
    oracle = CountingOracle(make_oracle(networks, batch, [model]))
    found, seconds, read = {}, {}, {}
    for solver_name, solver in solvers.items():
        began = time.perf_counter()
        found[solver_name] = solve(batch, oracle, solver, seed=SEED)
        seconds[solver_name] = time.perf_counter() - began
        read[solver_name] = oracle.take_passes()
    best = np.max([[solution.score for solution in solutions] for solutions in found.values()], axis=0)
    rows = []
    for solver_name, solutions in found.items():
        scores = np.array([solution.score for solution in solutions])
        original = np.array([solution.original_score for solution in solutions])
        rows.append(
            {
                "cell": name,
                "solver": solver_name,
                "n": count,
                "optimum": float(np.mean(scores > best - 1e-6 * np.abs(best))),
                "gap": float(np.mean((best - scores) / (best - original))),
                "proved": float(np.mean([solution.proved for solution in solutions])),
                "passes": float(np.mean([one.forwards + one.backwards for one in solutions] + read[solver_name])),
                "seconds": seconds[solver_name] / count,
            }
        )
    return rows


def run_speed(model: NGramModel, words: list[str], count: int) -> list[dict[str, Any]]:
    """Words a minute with five candidates at a quarter of the positions, sentences of 10 to 30 words, all included."""
    rng = np.random.default_rng(SEED)
    networks = []
    for number in range(50 * count):
        rows = []
        for _ in range(int(rng.integers(10, 31))):
            several = 5 if rng.random() < 0.25 else 1
            rows.append(rng.choice(words, several, replace=False).tolist())
        networks.append(Network.of(str(number), rows))
    total = sum(map(len, networks))
    began = time.perf_counter()
    found = decode(networks, [model])
    seconds = time.perf_counter() - began
    proved = float(np.mean([one.proved for one in found]))
    rate = 60 * total / seconds
    return [{"cell": "speed", "solver": "Viterbi", "n": len(networks), "words": total, "rate": rate, "proved": proved}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--problems", type=int, default=40)
    parser.add_argument("--lm", required=True, help="n-gram model that gives the words")
    given = parser.parse_args()
    model = load_language_model(given.lm)
    assert isinstance(model, NGramModel)
    words = frequent_words(model)
    for name in (*CELLS, *CAUSAL_CELLS, "speed"):
        if given.only not in name:
            continue
        if name == "speed":
            run = run_speed(model, words, given.problems)
        elif name in CELLS:
            networks = random_networks(words, given.problems, CELLS[name][0], CANDIDATES)
            run = run_cell(name, CELLS[name], SOLVERS, model, networks)
        else:
            networks = random_networks(words, given.problems // 8, CAUSAL_CELLS[name][0], CAUSAL_CANDIDATES)
            causal = load_language_model("smollm2")
            run = run_cell(name, CAUSAL_CELLS[name], CAUSAL_SOLVERS, causal, networks)
        save("decoding", run, key=itemgetter("cell"))
        show(name, run)


if __name__ == "__main__":
    main()
