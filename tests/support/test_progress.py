"""Progress bars: seen in a terminal and a notebook, and nowhere else."""

import io
import sys
import time
import types

import pytest
from rich.console import Console

import discotext
from discotext.attacks.progress import AttackProgress
from discotext.decoding import Network
from discotext.support import progress as bars
from discotext.support.progress import Progress

TEXTS = ["We purchased it", "They purchased a house", "bad"] * 4
DATA = (TEXTS, [0, 0, 1] * 4)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def scores(texts):
    return [[float(text.count("purchased")), 0.5] for text in texts]


@pytest.fixture
def open_terminal(monkeypatch):
    """A function that makes standard error a terminal; pytest would put its own in place before the test."""

    def open_terminal() -> Terminal:
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return open_terminal


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(bars, "DELAY", 0.0)


@pytest.fixture
def notebook(monkeypatch):
    """The kernel of a notebook, as far as a library sees it; returns what is displayed, state after state."""
    drawn: list[list[str]] = []

    def display(view, display_id):
        assert display_id is True
        cell = [view._repr_html_()]
        drawn.append(cell)
        return types.SimpleNamespace(update=lambda view: cell.append(view._repr_html_()))

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    return drawn


def attack(**options):
    return discotext.attack(scores, DATA, "greedy", words=1, chunk=3, **options)


NETWORK = Network.of("1", [[("I", 0.0)], [("sea", -0.2), ("see", -1.8)]])
CALLS = {
    "attacks succeeded": attack,
    "attacks succeeded ": lambda **options: discotext.certify(scores, DATA, words=1, **options),
    "networks decoded": lambda **options: discotext.decode([NETWORK], **options),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_terminal_sees_a_bar_that_is_gone_afterwards(name, open_terminal, at_once):
    terminal = open_terminal()
    CALLS[name]()
    seen = terminal.getvalue()
    assert name.strip() in seen
    # The last line was deleted, and the cursor is back.
    assert seen.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))
    assert "\x1b[?25h" in seen


@pytest.mark.parametrize("where", ["switched off", "a log", "a dumb terminal", "no standard error"])
def test_nothing_is_written_where_nobody_would_see_a_bar(where, open_terminal, at_once, monkeypatch):
    terminal = open_terminal()
    if where == "a log":
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        monkeypatch.setenv("FORCE_COLOR", "1")  # as CI does; it makes colours, not a terminal
    elif where == "a dumb terminal":
        monkeypatch.setenv("TERM", "dumb")
    elif where == "no standard error":
        monkeypatch.setattr(sys, "stderr", None)
    for call in CALLS.values():
        call(progress=where != "switched off")
    assert terminal.getvalue() == ""
    assert sys.stderr is None or sys.stderr.getvalue() == ""


def test_a_bar_appears_by_itself_and_does_not_come_back(open_terminal, monkeypatch):
    terminal = open_terminal()
    monkeypatch.setattr(bars, "DELAY", 0.01)
    with Progress() as progress:
        progress.update("attacking", 0, 4)
        while not progress._bar.live.is_started:  # no update comes
            time.sleep(0.005)
    assert "attacking" in terminal.getvalue()
    seen = terminal.getvalue()
    progress._show()  # as the timer would, had it just gone off
    assert not progress._bar.live.is_started
    assert terminal.getvalue() == seen


def test_the_watch_function_is_called_beside_the_bar_which_goes_when_an_error_comes(open_terminal, at_once):
    terminal = open_terminal()
    calls = []
    attack(watch=lambda done, units, records: calls.append((done, units, len(records))))
    assert calls == [(1, 4, 3), (2, 4, 3), (3, 4, 3), (4, 4, 3)]

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CALLS["networks decoded"](watch=stop)
    assert terminal.getvalue().endswith(("\x1b[?25h\r\x1b[1A\x1b[2K", "\x1b[2K"))
    assert sys.stderr is terminal  # rich had put something in its place


def test_a_notebook_gets_one_bar_that_is_gone_afterwards(notebook, at_once, monkeypatch):
    monkeypatch.setattr(bars, "INTERVAL", 0.0)
    attack()
    (cell,) = notebook
    assert cell[0].startswith("<div><progress value=")
    assert any("8 of 12" in state for state in cell)
    assert cell[-1] == "<div></div>"
    notebook.clear()
    attack(progress=False)
    assert notebook == []


def test_a_notebook_bar_waits_and_does_not_flood(notebook, monkeypatch):
    with Progress() as waiting:
        waiting.update("working", 1, 2)
    assert notebook == []
    monkeypatch.setattr(bars, "DELAY", 0.0)
    with Progress() as bar:
        for done in range(1000):
            bar.update("working", done, 1000)
    assert len(notebook) == 1
    assert len(notebook[0]) < 900  # one in a fifth of a second, not each


@pytest.fixture
def log(monkeypatch):
    """A console whose output is kept, where a line may be written at any time."""
    monkeypatch.setattr(bars, "LOG_INTERVAL", 0.0)
    return Console(file=io.StringIO(), width=80)


def test_without_a_terminal_a_command_writes_a_line_now_and_then(log):
    with AttackProgress(log, 4) as progress:
        progress.update_inside(1, 2)
        progress.update_inside(1, 4)  # never back
        progress.update_inside(2, 2)  # the unit is done only when its records are
        progress.update(1, 4, [])
        progress.update_inside(0, 0)
        progress.update_inside(1, 4)
    shares = [line.partition(" %: ")[0] for line in log.file.getvalue().splitlines()]
    assert shares == ["0", "12", "12", "25", "25", "25", "31"]


def test_each_stage_is_a_line_in_a_log(log, monkeypatch):
    monkeypatch.setattr(bars, "LOG_INTERVAL", 60.0)
    with Progress(log) as progress:
        for activity in ("1/2 plain: fitting", "1/2 plain: attacking", "testing"):
            progress.update_stage(activity, 0.5)
    assert log.file.getvalue() == "1/2 plain\ntesting\n"
