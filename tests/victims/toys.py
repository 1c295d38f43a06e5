"""Toy models that several tests of victims share: a linear model of a handful of words, in many forms."""

import math

import numpy as np
import pytest

from discotext.text.candidates import Candidates
from discotext.text.sources import SynonymList
from discotext.text.space import Space
from tests.tiny_models import classifier, word_pieces

GOOD, BAD = "good fine great lovely nice".split(), "bad awful poor weak dull".split()
THINGS = "film story cast music".split()
WEIGHTS = {word: 1 + 0.1 * number for number, word in enumerate(GOOD)} | {
    word: -1.1 - 0.15 * number for number, word in enumerate(BAD)
}
TEXTS = [
    "A good film with a fine story.",
    "The bad cast was awful",
    "",
    "music",
    "A good film with a fine story.",
    "Néw \U0001f3ac “great” — lovely & <b>dull</b>\n",
]


def logit(text: str) -> float:
    """A linear model of a handful of words, with one interaction that makes greedy work for its living."""
    words = [word.strip(".,") for word in text.lower().split()]
    return sum(WEIGHTS.get(word, 0.01 * len(word)) for word in words) - 0.5 * ("film" in words and "great" in words)


def probability(text: str) -> float:
    return 1 / (1 + math.exp(-logit(text)))


class Frame:
    """As much of a data frame as is looked at."""

    def __init__(self, rows):
        self.rows = rows

    def to_numpy(self):
        return np.array(self.rows)

    def __len__(self):
        return len(self.rows)


def torch_scores(texts):
    torch = pytest.importorskip("torch")
    return torch.tensor([[-logit(text), logit(text)] for text in texts], requires_grad=True).bfloat16()


def pipeline_rows(texts):
    """As a transformers pipeline answers: the likeliest first."""
    rows = [[("NEG", 1 - probability(text)), ("POS", probability(text))] for text in texts]
    return [[{"label": a, "score": b} for a, b in sorted(row, key=lambda pair: -pair[1])] for row in rows]


FUNCTIONS = {
    "lists": lambda texts: [[-logit(text), logit(text), -5.0] for text in texts],
    "tuples": lambda texts: tuple((-logit(text), logit(text)) for text in texts),
    "generator": lambda texts: ((-logit(text), logit(text)) for text in texts),
    "single precision": lambda texts: np.array([[-logit(text), logit(text)] for text in texts], np.float32),
    "whole numbers": lambda texts: np.array([[9, len(text)] for text in texts]),
    "tensor": torch_scores,
    "frame": lambda texts: Frame([[-logit(text), logit(text)] for text in texts]),
    "pipeline": pipeline_rows,
    "mappings": lambda texts: [{"POS": logit(text), "NEG": -logit(text)} for text in texts],
    "probability": lambda texts: [probability(text) for text in texts],
    "one column": lambda texts: np.array([[logit(text)] for text in texts]),
}


def fit_pipeline(kind="LogisticRegression"):
    """A pipeline trained on 40 toy sentences."""
    pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    models = {
        "LogisticRegression": LogisticRegression(),
        "LinearSVC": LinearSVC(),
        "MultinomialNB": MultinomialNB(),
        "forest": RandomForestClassifier(20, random_state=0),
    }
    texts = [f"A {word} {thing}" for word in [*GOOD, *BAD] for thing in THINGS]
    labels = ["pos" if text.split()[1] in GOOD else "neg" for text in texts]
    return make_pipeline(TfidfVectorizer(), models[kind]).fit(texts, labels)


def tiny_transformer(names):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from discotext.victims.transformers.victim import HuggingFaceVictim

    tokeniser = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *GOOD, *BAD, *THINGS])
    return HuggingFaceVictim(classifier("Bert", len(tokeniser), id2label=names, num_labels=2), tokeniser)


SHAPES = [(kind, "max") for kind in ("lstm", "rnn", "wcnn", "dan")] + [
    ("lstm", "last"),
    ("lstm", "mean"),
    ("rnn", "last"),
]


def tiny_network(kind, pool="max", classes=2, width=8):
    """A network of random weights over the words of the toys."""
    torch = pytest.importorskip("torch")
    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    torch.manual_seed(0)
    network = WordNetwork(Shape(kind, classes, width, hidden=12, pool=pool))
    # As after training: statistics that are not those of the start.
    network.norm.running_mean.normal_()
    network.norm.running_var.uniform_(0.5, 2)
    words = [*GOOD, *BAD, *THINGS, "a", "the", "was"]
    table = torch.randn(len(words) + 1, width)
    return NeuralVictim(network, Vocabulary(words), table, [f"class {number}" for number in range(classes)])


class Nouns:
    name = "fixed"

    def tag(self, texts):
        return [["NN"] * len(text) for text in texts]


def tiny_space():
    words = {"good": ["fine", "dull"], "bad": ["poor", "nice"], "film": ["story", "music"], "great": ["weak"]}
    texts = ["A good film", "The bad film was great", "nothing", "good bad good"]
    return Space.of(texts, Candidates(SynonymList(words), (), Nouns()), words=2)


def answer(form="labels"):
    """The answer of a service in a form that services have."""

    def reply(request):
        rows = [[-logit(text), logit(text)] for text in request["texts"]]
        forms = {
            "labels": {"scores": rows, "labels": ["neg", "pos"]},
            "bare": rows,
            "single": {"scores": [probability(text) for text in request["texts"]]},
            "pipeline": pipeline_rows(request["texts"]),
        }
        return forms[form]

    return reply
