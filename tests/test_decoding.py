"""decode(): what comes back, by which search, and how good it is."""

import json
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discotext
from discotext.core import Status
from discotext.decoding import Alternative, Constraints, Decoder, ErrorCounts, Network, NetworkError, rescore_list
from discotext.decoding.metrics import bootstrap_ratio, count_errors, count_least_errors, matched_pairs
from discotext.solvers import Beam, Disco, Greedy, PrefixBeam, Viterbi
from tests.small_models import Lengths, OnlySequential, OnlyWhole, make_ngram, networks

TRIGRAM = make_ngram(3)
SPOKEN = Network.of("u1", [[("a", -0.1), ("the", -2.0)], [("god", -0.5), ("good", -0.9)], [("film", 0.0), ("", -3.0)]])


@pytest.mark.parametrize(
    ("models", "solver"),
    [
        ([], "Viterbi"),
        ([TRIGRAM], "Viterbi"),
        ([OnlySequential(TRIGRAM)], "PrefixBeam(width=8"),
        ([Lengths()], "Disco"),
        ([TRIGRAM, Lengths()], "Disco"),
        ([OnlyWhole(TRIGRAM)], "Greedy"),
    ],
)
def test_auto_takes_the_search_that_suits_the_models(models, solver):
    (found,) = discotext.decode([SPOKEN], models)
    assert found.solver.startswith(solver)


def test_a_graph_and_a_network_of_skips_are_searched_by_a_wide_beam_and_proved():
    graph = Network.of("g", [[Alternative("a"), Alternative("the", -1.0, 2)], ["good"], ["film"]])
    skips = Network.of("s", [["a", "the", "good", ""]] * 12)
    found = discotext.decode([graph, SPOKEN, skips], [TRIGRAM])
    assert [one.id for one in found] == ["g", "u1", "s"]
    assert [one.solver.split("(")[0] for one in found] == ["PrefixBeam", "Viterbi", "PrefixBeam"]
    assert all(one.proved for one in found)


@given(st.lists(networks(spans=True), max_size=4), st.sampled_from([None, 0.3, 1.0]))
def test_the_best_text_comes_back_whatever_the_company(listed, budget):
    found = discotext.decode(listed, [TRIGRAM], weights=[0.5], channel_weight=2.0, word_penalty=0.1, budget=budget)
    for network, one in zip(listed, found, strict=True):
        most = len(network) if budget is None else discotext.text.words.compute_budget(len(network), budget)
        scores = {}
        for choice in product(*(range(count) for count in network.counts)):
            if network.is_consistent(choice) and np.count_nonzero(choice) <= most:
                sentence = network.tokens(choice)
                channel = sum(alternative.score for _, alternative in network.path(choice))
                scores[choice] = 2 * channel + 0.5 * float(TRIGRAM.score([sentence])[0]) - 0.1 * len(sentence)
        best = max(scores.values())
        if best > -math.inf:
            assert one.score == pytest.approx(best)
            assert sum(one.parts.values()) == pytest.approx(best)
            assert one.text in {network.text(choice) for choice, score in scores.items() if score > best - 1e-9}
            assert one.proved


@pytest.mark.parametrize("solver", ["viterbi", "prefix-beam", "beam", "exact", Beam(width=50), Disco(), Greedy()])
def test_n_best_texts_are_different_in_order_and_begin_with_the_best(solver):
    (found,) = discotext.decode([SPOKEN], [TRIGRAM], nbest=4, solver=solver)
    scores = [one.score for one in found.nbest]
    assert found.nbest[0].text == found.text
    assert scores == sorted(scores, reverse=True)
    assert len({one.text for one in found.nbest}) == len(found.nbest) == 4
    (exact,) = discotext.decode([SPOKEN], [TRIGRAM], nbest=4, solver="viterbi")
    if solver != Greedy():
        assert [one.text for one in found.nbest] == [one.text for one in exact.nbest]


def test_changes_say_where_what_and_by_how_much():
    network = Network(
        "1", tuple((Alternative(w), Alternative(v)) for w, v in [("a", "A"), ("god", "good")]), ("«", " ", "!")
    )
    (found,) = discotext.decode([network], [Lengths(5)], explain=True)
    assert (found.text, found.original) == ("«a good!", "«a god!")
    (change,) = found.changes
    assert (change.position, found.original[change.start : change.end], change.new) == (1, "god", "good")
    assert [one.word for one in change.options] == ["god"]
    assert change.margin == pytest.approx(0.1)
    assert json.loads(json.dumps(found.as_json()))["changes"] == [
        {"position": 1, "start": 3, "end": 6, "old": "god", "new": "good", "margin": pytest.approx(0.1),
         "alternatives": [{"word": "god", "score": pytest.approx(-0.1)}]}
    ]  # fmt: skip


def test_budgets_limit_the_changes():
    network = Network.of("1", [[("x", -1.0), ("y", 0.0)]] * 10)
    assert [len(discotext.decode([network], words=words)[0].changes) for words in (0, 3, 10)] == [0, 3, 10]
    assert len(discotext.decode([network], budget=0.25)[0].changes) == 2
    assert len(discotext.decode([network, SPOKEN], words=10)[1].changes) <= 3
    with pytest.raises(ValueError, match="words is 11, but network 1 has 10 positions; choose 0 to 10"):
        discotext.decode([network], words=11)
    with pytest.raises(ValueError, match="both a budget and a number of words"):
        discotext.decode([network], words=1, budget=0.5)
    with pytest.raises(ValueError, match="the share of words that may change is 2"):
        discotext.decode([network], budget=2)


def test_constraints_are_kept_and_contradictions_refused():
    (found,) = discotext.decode([SPOKEN], [TRIGRAM], constraints=Constraints(forced={1: "god"}, exclude="h"))
    assert "god" in found.text.split()
    (found,) = discotext.decode([SPOKEN], [TRIGRAM], constraints=Constraints(forbidden=["a", "film"]))
    assert found.text.split()[0] == "the"
    assert "film" not in found.text
    assert math.isnan(found.original_score)
    assert found.as_json()["original_score"] is None
    with pytest.raises(NetworkError, match="network u1: 2 positions may not keep their words"):
        discotext.decode([SPOKEN], constraints=Constraints(forbidden=["a", "film"]), words=1)
    with pytest.raises(NetworkError, match="network u1: position 1: none of 'god', 'good' is allowed"):
        discotext.decode([SPOKEN], constraints=Constraints(exclude="g"))


def test_a_list_is_rescored_by_the_model():
    texts = [("the film was film", -1.0), ("was the film good", -1.2), ("the film was good", -1.4)]
    scores = TRIGRAM.score_words([text.split() for text, _ in texts]) + [score for _, score in texts]
    (found,) = discotext.decode([rescore_list("1", texts)], [TRIGRAM], nbest=3)
    assert found.text == texts[int(np.argmax(scores))][0]
    assert [one.score for one in found.nbest] == pytest.approx(sorted(scores, reverse=True))


def test_networks_without_words_and_without_choices_come_back():
    found = discotext.decode([Network("0", ()), Network.of("1", [["a"]]), Network.of("2", [[""]])], [TRIGRAM])
    assert [(one.text, one.words, one.status) for one in found] == [
        ("", 0, Status.OPTIMAL), ("a", 1, Status.OPTIMAL), ("", 0, Status.OPTIMAL)
    ]  # fmt: skip
    assert discotext.decode([], [TRIGRAM]) == []


def test_a_model_that_fails_on_one_network_leaves_the_others():
    class Failing(OnlyWhole):
        def score(self, sentences):
            if any(token.word == "good" for sentence in sentences for token in sentence):
                raise RuntimeError("no words for this")
            return super().score(sentences)

    with pytest.raises(RuntimeError, match="no words"):
        Failing(TRIGRAM).score([SPOKEN.tokens((0, 1, 0))])
    found = discotext.decode([SPOKEN, Network.of("2", [["film", "plot"]])], [Failing(TRIGRAM)], solver="exact")
    assert [one.status is Status.FAILED for one in found] == [True, False]
    assert "no words for this" in found[0].as_json()["error"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "vitrebi"}, "there is no solver 'vitrebi'"),
        ({"nbest": 0}, "nbest is 0"),
        ({"words": -1}, "words is -1"),
        ({"weights": [1.0]}, "1 weights were given for 0 language models"),
        ({"channel_weight": math.inf}, "the channel weight is inf"),
    ],
)
def test_wrong_settings_are_refused_before_any_work(settings, words):
    with pytest.raises(ValueError, match=words):
        Decoder(**settings)


def test_a_decoder_is_used_for_many_calls_and_tells_how_far_it_is():
    decoder, told = Decoder([TRIGRAM]), []
    whole = decoder([SPOKEN] * 130, watch=lambda done, total: told.append((done, total)))
    assert [one.text for one in whole] == [decoder([SPOKEN])[0].text] * 130
    assert told == [(64, 130), (128, 130), (130, 130)]


@pytest.mark.parametrize("solver", [Viterbi(), PrefixBeam()])
def test_a_solver_is_taken_as_it_is(solver):
    assert discotext.decode([SPOKEN], [TRIGRAM], solver=solver)[0].solver == repr(solver)


# Error rates


def distance(one, other):
    """The edit distance, by its definition."""
    if not one or not other:
        return len(one) + len(other)
    same = distance(one[1:], other[1:]) + (one[0] != other[0])
    return min(same, distance(one[1:], other) + 1, distance(one, other[1:]) + 1)


SHORT = st.text("abc", max_size=5)


@given(SHORT, SHORT)
def test_errors_are_the_edit_distance(one, other):
    assert count_errors(one, other) == distance(one, other)


@given(networks(spans=True, forbidden=False), st.lists(st.sampled_from(["a", "good", "film", "wide"]), max_size=5))
def test_the_least_errors_are_those_of_the_best_text(network, truth):
    choices = [c for c in product(*(range(count) for count in network.counts)) if network.is_consistent(c)]
    assert count_least_errors(truth, network) == min(count_errors(truth, network.words(choice)) for choice in choices)


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
