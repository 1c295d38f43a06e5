"""Whoever does the work, and however often one of them dies, the records are the same."""

import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from discotext.attacks import Processes, RayExecutor, Serial
from discotext.attacks.run import make_executor, run
from discotext.runs.folder import read_lines
from tests.attacks.execution.conftest import TEXTS, as_job, at_work, attacked
from tests.conftest import stop_after, untimed

# One cluster is enough for two cores.
KINDS = ["processes", pytest.param("ray", marks=pytest.mark.xdist_group("ray"))]


@pytest.fixture(params=KINDS)
def make(request):
    """A function that makes an executor."""
    if request.param == "processes":
        return Processes
    cluster = request.getfixturevalue("cluster")
    return lambda workers, **options: RayExecutor(cluster.address, workers, **options)


@contextmanager
def meanwhile(do):
    """Do something in a thread while the block runs, and see that it was done."""
    done = []
    thread = threading.Thread(target=lambda: done.append(do()))
    thread.start()
    yield
    thread.join()
    assert done


def test_workers_resume_what_one_process_began_and_write_its_records_in_the_same_order(victim, tmp_path, make):
    alone = attacked(victim, out=tmp_path / "alone")
    with pytest.raises(KeyboardInterrupt):
        run(as_job(victim), tmp_path / "run", stop_after(5, KeyboardInterrupt))
    together = attacked(victim, out=tmp_path / "run", executor=make(2))
    assert untimed(together.records) == untimed(alone.records)
    assert untimed(read_lines(tmp_path / "run")) == untimed(read_lines(tmp_path / "alone"))
    assert len(together.records) == 2 * len(TEXTS)
    assert together.summary.solvers["greedy"].success_rate > 0


def test_a_worker_that_is_killed_costs_nothing_but_time(victim, tmp_path, make):
    whole = attacked(victim)
    with meanwhile(lambda: os.kill(at_work(tmp_path)[0], signal.SIGKILL) or True):
        again = attacked(victim, executor=make(1))
    assert untimed(again.records) == untimed(whole.records)


def test_texts_on_which_the_victim_fails_hangs_or_kills_cost_those_texts_alone(victim, tmp_path, hanging_clock):
    whole = attacked(victim, ["greedy"]).records
    for what in ("broken", "hanging", "deadly"):
        (tmp_path / what).touch()
    # One worker, for to another that is at work the clock would jump, too.
    found = attacked(victim, ["greedy"], executor=Processes(1, time_limit=5000.0)).records
    errors = {record.id: record.error for record in found if record.status == "failed"}
    assert set(errors) == {12, 21, 33}
    assert all(part in errors[text] for text, part in ((12, "too much"), (21, "5000 seconds"), (33, "died")))
    assert all(found[number].words == 5 and found[number].budget == 1 for number in errors)
    # Those that were in one call with a text that fails are asked once more, and the tolerance is measured without it.
    known = {"forwards": 0, "flipped_after": None, "tolerance": 0.0}
    mine, others = ([replace(r, **known) for r in part if r.id not in errors] for part in (found, whole))
    assert untimed(mine) == untimed(others)


def test_a_victim_that_cannot_be_sent_is_told(make):
    lock = threading.Lock()

    def scores(texts):
        with lock:
            return [[0.0, 1.0]] * len(texts)

    with pytest.raises(ValueError, match="'py:module:function'"):
        attacked(scores, executor=make(1))


def test_a_victim_that_is_not_where_the_workers_are_is_told(victim, tmp_path, make):
    job = as_job(victim)
    (tmp_path / "mine.py").unlink()
    with pytest.raises((ValueError, RuntimeError), match=r"mine\.py"):
        run(job, executor=make(1))


def test_two_runs_in_one_folder_are_refused(victim, tmp_path):
    """Else both would write the same records, one after the other."""
    said = []

    def watch(done, units, records):
        if not said:
            with pytest.raises(ValueError, match=str(tmp_path / "run")) as error:
                attacked(victim, out=tmp_path / "run")
            said.append(error)

    attacked(victim, out=tmp_path / "run", watch=watch)
    assert said


def test_settings_that_make_no_sense_are_refused():
    for kind, options, named in (
        (Processes, {"workers": 0}, "0"), (Processes, {"workers": 1, "time_limit": 0}, "0"),
        (RayExecutor, {"workers": 0}, "0"), (RayExecutor, {"gpus": 1.5}, r"1\.5"), (RayExecutor, {"gpus": -1}, "-1"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"is {named}"):
            kind(**options)


def test_options_name_their_executor():
    assert isinstance(make_executor(), Serial)
    assert make_executor(3) == Processes(3)
    assert make_executor(time_limit=5.0) == Processes(1, 5.0)
