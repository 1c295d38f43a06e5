"""Requests are limited in time and number and retried; answers are quoted without the token and control characters."""

import base64
import json
import logging
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from urllib.parse import quote

import numpy as np
import pytest

import discotext as d
from discotext.core.objectives import Untargeted
from discotext.core.oracle import UnavailableError
from discotext.search.loop import solve
from discotext.solvers import Greedy
from discotext.support.redaction import REDACTED
from discotext.text.candidates import Candidates
from discotext.text.sources import SynonymList
from discotext.text.space import Space
from discotext.victims.http import client
from discotext.victims.http.victim import HttpVictim
from discotext.victims.victim import TextOracle
from tests.victims.services import Clock, send

TEXTS = ["a good film", "an awful film", "", "a good film"]
SECRET = "sk-7Hq2vXw9-Lm4.pT0"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def score(text):
    return [float("awful" in text) + 0.01 * len(text), 0.5]


def answer(request):
    return {"scores": [score(text) for text in request["texts"]], "labels": ["bad", "good"]}


def drops(handler):
    handler.connection.close()


def hangs(handler):
    handler.connection.recv(1)  # until the other side gives up


def stops_short(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"[[0.")


def asking(service, **settings):
    clock = Clock()
    return HttpVictim(service.url, clock=clock, sleep=clock.sleep, **settings), clock


@pytest.fixture
def service(serve):
    with serve(answer) as service:
        yield service


# --- failures


@pytest.mark.parametrize("trouble", [500, 503, drops, hangs, stops_short], ids=lambda one: str(one)[:20])
def test_temporary_failures_are_retried_after_growing_pauses(service, trouble):
    victim, clock = asking(service, timeout=1 if trouble is hangs else 60)
    service.troubles.extend([trouble] * 3)
    assert victim.scores(TEXTS).tolist() == [score(text) for text in TEXTS]
    assert all(0.5 * 2**n <= slept <= 2**n for n, slept in enumerate(clock.slept))
    assert len(clock.slept) == 3
    assert victim.spent == 4 * len(set(TEXTS))
    service.troubles.extend([trouble] * 2)
    with pytest.raises(UnavailableError, match="2 times"):
        asking(service, retries=1, timeout=1)[0].scores(["good"])


def test_retry_after_is_respected(service):
    victim, clock = asking(service)
    service.troubles.extend([(429, {"Retry-After": "7"}), (503, {"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"})])
    victim.scores(["good"])
    assert clock.slept[0] == 7
    assert 1 <= clock.slept[1] <= 2
    service.troubles.append((429, {"Retry-After": "86400"}))
    with pytest.raises(UnavailableError, match="86400"):
        victim.scores(["good"])
    assert len(clock.slept) == 2


def test_waiting_is_logged_unless_a_service_that_answers_fails_now_and_then(service, caplog):
    victim, _ = asking(service)
    for troubles, logged in ((2, 2), (2, 0), (3, 1)):
        caplog.clear()
        service.troubles.extend([500] * troubles)
        victim.scores(["good"])
        assert len(caplog.messages) == logged


def test_nothing_listens_at_the_address(service):
    service.close()
    with pytest.raises(UnavailableError, match=r"refused.*2 times"):
        asking(service, retries=1)[0].scores(["good"])


@pytest.mark.parametrize(
    ("trouble", "kind", "named"),
    [
        (400, ValueError, "'trouble 400'"),
        (413, ValueError, "413"),
        (401, UnavailableError, "DISCOTEXT_TOKEN"),
        (404, UnavailableError, "404 Not Found"),
        ((302, {"Location": "file:///etc/passwd"}), UnavailableError, "file:///etc/passwd"),
        ((307, {"Location": "http://127.0.0.1:9/"}), UnavailableError, "http://127.0.0.1:9/"),
        ("<html>", ValueError, "'<html>'"),
        ('{"error": "x"}', ValueError, "{'error': 'x'}"),
        ("[[1, 2], [3, 4]]", UnavailableError, "2 row(s) for 1 text(s)"),
        ("[[1, NaN]]", ValueError, "[1.0, nan]"),
        ('{"scores": [[1, 2]], "labels": "ab"}', ValueError, "'ab'"),
        ('{"scores": [[1, 2]], "labels": ["a", "b", "c"]}', ValueError, "2 scores"),
        ("null", ValueError, "None"),
    ],
)
def test_a_permanent_failure_raises_at_once(service, trouble, kind, named):
    victim, clock = asking(service)
    service.troubles.append(trouble)
    with pytest.raises(kind) as caught:
        victim.scores(["good"])
    assert named in str(caught.value)
    assert str(caught.value).startswith(service.url)
    assert clock.slept == []
    assert len(service.seen) == 1


def test_an_answer_that_is_too_large_is_not_read_completely(service, monkeypatch):
    monkeypatch.setattr(client, "LARGEST_ANSWER", 10)
    with pytest.raises(ValueError, match="10 bytes"):
        asking(service)[0].scores(["good"])


@pytest.mark.parametrize("where", ["body", "body of an error", "body without length"])
def test_an_answer_that_trickles_ends_in_time(serve, where):
    """A byte every now and then would keep a client waiting for ever: the limit is for the answer as a whole."""
    gone = threading.Event()

    def trickle(handler):
        try:
            handler.send_response(500 if "error" in where else 200)
            if "without" not in where:
                handler.send_header("Content-Length", "100000")
            handler.end_headers()
            while True:
                handler.wfile.write(b"1")
                handler.wfile.flush()
                gone.wait(0.05)
        except OSError:
            gone.set()

    with serve(lambda request: trickle) as service:
        with pytest.raises(UnavailableError, match="within 1 s"):
            _ = HttpVictim(service.url, timeout=1, retries=0).labels
        assert gone.wait(120), "the connection is still open"


def test_a_search_through_a_shaky_service_ends_like_one_through_a_steady_one(service):
    words = {"good": ["fine", "dull"], "awful": ["poor", "nice"], "film": ["story", "music"]}
    space = Space.of(
        ["a good film", "the awful film was good", "good awful"], Candidates(SynonymList(words), ()), words=2
    )
    goal = Untargeted([1, 0, 0])
    steady = solve(space.batch, TextOracle(asking(service)[0], space, goal), Greedy())
    rng = np.random.default_rng(0)
    service.troubles.extend(
        [None, 500, drops, (429, {"Retry-After": "1"}), stops_short][rng.integers(5)] for _ in range(30)
    )
    shaky = solve(space.batch, TextOracle(asking(service, retries=30, batch=3)[0], space, goal), Greedy())
    assert [(one.choice.tolist(), one.score) for one in shaky] == [(one.choice.tolist(), one.score) for one in steady]


# --- what is sent, and how often


def test_the_cap_counts_every_text_that_is_sent(service):
    victim, _ = asking(service, max_texts=6, batch=4)
    assert victim.labels == ("bad", "good")  # this too is a question
    victim.scores(["a", "b", "a", "b", "a"])
    assert victim.spent == 3  # what is asked twice in a call is sent once
    service.troubles.append(500)
    with pytest.raises(UnavailableError, match="6"):
        victim.scores(["c", "d"])
    victim.scores(["c"])
    assert victim.spent == sum(len(one["texts"]) for one in service.seen) == 6


def test_requests_are_spaced_those_of_copies_and_threads_too(service):
    victim, clock = asking(service, per_second=4, batch=1)
    victim.scores([str(n) for n in range(8)])
    deepcopy(victim).scores(["a copy waits for its turn, too"])
    assert clock.now == pytest.approx(100 + 8 / 4)
    clock.now += 10
    victim.scores(["a"])
    assert clock.now == pytest.approx(112)
    slots = []
    stopped = HttpVictim(service.url, per_second=10, batch=1, clock=lambda: 0.0, sleep=slots.append)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: stopped.scores(TEXTS[:1]), range(40)))
    # Forty requests at ten per second: the last waits 3.9 s, and no two have the same moment.
    np.testing.assert_allclose(sorted(slots), np.arange(1, 40) / 10)
    assert all(one.tolist() == [score(TEXTS[0])] for one in found)
    sent = pickle.loads(pickle.dumps(HttpVictim(service.url, per_second=3)))
    assert sent.client.per_second == 3
    assert sent.scores(["a"]).shape == (1, 2)


# --- secrets


ECHOES = {
    "as it is": lambda token: token,
    "cut": lambda token: token[:30],
    "as JSON": lambda token: json.dumps({"you": {"sent": token}}),
    "escaped": lambda token: "".join(f"\\u{ord(sign):04x}" for sign in token),
    "for an address": lambda token: quote(token, safe=""),
    "in base64": lambda token: base64.b64encode(token.encode()).decode(),
    "in hexadecimal": lambda token: token.encode().hex(),
    "far down": lambda token: "x" * 490 + token,
}
PLACES = {
    "an error": lambda said, handler: send(handler, said, 400),
    "a refusal": lambda said, handler: send(handler, said, 401),
    "trouble": lambda said, handler: send(handler, said, 503),
    "the reason": lambda said, handler: send(handler, "no", 418, said),
    "an address": lambda said, handler: send(handler, "no", 302, Location=f"http://127.0.0.1/{said}"),
    "no JSON": lambda said, handler: send(handler, said),
    "no scores": lambda said, handler: send(handler, json.dumps({"said": said})),
    "strings": lambda said, handler: send(handler, json.dumps({"scores": [[said, said]] * 2})),
    "labels": lambda said, handler: send(handler, json.dumps({"scores": [[0, 1]], "labels": [said, "x"]})),
    "too many labels": lambda said, handler: send(handler, json.dumps({"scores": [[0, 1]], "labels": [said] * 3})),
    "rows by label": lambda said, handler: send(handler, json.dumps([{said: 0.1, said + "b": 0.9}])),
}


def pieces(text, least=12):
    """The pieces of the token in a text, in any of the spellings."""
    forms = [SECRET, quote(SECRET, safe=""), SECRET.encode().hex(), base64.b64encode(SECRET.encode()).decode()]
    return [
        form[at : at + least] for form in forms for at in range(len(form) - least + 1) if form[at : at + least] in text
    ]


def learn(service, caplog):
    """What is shown of a service that is asked for its labels."""
    try:
        with caplog.at_level(logging.WARNING):
            found = ", ".join(HttpVictim(service.url, retries=1, sleep=lambda seconds: None).labels)
    except (ValueError, UnavailableError) as error:
        found = str(error)
    return found + caplog.text


@pytest.mark.parametrize("place", PLACES)
def test_a_token_that_comes_back_is_never_shown(serve, monkeypatch, caplog, place):
    monkeypatch.setenv(client.TOKEN, SECRET)
    said = []
    with serve(lambda request: partial(PLACES[place], said[-1])) as service:
        for spelling in ECHOES.values():
            said.append(spelling(f"Bearer {SECRET}"))
            shown = learn(service, caplog)
            assert shown
            assert not pieces(shown)


def test_neither_records_nor_terminal_hold_the_token(serve, monkeypatch, tmp_path, capfd):
    monkeypatch.setenv(client.TOKEN, SECRET)

    def reply(request):
        if any("good" in text for text in request["texts"]):
            return lambda handler: send(handler, f"\x1b[31m{handler.headers['Authorization']}", 400)
        return {"scores": [[0.0, 1.0] for _ in request["texts"]], "labels": ["neg", "pos"]}

    with serve(reply) as service:
        data = (["a good film", "a bad film", "an awful film"], ["pos"] * 3)
        d.attack(service.url, data, "greedy", out=tmp_path / "run")
        assert service.headers[0]["Authorization"] == f"Bearer {SECRET}"
    written = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    out, err = capfd.readouterr()
    assert '"failed"' in written
    assert REDACTED in written
    assert not pieces(written + out + err)
    assert not CONTROL.search(out + err)


def test_with_a_token_too_short_to_recognise_no_answer_is_quoted(serve, monkeypatch, caplog):
    monkeypatch.setenv(client.TOKEN, "short")
    with serve(lambda request: lambda handler: send(handler, "you sent short!", 400)) as service:
        assert "you sent" not in learn(service, caplog)


@pytest.mark.parametrize("place", ["an error", "a refusal", "no JSON", "no scores", "labels"])
def test_control_signs_do_not_reach_the_terminal(serve, caplog, place):
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r"
    with serve(lambda request: partial(PLACES[place], hostile)) as service:
        assert not CONTROL.search(learn(service, caplog))


@pytest.mark.parametrize("levels", [100, 200_000])
@pytest.mark.parametrize("form", ["{}", '{{"scores": {}}}'])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_deeply_nested_json_is_a_sentence(serve, caplog, levels, form, brackets):
    body = form.format(brackets[0] * levels + "1" + brackets[1] * levels)
    with serve(lambda request: lambda handler: send(handler, body)) as service:
        assert len(learn(service, caplog)) < 500


def test_headers_are_sent_and_secrets_are_not_in_the_name(service, monkeypatch):
    monkeypatch.setenv(client.TOKEN, " secret \n")
    HttpVictim(service.url + "?key=hidden", headers={"X-Own": "1"}).scores(["a"])
    assert service.headers[0]["Authorization"] == "Bearer secret"
    assert service.headers[0]["X-Own"] == "1"
    assert HttpVictim(service.url + "?key=hidden#part").name == service.url
    monkeypatch.setenv(client.TOKEN, "sec\nret")
    with pytest.raises(ValueError, match="DISCOTEXT_TOKEN") as caught:
        HttpVictim(service.url)
    assert "ret" not in str(caught.value)
