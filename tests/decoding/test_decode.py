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
from discotext.decoding import Alternative, Decoder, Network, NetworkError, PrefixBeam, Viterbi, rescore_list
from discotext.solvers import Beam, Disco, Greedy
from tests.decoding.small_models import OnlySequential, OnlyWhole, make_ngram, networks

TRIGRAM = make_ngram(3)
SPOKEN = Network.of("u1", [[("a", -0.1), ("the", -2.0)], [("god", -0.5), ("good", -0.9)], [("film", 0.0), ("", -3.0)]])


@pytest.mark.parametrize(
    ("models", "solver"),
    [
        ([], "Viterbi"),
        ([TRIGRAM], "Viterbi"),
        ([OnlySequential(TRIGRAM)], "PrefixBeam(width=8"),
        ([TRIGRAM, OnlyWhole(TRIGRAM)], "Greedy"),
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
    found = discotext.decode(listed, [TRIGRAM], weights=[0.5], word_penalty=0.1, budget=budget)
    for network, one in zip(listed, found, strict=True):
        most = len(network) if budget is None else discotext.text.words.compute_budget(len(network), budget)
        scores = {}
        for choice in product(*(range(count) for count in network.counts)):
            if network.is_consistent(choice) and np.count_nonzero(choice) <= most:
                sentence = network.tokens(choice)
                channel = sum(alternative.score for _, alternative in network.path(choice))
                scores[choice] = channel + 0.5 * float(TRIGRAM.score([sentence])[0]) - 0.1 * len(sentence)
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


def test_changes_say_where_and_what():
    network = Network(
        "1",
        ((Alternative("a"), Alternative("A", -1.0)), (Alternative("god", -1.0), Alternative("good"))),
        ("«", " ", "!"),
    )
    (found,) = discotext.decode([network])
    assert (found.text, found.original) == ("«a good!", "«a god!")
    (change,) = json.loads(json.dumps(found.as_json()))["changes"]
    assert change == {"position": 1, "start": 3, "end": 6, "old": "god", "new": "good"}
    assert found.original[change["start"] : change["end"]] == "god"


def test_budgets_limit_the_changes_and_a_solver_is_taken_as_it_is():
    for solver in (Viterbi(), PrefixBeam()):
        assert discotext.decode([SPOKEN], [TRIGRAM], solver=solver)[0].solver == repr(solver)
    network = Network.of("1", [[("x", -1.0), ("y", 0.0)]] * 10)
    assert [len(discotext.decode([network], words=words)[0].changes) for words in (0, 3, 10)] == [0, 3, 10]
    assert len(discotext.decode([network], budget=0.25)[0].changes) == 2
    assert len(discotext.decode([network, SPOKEN], words=10)[1].changes) <= 3


def test_what_is_forbidden_is_not_chosen_and_what_is_impossible_is_refused():
    never = -math.inf
    (found,) = discotext.decode([Network.of("1", [[("god", never), "good"], ["film"]])])
    assert found.text == "good film"
    assert math.isnan(found.original_score)
    assert found.as_json()["original_score"] is None
    rows = [["a"], [("god", never), ("good", never)], ["film"]]
    with pytest.raises(NetworkError, match="'god', 'good'"):
        Decoder()([Network.of("1", rows)])
    with pytest.raises(NetworkError, match="network 2: 2 positions"):
        Decoder(words=1)([Network.of("2", [[("x", never), "y"]] * 2)])
    # A longer word leads around the position, unless it is forbidden, too.
    for score in (0.0, never):
        around = Network("1", ((Alternative("a"), Alternative("x", score, 2)), *Network.of("1", rows).positions[1:]))
        if score == never:
            with pytest.raises(NetworkError, match="position 1"):
                Decoder()([around])
        else:
            assert Decoder()([around])[0].text == "x film"


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


@pytest.mark.parametrize(("kind", "solver"), [(OnlyWhole, "exact"), (OnlySequential, "auto")])
def test_a_model_that_fails_on_one_network_leaves_the_others(kind, solver):
    class Failing(kind):
        def score(self, sentences):
            return super().score([self.check(sentence) for sentence in sentences])

        def check(self, tokens):
            if any(token.word == "good" for token in tokens):
                raise RuntimeError("no words for this")
            return tokens

    model = Failing(TRIGRAM)
    if kind is OnlySequential:
        model.extend = lambda states, parents, tokens: TRIGRAM.extend(states, parents, model.check(tokens))
    found = discotext.decode([SPOKEN, Network.of("2", [["film", "plot"]])], [model], solver=solver)
    assert [one.status is Status.FAILED for one in found] == [True, False]
    assert "no words for this" in found[0].as_json()["error"]
    assert found[0].text == "a god film"


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"solver": "vitrebi"}, "vitrebi"),
        ({"nbest": 0}, "nbest is 0"),
        ({"words": -1}, "words is -1"),
        ({"words": 11}, "10 positions"),
        ({"words": 1, "budget": 0.5}, "budget"),
        ({"budget": 2}, "2"),
        ({"weights": [1.0]}, "1 weights"),
        ({"word_penalty": math.inf}, "inf"),
    ],
)
def test_wrong_settings_are_refused_before_any_work(settings, value):
    with pytest.raises(ValueError, match=value):
        discotext.decode([Network.of("1", [["x", "y"]] * 10)], **settings)


@pytest.mark.parametrize("solver", ["disco", "disco-proximal", "disco-adam"])
@pytest.mark.parametrize("kind", [OnlySequential, OnlyWhole])
def test_a_solver_with_gradients_works_under_n_gram_models_alone(kind, solver):
    with pytest.raises(ValueError, match="needs gradients, which only n-gram models give"):
        discotext.decode([SPOKEN], [kind(TRIGRAM)], solver=solver)
    assert discotext.decode([SPOKEN], [TRIGRAM], solver=solver)[0].score > -math.inf


def test_a_decoder_is_used_for_many_calls_and_tells_how_far_it_is():
    decoder, told = Decoder([TRIGRAM]), []
    whole = decoder([SPOKEN] * 130, watch=lambda done, total: told.append((done, total)))
    assert [one.text for one in whole] == [decoder([SPOKEN])[0].text] * 130
    assert told == [(64, 130), (128, 130), (130, 130)]
