"""What is particular to worker processes: their threads, and the texts that come before the first unit."""

import io
import json
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from discotext import Candidates
from discotext.attacks.attack import attack, compare
from discotext.attacks.execution import processes
from discotext.attacks.execution.processes import Processes
from discotext.attacks.execution.worker import WorkerSettings
from discotext.attacks.task import fail_task
from discotext.cli import cli
from discotext.data import Examples
from discotext.runs.folder import read_lines
from discotext.runs.record import Record
from discotext.text.sources import SynonymList
from tests.attacks.execution.conftest import FINDER, LABELS, TEXTS, as_job
from tests.conftest import untimed

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


def test_the_first_texts_are_as_protected_as_the_others(tmp_path, hanging_clock):
    """Whatever identifies the victim and labels texts asks workers, whose deaths cost one text each."""
    (tmp_path / "victim.py").write_text(textwrap.dedent(TROUBLE))
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS[:24], LABELS[:24], strict=True)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "lists.json").write_text('{"good": ["fine", "poor"], "bad": ["poor", "fine"]}')
    command = ["attack", f"py:{tmp_path / 'victim.py'}:scores", str(tmp_path / "data.jsonl"), "--solver", "greedy"]
    command += ["--words", "1", "--synonyms", str(tmp_path / "lists.json"), "--without", "all", "--unlabelled"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert CliRunner().invoke(cli, [*command, "--out", str(whole)]).exit_code == 0
    (tmp_path / "trouble").touch()
    done = CliRunner().invoke(cli, [*command, "--workers", "2", "--time-limit", "5000", "--out", str(broken)])
    assert done.exit_code == 0, done.output
    found = {record.id: record for record in map(Record.from_dict, read_lines(broken))}
    failed = {number: record.error for number, record in found.items() if record.status == "failed"}
    assert sorted(failed) == [0, 2, 19]
    assert all(part in failed[text] for text, part in ((0, "5000 seconds"), (2, "status 3"), (19, "too much")))
    # But for what it cost to ask again, and a tolerance that is measured on other texts.
    same = {"tolerance": 0.0, "forwards": 0, "flipped_after": None}
    expected = [replace(Record.from_dict(line), **same) for line in read_lines(whole)]
    others = [record for record in expected if record.id not in failed]
    assert untimed([replace(found[record.id], **same) for record in others]) == untimed(others)


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

    job = as_job(victim)
    job = replace(job, asked=replace(job.asked, candidates=replace(FINDER, tagger=Deadly())))
    first, *_ = fail_task(job, job.task(job.schedule.units[0]), "it hangs")
    assert (first.status, first.error, first.words, first.budget) == ("failed", "it hangs", 5, 1)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what a process was started with is not to be seen")
def test_threads_are_set_before_a_worker_begins_for_numpy_looks_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("discotext.support.threads.chosen", 3)
    file = tmp_path / "counting.py"
    file.write_text(
        "SET = b'OMP_NUM_THREADS=3' in open('/proc/self/environ', 'rb').read().split(bytes(1))\n"
        "def scores(texts):\n    return [[1.0, 2.0 * SET] for text in texts]\n"
    )
    found = compare(f"py:{file}:scores", (TEXTS, LABELS), ["greedy"], words=0, executor=Processes(1))
    assert {record.predicted for record in found.records} == {1}


@pytest.mark.parametrize(
    ("chosen", "found"), [(None, WorkerSettings(4, False, False)), (3, WorkerSettings(3, True, False))]
)
def test_a_worker_gets_the_threads_that_were_asked_for_or_its_share_of_the_processors(chosen, found, monkeypatch):
    monkeypatch.setattr("discotext.support.threads.chosen", chosen)
    monkeypatch.setattr("discotext.support.threads.count_processors", lambda: 8)
    pools = []
    monkeypatch.setattr(processes, "ProcessPool", pools.append)
    monkeypatch.setattr(processes, "Crew", lambda *_: io.BytesIO())
    with Processes(2).open(None):
        assert pools == [found]


def test_a_network_attacked_by_two_workers_with_one_thread_each_has_the_records_of_one(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    monkeypatch.setattr("discotext.support.threads.chosen", 1)
    monkeypatch.setattr(processes, "WorkerSettings", WorkerSettings)  # with PyTorch, here
    torch.manual_seed(0)
    words = ["good", "bad", "fine", "poor", "a", "film", "no"]
    network = WordNetwork(Shape("lstm", 2, 8, hidden=8))
    made = NeuralVictim(network, Vocabulary(words), torch.randn(len(words) + 1, 8), ("0", "1"))
    made.save(tmp_path / "victim")
    lists = Candidates(SynonymList({"good": ["fine", "poor", "bad"], "bad": ["poor", "fine"], "poor": ["bad"]}), ())
    one, two = (
        attack(str(tmp_path / "victim"), (TEXTS, LABELS), "disco", words=1, candidates=lists, executor=Processes(n))
        for n in (1, 2)
    )
    assert untimed(one.records) == untimed(two.records)
    assert len(one.records) == len(TEXTS)
