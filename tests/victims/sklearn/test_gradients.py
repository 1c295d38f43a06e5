"""Gradients of scikit-learn pipelines: derivatives, exact at texts where counts are, in the order of true gains."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from discotext import Candidates
from discotext.core.objectives import CustomObjective, Untargeted
from discotext.core.oracle import RelaxedOracle, can
from discotext.core.oracle_check import check_oracle
from discotext.core.problem import random_choices
from discotext.core.swaps import all_swaps
from discotext.text import Space
from discotext.text.sources import SynonymList
from discotext.victims import SklearnVictim

WORDS = (
    "able baker charlie dog easy fox george house item jig king love mike nancy oboe peter queen roger sugar tare "
    "uncle victor william xray yoke zebra"
).split()
SIGNS = [", ", " ", " ", " ", "! ", " - "]


def svm():
    return LinearSVC(C=0.5, random_state=0)


# Exact for every choice: counts of words, or of n-grams whose words are all looked at together.
EXACT = {
    "logarithms after counts": lambda: (CountVectorizer(), TfidfTransformer(sublinear_tf=True), svm()),
    "l1": lambda: (TfidfVectorizer(norm="l1"), LogisticRegression()),
    "idf after length 1": lambda: (TfidfVectorizer(), TfidfTransformer(norm=None), svm()),
    "triples": lambda: (TfidfVectorizer(ngram_range=(1, 3)), LogisticRegression()),
    "triples alone": lambda: (CountVectorizer(ngram_range=(3, 3)), LogisticRegression()),
    "four and more": lambda: (TfidfVectorizer(ngram_range=(2, 4)), LogisticRegression()),
    "pairs, stop words": lambda: (TfidfVectorizer(ngram_range=(1, 2), stop_words=WORDS[:4]), LogisticRegression()),
    "single precision": lambda: (TfidfVectorizer(dtype=np.float32), LogisticRegression()),
    "two of words": lambda: (
        make_union(TfidfVectorizer(), CountVectorizer(binary=True, ngram_range=(2, 2))),
        LogisticRegression(),
    ),
    "weighted": lambda: (
        FeatureUnion(
            [("a", TfidfVectorizer()), ("b", make_pipeline(CountVectorizer(ngram_range=(1, 2)), TfidfTransformer()))],
            transformer_weights={"a": 3.0, "b": 0.5},
        ),
        LogisticRegression(),
    ),
    "selected": lambda: (CountVectorizer(), TfidfTransformer(), SelectKBest(chi2, k=15), Normalizer(), svm()),
    "selected of two": lambda: (
        make_union(CountVectorizer(), TfidfVectorizer(ngram_range=(2, 2))),
        SelectKBest(chi2, k=40),
        StandardScaler(with_mean=False),
        LogisticRegression(),
    ),
    "words inside words": lambda: (
        make_union(TfidfVectorizer(), TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4))),
        svm(),
    ),
    "characters of words, counts": lambda: (CountVectorizer(analyzer="char_wb", ngram_range=(1, 3)), MultinomialNB()),
    "calibrated svm": lambda: (TfidfVectorizer(), CalibratedClassifierCV(svm(), cv=3)),
    "calibrated, one classifier": lambda: (TfidfVectorizer(), CalibratedClassifierCV(svm(), cv=3, ensemble=False)),
    "calibrated pairs": lambda: (
        TfidfVectorizer(ngram_range=(1, 2)),
        CalibratedClassifierCV(SGDClassifier(random_state=0), cv=2),
    ),
    "bayes": lambda: (TfidfVectorizer(), MultinomialNB()),
    "complement": lambda: (CountVectorizer(), ComplementNB()),
    "ridge": lambda: (TfidfVectorizer(sublinear_tf=True), RidgeClassifier()),
    "sgd": lambda: (TfidfVectorizer(), SGDClassifier(loss="modified_huber", random_state=0)),
    "perceptron": lambda: (TfidfVectorizer(), Perceptron(random_state=0)),
    "one against the rest": lambda: (TfidfVectorizer(), OneVsRestClassifier(svm())),
    "searched": lambda: GridSearchCV(make_pipeline(TfidfVectorizer(), svm()), {"linearsvc__C": [0.1, 1.0]}, cv=2),
    "searched inside": lambda: (TfidfVectorizer(), GridSearchCV(svm(), {"C": [0.1, 1.0]}, cv=2)),
}
# Exact for single swaps: changes that touch one n-gram are counted apart.
NEARLY = {
    "characters": lambda: (TfidfVectorizer(analyzer="char", ngram_range=(2, 4)), LogisticRegression()),
    "characters, logarithms": lambda: (
        TfidfVectorizer(analyzer="char", ngram_range=(3, 5), sublinear_tf=True),
        RidgeClassifier(),
    ),
    "words and characters": lambda: (
        make_union(TfidfVectorizer(ngram_range=(1, 2)), TfidfVectorizer(analyzer="char", ngram_range=(3, 3))),
        CalibratedClassifierCV(svm(), cv=2),
    ),
}
# Least rank correlations where they are lower: with n-grams alone one swap changes nearly half of the features, and so
# the length that all are divided by.
CURVED = {"four and more": 0.7}
UNKNOWN = {
    "forest": lambda: (TfidfVectorizer(), RandomForestClassifier(5, random_state=0)),
    "components": lambda: (TfidfVectorizer(), TruncatedSVD(3, random_state=0), LogisticRegression()),
    "isotonic": lambda: (TfidfVectorizer(), CalibratedClassifierCV(svm(), method="isotonic", cv=2)),
    "calibrated bayes": lambda: (TfidfVectorizer(), CalibratedClassifierCV(MultinomialNB(), cv=2)),
    "another bayes": lambda: (CountVectorizer(), BernoulliNB()),
    "a tokenizer": lambda: (TfidfVectorizer(tokenizer=str.split, token_pattern=None), LogisticRegression()),
    "an analyzer": lambda: (TfidfVectorizer(analyzer=str.split), LogisticRegression()),
    "a part of its own": lambda: (
        make_union(TfidfVectorizer(), FunctionTransformer(lambda texts: np.array([[len(text)] for text in texts]))),
        LogisticRegression(),
    ),
    "centred": lambda: (TfidfVectorizer(), FunctionTransformer(lambda x: x.toarray()), StandardScaler(), svm()),
    "largest": lambda: (TfidfVectorizer(), Normalizer("max"), svm()),
    "logarithms of shares": lambda: (TfidfVectorizer(norm="l1"), TfidfTransformer(sublinear_tf=True), svm()),
    "hashing": lambda: (HashingVectorizer(n_features=64), svm()),
    "of length 1 together": lambda: (make_union(TfidfVectorizer(), CountVectorizer()), Normalizer(), svm()),
    "calibrated pipelines": lambda: CalibratedClassifierCV(make_pipeline(TfidfVectorizer(), svm()), cv=2),
    "longest": lambda: (TfidfVectorizer(ngram_range=(1, 6)), LogisticRegression()),
}


def make_texts(rng, number, length=9):
    """Words, some of them repeated, with signs between them."""
    return [
        "".join(word + sign for word, sign in zip(rng.choice(WORDS, length), rng.choice(SIGNS, length), strict=True))
        for _ in range(number)
    ]


def fit(parts, classes, number=150):
    rng = np.random.default_rng(1)
    texts = make_texts(rng, number)
    weights = rng.normal(size=(len(WORDS), classes))
    labels = [int(np.argmax(sum(weights[WORDS.index(w)] for w in WORDS if w in text))) for text in texts]
    pipeline = parts if hasattr(parts, "fit") else make_pipeline(*parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return SklearnVictim(pipeline.fit(texts, labels)), texts, labels


def make_space(texts, words=4):
    synonyms = {word: [WORDS[(at + step) % len(WORDS)] for step in (1, 7, 11)] for at, word in enumerate(WORDS)}
    return Space.of(texts, Candidates(SynonymList(synonyms), filters=(), scorer=None), words=words)


def make_oracle(make, classes):
    victim, texts, labels = fit(make(), classes)
    space = make_space(texts[:8])
    assert victim.capabilities.gradients
    return space, victim.oracle(space, Untargeted(labels[:8]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_a_relaxed_value_is_the_score_of_the_text_where_counts_are_exact(make, classes):
    space, oracle = make_oracle(make, classes)
    problems = np.tile(np.arange(len(space)), 6)
    choices = random_choices(space.batch.take(problems), np.random.default_rng(0))
    relaxed, _ = oracle.relaxed(problems, space.batch.take(problems).one_hot(choices))
    np.testing.assert_allclose(relaxed, oracle.score(problems, choices), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", (EXACT | NEARLY).values(), ids=EXACT | NEARLY)
def test_every_single_swap_is_exact_and_gradients_are_derivatives(make, classes):
    space, oracle = make_oracle(make, classes)
    report = check_oracle(space.batch, oracle)
    assert not report.failures
    assert report.gradient_gap < 1e-3
    swaps = all_swaps(space.batch)
    choices = swaps.apply(space.batch.originals())
    relaxed, _ = oracle.relaxed(swaps.rows, space.batch.take(swaps.rows).one_hot(choices))
    np.testing.assert_allclose(relaxed, oracle.score(swaps.rows, choices), rtol=1e-5, atol=1e-5)


def rank_correlation(one, other):
    """Spearman's, ties by their mean rank."""
    ranks = [np.unique(some.round(9), return_inverse=True, return_counts=True)[1:] for some in (one, other)]
    means = [(np.cumsum(counts) - (counts + 1) / 2)[where] for where, counts in ranks]
    return np.corrcoef(*means)[0, 1]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", EXACT | NEARLY)
def test_gradients_are_in_the_order_of_true_gains(name, classes):
    victim, texts, labels = fit((EXACT | NEARLY)[name](), classes)
    space = make_space(texts[:8])
    batch, everyone = space.batch, np.arange(len(space))
    true, other = np.array(labels[:8]), find_other(victim.scores(texts[:8]), labels[:8])

    def lead(scores, problems):
        """Of one and the same other class: where another comes first, a margin has a kink that no gradient foresees."""
        rows = np.arange(len(scores))
        return scores[rows, other[problems]] - scores[rows, true[problems]]

    oracle = victim.oracle(space, CustomObjective(lead))
    originals = batch.originals()
    scores, gradient = oracle.score(everyone, originals), oracle.relaxed(everyone, batch.one_hot(originals))[1]
    swaps = all_swaps(batch)
    gains = oracle.score(swaps.rows, swaps.apply(originals)) - scores[swaps.rows]
    predicted = gradient - gradient[batch.starts][batch.position_of]
    changed = swaps.candidates > 0
    each = [
        rank_correlation(gains[mine], predicted[mine]) for n in everyone if (mine := changed & (swaps.rows == n)).any()
    ]
    assert np.mean(each) > CURVED.get(name, 0.9)


def find_other(scores, labels):
    """The best class but the true one."""
    scores[np.arange(len(scores)), labels] = -np.inf
    return scores.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_has_no_gradients_and_is_attacked_without(make, classes):
    victim, texts, labels = fit(make(), classes)
    assert not victim.capabilities.gradients
    oracle = victim.oracle(make_space(texts[:3]), Untargeted(labels[:3]))
    assert not can(oracle, RelaxedOracle)
    assert np.isfinite(oracle.score(np.arange(3), np.zeros((3, 9), dtype=np.int32))).all()


class Boosted(LogisticRegression):
    """Has the weights of a classifier, and decides by something else."""

    def decision_function(self, X):  # noqa: N803 (the name that scikit-learn gives it)
        return 2 * super().decision_function(X) ** 3


Boosted.__name__ = "LogisticRegression"


def test_a_pipeline_that_does_something_else_than_its_weights_say_is_not_believed():
    victim, *_ = fit((TfidfVectorizer(), Boosted()), 2)
    assert not victim.capabilities.gradients
