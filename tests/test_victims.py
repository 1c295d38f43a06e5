"""Third-party victims: functions, scikit-learn pipelines, services. One table, the same laws."""

import dataclasses
import json
import math
import pickle
import sys
import threading
from collections import deque
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from discotext.core.objectives import Untargeted
from discotext.core.oracle import BoundingOracle, DeletingOracle, Oracle, RelaxedOracle, UnavailableError
from discotext.core.solution import Status
from discotext.data.columns import Columns
from discotext.data.examples import Examples
from discotext.experiment.observation import Observer, WatchedVictim
from discotext.search.loop import solve
from discotext.solvers import Exact, Greedy
from discotext.text.candidates import Candidates
from discotext.text.merging import NOTHING_MERGED
from discotext.text.sources import SynonymList
from discotext.text.space import Space
from discotext.victims import remote
from discotext.victims.encoded import Encoded
from discotext.victims.function import FunctionVictim, load_function
from discotext.victims.registry import load_examples
from discotext.victims.remote import HttpVictim
from discotext.victims.scikit import FLOOR, SklearnVictim, UntrustedError, load_sklearn
from discotext.victims.score_reader import ScoreFormat
from discotext.victims.victim import Capabilities, TextOracle, Victim, compute_scores
from discotext.victims.wrapped import AdaptedVictim, WrappedVictim
from tests.conftest import needs_torch
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


# --- a service that fails as it is told


class Service:
    """Answers on a thread; `troubles` are had first, one a request, and `seen` holds what was posted."""

    def __init__(self, form="labels"):
        self.form, self.troubles, self.seen, self.headers = form, deque(), [], []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
                service.seen.append(texts)
                service.headers.append(self.headers)
                service.answer(self, texts)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/score"

    def scores(self, texts):
        rows = [[-logit(text), logit(text)] for text in texts]
        forms = {
            "labels": lambda: {"scores": rows, "labels": ["neg", "pos"]},
            "bare": lambda: rows,
            "single": lambda: {"scores": [probability(text) for text in texts]},
            "pipeline": lambda: pipeline_rows(texts),
        }
        return forms[self.form]()

    def answer(self, handler, texts):
        trouble = self.troubles.popleft() if self.troubles else None
        status, headers, body = 200, {}, json.dumps(self.scores(texts))
        if isinstance(trouble, int):
            status, body = trouble, f"trouble {trouble}"
        elif isinstance(trouble, tuple):
            status, headers = trouble
        elif isinstance(trouble, str):
            body = trouble
        elif trouble is not None:
            return trouble(handler)
        data = body.encode()
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)
        return None


def drops(handler):
    handler.connection.close()


def hangs(handler):
    handler.connection.recv(1)  # until the other side gives up


def stops_short(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"[[0.")


@contextmanager
def serving(form="labels"):
    service = Service(form)
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        service.server.server_close()
        thread.join(timeout=5)


@pytest.fixture
def service(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv(remote.TOKEN, raising=False)
    with serving() as service:
        yield service


class Clock:
    """Time that passes only by sleeping, which takes none."""

    def __init__(self):
        self.now, self.slept = 100.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


def asking(service, **settings):
    clock = Clock()
    return HttpVictim(service.url, clock=clock, sleep=clock.sleep, **settings), clock


# --- the table


def pipeline(kind="LogisticRegression"):
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


def remote_victim(form):
    def make(stack):
        return HttpVictim(stack.setdefault(form, Service(form)).url, batch=2)

    return make


MAKE = {f"function, {name}": lambda _, f=f: FunctionVictim(f, batch=4) for name, f in FUNCTIONS.items()}
MAKE |= {
    f"sklearn, {name}": lambda _, name=name: SklearnVictim(pipeline(name))
    for name in ("LogisticRegression", "LinearSVC", "MultinomialNB", "forest")
}
MAKE |= {f"http, {form}": remote_victim(form) for form in ("labels", "bare", "single", "pipeline")}


class Odd(Victim):
    """Differs from the default in every declaration and method."""

    name, labels = "odd", ("neg", "pos")
    capabilities = Capabilities(
        gradients=True, deletes=False, vocabulary={"good"}, uses_gpu=True, has_memory=True, protocol={"a": "b"},
        classes_only=True, ordered=False, chunk=7,
    )  # fmt: skip

    def scores(self, texts):
        return np.array([[0.0, float(logit(text) > 0)] for text in texts]).reshape(-1, 2)

    def oracle(self, space, objective):
        return EmbeddingFree(TextOracle(self, space, objective))

    def truncates(self, texts):
        return [True for _ in texts]

    def remembers(self, texts):
        return np.ones(len(texts), dtype=bool)

    def explain_bounds(self):
        return "odd bounds"

    def save(self, folder, settings=None, more=None):
        raise ValueError(f"{folder} is odd")


class EmbeddingFree:
    """An oracle that declares gradients."""

    def __init__(self, oracle):
        self.batch, self.score = oracle.batch, oracle.score

    def relaxed(self, problems, alpha):
        return np.zeros(len(problems)), np.zeros(len(alpha))


def tiny_transformer(names):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from discotext.victims.huggingface import HuggingFaceVictim

    tokeniser = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *GOOD, *BAD, *THINGS])
    return HuggingFaceVictim(classifier("Bert", len(tokeniser), id2label=names, num_labels=2), tokeniser)


@pytest.fixture(params=MAKE)
def victim(request, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    services: dict[str, Service] = {}
    made = {**MAKE, "odd": lambda _: Odd(), **NAMED}[request.param](services)
    for service in services.values():
        threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    for service in services.values():
        service.server.shutdown()
        service.server.server_close()


# --- laws of every victim


def test_every_victim_keeps_the_interface(victim):
    assert isinstance(victim, Victim)
    assert len(set(victim.labels)) == len(victim.labels) >= 2
    assert all(isinstance(label, str) for label in victim.labels)


WRAPPERS = {
    "wrapped": WrappedVictim,
    "encoded": lambda victim: Encoded(victim, NOTHING_MERGED),
    "watched": lambda victim: WatchedVictim(victim, Observer(lambda step: None, lambda: False)),
    "adapted": AdaptedVictim,
}


def outcome(call):
    """What a call returns, or how it fails."""
    try:
        found = call()
        return found.tolist() if isinstance(found, np.ndarray) else found
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("victim", [*MAKE, "odd", "transformer"], indirect=True)
def test_a_wrapper_that_adds_nothing_is_indistinguishable_from_what_it_wraps(victim, wrap, tmp_path):
    wrapper, words = wrap(victim), [*WEIGHTS, "Good", "gnu", ""]
    for _ in range(2):  # before the first answer, and after it
        mine, its = wrapper.capabilities, victim.capabilities
        for one in dataclasses.fields(Capabilities):
            found, expected = getattr(mine, one.name), getattr(its, one.name)
            if one.name == "vocabulary" and expected is not None:
                found, expected = [word in found for word in words], [word in expected for word in words]
            assert found == expected, one.name
        assert (wrapper.name, wrapper.labels) == (victim.name, victim.labels)
        victim.scores(TEXTS)
    for ability in (Oracle, RelaxedOracle, DeletingOracle, BoundingOracle):
        assert wrapper.supports(ability) == victim.supports(ability)
    space = tiny_space()
    problems, choices = np.arange(len(space)), space.batch.originals()
    calls = {
        "scores": lambda one: one.scores(TEXTS),
        "truncates": lambda one: one.truncates(TEXTS),
        "remembers": lambda one: one.remembers(TEXTS),
        "explain_bounds": lambda one: one.explain_bounds(),
        "oracle": lambda one: one.oracle(space, Untargeted([0] * len(space))).score(problems, choices),
        "save": lambda one: one.save(tmp_path / "saved", {"n": 1}, {"more": b"2"}),
    }
    assert {*calls, "supports", "capabilities"} == {name for name in vars(Victim) if not name.startswith("_")}
    if wrap is AdaptedVictim:  # the method of that name of a stranger may do anything
        del calls["save"]
    for name, call in calls.items():
        assert outcome(lambda call=call: call(wrapper)) == outcome(lambda call=call: call(victim)), name


def test_the_odd_victim_differs_in_every_declaration():
    for one in dataclasses.fields(Capabilities):
        assert getattr(Odd.capabilities, one.name) != getattr(Victim.capabilities, one.name), one.name


@pytest.mark.parametrize("wrap", [WrappedVictim, WRAPPERS["encoded"], WRAPPERS["watched"], AdaptedVictim])
def test_numbers_for_named_classes_without_an_order_are_refused_through_a_wrapper(wrap):
    named = FunctionVictim(lambda texts: [{"ham": -logit(text), "spam": logit(text)} for text in texts])
    for one in (named, wrap(named)):
        with pytest.raises(ValueError, match="which number means which"):
            load_examples(one, (["A good film", "A bad film"], [0, 1]))


# --- labels of data, and classes of victims


def by_name(texts):
    return [{"spam ": logit(text), "ham": -logit(text)} for text in texts]


OPINIONS = [f"A {word} {thing}" for word in [*GOOD, *BAD] for thing in THINGS]


def named_transformer(_):
    victim = tiny_transformer({0: "spam ", 1: "ham"})
    scores = victim.scores(OPINIONS)
    victim.reader.model.classifier.bias[1] -= float(np.median(scores[:, 1] - scores[:, 0]))
    return victim


class NamedService(Service):
    """Names its classes: with an order in the form "labels", otherwise without."""

    def scores(self, texts):
        rows = [[logit(text), -logit(text)] for text in texts]
        return {"scores": rows, "labels": ["spam ", "ham"]} if self.form == "labels" else by_name(texts)


def named_pipeline(_):
    model = pipeline()
    model[-1].classes_ = np.array(["ham", "spam "])
    return SklearnVictim(model)


NAMED = {
    "sklearn": named_pipeline,
    "function": lambda _: FunctionVictim(by_name),
    "function with labels": lambda _: FunctionVictim(by_name, labels=["spam ", "ham"]),
    "transformer": named_transformer,
    "http": lambda stack: HttpVictim(stack.setdefault("", NamedService("")).url),
    "http with labels": lambda stack: HttpVictim(stack.setdefault("", NamedService("labels")).url),
}
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
@pytest.mark.parametrize("victim", NAMED, indirect=True)
def test_labels_mean_the_right_classes_or_are_refused_for_a_true_reason(victim, written, request, tmp_path):
    truth = victim.scores(OPINIONS).argmax(axis=1).tolist()
    assert set(truth) == {0, 1}
    write, rename = WRITTEN[written]
    rows = [{"text": text, "label": write(victim.labels[n], n)} for text, n in zip(OPINIONS, truth, strict=True)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    read = partial(load_examples, victim, str(tmp_path / "data.jsonl"), Columns(rename=rename))
    if written.startswith("as numbers") and request.node.callspec.params["victim"] in UNORDERED:
        with pytest.raises(ValueError, match="which number means which"):
            read()
    else:
        assert read().labels.tolist() == truth


def test_examples_that_were_numbered_before_are_refused_alike():
    texts = ["A good film", "A bad film"]
    with pytest.raises(ValueError, match="which number means which"):
        load_examples(FunctionVictim(by_name), Examples.of(texts, [0, 1]))
    # These were given names by the user.
    assert load_examples(FunctionVictim(by_name), Examples.of(texts, [1, 0], ["ham", "spam"])).labels.tolist() == [1, 0]


def test_classes_that_differ_in_case_are_told_apart_by_exact_spelling_only():
    victim = FunctionVictim(lambda texts: [{"Spam": 0.0, "spam": logit(text)} for text in texts])
    texts = ["A good film", "A bad film"]
    found = load_examples(victim, (texts, ["spam", "Spam"]))
    assert [victim.labels[number] for number in found.labels] == ["spam", "Spam"]
    with pytest.raises(ValueError, match=r"'SPAM'.* differ in case only"):
        load_examples(victim, (texts, ["spam", "SPAM"]))
    renamed = Examples.of(texts, ["a", "A"], victim.labels, rename={"a": "spam", "A": "Spam"})
    assert [victim.labels[number] for number in renamed.labels] == ["spam", "Spam"]
    with pytest.raises(ValueError, match="'ab' and 'Ab', and the label 'AB' could be either"):
        Examples.of(texts, ["ab", "AB"], victim.labels, rename={"ab": "spam", "Ab": "Spam"})


@pytest.mark.parametrize("names", [("a", "b", "a"), ("a", "b", "a ")])
def test_two_classes_of_one_name_are_refused(names):
    class Double(Odd):
        labels = names

    with pytest.raises(ValueError, match="the classes 0 and 2 of odd are both called 'a'"):
        load_examples(Double(), (["A good film"], ["a"]))
    pytest.importorskip("transformers")
    from discotext.victims.huggingface import HuggingFaceVictim

    tokeniser = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *GOOD])
    with pytest.raises(ValueError, match="both called 'a'"):
        HuggingFaceVictim(classifier("Bert", len(tokeniser), id2label=dict(enumerate(names))), tokeniser)


@needs_torch
def test_a_model_that_predicts_a_number_is_refused():
    pytest.importorskip("transformers")
    from discotext.victims.huggingface import HuggingFaceVictim

    tokeniser = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *GOOD])
    model = classifier("Bert", len(tokeniser), num_labels=1, problem_type="regression")
    with pytest.raises(ValueError, match="predicts a number, not a class"):
        HuggingFaceVictim(model, tokeniser)


def test_what_a_victim_can_do_is_declared_in_one_way():
    with pytest.raises(TypeError, match="gradients"):

        class Old(Victim):
            name, labels, gradients = "old", ("a", "b"), True


def test_no_texts_have_no_scores_even_before_anything_was_asked(victim):
    assert victim.scores([]).shape == (0, len(victim.labels))


def test_scores_do_not_depend_on_order_company_or_repetition(victim):
    whole = compute_scores(victim, TEXTS)
    assert whole.dtype == np.float64
    assert np.array_equal(whole[0], whole[4])
    np.testing.assert_allclose(compute_scores(victim, TEXTS[::-1])[::-1], whole, atol=1e-9)
    np.testing.assert_allclose(np.concatenate([compute_scores(victim, [text]) for text in TEXTS]), whole, atol=1e-9)
    np.testing.assert_allclose(compute_scores(victim, (TEXTS[1],) * 7), np.repeat(whole[1:2], 7, axis=0), atol=1e-9)


class Nouns:
    name = "fixed"

    def tag(self, texts):
        return [["NN"] * len(text) for text in texts]


def tiny_space():
    words = {"good": ["fine", "dull"], "bad": ["poor", "nice"], "film": ["story", "music"], "great": ["weak"]}
    texts = ["A good film", "The bad film was great", "nothing", "good bad good"]
    return Space.of(texts, Candidates(SynonymList(words), (), Nouns()), words=2)


def test_greedy_improves_on_the_original_and_never_beats_the_exact_search(victim):
    space = tiny_space()
    goal = Untargeted(compute_scores(victim, [str(text) for text in space.texts]).argmax(axis=1).tolist())
    oracle = victim.oracle(space, goal)
    assert isinstance(oracle, TextOracle)
    best = solve(space.batch, oracle, Exact())
    greedy = solve(space.batch, oracle, Greedy())
    for number, (one, other) in enumerate(zip(best, greedy, strict=True)):
        assert one.status != Status.FAILED
        assert other.score <= one.score + 1e-9
        assert other.score >= other.original_score
        # A second road to the same number: the text of the choice, scored by the victim itself.
        again = goal.value(victim.scores([space.text(number, one.choice)]), np.array([number]))
        assert again[0] == pytest.approx(one.score, abs=1e-9)
    assert any(one.score > one.original_score for one in greedy)


# --- functions


def test_a_single_probability_becomes_two_columns_that_add_up_to_one():
    victim = FunctionVictim(FUNCTIONS["probability"])
    found = victim.scores(TEXTS)
    np.testing.assert_allclose(found[:, 1], [probability(text) for text in TEXTS])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert victim.labels == ("0", "1")


def test_a_single_logit_becomes_two_columns_that_differ_by_it():
    found = FunctionVictim(FUNCTIONS["one column"]).scores(TEXTS)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], [logit(text) for text in TEXTS])
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)


def test_what_a_single_number_means_is_settled_by_the_first_texts_and_not_by_the_question_for_labels():
    victim = FunctionVictim(lambda texts: [0.5 if text == "a" else 4.0 for text in texts])
    assert victim.labels == ("0", "1")
    assert victim.score_reader.format == ScoreFormat(("0", "1"), "auto", False)
    assert victim.scores(["b"]).tolist() == [[-2.0, 2.0]]
    assert victim.scores(["a"]).tolist() == [[-0.25, 0.25]]  # settled, though the number could be a probability
    assert victim.score_reader.format == ScoreFormat(("0", "1"), "logit", False)
    stated = FunctionVictim(lambda texts: [0.5] * len(texts), binary="logit")
    assert stated.scores(["b"]).tolist() == [[-0.25, 0.25]]
    hard = FunctionVictim(lambda texts: [len(text) % 2 for text in texts], binary="probability")
    assert hard.scores(["b", "bb"]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    single = FunctionVictim(lambda texts: np.full(len(texts), 1.0000001, np.float32), binary="probability")
    assert single.scores(["b"]).tolist() == [[0.0, 1.0]]


def test_labels_come_from_the_caller_or_the_answers_or_the_function():
    assert FunctionVictim(FUNCTIONS["lists"]).labels == ("0", "1", "2")
    assert FunctionVictim(FUNCTIONS["lists"], labels=["n", "p", "x"]).labels == ("n", "p", "x")
    assert FunctionVictim(pipeline_rows).labels == ("NEG", "POS")

    def own(texts):
        return [[0.0, 1.0]] * len(texts)

    own.labels = ["cold", "warm"]
    assert FunctionVictim(own).labels == ("cold", "warm")
    # Named answers follow the caller's order, and numbers in names count as numbers.
    turned = FunctionVictim(pipeline_rows, labels=["POS", "NEG"])
    np.testing.assert_allclose(turned.scores(TEXTS), FunctionVictim(pipeline_rows).scores(TEXTS)[:, ::-1])
    many = FunctionVictim(lambda texts: [{f"LABEL_{n}": float(n) for n in range(11, -1, -1)} for _ in texts])
    assert many.scores(["x"]).tolist() == [[float(n) for n in range(12)]]
    assert many.labels[2] == "LABEL_2"


def test_a_function_gets_lists_of_at_most_a_batch_and_may_spoil_them():
    sizes = []

    def scores(texts):
        sizes.append(len(texts))
        found = [[0.0, float(len(text))] for text in texts]
        texts.clear()
        return found

    texts = ["a" * n for n in range(7)]
    assert FunctionVictim(scores, batch=3).scores(texts)[:, 1].tolist() == list(range(7))
    assert sizes == [3, 3, 1]
    assert len(texts) == 7


def fails(texts):
    raise KeyError("no such word")


WRONG = {
    "returned 1 row for 2 texts; expected one row for each text": lambda texts: [[0.0, 1.0]],
    "returned None; expected a row of scores for each text": lambda texts: None,
    "returned {'a': 1}; expected a row": lambda texts: {"a": 1},
    "returned rows of different lengths, such as [0.0, 1.0]": lambda texts: [[0.0, 1.0], [0.0]],
    "returned ['x', 'y'] for a text; expected numbers": lambda texts: [["x", "y"]] * len(texts),
    "returned ['0.5', '0.5'] for a text; expected numbers": lambda texts: [["0.5", "0.5"]] * len(texts),
    "returned [None, 1.0] for a text; expected numbers": lambda texts: [[None, 1.0]] * len(texts),
    "returned [nan, 1.0] for the text 'one'": lambda texts: [[math.nan, 1.0]] * len(texts),
    "returned [0.0, -inf] for the text 'two'": lambda texts: [[0.0, -math.inf if t == "two" else 1.0] for t in texts],
    "returned scores of shape (2, 1, 1)": lambda texts: np.zeros((len(texts), 1, 1)),
    "returned scores of shape (2, 0)": lambda texts: np.zeros((len(texts), 0)),
    "looks like a predicted class": lambda texts: np.array([2] * len(texts)),
    "the best class only": lambda texts: [{"label": "POS", "score": 0.9}] * len(texts),
    "(from a transformers pipeline: top_k=None)": lambda texts: [[{"label": "POS", "score": 0.9}]] * len(texts),
    "expected scores of a, b": lambda texts: [{"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}],
    "raised KeyError: 'no such word' for the text 'one' or one of 1 more": fails,
}


@pytest.mark.parametrize("sentence", WRONG)
def test_an_answer_that_cannot_be_read_raises_a_one_line_error(sentence):
    with pytest.raises((ValueError, UnavailableError)) as caught:
        FunctionVictim(WRONG[sentence]).scores(["one", "two"])
    assert str(caught.value).startswith("function ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_answers_that_change_their_meaning_are_refused():
    victim = FunctionVictim(lambda texts: [[0.0] * len(texts[0])] * len(texts))
    victim.scores(["two"])
    with pytest.raises(ValueError, match="returned 4 scores for each text; expected one for each of 0, 1, 2"):
        victim.scores(["four"])
    with pytest.raises(ValueError, match="a single score for each text; expected one for each of 0, 1, 2"):
        victim.scores(["a"])
    victim = FunctionVictim(lambda texts: [float(len(text)) for text in texts])
    victim.scores(["a"])
    with pytest.raises(
        ValueError,
        match=r"returned 3; expected a probability between 0 and 1, as .*; for logits, say so \(binary= of Func",
    ):
        victim.scores(["abc"])
    with pytest.raises(ValueError, match="returned scores of NEG, POS; expected cold, warm"):
        FunctionVictim(pipeline_rows, labels=["cold", "warm"]).scores(TEXTS)


def test_wrong_settings_are_refused_before_any_call():
    with pytest.raises(ValueError, match="binary is 'odds'; choose auto, probability or logit"):
        FunctionVictim(fails, binary="odds")
    for labels in ("ab", ["a"], ["a", "a"]):
        with pytest.raises(ValueError, match="expected two or more different names"):
            FunctionVictim(fails, labels=labels)
    with pytest.raises(ValueError, match="batch is 0; choose 1 or more"):
        FunctionVictim(fails, batch=0)


def test_out_of_memory_errors_reach_the_caller_who_makes_smaller_calls():
    def hungry(texts):
        if len(texts) > 2:
            raise RuntimeError("CUDA out of memory")
        return FUNCTIONS["tuples"](texts)

    with pytest.raises(RuntimeError, match="out of memory"):
        FunctionVictim(hungry).scores(TEXTS)
    space = tiny_space()
    found = solve(space.batch, TextOracle(FunctionVictim(hungry), space, Untargeted([1] * 4)), Greedy())
    assert all(np.isfinite(one.score) for one in found)


# --- py:module:function

MODULE = "scale = 2\ndef scores(texts):\n    return [[0.0, scale * len(t)] for t in texts]\nclass Model: pass\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "json.py").write_text("from beside import factor\n" + MODULE.replace("2", "factor"))
    (tmp_path / "inner" / "beside.py").write_text("factor = 3\n")
    (tmp_path / "toy_victim.py").write_text(MODULE)
    (tmp_path / "toy_broken.py").write_text("import no_such_thing_at_all\n")
    (tmp_path / "toy_leaves.py").write_text("raise SystemExit('bye')\n")
    return tmp_path


def test_a_function_is_found_by_module_and_by_file(folder):
    by_module = load_function("py:toy_victim:scores")
    assert by_module.name == "py:toy_victim:scores"
    assert by_module.scores(["abc"]).tolist() == [[0.0, 6.0]]
    # A file may be called like any module, and may import what lies beside it.
    assert load_function("py:inner/json.py:scores").scores(["abc"]).tolist() == [[0.0, 9.0]]
    assert load_function(f"py:{folder / 'toy_victim.py'}:scores").scores(["abc"]).tolist() == [[0.0, 6.0]]
    assert sys.modules["json"] is json


def test_a_function_may_import_its_neighbours_when_it_is_called(folder):
    (folder / "inner" / "late.py").write_text(
        "def scores(texts):\n    from beside import factor\n    return [[0.0, factor] for _ in texts]\n"
    )
    assert load_function("py:inner/late.py:scores").scores(["abc"]).tolist() == [[0.0, 3.0]]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("py:toy_victim", "does not name a function; expected py:module:function or py:path/to/file.py:function"),
        ("py:toy_victim:", "does not name a function"),
        ("py:no_such:scores", "there is no module no_such, neither in the current folder nor installed"),
        ("py:no_such.inner:scores", "there is no module no_such.inner"),
        ("py:inner/none.py:scores", "there is no Python file inner/none.py"),
        ("py:toy_victim:score", "toy_victim has no score; it has scores"),
        ("py:toy_victim:xyz", "toy_victim has no xyz; it has scores, Model"),
        ("py:toy_victim:scale", "scale of toy_victim is 2; expected a function"),
        ("py:toy_victim:Model", "Model of toy_victim is <class 'toy_victim.Model'>; expected a function"),
        ("py:toy_broken:scores", "importing toy_broken raised ModuleNotFoundError: No module named 'no_such_thing"),
        ("py:toy_broken.py:scores", "importing toy_broken.py raised ModuleNotFoundError"),
        ("py:toy_leaves:scores", "importing toy_leaves raised SystemExit: bye"),
    ],
)
def test_a_missing_function_raises_a_one_line_error(folder, spec, sentence):
    with pytest.raises(ValueError) as caught:
        load_function(spec)
    assert sentence in str(caught.value)


# --- scikit-learn


def test_two_classes_differ_by_the_decision():
    model = pipeline()
    victim = SklearnVictim(model)
    found = victim.scores(TEXTS)
    assert (victim.labels, victim.method) == (("neg", "pos"), "decision_function")
    np.testing.assert_allclose(found[:, 1] - found[:, 0], model.decision_function(TEXTS))
    assert [victim.labels[i] for i in found.argmax(axis=1)] == model.predict(TEXTS).tolist()


def test_without_a_decision_the_log_probability_is_the_score():
    model = pipeline("MultinomialNB")
    victim = SklearnVictim(model)
    assert victim.method == "predict_log_proba"
    np.testing.assert_allclose(victim.scores(TEXTS), model.predict_log_proba(TEXTS))


def test_a_decision_for_each_pair_of_classes_is_passed_over():
    class Pairs:
        classes_ = ("a", "b", "c", "d")

        def decision_function(self, texts):
            return np.zeros((len(texts), 6))

        def predict_proba(self, texts):
            return np.full((len(texts), 4), 0.25)

    victim = SklearnVictim(Pairs())
    assert victim.method == "predict_proba"
    np.testing.assert_allclose(victim.scores(["x"]), np.log(0.25))


def test_a_probability_of_nothing_has_a_finite_score():
    class Sure:
        classes_ = np.array([False, True])

        def predict_proba(self, texts):
            return np.array([[0.0, 1.0]] * len(texts))

    victim = SklearnVictim(Sure())
    assert victim.labels == ("False", "True")
    assert compute_scores(victim, ["x"]).tolist() == [[FLOOR, 0.0]]


def test_what_is_no_classifier_of_texts_is_refused():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.pipeline import make_pipeline

    with pytest.raises(ValueError, match="is a Pipeline without classes_; expected a fitted classifier"):
        SklearnVictim(make_pipeline(TfidfVectorizer(), LogisticRegression()))
    with pytest.raises(
        ValueError, match=r"raised ValueError: Expected 2D.* for a text; expected the complete pipeline"
    ):
        SklearnVictim(Perceptron().fit([[0.0], [1.0]], [0, 1]))

    class Silent:
        classes_ = ("a", "b")

    with pytest.raises(ValueError, match="has none of decision_function, predict_log_proba, predict_proba"):
        SklearnVictim(Silent())
    Silent.classes_ = ("a",)
    with pytest.raises(ValueError, match=r"has the classes .'a'.; expected two or more"):
        SklearnVictim(Silent())


def test_a_pipeline_comes_back_from_skops_as_it_went(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = pipeline()
    skops.dump(model, tmp_path / "model.skops")
    victim = load_sklearn(f"sklearn:{tmp_path / 'model.skops'}")
    assert victim.name == f"sklearn:{tmp_path / 'model.skops'}"
    assert np.array_equal(victim.scores(TEXTS), SklearnVictim(model).scores(TEXTS))


def test_types_that_skops_does_not_know_need_trust(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = pipeline("forest")
    skops.dump(model, tmp_path / "forest.skops")
    with pytest.raises(
        UntrustedError, match=r"contains sklearn.tree._tree.Tree, which skops does not consider safe.*pass --trust"
    ):
        load_sklearn(tmp_path / "forest.skops")
    victim = load_sklearn(tmp_path / "forest.skops", trust=True)
    assert np.array_equal(victim.scores(TEXTS), SklearnVictim(model).scores(TEXTS))


class Bomb:
    def __reduce__(self):
        return (open, ("went_off", "w"))


def test_a_pickle_is_not_opened_without_trust(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for suffix in (".pkl", ".pickle", ".joblib"):
        (tmp_path / f"bomb{suffix}").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(UntrustedError, match=r"can execute code.*skops.io.dump.*pass --trust"):
            load_sklearn(f"bomb{suffix}")
    assert not (tmp_path / "went_off").exists()
    model = pipeline()
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    assert np.array_equal(load_sklearn("model.pkl", trust=True).scores(TEXTS), SklearnVictim(model).scores(TEXTS))


def test_a_file_without_a_pipeline_raises_a_one_line_error(tmp_path):
    pytest.importorskip("skops")
    for name, sentence in {
        "none.skops": "there is no file",
        "model.txt": "ends in '.txt'; expected .skops",
        "model.skops": "cannot be loaded: BadZipFile",
    }.items():
        if name.startswith("model"):
            (tmp_path / name).write_text("hello")
        with pytest.raises(ValueError, match=sentence):
            load_sklearn(tmp_path / name)


# --- services


@pytest.mark.parametrize(
    "trouble", [500, 503, drops, hangs, stops_short], ids=lambda one: getattr(one, "__name__", str(one))
)
def test_temporary_failures_are_retried_after_growing_pauses(service, trouble):
    victim, clock = asking(service, timeout=2 if trouble is hangs else 60)
    service.troubles.extend([trouble, trouble, trouble])
    assert victim.scores(TEXTS)[1].tolist() == [-logit(TEXTS[1]), logit(TEXTS[1])]
    assert all(0.5 * 2**n <= slept <= 2**n for n, slept in enumerate(clock.slept))
    assert len(clock.slept) == 3
    assert victim.spent == 4 * len(set(TEXTS))


def test_retry_after_is_respected(service):
    victim, clock = asking(service)
    service.troubles.extend([(429, {"Retry-After": "7"}), (503, {"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"})])
    victim.scores(["good"])
    assert clock.slept[0] == 7
    assert 1 <= clock.slept[1] <= 2
    service.troubles.append((429, {"Retry-After": "86400"}))
    with pytest.raises(UnavailableError, match=r"429 .*asks to wait 86400 s"):
        victim.scores(["good"])
    assert len(clock.slept) == 2


def test_a_service_that_stays_away_is_not_waited_for_again_and_again(service):
    victim, clock = asking(service, retries=2)
    service.troubles.extend([500] * 3)
    for _ in range(20):
        with pytest.raises(UnavailableError, match=r"answered 500 .*'trouble 500' \(3 times\)"):
            victim.scores(["good"])
    assert len(service.seen) == 3
    clock.now += remote.COOLDOWN
    assert victim.scores(["good"]).shape == (1, 2)


def test_waiting_for_a_service_is_logged(service, caplog):
    victim, _ = asking(service, retries=5)
    service.troubles.extend([500, 503])
    victim.scores(["good"])
    assert ["retry 1 of 5" in line or "retry 2 of 5" in line for line in caplog.messages] == [True, True]
    assert "answered 500" in caplog.messages[0]
    caplog.clear()
    # A service that has answered may fail now and then; in a row it may not.
    service.troubles.extend([500, 500])
    victim.scores(["fine"])
    assert not caplog.messages
    service.troubles.extend([500] * 3)
    victim.scores(["fine"])
    assert len(caplog.messages) == 1


def test_nothing_listens_at_the_address(service):
    service.server.shutdown()
    service.server.server_close()
    victim, clock = asking(service, retries=1)
    with pytest.raises(UnavailableError, match=r"cannot be reached: .*refused.*\(2 times\)"):
        victim.scores(["good"])
    assert len(clock.slept) == 1


@pytest.mark.parametrize(
    ("trouble", "kind", "sentence"),
    [
        (400, ValueError, "answered 400 Bad Request: 'trouble 400'"),
        (413, ValueError, "answered 413 "),
        (401, UnavailableError, "set DISCOTEXT_TOKEN to send a token"),
        (404, UnavailableError, "answered 404 Not Found"),
        ((302, {"Location": "file:///etc/passwd"}), UnavailableError, "redirects to file:///etc/passwd"),
        (
            (307, {"Location": "http://127.0.0.1:9/"}),
            UnavailableError,
            "redirects to http://127.0.0.1:9/, which is not followed; pass that",
        ),
        ("<html>", ValueError, "returned '<html>', which is not valid JSON"),
        ('{"error": "x"}', ValueError, """returned {'error': 'x'}; expected {"scores": [[…], …]}"""),
        ("[[1, 2], [3, 4]]", UnavailableError, "returned 2 rows for 1 text"),
        ("[[1, NaN]]", ValueError, "returned [1.0, nan] for the text 'good'"),
        ('{"scores": [[1, 2]], "labels": "ab"}', ValueError, "returned the labels 'ab'; expected a list of names"),
        (
            '{"scores": [[1, 2]], "labels": ["a", "b", "c"]}',
            ValueError,
            "2 scores for each text; expected one for each of",
        ),
        ("null", ValueError, "returned None; expected a row"),
    ],
)
def test_a_permanent_failure_raises_at_once(service, trouble, kind, sentence):
    victim, clock = asking(service)
    service.troubles.append(trouble)
    with pytest.raises(kind) as caught:
        victim.scores(["good"])
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(service.url)
    assert clock.slept == []
    assert len(service.seen) == 1


def test_an_answer_that_is_too_large_is_not_read_completely(service, monkeypatch):
    monkeypatch.setattr(remote, "LARGEST_ANSWER", 10)
    with pytest.raises(ValueError, match="returned more than 10 bytes; expected a table of scores"):
        asking(service)[0].scores(["good"])


def test_the_cap_counts_every_text_that_is_sent_and_holds(service):
    victim, _ = asking(service, max_texts=6, batch=4)
    assert victim.labels == ("neg", "pos")  # this too is a question
    victim.scores(["a", "b", "a", "b", "a"])
    assert victim.spent == 3  # what is asked twice in a call is sent once
    service.troubles.append(500)
    with pytest.raises(UnavailableError, match="max_texts is 6, 5 texts have been sent, and 2 more are needed"):
        victim.scores(["c", "d"])
    victim.scores(["c"])
    assert victim.spent == sum(map(len, service.seen)) == 6


def test_what_was_answered_before_a_call_failed_is_not_asked_again(service):
    victim, _ = asking(service, batch=1)
    service.troubles.extend([None, None, 400])
    with pytest.raises(ValueError, match="400"):
        victim.scores(["a", "b", "c", "d"])
    victim.scores(["a", "b"])
    victim.scores(["c", "d"])
    assert [text for texts in service.seen for text in texts] == ["a", "b", "c", "c", "d"]
    victim.scores(["a"])  # kept for a failed call, and not for ever
    assert len(service.seen) == 6


def test_the_rate_limit_is_kept(service):
    victim, clock = asking(service, per_second=4, batch=1)
    victim.scores([str(n) for n in range(9)])
    assert clock.now == pytest.approx(100 + 8 / 4)
    clock.now += 10
    victim.scores(["a"])
    assert clock.now == pytest.approx(112)


def test_a_search_through_a_shaky_service_ends_like_one_through_a_steady_one(service):
    space, goal = tiny_space(), Untargeted([1, 0, 1, 1])
    steady = solve(space.batch, TextOracle(asking(service)[0], space, goal), Greedy())
    rng = np.random.default_rng(0)
    service.troubles.extend(
        [None, 500, drops, (429, {"Retry-After": "1"}), stops_short][rng.integers(5)] for _ in range(30)
    )
    shaky = solve(space.batch, TextOracle(asking(service, retries=30, batch=3)[0], space, goal), Greedy())
    assert [(one.choice.tolist(), one.score) for one in shaky] == [(one.choice.tolist(), one.score) for one in steady]


def test_the_token_is_sent_and_never_named(service, monkeypatch):
    monkeypatch.setenv(remote.TOKEN, " secret \n")
    HttpVictim(service.url + "?key=hidden", headers={"X-Own": "1"}).scores(["a"])
    assert service.headers[0]["Authorization"] == "Bearer secret"
    assert service.headers[0]["X-Own"] == "1"
    assert HttpVictim(service.url + "?key=hidden#part").name == service.url
    monkeypatch.setenv(remote.TOKEN, "sec\nret")
    with pytest.raises(ValueError, match="DISCOTEXT_TOKEN contains characters that are not allowed") as caught:
        HttpVictim(service.url)
    assert "ret" not in str(caught.value)


def test_a_service_may_put_its_classes_in_another_order(service):
    turned = HttpVictim(service.url, labels=["pos", "neg"])
    np.testing.assert_allclose(turned.scores(TEXTS), HttpVictim(service.url).scores(TEXTS)[:, ::-1])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"url": "file:///etc/passwd"}, "is not the address of a service; expected http://… or https://…"),
        ({"url": "http://"}, "is not the address of a service"),
        ({"url": "https://me:secret@host/"}, "the address of host contains a password; set DISCOTEXT_TOKEN"),
        ({"batch": 0}, "batch is 0; choose a number above 0"),
        ({"timeout": 0}, "timeout is 0; choose a number above 0"),
        ({"retries": -1}, "retries is -1; choose 0 or more"),
        ({"per_second": 0}, "per_second is 0; choose a number above 0"),
        ({"max_texts": 0}, "max_texts is 0; choose a number above 0"),
    ],
)
def test_invalid_settings_of_a_service_are_refused(settings, sentence):
    with pytest.raises(ValueError) as caught:
        HttpVictim(**{"url": "http://localhost/", **settings})
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


# --- examples of models that others wrote

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("name", ["spacy", "profanity_check"])
def test_an_example_whose_package_is_missing_says_so(monkeypatch, name):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, name, None)
    path = EXAMPLES / f"third_party_{name.split('_')[0]}.py"
    with pytest.raises(ValueError, match=f"importing .* raised ModuleNotFoundError: .*{name}"):
        load_function(f"py:{path}:scores")


def test_the_example_of_a_profanity_detector_runs_on_a_stand_in(monkeypatch):
    stand_in = ModuleType("profanity_check")
    stand_in.predict_prob = lambda texts: np.array([1.0 if "damn" in text else 0.02 for text in texts])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "profanity_check", stand_in)
    victim = load_function(f"py:{EXAMPLES / 'third_party_profanity.py'}:scores")
    assert victim.labels == ("clean", "profane")
    assert compute_scores(victim, ["damn", "hello"]).argmax(axis=1).tolist() == [1, 0]


def test_a_model_that_cannot_be_asked_stops_the_run_and_fails_no_problem():
    class Gone(Victim):
        name, labels = "gone", ("a", "b")

        def scores(self, texts):
            raise UnavailableError("max_texts is 3")

    space = Space.of(["a good film"], Candidates())
    with pytest.raises(UnavailableError, match="max_texts is 3"):
        solve(space.batch, TextOracle(Gone(), space, Untargeted([0])), Greedy(), goal=0)
