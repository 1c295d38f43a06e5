"""The same job on a real Ray cluster of two nodes, and everything that goes wrong on clusters."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from discotext import Candidates  # noqa: E402
from discotext.experiment.attack import compare, perform, run  # noqa: E402
from discotext.experiment.execution import ray as on_ray  # noqa: E402
from discotext.experiment.execution import scheduler  # noqa: E402
from discotext.experiment.execution.processes import Processes  # noqa: E402
from discotext.experiment.execution.ray import RayExecutor  # noqa: E402
from discotext.experiment.execution.worker import WorkerSettings  # noqa: E402
from discotext.experiment.run_folder import read_lines  # noqa: E402
from discotext.text.sources import SynonymList  # noqa: E402
from tests.conftest import job_for, untimed  # noqa: E402

# One cluster is enough for two cores.
pytestmark = pytest.mark.xdist_group("ray")

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
        if len(texts) not in (1, 2, 16):  # a task, and none of the first looks at it
            (HERE / f"at_work_{os.getpid()}").touch()
            while (HERE / "lonely").exists() and len(list(HERE.glob("at_work_*"))) < 2:
                time.sleep(0.05)
        rows = []
        for text in texts:
            if text.endswith("no. 21") and (HERE / "hanging").exists():
                (HERE / f"hangs_{time.time_ns()}").touch()
                time.sleep(600)
            if text.endswith("no. 33") and (HERE / "deadly").exists():
                os._exit(3)
            if text.endswith("no. 12") and (HERE / "broken").exists():
                raise ValueError("this text is too much")
            time.sleep(0.002)
            z = sum({"good": 2.0, "fine": 0.3, "bad": -2.0, "poor": -0.2}.get(word, 0.0) for word in text.split())
            rows.append([-z, z + 0.1])
        return rows
"""


def hanging_clock(folder):
    """A clock that jumps far ahead whenever the victim begins to hang, and else goes as usual."""
    return lambda: time.monotonic() + 10_000 * len(list(folder.glob("hangs_*")))


@pytest.fixture(scope="module")
def cluster():
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


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(textwrap.dedent(VICTIM))
    return f"py:{file}:scores"


@pytest.fixture(autouse=True)
def without_torch(monkeypatch):
    """Other tests may have loaded it here, and workers would then take their time to do so too."""
    monkeypatch.setattr(on_ray, "WorkerSettings", partial(WorkerSettings, torch=False))


def attacked(victim, solvers=("greedy", "random"), **more):
    settings = {"candidates": FINDER, "words": 1, "chunk": 8, **more}
    return compare(victim, (TEXTS, LABELS), solvers, **settings)


def as_job(victim):
    return job_for(
        victim, (TEXTS, LABELS), ["greedy", "random"], words=1, candidates=FINDER, chunk=8,
    )  # fmt: skip


@contextmanager
def meanwhile(do):
    """Do something in a thread while the block runs, and see that it was done."""
    done = []
    thread = threading.Thread(target=lambda: done.append(do()))
    thread.start()
    yield
    thread.join()
    assert done


def at_work(folder, least=1):
    """Wait until workers other than this process are asking the victim; their process numbers."""
    for _ in range(600):
        found = {int(path.name.rpartition("_")[2]) for path in folder.glob("at_work_*")} - {os.getpid()}
        if len(found) >= least:
            return sorted(found)
        time.sleep(0.05)
    raise AssertionError("no worker came")


def command(*given):
    return [sys.executable, "-m", "discotext", *map(str, given)]


@pytest.fixture
def attack_command(victim, tmp_path):
    """What a user types for the same job."""
    rows = "\n".join(f"{text}{more},{label}" for more in range(5) for text, label in zip(TEXTS, LABELS, strict=True))
    (tmp_path / "data.csv").write_text(f"text,label\n{rows}\n")
    (tmp_path / "lists.json").write_text(json.dumps(WORDS))
    return command(
        "compare", victim, tmp_path / "data.csv", "--solver", "greedy", "--solver", "left-to-right", "--words", 1,
        "--synonyms", tmp_path / "lists.json", "--without", "all",
    )  # fmt: skip


# What must be the same


def test_ray_writes_the_records_of_one_process_in_the_same_order(cluster, second, victim, tmp_path):
    alone = attacked(victim, out=tmp_path / "alone")
    said = []
    perform(as_job(victim), tmp_path / "ray", None, RayExecutor(cluster.address), said.append)
    assert untimed(read_lines(tmp_path / "ray")) == untimed(read_lines(tmp_path / "alone"))
    assert len(alone.records) == 2 * len(TEXTS)
    assert not ray.is_initialized()
    # Both nodes were at work, and each has its rate in the line.
    assert any(line.startswith("2 workers; ") and line.count("-") == 2 and "texts/s" in line for line in said)


def test_a_function_of_a_notebook_goes_to_the_workers_as_it_is(cluster):
    weights = {"good": 2.0, "fine": 0.3, "bad": -2.0, "poor": -0.2}

    def scores(texts):
        sums = [sum(weights.get(word, 0.0) for word in text.split()) for text in texts]
        return [[-z, z + 0.1] for z in sums]

    found = attacked(scores, executor=RayExecutor(cluster.address))
    assert untimed(found.records) == untimed(attacked(scores).records)


def test_a_model_that_writes_into_its_own_arrays_may_do_so(cluster):
    """What comes through Ray's object store may not be written to; a victim's copy may."""

    class Model:
        def __init__(self):
            self.seen = np.zeros(200_000)

        def __call__(self, texts):
            self.seen[0] += 1
            return [[len(text) % 3, 1.0] for text in texts]

    found = attacked(Model(), ["greedy"], executor=RayExecutor(cluster.address))
    assert not any(record.error for record in found.records)
    assert untimed(found.records) == untimed(attacked(Model(), ["greedy"]).records)


@pytest.mark.slow  # Ray starts a server for each client, which now and then does not come up in its own time limit
def test_the_driver_may_be_elsewhere(cluster, victim):
    port = 23_000 + os.getpid() % 10_000
    server = [sys.executable, "-m", "ray.util.client.server", "--address", cluster.address, "--port", str(port)]
    with subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            listening = False
            while process.poll() is None and not listening:
                time.sleep(0.1)
                with socket.socket() as line:
                    listening = line.connect_ex(("127.0.0.1", port)) == 0
            found = attacked(victim, executor=RayExecutor(f"ray://127.0.0.1:{port}"))
        finally:
            process.kill()
    assert untimed(found.records) == untimed(attacked(victim).records)


# Faults


def test_a_worker_that_is_killed_costs_nothing_but_time(cluster, second, victim, tmp_path):
    whole = attacked(victim)
    with meanwhile(lambda: os.kill(at_work(tmp_path)[0], signal.SIGKILL) or True):
        again = attacked(victim, executor=RayExecutor(cluster.address))
    assert untimed(again.records) == untimed(whole.records)


def test_a_node_that_is_taken_away_at_work_costs_nothing_but_time(cluster, second, victim, tmp_path):
    whole = attacked(victim)

    def take_away():
        at_work(tmp_path, least=2)
        cluster.remove_node(second, allow_graceful=False)
        return True

    with meanwhile(take_away):
        again = attacked(victim, out=tmp_path / "run", executor=RayExecutor(cluster.address))
    assert untimed(again.records) == untimed(whole.records)


def test_a_node_that_comes_later_joins_in(cluster, victim, tmp_path):
    job, said = as_job(victim), []
    (tmp_path / "lonely").touch()
    executor = RayExecutor(cluster.address, workers=2)
    with meanwhile(lambda: perform(job, tmp_path / "run", None, executor, said.append)):
        at_work(tmp_path)
        node = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    cluster.remove_node(node)
    (tmp_path / "lonely").unlink()
    perform(job, tmp_path / "alone")
    assert untimed(read_lines(tmp_path / "run")) == untimed(read_lines(tmp_path / "alone"))
    assert any(line.startswith("1 of 2 workers") for line in said), said
    assert any(line.startswith("2 workers; ") for line in said)


def test_a_driver_killed_and_started_again_ends_with_the_same_records(
    cluster, second, victim, tmp_path, attack_command
):
    done = subprocess.run([*attack_command, "--out", tmp_path / "alone"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for marker in tmp_path.glob("at_work_*"):
        marker.unlink()
    more = ["--ray-address", cluster.address, "--out", str(tmp_path / "run")]
    with subprocess.Popen([*attack_command, *more], stderr=subprocess.DEVNULL) as process:
        records = tmp_path / "run" / "records.jsonl"
        while process.poll() is None and not (records.exists() and records.stat().st_size):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = records.read_bytes()
    assert 0 < before.count(b"\n") < 2 * 5 * len(TEXTS)
    done = subprocess.run([*attack_command, *more, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["solvers"]["greedy"]["attacked"] == 5 * len(TEXTS)
    assert records.read_bytes().startswith(before)
    assert untimed(read_lines(tmp_path / "run")) == untimed(read_lines(tmp_path / "alone"))


def test_texts_on_which_the_victim_fails_hangs_or_kills_cost_those_texts_alone(cluster, victim, tmp_path, monkeypatch):
    whole = attacked(victim, ["greedy"]).records
    for what in ("broken", "hanging", "deadly"):
        (tmp_path / what).touch()
    monkeypatch.setattr(scheduler, "clock", hanging_clock(tmp_path))
    found = attacked(victim, ["greedy"], executor=RayExecutor(cluster.address, workers=1, time_limit=5000.0)).records
    errors = {record.id: record.error for record in found if record.status == "failed"}
    assert set(errors) == {12, 21, 33}
    assert "this text is too much" in errors[12]
    assert "not finished within the time limit of 5000 seconds" in errors[21]
    assert "the worker died" in errors[33]
    # Those that were in one call with a text that fails are asked once more, and the tolerance is measured without it.
    known = {"forwards": 0, "flipped_after": None, "tolerance": 0.0}
    mine, others = ([replace(r, **known) for r in part if r.id not in errors] for part in (found, whole))
    assert untimed(mine) == untimed(others)


def test_a_full_disk_ends_in_a_sentence_and_with_room_the_run_goes_on(tmp_path, attack_command, cluster):
    disk = tmp_path / "disk"
    disk.mkdir()
    lines = " ".join(f"'{part}'" for part in [*attack_command, "--ray-address", cluster.address, "--out", disk / "run"])
    script = f"""
        mount -t tmpfs -o size=240k none {disk} || exit 77
        {lines} 2> {tmp_path}/said; echo $?
        wc -l < {disk}/run/records.jsonl
        tail -c 1 {disk}/run/records.jsonl | od -An -tx1 | tr -d " "
        mount -o remount,size=9m {disk}
        {lines} --json 2> /dev/null; echo $?
        cp -r {disk}/run {tmp_path}/kept
    """
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a small disk cannot be made here: mounting is not allowed")
    status, written, last, _summary, again = done.stdout.split("\n")[:5]
    assert (status, last, again) == ("1", "0a", "0"), done.stdout + done.stderr
    assert 0 < int(written) < 2 * 5 * len(TEXTS)
    said = (tmp_path / "said").read_text()
    assert "no space left on device; earlier records are kept" in said
    assert "Traceback" not in said
    alone = subprocess.run([*attack_command, "--out", tmp_path / "alone"], capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    assert untimed(read_lines(tmp_path / "kept")) == untimed(read_lines(tmp_path / "alone"))


# What a user may get wrong: one sentence each


def test_an_address_where_nobody_answers_is_told(victim, monkeypatch):
    with pytest.raises(ConnectionError, match=r"no Ray cluster answers at 127\.0\.0\.1:1 \(connection refused\)"):
        attacked(victim, executor=RayExecutor("127.0.0.1:1"))
    with pytest.raises(ConnectionError, match=r"no Ray cluster answers at ray://nowhere\.invalid:10001"):
        attacked(victim, executor=RayExecutor("ray://nowhere.invalid:10001"))
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:2")
    with pytest.raises(ConnectionError, match=r"no Ray cluster answers at 127\.0\.0\.1:2"):
        attacked(victim, executor=RayExecutor("auto"))
    with pytest.raises(ValueError, match="'over there'; expected 'auto', 'HOST:6379' or 'ray://HOST:10001'"):
        attacked(victim, executor=RayExecutor("over there"))


def test_an_address_where_something_else_answers_is_told(victim):
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(ConnectionError, match="is not Ray; a cluster listens on 6379"):
            attacked(victim, executor=RayExecutor(f"127.0.0.1:{server.server_port}"))
        server.shutdown()


def test_a_cluster_with_another_ray_is_told(victim, cluster, monkeypatch):
    monkeypatch.setattr(ray, "__version__", "2.9.3")
    with pytest.raises(
        ConnectionError, match=r"has Ray \S+ and Python \S+, and this machine has Ray 2\.9\.3 and Python"
    ):
        attacked(victim, executor=RayExecutor(cluster.address))


def test_a_victim_that_cannot_be_sent_is_told(cluster):
    lock = threading.Lock()

    def scores(texts):
        with lock:
            return [[0.0, 1.0]] * len(texts)

    with pytest.raises(ValueError, match=r"the victim function cannot be sent to workers \(.*lock.*give it by name"):
        attacked(scores, executor=RayExecutor(cluster.address))


def test_a_victim_that_is_not_where_the_workers_are_is_told(cluster, victim, tmp_path):
    job = as_job(victim)
    (tmp_path / "mine.py").unlink()
    with pytest.raises(RuntimeError, match=r"a worker on \S+ cannot load the victim: .*mine\.py"):
        run(job, executor=RayExecutor(cluster.address))


def test_more_than_any_machine_has_is_told(cluster, victim):
    with pytest.raises(ValueError, match=r"room for a worker with 1 processors and 1 GPUs \(1 processors and 0 GPUs"):
        attacked(victim, executor=RayExecutor(cluster.address, gpus=1))
    with pytest.raises(ValueError, match="room for a worker with 1 processors and 1 GPUs"):
        attacked(victim, executor=RayExecutor(workers=1, gpus=1))  # on a Ray of its own nobody is still to come
    with pytest.raises(ValueError, match=r"gpus is 1\.5; choose a whole number"):
        RayExecutor(gpus=1.5)
    with pytest.raises(ValueError, match="workers is 0"):
        RayExecutor(workers=0)


def test_two_runs_in_one_folder_are_refused(victim, tmp_path):
    """Else both would write the same records, one after the other."""
    said = []

    def watch(done, units, records):
        if not said:
            with pytest.raises(ValueError, match="another run is using") as error:
                attacked(victim, out=tmp_path / "run")
            said.append(error)

    attacked(victim, out=tmp_path / "run", watch=watch, executor=Processes(1))
    assert said
