"""Labels of data mean the right classes of a victim, or are refused."""

import json
from functools import partial

import numpy as np
import pytest

from discotext.data.columns import Columns
from discotext.data.examples import Examples
from discotext.victims.examples import load_examples
from discotext.victims.function import FunctionVictim
from discotext.victims.http.victim import HttpVictim
from discotext.victims.sklearn.victim import SklearnVictim
from tests.tiny_models import classifier, word_pieces
from tests.victims.services import serving
from tests.victims.test_victim import WRAPPERS, Odd
from tests.victims.toys import BAD, GOOD, THINGS, fit_pipeline, logit, tiny_transformer

TEXTS = ["A good film", "A bad film"]


def by_name(texts):
    return [{"spam ": logit(text), "ham": -logit(text)} for text in texts]


OPINIONS = [f"A {word} {thing}" for word in [*GOOD, *BAD] for thing in THINGS]


def named_transformer():
    victim = tiny_transformer({0: "spam ", 1: "ham"})
    scores = victim.scores(OPINIONS)
    victim.reader.model.classifier.bias[1] -= float(np.median(scores[:, 1] - scores[:, 0]))
    return victim


def named_pipeline():
    model = fit_pipeline()
    model[-1].classes_ = np.array(["ham", "spam "])
    return SklearnVictim(model)


NAMED = {
    "sklearn": named_pipeline,
    "function": lambda: FunctionVictim(by_name),
    "function with labels": lambda: FunctionVictim(by_name, labels=["spam ", "ham"]),
    "transformer": named_transformer,
}
# Services that name their classes without an order, and with one.
SERVICES = {
    "http": lambda request: by_name(request["texts"]),
    "http with labels": lambda request: {
        "scores": [[logit(text), -logit(text)] for text in request["texts"]],
        "labels": ["spam ", "ham"],
    },
}


@pytest.fixture(params=[*NAMED, *SERVICES])
def victim(request, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    if request.param in NAMED:
        yield NAMED[request.param]()
    else:
        with serving(SERVICES[request.param]) as service:
            yield HttpVictim(service.url)


UNORDERED = ("sklearn", "function", "http")
# How data may write the class of a victim, and what the user maps.
WRITTEN = {
    "exactly": (lambda name, number: name, {}),
    "in another case": (lambda name, number: name.strip().title(), {}),
    "with a blank": (lambda name, number: f"{name.strip()} ", {}),
    "mapped": (lambda name, number: name[0], {"h": "ham", "S": "spam"}),
    "mapped from numbers": (lambda name, number: 7 + (name == "ham"), {"7": "SPAM", "8": "ham"}),
    "as numbers": (lambda name, number: number, {}),
    "as numbers, mapped": (lambda name, number: 5 + number, {"5": "0", "6": "1"}),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_labels_mean_the_right_classes_or_are_refused_for_a_true_reason(victim, written, request, tmp_path):
    truth = victim.scores(OPINIONS).argmax(axis=1).tolist()
    assert set(truth) == {0, 1}
    write, rename = WRITTEN[written]
    rows = [{"text": text, "label": write(victim.labels[n], n)} for text, n in zip(OPINIONS, truth, strict=True)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    read = partial(load_examples, victim, str(tmp_path / "data.jsonl"), Columns(rename=rename))
    if written.startswith("as numbers") and request.node.callspec.params["victim"] in UNORDERED:
        with pytest.raises(ValueError, match="--map-label"):
            read()
    else:
        assert read().labels.tolist() == truth


@pytest.mark.parametrize("wrap", [lambda victim: victim, *WRAPPERS.values()], ids=["itself", *WRAPPERS])
def test_numbers_are_refused_through_a_wrapper_and_in_examples_alike(wrap):
    for data in ((TEXTS, [0, 1]), Examples.of(TEXTS, [0, 1])):
        with pytest.raises(ValueError, match="--map-label"):
            load_examples(wrap(FunctionVictim(by_name)), data)


def test_examples_whose_classes_have_names_are_matched_by_these():
    assert load_examples(FunctionVictim(by_name), Examples.of(TEXTS, [1, 0], ["ham", "spam"])).labels.tolist() == [1, 0]


def test_classes_that_differ_in_case_are_told_apart_by_exact_spelling_only():
    victim = FunctionVictim(lambda texts: [{"Spam": 0.0, "spam": logit(text)} for text in texts])
    found = load_examples(victim, (TEXTS, ["spam", "Spam"]))
    assert [victim.labels[number] for number in found.labels] == ["spam", "Spam"]
    with pytest.raises(ValueError, match="'SPAM'"):
        load_examples(victim, (TEXTS, ["spam", "SPAM"]))
    renamed = Examples.of(TEXTS, ["a", "A"], victim.labels, rename={"a": "spam", "A": "Spam"})
    assert [victim.labels[number] for number in renamed.labels] == ["spam", "Spam"]
    with pytest.raises(ValueError, match=r"'ab' and 'Ab'.*'AB'"):
        Examples.of(TEXTS, ["ab", "AB"], victim.labels, rename={"ab": "spam", "Ab": "Spam"})


@pytest.mark.parametrize("names", [("a", "b", "a"), ("a", "b", "a ")])
def test_two_classes_of_one_name_are_refused(names):
    class Double(Odd):
        labels = names

    with pytest.raises(ValueError, match=r"0 and 2 of odd .*'a'"):
        load_examples(Double(), (["A good film"], ["a"]))
    pytest.importorskip("transformers")
    from discotext.victims.transformers.victim import HuggingFaceVictim

    tokeniser = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *GOOD])
    with pytest.raises(ValueError, match="'a'"):
        HuggingFaceVictim(classifier("Bert", len(tokeniser), id2label=dict(enumerate(names))), tokeniser)


def test_opposites_have_a_known_order():
    victim = FunctionVictim(lambda texts: [{"positive": logit(text), "negative": 0.5} for text in texts])
    found = load_examples(victim, (TEXTS, [1, 0]))
    assert [victim.labels[number] for number in found.labels] == ["positive", "negative"]
