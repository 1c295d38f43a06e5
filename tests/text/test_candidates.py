"""From text to candidates: what comes out of sources, filters and the limit."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext.text.candidates import Candidates, make_candidates
from discotext.text.filters import STANDARD_FILTERS, StopWords, make_filters
from discotext.text.sources import Source, SynonymList
from discotext.text.thesaurus import load_wordnet
from discotext.text.words import match_case, split
from tests.fuzzing import ends_well, run


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


PIECES = "The a good film was not TERRIBLE, Paris enjoyed 10 movies <br /> quickly!".split()


@settings(max_examples=100, deadline=None)
@given(st.text() | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_every_candidate_is_a_single_word_in_the_casing_of_the_original_and_never_the_original(text):
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


def test_known_words_have_the_candidates_one_would_expect(finder):
    texts = [
        "The movies were awful, and we purchased the car quickly.",
        "I like a good film, a bad house, a great time",
    ]
    found = {one.word: one.candidates for text in finder.find(texts) for one in text}
    for word, candidate in {"movies": "films", "awful": "terrible", "purchased": "bought", "car": "automobile"}.items():
        assert candidate in found[word]
    assert not found["The"] + found["were"] + found["we"]
    assert all(found[word] for word in ("good", "bad", "great", "like", "quickly"))


def test_never_the_opposite(finder):
    texts = ["It was a good film and I was happy.", "not a single bad word, never cheap, hardly safe"]
    for one in [one for found in finder.find(texts) for one in found]:
        for candidate in one.candidates:
            assert not load_wordnet().are_antonyms(one.word, candidate)
    good = {word: name for one in make_candidates(accept=0)("good film") for word, name in one.refused}
    assert good["bad"] == "antonyms"
    assert not finder("not")[0].candidates


@pytest.mark.parametrize(
    ("listed", "tag", "filters", "word", "found"),
    [
        ({"enjoy": ["like"]}, "VBD", ["inflection"], "enjoyed", ("liked",)),  # a list of lemmas serves every form
        ({"mouse": ["rodent"]}, "NNS", ["inflection"], "Mice", ("Rodents",)),
        ({"good": ["nice"]}, "JJ", ["inflection"], "GOOD", ("NICE",)),
        ({"enjoyed": ["enjoy", "like"]}, "VBD", [], "enjoyed", ("enjoy", "like")),  # not inflected without the filter
        ({"runs": ["run", "jogs"]}, "VBZ", ["inflection"], "runs", ("jogs",)),  # another form of it is no candidate
    ],
)
def test_a_listed_word_takes_the_form_of_the_original_where_a_filter_asks_for_it(listed, tag, filters, word, found):
    assert own(listed, tag, filters=make_filters(filters))(word)[0].candidates == found


def test_candidates_beyond_the_limit_are_reported_as_refused():
    found = own({"a": list("bcdef")}, limit=3)("a")[0]
    assert found.candidates == ("b", "c", "d")
    assert found.refused == (("e", "limit"), ("f", "limit"))


def test_a_candidate_that_becomes_the_word_itself_is_none():
    finder = Candidates(SynonymList({"us": ["US", "we"]}), filters=(), unknown_words=True)
    assert [one.candidates for one in finder("US film")] == [("WE",), ()]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: own({}, limit=0), "limit is 0"),
        (lambda: Candidates(SynonymList), "Source"),
        (lambda: own({}, filters=(StopWords,)), "Filter"),
        (lambda: make_candidates(sources=["dictionary"]), "'dictionary'"),
        (lambda: make_candidates(sources=["list"]), "'list'"),
        (lambda: make_candidates(sources=["wordnet"], synonyms=["x.json"]), "'list'"),
        (lambda: make_candidates(scorer="best"), "'best'"),
        (lambda: make_candidates(without=["spelling"]), r"'spelling'.*stop-words"),
        (lambda: make_filters(["spelling"]), r"'spelling'.*stop-words"),
    ],
)
def test_a_wrong_part_is_refused(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


@pytest.mark.parametrize(
    "wrong", [None, "color", 3, [1], ("color" for _ in range(1))], ids=lambda one: type(one).__name__
)
def test_a_source_that_proposes_no_list_of_words_is_told_in_a_sentence(wrong):
    class Wrong(Source):
        name = "wrong"

        def propose(self, context):
            return wrong

    with pytest.raises(TypeError, match="source wrong"):
        Candidates(Wrong())("What colour?")


def test_candidates_the_victim_does_not_know_are_refused_by_name(finder):
    known = finder.restrict_to({"film", "bought"})
    found = known("They purchased it")[1]
    assert found.candidates == ("bought",)
    assert ("acquired", "unknown-to-victim") in found.refused
    assert finder.restrict_to(None) is finder


def test_settings_name_every_threshold():
    filters = make_candidates(similarity=0.6).settings["filters"]
    assert {name: settings for name, settings in filters.items() if settings} == {"similarity": {"least": 0.6}}
    scored = make_candidates(accept=0.7).settings
    assert (scored["accept"], scored["scorer"]) == (0.7, "light")


def test_published_lists_can_be_used(shared_data):
    path = shared_data / "neighbours" / "jia2019_counterfitted_neighbors.json"
    assert all(one.candidates for one in make_candidates(synonyms=[path])("terrible movie"))
    listed = json.loads(path.read_text())
    as_published = make_candidates(synonyms=[path], without=["all"])
    assert as_published("terrible")[0].candidates == tuple(listed["terrible"][:8])


def test_nothing_heavy_is_imported_for_candidates():
    code = (
        "import sys; from discotext.text.candidates import Candidates; Candidates()('A good film');"
        "print([name for name in ('torch', 'spacy', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"


# --- the command


def test_the_command_writes_json():
    text = "I purchased an awful film."
    done = run("candidates", text, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["word"] for one in found] == ["I", "purchased", "an", "awful", "film"]
    for one in found:
        assert set(one) == {"word", "start", "end", "candidates", "accept", "refused"}
        assert len(one["accept"]) == len(one["candidates"])
        assert text[one["start"] : one["end"]] == one["word"]
        assert all(set(refusal) == {"word", "filter"} for refusal in one["refused"])
    assert "bought" in found[1]["candidates"]
    assert json.loads(run("candidates", "-", "--json", given=text.encode()).stdout) == found
    assert json.loads(run("candidates", *text.split(), "--json").stdout) == found


def test_the_command_reads_json_lines():
    texts = ["The movie was good.", "", "They like the old theatre."]
    lines = "\n".join(json.dumps({"text": text}) for text in texts)
    done = run("candidates", "-", "--json", "--accept", "0.2", given=lines.encode())
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [[one.as_json() for one in make_candidates(accept=0.2)(text)] for text in texts]


def test_the_command_shows_a_table_and_counts():
    shown = run("candidates", "I purchased an awful film.").stdout
    assert "bought" in shown
    assert "of 5 words can be replaced" in shown


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["..."], 1, "'...'"),
        (["good", "--source", "list"], 1, "'list'"),
        (["good", "--synonyms", __file__], 1, ".json and .tsv"),
        (["good", "--vectors", __file__], 1, "'.py'"),
        (["good", "--without", "spelling"], 2, "'spelling'"),
        ([], 2, "WORD_OR_TEXT"),
        (["-", "--json"], 1, "line 1"),
    ],
)
def test_a_mistake_ends_in_a_message(arguments, status, says):
    done = run("candidates", *arguments, given=b'{"text": 3}')
    ends_well(done, arguments)
    assert (done.exit_code, says in done.stderr) == (status, True)
