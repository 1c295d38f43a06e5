"""The sections of a page: what to do next, and the swaps that do most damage."""

import shlex

import click
import pytest

from discotext.cli import cli
from discotext.report import make_page
from discotext.report.figures import Strongest
from discotext.report.sections import count_swaps, suggest_next
from discotext.runs.record import Record
from tests.report.helpers import Reader, made, record, run_of


def test_swaps_are_counted_once_a_text():
    found = list(map(Record.from_dict, [record(0), record(8, new="WORDS"), record(8, status="improved")]))
    assert count_swaps(found) == [("fine", "new", 1, 1), ("words", "words", 1, 1)]


def check_command(line):
    """Parse a command line as the program would, without doing it."""
    name, *arguments = shlex.split(line)
    assert name == "discotext"
    command = cli.get_command(click.Context(cli), arguments[0])
    with command.make_context(arguments[0], arguments[1:]):
        pass


NEXT = {
    "unfinished": ([made(0)], {"n": 40}, "resumes"),
    "failed": ([made(0), made(1, "failed")], {}, "discotext check"),
    "guessing": ([made(n, "misclassified") for n in range(30)], {}, "discotext check"),
    "not proved": ([made(0), made(1, "improved")], {}, "discotext certify 'a <victim>' 'texts & more' --budget 0.2"),
    "flipped": ([made(0), made(1, "impossible")], {}, "discotext harden"),
    "hostile": ([made(0), made(1, "improved")], {"victim": "my $(rm) 'model'"}, shlex.quote("my $(rm) 'model'")),
    "unnamed": ([made(0), made(1, "improved")], {"victim": "function", "data": "given"}, "certify VICTIM DATA "),
}


@pytest.mark.parametrize("case", NEXT)
def test_the_next_step_follows_from_the_figures_and_its_command_is_real(case, tmp_path):
    found, more, said = NEXT[case]
    run = run_of(tmp_path / "run", found, **more)
    read = Reader(suggest_next(Strongest.of(run)))
    assert said in read.all("ol")[0][2]
    for _, _, commands in read.all("code"):
        for line in commands.splitlines():
            check_command(line)


def test_a_robust_model_is_told_nothing(tmp_path):
    run = run_of(tmp_path / "run", [made(n, "impossible") for n in range(99)])
    assert suggest_next(Strongest.of(run)) is None
    assert not Reader(make_page(run)).all("section", id="next")
