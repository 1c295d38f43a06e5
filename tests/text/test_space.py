"""A space is a batch of problems, restores its texts, and is told from others by its hash."""

import json

import numpy as np
import pytest

from discotext.text.candidates import Candidates, make_candidates
from discotext.text.space import Space
from discotext.text.words import split


@pytest.fixture(scope="module")
def finder():
    return Candidates()


def test_settings_and_hash_distinguish_spaces(finder):
    texts = ["A truly awful film."]
    one, other = (Space.of(texts, some) for some in (finder, make_candidates(per_word=1)))
    assert one.hash == Space.of(texts, Candidates()).hash != other.hash
    assert one.hash != Space.of(texts, finder, share=1).hash
    assert json.loads(json.dumps(finder.settings)) == finder.settings
    assert one.hash != Space.of(texts, make_candidates(accept=0.3)).hash


def test_a_space_restricted_to_a_level_is_the_space_of_that_level():
    texts = ["The movie was good, and the actors were great.", "It is a bad idea to buy such a big house.", ""]
    wide, strict = (Space.of(texts, make_candidates(accept=level)) for level in (0.2, 0.5))
    assert wide.restrict(0.5).options == strict.options
    assert wide.restrict(0.5).hash == strict.hash != wide.hash


def test_a_space_is_a_batch_of_problems_and_restores_texts(finder):
    texts = ["A truly awful film, so GOOD <br /> for mice.", "", "10"]
    space = Space.of(texts, finder, share=0.25)
    problems = [space.batch[i] for i in range(len(space))]
    assert [problem.budget for problem in problems] == [2, 0, 1] == list(space.budgets)
    assert [problem.counts for problem in problems][1:] == [(), (1,)]
    assert [space.text(i, space.batch.originals()[i]) for i in range(3)] == texts
    for position, options in enumerate(space.options[0]):
        start, end = space.texts[0].spans()[position]
        for candidate, word in enumerate(options):
            choice = np.zeros(len(space.options[0]), dtype=int)
            choice[position] = candidate
            assert split(space.text(0, choice)).words[position] == word
            change = {"position": position, "start": start, "end": end, "old": options[0], "new": word}
            change["accept"] = space.accept[0][position][candidate]
            assert space.changes(0, choice) == ([change] if candidate else [])


def test_a_space_is_built_from_split_texts_without_splitting_them_again(finder, monkeypatch):
    texts = ["A truly awful film, so GOOD <br /> for mice.", "", "10"]
    expected = Space.of(texts, finder, share=0.25)
    already = [split(text) for text in texts]
    counted = []
    monkeypatch.setattr("discotext.text.words.split", lambda text: counted.append(text) or split(text))
    found = Space.of([already[0], texts[1], already[2]], finder, share=0.25)
    assert (found.hash, found.refused, found.texts) == (expected.hash, expected.refused, expected.texts)
    assert counted == [""]
    assert Space.of(texts, finder, share=0.25).hash == expected.hash
    assert counted == ["", *texts]
    assert finder.find(already) == finder.find(texts)


@pytest.mark.parametrize("budget", [{}, {"share": 0.5}, {"share": "0.3"}, {"words": 2}, {"words": 0}], ids=str)
def test_a_space_with_other_budgets_equals_a_new_one(finder, budget):
    texts = ["A truly awful film, so GOOD for mice.", "", "one two", "10"]
    first = Space.of(texts, finder, words=1)
    assert first.hash  # cached, and not to be carried over
    assert first.batch is not None
    found, expected = first.with_budgets(**budget), Space.of(texts, finder, **budget)
    assert found.hash == expected.hash
    assert found.budgets == expected.budgets
    assert found.refused == expected.refused
    assert [found.batch[i] for i in range(len(texts))] == [expected.batch[i] for i in range(len(texts))]
    assert (found.texts, found.options) == (first.texts, first.options)
    assert Space.of(["one two", "a b c d e"], finder, words=3).budgets == (2, 3)  # no more than the text has


BAD_BUDGETS = [{"share": 0.2, "words": 3}, {"share": 0}, {"share": 1.1}, {"share": float("nan")}, {"words": -1}]


@pytest.mark.parametrize("budget", BAD_BUDGETS)
def test_a_wrong_budget_is_refused(finder, budget):
    with pytest.raises(ValueError, match=r"share|words"):
        Space.of(["some text"], finder, **budget)
    with pytest.raises(ValueError, match=r"share|words"):
        Space.of(["some text"], finder).with_budgets(**budget)


@pytest.mark.parametrize("text", [("A good", "film"), None, b"A good film", 3])
def test_what_is_not_a_text_is_refused_by_its_type(text):
    with pytest.raises(TypeError, match=type(text).__name__):
        Candidates()(text)
    with pytest.raises(TypeError, match="A good film"):
        Space.of("A good film", Candidates())
