"""Progress bars of functions called from Python: seen in a terminal and a notebook, and nowhere else."""

import io
import os
import subprocess
import sys
import time
import types

import pytest

import discotext
from discotext.decoding import Network
from discotext.experiment import progress as attack_progress
from discotext.experiment.progress import AttackProgress
from discotext.support import progress as bars
from discotext.support.progress import Bar, NotebookBar, NotebookView, StageProgress, TerminalBar, make_bar

TEXTS = ["We purchased it", "They purchased a house", "bad"] * 4
DATA = (TEXTS, [0, 0, 1] * 4)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Shown(Bar):
    """A bar that notes what it is told."""

    def __init__(self) -> None:
        self.states: list[tuple[str, float, float]] = []
        self.running = False

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def update(self, description: str, done: float, total: float) -> None:
        self.states.append((description, done, total))


def scores(texts):
    return [[float(text.count("purchased")), 0.5] for text in texts]


@pytest.fixture
def open_terminal(monkeypatch):
    """A function that makes standard error a terminal; pytest would put its own in place before the test."""

    def open_terminal() -> Terminal:
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return open_terminal


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(make_bar, "__defaults__", (True, 0.0))


@pytest.fixture
def notebook(monkeypatch):
    """The kernel of a notebook, as far as a library sees it; returns what is displayed, state after state."""
    drawn: list[list[str]] = []

    class Handle:
        def __init__(self, cell):
            self.cell = cell

        def update(self, view):
            self.cell.append(view._repr_html_())

    def display(view, display_id):
        assert display_id is True
        drawn.append([view._repr_html_()])
        return Handle(drawn[-1])

    shell = type("ZMQInteractiveShell", (), {})()
    ipython, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython, ipython.display, module.display = lambda: shell, module, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return drawn


def attack(**options):
    return discotext.attack(scores, DATA, "greedy", words=1, chunk=3, **options)


def decode(**options):
    return discotext.decode([Network.of("1", [[("I", 0.0)], [("sea", -0.2), ("see", -1.8)]])], **options)


CALLS = {
    "attack": attack,
    "compare": lambda **options: discotext.compare(scores, DATA, ["greedy", "exact"], words=1, **options),
    "certify": lambda **options: discotext.certify(scores, DATA, words=1, **options),
    "decode": decode,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_terminal_sees_a_bar_that_is_gone_afterwards(name, open_terminal, at_once):
    terminal = open_terminal()
    CALLS[name]()
    seen = terminal.getvalue()
    assert "networks decoded" in seen if name == "decode" else "attacks succeeded" in seen
    # The last line was deleted, and the cursor is back.
    assert seen.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))
    assert "\x1b[?25h" in seen


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("where", ["switched off", "a log", "a dumb terminal", "no standard error"])
def test_nothing_is_written_where_nobody_would_see_a_bar(name, where, open_terminal, at_once, monkeypatch):
    terminal = open_terminal()
    options = {}
    if where == "switched off":
        options["progress"] = False
    elif where == "a log":
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        monkeypatch.setenv("FORCE_COLOR", "1")  # as CI does; it makes colours, not a terminal
    elif where == "a dumb terminal":
        monkeypatch.setenv("TERM", "dumb")
    else:
        monkeypatch.setattr(sys, "stderr", None)
    CALLS[name](**options)
    assert terminal.getvalue() == ""
    assert sys.stderr is None or sys.stderr.getvalue() == ""


def test_work_of_less_than_a_second_shows_nothing(open_terminal, monkeypatch):
    terminal = open_terminal()
    monkeypatch.setattr(make_bar, "__defaults__", (True, 3600.0))
    assert attack().records
    assert terminal.getvalue() == ""


def test_the_delay_is_a_second():
    assert bars.make_bar.__defaults__ == (True, 1.0)


def test_a_bar_appears_by_itself_while_the_first_unit_is_not_done(open_terminal):
    terminal = open_terminal()
    bar = TerminalBar(delay=0.01)
    with bar:
        bar.update("attacking", 0, 4)
        while not bar.progress.live.is_started:  # no update comes
            time.sleep(0.005)
    assert not bar.progress.live.is_started
    assert "attacking" in terminal.getvalue()


def test_a_bar_that_was_stopped_does_not_come_back(open_terminal):
    terminal = open_terminal()
    bar = TerminalBar(delay=3600.0)
    bar.start()
    bar.stop()
    bar._show()  # as the timer would, had it just gone off
    assert not bar.progress.live.is_started
    assert terminal.getvalue() == ""


def test_the_watch_function_is_called_beside_the_bar(open_terminal, at_once):
    open_terminal()
    calls = []
    attack(watch=lambda done, units, records: calls.append((done, units, len(records))))
    assert calls == [(1, 4, 3), (2, 4, 3), (3, 4, 3), (4, 4, 3)]
    networks = []
    decode(watch=lambda done, total: networks.append((done, total)))
    assert networks == [(1, 1)]


def test_the_bar_goes_when_an_error_comes(open_terminal, at_once):
    terminal = open_terminal()

    def stop(done, units, records):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(watch=stop)
    assert terminal.getvalue().endswith(("\x1b[?25h\r\x1b[1A\x1b[2K", "\x1b[2K"))
    assert sys.stderr is terminal  # rich had put something in its place


def test_hardening_shows_its_stages_unless_told_not_to(open_terminal, at_once):
    terminal = open_terminal()
    pytest.importorskip("sklearn")
    texts = [f"We purchased {word} here" for word in "one two three four five six".split()] * 6
    texts += [f"They sold {word} there" for word in "one two three four five six".split()] * 6
    given = (texts, [0] * 36 + [1] * 36)
    test = (["We purchased seven now", "They sold seven then"], [0, 1])
    told = []
    discotext.harden(given, "tfidf", recipes="plain", test=test, progress=lambda *state: told.append(state))
    assert terminal.getvalue() == ""
    assert ("testing", 0.0) in told
    discotext.harden(given, "tfidf", recipes="plain", test=test, progress=False)
    assert terminal.getvalue() == ""
    discotext.harden(given, "tfidf", recipes="plain", test=test)
    assert "attacking held-out texts" in terminal.getvalue()
    # The attacks inside have no bars of their own.
    assert "attacks succeeded" not in terminal.getvalue()


def test_a_notebook_gets_one_bar_that_is_gone_afterwards(notebook, at_once, monkeypatch):
    monkeypatch.setattr(bars, "INTERVAL", 0.0)
    attack()
    (cell,) = notebook
    assert cell[0].startswith("<div><progress value=")
    assert any("8 of 12 attacks succeeded" in state for state in cell)
    assert cell[-1] == "<div></div>"
    notebook.clear()
    attack(progress=False)
    assert notebook == []


def test_a_notebook_bar_waits_and_does_not_flood(notebook):
    waiting = NotebookBar(delay=3600.0)
    with waiting:
        waiting.update("working", 1, 2)
    assert notebook == []
    with NotebookBar() as bar:
        for done in range(1000):
            bar.update("working", done, 1000)
    assert len(notebook) == 1
    assert len(notebook[0]) < 900  # one in a fifth of a second, not each


def test_what_a_notebook_shows_is_escaped():
    assert "<script>" not in NotebookView("<script>", 1, 2)._repr_html_()
    assert repr(NotebookView("working", 1, 4)) == "25 % working"


def test_problems_inside_a_unit_advance_the_bar_by_a_fraction():
    bar = Shown()
    with AttackProgress(None, 4, bar) as progress:
        assert bar.running
        progress.update_inside(1, 2)
        progress.update_inside(1, 4)  # never back
        progress.update_inside(2, 2)  # the unit is done only when its records are
        progress.update(1, 4, [])
        progress.update_inside(0, 0)
        progress.update_inside(1, 4)
    assert [done for _, done, _ in bar.states] == [0, 0.5, 0.5, 0.99, 1, 1, 1.25]
    assert not bar.running


def test_without_a_terminal_a_command_writes_a_line_now_and_then(monkeypatch):
    from rich.console import Console

    monkeypatch.setattr(attack_progress, "LOG_INTERVAL", 0.0)
    log = io.StringIO()
    with AttackProgress(Console(file=log, width=80), 4) as progress:
        progress.update(1, 4, [])
        progress.update_inside(1, 2)
    lines = log.getvalue().split("\n")
    assert lines[0].startswith("25 %: attacking")
    assert lines[1].startswith("38 %: ")


def test_each_stage_is_a_line_in_a_log():
    from rich.console import Console

    log = io.StringIO()
    with StageProgress(Console(file=log, width=80)) as progress:
        for activity in ("1/2 plain: fitting", "1/2 plain: attacking", "testing"):
            progress.update(activity, 0.5)
    assert log.getvalue().split() == ["1/2", "plain", "testing"]


@pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals")
def test_a_real_terminal_sees_a_bar():
    import pty

    code = (
        "import discotext, time\n"
        "from discotext.support.progress import make_bar\n"
        "make_bar.__defaults__ = (True, 0.01)\n"
        "def scores(texts):\n"
        "    time.sleep(0.1)\n"
        "    return [[float(text.count('purchased')), 0.5] for text in texts]\n"
        "discotext.attack(scores, (['We purchased it', 'bad'], [0, 1]), 'greedy', words=1, surrogate='none')\n"
    )
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE, check=False,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        )  # fmt: skip
        os.close(theirs)
        seen = os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
    assert done.returncode == 0, seen
    assert done.stdout == b""
    assert "attacking" in seen
