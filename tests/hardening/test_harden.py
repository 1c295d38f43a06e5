"""harden(): recipes, the choice among them, resuming, what is saved, and what is refused."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli
from discotext.hardening.harden import Budgets
from discotext.hardening.matrix import OWN, PAST, TWICE, NotMerged
from discotext.hardening.recipe import Recipe
from discotext.hardening.trainers import make_trainer
from discotext.text.candidates import Candidates
from discotext.text.merging import MergedWords
from discotext.text.sources import SynonymList
from discotext.text.words import WordContext, split
from discotext.victims.encoded import Encoded
from discotext.victims.victim import Capabilities
from tests.conftest import needs_sklearn, needs_torch

SYNONYMS = {"good": ["decent", "fine"], "decent": ["good"], "fine": ["good"], "bad": ["mediocre"], "mediocre": ["bad"]}
FEW = Budgets(share=0.3, passes=50, held_out=30, test=40)


def make_data(texts: int = 300, seed: int = 0) -> tuple[list[str], list[int]]:
    """Synonyms with opposite statistics: `decent` and `mediocre` are rare, and more often of the wrong class."""
    rng = np.random.default_rng(seed)
    found, labels = [], []
    for _ in range(texts):
        label = int(rng.integers(2))
        word = (("bad", "good") if rng.random() < 0.96 else ("decent", "mediocre"))[label]
        rest = rng.choice(["film", "plot", "actor", "scene", "story", "ending", "music", "script"], size=6)
        found.append(" ".join([*rest, word]))
        labels.append(label)
    return found, labels


def score_words(texts, bad=0, good=1):
    """A function that knows the words of `make_data`, and takes the rare ones for what they mostly are there."""
    scores = np.zeros((len(texts), 2))
    scores[:, bad] = [text.count("bad") + text.count("decent") for text in texts]
    scores[:, good] = [text.count("good") + text.count("mediocre") for text in texts]
    return scores


def interrupt(*given, **more):
    raise KeyboardInterrupt


@pytest.fixture
def no_matrix(monkeypatch):
    """Without attacks that the model was not built for, which take most of the time; two other tests have them all."""
    monkeypatch.setattr("discotext.hardening.harden.list_cells", lambda *given: [])


def make_finder() -> Candidates:
    return Candidates(source=SynonymList(SYNONYMS), filters=())


@pytest.mark.parametrize(
    "name",
    ["plain", "merged", "merged:0.2", "adversarial", "merged:3+adversarial:0.7", "augmented:3", "merged+augmented"],
)
def test_a_recipe_is_its_name(name):
    assert str(Recipe.parse(name)) == name


@pytest.mark.parametrize(
    "name",
    ["", "fancy", "fancy:1", "merged+merged", "merged:x", "merged:-1", "merged:nan", "adversarial:1", "augmented:1.5",
     "plain+merged", "mixed"],
)  # fmt: skip
def test_what_is_not_a_recipe_is_refused_by_name(name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        Recipe.parse(name)


def test_an_attacker_who_knows_the_groups_wastes_no_place():
    text = split("a good film")
    context = WordContext(text, ("DT", "JJ", "NN"), 1)
    knows = NotMerged(MergedWords({"good": "good", "fine": "good"}))
    assert knows.refuses(context, "fine")
    assert not knows.refuses(context, "nice")


@needs_sklearn
def test_merging_makes_a_pipeline_robust_and_the_folder_is_a_victim(tmp_path):
    found = discotext.harden(
        make_data(), "tfidf", candidates=make_finder(), budgets=FEW, out=tmp_path / "h", max_loss=10,
        recipes=["merged:100", "augmented"],
    )  # fmt: skip
    own = found.matrix[OWN]
    assert found.chosen == "merged:100"
    assert repr(found).startswith("Hardening: tfidf on ")
    assert max(map(len, repr(found).splitlines())) <= 80
    assert own.after > own.before
    assert found.certificates[1].certified_accuracy == own.after  # merged words cannot be told apart: proved
    assert {OWN, TWICE, PAST} <= set(found.matrix)
    result = json.loads((tmp_path / "h" / "hardening.json").read_text())
    assert set(result["recipes"]["plain"]) >= {"clean", "attacked", "seconds"}
    for name in ("clean_before", "clean_after", "attacked_before", "attacked_after", "worst_after"):
        assert result["test"][f"{name}_low"] <= result["test"][name] <= result["test"][f"{name}_high"]
    assert result["test"]["worst_after"] == min(cell["after"] for cell in result["test"]["matrix"].values())
    texts, labels = make_data(40, seed=1)
    again = discotext.attack(tmp_path / "h", (texts, labels), budget=0.3, candidates=make_finder())
    assert next(iter(again.summary.solvers.values())).success_rate == 0
    assert "<script" not in (tmp_path / "h" / "report.html").read_text()
    assert discotext.attack(tmp_path / "h" / "plain", (texts, labels), candidates=make_finder(), limit=5).records


@needs_sklearn
def test_what_is_done_is_not_done_again_and_other_settings_are_refused(tmp_path, monkeypatch):
    from discotext.hardening.trainers import SklearnTrainer

    calls = []
    train = SklearnTrainer.train
    monkeypatch.setattr(
        SklearnTrainer, "train", lambda self, recipe, task: calls.append(str(recipe)) or train(self, recipe, task)
    )
    settings = {"candidates": make_finder(), "budgets": FEW, "out": tmp_path / "h"}
    with monkeypatch.context() as broken:
        broken.setattr("discotext.hardening.harden.certify", interrupt)
        with pytest.raises(KeyboardInterrupt):
            discotext.harden(make_data(), "tfidf", recipes=["merged:1", "merged:100"], **settings)
    assert calls == ["plain", "merged:1", "merged:100"]
    first = discotext.harden(make_data(), "tfidf", recipes=["merged:1", "merged:100"], **settings)
    assert calls == ["plain", "merged:1", "merged:100"]
    assert first.plain.scores(["a good film"]).shape == (1, 2)
    with pytest.raises(ValueError, match="other settings"):
        discotext.harden(make_data(), "tfidf", seed=3, **settings)


def test_a_function_gets_a_reader_of_synonyms_and_nothing_else(tmp_path, no_matrix):
    (tmp_path / "hardening_settings.json.new").touch()  # as a kill at the first write leaves it
    texts, labels = make_data()
    # Its classes stand in another order than those of the data.
    victim = discotext.victims.FunctionVictim(lambda texts: score_words(texts, bad=1, good=0), labels=("good", "bad"))
    found = discotext.harden(
        (texts, [("bad", "good")[label] for label in labels]), victim, candidates=make_finder(), budgets=FEW,
        max_loss=50, recipes=["merged:100"], out=tmp_path,
    )  # fmt: skip
    assert found.clean[0] == 1.0
    assert found.matrix[OWN].after >= found.matrix[OWN].before
    assert found.chosen == "merged:100"
    assert not found.trained
    assert MergedWords.parse((tmp_path / "merged_words.json").read_bytes(), "file").codes
    with pytest.raises(ValueError, match="adversarial"):
        discotext.harden(make_data(), score_words, recipes=["adversarial"])


@needs_sklearn
@pytest.mark.parametrize(
    ("data", "settings", "says"),
    [
        (make_data(20), {}, "16"),
        (make_data(), {"test": make_data()}, "100 %"),
        (make_data(), {"recipes": ["adversarial"]}, "adversarial"),
        (make_data(), {"max_loss": -1}, "-1"),
        (make_data(), {"budgets": Budgets(share=0)}, "0"),
        ((["one text"] * 60, ["a"] * 60), {}, "class|label"),
    ],
)
def test_what_cannot_be_hardened_is_refused_in_a_sentence(data, settings, says):
    with pytest.raises(ValueError, match=says):
        discotext.harden(data, "tfidf", candidates=make_finder(), **settings)


@pytest.mark.parametrize("model", ["bert", "lstmm", "TFIDF"])
def test_an_unknown_model_is_refused_with_the_known_ones(model):
    with pytest.raises(ValueError, match=f"{model}.*wcnn.*tfidf"):
        discotext.harden(make_data(), model)


@needs_sklearn
def test_the_command_prints_tables_and_json(tmp_path):
    texts, labels = make_data()
    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in zip(texts, labels, strict=True))
    )
    (tmp_path / "mine.json").write_text(json.dumps(SYNONYMS))
    common = ["harden", str(tmp_path / "data.jsonl"), "--model", "tfidf", "--synonyms", str(tmp_path / "mine.json")]
    common += ["--without", "all", "--recipe", "merged:100", "--max-loss", "10"]
    done = CliRunner().invoke(cli, [*common, "--out", str(tmp_path / "h"), "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"chosen", "recipes", "test"} <= set(found)
    done = CliRunner().invoke(cli, [*common, "--out", str(tmp_path / "h")])
    assert done.exit_code == 0, done.stderr
    assert "hardened" in done.stdout
    assert "chosen" in done.stdout
    done = CliRunner().invoke(cli, [*common[:-4], "--recipe", "fancy", "--out", str(tmp_path / "other")])
    assert done.exit_code == 1
    assert "fancy" in done.stderr
    assert "Traceback" not in done.stderr


@needs_torch
def test_a_network_that_was_trained_here_is_trained_again_and_not_only_asked(tmp_path):
    from tests.victims.neural.test_training import tiny

    tiny("wcnn").save(tmp_path / "plain")
    Encoded(tiny("dan"), MergedWords({"good": "good", "fine": "good"})).save(tmp_path / "merged")
    for folder, kind in (("plain", "wcnn"), ("merged", "dan")):
        trainer = make_trainer(str(tmp_path / folder))
        assert trainer.name == kind
        trainer.check(Recipe.parse("merged+adversarial"))  # of a victim that is only asked this is refused


@needs_torch
def test_a_network_is_trained_by_merging_and_exchanging(tmp_path, no_matrix):
    found = discotext.harden(
        make_data(), "dan", candidates=make_finder(), budgets=FEW, out=tmp_path / "h", max_loss=20, epochs=4,
        recipes=["merged:100+adversarial"],
    )  # fmt: skip
    assert set(found.trials) == {"plain", "merged:100+adversarial"}
    loaded = discotext.victims.load_victim(tmp_path / "h")
    texts, _ = make_data(20, seed=2)
    assert np.allclose(loaded.scores(texts), found.victim.scores(texts), atol=1e-5)


@needs_torch
def test_a_transformer_is_fine_tuned_on_exchanged_words_and_saved(tmp_path, monkeypatch, no_matrix):
    pytest.importorskip("transformers")
    from discotext.victims.transformers.victim import HuggingFaceVictim
    from tests.tiny_models import classifier, word_pieces

    texts, labels = make_data(120)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word for text in texts for word in text.split()} | {"fine"})
    model = classifier("Bert", len(marks) + len(words), num_labels=2)
    model.config.id2label = {0: "bad", 1: "good"}
    victim = HuggingFaceVictim(model, word_pieces([*marks, *words]))
    before = victim.scores(texts[:4])
    found = discotext.harden(
        (texts, labels), victim, candidates=make_finder(), budgets=FEW, out=tmp_path / "h", max_loss=100, epochs=1,
        recipes=["merged:100+adversarial"],
    )  # fmt: skip
    assert np.array_equal(victim.scores(texts[:4]), before)  # the user's own model stays as it is
    assert set(found.trials) == {"plain", "merged:100+adversarial"}

    from discotext.data.examples import Examples
    from discotext.hardening import trainers

    monkeypatch.setattr(trainers, "RATE", 3e-3)  # random weights need larger steps than trained ones
    examples = Examples.of(texts, labels, victim.labels)
    trainer = trainers.TransformerTrainer(victim, epochs=4)
    made = trainer.train(Recipe.parse("merged:100+adversarial"), trainers.Training(examples, make_finder(), 0.3, 0))
    assert log_loss(made, examples) < 0.8 * log_loss(victim, examples)
    made.save(tmp_path / "saved")
    loaded = discotext.victims.load_victim(tmp_path / "saved")
    assert np.allclose(loaded.scores(texts[:4]), made.scores(texts[:4]), atol=1e-4)
    assert loaded.labels == victim.labels


def log_loss(victim, examples) -> float:
    scores = victim.scores(examples.texts)
    shifted = scores - scores.max(axis=1, keepdims=True)
    chances = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -float(chances[np.arange(len(examples)), examples.labels].mean())


def test_numbers_are_not_taken_for_classes_that_have_names_and_no_order():
    class Named(discotext.Victim):
        name, labels, capabilities = "named", ("good", "bad"), Capabilities(ordered=False)

        def scores(self, texts):
            return score_words(texts, bad=1, good=0)

    with pytest.raises(ValueError, match="map-label"):
        discotext.harden(make_data(), Named(), candidates=make_finder())


@needs_sklearn
def test_another_model_of_the_same_name_and_a_folder_of_something_else_are_refused(tmp_path, no_matrix):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    settings = {"candidates": make_finder(), "budgets": FEW, "recipes": "plain"}
    first, second = (make_pipeline(CountVectorizer(), LogisticRegression(C=value)) for value in (1, 2))
    discotext.harden(make_data(), first, out=tmp_path / "a", **settings)
    with pytest.raises(ValueError, match="other settings"):
        discotext.harden(make_data(), second, out=tmp_path / "a", **settings)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="b is"):
        discotext.harden(make_data(), "tfidf", out=tmp_path / "b", **settings)


def test_what_another_choice_has_left_is_not_credited_to_this_one(tmp_path, monkeypatch):
    settings = {"candidates": make_finder(), "budgets": FEW, "out": tmp_path, "max_loss": 50}
    with monkeypatch.context() as broken:
        broken.setattr("discotext.hardening.harden.fill", interrupt)
        with pytest.raises(KeyboardInterrupt):
            discotext.harden(make_data(), score_words, recipes=["merged:100"], **settings)
    found = discotext.harden(make_data(), score_words, recipes=["plain"], **settings)
    assert found.chosen == "plain"
    assert found.matrix[OWN].after == found.matrix[OWN].before
