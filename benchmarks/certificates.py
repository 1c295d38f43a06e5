"""Certificates: how wide the bracket of certified and attacked accuracy is, and whether any certificate is wrong.

    python -m benchmarks.certificates --victims FOLDER [--only NAME] [--texts N]      needs DISCOTEXT_DATA
    python -m benchmarks.certificates --check 100000                                   small problems, all choices tried

The victims are trained into the folder unless they are there. Texts are of the test splits, a third of them drawn with
each of three seeds; nothing was tuned on them. Candidates are the published neighbour lists of Jia et al. (2019),
without any filter, or the default. Every certificate is attacked once more: random choices within the
budget must not flip it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import discotext
from benchmarks.results_file import save, show
from discotext.core.objectives import Untargeted
from discotext.core.problem import Batch, count_changes, random_choices
from discotext.data.examples import Examples
from discotext.data.registry import load_split
from discotext.runs.certificate import judge
from discotext.search import solve
from discotext.solvers import Exact
from discotext.support.intervals import wilson
from discotext.text.candidates import Candidates, make_candidates
from discotext.text.space import Space
from discotext.victims.neural.training import train_victim
from discotext.victims.registry import load_victim
from discotext.victims.sklearn.victim import SklearnVictim
from discotext.victims.victim import Victim

SEEDS = (0, 1, 2)
TRAINING = {"dan": (30_000, 4), "wcnn": (30_000, 4), "lstm": (20_000, 3)}  # texts and epochs; on TREC the default
COUNTED = 10**6  # choices of a text up to which proofs are compared with enumeration
DRAWS = 50  # random choices tried on every certificate
PASSES = 1000
PUBLISHED = "jia2019_counterfitted_neighbors.json"


@dataclass(frozen=True)
class Cell:
    """One row of the table: a victim on texts, with candidates and budgets."""

    data: str
    victim: str
    lists: str
    words: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    texts: int = 501
    passes: int = PASSES

    @property
    def name(self) -> str:
        more = f"-{self.passes}" if self.passes != PASSES else ""
        return f"{self.data}-{self.victim}-{self.lists}" + ("-shares" if self.shares else "") + more


CELLS = [
    *(Cell(data, f"tfidf{n}", "published", words=(1, 3, 5)) for data in ("ag_news", "trec") for n in (1, 2)),
    *(Cell(data, f"tfidf{n}", "published", shares=(0.2,)) for data in ("ag_news", "trec") for n in (1, 2)),
    *(Cell("imdb", f"tfidf{n}", "published", words=(1, 3, 5), texts=150) for n in (1, 2)),
    *(Cell("imdb", f"tfidf{n}", "published", shares=(0.05, 0.2), texts=60) for n in (1, 2)),
    Cell("ag_news", "dan", "published", words=(1, 2, 3, 5), texts=300),
    Cell("trec", "dan", "published", words=(1, 2, 3), texts=300),
    Cell("ag_news", "wcnn", "published", words=(1, 2, 3), texts=150),
    Cell("trec", "wcnn", "published", words=(1, 2, 3), texts=150),
    *(
        Cell(data, kind, "default", shares=(0.1,), texts=300)
        for data in ("ag_news", "trec")
        for kind in ("tfidf2", "dan", "wcnn", "lstm", "forest")
    ),
    *(Cell(data, "lstm", "default", words=(1, 2), texts=300) for data in ("ag_news", "trec")),
    # Without bounds, what more passes buy.
    *(Cell("ag_news", kind, "default", shares=(0.1,), texts=150, passes=20_000) for kind in ("lstm", "forest")),
]


@cache
def load_data(name: str, part: str) -> Examples:
    return load_split(name, part)  # type: ignore[arg-type]


@cache
def get_victim(data: str, kind: str, folder: Path) -> Victim:
    """The victim of that kind, trained if it is not there."""
    if kind in ("dan", "wcnn", "lstm"):
        where = folder / f"{data}_{kind}"
        if not where.exists():
            limit, epochs = (None, None) if data == "trec" else TRAINING[kind]
            train_victim(data, where, limit=limit, settings={"kind": kind, "epochs": epochs})
        return load_victim(str(where))
    return SklearnVictim(fit_pipeline(data, kind), f"{kind} on {data}")


def fit_pipeline(data: str, kind: str) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train = load_data(data, "train")
    train = train.sample(min(len(train), 20_000), 0)
    last = (
        RandomForestClassifier(50, random_state=0, min_samples_leaf=2)
        if kind == "forest"
        else LogisticRegression(C=10, max_iter=300)
    )
    longest = 2 if kind == "tfidf2" else 1
    return make_pipeline(TfidfVectorizer(ngram_range=(1, longest), min_df=2), last).fit(
        list(train.texts), train.labels.tolist()
    )


def find_candidates(lists: str) -> Candidates:
    if lists == "default":
        return make_candidates()
    import os

    return make_candidates(synonyms=[Path(os.environ["DISCOTEXT_DATA"]) / "neighbours" / PUBLISHED], without=["all"])


def run_cell(cell: Cell, folder: Path, texts: int | None) -> list[dict[str, Any]]:
    victim, finder = get_victim(cell.data, cell.victim, folder), find_candidates(cell.lists)
    size = min(cell.texts, texts or cell.texts) // len(SEEDS)
    found, records, began = [], [], time.process_time()
    for seed in SEEDS:
        result = discotext.certify(
            victim,
            load_data(cell.data, "test"),
            budget=cell.shares or 0.2,
            words=cell.words or None,
            candidates=finder,
            passes=cell.passes,
            limit=size,
            seed=seed,
        )
        found.append(result.certificates)
        records += result.records
    seconds = (time.process_time() - began) / len(records)
    draws, wrong, counted = attack_certificates(victim, finder, records)
    rows = []
    for several in zip(*found, strict=True):
        n = sum(one.n for one in several)
        robust, broken, open_ = (sum(one.verdicts[name] for one in several) for name in ("robust", "broken", "open"))
        right = robust + broken + open_
        rows.append(
            {
                "what": "bracket",
                "cell": cell.name,
                "data": cell.data,
                "victim": cell.victim,
                "candidates": cell.lists,
                "budget": several[0].budget,
                "limit": cell.passes,
                "n": n,
                "clean": right / n,
                "certified": robust / n,
                "certified_interval": wilson(robust, n),
                "attacked": (right - broken) / n,
                "attacked_interval": wilson(right - broken, n),
                "bracket": open_ / n,
                "brackets": [one.bracket for one in several],
                "passes": sum(one.forwards + one.backwards + one.bounds for one in several) / n,
                "seconds": seconds,
                "random_choices": draws,
                "wrong": wrong,
                **counted,
            }
        )
    return rows


def attack_certificates(victim: Victim, finder: Candidates, records: Sequence[Any]) -> tuple[int, int, dict[str, Any]]:
    """Try random choices on every text that is certified for one word or more: how many, and how many flip.

    Also, for texts with up to a million choices that are robust: all of these, and the passes that their proofs took.
    """
    robust = [one for one in records if one.radius]
    rng, wrong, asked = np.random.default_rng(0), 0, 0
    space = Space.of([one.text for one in robust], finder.restrict_to(victim.capabilities.vocabulary), words=10**6)
    batch = space.batch.with_budgets(np.array([one.radius for one in robust], dtype=np.int64))
    for _ in range(DRAWS):
        choices = random_choices(batch, rng)
        texts = [space.text(number, choice) for number, choice in enumerate(choices)]
        changed = count_changes(choices) > 0
        asked += int(changed.sum())
        scores = victim.scores(texts) if texts else np.empty((0, 2))
        labels = np.array([one.label for one in robust], dtype=np.int64)
        best = scores.argmax(axis=1)
        margin = scores.max(axis=1) - scores[np.arange(len(scores)), labels] if len(scores) else np.empty(0)
        tolerance = np.array([one.tolerance for one in robust])
        wrong += int(((best != labels) & (margin > 2 * tolerance)).sum())
    enumerated = passes = 0
    for number, one in enumerate(robust):
        problem = batch[number]
        if judge(one) == "robust" and problem.has_at_most(COUNTED):
            enumerated += problem.feasible_choices
            passes += one.forwards + one.backwards + one.bounds
    return asked, wrong, {"enumeration": enumerated, "proof_passes": passes}


def check_small(count: int) -> list[dict[str, Any]]:
    """Certificates of small problems against every choice there is; returns how many were wrong."""
    from tests.victims.neural.test_bounded import make_oracle
    from tests.victims.sklearn.test_bound import CLASSIFIERS, VECTORISERS, fit, make_space, make_texts

    makers: dict[str, Callable[[int], tuple[Batch, Any]]] = {
        "dan": lambda seed: make_oracle("dan", seed, problems=100),
        "wcnn": lambda seed: make_oracle("wcnn", seed, problems=100),
    }

    def linear(seed: int) -> tuple[Batch, Any]:
        rng = np.random.default_rng(seed)
        vectoriser = list(VECTORISERS.values())[seed % len(VECTORISERS)]()
        classifier = list(CLASSIFIERS.values())[seed % len(CLASSIFIERS)]()
        victim = fit(vectoriser, classifier, rng, 2 + seed % 2)
        space = make_space(rng, make_texts(rng, 100))
        return space.batch, victim.oracle(space, Untargeted(rng.integers(2 + seed % 2, size=len(space))))

    makers["linear"] = linear
    rows = []
    for name, make in makers.items():
        checked = wrong = seed = 0
        while checked < count:
            batch, oracle = make(seed)
            seed += 1
            rng = np.random.default_rng(seed)
            truth = solve(batch, oracle, Exact(bounds=False))
            best = np.array([one.score for one in truth])
            # Above the best score nothing reaches the goal; below it, the fewest changes are known.
            goals = best + rng.normal(size=len(best)) * 0.1 * (1e-3 + best.std())
            found = oracle.reach(np.arange(len(batch)), np.ones(batch.candidates, dtype=bool), goals)
            fewest = np.array([one.changes for one in truth])
            checked += int((found.levels > 0).sum())
            wrong += int(((goals <= best) & (found.levels > fewest)).sum())
        rows.append({"what": "check", "bounds": name, "certificates": checked, "wrong": wrong})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--victims", type=Path, default=Path("victims"))
    parser.add_argument("--only", default="")
    parser.add_argument("--texts", type=int)
    parser.add_argument("--check", type=int)
    given = parser.parse_args()
    cells = [] if given.check else [cell for cell in CELLS if given.only in cell.name]
    runs = (run_cell(cell, given.victims, given.texts) for cell in cells)
    for rows in [check_small(given.check)] if given.check else runs:
        save("certificates", rows, key=lambda row: row.get("cell", row["what"]))
        show("certificates", rows)


if __name__ == "__main__":
    main()
