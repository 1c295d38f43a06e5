"""The number of threads, and how they wait."""

import math
import os
import subprocess
import sys

import pytest

from discotext.support import threads

HERE, TOP = "proc/self/cgroup", "sys/fs/cgroup/"


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, math.inf),
        ({HERE: "0::/\n", TOP + "cpu.max": "max 100000\n"}, math.inf),
        # A group is limited by those above it.
        ({HERE: "0::/pod/task\n", TOP + "pod/cpu.max": "200000 100000", TOP + "pod/task/cpu.max": "max 100000"}, 2.0),
        # The path may be the host's, and the container sees its own limit at the top.
        ({HERE: "0::/docker/1f\n", TOP + "cpu.max": "50000 100000\n"}, 0.5),
    ],
)
def test_the_quota_is_the_least_of_all_groups(files, quota, tmp_path):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert threads.read_quota(tmp_path) == quota


def test_processors_are_those_bound_within_the_quota(monkeypatch):
    monkeypatch.setattr(threads, "count_bound_processors", lambda: 4)
    for quota, number in ((0.2, 1), (1.5, 2), (math.inf, 4)):
        monkeypatch.setattr(threads, "read_quota", lambda quota=quota: quota)
        assert threads.count_processors() == number


COMMAND = """
import os, sys
from discotext.support import threads
threads.count_bound_processors, threads.read_quota = lambda: 4, lambda: 2.0
from discotext.cli import main
try:
    main()
finally:
    shown = os.environ["OMP_WAIT_POLICY"], os.environ["OMP_NUM_THREADS"]
    print(*shown, threads.chosen, "torch" in sys.modules)
"""


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, "passive 2 None False"),
        ({"OMP_NUM_THREADS": "3,1", "OMP_WAIT_POLICY": "active"}, "active 3,1 3 False"),
    ],
)
def test_a_command_sets_what_the_user_has_not_before_pytorch_is_loaded(given, shown):
    kept = {name: value for name, value in os.environ.items() if name not in (threads.NUMBER, *threads.WAITING)}
    line = [sys.executable, "-c", COMMAND, "--version"]
    done = subprocess.run(line, env=kept | given, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == shown


def test_a_small_network_uses_one_thread_or_as_many_as_asked_for_and_gives_the_others_back(monkeypatch):
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        for chosen, used in ((None, 1), (3, 3)):
            monkeypatch.setattr(threads, "chosen", chosen)
            with threads.limit_threads():
                assert torch.get_num_threads() == used
            assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
