"""Scorers that read the sentence: the same alone and in a batch, with tiny models made here."""

import pytest

from discotext.text import EncoderScorer, FullScorer, make_candidates, split
from tests.conftest import needs_torch
from tests.text.test_acceptability import TEXTS
from tests.tiny_models import byte_pairs, word_pieces


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tiny encoder of six layers, as MiniLM has, and a tiny causal model."""
    pytest.importorskip("transformers")
    import torch
    from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models")
    words = sorted({word.lower() for text in TEXTS for word in split(text).words} | {"film", "fine", "large"})
    pieces = word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *words])
    pairs = byte_pairs(TEXTS)
    size = {"hidden_size": 16, "num_hidden_layers": 6, "num_attention_heads": 2, "intermediate_size": 32}
    encoder, causal = folder / "encoder", folder / "causal"
    BertModel(BertConfig(vocab_size=len(pieces), **size)).save_pretrained(encoder)
    GPT2LMHeadModel(GPT2Config(vocab_size=len(pairs), n_embd=16, n_layer=1, n_head=2)).save_pretrained(causal)
    pieces.save_pretrained(encoder)
    pairs.save_pretrained(causal)
    return str(encoder), str(causal)


def make_reader(name, encoder, causal):
    return EncoderScorer(str(encoder)) if name == "encoder" else FullScorer(EncoderScorer(encoder), causal)


@needs_torch
@pytest.mark.parametrize("name", ["encoder", "full"])
def test_a_scorer_that_reads_the_sentence_gives_the_same_alone_and_in_a_batch(models, name):
    encoder, causal = models
    finder = make_candidates(accept=0.1, scorer=make_reader(name, encoder, causal))
    together = finder.find(TEXTS)
    assert any(one.candidates for text in together for one in text)
    for text, found in zip(TEXTS, together, strict=True):
        for one, other in zip(finder(text), found, strict=True):
            assert set(one.candidates) == set(other.candidates)
            assert sorted(one.accept) == pytest.approx(sorted(other.accept), abs=2e-3)
    assert finder.settings["scorer"] == name


@needs_torch
def test_a_network_is_asked_only_about_swaps_that_could_pass(models, monkeypatch):
    asked = []
    compare = EncoderScorer.compare

    def count(self, texts, occurrences, worth):
        asked.append(len(worth))
        return compare(self, texts, occurrences, worth)

    monkeypatch.setattr(EncoderScorer, "compare", count)
    finders = [make_candidates(accept=level, scorer=EncoderScorer(models[0])) for level in (0.1, 0.7)]
    for finder in finders:
        finder.find(TEXTS)
    assert asked[0] > sum(asked[1:])


@needs_torch
@pytest.mark.parametrize("name", ["encoder", "full"])
def test_a_model_that_is_not_there_is_named(models, name, tmp_path):
    missing = tmp_path / "none.gguf"
    scorer = make_reader(name, missing if name == "encoder" else models[0], str(missing))
    with pytest.raises(ValueError, match=r"none\.gguf"):
        make_candidates(scorer=scorer, accept=0.1)("A good film.")


@needs_torch
def test_reading_many_places_at_once_gives_what_each_gives_alone(models):
    from discotext.models.causal import Continuations, Place

    model = Continuations(models[1], after=4)
    places = [
        Place("The movie was ", ["good", "great", "unbelievably fine"], ", and the actors were"),
        Place("", ["It", "This"], " is a bad idea"),
        Place("They really like the old theatre near the ", ["river", "stream"], ""),
    ]
    together = model.compare(places)
    for place, found in zip(places, together, strict=True):
        assert found == pytest.approx(model.compare([place])[0], abs=1e-4)
        assert len(found) == len(place.forms) - 1
