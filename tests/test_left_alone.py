"""What correcting a text does not touch: its characters, and its blocks of code."""

import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.decoding.code_blocks import CodeBlocks
from discotext.decoding.corrector import Corrector
from discotext.decoding.text import cut_sentences
from discotext.language.kneser_ney import train_kneser_ney

SENTENCES = [
    line.split()
    for line in (
        "i went to the cinema with my sister",
        "my sister's letter was really good",
        "the dog was really funny",
        "we saw a really good film about a brave dog",
    )
] * 5

# Documents, with the words that are corrected as REALY, and those in code as realy.
DOCUMENTS = [
    "it was REALY good\n```\nrealy good\n```\nit was REALY good\n",
    "it was REALY good\n~~~ realy\nrealy good\n```\nrealy good\n~~~~\nit was REALY good\n",
    "it was REALY good\n\n    realy good\n\n\trealy good\nit was REALY good\n",
    "it was REALY good\n    it was REALY good\n",  # goes on with a paragraph
    "- it was REALY good\n  ```py\n  realy good\n  ```\n- it was REALY good",
    "it was REALY good\n````\n```\nrealy good\n",  # not closed
    "```realy``` was REALY good\nit was REALY good\n",
]


@pytest.fixture(scope="module")
def corrector():
    return Corrector([train_kneser_ney(SENTENCES, order=3, least=1)], margin=0.0)


@pytest.fixture
def lm(tmp_path, corrector):
    corrector.models[0].write(tmp_path / "small.lm")
    return str(tmp_path / "small.lm")


def run(*arguments, **more):
    return CliRunner().invoke(cli, ["decode", *arguments, "--source", "spelling", "--margin", "0"], **more)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_is_left_alone_in_whole_texts_and_in_their_lines(document, corrector):
    given, expected = document.replace("REALY", "realy"), document.replace("REALY", "really")
    assert corrector.correct(given).text == expected
    lines = given.splitlines(keepends=True)
    assert "".join(one.text for one in corrector.correct_all(lines, CodeBlocks())) == expected


@pytest.mark.parametrize("document", DOCUMENTS)
def test_pieces_of_a_text_have_the_code_of_the_whole(document):
    whole = CodeBlocks().read(document)
    inside = [any(start <= at < end for start, end in whole) for at in range(len(document))]
    blocks, at = CodeBlocks(), 0
    for line in document.splitlines(keepends=True):
        found = blocks.read(line)
        assert found == ([(0, len(line))] if inside[at] else [])
        at += len(line)


def test_the_command_leaves_code_alone_over_lines_and_when_it_goes_on(lm, tmp_path, monkeypatch):
    given = DOCUMENTS[0].replace("REALY", "realy")
    expected = DOCUMENTS[0].replace("REALY", "really")
    assert run("-", "--lm", lm, input=given).stdout == expected
    monkeypatch.setattr("discotext.cli.spelling.LINES_PER_SAVE", 1)
    monkeypatch.setattr("discotext.decoding.corrector.WORDS_AT_ONCE", 1)
    essay, out = tmp_path / "essay.txt", tmp_path / "out.txt"
    essay.write_text(given)
    from discotext.cli import spelling

    usual = spelling._note

    def stop(state, key, lines, file):
        usual(state, key, lines, file)
        if lines == 2:
            raise RuntimeError("the power went off")

    monkeypatch.setattr(spelling, "_note", stop)
    assert run(str(essay), "--lm", lm, "--out", str(out)).exit_code == 1
    monkeypatch.setattr(spelling, "_note", usual)
    assert run(str(essay), "--lm", lm, "--out", str(out)).exit_code == 0
    assert out.read_text() == expected


def test_a_byte_order_mark_is_written_back(lm, tmp_path):
    essay, out = tmp_path / "essay.txt", tmp_path / "out.txt"
    essay.write_bytes("\ufeffRealy good\nthe dog was realy funny\n".encode())
    expected = "\ufeffReally good\nthe dog was really funny\n".encode()
    assert run(str(essay), "--lm", lm).stdout_bytes == expected
    assert run("-", "--lm", lm, input=essay.read_bytes()).stdout_bytes == expected
    assert run(str(essay), "--lm", lm, "--out", str(out)).exit_code == 0
    assert out.read_bytes() == expected


@pytest.mark.parametrize("sign", ["'", "’", "ʼ"])
def test_a_correction_has_the_apostrophe_of_the_original(sign, corrector):
    assert corrector.correct(f"my siter{sign}s letter was good").text == f"my sister{sign}s letter was good"


@pytest.mark.parametrize("word", ["rea\u00adly", "realy\u00ad", "\u00adrealy", "rea\u200bly", "realy\u2060"])
def test_words_with_invisible_characters_are_left_alone(word, corrector):
    text = f"the dog was {word} funny"
    assert corrector.correct(text).text == text


def test_long_sentences_are_cut_and_corrected_as_short_ones_are(corrector):
    assert cut_sentences([(0, 450)], 200) == [(0, 150), (150, 300), (300, 450)]
    assert cut_sentences([(0, 200), (200, 201)], 200) == [(0, 200), (200, 201)]
    found = corrector.correct("the dog was realy funny " * 200)
    assert found.text == "the dog was really funny " * 200
