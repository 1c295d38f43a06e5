"""From text to candidates: sources, filters, and what comes out of them."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.text.candidates import Candidates
from discotext.text.configure import candidates_from
from discotext.text.filters import (
    STANDARD,
    Antonyms,
    Article,
    Frequency,
    Names,
    Numbers,
    PartOfSpeech,
    Phrase,
    Sense,
    Similarity,
    StopWords,
    UnknownToVictim,
    filters_named,
)
from discotext.text.inflection import agreeing
from discotext.text.neighbours import Neighbours
from discotext.text.place import Place
from discotext.text.sources import AllOf, AnyOf, Listed, Synonyms, VectorNeighbours, read_synonyms
from discotext.text.space import Space
from discotext.text.tagging import LightTagger
from discotext.text.vectors import WordVectors
from discotext.text.wordnet import wordnet
from discotext.text.words import match_case, split


def place(text: str, word: str, tag: str) -> Place:
    cut = split(text)
    number = cut.words.index(word)
    return Place(cut, tuple(tag if i == number else "XX" for i in range(len(cut))), number)


@pytest.fixture(scope="module")
def finder():
    return Candidates()


class Tagged:
    """A tagger that says the same of every word."""

    name = "fixed"

    def __init__(self, tag):
        self.tag = tag

    def tags(self, texts):
        return [[self.tag] * len(text) for text in texts]


def own(words, tag="NN", **more):
    return Candidates(Listed(words), more.pop("filters", ()), Tagged(tag), **more)


# --- what is promised of every answer


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("The a good film was not TERRIBLE, Paris enjoyed 10 movies <br /> quickly!".split())))
def test_every_answer_is_a_single_word_in_the_casing_of_the_original_and_never_the_original(words):
    text = " ".join(words)
    found = Candidates()(text)
    assert [text[one.start : one.end] for one in found] == [one.word for one in found] == list(split(text).words)
    for one in found:
        assert len(set(one.candidates)) == len(one.candidates) <= 8
        for candidate in one.candidates:
            assert candidate.lower() != one.word.lower()
            assert split(candidate).words == (candidate,)
            assert match_case(one.word, candidate.lower()) == candidate
        assert {name for _, name in one.refused} <= {*STANDARD, "limit"}
        assert not {word for word, _ in one.refused} & {word.lower() for word in one.candidates}


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_has_an_answer_for_each_of_its_words(text):
    assert [one.word for one in Candidates()(text)] == list(split(text).words)


def test_the_answer_does_not_depend_on_the_texts_beside_it(finder):
    texts = ["A truly awful film.", "He can open the can quickly.", "", "WHAT A GREAT MOVIE"]
    together = finder.of_texts(texts)
    assert together == [Candidates()(text) for text in texts]
    assert together == finder.of_texts(texts)  # and what is remembered is what was found


def test_known_words_have_the_candidates_one_would_expect(finder):
    found = {one.word: one.candidates for one in finder("The movies were awful, and we purchased the car quickly.")}
    assert "films" in found["movies"]
    assert "terrible" in found["awful"]
    assert "bought" in found["purchased"]
    assert "automobile" in found["car"]
    assert "rapidly" in found["quickly"]
    assert not found["The"] + found["were"] + found["we"]


def test_never_the_opposite(finder):
    texts = ["It was a good film and I was happy.", "not a single bad word, never cheap, hardly safe"]
    for one in [one for found in finder.of_texts(texts) for one in found]:
        for candidate in one.candidates:
            assert not wordnet().opposed(one.word, candidate)
    good = {word: name for one in finder("good") for word, name in one.refused}
    assert good.get("bad", "antonyms") == "antonyms"
    assert not finder("not")[0].candidates


# --- forms and casing


def test_a_list_of_lemmas_serves_every_form():
    assert own({"enjoy": ["like"]}, "VBD", filters=filters_named(["inflection"]))("enjoyed")[0].candidates == ("liked",)
    assert own({"mouse": ["rodent"]}, "NNS", filters=filters_named(["inflection"]))("Mice")[0].candidates == (
        "Rodents",
    )
    assert own({"good": ["nice"]}, "JJ", filters=filters_named(["inflection"]))("GOOD")[0].candidates == ("NICE",)


def test_without_the_filter_inflection_lists_are_taken_as_they_are():
    assert own({"enjoyed": ["enjoy", "like"]}, "VBD")("enjoyed")[0].candidates == ("enjoy", "like")


def test_another_form_of_the_same_word_is_no_candidate():
    found = own({"runs": ["run", "jogs"]}, "VBZ", filters=filters_named(["inflection"]))("runs")[0]
    assert found.candidates == ("jogs",)


def test_no_more_than_the_limit_and_the_rest_is_told():
    found = own({"a": list("bcdef")}, limit=3)("a")[0]
    assert found.candidates == ("b", "c", "d")
    assert found.refused == (("e", "limit"), ("f", "limit"))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(ValueError, match="choose 1 or more"):
        own({}, limit=limit)


# --- filters, one by one


@pytest.mark.parametrize(
    ("one", "where", "candidate", "refused"),
    [
        (StopWords(), place("the film", "the", "DT"), "this", True),
        (StopWords(), place("the film", "film", "NN"), "it", True),
        (StopWords(), place("the film", "film", "NN"), "movie", False),
        (Numbers(), place("10 films", "10", "CD"), "20", True),
        (Numbers(), place("two films", "two", "CD"), "couple", True),
        (Numbers(), place("a dozen films", "films", "NNS"), "movies", False),
        (Names(), place("I saw Paris", "Paris", "NNP"), "London", True),
        (Names(), place("the NASA probe", "NASA", "NN"), "agency", True),
        (Names(), place("THE GOOD FILM", "GOOD", "JJ"), "nice", False),
        (Names(), place("on Monday", "Monday", "NN"), "tuesday", True),
        (Names(), place("an iPhone", "iPhone", "NN"), "phone", True),
        (PartOfSpeech(), place("a can", "can", "NN"), "tin", False),
        (PartOfSpeech(), place("a can", "can", "NN"), "quickly", True),
        (PartOfSpeech(), place("of course", "of", "IN"), "from", True),
        (Antonyms(), place("a good film", "good", "JJ"), "bad", True),
        (Antonyms(), place("it increased", "increased", "VBD"), "decreased", True),
        (Antonyms(), place("I am happy", "happy", "JJ"), "unhappy", True),
        (Antonyms(), place("a useful tool", "useful", "JJ"), "useless", True),
        (Antonyms(), place("it is not so", "not", "RB"), "no", True),
        (Antonyms(), place("I am happy", "happy", "JJ"), "glad", False),
        (Similarity(0.6), place("a film", "film", "NN"), "movie", False),
        (Similarity(0.6), place("a film", "film", "NN"), "economy", True),
        (Similarity(0.6), place("a film", "film", "NN"), "qwxz", True),
        (Sense(), place("a film", "film", "NN"), "movie", False),
        (Sense(), place("a film", "film", "NN"), "director", True),
        (Frequency(100), place("a film", "film", "NN"), "movie", True),
        (Frequency(), place("a film", "film", "NN"), "movie", False),
        (UnknownToVictim({"movie"}), place("a film", "film", "NN"), "movie", False),
        (UnknownToVictim({"movie"}), place("a film", "film", "NN"), "flick", True),
        (Article(), place("a good film", "good", "JJ"), "excellent", True),
        (Article(), place("an awful film", "awful", "JJ"), "atrocious", False),
        (Article(), place("an hour", "hour", "NN"), "house", True),
        (Article(), place("A. Good film", "Good", "JJ"), "excellent", False),
        (Article(), place("good film", "good", "JJ"), "excellent", False),
        (Phrase(), place("the prime minister", "prime", "JJ"), "choice", True),
        (Phrase(), place("the prime minister", "minister", "NN"), "curate", True),
        (Phrase(), place("it turned out well", "turned", "VBD"), "rotated", True),
        (Phrase(), place("the prime. Minister", "Minister", "NN"), "curate", False),
        (Phrase(), place("the good minister", "minister", "NN"), "curate", False),
    ],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "word", None) or str(value),
)
def test_what_a_filter_refuses(one, where, candidate, refused):
    assert one.refuses(where, candidate) is refused


def test_each_filter_can_be_switched_off_and_is_named_where_it_refuses():
    text = "An awful film about 10 NASA engineers"
    everything = Candidates(filters=())(text)
    for name in STANDARD:
        only = Candidates(filters=filters_named([name]))(text)
        assert {refusal for one in only for _, refusal in one.refused} <= {name, "limit"}
        without = candidates_from(without=[name])
        assert name not in without.settings["filters"]
    assert sum(len(one.candidates) for one in everything) > sum(len(one.candidates) for one in Candidates()(text))


def test_candidates_the_victim_does_not_know_are_refused_by_name(finder):
    known = finder.known_to({"film", "bought"})
    found = known("They purchased it")[1]
    assert found.candidates == ("bought",)
    assert ("acquired", "unknown-to-victim") in found.refused
    assert finder.known_to(None) is finder


def test_an_unknown_filter_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no filter 'spelling'.*stop-words"):
        filters_named(["spelling"])
    with pytest.raises(ValueError, match=r"no filter 'spelling'.*stop-words"):
        candidates_from(without=["spelling"])


# --- sources


def test_sources_combine_by_union_and_by_intersection():
    first, second = Listed({"good": ["fine", "nice"]}), Listed({"good": ["nice", "great"]})
    here = place("good", "good", "JJ")
    assert AnyOf((first, second)).of(here) == ("fine", "nice", "great")
    assert AllOf((first, second)).of(here) == ("nice",)
    assert AllOf(()).of(here) == AnyOf(()).of(here) == ()


def test_neighbours_are_the_nearest_words_of_the_space():
    angle = np.array([0, 0.1, 0.3, 3.0])
    vectors = WordVectors(["a", "b", "c", "d"], np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32))
    source = VectorNeighbours(vectors, Neighbours(k=2))
    assert source.of(place("a", "a", "NN")) == ("b", "c")
    assert source.of(place("x", "x", "NN")) == ()


def test_neighbours_of_most_words_come_from_a_table_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_CACHE", str(tmp_path))
    made = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    vectors = WordVectors([f"w{i}" for i in range(50)], made)
    one, other = VectorNeighbours(vectors), VectorNeighbours(vectors)
    one.prepare(vectors.words)
    assert len(list(tmp_path.iterdir())) == 1
    for word in vectors.words:
        assert one.of(place(word, word, "NN")) == other.of(place(word, word, "NN"))


def test_wordnet_answers_by_part_of_speech():
    assert "leave" not in Synonyms().of(place("left", "left", "JJ"))
    assert Synonyms().of(place("the", "the", "DT")) == ()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("s.json", '{"Good": ["Fine", "very nice", "fine", "good"]}', {"good": ["fine"]}),
        ("s.tsv", "good\tfine\tnice\n\nbad\tpoor\n", {"good": ["fine", "nice"], "bad": ["poor"]}),
    ],
)
def test_lists_of_synonyms_are_read(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    assert read_synonyms(tmp_path / name) == words


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("s.json", "{", "is not JSON"),
        ("s.json", "[1]", "expected an object"),
        ("s.json", '{"good": "fine"}', "'good'.*expected a list of words"),
        ("s.json", '{"good": [1]}', "expected a list of words"),
        ("s.json", "{}", "holds no words"),
        ("s.tsv", "", "holds no words"),
        ("s.csv", "good,fine", "ends in '.csv'"),
        ("s.json", b"\xff", "is not JSON"),
        ("s.tsv", b"good\t\xff", "line 1: not UTF-8"),
    ],
)
def test_a_damaged_list_is_refused_in_a_sentence(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=says):
        read_synonyms(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sources": ["thesaurus"]}, "no source 'thesaurus'"),
        ({"sources": ["list"]}, "no synonyms are given"),
        ({"sources": ["wordnet"], "synonyms": ["x.json"]}, "'list' is not among the sources"),
        ({"combine": "some"}, "'any' or 'all'"),
        ({"tagger": "best"}, "no tagger 'best'"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(options, says):
    with pytest.raises(ValueError, match=says):
        candidates_from(**options)


def test_published_lists_can_be_used(shared_data):
    finder = candidates_from(synonyms=[shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json"])
    found = {one.word: one.candidates for one in finder("The movie was terrible and the acting was dreadful")}
    assert found["movie"]
    assert found["terrible"]
    as_published = candidates_from(
        synonyms=[shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json"], without=["all"]
    )
    listed = json.loads((shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json").read_text())
    assert as_published("terrible")[0].candidates == tuple(listed["terrible"][:8])


def test_settings_and_hash_tell_spaces_apart(finder):
    texts = ["A truly awful film."]
    one, other = (Space.of(texts, some) for some in (finder, candidates_from(per_word=1)))
    assert one.hash == Space.of(texts, Candidates()).hash != other.hash
    assert one.hash != Space.of(texts, finder, share=1).hash
    assert json.loads(json.dumps(finder.settings)) == finder.settings
    assert finder.settings["filters"]["similarity"]["least"] == Similarity().least


def test_a_space_is_a_batch_of_problems_and_gives_texts_back(finder):
    texts = ["A truly awful film, so GOOD <br /> for mice.", "", "10"]
    space = Space.of(texts, finder, share=0.25)
    problems = [space.batch[i] for i in range(len(space))]
    assert [problem.budget for problem in problems] == [2, 0, 1] == list(space.budgets)
    assert [problem.counts for problem in problems][1:] == [(), (1,)]
    assert [space.text(i, space.batch.originals()[i]) for i in range(3)] == texts
    for position, options in enumerate(space.options[0]):
        for candidate, word in enumerate(options):
            choice = np.zeros(len(space.options[0]), dtype=int)
            choice[position] = candidate
            changed = split(space.text(0, choice)).words
            assert changed[position] == word
            assert space.changes(0, choice) == ([] if not candidate else [
                {"position": position, "start": space.texts[0].spans()[position][0],
                 "end": space.texts[0].spans()[position][1], "old": options[0], "new": word}])  # fmt: skip


def test_a_budget_of_words_is_no_more_than_the_text_has(finder):
    assert Space.of(["one two", "a b c d e"], finder, words=3).budgets == (2, 3)


@pytest.mark.parametrize("budget", [{"share": 0.2, "words": 3}, {"share": 0}, {"share": 1.1}, {"words": -1}])
def test_a_wrong_budget_is_refused(finder, budget):
    with pytest.raises(ValueError, match=r"choose|give one"):
        Space.of(["some text"], finder, **budget)


def test_nothing_heavy_is_imported_for_candidates():
    code = (
        "import sys; from discotext.text.candidates import Candidates; Candidates()('A good film');"
        "print([name for name in ('torch', 'spacy', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"


def test_every_standard_filter_keeps_what_agrees():
    for tag in ("NN", "NNS", "VBD"):
        assert agreeing("film", tag)
    assert LightTagger().name == "light"


# --- the command


def candidates_command(*arguments, stdin=""):
    command = [sys.executable, "-m", "discotext", "candidates", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_the_command_gives_json_as_promised():
    text = "I purchased an awful film."
    done = candidates_command(text, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["word"] for one in found] == ["I", "purchased", "an", "awful", "film"]
    for one in found:
        assert set(one) == {"word", "start", "end", "candidates", "refused"}
        assert text[one["start"] : one["end"]] == one["word"]
        assert all(set(refusal) == {"word", "filter"} for refusal in one["refused"])
    assert "bought" in found[1]["candidates"]
    assert json.loads(candidates_command("-", "--json", stdin=text).stdout) == found
    assert json.loads(candidates_command(*text.split(), "--json").stdout) == found


def test_the_command_shows_a_table_and_counts():
    done = candidates_command("I purchased an awful film.")
    assert "bought" in done.stdout
    assert "of 5 words can be replaced" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["..."], 1, "there are no words in '...'"),
        (["good", "--source", "list"], 1, "no synonyms are given"),
        (["good", "--synonyms", __file__], 1, "synonyms are read from .json and .tsv files"),
        (["good", "--vectors", __file__], 1, "vectors are read from"),
        (["good", "--without", "spelling"], 2, "'spelling' is not one of"),
        ([], 2, "Missing argument"),
    ],
)
def test_a_mistake_ends_in_one_sentence(arguments, status, says):
    done = candidates_command(*arguments)
    assert done.returncode == status
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_json_of_a_text_without_words_is_an_empty_list():
    assert json.loads(candidates_command("...", "--json").stdout) == []
