"""scikit-learn pipelines as victims: their scores, and the files they are loaded from."""

import pickle
import zipfile

import numpy as np
import pytest

from discotext.victims.sklearn.victim import FLOOR, SklearnVictim, UntrustedError, load_sklearn
from discotext.victims.victim import compute_scores
from tests.victims.toys import TEXTS, fit_pipeline

pytest.importorskip("sklearn")


def test_two_classes_differ_by_the_decision():
    model = fit_pipeline()
    victim = SklearnVictim(model)
    found = victim.scores(TEXTS)
    assert (victim.labels, victim.method) == (("neg", "pos"), "decision_function")
    np.testing.assert_allclose(found[:, 1] - found[:, 0], model.decision_function(TEXTS))
    assert [victim.labels[i] for i in found.argmax(axis=1)] == model.predict(TEXTS).tolist()


def test_a_pipeline_can_be_sent_to_workers_after_it_was_asked():
    victim = SklearnVictim(fit_pipeline())
    known = [word in victim.capabilities.vocabulary for word in ("good", "gnu")]
    again = pickle.loads(pickle.dumps(victim))
    assert np.array_equal(again.scores(TEXTS), victim.scores(TEXTS))
    assert [word in again.capabilities.vocabulary for word in ("good", "gnu")] == known
    assert again.capabilities.gradients == victim.capabilities.gradients


def test_without_a_decision_the_log_probability_is_the_score():
    model = fit_pipeline("MultinomialNB")
    victim = SklearnVictim(model)
    assert victim.method == "predict_log_proba"
    np.testing.assert_allclose(victim.scores(TEXTS), model.predict_log_proba(TEXTS))


def test_a_decision_for_each_pair_of_classes_is_passed_over():
    class Pairs:
        classes_ = ("a", "b", "c", "d")

        def decision_function(self, texts):
            return np.zeros((len(texts), 6))

        def predict_proba(self, texts):
            return np.full((len(texts), 4), 0.25)

    victim = SklearnVictim(Pairs())
    assert victim.method == "predict_proba"
    np.testing.assert_allclose(victim.scores(["x"]), np.log(0.25))


def test_a_probability_of_nothing_has_a_finite_score():
    class Sure:
        classes_ = np.array([False, True])

        def predict_proba(self, texts):
            return np.array([[0.0, 1.0]] * len(texts))

    victim = SklearnVictim(Sure())
    assert victim.labels == ("False", "True")
    assert compute_scores(victim, ["x"]).tolist() == [[FLOOR, 0.0]]


def test_what_is_no_classifier_of_texts_is_refused():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.pipeline import make_pipeline

    with pytest.raises(ValueError, match="classes_"):
        SklearnVictim(make_pipeline(TfidfVectorizer(), LogisticRegression()))
    with pytest.raises(ValueError, match="Expected 2D"):
        SklearnVictim(Perceptron().fit([[0.0], [1.0]], [0, 1]))

    class Silent:
        classes_ = ("a", "b")

    with pytest.raises(ValueError, match="decision_function"):
        SklearnVictim(Silent())
    Silent.classes_ = ("a",)
    with pytest.raises(ValueError, match="'a'"):
        SklearnVictim(Silent())


def test_a_pipeline_comes_back_from_skops_as_it_went(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = fit_pipeline()
    skops.dump(model, tmp_path / "model.skops")
    victim = load_sklearn(f"sklearn:{tmp_path / 'model.skops'}")
    assert victim.name == f"sklearn:{tmp_path / 'model.skops'}"
    assert np.array_equal(victim.scores(TEXTS), SklearnVictim(model).scores(TEXTS))


def test_types_that_skops_does_not_know_need_trust(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = fit_pipeline("forest")
    skops.dump(model, tmp_path / "forest.skops")
    with pytest.raises(UntrustedError, match=r"sklearn.tree._tree.Tree.*--trust"):
        load_sklearn(tmp_path / "forest.skops")
    victim = load_sklearn(tmp_path / "forest.skops", trust=True)
    assert np.array_equal(victim.scores(TEXTS), SklearnVictim(model).scores(TEXTS))


class Bomb:
    def __reduce__(self):
        return (open, ("went_off", "w"))


def test_a_pickle_is_not_opened_without_trust(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for suffix in (".pkl", ".pickle", ".joblib"):
        (tmp_path / f"bomb{suffix}").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(UntrustedError, match=r"skops.io.dump\(.*--trust.*joblib.load\("):
            load_sklearn(f"bomb{suffix}")
    assert not (tmp_path / "went_off").exists()
    model = fit_pipeline()
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    assert np.array_equal(load_sklearn("model.pkl", trust=True).scores(TEXTS), SklearnVictim(model).scores(TEXTS))


def test_a_file_without_a_pipeline_raises_a_one_line_error(tmp_path):
    pytest.importorskip("skops")
    for name, sentence in {"none.skops": "none.skops", "model.txt": "'.txt'", "model.skops": "BadZipFile"}.items():
        if name.startswith("model"):
            (tmp_path / name).write_text("hello")
        with pytest.raises(ValueError, match=sentence):
            load_sklearn(tmp_path / name)


def test_a_pipeline_that_unpacks_a_thousandfold_is_refused(tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(fit_pipeline(), tmp_path / "model.skops")
    assert load_sklearn(tmp_path / "model.skops").labels == ("neg", "pos")
    with zipfile.ZipFile(tmp_path / "model.skops", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", np.zeros(40_000_000, dtype=np.uint8).tobytes() * 4)
    with pytest.raises(UntrustedError, match="unpack"):
        load_sklearn(tmp_path / "model.skops")
