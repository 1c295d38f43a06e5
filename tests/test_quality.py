"""What turned texts are like beside their originals, judged by tiny models made here."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import discotext as d
from discotext.cli import report
from discotext.cli.progress import DelayedProgress
from discotext.data import Examples
from discotext.experiment import text_quality
from discotext.experiment.report import make_page
from discotext.experiment.run import read_run
from discotext.support.intervals import bootstrap
from discotext.text.masked_lm import SentenceSimilarity
from discotext.text.sources import SynonymList
from tests.tiny_models import byte_pairs, word_pieces

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

from discotext.experiment.judges import LanguageModel, SentenceEncoder  # noqa: E402

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the a good nice bad film movie was . great fine".split()
PLAIN = [word for word in WORDS if word.isalpha()]
TEXTS = ["the good film was nice .", "bad", "a great movie", "the film was the film was the film was fine " * 3, "a a"]
LONGEST = 32


def marked(tokeniser):
    """The tokeniser of a language model: a mark that begins a text, and nothing around it."""
    tokeniser.bos_token, tokeniser.model_max_length = "[CLS]", LONGEST
    return tokeniser


def gpt(path, seed=0, change=lambda model: None, tokeniser=None, **more):
    """A tiny GPT-2 in a folder. change: what is done to its weights."""
    tokeniser = tokeniser or marked(word_pieces(WORDS))
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=len(tokeniser), n_embd=16, n_layer=1, n_head=2, n_positions=LONGEST, tie_word_embeddings=False,
        bos_token_id=2, eos_token_id=3, **more,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim == 2:
                weights.mul_(10)  # the usual beginning is so faint that every token is as likely
        change(model)
    model.save_pretrained(path)
    tokeniser.save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def lively(tmp_path_factory):
    return gpt(tmp_path_factory.mktemp("gpt"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A tiny BERT with the head of a masked language model."""
    path = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=LONGEST,
    )  # fmt: skip
    model = transformers.BertForMaskedLM(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    model.save_pretrained(path)
    tokeniser = word_pieces(WORDS)
    tokeniser.model_max_length = LONGEST
    tokeniser.save_pretrained(path)
    return str(path)


# One at a time: what it says of a text.
def perplexity(model, text):
    return model([text])[0][0]


@pytest.mark.parametrize("text", [*TEXTS, "words it has never seen", "the " * 100])
def test_to_a_model_that_knows_nothing_every_text_has_the_perplexity_of_the_vocabulary(tmp_path, text):
    uniform = gpt(tmp_path, change=lambda model: model.lm_head.weight.zero_())
    assert perplexity(LanguageModel(uniform), text) == pytest.approx(len(WORDS), rel=1e-6)


FREQUENCY = np.random.default_rng(0).dirichlet(np.ones(len(WORDS)))


def context_free(model):
    """Make every last state the first unit vector, and the head's first column the logarithms of frequencies."""
    model.transformer.ln_f.weight.zero_()
    model.transformer.ln_f.bias.zero_()[0] = 1
    model.lm_head.weight[:, 0] = torch.from_numpy(np.log(FREQUENCY)).float()


@pytest.fixture(scope="module")
def unigram(tmp_path_factory):
    return LanguageModel(gpt(tmp_path_factory.mktemp("unigram"), change=context_free))


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=LONGEST - 1))
def test_under_a_model_of_frequencies_perplexity_is_their_inverse_geometric_mean(unigram, words):
    logs = [math.log(FREQUENCY[WORDS.index(word)]) for word in words]
    assert perplexity(unigram, " ".join(words)) == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-5)


def test_perplexity_is_the_exponential_of_the_library_s_own_loss(lively):
    model, tokeniser = transformers.GPT2LMHeadModel.from_pretrained(lively).eval(), word_pieces(WORDS)
    for text, found in zip(TEXTS, LanguageModel(lively)(TEXTS)[0], strict=True):
        ids = torch.tensor([[2, *tokeniser(text, add_special_tokens=False)["input_ids"]]])
        with torch.inference_mode():
            assert found == pytest.approx(math.exp(model(input_ids=ids, labels=ids).loss.item()), rel=1e-4)


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_answers_do_not_depend_on_which_texts_go_together(lively, bert, batch):
    texts = [*TEXTS, "", "the " * 100, "good"]
    alone = [perplexity(LanguageModel(lively), text) for text in texts]
    together = LanguageModel(lively, batch)(texts)[0]
    assert together.pop(5) is alone.pop(5) is None  # of an empty text there is nothing to foretell
    assert together == pytest.approx(alone, rel=1e-4)
    encoder = SentenceEncoder(bert)
    singly = np.array([encoder([text])[0][0] for text in texts])
    np.testing.assert_allclose(np.array(SentenceEncoder(bert, batch)(texts)[0]), singly, atol=1e-5)


def test_encodings_have_length_1_and_are_those_of_the_filter(bert):
    found, cut = SentenceEncoder(bert)(TEXTS[:3])
    assert cut == 0
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    one_by_one = SentenceSimilarity(bert)
    np.testing.assert_allclose(found, [one_by_one.encode(text) for text in TEXTS[:3]], atol=1e-5)
    assert abs(found[0] @ found[1]) < 0.999  # they do differ


def test_a_long_text_is_judged_by_its_beginning_and_counted(lively, bert):
    long = "the good film was bad " * 20
    begins = " ".join(long.split()[: LONGEST - 1])
    values, cut = LanguageModel(lively)([long, begins])
    assert cut == 1
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    vectors, cut = SentenceEncoder(bert)([long, " ".join(long.split()[: LONGEST - 2])])  # two marks
    assert cut == 1
    np.testing.assert_allclose(*vectors, atol=1e-6)


def test_without_a_mark_that_begins_a_text_the_first_word_is_not_judged(tmp_path):
    tokeniser = word_pieces(WORDS)
    model = LanguageModel(gpt(tmp_path, change=context_free, tokeniser=tokeniser))
    assert perplexity(model, "good") is None
    assert perplexity(model, "bad good") == pytest.approx(1 / FREQUENCY[WORDS.index("good")], rel=1e-5)


def test_halves_of_characters_are_no_trouble(tmp_path):
    path = gpt(tmp_path, tokeniser=byte_pairs(["the good film"], 300))
    assert perplexity(LanguageModel(path), "half a \ud83d character 🎬") > 1


SWAPS = {"good": ("nice", "fine"), "film": ("movie",), "great": ("fine",)}
SENTENCES = ["the good film was a good film", "a great film", "the film was bad", "good film , great film , the film"]


def scores(texts):
    """Right at first; every word swapped brings it nearer to the other class, and one is enough for the second text."""
    lost = [2 * ("a fine" in text) + text.count("movie") + text.count("nice") for text in texts]
    return [[1.5 - one, 0.0] for one in lost]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    finder = d.Candidates(SynonymList(SWAPS), filters=())
    labels = [0] * len(SENTENCES)
    given = Examples.of(SENTENCES, labels, names=["0", "1"])
    return d.compare(scores, given, ["greedy", "random"], words=[1, 2], candidates=finder, out=folder)


def test_measures_are_means_over_successes_with_intervals(compared, lively, bert):
    found = text_quality(compared, bert, lively)
    encoder, model = SentenceEncoder(bert), LanguageModel(lively)
    assert 0 < sum(row.status in ("reached", "fewest") for row in found.records) < len(found.records)
    for number, words in enumerate((1, 2)):
        assert found.summaries[number].budget == words
        for solver in ("greedy", "random"):
            rows = [row for row in compared.select(solver) if row.allowed == words]
            pairs = [(row.text, row.adversarial_text) for row in rows if row.status in ("reached", "fewest")]
            expected = {
                "similarity": [float(np.dot(*encoder(pair)[0])) for pair in pairs],
                "perplexity_original": [perplexity(model, before) for before, _ in pairs],
                "perplexity": [perplexity(model, after) for _, after in pairs],
            }
            figures = found.summaries[number].solvers[solver]
            for name, values in expected.items():
                measure = figures.quality[name]
                assert measure == pytest.approx(np.mean(values), rel=1e-4)
                between = measure.low, measure.high
                assert between == pytest.approx(bootstrap(values, compared.settings["seed"] + number), rel=1e-4)
            # What was there stays.
            plain = compared.summaries[number].solvers[solver].as_dict()
            assert plain.items() <= figures.as_dict().items()
    assert found.summary.judges["sentence_encoder"] == bert
    assert found.judges == {"sentence_encoder": bert, "language_model": lively}


def test_only_what_was_asked_is_measured_and_the_records_given_stay_as_they_were(compared, lively):
    before = list(compared.records)
    found = text_quality(compared, language_model=lively)
    assert compared.records == before
    assert "similarity" not in found.summary.solvers["greedy"].quality
    assert "sentence_encoder" not in found.summary.judges
    for row in found.records:
        assert (row.perplexity is not None) == row.succeeded


def test_the_same_text_has_similarity_1_and_the_same_perplexity(compared, lively, bert):
    same = [replace(row, adversarial_text=row.text) for row in compared.records]
    found = text_quality(type(compared)(compared.settings, same), bert, lively).summary.solvers["greedy"]
    assert found.quality["similarity"] == pytest.approx(1, abs=1e-9)
    assert found.quality["perplexity"] == found.quality["perplexity_original"]


def test_each_distinct_text_is_judged_once(compared, bert):
    seen = []
    text_quality(compared, bert, watch=lambda *said: seen.append(said))
    won = [row for row in compared.records if row.status in ("reached", "fewest")]
    distinct = {text for row in won for text in (row.text, row.adversarial_text)}
    assert len(distinct) < 2 * len(won)
    assert seen[-1] == ("encoding texts", len(distinct), len(distinct))


def test_where_nothing_was_flipped_there_is_nothing_to_judge(lively, bert):
    lost = d.attack(lambda texts: [[1.0, 0.0]] * len(texts), (["a good film", "bad"], [0, 0]), words=0)
    figures = text_quality(lost, bert, lively).summary.solvers["disco"]
    assert figures.quality == {"similarity": None, "perplexity_original": None, "perplexity": None}
    assert sum(name.startswith(("similarity", "perplexity")) for name in figures.as_dict()) == 9


def test_a_model_that_cannot_judge_is_refused_in_a_sentence(compared, lively, bert, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"is not a causal language model.*choose a model such as GPT-2"):
        text_quality(compared, language_model=bert)
    bare = tmp_path / "bare"
    transformers.BertModel.from_pretrained(bert).save_pretrained(bare)
    with pytest.raises(ValueError, match=r"has no tokeniser|cannot be loaded"):
        text_quality(compared, sentence_encoder=bare)
    word_pieces(WORDS).save_pretrained(bare)
    assert text_quality(compared, sentence_encoder=bare).summary.solvers["greedy"].quality["similarity"] <= 1
    with pytest.raises(ValueError, match=r"it lacks .*initialised at random"):
        text_quality(compared, language_model=bare)
    with pytest.raises(ValueError, match="there is no folder '/no/such'"):
        text_quality(compared, sentence_encoder="/no/such")
    with pytest.raises(ValueError, match="there is no model to judge"):
        text_quality(compared)
    with pytest.raises(ValueError, match="batch is 0; choose 1 or more"):
        text_quality(compared, bert, batch=0)
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(ImportError, match=r"a language model needs transformers.*pip install .*\[hf\]"):
        text_quality(compared, language_model=lively)


def invoke(*arguments):
    return CliRunner().invoke(report.command, list(map(str, arguments)), catch_exceptions=False)


def test_the_report_shows_the_measures_in_table_json_and_page(compared, lively, bert):
    done = invoke(compared.folder, "--sentence-encoder", bert, "--language-model", lively, "--wide")
    assert done.exit_code == 0
    found = text_quality(compared, bert, lively)
    shown = (compared.folder / "report.html").read_text(encoding="utf-8")
    for summary in found.summaries:
        for figures in summary.solvers.values():
            measures = figures.quality
            assert f"{measures['similarity']:.3f}" in done.stdout
            assert f"{measures['perplexity'].low:,.1f}–{measures['perplexity'].high:,.1f}" in done.stdout
            assert f'<data value="{measures["perplexity_original"]!r}">' in shown
    assert done.stdout.count("perplexity after") == 2
    assert f"<dt>language model</dt><dd>{lively}</dd>" in shown
    lines = invoke(
        compared.folder, "--json", "--sentence-encoder", bert, "--language-model", lively
    ).stdout.splitlines()
    assert [json.loads(line) for line in lines] == [summary.as_dict() for summary in found.summaries]
    few = invoke(compared.folder, "--json", "--solver", "greedy", "--language-model", lively).stdout.splitlines()[0]
    assert json.loads(few)["solvers"]["greedy"]["perplexity"] == found.summary.solvers["greedy"].quality["perplexity"]


def test_the_table_of_records_has_the_measures_of_each_flipped_text(compared, lively, tmp_path):
    assert invoke(compared.folder, "--language-model", lively, "--csv", tmp_path / "a.csv").exit_code == 0
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = text_quality(compared, None, lively).records
    assert [row["perplexity"] for row in rows] == [str(one.perplexity or "") for one in found]
    assert any(row["perplexity"] for row in rows)
    assert not any(row["similarity"] for row in rows)


def test_a_report_without_judges_says_nothing_of_them(compared):
    done = invoke(compared.folder)
    assert "similarity" not in done.stdout
    assert "perplexity" not in make_page(read_run(compared.folder))


def test_texts_that_a_judge_does_not_read_to_the_end_are_told(tmp_path, lively):
    long = "the film was " * 20 + "good"
    finder = d.Candidates(SynonymList({"good": ("nice",)}), filters=())
    given = Examples.of([long], [0], names=["0", "1"])
    d.attack(lambda texts: [[1.0, 2.0 * ("nice" in text)] for text in texts], given, "greedy", words=1,
             candidates=finder, out=tmp_path / "run")  # fmt: skip
    done = invoke(tmp_path / "run", "--language-model", lively)
    assert f"2 texts are longer than the limit of {lively}" in done.stderr


def test_the_bar_comes_after_two_seconds_and_not_before():
    with DelayedProgress() as watch:
        watch.update("reading texts", 1, 3)
        assert not watch.progress.live.is_started
        watch.began -= 3
        watch.update("reading texts", 2, 3)
        assert watch.progress.live.is_started
        assert [task.completed for task in watch.progress.tasks] == [2]
    assert not watch.progress.live.is_started
