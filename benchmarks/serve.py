"""How quickly the page of `discotext serve` answers: a keystroke, and the first change of an attack.

    python -m benchmarks.serve discotext-demo/victim movie_reviews

A server runs in this process, and is asked over HTTP as the page asks it. Texts are 50 words of the data, ten of each
of two classes. Keystroke: the answer to a text that grows by one sign, less the seconds inside the victim. First
change: from the request of an attack to the first step on the stream in which a word is changed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from benchmarks.results_file import show
from discotext.data import Examples, load_data
from discotext.experiment.one_text import TextAttacker
from discotext.support.extras import flush_denormals_globally
from discotext.text.words import split
from discotext.web.model import SharedModel
from discotext.web.server import PATIENCE, Server

WORDS, TEXTS, KEYS = 50, 20, 60


def post(address: str, path: str, body: dict[str, object]) -> tuple[http.client.HTTPConnection, float]:
    """Send a request; the connection to read the answer from, and when it was sent."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
    began = time.perf_counter()
    connection.request("POST", parts.path + path, json.dumps(body), {"content-type": "application/json"})
    return connection, began


def time_keystroke(address: str, text: str) -> tuple[float, float]:
    """Milliseconds of an answer without the victim, and inside the victim."""
    connection, began = post(address, "api/look", {"text": text})
    found = json.loads(connection.getresponse().read())
    inside = found["victim_seconds"]
    connection.close()
    return 1e3 * (time.perf_counter() - began - inside), 1e3 * inside


def time_first_change(address: str, text: str, solver: str) -> float | None:
    """Milliseconds until a word is changed; None if none is."""
    connection, began = post(address, "api/attack", {"text": text, "solvers": [solver]})
    answer = connection.getresponse()
    found = None
    while line := answer.readline():
        if found is None and line.startswith(b"data: ") and b'"changes": [{' in line:
            found = 1e3 * (time.perf_counter() - began)
    connection.close()
    return found


def cut_texts(examples: Examples) -> list[str]:
    """Pieces of so many words; short texts are put together, since reviews of a sentence are common."""
    words = split(" ".join(examples.texts[: TEXTS * WORDS])).words
    return [" ".join(words[at * WORDS : (at + 1) * WORDS]) for at in range(TEXTS // 2)]


def describe(name: str, values: Sequence[float]) -> dict[str, object]:
    """The middle and the worst of some times."""
    return {
        "what": name,
        "n": len(values),
        "median ms": float(np.median(values)),
        "95 % below ms": float(np.quantile(values, 0.95)),
        "largest ms": max(values),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victim")
    parser.add_argument("data")
    given = parser.parse_args()
    flush_denormals_globally()
    examples = load_data(given.data, split="test")
    texts = [text for label in (0, 1) for text in cut_texts(examples.take(np.flatnonzero(examples.labels == label)))]
    model = SharedModel(TextAttacker(given.victim, patience=PATIENCE))
    model.warm_up()
    server = Server(model, 0)
    thread = threading.Thread(target=server.serve_page)
    thread.start()
    try:
        typed = [text[: len(text) - left] for text in texts for left in range(KEYS, -1, -1)]
        keys = [time_keystroke(server.address, text) for text in typed]
        rows = [
            describe("keystroke, without the victim", [pair[0] for pair in keys]),
            describe("inside the victim", [pair[1] for pair in keys]),
        ]
        for solver in ("auto", "greedy", "beam"):
            first = [time_first_change(server.address, text, solver) for text in texts]
            rows.append(describe(f"first change, {solver}", [one for one in first if one is not None]))
        show(f"{TEXTS} texts of {WORDS} words, {given.victim}", rows)
    finally:
        server.end()
        thread.join()


if __name__ == "__main__":
    main()
