"""Laws of the scheduler: whatever happens to workers, every text has one record, in order, and only bad texts fail."""

import random
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext import Candidates
from discotext.attacks.execution.scheduler import AHEAD, ATTEMPTS, Crew, Lost, Ready, ignore
from discotext.attacks.schedule import Question, Task, WorkerReply
from discotext.text.sources import SynonymList
from tests.conftest import EMPTY_RECORD, job_for

TEXTS = [f"text no. {number} " + "word " * (number % 5) for number in range(37)]


def job():
    return job_for(
        lambda texts: [[1.0, 0.0]] * len(texts), (TEXTS, [0] * 36 + [1]), ["greedy"], words=1,
        candidates=Candidates(SynonymList({}), ()), chunk=8,
    )  # fmt: skip


JOB = job()


class Fate:
    """Workers whose luck is drawn from a seed; deadly texts end each that touches them."""

    def __init__(self, seed, accident, deadly=(), unborn=0, blameless=False):
        self.rng, self.accident, self.deadly = random.Random(seed), accident, set(deadly)
        self.blameless = blameless
        self.hired, self.unborn, self.given, self.workers = 0, unborn, [], []

    def pack(self, job):
        pass

    def start(self, place):
        self.hired += 1
        return Fated(self)

    def wait(self, workers, seconds):
        return self.rng.sample(list(workers), self.rng.randint(1, len(workers)))


class Fated:
    def __init__(self, fate):
        self.fate, self.task, self.stopped, self.asked = fate, None, False, []
        fate.workers.append(self)

    def assign(self, task):
        assert self.task is None
        assert not self.stopped
        self.task = task
        self.asked.append(task)
        if isinstance(task, Task):
            self.fate.given.append(task.unit.number)

    def update(self, findings):
        assert self.task is None

    def answer(self):
        assert not self.stopped
        task, self.task = self.task, None
        lucky = self.fate.rng.random() >= self.fate.accident
        if task is None:
            if self.fate.unborn:
                self.fate.unborn -= 1
                return Lost("too soon")
            return Ready("here") if lucky else Lost("its machine", blameless=True)
        if self.fate.deadly & {TEXTS.index(text) for text in task.texts}:
            return Lost("a deadly text", self.fate.blameless)
        if isinstance(task, Question) and lucky:
            return [
                WorkerReply(number, (len(text), 0.0)) for number, text in zip(task.numbers, task.texts, strict=True)
            ]
        return [replace(EMPTY_RECORD, id=number) for number in task.numbers] if lucky else Lost("gone", blameless=True)

    def stop(self):
        self.stopped = True


def run_schedule(fate, count=3, units=None):
    with closing(Crew(fate, count, JOB, None, ignore)) as crew:
        return list(crew.run(JOB, JOB.schedule.units if units is None else units))


def in_order(found):
    return [record.id for unit in found for record in unit] == [n for chunk in JOB.schedule.chunks for n in chunk]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.6), st.sets(st.integers(0, 36), max_size=5), st.integers(1, 9))
def test_every_text_has_its_record_once_in_order_and_only_deadly_ones_fail(seed, accident, deadly, count):
    found = run_schedule(Fate(seed, accident, deadly), count)
    assert in_order(found)
    assert {record.id for unit in found for record in unit if record.error} == deadly


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_nobody_is_far_ahead_of_the_unit_whose_turn_it_is(seed, count):
    fate = Fate(seed, 0.3)
    for turn, _ in enumerate(Crew(fate, count, JOB, None, ignore).run(JOB, JOB.schedule.units)):
        assert max(fate.given) < turn + 1 + AHEAD * count


def test_a_deadly_text_costs_few_workers():
    fate = Fate(0, 0.0, {10})
    run_schedule(fate, 1)
    # Three for its unit of eight texts, one for each half that still holds it, three for the text alone.
    assert fate.hired == 1 + ATTEMPTS + 2 + ATTEMPTS


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.6), st.sets(st.integers(0, 36), max_size=5), st.integers(1, 4))
def test_a_question_is_answered_for_all_texts_but_deadly_ones_which_no_worker_gets_again(seed, accident, deadly, count):
    fate = Fate(seed, accident, deadly)
    with closing(Crew(fate, count, JOB, None, ignore)) as crew:
        for texts in (TEXTS[:2], TEXTS[:16]):
            found = crew.ask(texts)
            assert {number for number, error in enumerate(found.errors) if error} == deadly & set(range(len(texts)))
            good = [number for number, error in enumerate(found.errors) if error is None]
            assert found.scores[good, 0].tolist() == [len(texts[number]) for number in good]
        workers = len(fate.workers)
        records = [record for unit in crew.run(JOB, JOB.schedule.units) for record in unit]
    assert {record.id for record in records if record.error} == deadly
    known = {TEXTS[number] for number in deadly if number < 16}
    assert not any(known & set(work.texts) for worker in fate.workers[workers:] for work in worker.asked)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.6), st.sets(st.integers(0, 36), max_size=3), st.integers(1, 4))
def test_every_worker_is_asked_first_what_settled_the_first(seed, accident, deadly, count):
    fate = Fate(seed, accident, deadly)
    with closing(Crew(fate, count, JOB, None, ignore)) as crew:
        crew.ask(TEXTS[:2])
        first = crew.first
        list(crew.run(JOB, JOB.schedule.units))
    expected = None if deadly >= {0, 1} else tuple(TEXTS[number] for number in (0, 1) if number not in deadly)
    assert (first and first.texts) == expected
    # Those that answered less than the whole question did nothing else.
    assert all(
        worker.asked[0].texts == expected
        for worker in fate.workers
        if expected and any(isinstance(work, Task) for work in worker.asked)
    )


def test_workers_that_never_arrive_end_the_run():
    assert in_order(run_schedule(Fate(0, 0.0, unborn=ATTEMPTS - 1), 1))
    with pytest.raises(RuntimeError, match=rf"{ATTEMPTS} times"):
        run_schedule(Fate(0, 0.0, unborn=ATTEMPTS), 1)


def test_where_every_text_is_deadly_the_run_ends():
    with pytest.raises(RuntimeError, match="8 texts"):
        run_schedule(Fate(0, 0.0, range(37)), 2)


def test_a_text_that_takes_machines_down_is_given_up_in_the_end():
    fate = Fate(0, 0.0, {10}, blameless=True)
    found = run_schedule(fate, 1)
    assert in_order(found)
    assert [record.id for unit in found for record in unit if record.error] == [10]
    assert fate.hired > 3 * ATTEMPTS  # and not soon: machines come and go


def test_a_worker_that_cannot_be_made_ready_is_left_out_while_others_can():
    fate = Fate(0, 0.0)
    usual, made = fate.start, []

    def start(place):
        made.append(usual(place))
        if place == 1:
            made[-1].answer = lambda: ValueError("nowhere")
        return made[-1]

    fate.start = start
    fate.wait = lambda workers, seconds: list(workers)
    with pytest.warns(UserWarning, match="nowhere"):
        assert in_order(run_schedule(fate, 3))
    assert all(worker.stopped for worker in made)
    fate.wait = lambda workers, seconds: [workers[1]]
    with pytest.raises(ValueError, match="nowhere"):  # and where there is no other, it is the answer
        run_schedule(fate, 2)


def test_no_units_need_no_workers():
    fate = Fate(0, 0.0)
    assert run_schedule(fate, 3, []) == []
    assert fate.hired == 0
