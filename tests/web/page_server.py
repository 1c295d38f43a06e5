"""A server of the page for tests: a victim that can be made slow or broken, and plain HTTP."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager

import httpx
import numpy as np

from discotext.attacks.one_text import TextAttacker
from discotext.text.candidates import Candidates
from discotext.text.sources import SynonymList
from discotext.victims.victim import Victim

GOOD, BAD = ["good", "great", "fine", "nice"], ["bad", "poor", "awful", "weak"]
LISTS = {word: [other for other in mine if other != word] for mine in (GOOD, BAD) for word in mine}
LISTS |= {"film": ["movie", "picture"], "plot": ["story"]}
WEIGHTS = {"good": 2.0, "great": 1.5, "fine": 0.4, "nice": 0.2, "bad": -2.0, "poor": -1.2, "awful": -0.5, "weak": -0.3}
FINDER = Candidates(SynonymList(LISTS), ())
# Flipped by two words (good → nice, twice), and by no single one.
TEXT = "A good film: the plot is good, the music is bad, but the cast is fine."


class Opinions(Victim):
    """Adds up the weights of words. What it does besides can be set while it runs.

    delay: seconds for each text. fault: an error to raise. asked: how many texts it was asked about so far.
    """

    name, labels = "opinions", ("negative", "positive")

    def __init__(self) -> None:
        self.delay = 0.0
        self.fault: BaseException | None = None
        self.asked = 0
        self.alone = threading.Lock()

    def scores(self, texts):
        assert self.alone.acquire(blocking=False), "two threads ask the model at the same time"
        try:
            if self.fault is not None:
                raise self.fault
            self.asked += len(texts)
            time.sleep(self.delay * len(texts))
            found = []
            for text in texts:
                words = [word.strip(".,:;!<>").lower() for word in text.split()]
                worth = sum(WEIGHTS.get(word, 0.0) for word in words) + 0.1
                found.append([-worth, worth])
            return np.array(found)
        finally:
            self.alone.release()


@contextmanager
def serving(victim, patience=0.02):
    """A server for a victim, running until the end of the block."""
    from discotext.web.model import SharedModel
    from discotext.web.server import Server

    server = Server(SharedModel(TextAttacker(victim, FINDER, patience=patience)), 0)
    thread = threading.Thread(target=server.serve_page)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join(60)
        assert not thread.is_alive()


CLIENT = httpx.Client(timeout=60, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


def request(address, path="", body=None, method=None, headers=None, raw=None):
    """Status, headers and body of an answer. body: to be sent as JSON; raw: bytes as they are."""
    sent = json.dumps(body).encode() if raw is None and body is not None else raw
    given = {} if sent is None else {"content-type": "application/json"}
    method = method or ("GET" if sent is None else "POST")
    answer = CLIENT.request(method, address + path, content=sent, headers=given | (headers or {}))
    return answer.status_code, answer.headers, answer.text


@contextmanager
def attacking(address, **asked):
    """An attack under way; yields the lines of the answer, of which the first event was read."""
    with CLIENT.stream("POST", address + "api/attack", json={"solvers": ["beam"], **asked}) as answer:
        lines = answer.iter_lines()
        assert "begin" in next(lines)
        yield lines


def read_events(text):
    """Server-sent events by their format: blocks of `field: value` lines, with an empty line after each."""
    assert text.endswith("\n\n")
    events = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        if block.startswith(":"):
            continue
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        assert set(fields) == {"event", "data"}
        events.append((fields["event"], json.loads(fields["data"])))
    return events


def wait_until(condition, seconds=30):
    """Wait until something is so; say whether it is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def attacks_running():
    return [thread for thread in threading.enumerate() if thread.name == "attack"]
