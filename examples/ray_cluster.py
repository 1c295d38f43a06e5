"""Attack a model on Ray: on this machine's cores, or on all machines of a cluster, with the same lines.

    pip install "discotext[demo,sklearn,ray]"
    python examples/ray_cluster.py [TEXTS] [ADDRESS]      # ADDRESS: auto, HOST:6379 or ray://HOST:10001

The pipeline that was fitted here goes to the workers as it is. Kill one of them, or this program, while it runs: what
was lost is done again, and the same command goes on where it stopped. `examples/cluster` has files for Slurm and
Kubernetes.
"""

import sys
import time

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import discotext as d


def main(texts: int, address: str | None) -> None:
    known, unseen = d.load_data("movie_reviews", "train"), d.load_data("movie_reviews", "test").sample(texts)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    pipeline.fit(known.texts, [known.names[label] for label in known.labels])
    began = time.perf_counter()

    def watch(done: int, units: int, records: object) -> None:
        print(f"{done} of {units} units after {time.perf_counter() - began:.0f} s", file=sys.stderr)

    executor = d.RayExecutor(address, time_limit=600)
    out = f"ray_run_{texts}"
    result = d.attack(pipeline, unseen, "beam", budget=0.2, executor=executor, out=out, watch=watch)
    found = result.summary["solvers"]["beam"]
    before, after = (100 * found[f"{when}_accuracy"] for when in ("original", "adversarial"))
    print(f"A beam takes accuracy from {before:.1f} % to {after:.1f} % on {texts} reviews.")
    print(f"`discotext report {out}` shows them all.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2] if len(sys.argv) > 2 else None)
