"""A fixed set of runs whose records must not change while the code is rearranged.

    python -m benchmarks.fixed_runs            # compare with benchmarks/results/fixed_runs.json
    python -m benchmarks.fixed_runs --write    # keep what is found, where a change is meant

Every kind of victim is attacked, compared and certified on the same film reviews, and some texts are decoded. A record
is kept without times, and scores are rounded, so that another machine gives the same. A few minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import itertools
import json
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

import discotext
from discotext.text.merging import MergedWords
from discotext.text.vectors import load_packaged_vectors
from discotext.text.words import split
from discotext.victims.encoded import Encoded
from discotext.victims.registry import load_victim
from discotext.victims.victim import Victim

FILE = Path(__file__).parent / "results" / "fixed_runs.json"
KEPT = (
    "id label predicted adversarial_text adversarial_predicted words budget status solver forwards backwards tied "
    "verdict radius changeable candidates"
).split()
TEXTS = 16
SOLVERS = ("disco", "disco-high", "disco-proximal", "disco-adam", "disco-frank-wolfe", "greedy", "beam", "exact")
FREE = ("disco", "greedy", "ranked-greedy", "left-to-right", "beam", "local-search", "random", "exact")


def make_data() -> tuple[list[str], list[int], list[str]]:
    """Texts to attack, their labels, and texts to learn words from."""
    from discotext.data import load_data

    whole = load_data("movie_reviews")
    some = whole.sample(TEXTS, 5)
    return list(some.texts), some.labels.tolist(), list(whole.sample(800, 6).texts)


def make_network(kind: str, texts: list[str]) -> Victim:
    """A network of random weights, large enough for words to matter."""
    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    words = sorted({word.lower() for text in texts for word in split(text).words})
    words += [word for word in load_packaged_vectors().words[:8000] if word not in set(words)]
    torch.manual_seed(3)
    table = 2 * torch.randn(len(words) + 1, 16)
    return NeuralVictim(WordNetwork(Shape(kind, 2, 16, hidden=12)), Vocabulary(words), table, ("negative", "positive"))


def make_transformer(texts: list[str]) -> Victim:
    """A small BERT of random weights."""
    import torch
    from tests.tiny_models import word_pieces
    from transformers import BertConfig, BertForSequenceClassification

    from discotext.victims.transformers.victim import HuggingFaceVictim

    letters = [chr(code) for code in range(33, 127)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters)]
    pieces += sorted({word.lower() for text in texts for word in split(text).words if len(word) > 1})
    torch.manual_seed(4)
    settings = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    model = BertForSequenceClassification(BertConfig(vocab_size=len(pieces), **settings))
    for parameter in model.parameters():
        parameter.data *= 8
    return HuggingFaceVictim(model.eval(), word_pieces(pieces))


def make_pipeline(texts: list[str], forest: bool) -> Victim:
    """A pipeline of scikit-learn that was fitted to labels made of the texts."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from discotext.victims.sklearn.victim import SklearnVictim

    labels = [len(text) % 2 for text in texts]
    model = RandomForestClassifier(20, random_state=0) if forest else LogisticRegression(C=10)
    return SklearnVictim(make_pipeline(TfidfVectorizer(), model).fit(texts, labels))


def score_letters(texts: list[str]) -> list[list[float]]:
    """The scores of a function that knows nothing of words."""
    return [[sum(map(ord, text)) % 97 / 97, 0.5] for text in texts]


@contextmanager
def serve() -> Iterator[str]:
    """A service that answers as `score_letters` does."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
            answer = json.dumps({"labels": ["negative", "positive"], "scores": score_letters(texts)}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *given: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def keep(records: Any) -> list[dict[str, Any]]:
    """Records as JSON, without what differs between machines and times."""
    found = []
    for record in records:
        raw = record.as_dict()
        kept = {key: raw[key] for key in KEPT if key in raw}
        scores = {key: None if raw[key] is None else float(f"{raw[key]:.4g}") for key in ("score", "adversarial_score")}
        changes = [[one["position"], one["old"], one["new"], one["accept"]] for one in raw["changes"]]
        found.append(kept | scores | {"changes": changes})
    return found


def run_victims() -> Iterator[tuple[str, Any]]:
    """The records of each victim, compared and certified."""
    texts, _, more = make_data()
    network = make_network("dan", texts + more)
    makers: dict[str, Callable[[], Any]] = {
        **{kind: (lambda kind=kind: make_network(kind, texts + more)) for kind in ("dan", "wcnn", "lstm", "rnn")},
        "encoded": lambda: Encoded(network, MergedWords({"film": "film", "movie": "film", "picture": "film"})),
        "transformer": lambda: make_transformer(texts),
        "tfidf": lambda: make_pipeline(more, forest=False),
        "forest": lambda: make_pipeline(more, forest=True),
        "function": lambda: discotext.victims.FunctionVictim(score_letters, labels=("negative", "positive")),
    }
    for name, make in makers.items():
        yield from run_victim(name, make(), texts)
    with serve() as address:
        yield from run_victim("service", load_victim(address), texts)


def run_victim(name: str, victim: Any, texts: list[str]) -> Iterator[tuple[str, Any]]:
    labels = np.asarray(victim.scores(texts)).argmax(axis=1).tolist()
    solvers = SOLVERS if victim.capabilities.gradients else FREE
    given: dict[str, Any] = {"words": 2, "seed": 1, "progress": False}
    yield f"compare {name}", keep(discotext.compare(victim, (texts, labels), list(solvers), **given).records)
    yield f"attack {name}", keep(discotext.attack(victim, (texts, labels), budget=0.2, seed=2, progress=False).records)
    certified = discotext.certify(victim, (texts, labels), words=[1, 2], passes=200, seed=3, progress=False)
    yield f"certify {name}", keep(certified.records)


def run_decoding() -> Iterator[tuple[str, Any]]:
    """What is decoded of networks and of texts with spelling errors."""
    from discotext.decoding.network import Network
    from discotext.models.kneser_ney import train_kneser_ney

    _, _, more = make_data()
    model = train_kneser_ney([text.lower().split() for text in more], order=3, least=1)
    offered = [["the", "a"], ["film", "filth", "firm"], ["is", "was", "its"], ["good", "wood", "god"]]
    network = Network.of("1", [[(word, -0.5 * rank) for rank, word in enumerate(words)] for words in offered])
    for solver in ("auto", "disco", "greedy"):
        found = discotext.decode([network], [model], solver=solver, words=2, nbest=3, progress=False)
        yield f"decode {solver}", [[one.text, one.status.name, f"{one.score:.4g}"] for one in found]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixed_runs", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep what is found")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # the last bits depend on their number
    known = {} if write or not FILE.exists() else json.loads(FILE.read_text())
    found, changed = {}, 0
    for name, records in itertools.chain(run_victims(), run_decoding()):
        content = [hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:12] for one in records]
        found[name] = content
        unlike = [at for at, one in enumerate(content) if name in known and known[name][at : at + 1] != [one]]
        changed += bool(unlike)
        for at in unlike[:2]:
            print(f"{name}, record {at}: {json.dumps(records[at], ensure_ascii=False)}")
        print(f"{name}: {len(content)} records, {len(unlike)} changed", file=sys.stderr)
    if write:
        FILE.write_text(json.dumps(found, indent=0) + "\n")
    print("the same" if not changed else f"{changed} runs have changed")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
