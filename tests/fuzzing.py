"""The law of the command line, and odd values to try it on.

Whatever a user gives, a command ends with status 0, 1 or 2, without a traceback; where it is not 0, standard error says
why in one line, and in the words of this program and not of Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from discotext.cli import cli

# How Python and the operating system speak to programmers.
RAW = re.compile(
    r"\[Errno|object (is not|has no|cannot)|unsupported operand|not supported between|invalid literal|codec can't|"
    r"unhashable|positional argument|index out of range|PosixPath|<class|<function|has no attribute|could not convert|"
    r"NoneType|embedded null|expected str|values to unpack|'NaN'"
)
LONGEST = 1_000  # characters of a sentence

NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "3", "1e999", "1e-400", "0.2", ".2", "2", "9" * 30, "9" * 5000]
NUMBERS += ["0x10", "٣", "½", "-0", "1/0"]
NAMES = ["", " ", "-", "--", "a\x00b", "ü", "😀", "\ud800", "a" * 300, "a" * 5000, "../..", "/", "/proc/x/y", "~"]
NAMES += ["/dev/null", "None", "[]", "{}", "%s", "a\nb", "\u202e", "\x1b[31m", "[/]", ":", "py:", "sklearn:", "http://"]
NAMES += ["https://[", "http://a:b@c", "file://x", "PY:x:y", "x.csv", "*", "$HOME"]


def run(*arguments: str | Path, given: bytes = b"") -> Result:
    """A command in this process."""
    return CliRunner().invoke(cli, [str(one) for one in arguments], input=given)


def ends_well(done: Result, arguments: Sequence[Any] = ()) -> None:
    """Fail if a command broke the law."""
    about = f"{[str(one)[:80] for one in arguments]}\n{done.stderr[-2000:]}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise AssertionError(about) from done.exception
    assert done.exit_code in (0, 1, 2, 4), about  # 4: less than --fail-under asks for
    assert "Traceback" not in done.stderr, about
    if done.exit_code == 2:
        assert "Error: " in done.stderr, about
    # `check` says on standard output that a victim is not fit, and ends with 1, too.
    elif done.exit_code in (1, 4) and "not fit" not in done.stdout and '"fit": false' not in done.stdout:
        said = [line for line in done.stderr.splitlines() if line.startswith("discotext: ")]
        assert said, about
        last = done.stderr.splitlines()[-1]
        assert last == said[-1], about
        assert len("discotext: 1 word") < len(last) < LONGEST, about
        assert not RAW.search(last), about
