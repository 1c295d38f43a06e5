"""What an attack on a victim without gradients costs: `disco`, with a surrogate, beside searches that do without.

    python -m benchmarks.queries --victims FOLDER [--only NAME] [--texts N]          needs DISCOTEXT_DATA

Networks are seen through their scores only. Candidates are the published neighbour lists of Jia et al. (2019), without
filters. FOLDER has networks of `discotext train ag_news --model lstm --limit 30000 --out FOLDER/ag_news_lstm` (and dan;
trec with lstm; imdb with lstm, --limit 10000) and a MiniLM of `python -m benchmarks.finetune_minilm ag_news --out
FOLDER/ag_news_minilm --rows 3000 --epochs 1`, asked through HTTP. scikit-learn pipelines are fitted here, on 8,000
training texts. The constants of the search were chosen on training texts of AG News with an LSTM, a DAN and a random
forest, and of IMDB; these are test texts. The rows imdb-lstm, trec-tfidf and dan-labels were seen once before the rule
for giving up and the search of labels took their present form.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.populations import Genetic, ParticleSwarm
from benchmarks.results_file import save, show
from discotext import compare
from discotext.data.registry import load_split
from discotext.solvers import make_solver
from discotext.text.candidates import make_candidates
from discotext.victims import FunctionVictim, SklearnVictim
from discotext.victims.registry import load_victim
from discotext.victims.victim import Victim

PUBLISHED = "jia2019_counterfitted_neighbors.json"
SOLVERS = ("disco", "ranked-greedy", "greedy", "random")
POPULATIONS = {"genetic": Genetic(), "particle-swarm": ParticleSwarm()}  # more than a thousand queries a text
# Data, model, budget, texts, and whether the searches with populations run, too.
CELLS = {
    "trec-tfidf": ("trec", "tfidf", 0.2, 200, True),
    "trec-forest": ("trec", "forest", 0.2, 200, True),
    "trec-lstm": ("trec", "lstm", 0.2, 200, True),
    "ag_news-tfidf": ("ag_news", "tfidf", 0.2, 200, True),
    "ag_news-forest": ("ag_news", "forest", 0.2, 200, True),
    "ag_news-dan": ("ag_news", "dan", 0.2, 200, True),
    "ag_news-lstm": ("ag_news", "lstm", 0.2, 200, True),
    "ag_news-minilm": ("ag_news", "minilm", 0.2, 50, False),
    "ag_news-dan-labels": ("ag_news", "dan-labels", 0.2, 200, True),
    "imdb-tfidf": ("imdb", "tfidf", 0.05, 100, False),
    "imdb-lstm": ("imdb", "lstm", 0.05, 40, False),
}


def make_victim(data: str, model: str, folder: Path | None) -> Victim:
    """A victim that answers scores; a linear pipeline keeps the gradients that its weights give."""
    if model in ("tfidf", "forest"):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        last = LogisticRegression(C=10, max_iter=1000) if model == "tfidf" else RandomForestClassifier(random_state=0)
        training = load_split(data, "train").sample(8_000, 0)
        found = SklearnVictim(make_pipeline(TfidfVectorizer(), last).fit(training.texts, training.labels))
        found.labels = training.names
        return found
    if folder is None:
        raise SystemExit(f"{data} with {model} needs --victims")
    if model == "minilm":
        return load_victim(serve(load_victim(f"hf:{folder / f'{data}_minilm'}")))
    inner = load_victim(folder / f"{data}_{model.removesuffix('-labels')}")
    if model.endswith("-labels"):
        one_hot = np.eye(len(inner.labels))
        return FunctionVictim(
            lambda texts: one_hot[inner.scores(texts).argmax(axis=1)],
            inner.labels,
            vocabulary=inner.capabilities.vocabulary,
        )
    return FunctionVictim(inner.scores, labels=inner.labels, vocabulary=inner.capabilities.vocabulary)


def serve(victim: Victim) -> str:
    """Put a victim behind HTTP on this machine; returns its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
            scores = np.asarray(victim.scores(texts)).tolist()
            content = json.dumps({"scores": scores, "labels": list(victim.labels)}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/classify"


def run_cell(name: str, texts: int | None, folder: Path | None) -> list[dict[str, Any]]:
    data, model, share, usual, populations = CELLS[name]
    lists = Path(os.environ["DISCOTEXT_DATA"]) / "neighbours" / PUBLISHED
    victim = make_victim(data, model, folder)
    began = time.perf_counter()
    found = compare(
        victim,
        load_split(data, "test").sample(texts or usual, 5),
        {**{solver: make_solver(solver) for solver in SOLVERS}, **(POPULATIONS if populations else {})},
        budget=share,
        candidates=make_candidates(synonyms=[lists], without=["all"]),
    )
    summary, rows = found.summary, []
    for solver, figures in summary.solvers.items():
        assert figures.adversarial_accuracy is not None
        learning = (summary.surrogate_queries or 0) if solver == "disco" else 0
        rows.append(
            {
                "cell": name,
                "solver": solver,
                "n": summary.n,
                "left": float(figures.adversarial_accuracy),
                "queries": figures.forwards / max(figures.attacked, 1),
                "learning": learning / max(figures.attacked, 1),
                "area": figures.query_area,
                "curve": dict(figures.success_by_queries),
                "p": found.p_value("disco", solver),
                "seconds": time.perf_counter() - began,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--texts", type=int)
    parser.add_argument("--victims", type=Path)
    given = parser.parse_args()
    for name in CELLS:
        if given.only in name:
            rows = run_cell(name, given.texts, given.victims)
            save("queries", rows, key=itemgetter("cell"))
            show(
                "queries",
                [{key: row[key] for key in ("solver", "left", "queries", "learning", "area", "p")} for row in rows],
            )


if __name__ == "__main__":
    main()
