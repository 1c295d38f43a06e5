"""From text to candidates: sources, filters, and what comes out of them."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.text.candidates import Candidates, make_candidates
from discotext.text.filters import (
    STANDARD_FILTERS,
    Antonyms,
    Article,
    Filter,
    Frequency,
    Names,
    Numbers,
    PartOfSpeech,
    Phrase,
    Sense,
    Similarity,
    StopWords,
    UnknownToVictim,
    make_filters,
)
from discotext.text.inflection import match_inflection
from discotext.text.neighbours import Neighbours
from discotext.text.sources import AllOf, AnyOf, SynonymList, Synonyms, VectorNeighbours, read_synonyms
from discotext.text.space import Space
from discotext.text.tagging import LightTagger
from discotext.text.vectors import WordVectors
from discotext.text.wordnet import load_wordnet
from discotext.text.words import WordContext, match_case, split


def in_context(text: str, word: str, tag: str) -> WordContext:
    cut = split(text)
    number = cut.words.index(word)
    return WordContext(cut, tuple(tag if i == number else "XX" for i in range(len(cut))), number)


@pytest.fixture(scope="module")
def finder():
    return Candidates()


class Tagged:
    """A tagger that gives every word the same tag."""

    name = "fixed"

    def __init__(self, tag):
        self.only = tag

    def tag(self, texts):
        return [[self.only] * len(text) for text in texts]


def own(words, tag="NN", **more):
    return Candidates(SynonymList(words), more.pop("filters", ()), Tagged(tag), **more)


# --- laws of every result


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("The a good film was not TERRIBLE, Paris enjoyed 10 movies <br /> quickly!".split())))
def test_every_candidate_is_a_single_word_in_the_casing_of_the_original_and_never_the_original(words):
    text = " ".join(words)
    found = Candidates()(text)
    assert [text[one.start : one.end] for one in found] == [one.word for one in found] == list(split(text).words)
    for one in found:
        assert len(set(one.candidates)) == len(one.candidates) <= 8
        for candidate in one.candidates:
            assert candidate.lower() != one.word.lower()
            assert split(candidate).words == (candidate,)
            assert match_case(one.word, candidate.lower()) == candidate
        assert {name for _, name in one.refused} <= {*STANDARD_FILTERS, "limit", "accept", "splitting"}
        assert len(one.accept) == len(one.candidates)
        assert all(Candidates().accept <= chance <= 1 for chance in one.accept)
        assert list(one.accept) == sorted(one.accept, reverse=True)
        assert not {word for word, _ in one.refused} & {word.lower() for word in one.candidates}


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_has_a_result_for_each_of_its_words(text):
    assert [one.word for one in Candidates()(text)] == list(split(text).words)


def test_candidates_do_not_depend_on_other_texts(finder):
    texts = ["A truly awful film.", "He can open the can quickly.", "", "WHAT A GREAT MOVIE"]
    together = finder.find(texts)
    assert together == [Candidates()(text) for text in texts]
    assert together == finder.find(texts)  # and the cache changes nothing


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
    for one in [one for found in finder.find(texts) for one in found]:
        for candidate in one.candidates:
            assert not load_wordnet().are_antonyms(one.word, candidate)
    good = {word: name for one in make_candidates(accept=0)("good film") for word, name in one.refused}
    assert good["bad"] == "antonyms"
    assert not finder("not")[0].candidates


# --- forms and casing


def test_a_list_of_lemmas_serves_every_form():
    assert own({"enjoy": ["like"]}, "VBD", filters=make_filters(["inflection"]))("enjoyed")[0].candidates == ("liked",)
    assert own({"mouse": ["rodent"]}, "NNS", filters=make_filters(["inflection"]))("Mice")[0].candidates == ("Rodents",)
    assert own({"good": ["nice"]}, "JJ", filters=make_filters(["inflection"]))("GOOD")[0].candidates == ("NICE",)


def test_without_the_filter_inflection_lists_are_not_inflected():
    assert own({"enjoyed": ["enjoy", "like"]}, "VBD")("enjoyed")[0].candidates == ("enjoy", "like")


def test_another_form_of_the_same_word_is_not_a_candidate():
    found = own({"runs": ["run", "jogs"]}, "VBZ", filters=make_filters(["inflection"]))("runs")[0]
    assert found.candidates == ("jogs",)


def test_candidates_beyond_the_limit_are_reported_as_refused():
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
        (Sense(), in_context("a film", "film", "NN"), "movie", False),
        (Sense(), in_context("a film", "film", "NN"), "director", True),
        (Frequency(100), in_context("a film", "film", "NN"), "movie", True),
        (Frequency(), in_context("a film", "film", "NN"), "movie", False),
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


def test_candidates_the_victim_does_not_know_are_refused_by_name(finder):
    known = finder.restrict_to({"film", "bought"})
    found = known("They purchased it")[1]
    assert found.candidates == ("bought",)
    assert ("acquired", "unknown-to-victim") in found.refused
    assert finder.restrict_to(None) is finder


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
    finder = own({"a": ["b"], "good": ["fine", "excellent"]}, filters=(Short(4),))
    one, other = finder("a good")
    assert (one.candidates, one.refused) == ((), (("b", "short"),))
    assert (other.candidates, other.refused) == (("fine",), (("excellent", "short"),))
    assert finder.settings["filters"] == {"short": {"most": 4}}


@pytest.mark.parametrize("make", [lambda: Candidates(SynonymList), lambda: own({}, filters=(StopWords,))])
def test_a_part_that_is_not_a_source_or_a_filter_is_refused(make):
    with pytest.raises(TypeError, match=r"is not a (source|filter); give an instance of a subclass of"):
        make()


def test_settings_name_every_threshold():
    filters = make_candidates(similarity=0.6, sense=0.2).settings["filters"]
    assert {name: settings for name, settings in filters.items() if settings} == {
        "sense": {"least": 0.2},
        "similarity": {"least": 0.6},
    }
    assert Candidates(filters=make_filters(STANDARD_FILTERS)).settings["filters"]["frequency"] == {"most": 30_000}
    scored = make_candidates(accept=0.7).settings
    assert (scored["accept"], scored["scorer"]) == (0.7, "light")
    assert make_candidates(without=["accept"]).settings["accept"] is None


def test_an_unknown_filter_is_refused_with_the_known_names():
    with pytest.raises(ValueError, match=r"no filter 'spelling'.*stop-words"):
        make_filters(["spelling"])
    with pytest.raises(ValueError, match=r"no filter 'spelling'.*stop-words"):
        make_candidates(without=["spelling"])


# --- sources


def test_sources_combine_by_union_and_by_intersection():
    first, second = SynonymList({"good": ["fine", "nice"]}), SynonymList({"good": ["nice", "great"]})
    here = in_context("good", "good", "JJ")
    assert AnyOf((first, second)).propose(here) == ("fine", "nice", "great")
    assert AllOf((first, second)).propose(here) == ("nice",)
    assert AllOf(()).propose(here) == AnyOf(()).propose(here) == ()


def test_neighbours_are_the_nearest_words_of_the_space():
    angle = np.array([0, 0.1, 0.3, 3.0])
    vectors = WordVectors(["a", "b", "c", "d"], np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32))
    source = VectorNeighbours(vectors, Neighbours(k=2))
    assert source.propose(in_context("a", "a", "NN")) == ("b", "c")
    assert source.propose(in_context("x", "x", "NN")) == ()


def test_neighbours_of_most_words_come_from_a_table_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_CACHE", str(tmp_path))
    made = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    vectors = WordVectors([f"w{i}" for i in range(50)], made)
    one, other = VectorNeighbours(vectors), VectorNeighbours(vectors)
    one.prepare(vectors.words)
    assert len(list(tmp_path.iterdir())) == 1
    for word in vectors.words:
        assert one.propose(in_context(word, word, "NN")) == other.propose(in_context(word, word, "NN"))


def test_wordnet_proposes_by_part_of_speech():
    assert "leave" not in Synonyms().propose(in_context("left", "left", "JJ"))
    assert Synonyms().propose(in_context("the", "the", "DT")) == ()


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
        ("s.json", "{}", "contains no words"),
        ("s.tsv", "", "contains no words"),
        ("s.csv", "good,fine", "ends in '.csv'"),
        ("s.json", b"\xff", "is not JSON"),
        ("s.tsv", b"good\t\xff", "line 1: not UTF-8"),
    ],
)
def test_a_damaged_list_is_refused_with_a_reason(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=says):
        read_synonyms(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sources": ["dictionary"]}, "no source 'dictionary'"),
        ({"sources": ["list"]}, "no synonyms are given"),
        ({"sources": ["wordnet"], "synonyms": ["x.json"]}, "'list' is not among the sources"),
        ({"combine": "some"}, "'any' or 'all'"),
        ({"tagger": "best"}, "no tagger 'best'"),
    ],
)
def test_wrong_options_are_refused_with_a_reason(options, says):
    with pytest.raises(ValueError, match=says):
        make_candidates(**options)


def test_published_lists_can_be_used(shared_data):
    finder = make_candidates(synonyms=[shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json"])
    found = {one.word: one.candidates for one in finder("The movie was terrible and the acting was dreadful")}
    assert found["movie"]
    assert found["terrible"]
    as_published = make_candidates(
        synonyms=[shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json"], without=["all"]
    )
    listed = json.loads((shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json").read_text())
    assert as_published("terrible")[0].candidates == tuple(listed["terrible"][:8])


def test_settings_and_hash_distinguish_spaces(finder):
    texts = ["A truly awful film."]
    one, other = (Space.of(texts, some) for some in (finder, make_candidates(per_word=1)))
    assert one.hash == Space.of(texts, Candidates()).hash != other.hash
    assert one.hash != Space.of(texts, finder, share=1).hash
    assert json.loads(json.dumps(finder.settings)) == finder.settings
    assert one.hash != Space.of(texts, make_candidates(accept=0.3)).hash
    assert one.hash != Space.of(texts, finder, accept_all=0.5).hash


def test_a_space_is_a_batch_of_problems_and_restores_texts(finder):
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
                 "end": space.texts[0].spans()[position][1], "old": options[0], "new": word,
                 "accept": space.accept[0][position][candidate]}])  # fmt: skip


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


def test_a_budget_of_words_is_no_more_than_the_text_has(finder):
    assert Space.of(["one two", "a b c d e"], finder, words=3).budgets == (2, 3)


@pytest.mark.parametrize("budget", [{"share": 0.2, "words": 3}, {"share": 0}, {"share": 1.1}, {"words": -1}])
def test_a_wrong_budget_is_refused(finder, budget):
    with pytest.raises(ValueError, match=r"choose|give one"):
        Space.of(["some text"], finder, **budget)
    with pytest.raises(ValueError, match=r"choose|give one"):
        Space.of(["some text"], finder).with_budgets(**budget)


def test_nothing_heavy_is_imported_for_candidates():
    code = (
        "import sys; from discotext.text.candidates import Candidates; Candidates()('A good film');"
        "print([name for name in ('torch', 'spacy', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"


def test_a_noun_that_is_also_a_verb_has_the_forms_of_both():
    for tag in ("NN", "NNS", "VBD"):
        assert match_inflection("film", tag)
    assert LightTagger().name == "light"


# --- the command


def candidates_command(*arguments, stdin=""):
    command = [sys.executable, "-m", "discotext", "candidates", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_the_command_writes_json():
    text = "I purchased an awful film."
    done = candidates_command(text, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["word"] for one in found] == ["I", "purchased", "an", "awful", "film"]
    for one in found:
        assert set(one) == {"word", "start", "end", "candidates", "accept", "refused"}
        assert len(one["accept"]) == len(one["candidates"])
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
def test_a_mistake_ends_in_a_message(arguments, status, says):
    done = candidates_command(*arguments)
    assert done.returncode == status
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_json_of_a_text_without_words_is_an_empty_list():
    assert json.loads(candidates_command("...", "--json").stdout) == []


def test_a_candidate_that_becomes_the_word_itself_is_none():
    finder = Candidates(SynonymList({"us": ["US", "we"]}), filters=(), unknown_words=True)
    assert [one.candidates for one in finder("US film")] == [("WE",), ()]


@pytest.mark.parametrize("text", [("A good", "film"), None, b"A good film", 3])
def test_what_is_not_a_text_is_refused_by_its_type(text):
    with pytest.raises(TypeError, match=type(text).__name__):
        Candidates()(text)
    with pytest.raises(TypeError, match="one string"):
        Space.of("A good film", Candidates())
