"""A victim that fails, hangs and dies when it is told to, and a Ray cluster."""

import os
import textwrap
import time
from functools import partial

import pytest

from discotext import Candidates
from discotext.attacks.attack import compare
from discotext.attacks.execution import processes, scheduler
from discotext.attacks.execution import ray as on_ray
from discotext.attacks.execution.worker import WorkerSettings
from discotext.text.sources import SynonymList
from tests.conftest import job_for

WORDS = {"good": ["fine", "poor"], "bad": ["poor", "fine"]}
FINDER = Candidates(SynonymList(WORDS), ())
TEXTS = [f"a {word} film no. {number}" for number, word in enumerate(["good", "bad", "fine", "poor"] * 20)]
LABELS = [1, 0, 1, 0] * 20
# Slow enough to be disturbed at work, and what disturbs it is a file beside it.
VICTIM = """
    import os, time
    from pathlib import Path

    HERE = Path(__file__).parent

    def scores(texts):
        if len(texts) not in (1, 8):  # a search, and no question before it
            (HERE / f"at_work_{os.getpid()}").touch()
            while (HERE / "lonely").exists() and len(list(HERE.glob("at_work_*"))) < 2:
                time.sleep(0.05)
        rows = []
        for text in texts:
            number = int("0" + text[-2:].strip(" a"))
            if number == 21 and (HERE / "hanging").exists():
                (HERE / f"hangs_{time.time_ns()}").touch()
                time.sleep(600)
            if number == 33 and (HERE / "deadly").exists():
                os._exit(3)
            if number == 12 and (HERE / "broken").exists():
                raise ValueError("this text is too much")
            time.sleep(0.002)
            z = sum({"good": 2.0, "fine": 0.3, "bad": -2.0, "poor": -0.2}.get(word, 0.0) for word in text.split())
            rows.append([-z, z + 0.1])
        return rows
"""


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(textwrap.dedent(VICTIM))
    return f"py:{file}:scores"


@pytest.fixture(autouse=True)
def without_torch(monkeypatch):
    """Other tests may have loaded it here, and workers would then take their time to do so too."""
    for module in (processes, on_ray):
        monkeypatch.setattr(module, "WorkerSettings", partial(WorkerSettings, torch=False))


@pytest.fixture
def hanging_clock(tmp_path, monkeypatch):
    """A clock that jumps far ahead whenever the victim begins to hang, and else goes as usual."""
    monkeypatch.setattr(scheduler, "clock", lambda: time.monotonic() + 10_000 * len(list(tmp_path.glob("hangs_*"))))


def attacked(victim, solvers=("greedy", "random"), **more):
    settings = {"candidates": FINDER, "words": 1, "chunk": 8, **more}
    return compare(victim, (TEXTS, LABELS), solvers, **settings)


def as_job(victim):
    return job_for(victim, (TEXTS, LABELS), ["greedy", "random"], words=1, candidates=FINDER, chunk=8)


def at_work(folder, least=1):
    """Wait until workers other than this process are asking the victim; their process numbers."""
    for _ in range(600):
        found = {int(path.name.rpartition("_")[2]) for path in folder.glob("at_work_*")} - {os.getpid()}
        if len(found) >= least:
            return sorted(found)
        time.sleep(0.05)
    raise AssertionError("no worker came")


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    # A node that went away is noticed in a second instead of half a minute.
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 300, "health_check_failure_threshold": 3}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "include_dashboard": False,
            "object_store_memory": 100_000_000,
            "_system_config": soon,
        },
    )
    yield made
    made.shutdown()


@pytest.fixture
def second(cluster):
    """The second node, which a test may take away."""
    node = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    cluster.wait_for_nodes()
    yield node
    if node in cluster.list_all_nodes():
        cluster.remove_node(node)
