"""Adversarial training in one round: attack a model, train on what was found, and attack again.

    pip install ".[demo]"
    python examples/harden.py [SENTENCES [UNSEEN]]

Trains an LSTM on film reviews, attacks the sentences it was trained on, trains a second one on these sentences and the
adversarial texts (with their true labels), and attacks both on sentences that neither has seen.
"""

import sys
import tempfile
from pathlib import Path

import discotext as d
from discotext.data import Examples, load_data
from discotext.experiment.merge import collect_examples
from discotext.support.extras import flush_denormals_globally

flush_denormals_globally()  # must come before PyTorch starts its threads


def main(sentences: int = 6824, unseen: int = 300) -> None:
    from discotext.victims.neural.train_victim import load_default_vectors, make_settings
    from discotext.victims.neural.training import train

    known = load_data("movie_reviews", "train").sample(sentences)
    tested = load_data("movie_reviews", "test").sample(unseen)
    vectors, _ = load_default_vectors()
    settings = make_settings({}, len(known))
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        print(f"training on {len(known)} sentences …", flush=True)
        plain, _ = train(known, vectors, settings)
        print("attacking them …", flush=True)
        d.attack(plain, known, "disco", out=run)
        originals, flipped = collect_examples(run)
        texts, labels = zip(*originals, *flipped, strict=True)
        print(f"training on these sentences and {len(flipped)} adversarial ones …", flush=True)
        hardened, _ = train(Examples.of(texts, labels, names=known.names), vectors, settings)
    for name, victim in (("plain", plain), ("hardened", hardened)):
        figures = d.attack(victim, tested, "exact").summary.solvers["exact"]
        before, after = 100 * figures.original_accuracy, 100 * figures.adversarial_accuracy
        print(f"{name:9} accuracy {before:.1f} %, and {after:.1f} % under the worst allowed synonyms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
