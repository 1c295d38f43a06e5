"""discotext serve, without a browser: who is answered, what is answered, and that nothing is left running."""

import json
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from html.parser import HTMLParser
from itertools import pairwise

import pytest

for needed in ("starlette", "uvicorn"):
    pytest.importorskip(needed, reason="the extra web is not installed")

from click.testing import CliRunner  # noqa: E402
from hypothesis import example, given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import discotext  # noqa: E402
from discotext.cli import cli  # noqa: E402
from discotext.core.oracle import UnavailableError  # noqa: E402
from discotext.support.extras import explain_install  # noqa: E402
from discotext.victims.http.victim import HttpVictim  # noqa: E402
from discotext.web.app import MOST_BYTES, read_files  # noqa: E402
from discotext.web.messages import MOST_CHARACTERS, MOST_WORDS, RequestError, read_attack, read_look  # noqa: E402
from discotext.web.model import AT_ONCE  # noqa: E402
from tests.conftest import heed_ctrl_c, needs_torch  # noqa: E402
from tests.web.page_server import (  # noqa: E402
    FINDER,
    TEXT,
    Opinions,
    attacking,
    attacks_running,
    read_events,
    request,
    serving,
    wait_until,
)


def attack(server, **asked):
    status, headers, body = request(server.address, "api/attack", {"text": TEXT, **asked})
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    return read_events(body)


# --- who is answered


TOKEN, HOST, ORIGIN = "token", "localhost", "origins"  # what the sentence is about
CHANGES = [
    (lambda token: "", {}, TOKEN), (lambda token: token[::-1], {}, TOKEN), (lambda token: token[:-8], {}, TOKEN),
    (None, {"host": "attacker.example:80"}, HOST), (None, {"host": "127.0.0.1"}, HOST),
    (None, {"origin": "https://attacker.example"}, ORIGIN), (None, {"origin": "null"}, ORIGIN),
    (None, {"origin": "http://127.0.0.1:1"}, ORIGIN),
]  # fmt: skip


@pytest.mark.parametrize(("change", "headers", "named"), CHANGES, ids=range(len(CHANGES)))
def test_others_are_refused_in_one_sentence(server, victim, change, headers, named):
    root, token = server.address[:-1].rsplit("/", 1)
    token = token if change is None else change(token)
    address, before = f"{root}/{token}/" if token else f"{root}/", victim.asked
    for path in ("", "app.js", "api/about", "api/look", "api/attack", "nothing"):
        body = {"text": TEXT} if path in ("api/look", "api/attack") else None
        status, given, said = request(address, path, body, headers=headers)
        assert (status, said.count("\n")) == (403, 1)
        assert named in said
        assert given["content-type"].startswith("text/plain")
        assert not any(name.startswith("access-control") for name in given)
    assert victim.asked == before


def test_a_page_of_another_origin_cannot_send_what_is_not_a_form(server, victim):
    before, raw = victim.asked, json.dumps({"text": TEXT}).encode()
    for method, headers, expected in (
        ("POST", {"content-type": "text/plain"}, 400),
        ("POST", {"sec-fetch-site": "cross-site"}, 403),
        ("OPTIONS", {"origin": "http://evil"}, 403),
    ):
        status, given, _ = request(server.address, "api/look", raw=raw, method=method, headers=headers)
        assert status == expected
        assert not any(name.startswith("access-control") for name in given)
    assert victim.asked == before


def test_the_page_itself_is_answered(server, victim):
    port = server.address.split(":")[2].split("/")[0]
    for host in ("127.0.0.1", "localhost", "LOCALHOST"):
        own = {"host": f"{host}:{port}", "origin": f"http://{host.lower()}:{port}", "sec-fetch-site": "same-origin"}
        assert request(server.address, "api/look", {"text": TEXT}, headers=own)[0] == 200


def test_every_start_has_another_token_of_many_bits_and_its_address_leads_to_the_page(server):
    status, headers, _ = request(server.address[:-1])
    assert (status, headers["location"]) == (308, "/" + server.address.split("/")[3] + "/")
    with serving(Opinions()) as other:
        tokens = [one.address.split("/")[3] for one in (server, other)]
        assert other.listening.getsockname()[0] == "127.0.0.1"
    assert tokens[0] != tokens[1]
    assert all(re.fullmatch(r"[\w-]{32}", token) for token in tokens)


def test_every_answer_forbids_scripts_and_frames_of_others(server):
    for path in ("", "style.css", "app.js", "icon.svg", "api/about", "nothing"):
        headers = request(server.address, path)[1]
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_the_files_ask_nobody_else_and_hold_no_script_in_the_page():
    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            given = dict(attributes)
            assert not any(name.startswith("on") or name == "style" for name in given)
            assert tag != "style"
            for name in ("src", "href"):
                assert ":" not in given.get(name, "")
            if tag == "script":
                assert given["src"]

    for path, _, content in read_files():
        text = content.decode()
        addresses = set(re.findall(r"\w+://[^\s\"'`)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|@import|url\(", text)
        if not path:
            Reader().feed(text)


# --- what is answered


@pytest.mark.parametrize(
    "text",
    [TEXT, "a line\n second\tline\r\n good  ", "👍🏽 a <b>good</b> 🎬 film é فيلم good جدا", "…!?"],
    ids=range(4),
)
def test_a_look_agrees_with_the_package_and_holds_the_whole_text(server, victim, text):
    status, _, body = request(server.address, "api/look", {"text": text})
    found, expected = json.loads(body), server.model.attacker.look(text)
    assert status == 200
    assert "".join(one["before"] + one["word"] for one in found["words"]) + found["rest"] == text
    assert [[pair["word"] for pair in one["candidates"]] for one in found["words"]] == [
        list(one.candidates) for one in expected.words
    ]
    assert (found["scores"], found["predicted"]) == (list(expected.scores), expected.predicted)
    assert (found["labels"], found["allowed"]) == (list(expected.labels), expected.allowed)
    assert sum(found["shares"]) == pytest.approx(1)


@pytest.mark.parametrize("solver", ["auto", "exact"])
def test_an_attack_streams_its_steps_and_ends_as_attack_does(server, victim, solver):
    events = attack(server, solvers=[solver], words=3)
    names = [name for name, _ in events]
    assert (names[0], names[-2:]) == ("begin", ["outcome", "done"])
    assert set(names[1:-2]) == {"step"}
    steps, outcome = [content for name, content in events if name == "step"], events[-2][1]
    assert any(step["changes"] for step in steps)
    assert all(a["queries"] <= b["queries"] for a, b in pairwise(steps))
    (record,) = discotext.attack(Opinions(), ([TEXT], [1]), solver, words=3, candidates=FINDER).records
    assert outcome["flipped"] is record.succeeded is True
    assert (outcome["status"], outcome["text"]) == (record.status, record.adversarial_text)
    assert [one["new"] for one in outcome["changes"]] == [change.new for change in record.changes]
    assert outcome["queries"] == record.forwards
    assert outcome["after"]["predicted"] == record.adversarial_predicted
    assert outcome["sentence"].startswith("Flipped to negative by 2 changed words")
    assert outcome["proof"] is None


def test_solvers_stand_side_by_side_and_one_that_refuses_a_text_does_not_stop_the_others(server, victim):
    text = "good film bad plot " * 12
    events = attack(server, text=text, solvers=["exact", "greedy", "random"])
    assert [content["solver"] for name, content in events if name == "begin"] == ["exact", "greedy", "random"]
    assert [content["solver"] for name, content in events if name == "outcome"] == ["greedy", "random"]
    refusal = next(content for name, content in events if name == "refusal")
    assert refusal["solver"] == "exact"
    (name, content) = attack(server, text=text, solvers=["exact"])[-1]
    assert (name, content["message"]) == ("error", refusal["message"])


LONG = "good film plot " * 8


@pytest.mark.parametrize(
    ("text", "words", "passes", "verdict"),
    [(TEXT, 1, 1000, "robust"), (TEXT, 3, 1000, "broken"), (TEXT, 3, 1, "broken"), (LONG, 3, 200, "open")],
)
def test_a_proof_says_what_certify_says_and_what_it_spent(server, victim, text, words, passes, verdict):
    outcome = attack(server, text=text, solvers=["greedy"], words=words, passes=passes)[-2][1]
    asked = {"words": words, "passes": passes, "candidates": FINDER}
    (record,) = discotext.certify(Opinions(), ([text], [1]), "greedy", **asked).records
    assert (outcome["verdict"], outcome["radius"]) == (record.verdict, record.radius)
    assert outcome["verdict"] == verdict
    assert outcome["proof"].lower().startswith(verdict)
    assert not outcome["untested"]
    assert 0 < outcome["passes"] == outcome["queries"] + outcome["gradients"] + outcome["bounds"]


@pytest.mark.parametrize("asked", [{"text": "the music is here"}, {"text": "…!?"}, {"words": 0}, {"target": 1}])
def test_of_a_text_that_was_not_tested_nothing_is_said_to_be_proved(server, victim, asked):
    outcome = attack(server, passes=1000, **asked)[-2][1]
    assert outcome["untested"]
    assert outcome["proof"].startswith("Nothing to prove: ")


def test_a_target_may_be_chosen_and_what_only_the_model_can_refuse_comes_as_an_event(server, victim):
    assert attack(server, target=1)[-2][1]["status"] == "misclassified"
    assert attack(server, target=0, words=3)[-2][1]["flipped"]
    name, content = attack(server, target=7)[-1]
    assert name == "error"
    assert "7" in content["message"]


LOOK, ATTACK = "api/look", "api/attack"
ODD = [
    (LOOK, {"text": " \n"}, "blank"),
    (LOOK, {"text": "half \ud83d a sign"}, "surrogate"),
    (LOOK, [], "[]"),
    (LOOK, {"text": TEXT, "what": 1}, "'what'"),
    (LOOK, {"text": "x" * (MOST_CHARACTERS + 1)}, f"{MOST_CHARACTERS:,}"),
    (LOOK, {"text": "a " * (MOST_WORDS + 1)}, f"{MOST_WORDS:,}"),
    (LOOK, {"text": TEXT, "words": -1}, "words is -1"),
    (ATTACK, {"text": TEXT, "solvers": ["gredy"]}, "'gredy'"),
    (ATTACK, {"text": TEXT, "solvers": []}, "1 to 4"),
    (ATTACK, {"text": TEXT, "solvers": ["greedy", "greedy"]}, "twice"),
    (ATTACK, {"text": TEXT, "passes": 0}, "passes is 0"),
]


@pytest.mark.parametrize(("path", "asked", "named"), ODD, ids=range(len(ODD)))
def test_a_request_that_cannot_be_answered_is_told_why(server, victim, path, asked, named):
    status, _, body = request(server.address, path, asked)
    assert status in (400, 502)
    said = json.loads(body)["error"]
    assert named in said
    assert "\n" not in said
    assert request(server.address, LOOK, {"text": TEXT})[0] == 200


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["auto", "disco"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["text", "words", "solvers", "target", "seed", "passes", "what"])


@given(ANY_JSON | st.dictionaries(FIELDS, ANY_JSON), st.booleans())
@example({"text": "a", "solvers": [[]]}, True)
def test_whatever_is_sent_is_a_request_or_refused_in_one_sentence(raw, attacks):
    try:
        asked = (read_attack if attacks else read_look)({"text": TEXT, **raw} if isinstance(raw, dict) else raw)
    except RequestError as error:
        asked, said = None, str(error)
    if asked is None:
        assert "\n" not in said
        return
    numbers = (asked.words, asked.target, asked.seed, asked.passes) if attacks else (asked.words,)
    assert {type(number) for number in numbers} <= {int, type(None)}
    assert not attacks or {type(name) for name in asked.solvers} == {str}


NESTED = b'{"text": "a", "solvers": ' + b"[" * 900 + b"]" * 900 + b"}"
RAW = [b"", b"\xff\xfe", b"[" * 100_000, b'"' + b"x" * MOST_BYTES + b'"', NESTED]


@pytest.mark.parametrize("raw", RAW, ids=range(len(RAW)))
def test_bytes_that_are_no_request_are_refused(server, victim, raw):
    status, _, body = request(server.address, "api/attack", raw=raw)
    assert status == 400
    assert 0 < len(json.loads(body)["error"]) < 300


# --- what goes wrong


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (ZeroDivisionError("by\nnothing"), "ZeroDivisionError: by nothing"),
        (UnavailableError("the service does not answer"), "the service does not answer"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_victim_that_dies_is_one_sentence_and_the_server_lives_on(server, victim, fault, named, capfd):
    victim.fault = fault
    status, _, body = request(server.address, "api/look", {"text": TEXT})
    sentence = json.loads(body)["error"]
    assert status == 502
    assert sentence.endswith(named)
    assert attack(server)[-1] == ("error", {"message": sentence})
    victim.fault = None
    assert request(server.address, "api/look", {"text": TEXT})[0] == 200
    assert attack(server)[-1][0] == "done"
    assert "Traceback" not in capfd.readouterr().err


def test_a_victim_that_dies_in_the_middle_of_an_attack_ends_it_in_one_sentence(server, victim):
    victim.delay = 0.02
    with attacking(server.address, text=TEXT, words=3) as lines:
        while "step" not in next(lines):
            pass
        victim.fault = SystemExit("gone")
        assert list(lines)[-3:] == ["event: error", 'data: {"message": "the victim ended: SystemExit: gone"}', ""]


def test_a_reader_who_leaves_ends_the_attack(server, victim):
    victim.delay = 0.05
    with attacking(server.address, text=TEXT, words=3):
        assert attacks_running()
    assert wait_until(lambda: not attacks_running())
    asked = victim.asked
    assert request(server.address, "api/look", {"text": TEXT})[0] == 200
    assert victim.asked == asked + 1


def look_at_once(server, number):
    """The answers to so many looks, asked at the same time."""
    with ThreadPoolExecutor(number) as threads:
        asked = [threads.submit(request, server.address, "api/look", {"text": TEXT}) for _ in range(number)]
        return [one.result() for one in asked]


def test_a_look_is_answered_while_an_attack_runs_and_the_model_is_asked_by_one_at_a_time(server, victim):
    victim.delay = 0.01
    with attacking(server.address, text=TEXT, words=3):
        assert [status for status, _, _ in look_at_once(server, 5)] == [200] * 5
        assert attacks_running()  # they did not wait for its end


def test_more_requests_than_can_wait_are_told_so(server, victim):
    victim.delay = 0.1
    answers = look_at_once(server, AT_ONCE + 4)
    refused = [json.loads(body)["error"] for status, _, body in answers if status != 200]
    assert 0 < len(refused) <= 4 + 1
    assert all(sentence.startswith(str(AT_ONCE)) for sentence in refused)


# --- the command

VICTIM = """
import time
def scores(texts):
    time.sleep(0.05 * len(texts))
    return [[text.count("purchased"), 0.5] for text in texts]
"""


@pytest.fixture
def command(tmp_path):
    """The command on a victim that is a function in a file."""
    (tmp_path / "model.py").write_text(VICTIM)
    return [sys.executable, "-m", "discotext", "serve", f"py:{tmp_path / 'model.py'}:scores", "--no-open"]


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in the middle of an attack"])
def test_ctrl_c_ends_the_command_without_a_traceback(command, busy):
    process = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c
    )
    address = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
    assert request(address, "api/look", {"text": "We purchased it"})[0] == 200
    text = "We purchased a good film and a great plot, it was an awful story with a nice end. " * 20
    with attacking(address, text=text) if busy else nullcontext():
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert said.splitlines()[-1] == "stopped"
    assert "Traceback" not in said


def test_a_port_in_use_is_one_sentence(command):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = CliRunner().invoke(cli, [*command[3:], "--port", str(port)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert str(port) in done.stderr


def test_a_missing_extra_is_named(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(cli, command[3:])
    assert done.exit_code == 1
    assert "uvicorn" in done.stderr
    assert done.stderr.rstrip().endswith(explain_install("web"))


def test_a_service_is_asked_as_its_options_say(monkeypatch):
    served = []
    monkeypatch.setattr("discotext.web.server.Server.serve_page", lambda self: served.append(self))
    address = "http://127.0.0.1:9/classify"
    given = f"serve {address} --no-open --port 0 --service text=inputs --service answer=out[].scores"
    done = CliRunner().invoke(cli, given.split())
    assert done.exit_code == 0, done.output
    (server,) = served
    server.listening.close()
    expected = HttpVictim(address, text_field="inputs", answer="out[].scores").capabilities.protocol
    assert server.model.attacker.victim.capabilities.protocol == expected
    wrong = CliRunner().invoke(cli, ["serve", "py:model.py:scores", "--service", "answer=out"])
    assert wrong.exit_code == 2


@needs_torch
def test_a_network_is_served_too():
    from tests.attacks.test_one_text import network

    with serving(network()) as server:
        assert attack(server, words=3)[-1][0] == "done"
        assert "disco" in server.model.describe()["solvers"]
        server.model.warm_up()
