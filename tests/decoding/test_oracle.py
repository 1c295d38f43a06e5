"""Sums of language models and channel on networks: the laws of each ability, and agreement with exhaustive search."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext import solve
from discotext.core import RelaxedOracle, Status, check_oracle
from discotext.decoding.network import Network, make_batch
from discotext.decoding.oracle import find_reach, make_oracle
from discotext.decoding.paths import PrefixBeam, Viterbi
from discotext.solvers import Exact
from tests.decoding.small_models import OnlySequential, OnlyWhole, make_ngram, networks

BIGRAM, TRIGRAM = make_ngram(2, seed=1), make_ngram(3)
# Of each sum its models, and what it can do: list windows (its order), read from left to right, mix.
SUMS = {
    "channel only": ([], (1, True, True)),
    "unigram": ([make_ngram(1)], (1, True, True)),
    "trigram": ([TRIGRAM], (2, True, True)),
    "two n-grams": ([TRIGRAM, BIGRAM], (2, True, True)),
    "left to right": ([OnlySequential(TRIGRAM)], (None, True, False)),
    "left to right without keys": ([OnlySequential(BIGRAM, keys=False)], (None, True, False)),
    "n-gram and left to right": ([BIGRAM, OnlySequential(TRIGRAM)], (None, True, False)),
    "whole": ([OnlyWhole(TRIGRAM)], (None, False, False)),
    "n-gram and whole": ([TRIGRAM, OnlyWhole(BIGRAM)], (None, False, False)),
}
MODELS = {name: models for name, (models, _) in SUMS.items()}
ABILITIES = {name: abilities for name, (_, abilities) in SUMS.items()}
every_sum = pytest.mark.parametrize("name", SUMS)


def build(name, listed, budgets=None, penalty=0.3):
    models = MODELS[name]
    batch = make_batch(listed, [len(one) for one in listed] if budgets is None else budgets)
    return batch, make_oracle(listed, batch, models, [1.0, 0.4][: len(models)], penalty)


def score_by_hand(name, network, choice):
    """The sum, by its definition."""
    if not network.is_consistent(choice):
        return -np.inf
    path = network.path(choice)
    total = sum(one.score for _, one in path) - 0.3 * sum(len(one.word.split()) for _, one in path)
    sentence = network.tokens(choice)
    return total + sum(w * float(m.score([sentence])[0]) for w, m in zip([1.0, 0.4], MODELS[name], strict=False))


def choices_of(network):
    return list(product(*(range(count) for count in network.counts)))


@every_sum
@given(listed=st.lists(networks(spans=True), min_size=1, max_size=3))
def test_the_score_is_the_sum_it_says_and_a_sum_can_do_what_its_models_can(name, listed):
    _, oracle = build(name, [Network.of("1", [["a", "the"], ["film"]])])
    assert (oracle.order, oracle.sequential, isinstance(oracle, RelaxedOracle)) == ABILITIES[name]
    _, oracle = build(name, listed)
    for problem, network in enumerate(listed):
        choices = choices_of(network)[:12]
        found = oracle.score(
            np.full(len(choices), problem), np.array(choices, dtype=np.int32).reshape(len(choices), -1)
        )
        assert found == pytest.approx([score_by_hand(name, network, choice) for choice in choices])


@pytest.mark.parametrize("name", [name for name in SUMS if ABILITIES[name][1]])
@given(listed=st.lists(networks(spans=True), min_size=1, max_size=3))
def test_gains_add_up_to_the_score(name, listed):
    _, oracle = build(name, listed)
    for problem, network in enumerate(listed):
        for choice in choices_of(network)[:6] if len(network) else ():
            states, total = oracle.start(np.array([problem])), 0.0
            for position, candidate in enumerate(choice):
                states, gains = oracle.extend(states, np.array([0]), position, np.array([candidate]))
                total += gains[0]
            assert total == pytest.approx(score_by_hand(name, network, choice))


@pytest.mark.parametrize("name", [name for name in SUMS if ABILITIES[name][2]])
@given(listed=st.lists(networks(forbidden=False), min_size=1, max_size=3))
def test_mixtures_keep_the_laws_of_oracles(name, listed):
    batch, oracle = build(name, [one for one in listed if len(one)])
    assert check_oracle(batch, oracle).failures == ()


SEARCHES = [
    *((name, Viterbi()) for name in SUMS if ABILITIES[name][0]),
    *((name, PrefixBeam(width=1000)) for name in SUMS if ABILITIES[name][1]),
]


@pytest.mark.parametrize(("name", "solver"), SEARCHES, ids=repr)
@given(data=st.data())
def test_searches_along_the_text_are_exact(name, solver, data):
    listed = data.draw(st.lists(networks(spans=isinstance(solver, PrefixBeam)), min_size=1, max_size=3))
    budgets = [data.draw(st.integers(0, len(network))) for network in listed]
    batch, oracle = build(name, listed, budgets)
    for index, (one, other) in enumerate(zip(solve(batch, oracle, solver), solve(batch, oracle, Exact()), strict=True)):
        assert one.score == pytest.approx(other.score, nan_ok=True)
        assert one.status is Status.OPTIMAL
        assert listed[index].is_consistent(one.choice.tolist())


@pytest.mark.parametrize(
    ("positions", "order", "reach"),
    [
        ([["a"], ["b"], ["c"]], 3, 3),
        ([["a"], ["b"]], 3, 2),
        ([["a"], ["b", ""], ["c"], ["d"]], 3, 4),
        ([["a"], ["b", ""], ["c", ""], ["d"]], 2, 4),
        ([["a"], ["b c"], ["d"]], 3, 2),
        ([["a", ""]] * 5, 2, 5),
        ([], 3, 1),
    ],
)
def test_a_term_looks_past_words_that_may_be_skipped(positions, order, reach):
    assert find_reach([Network.of("1", positions)], [make_ngram(order)]) == reach


def test_wrong_weights_are_refused():
    listed = [Network.of("1", [["a"]])]
    with pytest.raises(ValueError, match="2 weights"):
        make_oracle(listed, make_batch(listed, [1]), [BIGRAM], [1.0, 2.0])
    with pytest.raises(ValueError, match="nan"):
        make_oracle(listed, make_batch(listed, [1]), [BIGRAM], [float("nan")])
