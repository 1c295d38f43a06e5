"""The command line as a user meets it."""

import re
import shlex
import subprocess
import sys
from typing import get_args

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from discotext import __version__
from discotext.cli import COMMANDS, SECTIONS, cli, names
from discotext.cli.help import REMOVED, GroupedOption
from discotext.cli.output import write_json
from discotext.data.registry import DATASETS
from discotext.decoding.decode import PATH_SOLVERS
from discotext.solvers import SOLVERS
from discotext.text.candidates import SOURCES, SWITCHES

PAGES = ["", *COMMANDS]  # the help pages: that of the group, and one for each command


def page(name: str, columns: int = 100) -> str:
    """The help page of a command, or of the group."""
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, [*([name] if name else []), "--help"])
    assert done.exit_code == 0, done.output
    return done.output


def options(name: str) -> list[click.Option]:
    command = cli.get_command(None, name)
    return [one for one in command.params if isinstance(one, click.Option)]


def test_version_and_help():
    line = [sys.executable, "-m", "discotext", "--version"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.stdout == f"discotext, version {__version__}\n"
    shown = CliRunner().invoke(cli, ["-h"]).output
    assert all(name in shown for name in COMMANDS)
    assert all(f"{section}:" in shown for section in SECTIONS)


# --- help


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_commands_say(name):
    command = cli.get_command(None, name)
    assert (command.help or "").split("\n")[0] == COMMANDS[name]


def examples(name: str) -> list[str]:
    """The commands in the examples of a help page."""
    block = page(name, columns=200).split("Examples:\n")[1].split("\n\n")[0]
    return [line.strip() for line in block.replace("\\\n", " ").splitlines()]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_examples_that_can_be_parsed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = examples(name)
    assert any(f"discotext {name}" in line for line in found)
    for line in found:
        # What comes before a pipe, and where output goes, is the shell's.
        program, command, *arguments = shlex.split(re.split(r" [<>] ", line.split(" | ")[-1])[0])
        assert program == "discotext"
        for argument in arguments:
            if re.fullmatch(r"[\w-]+\.(txt|tsv|json)", argument):
                (tmp_path / argument).touch()
        parsed = cli.get_command(None, command)
        with parsed.make_context(command, list(arguments), parent=click.Context(cli)):
            pass


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits(name):
    for columns in (80, 160):
        assert max(map(len, page(name, columns).splitlines())) <= min(columns, 100)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained_in_a_section_and_shows_its_default(name):
    context = click.Context(cli.get_command(None, name), info_name=name)
    for one in options(name):
        assert isinstance(one, GroupedOption), one.name
        assert re.match(r"[A-Z].*\.$", one.help or ""), (one.name, one.help)
        _, text = one.get_help_record(context)
        default = one.get_default(context)
        if default not in (None, (), False) and not one.required and "UNSET" not in repr(default):
            assert "[default: " in text, one.name
        if isinstance(one.type, click.Choice):
            shown = page(name)
            assert all(choice in shown for choice in one.type.choices)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_is_described(name):
    arguments = [one for one in cli.get_command(None, name).params if isinstance(one, click.Argument)]
    assert all(one.description.endswith(".") for one in arguments)
    assert bool(arguments) == ("Arguments:" in page(name))


@pytest.mark.parametrize("name", ["attack", "compare"])
def test_the_most_used_options_come_first_and_solvers_are_named(name):
    shown = page(name)
    assert all(re.search(rf"[ ,]{solver}[,. ]", shown) for solver in SOLVERS)
    assert re.findall(r"^(\w+):$", shown, re.MULTILINE) == [
        "Arguments", "Attack", "Data", "Output", "Candidates", "Queries", "Service", "Workers", "Other"
    ]  # fmt: skip
    assert re.findall(r"^  (--[\w-]+)", shown, re.MULTILINE)[:3] == ["--solver", "--budget", "--words"]


def test_names_are_those_that_are_accepted():
    assert tuple(SOLVERS) == names.SOLVERS
    assert tuple(PATH_SOLVERS) == names.SEQUENCE_SOLVERS
    assert tuple(SOURCES) == names.SOURCES
    assert tuple(SWITCHES) == names.FILTERS
    assert tuple(DATASETS) == names.DATASETS
    pytest.importorskip("torch")
    from discotext.attacks.paper import BUDGETS
    from discotext.victims.neural.networks import Kind, Pool

    assert tuple(BUDGETS) == names.PAPER_DATASETS
    assert set(names.MODELS) == set(get_args(Kind))
    assert set(names.POOLS) == set(get_args(Pool))


def test_help_loads_nothing_heavy():
    code = "import sys\nfrom click.testing import CliRunner\nfrom discotext.cli import COMMANDS, cli\n"
    code += "for name in COMMANDS:\n    assert CliRunner().invoke(cli, [name, '--help']).exit_code == 0\n"
    code += "print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"torch", "numpy", "rich", "transformers", "sklearn", "ray", "safetensors"}


# --- completion


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["dem"], ["plain,demo"]),
        (["attack", "v", "d", "--solver", "left_"], ["plain,left_to_right"]),
        (["compare", "v", "d", "--solver", "au"], ["plain,auto"]),
        (["data", "ag-"], ["plain,ag-news"]),
        (["attack", "sk"], ["plain,sklearn:", "dir,sk"]),
        (["attack", "v", "tr"], ["plain,trec", "file,tr"]),
        (["candidates", "w", "--source", "m"], ["plain,masked-lm"]),
    ],
)
def test_names_complete_with_tab(words, offered):
    *before, last = words
    found = BashComplete(cli, {}, "discotext", "_DISCOTEXT_COMPLETE").get_completions(before, last)
    assert [f"{one.type},{one.value}" for one in found] == offered


# --- running


@pytest.mark.parametrize("arguments", [["dmeo"], ["data", "--nonsense"], ["data", "trec", "extra"]])
def test_a_wrong_command_line_ends_in_2(arguments):
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert "Error: " in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_silently_takes_the_last_of_two_values(name):
    given = ("first", "second")
    for one in options(name):
        if one.is_flag or one.multiple:
            continue
        done = CliRunner().invoke(cli, [name, *(part for value in given for part in (one.opts[0], value))])
        assert done.exit_code == 2, one.opts
        assert all(part in done.stderr for part in (f"{one.opts[0]} is given 2 times", *map(repr, given)))


def test_json_is_written_in_full_or_where_that_is_impossible_with_escapes(capsys):
    write_json({"text": "ä", "n": 1})
    write_json(["\udcff"])
    assert capsys.readouterr().out == '{"text": "ä", "n": 1}\n["\\udcff"]\n'


def test_a_removed_option_is_answered_with_the_way_now():
    for removed, way in REMOVED.items():
        command, _, name = removed.rpartition(" ")
        found = CliRunner().invoke(cli, [command or "attack", "victim", "movie_reviews", name, "1"])
        assert found.exit_code == 2
        assert f"{name} is gone: {way}" in " ".join(found.output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["py:m.py:scores", "reviws.csv"], "there is no file reviws.csv; did you mean reviews.csv?"),
        (["reviews.csv", "model.skops"], "model.skops is a model, but DATA is expected there; give VICTIM first"),
    ],
)
def test_near_names_and_exchanged_arguments_are_pointed_out(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("def scores(texts):\n    return [[0.0, 1.0] for _ in texts]\n")
    (tmp_path / "reviews.csv").write_text("text,label\ngood,1\n")
    (tmp_path / "model.skops").write_bytes(b"")
    done = CliRunner().invoke(cli, ["attack", *arguments])
    assert done.exit_code == 1
    assert said in done.stderr
