"""A source whose candidates the filters refuse: which filters, how many candidates, and the way out are told."""

import warnings

import pytest

import discotext
from discotext.text import make_candidates
from discotext.text.filters import Filter
from discotext.text.sources import SynonymList
from discotext.victims.function import FunctionVictim
from tests.fuzzing import run

DATA = (["The colour of the film was fine.", "We saw it in the old theatre.", "It was a bad film."], [0, 0, 1])
SPELLINGS = SynonymList({"colour": ["color"], "theatre": ["theater"]})


def scores(texts):
    return [[text.count("colour") + text.count("theatre"), 0.5] for text in texts]


class Long(Filter):
    name = "long"

    def refuses(self, context, candidate):
        return len(candidate) > len(context.word)


def attack(candidates, victim=scores):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = discotext.attack(victim, DATA, "greedy", candidates=candidates, words=1)
    return result, [str(one.message) for one in told]


class Reader(discotext.Victim):
    name, labels = "reader", ("0", "1")
    capabilities = discotext.victims.Capabilities(vocabulary="the film was fine".split())

    def scores(self, texts):
        return scores(texts)


MANY = {"colour": ["color"], "theatre": ["theater"], "the": ["a"], "fine": ["finely"], "it": ["that"]}
WIDE = {"film": [f"longer{n:02}x" for n in range(60)] + ["show"], "fine": ["good"], "old": ["new"]}
SWITCHES = ["--without stop-words --without inflection --without part-of-speech"]


@pytest.mark.parametrize(
    ("candidates", "victim", "parts"),
    [
        (discotext.Candidates(SPELLINGS), scores, ["2 of 2 ", "inflection 2 ", "--without inflection"]),
        (discotext.Candidates(SynonymList(MANY)), scores, ["8 of 8", "stop-words 5, inflection 2", *SWITCHES]),
        (discotext.Candidates(SynonymList({"bad": ["abominable"]}), filters=(Long(),)), scores, ["1 of 1", "long 1 "]),
        # Some texts can change, and yet most candidates are refused.
        (discotext.Candidates(SynonymList(WIDE), filters=(Long(),)), scores, ["120 of 124"]),
        (make_candidates(accept=1.0), scores, ["--without accept"]),
        (
            discotext.Candidates(SynonymList({"film": ["flick"]}), filters=()),
            Reader(),
            ["2 of 2", "--without unknown-to-victim"],
        ),
    ],
)
def test_filters_that_leave_little_are_named_with_their_numbers_and_the_way_out(candidates, victim, parts):
    result, (said,) = attack(candidates, victim)
    assert all(part in said for part in parts), said
    assert ("--without" in said) == ("long" not in said)  # a custom filter has no switch on the command line
    if "2 of 2 " in parts:
        assert any("refused 2 of 2" in note for note in result.notes)


def test_notes_name_their_budget():
    result = discotext.attack(scores, DATA, "greedy", words=[1, 2])
    assert {note.split(":")[0] for note in result.notes} == {"budget 1 words", "budget 2 words"}


def test_nothing_is_said_where_enough_is_left():
    _, said = attack(discotext.Candidates())
    assert said == []


def test_the_command_says_so_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(
        "def scores(texts):\n    return [[text.count('colour'), 0.5] for text in texts]\n"
    )
    (tmp_path / "data.csv").write_text("text,label\nThe colour was fine.,0\nThe film was fine.,1\n")
    (tmp_path / "list.json").write_text('{"colour": ["color"]}')
    line = ["attack", "py:model.py:scores", "data.csv", "--synonyms", "list.json", "--words", "1"]
    done = run(*line)
    assert "1 of 1" in done.stderr
    assert "of the words have candidates" in done.stdout
    done = run(*line, "--without", "inflection", "--without", "phrase")
    assert done.exit_code == 0
    assert "refused" not in done.stderr


def test_a_victim_worse_than_guessing_is_told():
    reversed_labels = (DATA[0] * 20, [1 - label for label in DATA[1]] * 20)
    with pytest.warns(UserWarning, match="worse than"):
        discotext.attack(scores, reversed_labels, words=1)


def test_a_text_that_is_not_read_to_its_end_is_told():
    class Short(FunctionVictim):
        def truncates(self, texts):
            return [len(text) > 30 for text in texts]

    with pytest.warns(UserWarning, match="1 of 3 texts"):
        discotext.attack(Short(scores), DATA, "greedy", words=1)
