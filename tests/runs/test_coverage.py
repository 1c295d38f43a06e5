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


def test_a_source_that_a_filter_empties_says_so():
    result, (said,) = attack(discotext.Candidates(SPELLINGS))
    assert "inflection refused 2 of 2" in said
    assert "--without inflection" in said
    assert any("refused 2 of 2" in note for note in result.notes)


def test_notes_name_their_budget():
    result = discotext.attack(scores, DATA, "greedy", words=[1, 2])
    assert {note.split(":")[0] for note in result.notes} == {"budget 1 words", "budget 2 words"}


def test_several_filters_are_named_with_their_numbers():
    words = SynonymList({"colour": ["color"], "theatre": ["theater"], "the": ["a"], "fine": ["finely"], "it": ["that"]})
    _, (said,) = attack(discotext.Candidates(words))
    assert "8 of 8" in said
    assert "stop-words 5, inflection 2, part-of-speech 1" in said
    assert "--without stop-words --without inflection --without part-of-speech" in said


def test_a_custom_filter_cannot_be_switched_off_on_the_command_line():
    wide = SynonymList({"film": ["moving picture show"], "bad": ["abominable"]})
    _, (said,) = attack(discotext.Candidates(wide, filters=(Long(),)))
    assert "long" in said
    assert "3 of 3" in said
    assert "--without" not in said


def test_most_candidates_refused_is_told_even_if_some_texts_can_change():
    many = SynonymList({"film": [f"longer{n:02}x" for n in range(60)] + ["show"], "fine": ["good"], "old": ["new"]})
    result, (said,) = attack(discotext.Candidates(many, filters=(Long(),)))
    assert "120 of 124" in said
    assert result.summary.changeable_words > 0.1


def test_too_high_a_probability_is_told_with_the_way_out():
    _, (said,) = attack(make_candidates(accept=1.0))
    assert "--without accept" in said


def test_words_that_the_victim_does_not_know_are_told():
    class Reader(discotext.Victim):
        name, labels = "reader", ("0", "1")
        capabilities = discotext.victims.Capabilities(vocabulary="the film was fine".split())

        def scores(self, texts):
            return scores(texts)

    _, (said,) = attack(discotext.Candidates(SynonymList({"film": ["flick"]}), filters=()), Reader())
    assert "2 of 2" in said
    assert "--without unknown-to-victim" in said


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
