"""What hardening buys: `discotext.harden` for several models and data sets, with the published lists.

    python -m benchmarks.hardening [--only NAME] [--seed N]          needs DISCOTEXT_DATA

Candidates are the published neighbour lists of Jia et al. (2019), without filters; 20 % of the words may change, on
IMDB 5 %, and in the cell imdb-all every word. `--max-loss` is 2 points on AG News and IMDB and 3 on TREC. Recipes are
chosen on held-out training texts; test texts are touched once. The lists of Dong et al. (2021, made from Euclidean
neighbours) are an attack that no recipe was built for. MiniLM is fine-tuned first: `python -m
benchmarks.finetune_minilm trec --out FOLDER`, then `--minilm FOLDER`.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.results_file import save, show
from discotext import harden
from discotext.hardening.harden import Budgets
from discotext.support.extras import flush_denormals_globally
from discotext.text.candidates import make_candidates

PUBLISHED, OTHER = "jia2019_counterfitted_neighbors.json", "dne2021_euc-top8-d0.7.json"


@dataclass(frozen=True)
class Cell:
    """A data set, a model, what may be lost, how many training texts, and how many words may change."""

    data: str
    model: str
    max_loss: float
    limit: int | None = None
    share: float = 0.2
    test: int = 500
    recipes: tuple[str, ...] = ("auto",)


CELLS = {
    "trec-tfidf": Cell("trec", "tfidf", 3),
    "trec-dan": Cell("trec", "dan", 3),
    "trec-wcnn": Cell("trec", "wcnn", 3),
    "trec-lstm": Cell("trec", "lstm", 3),
    "ag_news-tfidf": Cell("ag_news", "tfidf", 2, 30_000),
    "ag_news-dan": Cell("ag_news", "dan", 2, 30_000),
    "ag_news-wcnn": Cell("ag_news", "wcnn", 2, 30_000),
    "ag_news-lstm": Cell("ag_news", "lstm", 2, 30_000),
    "imdb-tfidf-all": Cell("imdb", "tfidf", 10, None, 1.0, 200, ("merged", "merged:3", "merged:1000")),
    "imdb-wcnn-all": Cell("imdb", "wcnn", 10, None, 1.0, 200, ("merged", "merged:3", "merged:1000")),
    "trec-minilm": Cell("trec", "minilm", 3, None, 0.2, 300, ("merged", "merged+adversarial")),
}


def run_cell(cell: Cell, seed: int, minilm: str | None) -> dict[str, Any]:
    lists = Path(os.environ["DISCOTEXT_DATA"]) / "neighbours"
    found = harden(
        cell.data,
        f"hf:{minilm}" if cell.model == "minilm" else cell.model,
        recipes=cell.recipes,
        max_loss=cell.max_loss,
        candidates=make_candidates(synonyms=[lists / PUBLISHED], without=["all"]),
        others={"other lists": make_candidates(synonyms=[lists / OTHER], without=["all"])},
        budgets=Budgets(share=cell.share, test=cell.test),
        limit=cell.limit,
        seed=seed,
    )
    return {**found.as_dict(), "model": cell.model}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minilm")
    given = parser.parse_args()
    flush_denormals_globally()
    for name, cell in CELLS.items():
        if given.only not in name or (cell.model == "minilm" and given.minilm is None):
            continue
        row = {"cell": name, **run_cell(cell, given.seed, given.minilm)}
        save("hardening", [row], key=itemgetter("cell", "seed"))
        show("hardening", [{key: row[key] for key in ("cell", "chosen", "cost", "notes")}])


if __name__ == "__main__":
    main()
