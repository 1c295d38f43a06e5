"""Answers of a service are printed without the token and without control characters, and read in limited time."""

import base64
import json
import logging
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discotext as d
from discotext.core.oracle import UnavailableError
from discotext.support.redaction import REDACTED, Secrets, escape_unprintable
from discotext.victims import remote
from discotext.victims.remote import HttpVictim

TOKEN = "sk-7Hq2vXw9-Lm4.pT0"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Service:
    """Answers every request by what `reply(handler)` writes."""

    def __init__(self, reply):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.body = self.rfile.read(int(self.headers["Content-Length"]))
                reply(self)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


def send(handler, body, status=200, reason=None, **headers):
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    handler.send_response(status, reason)
    for name, value in {**headers, "Content-Length": str(len(data))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def echo(handler):
    return handler.headers["Authorization"]


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
    "an error": lambda handler, said: send(handler, said, 400),
    "a refusal": lambda handler, said: send(handler, said, 401),
    "trouble": lambda handler, said: send(handler, said, 503),
    "the reason": lambda handler, said: send(handler, "no", 418, said),
    "an address": lambda handler, said: send(handler, "no", 302, Location=f"http://127.0.0.1/{said}"),
    "no JSON": lambda handler, said: send(handler, said),
    "no scores": lambda handler, said: send(handler, json.dumps({"said": said})),
    "strings": lambda handler, said: send(handler, json.dumps({"scores": [[said, said]] * 2})),
    "labels": lambda handler, said: send(handler, json.dumps({"scores": [[0, 1]], "labels": [said, said + "2"]})),
    "too many labels": lambda handler, said: send(handler, json.dumps({"scores": [[0, 1]], "labels": [said] * 3})),
    "rows by label": lambda handler, said: send(handler, json.dumps([{said: 0.1, said + "b": 0.9}])),
}


def pieces(text, least=12):
    """Whether a piece of the token is in a text, in any of the spellings."""
    forms = [TOKEN, quote(TOKEN, safe=""), TOKEN.encode().hex(), base64.b64encode(TOKEN.encode()).decode()]
    return [
        form[at : at + least] for form in forms for at in range(len(form) - least + 1) if form[at : at + least] in text
    ]


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv(remote.TOKEN, TOKEN)


@pytest.mark.parametrize("spelling", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_token_that_comes_back_is_never_seen(token, caplog, place, spelling):
    with Service(lambda handler: place(handler, spelling(echo(handler)))) as service:
        victim = HttpVictim(service.url, retries=1, sleep=lambda seconds: None)
        said = ""
        try:
            with caplog.at_level(logging.WARNING):
                said = ", ".join(victim.labels)
        except (ValueError, UnavailableError) as error:
            said = str(error)
        assert said
        assert not pieces(said + caplog.text)


def test_neither_records_nor_terminal_hold_the_token(token, tmp_path, capfd):
    def reply(handler):
        texts = json.loads(handler.body)["texts"]
        if any("good" in text for text in texts):
            send(handler, f"\x1b[31m{echo(handler)}", 400)
        else:
            send(handler, json.dumps({"scores": [[0.0, 1.0] for _ in texts], "labels": ["neg", "pos"]}))

    with Service(reply) as service:
        data = (["a good film", "a bad film", "an awful film"], ["pos"] * 3)
        d.attack(service.url, data, "greedy", out=tmp_path / "run")
    written = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    out, err = capfd.readouterr()
    assert '"failed"' in written
    assert REDACTED in written
    assert not pieces(written + out + err)
    assert not CONTROL.search(out + err)


@pytest.mark.parametrize("value", ["abc", "short"])
def test_with_a_token_too_short_to_redact_no_answer_is_quoted(monkeypatch, value):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv(remote.TOKEN, value)
    with Service(lambda handler: send(handler, f"you sent {value}!", 400)) as service:
        with pytest.raises(ValueError) as caught:
            _ = HttpVictim(service.url).labels
        assert "you sent" not in str(caught.value)


@pytest.mark.parametrize("times", [1, 2])
def test_a_secret_is_redacted_however_many_of_its_letters_are_url_encoded(times):
    coded = "s3cret-token"
    for _ in range(times):
        coded = "".join(f"%{byte:02x}" if at % 3 else chr(byte) for at, byte in enumerate(coded.encode()))
    assert Secrets(["s3cret-token"]).redact(f"you sent {coded}!") == f"you sent {REDACTED}!"
    assert Secrets(["s3cret-token"]).redact("100%25 of it") == "100%25 of it"


@given(st.text(max_size=40), st.text(min_size=8, max_size=30), st.text(max_size=40))
def test_a_secret_is_not_in_what_is_left_of_any_text(before, secret, after):
    left = Secrets([secret]).redact(before + secret + after)
    assert secret not in left.replace(REDACTED, "")
    assert REDACTED in left
    assert Secrets([secret]).redact("") == ""


@given(st.text())
def test_escaped_text_has_no_control_characters_and_the_rest_is_kept(text):
    assert not CONTROL.search(escape_unprintable(text))
    if text.isprintable():
        assert escape_unprintable(text) == text or any(sign in text for sign in "\u200e\u200f\u061c")


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r"


@pytest.mark.parametrize("place", ["an error", "a refusal", "no JSON", "no scores", "labels"])
def test_control_signs_do_not_reach_the_terminal(monkeypatch, place, caplog):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Service(lambda handler: PLACES[place](handler, HOSTILE)) as service:
        try:
            said = ", ".join(HttpVictim(service.url, retries=0).labels)
        except (ValueError, UnavailableError) as error:
            said = str(error)
    assert not CONTROL.search(said + caplog.text)


@pytest.mark.parametrize("levels", [100, 5_000, 200_000])
@pytest.mark.parametrize("kind", ["lists", "objects", "inside scores"])
def test_deeply_nested_json_is_a_sentence(monkeypatch, levels, kind):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    lists = "[" * levels + "1" + "]" * levels
    body = {
        "lists": lists,
        "objects": '{"a":' * levels + "1" + "}" * levels,
        "inside scores": '{"scores": ' + lists + "}",
    }[kind]
    with Service(lambda handler: send(handler, body)) as service:
        with pytest.raises(ValueError, match="returned") as caught:
            _ = HttpVictim(service.url).labels
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize("where", ["headers", "body", "body of an error", "body without length"])
def test_an_answer_that_trickles_ends_in_time(monkeypatch, where):
    """A byte every now and then would keep a client waiting for ever: the limit is for the answer as a whole."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    gone = threading.Event()

    def trickle(handler):
        try:
            if where == "headers":
                handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
            else:
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

    with Service(trickle) as service:
        with pytest.raises(UnavailableError, match=r"has not answered completely within 1 s|answered 500"):
            _ = HttpVictim(service.url, timeout=1, retries=0).labels
        assert gone.wait(120), "the connection is still open"


def test_a_service_may_name_the_words_it_knows(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    reply = json.dumps({"scores": [[0.0, 1.0]], "labels": ["a", "b"], "vocabulary": ["good", "film"]})
    with Service(lambda handler: send(handler, reply)) as service:
        victim = HttpVictim(service.url)
        victim.scores(["good"])
        assert "Good" in victim.capabilities.vocabulary
        assert "gnu" not in victim.capabilities.vocabulary
