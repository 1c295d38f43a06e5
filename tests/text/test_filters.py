"""What each filter refuses, and that each can be switched off."""

import pytest

from discotext.text.candidates import Candidates, make_candidates
from discotext.text.filters import (
    STANDARD_FILTERS,
    Antonyms,
    Article,
    Filter,
    Names,
    Numbers,
    PartOfSpeech,
    Phrase,
    Similarity,
    StopWords,
    UnknownToVictim,
    make_filters,
)
from discotext.text.sources import SynonymList
from discotext.text.words import WordContext, split


def in_context(text: str, word: str, tag: str) -> WordContext:
    cut = split(text)
    number = cut.words.index(word)
    return WordContext(cut, tuple(tag if i == number else "XX" for i in range(len(cut))), number)


@pytest.mark.parametrize(
    ("one", "where", "candidate", "refused"),
    [
        (StopWords(), in_context("the film", "the", "DT"), "this", True),
        (StopWords(), in_context("the film", "film", "NN"), "it", True),
        (StopWords(), in_context("the film", "film", "NN"), "movie", False),
        (Numbers(), in_context("10 films", "10", "CD"), "20", True),
        (Numbers(), in_context("two films", "two", "CD"), "couple", True),
        (Numbers(), in_context("a dozen films", "films", "NNS"), "movies", False),
        (Names(), in_context("I saw Paris", "Paris", "NNP"), "London", True),
        (Names(), in_context("the NASA probe", "NASA", "NN"), "agency", True),
        (Names(), in_context("THE GOOD FILM", "GOOD", "JJ"), "nice", False),
        (Names(), in_context("on Monday", "Monday", "NN"), "tuesday", True),
        (Names(), in_context("an iPhone", "iPhone", "NN"), "phone", True),
        (PartOfSpeech(), in_context("a can", "can", "NN"), "tin", False),
        (PartOfSpeech(), in_context("a can", "can", "NN"), "quickly", True),
        (PartOfSpeech(), in_context("of course", "of", "IN"), "from", True),
        (Antonyms(), in_context("a good film", "good", "JJ"), "bad", True),
        (Antonyms(), in_context("it increased", "increased", "VBD"), "decreased", True),
        (Antonyms(), in_context("I am happy", "happy", "JJ"), "unhappy", True),
        (Antonyms(), in_context("a useful tool", "useful", "JJ"), "useless", True),
        (Antonyms(), in_context("it is not so", "not", "RB"), "no", True),
        (Antonyms(), in_context("I am happy", "happy", "JJ"), "glad", False),
        (Similarity(0.6), in_context("a film", "film", "NN"), "movie", False),
        (Similarity(0.6), in_context("a film", "film", "NN"), "economy", True),
        (Similarity(0.6), in_context("a film", "film", "NN"), "qwxz", True),
        (UnknownToVictim({"movie"}), in_context("a film", "film", "NN"), "movie", False),
        (UnknownToVictim({"movie"}), in_context("a film", "film", "NN"), "flick", True),
        (Article(), in_context("a good film", "good", "JJ"), "excellent", True),
        (Article(), in_context("an awful film", "awful", "JJ"), "atrocious", False),
        (Article(), in_context("an hour", "hour", "NN"), "house", True),
        (Article(), in_context("A. Good film", "Good", "JJ"), "excellent", False),
        (Article(), in_context("good film", "good", "JJ"), "excellent", False),
        (Phrase(), in_context("the prime minister", "prime", "JJ"), "choice", True),
        (Phrase(), in_context("the prime minister", "minister", "NN"), "curate", True),
        (Phrase(), in_context("it turned out well", "turned", "VBD"), "rotated", True),
        (Phrase(), in_context("the prime. Minister", "Minister", "NN"), "curate", False),
        (Phrase(), in_context("the good minister", "minister", "NN"), "curate", False),
    ],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "word", None) or str(value),
)
def test_what_a_filter_refuses(one, where, candidate, refused):
    assert (one.keeps(where) or one.refuses(where, candidate)) is refused


def test_each_filter_can_be_switched_off_and_is_named_where_it_refuses():
    text = "An awful film about 10 NASA engineers"
    everything = Candidates(filters=(), scorer=None)(text)
    for name in STANDARD_FILTERS:
        only = Candidates(filters=make_filters([name]), scorer=None)(text)
        assert {refusal for one in only for _, refusal in one.refused} <= {name, "limit"}
        without = make_candidates(without=[name])
        assert name not in without.settings["filters"]
    assert sum(len(one.candidates) for one in everything) > sum(len(one.candidates) for one in Candidates()(text))


class Short(Filter):
    """Refuses everything for words of one letter, and long candidates for others."""

    name = "short"

    def __init__(self, most):
        self.most = most

    def keeps(self, context):
        return len(context.word) == 1

    def refuses(self, context, candidate):
        assert not self.keeps(context), "asked although the word is kept"
        return len(candidate) > self.most

    def settings(self):
        return {"most": self.most}


def test_a_custom_filter_declares_what_it_does():
    finder = Candidates(SynonymList({"a": ["b"], "good": ["fine", "excellent"]}), (Short(4),))
    one, other = finder("a good")
    assert (one.candidates, one.refused) == ((), (("b", "short"),))
    assert (other.candidates, other.refused) == (("fine",), (("excellent", "short"),))
    assert finder.settings["filters"] == {"short": {"most": 4}}
