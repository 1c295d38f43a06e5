"""Workers that are actors of Ray, on this machine or on as many as a cluster has.

Ray finds places for them, starts them, and says when one is gone; what is done then is for `crew` to say, as with any
other workers. The job goes once to every machine, through Ray's object store; each actor loads the victim once; texts
come with their task. Records are written by the driver alone, so that nothing is written twice.
"""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from discotext.experiment.crew import Answer, Arrived, Lost, Tell, drive, silent
from discotext.experiment.hand import Hand, Share, portable
from discotext.experiment.job import Job, Task, Unit
from discotext.experiment.processes import check_limit
from discotext.experiment.ray_address import check_address, why_not_connected
from discotext.experiment.work import Record
from discotext.extras import need
from discotext.version import __version__


@dataclass(frozen=True)
class RayExecutor:
    """Workers on Ray: one of its own on this machine, or an existing cluster; the records are the same.

    address: of a cluster, as 'auto', 'HOST:6379' on one of its machines, or 'ray://HOST:10001' from elsewhere.
        If this process is connected to Ray already, that is used.
    workers: how many; as many as the cluster has room for, unless told. Where it grows by itself, say how many.
    threads: of the victim's framework in each worker, and processors that Ray keeps for it.
    gpus: that Ray keeps for each worker; several may share one (0.5), and with 0 it sees none. Unless told, one if the
        cluster has any and the victim is a network that comes with gradients.
    time_limit: seconds for the texts of a unit, as for `Processes`.
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
            raise ValueError(f"gpus is {self.gpus}; choose a whole number, or a share of one below 1")
        check_limit(self.time_limit)

    def look_first(self) -> Any:
        """Ray itself, or a sentence that it is not installed or that nobody answers at the address."""
        ray = need("ray", extra="ray", reason="work on Ray")
        if self.address is not None and not ray.is_initialized():
            check_address(self.address)
        return ray

    def run(self, job: Job, units: Sequence[Unit], tell: Tell = silent) -> Iterator[list[Record]]:
        if not units:
            return
        tell("starting Ray" if self.address is None else f"connecting to {self.address}")
        with connected(self) as ray, quiet(ray):
            gpus = self.gpus
            if gpus is None:
                gpus = 1 if job.victim.uses_gpu and ray.cluster_resources().get("GPU") else 0
            fit, said = room(ray, self.threads, gpus)
            if not fit and (self.workers is None or self.address is None):
                raise ValueError(f"{said}; ask for less, or, if machines are still to come, say for how many workers")
            if not fit:
                warnings.warn(f"{said}; waiting for one to come", stacklevel=2)
            crew = RayCrew(ray, job, Share(self.threads), gpus)
            yield from drive(crew, self.workers or fit, job, units, self.time_limit, tell)


@contextmanager
def connected(settings: RayExecutor) -> Iterator[Any]:
    """Ray, connected; what was not connected before is closed again."""
    ray = settings.look_first()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if settings.address is None:
        # Nobody has asked for figures on its use to be sent anywhere.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        processors = settings.workers and settings.workers * settings.threads
        options |= {"address": "local", "num_cpus": processors, "include_dashboard": False}
    else:
        options |= {"address": settings.address}
    try:
        ray.init(**options)
    except Exception as error:
        ray.shutdown()  # it may be half connected, and would refuse the next try
        raise ConnectionError(why_not_connected(settings.address, error)) from None
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def quiet(ray: Any) -> Iterator[None]:
    """Keep Ray's reports on machines that went away, each a page long, from standard output."""
    state, switch = ray._private.worker, "_worker_logs_enabled"  # as Ray's own debugger does it
    before = getattr(state, switch, True)
    setattr(state, switch, False)
    try:
        yield
    finally:
        setattr(state, switch, before)


def room(ray: Any, threads: int, gpus: float) -> tuple[int, str]:
    """For how many workers there is room on the machines of the cluster, and what is said if there is none."""
    found, seen = 0, []
    for node in ray.nodes():
        if node["Alive"]:
            processors, cards = (node["Resources"].get(kind, 0) for kind in ("CPU", "GPU"))
            seen.append(f"{processors:g} processors and {cards:g} GPUs")
            # A tenth of a card, ten times, is a little more than one.
            found += int(min(processors // threads, cards / gpus + 1e-9 if gpus else processors))
    wanted = f"a worker with {threads} processors and {gpus:g} GPUs"
    return found, f"no machine of the cluster has room for {wanted} ({'; '.join(seen[:4])})"


class RayCrew:
    """Has actors started, and listens to them."""

    def __init__(self, ray: Any, job: Job, share: Share, gpus: float) -> None:
        self.ray, self.share = ray, share
        self.actor = ray.remote(num_cpus=share.threads, num_gpus=gpus, max_restarts=0, max_task_retries=0)(Actor)
        self.variables = {name: value for name, value in os.environ.items() if name.startswith("DISCOTEXT_")}
        if not gpus:
            self.variables["CUDA_VISIBLE_DEVICES"] = ""  # else all workers of a machine would be on its first
        try:
            self.job = ray.put(job)
        except Exception as error:
            why = error.__cause__ or error  # Ray puts a page around it
            raise ValueError(
                f"the victim {job.victim.name} cannot be sent to workers ({why}); name it, for instance as "
                "'py:module:function', so that each can load it, or do without workers"
            ) from None

    def hire(self, place: int) -> RayWorker:
        return RayWorker(self.ray, self.actor.remote(self.share, os.getcwd(), self.variables), self.job)

    def wait(self, workers: Sequence[RayWorker], seconds: float) -> list[RayWorker]:
        by_ref = {worker.ref: worker for worker in workers}
        refs = list(by_ref)
        ready, _ = self.ray.wait(refs, timeout=seconds)
        if ready:
            # Whatever else is there by now: asking once for each would be slow with many workers.
            ready, _ = self.ray.wait(refs, num_returns=len(refs), timeout=0)
        return [by_ref[ref] for ref in ready]


class RayWorker:
    """An actor, and what it is expected to answer."""

    def __init__(self, ray: Any, actor: Any, job: Any) -> None:
        self.ray, self.actor = ray, actor
        self.node: str | None = None
        # In a list, so that what goes wrong as the job is unpacked is for the actor to tell.
        self.ref = actor.load.remote([job], __version__)

    def give(self, task: Task) -> None:
        self.ref = self.actor.do.remote(task)

    def answer(self) -> Answer:
        errors = self.ray.exceptions
        try:
            said: Answer = self.ray.get(self.ref)
        except errors.ActorUnavailableError as error:
            # The line to it is cut: so it is with a machine that has gone, before Ray is sure of it.
            self.stop()
            return Lost(brief(error), blameless=True)
        except errors.RayActorError as error:
            if getattr(error, "actor_init_failed", False):
                return RuntimeError(f"a worker cannot be started: {brief(error)}; install the same on all machines")
            return Lost(brief(error), blameless="node has died" in str(error) or self._node_gone())
        except errors.ObjectLostError as error:
            self.stop()
            return Lost(brief(error), blameless=True)  # its machine went with the answer
        except errors.RayError as error:
            self.stop()
            return Lost(brief(error))
        if isinstance(said, Arrived):
            self.node = said.node
            return replace(said, where=self._name(said))
        return said

    def stop(self) -> None:
        with suppress(Exception):  # there may be nobody left to be stopped
            self.ray.kill(self.actor)

    def _node_gone(self) -> bool:
        return any(node["NodeID"] == self.node and not node["Alive"] for node in self.ray.nodes())

    def _name(self, said: Arrived) -> str:
        """Its machine's name, with as much of the node's number as tells machines of one name apart."""
        same = [node for node in self.ray.nodes() if node["Alive"] and node["NodeManagerHostname"] == said.where]
        return said.where if len(same) < 2 else f"{said.where}-{said.node[:4]}"


def brief(error: Exception) -> str:
    """The sentence of Ray's report that says most.

    >>> brief(RuntimeError("It died. Worker exit type: SYSTEM. Worker exit detail: It was killed by 9. There are …"))
    'It was killed by 9'
    """
    said = " ".join(str(error).split())
    for mark in ("Worker exit detail: ", "died because "):
        if mark in said:
            return said.partition(mark)[2].partition(". ")[0].rstrip(".")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error: " in line), lines[0] if lines else type(error).__name__)


class Actor:
    """What runs on Ray: a hand that knows where it is."""

    def __init__(self, share: Share, folder: str, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        with suppress(OSError):  # paths may be relative; where the folder is not shared, Ray has made one
            os.chdir(folder)
        self.hand = Hand(share)

    def load(self, job: Sequence[Any], version: str) -> Answer:
        ray, here = need("ray", extra="ray", reason="work on Ray"), socket.gethostname()
        if version != __version__:
            return RuntimeError(f"discotext is {__version__} on {here} and {version} here; install the same on both")
        try:
            said = self.hand.load(ray.get(job[0]), here)
        except Exception as error:
            said = portable(error)
        if isinstance(said, Exception):
            return RuntimeError(f"a worker on {here} cannot load the victim: {said}")
        return Arrived(here, ray.get_runtime_context().get_node_id())

    def do(self, task: Task) -> Answer:
        return self.hand.do(task)
