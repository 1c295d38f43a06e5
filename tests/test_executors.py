"""Whoever does the work, and however often one of them dies, the records are the same."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from discotext import Candidates
from discotext.cli import cli
from discotext.data import Examples
from discotext.experiment.attack import compare, run
from discotext.experiment.execution import processes, scheduler
from discotext.experiment.execution.executors import Serial, make_executor
from discotext.experiment.execution.processes import Processes, ProcessWorker
from discotext.experiment.execution.worker import WorkerSettings
from discotext.experiment.record import Record
from discotext.experiment.run_folder import read_lines
from discotext.experiment.task import fail_task
from discotext.text.sources import SynonymList
from tests.conftest import job_for, stop_after, untimed

TEXTS = [f"a {word} film no. {number}" for number, word in enumerate(["good", "bad", "fine", "poor"] * 20)]
LABELS = [1, 0, 1, 0] * 20
VICTIM = """
    import os, time
    from pathlib import Path

    HERE = Path(__file__).parent

    def scores(texts):
        rows = []
        for text in texts:
            if "no. 33" in text and (HERE / "deadly").exists():
                if not (HERE / "forever").exists():
                    (HERE / "deadly").unlink()
                os._exit(3)
            number = int("0" + text[-2:].strip(" a"))
            if number == 21 and (HERE / "hanging").exists() or number > 39 and (HERE / "mute").exists():
                (HERE / f"hangs_{time.time_ns()}").touch()
                time.sleep(600)
            if number > 39 and (HERE / "mortal").exists():
                os._exit(4)
            if "no. 12" in text and (HERE / "broken").exists():
                raise ValueError("this text is too much")
            time.sleep(0.0005)
            z = sum({"good": 2.0, "fine": 0.3, "bad": -2.0, "poor": -0.2}.get(word, 0.0) for word in text.split())
            rows.append([-z, z + 0.1])
        return rows
"""
FINDER = Candidates(SynonymList({"good": ["fine", "poor"], "bad": ["poor", "fine"]}), ())


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(textwrap.dedent(VICTIM))
    return f"py:{file}:scores"


@pytest.fixture(autouse=True)
def without_torch(monkeypatch):
    """Other tests may have loaded it here, and workers would then take their time to do so too."""
    monkeypatch.setattr(processes, "WorkerSettings", partial(WorkerSettings, torch=False))


def attacked(victim, **more):
    settings = {"candidates": FINDER, "words": 1, "chunk": 8, **more}
    return compare(victim, (TEXTS, LABELS), ["greedy", "random"], **settings)


def test_workers_write_the_records_of_one_process_in_the_same_order(victim, tmp_path):
    alone = attacked(victim, out=tmp_path / "alone")
    together = attacked(victim, out=tmp_path / "together", executor=Processes(2))
    assert untimed(together.records) == untimed(alone.records)
    assert untimed(read_lines(tmp_path / "together")) == untimed(read_lines(tmp_path / "alone"))
    assert together.summary.solvers["greedy"].success_rate > 0


def test_what_was_begun_alone_goes_on_with_workers(victim, tmp_path):
    whole = attacked(victim)
    job = job_for(
        victim, (TEXTS, LABELS), ["greedy", "random"], words=1, candidates=FINDER, chunk=8,
    )  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        run(job, tmp_path / "run", stop_after(5, KeyboardInterrupt))
    done = run(job, tmp_path / "run", executor=Processes(2))
    assert untimed(done.records) == untimed(whole.records)


def test_a_worker_that_dies_costs_nothing_but_time(victim, tmp_path):
    whole = attacked(victim)
    (tmp_path / "deadly").touch()
    again = attacked(victim, executor=Processes(2))
    assert not (tmp_path / "deadly").exists()
    assert untimed(again.records) == untimed(whole.records)


def test_a_text_that_kills_every_worker_is_given_up_alone(victim, tmp_path):
    (tmp_path / "deadly").touch()
    (tmp_path / "forever").touch()
    found = attacked(victim, executor=Processes(2)).records
    (tmp_path / "deadly").unlink()
    given_up = [record for record in found if record.status == "failed"]
    assert [record.id for record in given_up] == [33, 33]
    assert all("its process ended, with status 3" in record.error for record in given_up)
    assert all(record.words == 5 and record.budget == 1 for record in given_up)
    # Greedy draws nothing, so that its other texts have the records they would have had.
    others = [record for record in found if record.solver == "greedy" and record.id != 33]
    whole = [record for record in attacked(victim).select("greedy") if record.id != 33]
    assert untimed(others) == untimed(whole)


@pytest.fixture
def hanging_clock(tmp_path, monkeypatch):
    """A clock that jumps far ahead whenever the victim begins to hang, and else goes as usual."""
    monkeypatch.setattr(scheduler, "clock", lambda: time.monotonic() + 10_000 * len(list(tmp_path.glob("hangs_*"))))


def test_a_text_on_which_the_victim_hangs_is_given_up_when_its_time_is_over(victim, tmp_path, hanging_clock):
    (tmp_path / "hanging").touch()
    # One worker, for to another that is at work the clock would jump, too.
    found = attacked(victim, executor=Processes(1, time_limit=5000.0)).select("greedy")
    assert [record.id for record in found if record.error] == [21]
    assert found[21].error == "TimeoutError: not finished within the time limit of 5000 seconds"
    (tmp_path / "hanging").unlink()
    whole = attacked(victim).select("greedy")
    assert untimed(found[:21] + found[22:]) == untimed(whole[:21] + whole[22:])


TROUBLE = """
    import os, time
    from pathlib import Path

    HERE = Path(__file__).parent

    def scores(texts):
        for text in texts if (HERE / "trouble").exists() else ():
            if text == "a good film no. 0":
                (HERE / f"hangs_{time.time_ns()}").touch()
                time.sleep(600)
            if text == "a fine film no. 2":
                os._exit(3)
            if text == "a poor film no. 19":
                raise ValueError("this text is too much")
        z = [2 * text.count("good") - 2 * text.count("bad") + ("fine" in text) - ("poor" in text) for text in texts]
        return [[-one, one] for one in z]
"""


@pytest.mark.parametrize("labels", [True, False], ids=["labels", "no labels"])
def test_the_first_texts_are_as_protected_as_the_others(tmp_path, hanging_clock, labels):
    """Whatever identifies, times, labels and calibrates the victim asks workers, whose deaths cost one text each."""
    (tmp_path / "victim.py").write_text(textwrap.dedent(TROUBLE))
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS[:24], LABELS[:24], strict=True)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "lists.json").write_text('{"good": ["fine", "poor"], "bad": ["poor", "fine"]}')
    command = ["attack", f"py:{tmp_path / 'victim.py'}:scores", str(tmp_path / "data.jsonl"), "--solver", "greedy"]
    command += ["--words", "1", "--synonyms", str(tmp_path / "lists.json"), "--without", "all"]
    command += [] if labels else ["--unlabelled"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert CliRunner().invoke(cli, [*command, "--out", str(whole)]).exit_code == 0
    (tmp_path / "trouble").touch()
    workers = ["--workers", "2", "--time-limit", "5000", "--threads", "1"]
    done = CliRunner().invoke(cli, [*command, *workers, "--out", str(broken)])
    assert done.exit_code == 0, done.output
    found = {record.id: record for record in map(Record.from_dict, read_lines(broken))}
    failed = {number: record.error for number, record in found.items() if record.status == "failed"}
    assert sorted(failed) == [0, 2, 19]
    assert "time limit of 5000 seconds" in failed[0]
    assert "its process ended, with status 3" in failed[2]
    assert "this text is too much" in failed[19]
    # But for what it cost to ask again, and a tolerance that is measured on other texts.
    same = {"tolerance": 0.0, "forwards": 0, "flipped_after": None}
    expected = [replace(Record.from_dict(line), **same) for line in read_lines(whole)]
    others = [record for record in expected if record.id not in failed]
    assert untimed([replace(found[record.id], **same) for record in others]) == untimed(others)


@pytest.mark.parametrize(("what", "said"), [("mute", "the time limit of 5000 seconds"), ("mortal", "with status 4")])
def test_where_every_text_goes_wrong_the_run_ends_in_a_sentence_and_what_is_done_is_kept(
    victim, tmp_path, what, said, hanging_clock
):
    (tmp_path / what).touch()
    with pytest.raises(RuntimeError, match=rf"8 texts in a row failed.*{said}.* Finished work is kept"):
        attacked(victim, out=tmp_path / "run", executor=Processes(1, time_limit=5000.0))
    done = [Record.from_dict(line) for line in read_lines(tmp_path / "run")]
    # Two chunks of long texts come before, each under two solvers, and one in which some texts are right.
    assert len(done) == 3 * 2 * 8
    assert {record.id > 39 for record in done if record.error} == {True}
    assert {record.id > 39 for record in done if not record.error} == {False}
    (tmp_path / what).unlink()
    again = attacked(victim, out=tmp_path / "run").records
    assert len({(record.id, record.solver) for record in again}) == len(again) == 2 * len(TEXTS)


def test_a_text_on_which_the_victim_fails_costs_that_text_alone(victim, tmp_path):
    (tmp_path / "broken").touch()
    found = attacked(victim, executor=Processes(2))
    failed = {record.id for record in found.records if record.status == "failed"}
    assert failed == {12}
    assert untimed(found.records) == untimed(attacked(victim).records)


def test_a_worker_killed_from_outside_is_replaced(victim, monkeypatch):
    whole = attacked(victim)
    made = []
    usual = ProcessWorker.__init__

    def noted(self, *given):
        usual(self, *given)
        made.append(self)

    monkeypatch.setattr(ProcessWorker, "__init__", noted)

    def killer():
        while not made:
            time.sleep(0.01)
        os.kill(made[0].process.pid, signal.SIGKILL)

    thread = threading.Thread(target=killer)
    thread.start()
    again = attacked(victim, executor=Processes(2))
    thread.join()
    assert len(made) >= 3
    assert untimed(again.records) == untimed(whole.records)
    assert not any(worker.process.is_alive() for worker in made)


def test_a_victim_that_cannot_be_sent_is_told_in_a_sentence():
    with pytest.raises(ValueError, match=r"cannot be sent to other processes .*give it by name"):
        compare(lambda texts: [[0.0, 1.0]] * len(texts), (TEXTS, LABELS), ["greedy"], executor=Processes(2))


def test_a_victim_that_is_gone_when_workers_load_it_is_told(victim, tmp_path):
    job = job_for(
        victim, Examples.of(TEXTS, LABELS, names=["0", "1"]), ["greedy"], words=1, candidates=FINDER, chunk=8,
    )  # fmt: skip
    (tmp_path / "mine.py").unlink()
    with pytest.raises(ValueError, match=r"mine\.py"):
        run(job, executor=Processes(2))


def test_a_victim_settled_by_its_first_texts_is_settled_alike_in_every_worker(tmp_path):
    """Numbers between 0 and 1 are chances, others are not: what the first texts say holds for all, also in workers."""
    file = tmp_path / "one.py"
    file.write_text(
        "def scores(texts):\n    return [0.01 * len(text) * ('long' in text and 9 or 1) for text in texts]\n"
    )
    texts = ["a good film"] * 20 + ["a long long long good film"] * 20
    settings = {"candidates": FINDER, "words": 1, "chunk": 4}
    data = Examples.of(texts, [0, 1] * 20, names=["0", "1"])
    alone, together = (
        compare(f"py:{file}:scores", data, ["greedy"], executor=e, **settings) for e in (None, Processes(2))
    )
    assert untimed(together.records) == untimed(alone.records)


def test_a_text_is_given_up_without_asking_for_what_may_have_failed(victim):
    class Deadly:
        name = "deadly"

        def tag(self, texts):
            raise AssertionError("the driver would hang, or die, like the workers")

    job = job_for(
        victim, (TEXTS, LABELS), ["greedy"], budget=0.5, candidates=replace(FINDER, tagger=Deadly()), chunk=8,
    )  # fmt: skip
    first, *_ = fail_task(job, job.task(job.units[0]), "it hangs")
    assert (first.status, first.error, first.words, first.budget) == ("failed", "it hangs", 5, 2)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what a process was started with is not to be seen")
def test_threads_are_set_before_a_worker_begins_for_numpy_looks_at_once(tmp_path):
    file = tmp_path / "counting.py"
    file.write_text(
        "SET = b'OMP_NUM_THREADS=3' in open('/proc/self/environ', 'rb').read().split(bytes(1))\n"
        "def scores(texts):\n    return [[1.0, 2.0 * SET] for text in texts]\n"
    )
    found = compare(f"py:{file}:scores", (TEXTS, LABELS), ["greedy"], words=0, executor=Processes(1, threads=3))
    assert {record.predicted for record in found.records} == {1}


@pytest.mark.parametrize(
    ("given", "asked", "found"),
    [(None, None, WorkerSettings(4, False, False)), (3, None, WorkerSettings(3, True, False)),
     (3, 2, WorkerSettings(2, True, False))],
)  # fmt: skip
def test_a_worker_gets_the_threads_that_were_asked_for_or_its_share_of_the_processors(given, asked, found, monkeypatch):
    monkeypatch.setattr("discotext.support.threads.chosen", given)
    monkeypatch.setattr("discotext.support.threads.count_processors", lambda: 8)
    pools = []
    monkeypatch.setattr(processes, "ProcessPool", pools.append)
    monkeypatch.setattr(processes, "Crew", lambda *_: io.BytesIO())
    with Processes(2, asked).open(None):
        assert pools == [found]


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="workers is 0"):
        Processes(0)
    assert isinstance(make_executor(None, None), Serial)
    assert make_executor(3, None) == Processes(3)
    assert make_executor(None, 2) == Processes(1, 2)
    assert make_executor(time_limit=5.0) == Processes(1, None, 5.0)
    with pytest.raises(ValueError, match="time limit is 0"):
        Processes(1, time_limit=0)
    with pytest.raises(ValueError, match="only available with Ray"):
        make_executor(gpus=1)


def test_a_network_attacked_by_two_workers_with_one_thread_each_has_the_records_of_one(tmp_path):
    torch = pytest.importorskip("torch")
    from discotext.victims.neural.networks import Network, Shape
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    torch.manual_seed(0)
    words = ["good", "bad", "fine", "poor", "a", "film", "no"]
    network = Network(Shape("lstm", 2, 8, hidden=8))
    made = NeuralVictim(network, Vocabulary(words), torch.randn(len(words) + 1, 8), ("0", "1"))
    made.save(tmp_path / "victim")
    lists = tmp_path / "lists.json"
    lists.write_text('{"good": ["fine", "poor", "bad"], "bad": ["poor", "fine"], "poor": ["bad", "good"]}')
    rows = "\n".join(f"{text},{label}" for text, label in zip(TEXTS, LABELS, strict=True))
    (tmp_path / "data.csv").write_text(f"text,label\n{rows}\n")
    records = []
    for workers in ("1", "2"):
        out = tmp_path / f"run{workers}"
        command = ["attack", str(tmp_path / "victim"), str(tmp_path / "data.csv"), "--solver", "disco", "--words", "1"]
        command += ["--synonyms", str(lists), "--workers", workers, "--threads", "1", "--out", str(out)]
        done = subprocess.run([sys.executable, "-m", "discotext", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        records.append(untimed(read_lines(out)))
    assert records[0] == records[1]
    assert len(records[0]) == len(TEXTS)


def test_a_victim_worse_than_a_blind_guess_is_told(victim, tmp_path):
    for flip in (0, 1):
        rows = "\n".join(f"{text},{label ^ flip}" for text, label in zip(TEXTS, LABELS, strict=True))
        (tmp_path / "data.csv").write_text(f"text,label\n{rows}\n")
        command = ["attack", victim, str(tmp_path / "data.csv"), "--words", "1"]
        done = subprocess.run([sys.executable, "-m", "discotext", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("worse than random guessing" in done.stderr) == bool(flip)
