"""Which words a scikit-learn pipeline can tell apart, compared with whether they change its features."""

import numpy as np
import pytest

import discotext as d
from discotext.text.sources import SynonymList

pytest.importorskip("sklearn")
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discotext.victims.sklearn.model import find_vocabulary
from discotext.victims.sklearn.victim import SklearnVictim

GOOD = ["A good film", "good acting, Good story", "a fine film", "fine and good", "Great fun"] * 4
BAD = ["A bad film", "bad acting, Bad story", "a poor film", "poor and bad", "No fun"] * 4
TEXTS, LABELS = GOOD + BAD, [1] * 20 + [0] * 20
WORDS = ["good", "Good", "film", "gnu", "a", "fine", "fun", "story-telling", "good-film", "awful"]


def fitted(*steps):
    return make_pipeline(*steps, LogisticRegression()).fit(TEXTS, LABELS)


def moves(pipeline, word):
    """Whether a text of this word alone has features that an empty one does not."""
    features = pipeline[:-1]
    return bool((abs(features.transform([word]) - features.transform([""]))).sum() > 1e-12)


READERS = {
    "plain": (TfidfVectorizer(),),
    "as written": (TfidfVectorizer(lowercase=False),),
    "stop words": (TfidfVectorizer(stop_words=["film", "a"]),),
    "words and pairs": (CountVectorizer(ngram_range=(1, 2)),),
    "rare words left out": (CountVectorizer(min_df=6),),
    "counts, then weights": (CountVectorizer(), TfidfTransformer()),
    "own analyser": (CountVectorizer(analyzer=str.split),),
    "short words": (CountVectorizer(token_pattern=r"\w+"),),
    "selected": (TfidfVectorizer(), SelectKBest(f_classif, k=4)),
    "union": (FeatureUnion([("few", CountVectorizer(max_features=3)), ("more", CountVectorizer(max_features=6))]),),
}


@pytest.mark.parametrize("steps", READERS.values(), ids=READERS)
@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_known_if_and_only_if_it_moves_the_features(steps, word):
    pipeline = fitted(*steps)
    known = find_vocabulary(pipeline)
    if "-" in word:  # of several tokens all must be known, so that nothing of the word is lost
        assert (word in known) <= moves(pipeline, word)
    else:
        assert (word in known) == moves(pipeline, word)


def test_pairs_alone_are_known_by_their_words():
    known = find_vocabulary(fitted(CountVectorizer(ngram_range=(2, 2))))
    assert "good" in known
    assert "gnu" not in known


@pytest.mark.parametrize(
    "reader",
    [
        HashingVectorizer(n_features=64),
        TfidfVectorizer(analyzer="char", ngram_range=(1, 3)),
        TfidfVectorizer(analyzer="char_wb"),
        FeatureUnion([("words", CountVectorizer()), ("letters", CountVectorizer(analyzer="char"))]),
        FunctionTransformer(lambda texts: np.array([[len(text)] for text in texts])),
    ],
    ids=["hashing", "letters", "letters in words", "words and letters", "a function"],
)
def test_what_has_no_vocabulary_reads_anything(reader):
    assert find_vocabulary(fitted(reader)) is None


def test_what_stands_around_a_pipeline_is_looked_into():
    inner = make_pipeline(TfidfVectorizer(), LogisticRegression())
    for outer in (
        GridSearchCV(inner, {"logisticregression__C": [1.0]}, cv=2),
        CalibratedClassifierCV(inner, cv=2),
        Pipeline([("outer", make_pipeline(TfidfVectorizer(), TruncatedSVD(2))), ("last", LogisticRegression())]),
    ):
        known = find_vocabulary(outer.fit(TEXTS, LABELS))
        assert "good" in known, outer
        assert "gnu" not in known, outer


def test_swaps_to_words_a_pipeline_does_not_know_are_refused_or_counted_apart():
    pipeline = fitted(TfidfVectorizer())
    lists = {"good": ["gnu", "fine"]}
    data = (["good, bad, and good"], ["1"])
    careful = d.attack(pipeline, data, "exact", candidates=d.Candidates(SynonymList(lists), ()), words=2)
    swapped = {change.new for record in careful.records for change in record.changes}
    assert "gnu" not in swapped
    assert careful.summary.solvers["exact"].unknown_swaps == 0
    free = d.Candidates(SynonymList(lists), (), unknown_words=True)
    row = d.attack(pipeline, data, "exact", candidates=free, words=2).summary.solvers["exact"]
    assert 0 < row.unknown_swaps <= row.swaps
    assert SklearnVictim(pipeline).capabilities.vocabulary is not None
