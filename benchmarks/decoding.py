"""Which search finds the best text of a network, and at what price.

    python -m benchmarks.decoding [--only NAME] [--problems N]          needs the extras `decode` and `hf`

Networks of random words: each position has k words drawn from the 5,000 most frequent of the pocketsphinx trigram's
vocabulary, and the first drawn is the original. So nothing in a network hints at its best text, every choice interacts
with its neighbours, and budgets bind. Viterbi proves the optimum, which the others are compared with:

    optimum   share of problems whose optimum was found
    gap       what is missing of the way from the original's score to the optimum's, on average
    passes    forwards and backwards for each problem; n words read one at a time are a forward

The same with a causal transformer (SmolLM2, 135 million parameters), whose optimum nobody knows: the best that any
search here has found stands in for it, so its gaps are lower bounds.

With --masked FOLDER, of `benchmarks.train_masked_lm`, also scores that do not go from left to right: a masked model,
alone and added to a model that does. There a beam of the latter makes a list, the whole score picks the best of the
list, and `Disco` climbs from there; beside it `Disco` and `Greedy` without a list. Passes of the beam run one model.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.results_file import RESULTS, provenance, show
from discotext import decode, solve
from discotext.core.oracle import Wrapper
from discotext.core.problem import Batch
from discotext.core.wrappers import Counted
from discotext.decoding import Network, make_batch, make_oracle
from discotext.language.model import LanguageModel, NGramModel
from discotext.language.registry import load_language_model
from discotext.search import Solver, Stop
from discotext.search.nbest import NBest
from discotext.search.solver import Proposal, Proposals, Search
from discotext.solvers import Disco, Greedy, PrefixBeam, Viterbi
from discotext.solvers.prefix_beam import prefix_beam_nbest
from discotext.solvers.viterbi import viterbi_nbest

SOLVERS: dict[str, Solver] = {
    "Viterbi": Viterbi(),
    "beam of 32, left to right": PrefixBeam(width=32, per_change=False),
    "beam of 8 per number of changes": PrefixBeam(width=8),
    "`Disco`": Disco(),
    "beam of 8 per number, then `Disco`": Disco(start=PrefixBeam(width=8)),
    "`Greedy`": Greedy(),
}
CELLS = {"n 20, no budget": (20, None), "n 20, at most 2 changes": (20, 2), "n 40, at most 5 changes": (40, 5)}
CAUSAL_SOLVERS: dict[str, Solver] = {
    "beam of 32, left to right": PrefixBeam(width=32, per_change=False),
    "beam of 8 per number of changes": PrefixBeam(width=8),
    "`Disco`": Disco(),
    "beam of 8 per number, then `Disco`": Disco(start=PrefixBeam(width=8)),
}
CAUSAL_CELLS = {"causal, n 14, no budget": (14, None), "causal, n 14, at most 3 changes": (14, 3)}
# Of each cell the masked model's kind, the model from left to right, its weight, the budget, the networks, and greedy.
MASKED_CELLS: dict[str, tuple[str, str, float, int | None, int, bool]] = {
    "masked, one pass": ("masked-fast", "pocketsphinx", 0.0, None, 6, True),
    "trigram + masked, one pass": ("masked-fast", "pocketsphinx", 1.0, None, 6, True),
    "trigram + masked, one pass, at most 3 changes": ("masked-fast", "pocketsphinx", 1.0, 3, 6, True),
    "SmolLM2 + masked, one pass": ("masked-fast", "smollm2", 1.0, None, 2, False),
    "masked, exact": ("masked", "pocketsphinx", 0.0, None, 3, False),
}
MASKED_SIZE, MASKED_CANDIDATES, LISTED = 12, 8, 32
HUNDRED = "`Disco`, stopped at 70 forwards or 30 backwards"
RESCORED = 300  # texts of a list that a transformer scores one and all
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


def run_cell(
    name: str, shape: tuple[int, int | None], solvers: dict[str, Solver], model: LanguageModel, networks: list[Network]
) -> list[dict[str, Any]]:
    """All solvers on the networks of one cell."""
    (size, budget), count = shape, len(networks)
    batch = make_batch(networks, [size if budget is None else budget] * count)
    oracle = make_oracle(networks, batch, [model])
    found, seconds = {}, {}
    for solver_name, solver in solvers.items():
        began = time.perf_counter()
        found[solver_name] = solve(batch, oracle, solver, seed=SEED)
        seconds[solver_name] = time.perf_counter() - began
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
                "passes": float(np.mean([solution.forwards + solution.backwards for solution in solutions])),
                "seconds": seconds[solver_name] / count,
            }
        )
    return rows


@dataclass(frozen=True, eq=False)
class Listed(Solver):
    """Proposes the choices of lists, one list for each problem."""

    lists: tuple[NBest, ...]

    def propose(self, batch: Batch, oracle: Wrapper, search: Search) -> Proposals:
        problems = np.repeat(np.arange(len(batch)), [len(one) for one in self.lists])
        choices = np.concatenate([one.choices for one in self.lists])
        yield Proposal(problems, choices, oracle.score(problems, choices))


def run_masked_cell(
    name: str, masked: LanguageModel, causal: LanguageModel, networks: list[Network]
) -> list[dict[str, Any]]:
    """Lists of a beam, and searches by gradients, where the score does not go from left to right."""
    _, _, weight, budget, _, greedy = MASKED_CELLS[name]
    count = len(networks)
    batch = make_batch(networks, [MASKED_SIZE if budget is None else budget] * count)
    models = [masked, causal] if weight else [masked]
    oracle = make_oracle(networks, batch, models, [1.0, weight][: len(models)])
    original = oracle.score(np.arange(count), batch.originals())
    scores, passes, seconds = {}, {}, {}

    began = time.perf_counter()
    counted = Counted(make_oracle(networks, batch, [causal]), batch)
    beam = PrefixBeam(width=LISTED if budget is None else 8, per_change=budget is not None)
    lists = tuple(prefix_beam_nbest(batch, counted, LISTED, beam))
    seconds["beam"] = time.perf_counter() - began
    passes["beam"] = counted.passes(np.arange(count))
    scores["beam"] = oracle.score(np.arange(count), np.stack([one.choices[0] for one in lists]))

    rescored = [oracle.score(np.full(len(one), number), one.choices) for number, one in enumerate(lists)]
    seconds["rescored"] = time.perf_counter() - began
    passes["rescored"] = passes["beam"] + [len(one) for one in lists]
    scores["rescored"] = np.array([one.max() for one in rescored])

    solvers: dict[str, Solver] = {"then `Disco`": Disco(start=Listed(lists)), "`Disco`": Disco(), HUNDRED: Disco()}
    for solver_name, solver in {**solvers, **({"`Greedy`": Greedy()} if greedy else {})}.items():
        began = time.perf_counter()
        stop = Stop(forwards=70, backwards=30) if solver_name == HUNDRED else Stop()
        found = solve(batch, oracle, solver, seed=SEED, stop=stop)
        seconds[solver_name] = time.perf_counter() - began
        scores[solver_name] = np.array([one.score for one in found])
        passes[solver_name] = np.array([one.forwards + one.backwards for one in found])
    passes["then `Disco`"] += passes["beam"]
    seconds["then `Disco`"] += seconds["beam"]
    best = np.max(list(scores.values()), axis=0)
    shown = {
        "beam": f"beam for the model from left to right, list of {LISTED}: its first",
        "rescored": "its best by the whole score",
        "then `Disco`": "that, then `Disco`",
    }
    return [
        {
            "cell": name,
            "solver": shown.get(key, key),
            "n": count,
            "optimum": float(np.mean(scores[key] > best - 1e-6 * np.abs(best))),
            "gap": float(np.mean((best - scores[key]) / (best - original))),
            "passes": float(np.mean(passes[key])),
            "seconds": seconds[key] / count,
        }
        for key in scores
    ]


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


def run_rescoring(model: NGramModel, causal: LanguageModel, networks: list[Network]) -> list[dict[str, Any]]:
    """A causal transformer's beam of 8 beside its scores of the trigram's lists, in processor seconds."""
    count = len(networks)
    batch = make_batch(networks, [MASKED_SIZE] * count)
    oracle = make_oracle(networks, batch, [causal])
    began = time.process_time()
    ours = np.array([one.scores[0] for one in prefix_beam_nbest(batch, oracle, 1, PrefixBeam(width=8))])
    beam = time.process_time() - began
    began = time.process_time()
    solved = np.array([one.score for one in solve(batch, oracle, PrefixBeam(width=8), seed=SEED)])
    whole = time.process_time() - began
    lists = viterbi_nbest(batch, make_oracle(networks, batch, [model]), RESCORED)
    began = time.process_time()
    problems = np.repeat(np.arange(count), [len(one) for one in lists])
    scores = oracle.score(problems, np.concatenate([one.choices for one in lists])).reshape(count, -1)
    listed = time.process_time() - began
    best = scores.max(axis=1)
    common = {"cell": "rescoring", "n": count, "listed": RESCORED}
    return [
        {**common, "solver": name, "seconds": seconds / count, "score": float(np.mean(found))}
        | {"better": float(np.mean(found > best)), "ratio": listed / seconds}
        for name, seconds, found in (
            ("PrefixBeam(8)", beam, ours),
            ("PrefixBeam(8), pruned and checked", whole, solved),
            ("list", listed, best),
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--problems", type=int, default=40)
    parser.add_argument("--masked", default="", help="folder that benchmarks.train_masked_lm has written")
    given = parser.parse_args()
    model = load_language_model("pocketsphinx")
    assert isinstance(model, NGramModel)
    words = frequent_words(model)
    file = RESULTS / "decoding.jsonl"
    for name in (*CELLS, *CAUSAL_CELLS, "speed", "rescoring", *(MASKED_CELLS if given.masked else ())):
        if given.only not in name:
            continue
        if name == "speed":
            run = run_speed(model, words, given.problems)
        elif name == "rescoring":
            networks = random_networks(words, max(given.problems // 10, 1), MASKED_SIZE, MASKED_CANDIDATES)
            run = run_rescoring(model, load_language_model("smollm2"), networks)
        elif name in MASKED_CELLS:
            kind, other, _, _, most, _ = MASKED_CELLS[name]
            networks = random_networks(words, min(most, given.problems), MASKED_SIZE, MASKED_CANDIDATES)
            masked, causal = (load_language_model(one) for one in (f"{kind}:{given.masked}", other))
            run = run_masked_cell(name, masked, causal, networks)
        elif name in CELLS:
            networks = random_networks(words, given.problems, CELLS[name][0], CANDIDATES)
            run = run_cell(name, CELLS[name], SOLVERS, model, networks)
        else:
            networks = random_networks(words, given.problems // 8, CAUSAL_CELLS[name][0], CAUSAL_CANDIDATES)
            causal = load_language_model("smollm2")
            run = run_cell(name, CAUSAL_CELLS[name], CAUSAL_SOLVERS, causal, networks)
        known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        known = [row for row in known if row["cell"] != name] + [{**row, **provenance()} for row in run]
        file.write_text("".join(json.dumps(row) + "\n" for row in known))
        show(name, run)


if __name__ == "__main__":
    main()
