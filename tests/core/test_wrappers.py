"""Counts are what reached the model: no more, no less, and never more than the limit."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discotext as d
from discotext.attacks.run import run
from discotext.core import Status
from discotext.data import make_examples
from discotext.search import Stop
from discotext.solvers import SOLVERS, Greedy, make_solver
from discotext.text.sources import SynonymList
from discotext.victims.http.victim import HttpVictim
from tests.conftest import Quadratic, job_for, problems

FINDER = d.Candidates(SynonymList({"good": ["fine", "poor", "nice"], "film": ["movie", "picture"]}), ())


class Raising:
    """A quadratic oracle that counts the rows it is given, raises for some problems and forbids some choices."""

    exact_at_vertices = True

    def __init__(self, batch, seed, bad=(), forbids_original=False, forbidden=0.0):
        self.batch, self.inner, self.bad = batch, Quadratic(batch, seed), set(bad)
        self.rows = np.zeros(len(batch), dtype=np.int64)
        self.forbids_original, self.forbidden = forbids_original, forbidden

    def _count(self, numbers):
        np.add.at(self.rows, numbers, 1)
        if self.bad & set(numbers.tolist()):
            raise RuntimeError("bad problem")

    def score(self, numbers, choices):
        self._count(numbers)
        scores = self.inner.score(numbers, choices)
        for row, choice in enumerate(choices.tolist()):
            unlucky = (
                sum(7**place * one for place, one in enumerate(choice)) * 2654435761 % 1000
            ) < 1000 * self.forbidden
            if (self.forbids_original and not any(choice)) or (any(choice) and unlucky):
                scores[row] = -np.inf
        return scores

    def relaxed(self, numbers, alpha):
        self._count(numbers)
        return self.inner.relaxed(numbers, alpha)


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
@pytest.mark.parametrize("bad", [(), (0,), (1, 3)], ids=str)
def test_a_limit_on_forwards_holds_also_where_the_oracle_raises(limit, bad):
    batch = d.Batch.of([d.Problem((3, 3, 2), 2)] * 4)
    oracle = Raising(batch, 0, bad)
    found = d.solve(batch, oracle, Greedy(), stop=Stop(forwards=limit))
    assert oracle.rows.max() <= limit
    assert [one.forwards for one in found] == oracle.rows.tolist()
    for number, one in enumerate(found):
        if number not in bad:
            assert one.status is not Status.FAILED
            if not np.isnan(one.score):
                exact = oracle.inner.score(np.array([number]), one.choice[None])[0]
                assert one.score == pytest.approx(exact)


@given(
    shapes=st.lists(problems(), min_size=1, max_size=3),
    name=st.sampled_from(sorted(SOLVERS)),
    goal=st.sampled_from([None, 0.5]),
    forbids_original=st.booleans(),
    forbidden=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 99),
)
def test_forbidden_choices_break_no_solver(shapes, name, goal, forbids_original, forbidden, seed):
    batch = d.Batch.of(shapes)
    oracle = Raising(batch, seed, (), forbids_original, forbidden)
    for number, one in enumerate(d.solve(batch, oracle, make_solver(name), goal=goal, seed=seed)):
        assert one.status is not Status.FAILED
        score = oracle.score(np.array([number]), one.choice[None])[0]
        assert np.isnan(one.score) if np.isneginf(score) else one.score == pytest.approx(score)


@pytest.mark.parametrize("name", ["disco-adam", "disco-proximal", "ranked-greedy"])
def test_a_forbidden_original_does_not_take_the_batch_with_it(name):
    batch = d.Batch.of([d.Problem((3, 3), 1), d.Problem((3, 3), 1)])

    class First(Raising):
        def score(self, numbers, choices):
            scores = self.inner.score(numbers, choices)
            scores[(numbers == 0) & ~choices.any(axis=1)] = -np.inf
            return scores

    first, second = d.solve(batch, First(batch, 0), make_solver(name))
    assert first.changes == 1
    assert np.isfinite([first.score, second.score]).all()


# --- a service that is billed by the text


class Service:
    """Counts the texts it is sent; calls with a text that says `broken` fail."""

    def __enter__(self):
        service, self.texts = self, []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
                service.texts += texts
                bad = any("broken" in text for text in texts)
                rows = [[0.0, sum(text.count(word) for word in ("good", "nice")) - 0.5] for text in texts]
                body = json.dumps({"scores": rows, "labels": ["neg", "pos"]}).encode()
                self.send_response(400 if bad else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize("broken", [False, True], ids=["sound", "with texts that fail"])
@pytest.mark.parametrize("solver", ["greedy", "ranked-greedy", "beam"])
def test_the_forwards_of_records_are_the_texts_a_service_was_sent(monkeypatch, broken, solver):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    texts = [f"a good film no. {number % 6}" for number in range(12)]  # each text twice
    if broken:
        texts[7] = "a good but broken film"
    with Service() as service:
        victim = HttpVictim(service.url, batch=5)
        examples = make_examples((texts, ["pos"] * 12), names=victim.labels)
        victim.scores(["warm"])
        service.texts.clear()
        job = job_for(victim, examples, [solver], budget=0.4, candidates=FINDER)
        found = run(job)
        asked = len(service.texts) - 2  # two are asked again to identify the victim, which stands in no record
        assert sum(record.forwards for record in found.records) == asked
        assert found.summary.solvers[solver].forwards == asked
