"""What is particular to Ray: machines that come and go, addresses, and drivers that are killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

ray = pytest.importorskip("ray")

from discotext.attacks.execution.ray import RayExecutor  # noqa: E402
from discotext.attacks.run import perform  # noqa: E402
from discotext.cli import cli  # noqa: E402
from discotext.runs.folder import read_lines  # noqa: E402
from tests.attacks.execution.conftest import LABELS, TEXTS, WORDS, as_job, at_work, attacked  # noqa: E402
from tests.attacks.execution.test_executors import meanwhile  # noqa: E402
from tests.conftest import untimed  # noqa: E402

pytestmark = pytest.mark.xdist_group("ray")


def test_a_model_of_a_notebook_goes_to_the_workers_as_it_is_and_may_write_into_its_arrays(cluster):
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


def test_a_node_that_is_taken_away_at_work_costs_nothing_but_time(cluster, second, victim, tmp_path):
    whole = attacked(victim)

    def take_away():
        at_work(tmp_path, least=2)
        cluster.remove_node(second, allow_graceful=False)
        return True

    with meanwhile(take_away):
        again = attacked(victim, out=tmp_path / "run", executor=RayExecutor(cluster.address))
    assert untimed(again.records) == untimed(whole.records)
    assert not ray.is_initialized()


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
    assert [line for line in said if "worker" in line][-2:] == ["1 of 2 workers", "2 workers on 2 machines"], said


def run_command(*arguments):
    """What a command prints as JSON, run in this process."""
    done = CliRunner().invoke(cli, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_driver_killed_and_started_again_ends_with_the_same_records(cluster, second, victim, tmp_path):
    rows = "\n".join(f"{text}{more},{label}" for more in range(5) for text, label in zip(TEXTS, LABELS, strict=True))
    (tmp_path / "data.csv").write_text(f"text,label\n{rows}\n")
    (tmp_path / "lists.json").write_text(json.dumps(WORDS))
    arguments = ["compare", victim, tmp_path / "data.csv", "--solver", "greedy", "--solver", "left-to-right"]
    arguments += ["--words", "1", "--synonyms", tmp_path / "lists.json", "--without", "all", "--json"]
    ray = ["--ray", cluster.address, "--out", tmp_path / "run"]
    with subprocess.Popen([sys.executable, "-m", "discotext", *arguments, *ray], stderr=subprocess.DEVNULL) as process:
        records = tmp_path / "run" / "records.jsonl"
        while process.poll() is None and not (records.exists() and records.stat().st_size):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = records.read_bytes()
    assert 0 < before.count(b"\n") < 2 * 5 * len(TEXTS)
    assert run_command(*arguments, *ray)["solvers"]["greedy"]["attacked"] == 5 * len(TEXTS)
    run_command(*arguments, "--out", tmp_path / "alone")
    assert records.read_bytes().startswith(before)
    assert untimed(read_lines(tmp_path / "run")) == untimed(read_lines(tmp_path / "alone"))


@pytest.mark.parametrize(
    ("address", "error", "named"),
    [
        ("127.0.0.1:1", ConnectionError, r"127\.0\.0\.1:1"),
        ("ray://nowhere.invalid:10001", ConnectionError, r"ray://nowhere\.invalid:10001"),
        ("auto", ConnectionError, r"127\.0\.0\.1:2"),
        ("over there", ValueError, "'over there'"),
    ],
)
def test_an_address_where_nobody_answers_is_told(address, error, named, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:2")
    with pytest.raises(error, match=named):
        RayExecutor(address).preflight()


def test_a_cluster_with_another_ray_is_told(victim, cluster, monkeypatch):
    monkeypatch.setattr(ray, "__version__", "2.9.3")
    with pytest.raises(ConnectionError, match=r"2\.9\.3"):
        attacked(victim, executor=RayExecutor(cluster.address))


def test_more_than_any_machine_has_is_told(cluster, victim):
    with pytest.raises(ValueError, match=r"1 GPUs .*0 GPUs"):
        attacked(victim, executor=RayExecutor(cluster.address, gpus=1))
    with pytest.raises(ValueError, match="1 GPUs"):
        attacked(victim, executor=RayExecutor(workers=1, gpus=1))  # on a new Ray nobody is still to come
