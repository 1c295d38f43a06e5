"""Services with custom fields: where the texts go, and where the scores are."""

import json

import numpy as np
import pytest

from discotext.core.oracle import UnavailableError
from discotext.victims import HttpVictim
from discotext.victims.http.service_format import ServiceFormat, parse_path

TEXTS = ["An awful film about mice.", "A fine film about mice.", "An awful book about ships."]


def score(text: str) -> list[float]:
    """Of bad and good."""
    return [float("awful" in text.lower()), 0.5]


def by_confidence(text):
    """As some services answer: the likeliest class first."""
    rows = zip(("bad", "good"), score(text), strict=True)
    return [{"class": name, "confidence": value} for name, value in sorted(rows, key=lambda pair: -pair[1])]


# How a service is described, the request of two texts, and what it answers.
FORMS = {
    "default": ({}, {"texts": ["x", "y"]}, lambda r: [score(t) for t in r["texts"]]),
    "nested": (
        {"text_field": "data.body.texts", "answer": "data.scores"},
        {"data": {"body": {"texts": ["x", "y"]}}},
        lambda r: {"data": {"scores": [score(t) for t in r["data"]["body"]["texts"]]}},
    ),
    "instances": (
        {"text_field": "instances[].text", "answer": "predictions[].scores"},
        {"instances": [{"text": "x"}, {"text": "y"}]},
        lambda r: {"predictions": [{"scores": score(one["text"])} for one in r["instances"]], "model": "m"},
    ),
    "objects": (
        {"text_field": "[].t", "answer": "out[0]"},
        [{"t": "x"}, {"t": "y"}],
        lambda r: {"out": [[dict(zip(("bad", "good"), score(one["t"]), strict=True)) for one in r], "more"]},
    ),
    "named by confidence": (
        {"answer": "results[].classes"},
        {"texts": ["x", "y"]},
        lambda r: {"results": [{"classes": by_confidence(t), "language": "en"} for t in r["texts"]]},
    ),
    "fixed fields": (
        {"text_field": "inputs", "fields": {"model": "small", "options.top_k": None, "options.n": 2}},
        {"model": "small", "options": {"top_k": None, "n": 2}, "inputs": ["x", "y"]},
        lambda r: {"scores": [score(t) for t in r["inputs"]] if r["options"]["n"] == 2 else None},
    ),
    "pairs of numbers": (
        {"answer": "rows[].classes[].value"},
        {"texts": ["x", "y"]},
        lambda r: {"rows": [{"classes": [{"value": value} for value in score(t)]} for t in r["texts"]]},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_service_is_asked_and_read_as_it_is_described(form, serve):
    settings, request, answer = FORMS[form]
    assert json.loads(HttpVictim("http://127.0.0.1/", **settings).format.write(["x", "y"])) == request
    with serve(answer) as service:
        victim = HttpVictim(service.url, **settings)
        np.testing.assert_allclose(victim.scores(TEXTS), [score(text) for text in TEXTS])
        assert len(service.seen) == 1


ONE_BY_ONE = {
    "row": ({}, lambda r: score(r["texts"])),
    "scores": ({"text_field": "text"}, lambda r: {"scores": score(r["text"]), "labels": ["bad", "good"]}),
    "path": ({"text_field": "q.text", "answer": "result.p"}, lambda r: {"result": {"p": score(r["q"]["text"])}}),
    "named": ({"text_field": "text", "answer": "classes"}, lambda r: {"classes": by_confidence(r["text"])}),
    "class": (
        {"text_field": "text", "answer": "label", "labels": ["bad", "good"]},
        lambda r: {"label": "bad" if "awful" in r["text"].lower() else "good"},
    ),
}


@pytest.mark.parametrize("form", ONE_BY_ONE)
def test_a_service_that_takes_one_text_is_asked_one_by_one(form, serve):
    settings, answer = ONE_BY_ONE[form]
    with serve(answer) as service:
        found = HttpVictim(service.url, one_by_one=True, **settings).scores(TEXTS)
        assert len(service.seen) == 3
    wanted = [score(text) for text in TEXTS] if form != "class" else [[1, 0], [0, 1], [1, 0]]
    np.testing.assert_allclose(found, wanted)


# A wrong path, and what the message names: the step that is not there, and what is.
WRONG = {
    "predictions[].scores": ("'predictions'", "'outputs', 'model'"),
    "outputs[].score": ("'score'", "'logits'"),
    "model[]": ("'m'", "list"),
    "outputs[7]": ("7 in", "'logits'"),
    "[]": ("'outputs', 'model'", "list"),
    "few[].logits": ("1 entries for 3 texts",),
    "named[].classes[].confidence": ("names",),
}


@pytest.mark.parametrize("path", WRONG)
def test_a_wrong_path_is_answered_with_what_is_there(path, serve):
    def answer(request):
        if path.startswith(("few", "named")):
            return {"few": [{"logits": [1, 2]}], "named": [{"classes": by_confidence(text)} for text in TEXTS]}
        return {"outputs": [{"logits": score(text)} for text in request["texts"]], "model": "m"}

    with serve(answer) as service:
        with pytest.raises(UnavailableError) as error:
            HttpVictim(service.url, answer=path).scores(TEXTS)
        assert len(service.seen) == 1  # it is not asked again for each text
    for named in (repr(path), *WRONG[path], "--service answer="):
        assert named in str(error.value)
    assert "\n" not in str(error.value)


def test_without_a_path_an_unknown_answer_shows_its_keys(serve):
    with (
        serve(lambda r: {"outputs": [], "model": "m"}) as service,
        pytest.raises(ValueError, match="'outputs', 'model'"),
    ):
        HttpVictim(service.url).scores(TEXTS)
    with (
        serve(lambda r: [score(t) for t in r["inputs"]]) as service,
        pytest.raises(ValueError, match="--service text="),
    ):
        HttpVictim(service.url).scores(TEXTS)


def test_one_text_that_is_answered_otherwise_does_not_end_the_run(serve):
    def answer(request):
        if any("book" in text for text in request["texts"]):
            return {"error": "too literary"}
        return {"s": [score(text) for text in request["texts"]]}

    with serve(answer) as service:
        victim = HttpVictim(service.url, answer="s", labels=["bad", "good"])
        victim.scores(TEXTS[:1])
        with pytest.raises(ValueError, match="'error'") as error:
            victim.scores(TEXTS)
        assert not isinstance(error.value, UnavailableError)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"text_field": ""}, "''"),
        ({"text_field": "a[x]"}, "'a[x]'"),
        ({"text_field": ".a"}, "'.a'"),
        ({"answer": "a..b"}, "'a..b'"),
        ({"text_field": "a[0]"}, "'a[0]'"),
        ({"text_field": "a[].b", "one_by_one": True}, "'a[].b'"),
        ({"fields": {"a[]": 1}}, "'a[]'"),
        ({"text_field": "[]", "fields": {"a": 1}}, "'a'"),
        ({"text_field": "a", "fields": {"a.b": 1}}, "'a'"),
        ({"text_field": "a.b", "fields": {"a": 1}}, "'a.b'"),
    ],
)
def test_a_description_that_makes_no_sense_is_refused_before_anything_is_sent(settings, named):
    with pytest.raises(ValueError) as error:
        HttpVictim("http://127.0.0.1/", **settings)
    assert named in str(error.value)


def test_paths_are_read_step_by_step():
    assert parse_path("a.b-c[].d[3][]") == ("a", "b-c", None, "d", 3, None)
    assert parse_path("[0]") == (0,)
    assert ServiceFormat().settings == {}
