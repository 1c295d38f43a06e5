"""Attack, learn from what was found, attack again: the first answer to "how do I fix it?".

    pip install "discotext[demo]"
    python examples/harden.py [SENTENCES [UNSEEN]]

Trains an LSTM on film reviews, attacks sentences it was trained on, trains another on those sentences and the texts
that turned it (with their true labels), and attacks both on sentences neither has seen.
"""

import sys
import tempfile
from pathlib import Path

import discotext as d
from discotext.experiment.merging import augmented
from discotext.extras import quick_start

quick_start()  # before PyTorch has done anything


def main(sentences: int = 6824, others: int = 300) -> None:
    from discotext.victims.neural.making import default_vectors, settings_for
    from discotext.victims.neural.training import train

    known, unseen = d.load_data("movie_reviews", "train"), d.load_data("movie_reviews", "test")
    known, unseen = known.sample(sentences), unseen.sample(others)
    vectors, _ = default_vectors()
    settings = settings_for({}, len(known))
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        print(f"training on {len(known)} sentences …", flush=True)
        plain, _ = train(known, vectors, settings)
        print("attacking them …", flush=True)
        d.attack(plain, known, "disco", out=run)
        texts, labels = zip(*augmented(run), strict=True)
        more = d.Examples.of(texts, labels, names=known.names)
        print(f"training on {len(more)}: the same, and {len(more) - len(known)} texts that turned it …", flush=True)
        hardened, _ = train(more, vectors, settings)
    for name, victim in (("plain", plain), ("hardened", hardened)):
        found = d.attack(victim, unseen, "exact").summary["solvers"]["exact"]
        before, after = (100 * found[f"{when}_accuracy"] for when in ("original", "adversarial"))
        print(f"{name:9} accuracy {before:.1f} %, and {after:.1f} % under the worst allowed synonyms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
