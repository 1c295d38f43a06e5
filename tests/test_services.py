"""Services with fields of their own: where the texts go, where the scores are, how often they are asked."""

import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext import HttpVictim
from discotext.cli import cli
from discotext.core.oracle import UnavailableError
from discotext.victims.rate_limit import RateLimit
from discotext.victims.remote import TOKEN
from discotext.victims.service_format import ServiceFormat, parse_path

TEXTS = ["An awful film about mice.", "A fine film about mice.", "An awful book about ships."]
LABELS = ["bad", "good", "bad"]


def score(text: str) -> list[float]:
    """Of bad and good."""
    return [float("awful" in text.lower()), 0.5]


class Service:
    """Answers on a thread by a function of the request; `seen` holds what was posted."""

    def __init__(self, answer):
        self.seen = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.seen.append(request)
                try:
                    status, data = 200, json.dumps(answer(request)).encode()
                except (KeyError, TypeError) as error:
                    status, data = 422, f"field required: {error}".encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/score"


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv(TOKEN, raising=False)

    @contextmanager
    def start(answer):
        service = Service(answer)
        thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield service
        finally:
            service.server.shutdown()
            service.server.server_close()
            thread.join(timeout=5)

    return start


def by_confidence(text):
    """As some services answer: the likeliest class first."""
    rows = zip(("bad", "good"), score(text), strict=True)
    return [{"class": name, "confidence": value} for name, value in sorted(rows, key=lambda pair: -pair[1])]


# How a service is described, the request of two texts, and what it answers.
FORMS = {
    "default": ({}, {"texts": ["x", "y"]}, lambda r: [score(t) for t in r["texts"]]),
    "one key": ({"text_field": "inputs"}, {"inputs": ["x", "y"]}, lambda r: [score(t) for t in r["inputs"]]),
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
    "bare list": (
        {"text_field": "[]", "answer": "[].logits"},
        ["x", "y"],
        lambda r: [{"logits": score(t)} for t in r],
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
    "table": ({}, lambda r: [score(r["texts"])]),
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
        victim = HttpVictim(service.url, one_by_one=True, **settings)
        found = victim.scores(TEXTS)
        assert len(service.seen) == 3
    wanted = [score(text) for text in TEXTS] if form != "class" else [[1, 0], [0, 1], [1, 0]]
    np.testing.assert_allclose(found, wanted)


WRONG = {
    "the answer has no 'predictions'; it is an object with the keys 'outputs', 'model'": ("predictions[].scores", {}),
    "'outputs[]' has no 'score'; it is an object with the keys 'logits'": ("outputs[].score", {}),
    "'outputs[].logits' has no 'x'; it is a list of 2": ("outputs[].logits.x", {}),
    "'model' is 'm', not a list": ("model[]", {}),
    "'outputs' is a list of 3, and has no entry 7": ("outputs[7]", {}),
    "the answer is an object with the keys 'outputs', 'model', not a list": ("[]", {}),
    "'few' has 1 entries for 3 texts": ("few[].logits", {"few": [{"logits": [1, 2]}]}),
    "the entries of 'named[].classes' have names, so end the path there": (
        "named[].classes[].confidence",
        {"named": [{"classes": by_confidence(text)} for text in TEXTS]},
    ),
}


@pytest.mark.parametrize("says", WRONG)
def test_a_wrong_path_is_answered_with_what_is_there(says, serve):
    path, more = WRONG[says]
    body = lambda r: {"outputs": [{"logits": score(t)} for t in r["texts"]], "model": "m", **more}  # noqa: E731
    with serve(lambda r: body(r) if not more else {**more}) as service:
        with pytest.raises(UnavailableError) as error:
            HttpVictim(service.url, answer=path).scores(TEXTS)
        assert len(service.seen) == 1  # it is not asked again for each text
    message = str(error.value)
    assert f"the path {path!r} does not lead to a row of scores for each text: {says}" in message
    assert "--answer, or answer= of HttpVictim" in message
    assert "\n" not in message


def test_without_a_path_an_unknown_answer_shows_its_keys(serve):
    shows = pytest.raises(ValueError, match=r"\(--answer, .*: it is an object with the keys 'outputs', 'model'")
    with serve(lambda r: {"outputs": [], "model": "m"}) as service, shows:
        HttpVictim(service.url).scores(TEXTS)
    hints = pytest.raises(ValueError, match=r"answered 422 .*field required: 'inputs'.*name them \(--field")
    with serve(lambda r: [score(t) for t in r["inputs"]]) as service, hints:
        HttpVictim(service.url).scores(TEXTS)


def test_one_text_that_is_answered_otherwise_does_not_end_the_run(serve):
    def answer(request):
        if any("book" in text for text in request["texts"]):
            return {"error": "too literary"}
        return {"s": [score(text) for text in request["texts"]]}

    with serve(answer) as service:
        victim = HttpVictim(service.url, answer="s", labels=["bad", "good"])
        victim.scores(TEXTS[:1])
        with pytest.raises(ValueError, match="it is an object with the keys 'error'") as error:
            victim.scores(TEXTS)
        assert not isinstance(error.value, UnavailableError)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"text_field": ""}, "the path is ''; expected names separated by dots"),
        ({"text_field": "a[x]"}, r"the path is 'a\[x\]'"),
        ({"text_field": ".a"}, r"the path is '.a'"),
        ({"answer": "a..b"}, r"the path is 'a\.\.b'"),
        ({"text_field": "a[0]"}, r"expected names, and \[\] at most once"),
        ({"text_field": "a[].b", "one_by_one": True}, r"give one without \[\]"),
        ({"fields": {"a[]": 1}}, r"the field is 'a\[\]'"),
        ({"text_field": "[]", "fields": {"a": 1}}, "in a request that has names"),
        ({"text_field": "a", "fields": {"a.b": 1}}, "in the way of another"),
        ({"text_field": "a.b", "fields": {"a": 1}}, "in the way of another"),
    ],
)
def test_a_description_that_makes_no_sense_is_refused_before_anything_is_sent(settings, says):
    with pytest.raises(ValueError, match=says):
        HttpVictim("http://127.0.0.1/", **settings)


def test_paths_are_read_step_by_step():
    assert parse_path("a.b-c[].d[3][]") == ("a", "b-c", None, "d", 3, None)
    assert parse_path("[0]") == (0,)
    assert ServiceFormat().settings == {}


# --- how often


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def __deepcopy__(self, memo):
        return self


def test_requests_are_spaced(serve):
    clock, times = Clock(), []
    with serve(lambda r: times.append(clock.now) or [score(t) for t in r["texts"]]) as service:
        victim = HttpVictim(service.url, batch=1, per_second=4, clock=clock, sleep=clock.sleep)
        victim.scores(TEXTS)
        deepcopy(victim).scores(["a copy waits for its turn, too"])
    assert times == [0.0, 0.25, 0.5, 0.75]


def test_threads_share_the_limit():
    slots = []
    limit = RateLimit(10, clock=lambda: 0.0, sleep=slots.append)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: limit.wait(), range(40)))
    # Forty requests at ten per second: the last waits 3.9 s, and no two have the same moment.
    np.testing.assert_allclose(sorted(slots), np.arange(1, 40) / 10)


def test_threads_that_ask_about_the_same_texts_each_get_an_answer(serve):
    with serve(lambda r: [score(t) for t in r["texts"]]) as service:
        victim = HttpVictim(service.url, batch=2)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda number: victim.scores(TEXTS), range(40)))
    for one in found:
        np.testing.assert_allclose(one, [score(text) for text in TEXTS])


def test_a_limited_victim_can_be_sent_to_another_process():
    victim = pickle.loads(pickle.dumps(HttpVictim("http://127.0.0.1/", per_second=3, text_field="inputs")))
    assert victim.per_second == 3
    assert victim.format.text == "inputs"


# --- on the command line


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return tmp_path


def instances(request):
    assert request["model"] == "small"
    rows = [dict(zip(("bad", "good"), score(one["text"]), strict=True)) for one in request["instances"]]
    return {"predictions": [{"scores": row} for row in rows]}


DESCRIBED = ["--field", "text=instances[].text", "--field", "model=small", "--answer", "predictions[].scores"]


@pytest.mark.parametrize("command", ["attack", "certify", "compare", "check", "predict"])
def test_every_command_that_takes_a_victim_takes_the_description(command, serve, data):
    more = {"compare": ["--solver", "greedy"], "attack": ["--per-second", "1000"]}.get(command, [])
    if command in ("attack", "certify", "compare"):
        more += ["--words", "1"]
    with serve(instances) as service:
        done = CliRunner().invoke(cli, [command, service.url, "d.jsonl", *DESCRIBED, *more])
        assert done.exit_code == (0 if command != "check" else done.exit_code), done.output
        assert "accuracy" in done.output or '"predicted"' in done.output or "certified" in done.output
        assert all(set(request) == {"instances", "model"} for request in service.seen)
        wrong = CliRunner().invoke(cli, [command, service.url, "d.jsonl", *DESCRIBED[:-1], "outputs[].scores", *more])
    assert wrong.exit_code == 1
    assert "the answer has no 'outputs'; it is an object with the keys 'predictions'" in wrong.stderr
    assert wrong.stderr.count("\n") == 1


def test_workers_ask_as_described_and_a_run_is_resumed_only_with_the_same_description(serve, data):
    run = CliRunner()
    with serve(instances) as service:
        line = ["attack", service.url, "d.jsonl", "--words", "1", "--surrogate", "none", "--out", "run", *DESCRIBED]
        line += ["--labels", "bad,good"]
        done = run.invoke(cli, [*line, "--workers", "2", "--per-second", "500"])
        assert done.exit_code == 0, done.output
        settings = json.loads((data / "run" / "settings.json").read_text())
        assert settings["service"] == {
            "text": "instances[].text",
            "fields": {"model": "small"},
            "answer": "predictions[].scores",
        }
        # How fast it is asked makes no difference to the records.
        assert run.invoke(cli, [*line, "--per-second", "100"]).exit_code == 0
        other = run.invoke(cli, [*line, "--field", "version=2"])
    assert other.exit_code == 1
    assert "holds a run with other settings: service was" in other.stderr
    records = [json.loads(row) for row in (data / "run" / "records.jsonl").read_text().splitlines()]
    assert {record["status"] for record in records} == {"reached", "unchanged"}


def test_a_secret_among_the_fields_is_not_written_down(serve, data):
    with serve(lambda r: [score(t) for t in r["texts"]] if r["api_key"] == "hush-hush-42" else 1 / 0) as service:
        line = ["attack", service.url, "d.jsonl", "--words", "1", "--field", "api_key=hush-hush-42", "--out", "run"]
        done = CliRunner().invoke(cli, [*line, "--labels", "bad,good"])
    assert done.exit_code == 0, done.output
    kept = "".join(path.read_text(errors="replace") for path in (data / "run").iterdir())
    assert "hush-hush" not in kept + done.output
    assert '"api_key": "[redacted]"' in kept


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--per-second", "5"], "--per-second: only for a service (http://… or https://…), but the victim is v.skops"),
        (["--field", "a=1", "--answer", "b"], "--field, --answer: only for a service"),
    ],
)
def test_options_of_services_are_refused_for_other_victims(options, says, data):
    done = CliRunner().invoke(cli, ["attack", "v.skops", "d.jsonl", *options])
    assert done.exit_code == 2
    assert says in done.stderr


@pytest.mark.parametrize(
    ("options", "says", "status"),
    [
        (["--field", "inputs"], "--field inputs: expected NAME=VALUE", 2),
        (["--field", "a=1", "--field", "a=2"], "--field a is given twice", 2),
        (["--per-second", "0"], "not in the range", 2),
        (["--answer", "a..b"], "the path is 'a..b'; expected names separated by dots", 1),
        (["--labels", "one"], "expected two or more different names", 1),
    ],
)
def test_wrong_options_are_answered_in_one_sentence(options, says, status, data):
    done = CliRunner().invoke(cli, ["predict", "http://127.0.0.1:9/", "d.jsonl", *options])
    assert done.exit_code == status
    assert says in done.stderr


def test_a_service_of_predicted_classes_is_attacked_with_declared_labels(serve, data):
    with serve(lambda r: {"p": ["bad" if "awful" in t.lower() else "good" for t in r["texts"]]}) as service:
        refused = CliRunner().invoke(cli, ["predict", service.url, "d.jsonl", "--answer", "p"])
        assert refused.exit_code == 1
        assert "name all classes (--labels, or labels= of HttpVictim)" in refused.stderr
        line = ["attack", service.url, "d.jsonl", "--answer", "p", "--labels", "bad,good", "--words", "1", "--json"]
        done = CliRunner().invoke(cli, line)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["solvers"]["disco"]["original_accuracy"] == 1.0


def test_from_python_a_service_takes_four_lines(serve):
    with serve(instances) as service:
        victim = HttpVictim(
            service.url, text_field="instances[].text", fields={"model": "small"}, answer="predictions[].scores"
        )
        result = discotext.attack(victim, (TEXTS, LABELS), words=1)
    assert result.summary.solvers["disco"].original_accuracy == 1.0
    assert any(record.succeeded for record in result.records)


@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_records_count_the_texts_that_a_failing_service_received_and_no_others(solver, serve):
    def answer(request):
        if any(len(text) % 5 == 0 for text in request["texts"]):
            raise KeyError("no such text")
        return {"scores": [score(text) for text in request["texts"]]}

    texts = [
        f"An awful film about {'very ' * number}{animal}" for number in range(4) for animal in ("mice", "cats", "a")
    ]
    apart = []
    with serve(answer) as service:
        for words in (0, 2):
            service.seen.clear()
            victim = HttpVictim(service.url, batch=3, retries=0, labels=["bad", "good"])
            result = discotext.attack(victim, (texts, [0] * len(texts)), solver, words=words, progress=False)
            received = sum(len(request["texts"]) for request in service.seen)
            apart.append(received - sum(record.forwards for record in result.records))
    # What identifies and calibrates the victim belongs to no text, and is the same whatever may change.
    assert apart[0] == apart[1] >= 0
