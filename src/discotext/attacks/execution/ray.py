"""Workers as Ray actors, on this machine or on a cluster.

Ray places them, starts them, and says when one is gone; the scheduler decides what happens then, as with any other
workers. The job goes once to every machine, through Ray's object store; each actor loads the victim once; texts come
with their task. Records are written by the driver alone, so that nothing is written twice.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from discotext.attacks.execution.processes import check_settings
from discotext.attacks.execution.scheduler import Answer, Crew, Lost, Ready
from discotext.attacks.execution.worker import Worker, WorkerSettings, make_portable
from discotext.attacks.job import Job
from discotext.attacks.schedule import Notify, Question, Task, ignore
from discotext.support import threads
from discotext.support.extras import require
from discotext.support.plain_text import describe_os_error
from discotext.version import __version__

LOCAL = "local"
PATIENCE = 3.0  # seconds
ADDRESS = re.compile(r"(?:ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/]+):(?P<port>[0-9]{1,5})/?")
HINT = (
    f"{LOCAL} starts Ray on this machine, and a cluster listens on 6379 to its own machines and on 10001 (as "
    "ray://HOST:10001) to others"
)


@dataclass(frozen=True)
class RayExecutor:
    """Workers on Ray, started on this machine or in an existing cluster; the records are the same.

    A worker's framework uses as many threads as OMP_NUM_THREADS says or, if that is not set, one; Ray reserves as many
    CPUs for it.

    address: "local" starts Ray on this machine; of a cluster: "auto", "HOST:6379" on one of its machines, or
        "ray://HOST:10001" from elsewhere. If this process is connected to Ray already, that connection is used.
    workers: how many; the default is as many as the cluster has room for. Set it for a cluster that scales itself.
    gpus: GPUs that Ray reserves for each worker; several may share one (0.5), and with 0 it sees none. The default is
        one if the cluster has any and the victim uses it.
    time_limit: as for `Processes`.
    """

    address: str = LOCAL
    workers: int | None = None
    gpus: float | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        check_settings(self.workers, self.time_limit)
        if self.gpus is not None and not (0 <= self.gpus <= 1 or (self.gpus > 1 and self.gpus % 1 == 0)):
            raise ValueError(f"gpus is {self.gpus}; choose a whole number, or a share of one below 1")

    def preflight(self) -> Any:
        """The module `ray`; raises if it is not installed, or if nothing answers at the address."""
        ray = require("ray", extra="ray", reason="running on Ray")
        if self.address != LOCAL and not ray.is_initialized():
            check_address(self.address)
        return ray

    @contextmanager
    def open(self, job: Job, notify: Notify = ignore) -> Iterator[Crew]:
        notify("starting Ray" if self.address == LOCAL else f"connecting to {self.address}")
        processors = threads.chosen or 1
        with self._connect(processors) as ray, suppress_worker_logs(ray):
            gpus = self.gpus
            if gpus is None:
                gpus = 1 if job.victim.capabilities.uses_gpu and ray.cluster_resources().get("GPU") else 0
            fit, reason = count_places(ray, processors, gpus)
            if not fit and (self.workers is None or self.address == LOCAL):
                raise ValueError(f"{reason}; ask for less or, if machines are still to come, set the number of workers")
            if not fit:
                warnings.warn(f"{reason}; waiting for one", stacklevel=2)
            pool = RayPool(ray, WorkerSettings(processors), gpus)
            with closing(Crew(pool, self.workers or fit, job, self.time_limit, notify)) as crew:
                yield crew

    @contextmanager
    def _connect(self, processors: int) -> Iterator[Any]:
        """Connect to Ray; a connection that was made here is closed again."""
        ray = self.preflight()
        if ray.is_initialized():
            yield ray
            return
        options: dict[str, Any] = {"address": self.address, "log_to_driver": False, "logging_level": logging.ERROR}
        if self.address == LOCAL:
            # Nobody has asked for usage statistics to be sent anywhere.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            options |= {"num_cpus": self.workers and self.workers * processors, "include_dashboard": False}
        try:
            ray.init(**options)
        except Exception as error:
            ray.shutdown()  # it may be half connected, and would refuse the next attempt
            reason = " ".join(str(error).split())
            raise ConnectionError(f"Ray ({self.address}) cannot be used: {reason}; {HINT}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def check_address(address: str) -> None:
    """Raise if nothing that could be Ray answers within seconds.

    Ray itself waits two minutes for an answer, and ends the process if there is none.
    """
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "auto")  # which may be left over from a cluster that has gone
        if address in ("auto", LOCAL):
            return  # there is none, or Ray will find it
    found = ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise ValueError(
            f"the address of Ray is {address!r}; expected '{LOCAL}', 'auto', 'HOST:6379' or 'ray://HOST:10001'"
        )
    try:
        socket.create_connection((found["host"].strip("[]"), int(found["port"])), PATIENCE).close()
    except OSError as error:
        reason = describe_os_error(error)
        raise ConnectionError(f"no Ray cluster answers at {address} ({reason}); is it running? {HINT}") from None


@contextmanager
def suppress_worker_logs(ray: Any) -> Iterator[None]:
    """Keep Ray's page-long reports about lost machines off standard output."""
    state, switch = vars(ray._private.worker), "_worker_logs_enabled"  # as Ray's own debugger does it
    before = state.get(switch, True)
    state[switch] = False
    try:
        yield
    finally:
        state[switch] = before


def count_places(ray: Any, processors: int, gpus: float) -> tuple[int, str]:
    """How many workers the machines of the cluster have room for, and a sentence for when there is none."""
    found, seen = 0, []
    for node in ray.nodes():
        if node["Alive"]:
            there, cards = (node["Resources"].get(kind, 0) for kind in ("CPU", "GPU"))
            seen.append(f"{there:g} processors and {cards:g} GPUs")
            # A tenth of a card, ten times, is a little more than one.
            found += int(min(there // processors, cards / gpus + 1e-9 if gpus else there))
    wanted = f"a worker with {processors} processors and {gpus:g} GPUs"
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
        except errors.RayError as error:
            if isinstance(error, errors.RayActorError) and error.actor_init_failed:
                return RuntimeError(
                    f"a worker cannot be started: {summarise_error(error)}; install the same packages on all machines"
                )
            self.stop()
            # Where a machine has gone, its actors are unavailable, or their answers lost, before Ray is sure of it.
            gone = isinstance(error, errors.ActorUnavailableError | errors.ObjectLostError)
            gone = gone or "node has died" in str(error)
            gone = gone or any(node["NodeID"] == self.node and not node["Alive"] for node in self.ray.nodes())
            return Lost(summarise_error(error), blameless=gone)
        if isinstance(answer, Ready):
            self.node = answer.machine
        return answer

    def stop(self) -> None:
        with suppress(Exception):  # it may be gone already
            self.ray.kill(self.actor)


def summarise_error(error: Exception) -> str:
    """The most useful sentence of Ray's report.

    >>> summarise_error(RuntimeError("It died. Worker exit detail: It was killed by 9. There are …"))
    'It was killed by 9'
    """
    answer = " ".join(str(error).split())
    _, mark, exit_detail = answer.partition("Worker exit detail: ")
    if mark:
        return exit_detail.partition(". ")[0].rstrip(".")
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
            answer = self.worker.load(ray.get(job[0]), ray.get_runtime_context().get_node_id())
        except Exception as error:
            answer = make_portable(error)
        if isinstance(answer, Exception):
            return RuntimeError(f"a worker on {here} cannot load the victim: {answer}")
        return answer

    def update(self, findings: Mapping[str, Any]) -> None:
        self.worker.update(findings)

    def do(self, work: Task | Question) -> Answer:
        return self.worker.do(work)
