"""The command line as a user meets it."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from discotext import __version__
from discotext.cli import COMMANDS, cli


def discotext(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from discotext.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_version_and_help():
    assert CliRunner().invoke(cli, ["--version"]).output == f"discotext, version {__version__}\n"
    shown = CliRunner().invoke(cli, ["-h"]).output
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_commands_say(name):
    command = cli.get_command(None, name)
    assert (command.help or "").split("\n")[0] == COMMANDS[name]


def test_the_optima_shows_a_proof_and_every_solver():
    done = discotext("optima", "--networks", "4", "--seed", "1")
    assert done.returncode == 0, done.stderr
    target = int(done.stdout.split("add up to ")[1].split("?")[0])
    found = done.stdout.split("Exact found ")[1].split(" = ")[0]
    assert sum(map(int, found.split(" + "))) == target
    assert done.stdout.count("left-to-right") == 2


def test_the_optima_as_json_is_one_object_and_nothing_else():
    done = discotext("optima", "--networks", "3", "--json")
    report = json.loads(done.stdout)
    assert report["networks"]["solvers"]["exact"]["optimal"] == 1.0
    assert sum(report["subset_sum"]["solvers"]["exact"]["subset"]) == report["subset_sum"]["target"]


@pytest.mark.parametrize(
    "arguments",
    [["dmeo"], ["optima", "--networks", "0"], ["optima", "--seed", "-1"], ["demo", "--nonsense"], ["optima", "extra"]],
)
def test_a_wrong_command_line_ends_in_2_without_a_traceback(arguments):
    done = discotext(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Error: " in done.stderr


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "discotext", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == f"discotext, version {__version__}\n"


def test_the_optima_fits_a_narrow_terminal():
    done = discotext("optima", "--networks", "2")
    assert (
        max(len(line.rstrip()) for line in done.stdout.splitlines() if not line.startswith(("Which of", "Exact found")))
        <= 80
    )
    assert "…" not in done.stdout


def test_commands_complete_with_tab():
    done = subprocess.run(
        [sys.executable, "-c", "from discotext.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        env={"_DISCOTEXT_COMPLETE": "bash_complete", "COMP_WORDS": "discotext de", "COMP_CWORD": "1"},
    )
    assert "demo" in done.stdout
