"""Error rates: edit distances by their definition, and how often intervals and tests are right."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discotext.decoding import ErrorCounts, Network
from discotext.decoding.metrics import bootstrap_ratio, count_errors, count_least_errors, matched_pairs
from tests.decoding.small_models import distance, networks

SHORT = st.text("abc", max_size=5)


@given(SHORT, SHORT)
def test_errors_are_the_edit_distance(one, other):
    assert count_errors(one, other) == distance(one, other)


@given(networks(spans=True, forbidden=False), st.lists(st.sampled_from(["a", "good", "film", "wide"]), max_size=5))
def test_the_least_errors_are_those_of_the_best_text(network, truth):
    choices = [c for c in product(*(range(count) for count in network.counts)) if network.is_consistent(c)]
    assert count_least_errors(truth, network) == min(
        count_errors(truth, [token.word for token in network.tokens(choice)]) for choice in choices
    )


def test_error_rates_of_a_case_worked_by_hand():
    counts = ErrorCounts()
    counts.add("a good film", "a good film", "a god film", Network.of("1", [["a"], ["god", "good"], ["film"]]))
    counts.add("was it", "was", "was", Network.of("2", [["was"]]))
    rates = counts.rates()
    assert (rates.wer, rates.wer_original, rates.wer_oracle) == (1 / 5, 2 / 5, 1 / 5)
    assert (rates.cer, rates.n, rates.words) == (3 / 17, 2, 5)
    assert rates.wer_low <= rates.wer <= rates.wer_high
    empty = ErrorCounts().rates()
    assert (empty.wer, empty.p, empty.n) == (None, None, 0)


def test_the_interval_covers_the_rate_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(100):
        words = rng.integers(5, 30, size=80).astype(float)
        low, high = bootstrap_ratio(rng.binomial(words.astype(int), 0.2).astype(float), words, seed)
        covered += low <= 0.2 <= high
    assert 88 <= covered <= 100


def test_matched_pairs_rejects_what_is_equal_as_often_as_it_says():
    rng = np.random.default_rng(1)
    small = [matched_pairs(*rng.poisson(2, size=(2, 60)).astype(float)) for _ in range(300)]
    assert 0.01 <= np.mean(np.array(small) < 0.05) <= 0.1
    assert matched_pairs(np.zeros(5), np.ones(5)) == 1 / 16
    assert matched_pairs(np.zeros(1), np.ones(1)) is None
    better = matched_pairs(rng.poisson(1, size=200).astype(float), rng.poisson(3, size=200).astype(float))
    assert better < 1e-6
