"""Classifiers of the Hugging Face library as victims, tried on tiny models made here."""

import logging
import re
import sys

import numpy as np
import pytest

import discotext
from discotext.core.objectives import Untargeted
from discotext.core.oracle import RelaxedOracle, can
from discotext.core.oracle_check import check_oracle
from discotext.core.problem import interior_point, random_choices
from discotext.text.space import Space
from discotext.text.words import Words, split
from discotext.victims import load_victim
from tests.tiny_models import byte_pairs, classifier, word_pieces

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

from discotext.support.extras import explain_install  # noqa: E402
from discotext.victims.transformers.subwords import SubwordOracle, assign_words, find_context  # noqa: E402
from discotext.victims.transformers.victim import HuggingFaceVictim  # noqa: E402
from discotext.victims.victim import TextOracle  # noqa: E402

PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a good nice bad film movie was ##ly . , great fine un ##believ ##able ##ing "
    "walk ##ed slow < br / > ! story & amp ; ##s"
).split()
SENTENCES = [
    "the good film was bad and the movie was nice .",
    "a great fine story, great acting and a good film",
    "he walked slowly to the small house of the film",
]
# One piece against three, two against two, one against two, in both tokenisers.
WORDS = {
    "good": ("unbelievable", "nice", "slowly"),
    "film": ("movie", "storying"),
    "unbelievable": ("good", "fine"),
    "bad": ("unwalked",),
    "the": ("a",),
}
TEXTS = [
    "The good film was bad.",
    "<br />Good film!<br />unbelievable &amp; bad",
    "good🙂film bad\u0301 \x00 the\u00a0good",
    "",
    "!!! ...",
    "the " * 70 + "good film",
    "unbelievable story " * 5,
]
KINDS = ["Bert", "Roberta", "DistilBert"]


def make(kind, double=False, **more):
    """A victim; its `double` reads in 64 bits, so that differences mean something."""
    tokeniser = word_pieces(PIECES) if kind in ("Bert", "DistilBert") else byte_pairs(SENTENCES)
    model = classifier(kind, len(tokeniser), **more)
    return HuggingFaceVictim(model.double() if double else model, tokeniser)


def space_of(texts=TEXTS, budget=3):
    cut = tuple(split(text) for text in texts)
    options = tuple(tuple((word, *WORDS.get(word.lower(), ())) for word in text.words) for text in cut)
    return Space(cut, options, tuple(min(budget, len(text)) for text in cut))


def goal_of(space):
    return Untargeted([0] * len(space))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Two threads that wait for each other take longer over tiny models than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=KINDS)
def victim(request):
    return make(request.param)


def test_scores_are_those_of_the_bare_model(victim):
    tokeniser, model = victim.reader.tokeniser, victim.reader.model
    inputs = tokeniser(TEXTS, return_tensors="pt", padding=True, truncation=True, max_length=64)
    if not victim.reader.takes_kinds:
        inputs.pop("token_type_ids", None)
    expected = model(**inputs).logits.numpy()
    found = victim.scores(TEXTS)
    assert found.dtype == np.float64
    assert found.std(axis=0).min() > 0.01, "a model that says the same of every text tests nothing"
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_calls_hold_every_row_once_and_little_padding(victim):
    lengths = np.random.default_rng(0).integers(2, 65, size=3000)
    calls = list(victim.reader.plan_calls(lengths))
    assert sorted(np.concatenate(calls)) == list(range(3000))
    assert all(len(call) * lengths[call].max() <= victim.reader.tokens_per_call for call in calls)
    assert sum(len(call) * lengths[call].max() for call in calls) < 1.05 * lengths.sum()


def test_a_text_that_is_too_long_is_said_to_be_cut_and_read_as_far_as_it_goes(victim):
    assert victim.reader.longest == 64
    assert victim.truncates(TEXTS[:6]) == [False, False, False, False, False, True]
    just, over = "the " * 61 + "the", "the " * 62 + "the"
    assert victim.truncates([just, over]) == [False, True]
    np.testing.assert_allclose(*victim.scores([just, over]), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mixture_of_one_candidate_each_is_the_real_text(kind):
    victim, space = make(kind), space_of()
    oracle, rng = victim.oracle(space, goal_of(space)), np.random.default_rng(0)
    assert isinstance(oracle, SubwordOracle)
    assert oracle.exact_at_vertices
    problems = np.repeat(np.arange(len(space)), 12)
    layout = space.batch.take(problems)
    choices = random_choices(layout, rng)
    scores = oracle.score(problems, choices)
    np.testing.assert_allclose(oracle.relaxed(problems, layout.one_hot(choices))[0], scores, atol=1e-5)
    written = [space.text(problem, choice) for problem, choice in zip(problems, choices, strict=True)]
    np.testing.assert_allclose(scores, goal_of(space).value(victim.scores(written), problems), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_the_derivative_in_every_candidate(kind):
    space = space_of(["The good film was bad.", "<br />Good film!<br />unbelievable &amp; bad", "", "the story"])
    oracle = make(kind, double=True).oracle(space, goal_of(space))
    problems = np.array([1, 0, 2, 1, 3])
    layout = space.batch.take(problems)
    alpha = interior_point(layout, np.random.default_rng(3))
    gradient = oracle.relaxed(problems, alpha)[1]
    assert gradient.shape == alpha.shape
    assert np.abs(gradient).min() > 0, "a candidate without any say in the gradient"
    step = 1e-6
    for place in range(len(alpha)):
        up, down = alpha.copy(), alpha.copy()
        up[place] += step
        down[place] -= step
        by_differences = (oracle.relaxed(problems, up)[0] - oracle.relaxed(problems, down)[0]).sum() / (2 * step)
        assert abs(by_differences - gradient[place]) < 1e-5 * max(1.0, abs(gradient[place]))


@pytest.mark.parametrize("kind", [*KINDS, "GPT2"])
def test_the_oracle_keeps_the_laws(kind):
    victim, space = make(kind), space_of()
    report = check_oracle(space.batch, victim.oracle(space, goal_of(space)), rows=32)
    assert report.passed, str(report)
    assert report.vertex_gap < 1e-4


@pytest.mark.parametrize("share", [1.0, 0.01])
def test_mixtures_do_not_depend_on_the_size_of_a_call(monkeypatch, share):
    victim, space = make("Bert"), space_of()
    oracle, problems = victim.oracle(space, goal_of(space)), np.array([5, 0, 1, 6, 2, 3, 0])
    alpha = interior_point(space.batch.take(problems), np.random.default_rng(0))
    expected = oracle.relaxed(problems, alpha)
    monkeypatch.setattr("discotext.victims.transformers.subwords.SHARE_WITH_GRADIENT", share)
    for found, before in zip(oracle.relaxed(problems, alpha), expected, strict=True):
        np.testing.assert_allclose(found, before, atol=1e-5)
    assert [part.shape for part in oracle.relaxed(problems[:0], alpha[:0])] == [(0,), (0,)]


def test_a_slot_mixes_the_pieces_of_all_candidates_by_their_weights():
    """By hand: good against un ##believ ##able, one slot; the three pieces share it."""
    space = space_of(["the good film"])
    space = Space(space.texts, ((("the",), ("good", "unbelievable"), ("film",)),), (1,))
    victim = make("Bert", double=True)
    table, number = victim.reader.table, {piece: place for place, piece in enumerate(PIECES)}

    def by_hand(middle):
        row = [table[number[piece]] for piece in ("[CLS]", "the")]
        vectors = torch.stack([*row, *middle, table[number["film"]], table[number["[SEP]"]]])
        return goal_of(space).value(victim.reader.model(inputs_embeds=vectors[None]).logits.numpy(), np.array([0]))

    good, *pieces = (table[number[piece]] for piece in ("good", "un", "##believ", "##able"))
    oracle, problems = victim.oracle(space, goal_of(space)), np.array([0])
    short = oracle.relaxed(problems, np.array([1.0, 0.7, 0.3, 1.0]))[0]
    np.testing.assert_allclose(short, by_hand([0.7 * good + 0.3 * sum(pieces) / 3]), atol=1e-10)
    long = oracle.relaxed(problems, np.array([1.0, 0.2, 0.8, 1.0]))[0]
    np.testing.assert_allclose(long, by_hand([0.2 * good + 0.8 * piece for piece in pieces]), atol=1e-10)


def test_what_is_cut_off_has_no_gradient():
    space = space_of(["the " * 70 + "good film"])
    oracle = make("Bert").oracle(space, goal_of(space))
    gradient = oracle.relaxed(np.array([0]), interior_point(space.batch, np.random.default_rng(0)))[1]
    read = space.batch.position_of < 62
    assert (gradient[read] != 0).all()
    assert (gradient[~read] == 0).all()


def test_tokens_are_of_the_word_whose_letters_they_stand_for():
    reader = make("Roberta").reader
    texts = [split("the good, film"), split("..."), split("<br />nice")]
    tokens = reader.read([str(text) for text in texts], spans=True)
    of = assign_words(tokens, texts)
    for word, expected in enumerate(["the", "good", "film", "nice"]):
        assert reader.tokeniser.decode(tokens.ids[of == word]).strip() == expected
    assert (of == -1).sum() == len(tokens.ids) - (of >= 0).sum() > 6
    window = Words(("nice",), ("", " film, ok"))
    tokens = reader.read([str(window)], spans=True)
    assert reader.tokeniser.decode(tokens.ids[assign_words(tokens, [window]) == 0]) == "nice"
    assert find_context(texts[0], 1) == ("the ", ", film")
    assert find_context(split("x" * 99 + " good"), 1) == ("x" * 31 + " ", "")


def test_deleted_words_are_scored_as_the_text_without_them(victim):
    space = space_of(["The good film was bad."])
    oracle = victim.oracle(space, goal_of(space))
    expected = goal_of(space).value(victim.scores(["The film was bad."]), np.array([0]))
    np.testing.assert_allclose(oracle.without(np.array([0]), np.array([1])), expected, atol=1e-6)


def test_a_single_output_is_read_as_yes_or_no():
    victim = make("Bert", num_labels=1, id2label={0: "toxic"}, label2id={"toxic": 0})
    assert victim.labels == ("not toxic", "toxic")
    scores = victim.scores(TEXTS)
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1])
    inputs = victim.reader.tokeniser(TEXTS[0], return_tensors="pt")
    assert abs(scores[0, 1] - scores[0, 0] - float(victim.reader.model(**inputs).logits)) < 1e-5
    space = space_of()
    assert check_oracle(space.batch, victim.oracle(space, goal_of(space))).passed


def test_a_model_that_takes_no_vectors_is_searched_by_its_scores():
    victim, space = make("Bart"), space_of(TEXTS[:2])
    oracle = victim.oracle(space, goal_of(space))
    assert isinstance(oracle, TextOracle)
    assert not can(oracle, RelaxedOracle)
    np.testing.assert_allclose(victim.scores(TEXTS[:2])[1:], victim.scores(TEXTS[1:2]), atol=1e-5)


def test_a_model_without_a_padding_token_reads_text_by_text():
    tokeniser = byte_pairs(SENTENCES)
    tokeniser.pad_token = None
    victim = HuggingFaceVictim(classifier("GPT2", len(tokeniser), pad_token_id=None), tokeniser)
    assert victim.scores(TEXTS).shape == (len(TEXTS), 3)


def test_a_model_that_is_padded_on_the_left_reads_mixtures_together():
    tokeniser, space = byte_pairs(SENTENCES), space_of()
    tokeniser.padding_side = "left"
    victim = HuggingFaceVictim(classifier("Llama", len(tokeniser)), tokeniser)
    assert victim.reader.pads_mixtures
    report = check_oracle(space.batch, victim.oracle(space, goal_of(space)))
    assert report.passed, str(report)
    assert report.vertex_gap < 1e-4


def test_lone_surrogates_and_empty_texts_are_read(victim):
    assert np.isfinite(victim.scores(["good \ud800 film", "", "\u200b"])).all()


@pytest.fixture
def folder(tmp_path):
    tokeniser = word_pieces(PIECES)
    names = {0: "World", 1: "Sports", 2: "Business"}
    model = classifier("Bert", len(tokeniser), id2label=names, label2id={name: n for n, name in names.items()})
    model.save_pretrained(tmp_path)
    tokeniser.save_pretrained(tmp_path)
    return tmp_path


def test_a_folder_is_loaded_with_its_labels_and_without_noise(folder, capsys, caplog):
    with caplog.at_level(logging.WARNING):
        victim = HuggingFaceVictim(f"hf:{folder}")
    assert (victim.name, victim.labels) == (f"hf:{folder}", ("World", "Sports", "Business"))
    assert HuggingFaceVictim(folder).name == victim.name
    np.testing.assert_allclose(victim.scores(TEXTS), make("Bert").scores(TEXTS), atol=1e-5)
    assert capsys.readouterr() == ("", "")
    assert not caplog.records


def test_a_name_that_is_not_found_or_whose_library_is_missing_is_one_sentence(monkeypatch):
    def fail(*arguments, **settings):
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    with pytest.raises(ValueError, match="'no/such-model'"):
        HuggingFaceVictim("hf:no/such-model")
    with pytest.raises(ValueError, match="hf:NAME"):
        HuggingFaceVictim("hf:")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=re.escape(explain_install("hf"))):
        HuggingFaceVictim("hf:x")


def test_what_is_no_classifier_of_one_label_is_refused():
    tokeniser = word_pieces(PIECES)
    for kind in ("multi_label_classification", "regression"):
        with pytest.raises(ValueError, match=kind):
            HuggingFaceVictim(classifier("Bert", len(tokeniser), problem_type=kind), tokeniser)
    with pytest.raises(ValueError, match="tokeniser"):
        HuggingFaceVictim(classifier("Bert", len(tokeniser)))
    with pytest.raises(ValueError, match="batch is 0"):
        HuggingFaceVictim(classifier("Bert", len(tokeniser)), tokeniser, batch=0)
    with pytest.raises(ValueError, match="GPU"):
        HuggingFaceVictim(classifier("Bert", len(tokeniser)), tokeniser, half=True, device="cpu")


def test_a_saved_model_is_loaded_only_as_it_was_saved(tmp_path):
    folder = tmp_path / "v"
    make("Bert", num_labels=2).save(folder)
    files = sorted(path for path in (folder / "model").iterdir())
    assert {"config.json", "model.safetensors"} <= {path.name for path in files}
    assert discotext.victims.load_victim(folder).scores(SENTENCES).shape == (3, 2)
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(ValueError, match="checksum"):
            discotext.victims.load_victim(folder)
        path.unlink()
        with pytest.raises(ValueError, match=f"model/{path.name}"):
            discotext.victims.load_victim(folder)
        path.write_bytes(content)
    (folder / "model" / "model-00002.safetensors").write_bytes(b"other weights")
    with pytest.raises(ValueError, match=r"model-00002.safetensors"):
        discotext.victims.load_victim(folder)


def test_a_model_whose_way_back_is_blocked_has_no_gradients():
    tokeniser = word_pieces(PIECES)
    model = classifier("Bert", len(tokeniser))
    assert HuggingFaceVictim(model, tokeniser).capabilities.gradients

    class Blocked(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, states):
            return self.inner(states).detach()

    model.classifier = Blocked(model.classifier)
    assert not HuggingFaceVictim(model, tokeniser).capabilities.gradients


# --- what people hold in Python

HELD_PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the a good nice bad awful film movie was fine story acting an .".split()
HELD_TEXTS = ["a fine film", "an awful film", "fine acting", "awful acting"]


def make_parts(kind="Bert", **more):
    tokenizer = word_pieces(HELD_PIECES)
    return classifier(kind, len(tokenizer), **more), tokenizer


@pytest.mark.parametrize("settings", [{}, {"top_k": None}, {"top_k": 1}, {"function_to_apply": "sigmoid"}])
def test_a_transformers_pipeline_is_its_model_with_gradients_whatever_its_settings(settings):
    model, tokenizer = make_parts()
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, **settings)
    victim = load_victim(pipe)
    assert victim.capabilities.gradients
    np.testing.assert_array_equal(victim.scores(HELD_TEXTS), HuggingFaceVictim(model, tokenizer).scores(HELD_TEXTS))
    labels = victim.scores(HELD_TEXTS).argmax(axis=1).tolist()
    assert discotext.attack(pipe, (HELD_TEXTS, labels), words=3).summary.surrogate_queries is None


def test_a_pipelines_own_truncation_is_kept():
    model, tokenizer = make_parts()
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, truncation=True, max_length=5)
    victim = load_victim(pipe)
    long = "a fine film was awful"
    wanted = {one["label"]: one["score"] for one in pipe(long, top_k=None, function_to_apply="none")}
    np.testing.assert_allclose(victim.scores([long])[0], [wanted[label] for label in victim.labels], atol=1e-4)
    assert victim.truncates([long, "a film"]) == [True, False]


def test_a_pipeline_that_does_more_than_its_model_is_attacked_by_its_own_answers():
    model, tokenizer = make_parts()

    class Reversed(transformers.TextClassificationPipeline):
        def preprocess(self, inputs, **settings):
            return super().preprocess(" ".join(reversed(inputs.split())), **settings)

    pipe = Reversed(model=model, tokenizer=tokenizer)
    with pytest.warns(UserWarning, match="its own answers"):
        victim = load_victim(pipe)
    assert not victim.capabilities.gradients
    wanted = {one["label"]: one["score"] for one in pipe("good film the", top_k=None)}
    assert victim.scores(["good film the"])[0].tolist() == [wanted[label] for label in victim.labels]


def test_a_model_and_its_tokenizer_are_a_victim_in_either_order():
    model, tokenizer = make_parts()
    for pair in ((model, tokenizer), [tokenizer, model]):
        victim = load_victim(pair)
        assert isinstance(victim, discotext.victims.HuggingFaceVictim)
        assert victim.capabilities.gradients
    model, tokenizer = make_parts(num_labels=1)
    assert load_victim((model, tokenizer)).scores(HELD_TEXTS).shape == (4, 2)


def test_models_and_pipelines_that_do_not_classify_are_refused():
    model, tokenizer = make_parts()
    for half in (model, tokenizer):
        with pytest.raises(TypeError, match="pair"):
            load_victim(half)
    with pytest.raises(ValueError, match="BertModel"):
        load_victim((model.bert, tokenizer))
    filler = transformers.pipeline("feature-extraction", model=model.bert, tokenizer=tokenizer)
    with pytest.raises(TypeError, match="'feature-extraction'"):
        load_victim(filler)
