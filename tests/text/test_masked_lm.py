"""A masked language model as a source of candidates, with a tiny model made here."""

import subprocess
import sys

import pytest

from discotext.support.extras import explain_install
from discotext.text.candidates import Candidates, make_candidates
from discotext.text.masked_lm import MaskedWords
from discotext.text.words import WordContext, split
from tests.tiny_models import word_pieces

transformers = pytest.importorskip("transformers")
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the a good nice bad film movie was ##ly . , great fine".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny BERT, with a tokeniser of a handful of words."""
    import torch

    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("bert")
    tokeniser = word_pieces(WORDS)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertForMaskedLM(config).save_pretrained(path)
    tokeniser.save_pretrained(path)
    return path


def test_a_masked_model_proposes_whole_words_for_each_position(folder):
    text = split("The good film was bad .")
    model = MaskedWords(str(folder), k=len(WORDS))
    for number in range(len(text)):
        found = model.propose(WordContext(text, ("NN",) * len(text), number))
        assert set(found) == {word for word in WORDS if word.isalpha()}
        assert len(set(found)) == len(found)
    assert len(MaskedWords(str(folder), k=3).propose(WordContext(text, ("NN",) * len(text), 1))) <= 3


def test_masked_candidates_by_name_go_through_the_filters(folder):
    found = make_candidates(masked_lm=str(folder), without=["accept"])("The movie was bad .")
    movie = next(one for one in found if one.word == "movie")
    assert "film" in movie.candidates
    assert ("was", "stop-words") in movie.refused


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="masked"):
        MaskedWords(str(tmp_path))


def test_the_extra_is_named_when_it_is_missing():
    code = "import sys; sys.modules['transformers'] = None\nfrom discotext.text.masked_lm import *\nMaskedWords('x')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert explain_install("hf") in done.stderr.splitlines()[-1]


def test_context_dependent_candidates_are_not_cached_across_sentences(folder):
    finder = Candidates(MaskedWords(str(folder), k=4), filters=())
    first, second = finder.find(["the good film", "a bad movie was the good film"])
    assert [one.candidates for one in first] == [one.candidates for one in finder("the good film")]
    assert len(second) == 7
