"""What people hold in Python is attacked as it is: pipelines and models of transformers, scikit-learn, spaCy, Keras."""

import os
import pickle
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli
from discotext.victims import load_victim
from tests.tiny_models import classifier, word_pieces

PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the a good nice bad awful film movie was fine story acting an .".split()
TEXTS = ["a fine film", "an awful film", "fine acting", "awful acting"]
LABELS = ["good", "bad", "good", "bad"]
DATA = (["an awful film", "a fine film"], ["bad", "good"])


def transformers_parts(kind="Bert", **more):
    pytest.importorskip("transformers")
    tokenizer = word_pieces(PIECES)
    return classifier(kind, len(tokenizer), **more), tokenizer


def fitted():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)


# --- transformers


@pytest.mark.parametrize(
    "settings", [{}, {"top_k": None}, {"top_k": 1}, {"function_to_apply": "none"}, {"function_to_apply": "sigmoid"}]
)
def test_a_transformers_pipeline_is_its_model_with_gradients_whatever_its_settings(settings):
    model, tokenizer = transformers_parts()
    import transformers

    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, **settings)
    victim = load_victim(pipe)
    assert isinstance(victim, discotext.HuggingFaceVictim)
    assert victim.capabilities.gradients
    same = discotext.HuggingFaceVictim(model, tokenizer)
    np.testing.assert_array_equal(victim.scores(TEXTS), same.scores(TEXTS))
    long = [" ".join([text, "was a nice story and the acting was good"] * 3) for text in TEXTS]
    labels = victim.scores(long).argmax(axis=1).tolist()
    result = discotext.attack(pipe, (long, labels), words=3)
    assert list(result.summary.solvers) == ["disco"]
    assert result.summary.solvers["disco"].backwards > 0


def test_a_pipelines_own_truncation_is_kept():
    model, tokenizer = transformers_parts()
    import transformers

    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, truncation=True, max_length=5)
    victim = load_victim(pipe)
    long = "a fine film was awful"
    wanted = {one["label"]: one["score"] for one in pipe(long, top_k=None, function_to_apply="none")}
    np.testing.assert_allclose(victim.scores([long])[0], [wanted[label] for label in victim.labels], atol=1e-4)
    assert victim.truncates([long, "a film"]) == [True, False]


def test_a_pipeline_that_does_more_than_its_model_is_attacked_by_its_own_answers():
    model, tokenizer = transformers_parts()
    import transformers

    class Reversed(transformers.TextClassificationPipeline):
        def preprocess(self, inputs, **settings):
            return super().preprocess(" ".join(reversed(inputs.split())), **settings)

    pipe = Reversed(model=model, tokenizer=tokenizer)
    with pytest.warns(UserWarning, match="answers differently from its model and tokenizer"):
        victim = load_victim(pipe)
    assert not victim.capabilities.gradients
    wanted = {one["label"]: one["score"] for one in pipe("good film the", top_k=None)}
    assert victim.scores(["good film the"])[0].tolist() == [wanted[label] for label in victim.labels]


def test_a_model_and_its_tokenizer_are_a_victim_in_either_order():
    model, tokenizer = transformers_parts()
    for pair in ((model, tokenizer), [tokenizer, model]):
        victim = load_victim(pair)
        assert isinstance(victim, discotext.HuggingFaceVictim)
        assert victim.capabilities.gradients
    model, tokenizer = transformers_parts(num_labels=1)
    assert load_victim((model, tokenizer)).scores(TEXTS).shape == (4, 2)


def test_a_model_finds_its_tokenizer_by_its_name_or_asks_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model, tokenizer = transformers_parts()
    with pytest.raises(ValueError, match=r"has no name by which .*; pass the pair \(model, tokenizer\)"):
        load_victim(model)
    model.save_pretrained(tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    held = type(model).from_pretrained(tmp_path / "m")
    np.testing.assert_array_equal(load_victim(held).scores(TEXTS), load_victim((model, tokenizer)).scores(TEXTS))
    held.config._name_or_path = str(tmp_path / "elsewhere")
    with pytest.raises(
        ValueError, match=r"no tokenizer of the Bert\w+ was found at .*elsewhere.*pass the pair"
    ) as error:
        load_victim(held)
    assert "\n" not in str(error.value)
    smaller = classifier("Bert", 7)
    smaller.config._name_or_path = str(tmp_path / "m")
    with pytest.raises(ValueError, match=r"it has 19 tokens, but the model 7; pass the pair"):
        load_victim(smaller)


def test_models_and_pipelines_that_do_not_classify_are_refused():
    model, tokenizer = transformers_parts()
    with pytest.raises(TypeError, match=r"is a tokenizer without a model; pass the pair \(model, tokenizer\)"):
        load_victim(tokenizer)
    import transformers

    with pytest.raises(
        ValueError, match=r"the BertModel does not classify texts .* AutoModelForSequenceClassification"
    ):
        load_victim((model.bert, tokenizer))
    filler = transformers.pipeline("feature-extraction", model=model.bert, tokenizer=tokenizer)
    with pytest.raises(TypeError, match="for 'feature-extraction' does not classify texts; pass one for"):
        load_victim(filler)


def test_a_hugging_face_folder_is_loaded_bare(tmp_path):
    model, tokenizer = transformers_parts()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    victim = load_victim(tmp_path)
    assert isinstance(victim, discotext.HuggingFaceVictim)
    np.testing.assert_array_equal(victim.scores(TEXTS), load_victim(f"hf:{tmp_path}").scores(TEXTS))
    (tmp_path / "d.csv").write_text("text,label\nan awful film,LABEL_0\na fine film,LABEL_1\nacting,LABEL_2\n")
    done = CliRunner().invoke(cli, ["predict", str(tmp_path), str(tmp_path / "d.csv")])
    assert done.exit_code == 0, done.output
    assert done.output.count('"predicted"') == 3


# --- scikit-learn


def test_a_skops_file_is_loaded_bare_and_is_the_same_victim(tmp_path, monkeypatch):
    pipeline = fitted()
    skops = pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    skops.dump(pipeline, "model.skops")
    victim = load_victim("model.skops")
    assert victim.name == "sklearn:model.skops" == load_victim("sklearn:model.skops").name
    result = discotext.attack("model.skops", DATA, words=1)
    assert result.summary.solvers["disco"].original_accuracy == 1.0
    (tmp_path / "d.csv").write_text("text,label\nan awful film,bad\na fine film,good\n")
    run = CliRunner()
    assert run.invoke(cli, ["attack", "model.skops", "d.csv", "--words", "1", "--out", "run", "--json"]).exit_code == 0
    # With the prefix it is the same run, which is finished.
    again = run.invoke(cli, ["attack", "sklearn:model.skops", "d.csv", "--words", "1", "--out", "run", "--json"])
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize("suffix", ["joblib", "pkl"])
def test_a_pickle_given_bare_gets_a_hint(suffix, tmp_path, monkeypatch):
    pipeline = fitted()
    monkeypatch.chdir(tmp_path)
    path = f"model.{suffix}"
    with open(path, "wb") as file:
        pickle.dump(pipeline, file)
    with open("d.csv", "w") as file:
        file.write("text,label\nan awful film,bad\na fine film,good\n")
    done = CliRunner().invoke(cli, ["attack", path, "d.csv", "--words", "1"])
    assert done.exit_code == 1
    assert "skops.io.dump(pipeline, 'model.skops') instead" in done.output
    assert "pass --trust" in done.output
    assert f"joblib.load('{path}')" in done.output
    assert CliRunner().invoke(cli, ["attack", path, "d.csv", "--words", "1", "--trust"]).exit_code == 0


def test_other_paths_are_answered_with_what_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("text,label\na,b\nc,d\n")
    (tmp_path / "model.pt").write_text("")
    (tmp_path / "empty").mkdir()
    run = CliRunner()
    for victim, says in (
        ("model.pt", "model.pt ends in '.pt'; expected .skops"),
        ("missing.skops", "there is no victim 'missing.skops'"),
        ("empty", "it has no settings.json, as folders of `discotext train` have, and no config.json"),
    ):
        done = run.invoke(cli, ["attack", victim, "d.csv"])
        assert done.exit_code == 1
        assert says in done.output
        assert done.output.count("\n") == 1


def test_what_is_no_fitted_classifier_of_texts_is_told_the_way_out():
    pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    with pytest.raises(ValueError, match=r"without classes_; expected a fitted classifier: call fit\(texts, labels\)"):
        discotext.attack(make_pipeline(TfidfVectorizer(), LogisticRegression()), DATA)
    with pytest.raises(TypeError, match="TfidfVectorizer is not a classifier; pass a fitted pipeline"):
        discotext.attack(TfidfVectorizer(), DATA)
    with pytest.raises(TypeError, match="KMeans has neither decision_function nor predict_proba; pass FunctionVictim"):
        discotext.attack(KMeans(), DATA)
    with pytest.raises(TypeError, match="LogisticRegression is a class; pass an object of it"):
        discotext.attack(LogisticRegression, DATA)


# --- spaCy


def spacy_pipeline(factory="textcat", labels=("bad", "good")):
    spacy = pytest.importorskip("spacy")
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    component = nlp.add_pipe(factory)
    for label in labels:
        component.add_label(label)
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {one: float(one == label) for one in labels}})
        for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(10):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_a_spacy_pipeline_is_attacked_by_its_categories():
    nlp = spacy_pipeline()
    victim = load_victim(nlp)
    assert isinstance(victim, discotext.SpacyVictim)
    assert victim.labels == ("bad", "good")
    scores = victim.scores(["an awful film", ""])
    for row, text in zip(scores, ["an awful film", ""], strict=True):
        np.testing.assert_allclose(np.exp(row), list(nlp(text).cats.values()), rtol=1e-5, atol=1e-30)
    assert victim.scores([]).shape == (0, 2)
    result = discotext.attack(nlp, DATA, words=1)
    assert result.summary.solvers["disco"].original_accuracy == 1.0
    assert {record.status for record in result.records} - {"failed", "unstable"}
    copied = pickle.loads(pickle.dumps(victim))
    np.testing.assert_allclose(copied.scores(TEXTS), victim.scores(TEXTS), rtol=1e-6)


def test_a_spacy_pipeline_with_one_label_has_two_classes_and_one_with_several_is_refused():
    victim = load_victim(spacy_pipeline("textcat_multilabel", ("good",)))
    assert victim.labels == ("not good", "good")
    np.testing.assert_allclose(np.exp(victim.scores(TEXTS)).sum(axis=1), 1.0, rtol=1e-5)
    with pytest.raises(ValueError, match=r"assigns several labels to a text \(bad, good\); pass a function"):
        load_victim(spacy_pipeline("textcat_multilabel"))
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"has no text categorisers \(components: sentencizer\); pass a pipeline with"):
        load_victim(nlp)


# --- Keras


def keras():
    """Keras, on PyTorch unless TensorFlow, its default, is installed."""
    if find_spec("tensorflow") is None:
        pytest.importorskip("torch", reason="Keras has no backend")
        os.environ.setdefault("KERAS_BACKEND", "torch")
    return pytest.importorskip("keras", reason="Keras is not installed")


def test_a_keras_model_with_preprocessing_of_its_own_is_called_with_the_texts():
    keras_package = keras()

    class Counting(keras_package.Model):
        def predict(self, x, verbose="auto"):
            if not isinstance(x, list):
                raise TypeError("expected a list of strings")
            return np.array([[text.count("awful"), 0.5] for text in x])

    model = Counting(name="counting")
    victim = load_victim(model)
    assert victim.name == "keras:counting"
    assert victim.scores(["an awful film", "a fine film"]).tolist() == [[1.0, 0.5], [0.0, 0.5]]
    result = discotext.attack(model, (["an awful film"], [0]), words=1)
    assert result.records[0].succeeded


def test_a_keras_model_that_takes_numbers_is_refused():
    keras_package = keras()
    inputs = keras_package.Input(shape=(4,))
    model = keras_package.Model(inputs, keras_package.layers.Dense(2)(inputs), name="dense")
    with pytest.raises(ValueError, match=r"'dense' takes float32, not strings; pass a function .* model\.predict"):
        load_victim(model)

    class Numbers(keras_package.Model):
        def call(self, rows):
            return rows + 1

    with pytest.raises(ValueError, match=r"cannot be called with texts .*; pass a function") as error:
        load_victim(Numbers(name="numbers"))
    assert "\n" not in str(error.value)


def test_a_keras_model_with_a_vectoriser_is_attacked():
    pytest.importorskip("tensorflow", reason="TextVectorization needs TensorFlow")
    keras_package = keras()
    vectoriser = keras_package.layers.TextVectorization(output_mode="multi_hot")
    vectoriser.adapt(TEXTS)
    keras_package.utils.set_random_seed(0)
    inputs = keras_package.Input(shape=(1,), dtype="string")
    outputs = keras_package.layers.Dense(1, activation="sigmoid")(vectoriser(inputs))
    for model in (
        keras_package.Model(inputs, outputs),
        keras_package.Sequential([vectoriser, keras_package.layers.Dense(2)]),
    ):
        victim = load_victim(model)
        assert victim.scores(TEXTS).shape == (4, 2)
        labels = victim.scores(TEXTS).argmax(axis=1).tolist()
        assert discotext.attack(model, (TEXTS, labels), words=1).summary.solvers["disco"].original_accuracy == 1.0


# --- anything else


def test_a_pytorch_module_is_told_what_to_pass():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"module Linear takes numbers, not texts; pass a function .* write a Victim"):
        discotext.attack(torch.nn.Linear(2, 2), DATA)


@pytest.mark.parametrize(
    "given", [None, 3, {"a": 1}, [], ["a", "b"], (1, 2, 3), object()], ids=lambda one: type(one).__name__
)
def test_the_message_for_anything_else_names_what_is_accepted(given):
    with pytest.raises(TypeError) as error:
        discotext.attack(given, DATA)
    message = str(error.value)
    for kind in (
        "a transformers text-classification pipeline",
        "a pair (model, tokenizer)",
        "a fitted scikit-learn pipeline",
        "a spaCy pipeline",
        "a Keras model",
        "a function from a list of texts to scores",
        "a Victim",
    ):
        assert kind in message
    assert "\n" not in message


def test_what_python_accepts_can_be_named_on_the_command_line(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "model.py").write_text(
        "from sklearn.feature_extraction.text import TfidfVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        f"pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit({TEXTS}, {LABELS})\n"
    )
    victim = load_victim("py:model.py:pipeline")
    assert isinstance(victim, discotext.SklearnVictim)
    assert victim.name == "py:model.py:pipeline"
    assert victim.capabilities.gradients


def test_a_kind_of_victim_whose_library_is_missing_names_the_extra(monkeypatch):
    for name in [one for one in sys.modules if one.startswith("discotext.victims.neural.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(vars(discotext), "NeuralVictim", raising=False)
    with pytest.raises(ImportError, match=r"NeuralVictim needs torch, .* pip install .*\[torch\]"):
        _ = discotext.NeuralVictim


def test_every_kind_of_victim_is_importable_from_the_top():
    pytest.importorskip("torch")
    from discotext import victims

    kinds = [name for name in victims.__all__ if name.endswith("Victim")]
    assert {"HttpVictim", "NeuralVictim", "SpacyVictim", "SklearnVictim", "HuggingFaceVictim"} <= set(kinds)
    assert all(getattr(discotext, name) is getattr(victims, name) for name in kinds)
