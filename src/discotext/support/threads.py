"""How many threads work, and how they wait.

PyTorch's threads meet at a barrier after every operation, and wait there by spinning. Where another process has taken
one's processor, the others spin until it returns: on a busy machine, or in a container with a quota, a network takes
several times as long as with a single thread. The libraries read how to wait when they are loaded, so commands and
workers say it before anything else; a program that has PyTorch loaded already is left as it is. The networks of
`discotext train` are so small that a second thread saves a quarter of the time at best, so they use one anywhere.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NUMBER = "OMP_NUM_THREADS"
# Of any OpenMP, of Intel's and LLVM's, of GNU's, and of NumPy's OpenBLAS, which spins 2 to the power of this.
WAITING = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0", "OPENBLAS_THREAD_TIMEOUT": "4"}


# The number of threads that the user has asked for, if any: read before a command or a worker sets the variable itself.
_asked = os.environ.get(NUMBER, "").partition(",")[0].strip()
chosen: int | None = int(_asked) if _asked.isdecimal() and int(_asked) else None


def make_environment(threads: int | None = None) -> dict[str, str]:
    """Environment variables for threads that wait asleep, unless the user has set others, and for their number."""
    found = {name: os.environ.get(name, value) for name, value in WAITING.items()}
    return found if threads is None else found | {NUMBER: str(threads)}


def prepare_threads() -> None:
    """Set the variables of this process. Must come before PyTorch is loaded."""
    # PyTorch heeds the processors that it is bound to, but no quota.
    limited = count_processors() < count_bound_processors()
    os.environ.update(make_environment(count_processors() if limited and chosen is None else None))


def choose_small(threads: int | None) -> None:
    """Let small networks of this process use so many threads; None for one."""
    global chosen
    chosen = threads


@contextmanager
def limit_threads() -> Iterator[None]:
    """Use one thread for a small network while this lasts, or as many as the user has asked for."""
    torch = importlib.import_module("torch")
    before = torch.get_num_threads()
    if chosen is None and before > 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


def count_processors() -> int:
    """The processors that this process may use: those it is bound to, and no more than its containers allow."""
    return max(1, min(count_bound_processors(), math.ceil(min(read_quota(), 1e6))))


def count_bound_processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def read_quota(root: Path = Path("/")) -> float:
    """The processors' time that Linux grants to the control groups of this process, per time; infinity for no limit.

    root: where the file system begins.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        if line.startswith("0::"):  # version 2 of control groups; what version 1 grants is not read
            # A group is limited by those above it, too, and a container sees itself at the top, though the path may be
            # the host's.
            group = root / "sys/fs/cgroup" / line.removeprefix("0::").lstrip("/")
            limits = [_read(one / "cpu.max").split() for one in (group, *group.parents)]
            return min((int(one[0]) / int(one[1]) for one in limits if one and one[0].isdecimal()), default=math.inf)
    return math.inf


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
