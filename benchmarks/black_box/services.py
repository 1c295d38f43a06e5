"""Misbehaving services, which echo the token, send control characters or return no scores.

Neither the token nor a part of it may be printed or written, no control character may reach the terminal, and every
command must end without a traceback. The texts that a well-behaved service received must agree with the records.
"""

from __future__ import annotations

import base64
import functools
import gzip
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote, unquote

import discotext as d
from benchmarks.black_box import Outcome, main
from benchmarks.black_box.sizes import Ended, call, warm_up
from discotext.attacks.run import Serial
from discotext.victims.http.victim import HttpVictim

TOKEN = "tk+Zq8vKx2/LmN7pRt5=WyB4cD9fGh1JsQe3Ua"  # invented, and sent to this machine only
SIGNS = "\x1b[31mred\x1b]0;title\x07\x9b2J\x08\r\x85\u202eback\u2066\x00\x0b"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
WORDS = "a the film movie was good bad lovely awful story acting bought and dull fine slow poor great plot".split()


@dataclass(frozen=True)
class Asked:
    """A request: its number, its texts, its authorisation header, and the whole request as a string."""

    number: int
    texts: list[str]
    token: str
    whole: str


Answer = Callable[[Asked], bytes | Iterator[bytes]]


class Service(ThreadingHTTPServer):
    """A service on this machine; `received` contains the texts of every request."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.received: list[list[str]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        texts = json.loads(body)["texts"]
        self.server.received.append(texts)
        token, whole = self.headers.get("Authorization", ""), f"{self.headers}\n{body}"
        answer = self.server.answer(Asked(len(self.server.received), texts, token, whole))
        with suppress(OSError):
            for part in [answer] if isinstance(answer, bytes) else answer:
                self.wfile.write(part)
                self.wfile.flush()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def serving(answer: Answer) -> Iterator[Service]:
    with Service(answer) as service:
        threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True).start()
        yield service
        service.shutdown()


def reply(body: Any, status: Any = 200, reason: str = "Said", **headers: str) -> bytes:
    """A complete response; a body that is not bytes is written as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).replace(r"\\u", r"\u").encode()
    fields = {"Content-Length": str(len(content)), **{key.replace("_", "-"): value for key, value in headers.items()}}
    head = "".join(f"{key}: {value}\r\n" for key, value in fields.items())
    return f"HTTP/1.1 {status} {reason}\r\n{head}\r\n".encode("latin-1", "replace") + content


def scores(texts: Sequence[str]) -> list[list[float]]:
    sums = [sum(zlib.crc32(word.encode()) % 7 - 3 for word in text.lower().split()) + 0.25 for text in texts]
    return [[-value, value] for value in sums]


def fair(asked: Asked) -> bytes:
    return reply({"scores": scores(asked.texts), "labels": ["no", "yes"]})


def later(answer: Answer) -> Answer:
    """Behaves well at first, and for all texts without a certain word."""
    return lambda asked: answer(asked) if "awful" in " ".join(asked.texts) else fair(asked)


def disguises() -> dict[str, Callable[[Asked], str]]:
    found: dict[str, Callable[[Asked], str]] = {
        "the header": lambda asked: asked.token,
        "the whole request": lambda asked: asked.whole,
        "the header JSON-escaped": lambda asked: "".join(f"\\u{ord(sign):04x}" for sign in asked.token),
        "the header URL-encoded": lambda asked: quote(asked.token, safe=""),
        "every letter URL-encoded": lambda asked: "".join(f"%{ord(sign):02X}" for sign in asked.token),
        "the token in base64": lambda asked: base64.b64encode(asked.token.split()[-1].encode()).decode(),
        "the header in base64": lambda asked: base64.b64encode(asked.token.encode()).decode(),
    }
    for size in (12, 13, 20, len(TOKEN) - 1):
        found[f"the first {size} of the token"] = lambda asked, size=size: asked.token.split()[-1][:size]
        found[f"the last {size} of the token"] = lambda asked, size=size: asked.token[-size:]
    for before in (40, 58, 66, 480):
        found[f"{before} letters and the header"] = lambda asked, before=before: "x" * before + asked.token
    return found


def places() -> dict[str, Callable[[str, int, Sequence[str]], bytes]]:
    """Responses that contain a string somewhere, given the status and the texts of the request."""
    return {
        "body": lambda said, status, texts: reply(f"you sent {said}".encode(), status),
        "JSON body": lambda said, status, texts: reply(b'{"error": "%s"}' % said.replace('"', "'").encode(), status),
        "reason": lambda said, status, texts: reply({}, status, " ".join(said.split())),
        "Location": lambda said, status, texts: reply({}, status, Location="http://x/?" + " ".join(said.split())),
        "Retry-After": lambda said, status, texts: reply({}, status, Retry_After=" ".join(said.split())),
        "label": lambda said, status, texts: reply({"scores": scores(texts), "labels": [said, "b"]}, status),
        "key": lambda said, status, texts: reply({said: 1}, status),
        "key of scores": lambda said, status, texts: reply([{said: -1, "b": one} for _, one in scores(texts)], status),
        "score": lambda said, status, texts: reply({"scores": [[said, 1.0] for _ in texts]}, status),
    }


def echoes() -> Iterator[tuple[str, Answer]]:
    def answer(where: str, what: str, status: int) -> Answer:
        return lambda asked: places()[where](disguises()[what](asked), status, asked.texts)

    for status, where in itertools.product((200, 301, 400, 401, 403, 404, 418, 429, 500, 503), places()):
        yield f"{status} with the header in the {where}", answer(where, "the header", status)
    for what, (where, status) in itertools.product(disguises(), [("JSON body", 400), ("reason", 401), ("label", 200)]):
        yield f"{status} with {what} in the {where}", answer(where, what, status)
    for what, (where, status) in itertools.product(disguises(), [("JSON body", 400), ("score", 200), ("key", 200)]):
        yield f"later {status} with {what} in the {where}", later(answer(where, what, status))
    for where, status in itertools.product(places(), (200, 400, 401, 503)):
        signs = lambda asked, where=where, status=status: places()[where](SIGNS, status, asked.texts)  # noqa: E731
        yield f"{status} with control characters in the {where}", signs
        yield f"later {status} with control characters in the {where}", later(signs)


BODIES = """
[] [[]] {} null 7 "x" [[1,2],[1]] [[[1,2]]] [1,2,3] {"scores":null} {"scores":{}} {"scores":"12"} {"scores":7} <html>
[[NaN,1]] [[Infinity,1]] [[1e400,1]] [[-Infinity,1]] [[1e308,-1e308]] [[true,false]] [[null,1]] [["1","2"]] [[{},1]]
{"scores":[[1,2]],"labels":[]} {"scores":[[1,2]],"labels":["a"]} {"scores":[[1,2]],"labels":["a","a"]} [[1]] [0.5] [7]
{"scores":[[1,2]],"labels":[1,2]} {"scores":[[1,2]],"labels":[null,[]]} {"scores":[[1,2]],"labels":"ab"} [{"a":1,"b":7}]
{"scores":[[1,2]],"labels":{"a":1}} {"scores":[[1,2,3]],"labels":["a","b"]} [[{"label":"a","score":1}]] [[1,2],[1,2]]
[[{"label":[],"score":{}},{"label":{},"score":[]}]] [[{"label":"a"},{"score":1}]] [{"label":"a","score":0.9}] [{}]
""".split()
ODD_NUMBERS = ("9" * 5000, "1" + "0" * 400, "1e-400", "-" + "9" * 4000, "0." + "1" * 10**6)


def nests() -> Iterator[tuple[str, bytes]]:
    for depth in (100, 2_000, 100_000, 1_000_000):
        for left, right in ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")):
            whole = left * depth + b"1" + right * depth
            yield f"{left.decode()} {depth:,} deep", whole
            yield f"scores of {left.decode()} {depth:,} deep", b'{"scores": %s}' % whole
        yield f"labels {depth:,} deep", b'{"scores": [[1, 2]], "labels": [%s, "b"]}' % (b"[" * depth + b"]" * depth)
        yield f"{depth:,} brackets that nothing closes", b"[" * depth


def trickle(content: bytes) -> Iterator[bytes]:
    for place in range(400):
        yield content[place : place + 1] or b" "
        time.sleep(0.5 if place > 20 else 0)


def transports() -> Iterator[tuple[str, Answer]]:
    """Responses that are invalid HTTP, or large or slow."""
    good = b"[[1, 2]]"
    whole = {f"a length of {size}": reply(good, Content_Length=size) for size in ("999", "3", "many", "-5", "9" * 30)}
    whole |= {
        "a gzipped body": reply(gzip.compress(good), Content_Encoding="gzip"),
        "chunks that are none": reply(good, Transfer_Encoding="chunked"),
        "a huge chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n" + good,
        "nothing": b"",
        "no status": good,
        "closed in the headers": b"HTTP/1.1 200 OK\r\nContent-Le",
        "a long header": reply(good, X="x" * 200_000),
        "100 Continue for ever": b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000,
        "signs in a header's name": b"HTTP/1.1 400 No\r\n" + SIGNS.encode() + b": x\r\n\r\n" + good,
        "120 MB of blanks": reply(b" " * 120_000_000),
        "20 MB of rows": reply(b"[" + b"[1,1]," * 3_300_000 + b"[1,1]]"),
        "a million labels": reply({"scores": [[1] * 10**6], "labels": list(map(str, range(10**6)))}),
        "a label of a million letters": reply({"scores": [[1, 2]], "labels": ["x" * 10**6, "b"]}),
    }
    whole |= {f"status {number}": reply(good, number) for number in (0, 99, 100, 101, 204, 304, 600, 999, 1000, "abc")}
    waits = ("nan", "inf", "1e400", "-5", "soon", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 99 Foo 0000 99:99:99 +9999")
    whole |= {f"503 and Retry-After {wait}": reply({}, 503, Retry_After=wait) for wait in waits}
    for name, content in whole.items():
        yield name, lambda asked, content=content: content
    yield "a body that trickles", lambda asked: trickle(reply(b" " * 1000))
    yield "headers that trickle", lambda asked: trickle(b"HTTP/1.1 200 OK\r\n" + b"X-Header: 12345678\r\n" * 50)


def cases() -> Iterator[tuple[str, Answer]]:
    yield from echoes()
    bodies = [*BODIES, *(f"[[{number}, 1]]" for number in ODD_NUMBERS)]
    for name, body in [*((f"the body {body[:60]}", body.encode()) for body in bodies), *nests()]:
        yield name, lambda asked, body=body: reply(body)
        if len(body) < 10**6:
            yield f"later {name}", later(lambda asked, body=body: reply(body))
    yield from transports()


PIECES = [TOKEN[start : start + 12] for start in range(len(TOKEN) - 11)]  # none of which may be shown
CODED = [base64.b64encode(b"x" * shift + TOKEN.encode()).decode()[4:-4] for shift in range(3)]
CODED_PIECES = [code[start : start + 16] for code in CODED for start in range(len(code) - 15)]


def leak(text: str) -> str | None:
    """How the token or a part of it occurs in a text: literally, or in an encoding that anybody can decode."""
    joined = "".join(text.split())
    plain = {"as it is": joined, "URL-encoded": unquote(joined)}
    plain["JSON-escaped"] = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), joined)
    for how, said in plain.items():
        if any(piece in said for piece in PIECES):
            return how
    return "in base64" if any(piece in joined for piece in CODED_PIECES) else None


def laws(ended: Ended, run: Path | None = None) -> Iterator[str]:
    """The requirements that a command violated, by its output or by the files in its folder."""
    if ended.status not in (0, 1, 2, 3):
        yield "it did not end" if ended.status == -9 else f"status {ended.status}: {ended.last[:150]}"
    elif ended.has_traceback:
        yield f"a traceback: {ended.last[:150]}"
    printed = {"standard output": ended.out, "standard error": ended.err}
    files = [path for path in run.iterdir() if path.is_file()] if run and run.exists() else []
    for where, text in {**printed, **{path.name: path.read_text(errors="replace") for path in files}}.items():
        if how := leak(text):
            yield f"the token is in {where}, {how}"
        if where in printed and (found := CONTROLS.search(text)):
            yield f"{found[0]!r} on {where}: {text[max(0, found.start() - 40) : found.end() + 20]!r}"


def run_command(arguments: Sequence[str], folder: Path) -> Ended:
    """Run the command line in a separate process, with the default timeouts."""
    command = [sys.executable, "-m", "discotext", *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, errors="replace")
    except subprocess.TimeoutExpired:
        return Ended(-9, "", "", 0)
    return Ended(done.returncode, done.stdout, done.stderr, 0)


def try_case(name: str, answer: Answer, scratch: Path, number: int) -> str | None:
    """Attack a service, report the run, and sometimes call other commands."""
    run = scratch / "run"
    shutil.rmtree(run, ignore_errors=True)
    # Retries would wait.
    alone = number % 25 == 0 and re.match("(later )?[1234][^2]|the body|scores|labels", name)
    with serving(answer) as service:
        commands = [["attack", service.url, "data.csv", "--json", "--out", "run"]]
        commands += [[other, service.url, "data.csv"] for other in (["check"], [], ["predict"], [])[number % 4]]
        found = []
        for arguments in commands:
            ended = (run_command if alone else call)(arguments, scratch)
            found += [f"{arguments[0]}: {law}" for law in laws(ended, run if "--out" in arguments else None)]
    if (run / "records.jsonl").exists() and (run / "records.jsonl").stat().st_size:
        found += [f"report: {law}" for law in laws(call(["report", "run"], scratch), run)]
    return f"{name[:90]}: {'; '.join(dict.fromkeys(found))}" if found else None


def one_in_five(asked: Asked) -> bytes:
    """Fails if a certain text is part of the request."""
    bad = [text for text in asked.texts if zlib.crc32(text.encode()) % 5 == 0]
    return reply({"error": "no such text"}, 400) if bad else fair(asked)


def every_fifth(asked: Asked) -> bytes:
    return fair(asked) if asked.number % 5 else reply({"error": "not now"}, 400)


class Noting:
    """Runs the job, and notes how many texts the service had received before."""

    def __init__(self, service: Service) -> None:
        self.service, self.before = service, 0

    @contextmanager
    def open(self, job: Any, notify: Any) -> Iterator[Any]:
        with Serial().open(job, notify) as session:
            usual = session.run

            def run(job: Any, units: Any) -> Iterator[Any]:
                self.before = sum(map(len, self.service.received))
                return usual(job, units)

            session.run = run  # type: ignore[method-assign]
            yield session


def counts(seed: int) -> Iterator[str | None]:
    """The records account for every text received after the start."""
    rng = random.Random(seed)
    texts = list(dict.fromkeys(" ".join(rng.choices(WORDS, k=rng.randint(4, 12))) for _ in range(40)))
    labels = [int(yes > no) for no, yes in scores(texts)]
    answers = {"a fair service": fair, "400 for certain texts": one_in_five, "every fifth call 400": every_fifth}
    for times, (who, answer), solver in itertools.product((1, 2), answers.items(), ("greedy", "exact")):
        with serving(answer) as service:
            noting, data = Noting(service), (texts * times, labels * times)
            result = d.attack(HttpVictim(service.url, retries=0), data, solver, budget=0.3, executor=noting)
            received = sum(map(len, service.received)) - noting.before
        reported = sum(record.forwards for record in result.records)
        found = f"{received} texts received after {noting.before} at the start, {reported} forwards in records"
        found = f"{solver}, {who}, each text {times} times: {found}, {reported - received:+d}; expected the same"
        yield found if reported != received else None


def run(tries: int, seed: int) -> Outcome:
    """Try services in random order, all of them if there are enough tries; then check the counts."""
    rng = random.Random(seed)
    chosen = list(cases())
    rng.shuffle(chosen)
    # One retry, which is reported but not waited for.
    impatient = functools.partial(HttpVictim, retries=1, timeout=2, sleep=lambda seconds: None)
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, DISCOTEXT_TOKEN=TOKEN):
        rows = [f"{' '.join(rng.choices(WORDS, k=8))},{number % 2}\n" for number in range(8)]
        (Path(name) / "data.csv").write_text("text,label\nwhat an awful good film,1\n" + "".join(rows))
        with serving(fair) as service:
            warm_up(["attack", service.url, str(Path(name) / "data.csv")])
        with mock.patch("discotext.victims.http.victim.HttpVictim", impatient):
            found = [try_case(*case, Path(name), number) for number, case in enumerate(chosen[:tries])]
        found += counts(seed)
    return Outcome("services", len(found), tuple(line for line in found if line))


if __name__ == "__main__":
    sys.exit(main(run, 10_000, __doc__ or ""))
