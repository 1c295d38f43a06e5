"""Attack a model on Ray: on the cores of this machine or on all machines of a cluster, with the same code.

    pip install ".[demo,sklearn,ray]"
    python examples/ray_cluster.py [TEXTS] [ADDRESS]      # ADDRESS: local, auto, HOST:6379 or ray://HOST:10001

The pipeline that is fitted here is sent to the workers. If a worker dies, its texts are attacked again; if this
program is interrupted, the same command resumes the run. `examples/cluster` has files for Slurm and Kubernetes.
"""

import sys
import time

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import discotext as d
from discotext.attacks import RayExecutor
from discotext.data import load_data


def main(texts: int, address: str) -> None:
    known, unseen = load_data("movie_reviews", "train"), load_data("movie_reviews", "test").sample(texts)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    pipeline.fit(known.texts, [known.names[label] for label in known.labels])
    start = time.perf_counter()

    def watch(done: int, units: int, records: object) -> None:
        print(f"{done} of {units} units after {time.perf_counter() - start:.0f} s", file=sys.stderr)

    executor = RayExecutor(address, time_limit=600)
    out = f"ray_run_{texts}"
    result = d.attack(pipeline, unseen, "beam", budget=0.2, executor=executor, out=out, watch=watch)
    figures = result.summary.solvers["beam"]
    before, after = 100 * figures.original_accuracy, 100 * figures.adversarial_accuracy
    print(f"Beam search lowers accuracy from {before:.1f} % to {after:.1f} % on {texts} reviews.")
    print(f"`discotext report {out}` shows every text.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2] if len(sys.argv) > 2 else "local")
