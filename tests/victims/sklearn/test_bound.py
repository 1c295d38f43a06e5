"""Bounds of linear pipelines: equal to enumeration, for every vectoriser and classifier that is taken apart."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from discotext import Candidates, solve
from discotext.core.objectives import Targeted, Untargeted
from discotext.core.oracle import BoundingOracle, can
from discotext.core.oracle_check import check_oracle
from discotext.core.problem import count_changes, random_choices
from discotext.solvers import Exact, Greedy
from discotext.text import Space
from discotext.text.sources import SynonymList
from discotext.text.words import split
from discotext.victims.sklearn.bound import read_text
from discotext.victims.sklearn.features import read_vectoriser
from discotext.victims.sklearn.victim import SklearnVictim

WORDS = "red green blue big small old new good bad fine cat dog bird house tree a the very".split()
VECTORISERS = {
    "tfidf": lambda: TfidfVectorizer(),
    "tfidf l1": lambda: TfidfVectorizer(norm="l1"),
    "tfidf no norm": lambda: TfidfVectorizer(norm=None),
    "sublinear": lambda: TfidfVectorizer(sublinear_tf=True),
    "binary": lambda: TfidfVectorizer(binary=True, use_idf=False),
    "binary, sublinear": lambda: TfidfVectorizer(binary=True, sublinear_tf=True),
    "counts": lambda: CountVectorizer(),
    "pairs": lambda: TfidfVectorizer(ngram_range=(1, 2)),
    "pairs alone, sublinear": lambda: TfidfVectorizer(ngram_range=(2, 2), sublinear_tf=True),
    # Words without a token may stand between neighbours.
    "pairs, stop words": lambda: TfidfVectorizer(ngram_range=(1, 2), stop_words=["the", "very", "old", "new", "big"]),
    "count pairs": lambda: CountVectorizer(ngram_range=(1, 2), binary=True),
}
CLASSIFIERS = {
    "logistic": lambda: LogisticRegression(C=10),
    "svm": lambda: LinearSVC(),
    "sgd": lambda: SGDClassifier(random_state=0),
    "ridge": lambda: RidgeClassifier(),
    "perceptron": lambda: Perceptron(random_state=0),
    "bayes": lambda: MultinomialNB(),
    "complement": lambda: ComplementNB(),
    "one against the rest": lambda: OneVsRestClassifier(LinearSVC()),
    "searched": lambda: GridSearchCV(LogisticRegression(), {"C": [1.0, 10.0]}, cv=2),
}


def make_texts(rng, number, longest=8):
    return [" ".join(rng.choice(WORDS, size=int(rng.integers(1, longest)))) for _ in range(number)]


def make_space(rng, texts, words=2):
    synonyms = {word: rng.choice(WORDS, size=2, replace=False).tolist() for word in WORDS if len(word) > 1}
    finder = Candidates(SynonymList(synonyms), filters=(), scorer=None)
    return Space.of(texts, finder, words=words)


def fit(vectoriser, classifier, rng, classes, *middle):
    texts = [*make_texts(rng, 60), *WORDS]
    labels = rng.integers(classes, size=len(texts))
    return SklearnVictim(make_pipeline(vectoriser, *middle, classifier).fit(texts, labels))


def assert_like_enumeration(space, oracle, goal):
    """Exact search says the same with bounds as without."""
    plain = solve(space.batch, oracle, Exact(bounds=False), goal=goal)
    bounded = solve(space.batch, oracle, Exact(), goal=goal)
    assert [(one.status, one.proved_below) for one in bounded] == [(one.status, one.proved_below) for one in plain]


@pytest.mark.parametrize("vectoriser", VECTORISERS)
def test_verdicts_are_those_of_enumeration(vectoriser):
    # Every other classifier with two classes, the rest with three; the next vectoriser the other way round.
    for seed, (name, classifier) in enumerate(CLASSIFIERS.items()):
        classes = 2 + (seed + list(VECTORISERS).index(vectoriser)) % 2
        rng = np.random.default_rng(seed)
        victim = fit(VECTORISERS[vectoriser](), classifier(), rng, classes)
        space = make_space(rng, make_texts(rng, 8))
        objective = Untargeted(rng.integers(classes, size=len(space)))
        oracle = victim.oracle(space, objective)
        assert can(oracle, BoundingOracle), name
        assert check_oracle(space.batch, oracle, seed=seed, rows=10).failures == ()
        truth = [one.score for one in solve(space.batch, oracle, Exact(bounds=False))]
        for goal in (np.quantile(truth, [0.3, 0.7]) + 1e-5).tolist():
            assert_like_enumeration(space, oracle, goal)


@pytest.mark.parametrize("seed", range(2))
def test_no_choice_that_is_ruled_out_reaches_the_goal_of_a_targeted_attack_either(seed):
    rng = np.random.default_rng(seed)
    victim = fit(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=5), rng, 4)
    space = make_space(rng, make_texts(rng, 20, longest=15), words=4)
    oracle = victim.oracle(space, Targeted(rng.integers(4, size=len(space))))
    everyone = np.arange(len(space))
    for _ in range(10):
        choices = random_choices(space.batch, rng)
        held = space.batch.one_hot(choices) > 0
        allowed = held | (rng.random(space.batch.candidates) < 0.5)
        found = oracle.reach(everyone, allowed, oracle.score(everyone, choices) - 1e-9)
        assert (found.levels <= count_changes(choices)).all()
        assert (found.by_candidate[held] <= count_changes(choices)[space.batch.row_of][held]).all()


@pytest.mark.parametrize(
    "middle",
    [
        (TfidfTransformer(),),
        (MaxAbsScaler(),),
        (TfidfTransformer(), SelectKBest(k=12)),
        (SelectKBest(k=12), Normalizer("l1")),
    ],
    ids=["weights", "scaled", "selected", "normed"],
)
def test_verdicts_after_steps_between_vectoriser_and_classifier_are_those_of_enumeration(middle):
    rng = np.random.default_rng(0)
    victim = fit(CountVectorizer(ngram_range=(1, 2)), LogisticRegression(), rng, 2, *middle)
    space = make_space(rng, make_texts(rng, 10))
    oracle = victim.oracle(space, Untargeted([0] * 10))
    assert can(oracle, BoundingOracle)
    assert_like_enumeration(space, oracle, 0.0)


@pytest.mark.parametrize(
    "parts",
    [
        (HashingVectorizer(n_features=64), LogisticRegression()),
        (TfidfVectorizer(analyzer="char"), LogisticRegression()),
        (TfidfVectorizer(ngram_range=(1, 3)), LogisticRegression()),
        (TfidfVectorizer(), DecisionTreeClassifier()),
        (TfidfVectorizer(tokenizer=str.split, preprocessor=lambda text: text[::-1]), LogisticRegression()),
    ],
    ids=["hashing", "characters", "three words", "tree", "reversed"],
)
def test_what_is_not_understood_gets_no_bounds_or_right_ones(parts):
    rng = np.random.default_rng(1)
    victim = fit(*parts, rng, 2)
    space = make_space(rng, make_texts(rng, 6))
    oracle = victim.oracle(space, Untargeted(rng.integers(2, size=6)))
    assert ("no bounds" in victim.explain_bounds()) != can(oracle, BoundingOracle)
    if can(oracle, BoundingOracle):
        assert check_oracle(space.batch, oracle, rows=30).failures == ()
    assert_like_enumeration(space, oracle, 0.0)


def test_a_token_that_crosses_the_edge_of_a_word_is_not_guessed():
    rng = np.random.default_rng(2)
    victim = fit(TfidfVectorizer(), LogisticRegression(), rng, 2)
    space = make_space(rng, ["a good_cat sat", "_good dog", "good<br />cat and bad", "GOOD dog! good dog?"])
    oracle = victim.oracle(space, Untargeted([0, 1, 0, 1]))
    assert_like_enumeration(space, oracle, 0.0)


def test_a_long_text_is_decided_by_few_bounds():
    rng = np.random.default_rng(3)
    many = [f"{first}{second}" for first in WORDS for second in WORDS[:12]]
    texts = [" ".join(rng.choice(many, size=60)) for _ in range(60)]
    labels = rng.integers(2, size=60)
    victim = SklearnVictim(
        make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10)).fit(texts, labels)
    )
    synonyms = {word: rng.choice(many, size=3, replace=False).tolist() for word in many}
    space = Space.of(texts[:6], Candidates(SynonymList(synonyms), filters=(), scorer=None), words=6)
    oracle = victim.oracle(space, Untargeted(labels[:6]))
    attacked = solve(space.batch, oracle, Greedy())
    goal = float(np.median([one.score for one in attacked]))
    found = solve(space.batch, oracle, Exact(passes=200), goal=goal + 1e-6)
    assert all(one.proved for one, other in zip(found, attacked, strict=True) if other.score < goal)
    assert np.median([one.forwards for one, other in zip(found, attacked, strict=True) if other.score < goal]) < 100


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ((CountVectorizer(dtype=bool), LogisticRegression()), "bool"),
        ((TfidfVectorizer(dtype=np.float32), LogisticRegression()), "float32"),
        ((CountVectorizer(ngram_range=(1, 2)), MultinomialNB(alpha=0)), "infinite"),
        ((TfidfVectorizer(token_pattern=r"\S+"), LogisticRegression()), "token pattern"),
        ((TfidfVectorizer(token_pattern=r"[A-z]{5,}"), LogisticRegression()), "token pattern"),
        ((TfidfVectorizer(token_pattern=r"[0-z]+"), LogisticRegression()), "token pattern"),
        ((TfidfVectorizer(token_pattern=r"[+-a]+"), LogisticRegression()), "token pattern"),
        ((TfidfVectorizer(preprocessor=str.upper), LogisticRegression()), "preprocessor"),
        ((make_union(TfidfVectorizer(), CountVectorizer()), LogisticRegression()), "several"),
    ],
    ids=["bool", "single", "infinite", "pattern", "letters", "digits", "signs", "preprocessor", "union"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_part_that_would_make_bounds_wrong_is_named(parts, named):
    assert named in fit(*parts, np.random.default_rng(0), 2).explain_bounds()


def test_a_token_that_may_reach_into_the_next_word_is_not_guessed():
    for vectoriser, text, options in (
        (CountVectorizer(token_pattern=r"\b\w{4,}\b"), "fine a_b", (("fine",), ("a", "ab"), ("b",))),
        (CountVectorizer(strip_accents="ascii"), "fine a—b", (("fine",), ("a", "abc"), ("b",))),
        (CountVectorizer(), "FINE.NEXT", (("FINE", "ΟΔΟΣ"), ("NEXT",))),
    ):
        assert read_text(read_vectoriser(vectoriser.fit(WORDS)), split(text), options, {}) is None
