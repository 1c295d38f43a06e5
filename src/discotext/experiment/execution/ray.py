"""Workers as Ray actors, on this machine or on a cluster.

Ray places them, starts them, and says when one is gone; the scheduler decides what happens then, as with any other
workers. The job goes once to every machine, through Ray's object store; each actor loads the victim once; texts come
with their task. Records are written by the driver alone, so that nothing is written twice.
"""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from discotext.experiment.execution.processes import check_limit
from discotext.experiment.execution.ray_address import check_address, explain_refusal
from discotext.experiment.execution.scheduler import Answer, Crew, Notify, Ready, ignore
from discotext.experiment.execution.work_queue import Lost
from discotext.experiment.execution.worker import Worker, WorkerSettings, make_portable
from discotext.experiment.job import Job, Question, Task
from discotext.support.extras import require
from discotext.version import __version__


@dataclass(frozen=True)
class RayExecutor:
    """Workers on Ray, started on this machine or in an existing cluster; the records are the same.

    address: of a cluster: 'auto', 'HOST:6379' on one of its machines, or 'ray://HOST:10001' from elsewhere.
        If this process is connected to Ray already, that connection is used. The default starts Ray on this machine.
    workers: how many; the default is as many as the cluster has room for. Set it for a cluster that scales itself.
    threads: threads of the victim's framework in each worker, and CPUs that Ray reserves for it.
    gpus: GPUs that Ray reserves for each worker; several may share one (0.5), and with 0 it sees none. The default is
        one if the cluster has any and the victim uses it.
    time_limit: as for `Processes`.
    """

    address: str | None = None
    workers: int | None = None
    threads: int = 1
    gpus: float | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("workers", self.workers, 1), ("threads", self.threads, 1), ("gpus", self.gpus, 0)):
            if value is not None and not value >= least:
                raise ValueError(f"{name} is {value}; choose {least} or more")
        if self.gpus is not None and self.gpus > 1 and self.gpus % 1:
            raise ValueError(f"gpus is {self.gpus}; choose a whole number, or a settings of one below 1")
        check_limit(self.time_limit)

    def preflight(self) -> Any:
        """The module `ray`; raises if it is not installed, or if nothing answers at the address."""
        ray = require("ray", extra="ray", reason="running on Ray")
        if self.address is not None and not ray.is_initialized():
            check_address(self.address)
        return ray

    @contextmanager
    def open(self, job: Job, notify: Notify = ignore) -> Iterator[Crew]:
        notify("starting Ray" if self.address is None else f"connecting to {self.address}")
        with connect(self) as ray, suppress_worker_logs(ray):
            gpus = self.gpus
            if gpus is None:
                gpus = 1 if job.victim.capabilities.uses_gpu and ray.cluster_resources().get("GPU") else 0
            fit, reason = count_places(ray, self.threads, gpus)
            if not fit and (self.workers is None or self.address is None):
                raise ValueError(f"{reason}; ask for less or, if machines are still to come, set the number of workers")
            if not fit:
                warnings.warn(f"{reason}; waiting for one", stacklevel=2)
            pool = RayPool(ray, WorkerSettings(self.threads), gpus)
            with closing(Crew(pool, self.workers or fit, job, self.time_limit, notify)) as crew:
                yield crew


@contextmanager
def connect(settings: RayExecutor) -> Iterator[Any]:
    """Connect to Ray; a connection that was made here is closed again."""
    ray = settings.preflight()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if settings.address is None:
        # Nobody has asked for usage statistics to be sent anywhere.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        processors = settings.workers and settings.workers * settings.threads
        options |= {"address": "local", "num_cpus": processors, "include_dashboard": False}
    else:
        options |= {"address": settings.address}
    try:
        ray.init(**options)
    except Exception as error:
        ray.shutdown()  # it may be half connected, and would refuse the next attempt
        raise ConnectionError(explain_refusal(settings.address, error)) from None
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def suppress_worker_logs(ray: Any) -> Iterator[None]:
    """Keep Ray's page-long reports about lost machines off standard output."""
    state, switch = ray._private.worker, "_worker_logs_enabled"  # as Ray's own debugger does it
    before = getattr(state, switch, True)
    setattr(state, switch, False)
    try:
        yield
    finally:
        setattr(state, switch, before)


def count_places(ray: Any, threads: int, gpus: float) -> tuple[int, str]:
    """How many workers the machines of the cluster have room for, and a sentence for when there is none."""
    found, seen = 0, []
    for node in ray.nodes():
        if node["Alive"]:
            processors, cards = (node["Resources"].get(kind, 0) for kind in ("CPU", "GPU"))
            seen.append(f"{processors:g} processors and {cards:g} GPUs")
            # A tenth of a card, ten times, is a little more than one.
            found += int(min(processors // threads, cards / gpus + 1e-9 if gpus else processors))
    wanted = f"a worker with {threads} processors and {gpus:g} GPUs"
    return found, f"no machine of the cluster has room for {wanted} ({'; '.join(seen[:4])})"


class RayPool:
    """Starts actors, and waits for their answers."""

    def __init__(self, ray: Any, settings: WorkerSettings, gpus: float) -> None:
        self.ray, self.settings, self.job = ray, settings, None
        self.actor = ray.remote(num_cpus=settings.threads, num_gpus=gpus, max_restarts=0, max_task_retries=0)(Actor)
        self.variables = {name: value for name, value in os.environ.items() if name.startswith("DISCOTEXT_")}
        if not gpus:
            self.variables["CUDA_VISIBLE_DEVICES"] = ""  # otherwise all workers of a machine would use its first GPU

    def pack(self, job: Job) -> None:
        try:
            self.job = self.ray.put(job)
        except Exception as error:
            why = error.__cause__ or error  # Ray wraps it in a page of text
            raise ValueError(
                f"the victim {job.victim.name} cannot be sent to workers ({why}); give it by name, for instance "
                "'py:module:function', so that each can load it, or run without workers"
            ) from None

    def start(self, place: int) -> RayWorker:
        return RayWorker(self.ray, self.actor.remote(self.settings, os.getcwd(), self.variables), self.job)

    def wait(self, workers: Sequence[RayWorker], seconds: float) -> list[RayWorker]:
        by_ref = {worker.ref: worker for worker in workers}
        refs = list(by_ref)
        ready, _ = self.ray.wait(refs, timeout=seconds)
        if ready:
            # And all others that are ready by now: one call for each would be slow with many workers.
            ready, _ = self.ray.wait(refs, num_returns=len(refs), timeout=0)
        return [by_ref[ref] for ref in ready]


class RayWorker:
    """An actor, and the reference to its next answer."""

    def __init__(self, ray: Any, actor: Any, job: Any) -> None:
        self.ray, self.actor = ray, actor
        self.node: str | None = None
        # In a list, so that an error in unpacking the job is raised inside the actor.
        self.ref = actor.load.remote([job], __version__)

    def update(self, findings: Mapping[str, Any]) -> None:
        self.actor.update.remote(findings)  # an actor does what it is told in order

    def assign(self, work: Task | Question) -> None:
        self.ref = self.actor.do.remote(work)

    def answer(self) -> Answer:
        errors = self.ray.exceptions
        try:
            answer: Answer = self.ray.get(self.ref)
        except errors.ActorUnavailableError as error:
            # The connection is lost, as happens when a machine has gone, before Ray is sure of it.
            self.stop()
            return Lost(summarise_error(error), blameless=True)
        except errors.RayActorError as error:
            if getattr(error, "actor_init_failed", False):
                return RuntimeError(
                    f"a worker cannot be started: {summarise_error(error)}; install the same packages on all machines"
                )
            return Lost(summarise_error(error), blameless="node has died" in str(error) or self._is_node_gone())
        except errors.ObjectLostError as error:
            self.stop()
            return Lost(summarise_error(error), blameless=True)  # its machine is gone, and the answer with it
        except errors.RayError as error:
            self.stop()
            return Lost(summarise_error(error))
        if isinstance(answer, Ready):
            self.node = answer.node
            return replace(answer, where=self._name(answer))
        return answer

    def stop(self) -> None:
        with suppress(Exception):  # it may be gone already
            self.ray.kill(self.actor)

    def _is_node_gone(self) -> bool:
        return any(node["NodeID"] == self.node and not node["Alive"] for node in self.ray.nodes())

    def _name(self, answer: Ready) -> str:
        """Its machine's name, with part of the node's id where several machines have that name."""
        same = [node for node in self.ray.nodes() if node["Alive"] and node["NodeManagerHostname"] == answer.where]
        return answer.where if len(same) < 2 else f"{answer.where}-{answer.node[:4]}"


def summarise_error(error: Exception) -> str:
    """The most useful sentence of Ray's report.

    >>> summarise_error(RuntimeError("It died. Worker exit detail: It was killed by 9. There are …"))
    'It was killed by 9'
    """
    answer = " ".join(str(error).split())
    for mark in ("Worker exit detail: ", "died because "):
        if mark in answer:
            return answer.partition(mark)[2].partition(". ")[0].rstrip(".")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error: " in line), lines[0] if lines else type(error).__name__)


class Actor:
    """The class that Ray runs: a worker that knows its machine."""

    def __init__(self, settings: WorkerSettings, folder: str, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        with suppress(OSError):  # paths may be relative; where the folder is not shared, Ray has made one
            os.chdir(folder)
        self.worker = Worker(settings)

    def load(self, job: Sequence[Any], version: str) -> Answer:
        ray, here = require("ray", extra="ray", reason="work on Ray"), socket.gethostname()
        if version != __version__:
            return RuntimeError(
                f"discotext is {__version__} on {here} but {version} on the driver; install the same version on both"
            )
        try:
            answer = self.worker.load(ray.get(job[0]), here)
        except Exception as error:
            answer = make_portable(error)
        if isinstance(answer, Exception):
            return RuntimeError(f"a worker on {here} cannot load the victim: {answer}")
        return Ready(here, ray.get_runtime_context().get_node_id())

    def update(self, findings: Mapping[str, Any]) -> None:
        self.worker.update(findings)

    def do(self, work: Task | Question) -> Answer:
        return self.worker.do(work)
