"""One text at a time: the outcome is that of `attack`, the steps lead to it, and cancelling ends it."""

from itertools import pairwise

import numpy as np
import pytest

import discotext
from discotext.attacks.observation import CancelledError
from discotext.attacks.one_text import TextAttacker, explain_outcome, explain_proof
from discotext.solvers import SOLVERS
from discotext.text.candidates import Candidates
from discotext.text.sources import SynonymList
from discotext.victims.function import FunctionVictim
from tests.conftest import needs_sklearn, needs_torch, untimed

GOOD, BAD = ["good", "great", "fine", "nice"], ["bad", "poor", "awful", "weak"]
LISTS = {word: [other for other in mine if other != word] for mine in (GOOD, BAD) for word in mine}
LISTS |= {"film": ["movie", "picture"], "plot": ["story"]}
WEIGHTS = {"good": 2.0, "great": 1.5, "fine": 0.4, "nice": 0.2, "bad": -2.0, "poor": -1.2, "awful": -0.5, "weak": -0.3}
FINDER = Candidates(SynonymList(LISTS), ())
TEXTS = [
    "A good film with a great plot, a bad scene and an awful end; the cast is poor, but the good music is fine.",
    "A great, great film: the plot is good and the music is nice",
    "a bad film",
    "nothing here can change",
    "…!?",
]
ANY = list(SOLVERS)


def scores(texts):
    """Opinions add up, and two good words in a row count more."""
    found = []
    for text in texts:
        words = [word.strip(".,:;!").lower() for word in text.split()]
        z = sum(WEIGHTS.get(word, 0.0) for word in words) + 0.3 * sum(
            a in GOOD and b in GOOD for a, b in pairwise(words)
        )
        found.append([-z, z, 0.1 * len(words) - 3])
    return np.array(found)


def network():
    """A small recurrent network with random weights: it has gradients."""
    import torch

    from discotext.victims.neural.networks import Shape, WordNetwork
    from discotext.victims.neural.victim import NeuralVictim, Vocabulary

    torch.manual_seed(1)
    words = sorted({*LISTS, *GOOD, *BAD, "movie", "picture", "story", "the", "a", "is", "with"})
    return NeuralVictim(
        WordNetwork(Shape("lstm", 2, 8, hidden=12)), Vocabulary(words), torch.randn(len(words) + 1, 8), ["no", "yes"]
    )


def pipeline():
    """A linear pipeline: it has slopes and bounds."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = [" ".join(mine[at:] + ["film"] * at) for mine in (GOOD, BAD) for at in range(4)]
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1] * 4 + [0] * 4)


VICTIMS = [
    pytest.param(lambda: FunctionVictim(scores), id="function"),
    pytest.param(network, id="network", marks=needs_torch),
    pytest.param(pipeline, id="pipeline", marks=needs_sklearn),
]


@pytest.mark.parametrize("solver", ["auto", *ANY])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_record_is_that_of_attack(solver, text):
    victim = FunctionVictim(scores)
    label = int(scores([text])[0].argmax())
    expected = discotext.attack(victim, ([text], [label]), solver, words=2, candidates=FINDER, seed=3).records
    found = TextAttacker(victim, FINDER).attack(text, solver, words=2, seed=3)
    assert untimed([found.record]) == untimed(expected)
    assert found.scores == tuple(scores([text])[0])
    assert found.adversarial_scores == tuple(scores([found.record.adversarial_text])[0])


@pytest.mark.parametrize("make", VICTIMS)
@pytest.mark.parametrize("solver", ["auto", "greedy", "beam", "gradient-greedy"])
def test_so_it_is_for_every_kind_of_victim_and_for_proofs(make, solver):
    victim, text = make(), TEXTS[0]
    attacker = TextAttacker(victim, FINDER)
    label = attacker.look(text).predicted
    given = {"words": 2, "candidates": FINDER}
    expected = discotext.attack(victim, ([text], [label]), solver, **given).records
    assert untimed([attacker.attack(text, solver, words=2).record]) == untimed(expected)
    proved = discotext.certify(victim, ([text], [label]), solver, passes=300, **given).records
    found = attacker.attack(text, solver, words=2, passes=300).record
    assert untimed([found]) == untimed(proved)
    assert found.verdict in ("robust", "broken", "open")


def rank(step):
    """As `solve` ranks choices."""
    count = len(step.changes)
    return step.flipped, -count if step.flipped else 0, step.margin, -count


@pytest.mark.parametrize("make", VICTIMS)
@pytest.mark.parametrize("solver", ["auto", *ANY])
@pytest.mark.parametrize("patience", [None, 0.0], ids=["whole calls", "split calls"])
def test_steps_only_get_better_and_lead_to_the_outcome(make, solver, patience):
    steps = []
    attacker = TextAttacker(make(), FINDER, patience=patience)
    outcome = attacker.attack(TEXTS[0], solver, budget=0.2, watch=steps.append)
    *before, last = steps
    assert before
    ranks = [rank(step) for step in before]
    assert ranks == sorted(ranks)
    assert [a < b for a, b in pairwise(ranks)] == [step.improved for step in before[1:]]
    assert all(a.queries <= b.queries for a, b in pairwise(steps))
    assert all(a.seconds <= b.seconds for a, b in pairwise(steps))
    assert not before[0].changes or patience is None
    record = outcome.record
    assert (last.final, last.text, last.changes, last.flipped, last.queries, last.margin) == (
        (True, record.adversarial_text, record.changes, record.succeeded, record.forwards, record.adversarial_score)
    )
    # What the search returns, it has scored; and it does not return less than the best that it came across.
    assert rank(before[-1])[:2] == rank(last)[:2]
    for step in steps:
        assert len(step.changes) <= record.budget
        text = step.text
        for change in step.changes:
            assert TEXTS[0][change.start : change.end] == change.old
        assert len(text.split()) == len(TEXTS[0].split())


@pytest.mark.parametrize("make", VICTIMS)
@pytest.mark.parametrize("solver", ["auto", "greedy", "beam", "exact"])
def test_a_cancelled_attack_asks_the_model_no_more(make, solver):
    inner = TextAttacker(make(), FINDER).victim
    asked = []

    class Counting(type(inner)):
        """The victim, counting the calls of its own and of its oracle."""

        def __init__(self):
            self.__dict__.update(inner.__dict__)

        def scores(self, texts):
            asked.append("scores")
            return super().scores(texts)

    victim = Counting()
    whole = []
    TextAttacker(victim, FINDER).attack(TEXTS[0], solver, watch=whole.append)
    for after in range(len(whole) - 1):
        steps = []
        with pytest.raises(CancelledError):
            TextAttacker(victim, FINDER).attack(
                TEXTS[0], solver, watch=steps.append, cancelled=lambda steps=steps, after=after: len(steps) > after
            )
        assert len(steps) == after + 1  # no call of the model after the one that was under way
    asked.clear()
    with pytest.raises(CancelledError):
        TextAttacker(victim, FINDER).attack(TEXTS[0], solver, cancelled=lambda: True)
    assert not asked


def test_a_slow_model_is_asked_about_few_texts_at_a_time():
    sizes = []

    def slow(texts):
        sizes.append(len(texts))
        return scores(texts)

    TextAttacker(slow, FINDER).attack(TEXTS[0], "greedy")
    whole = max(sizes)
    sizes.clear()
    TextAttacker(slow, FINDER, patience=0.0).attack(TEXTS[0], "greedy")
    assert max(sizes) <= 4 < whole


def test_a_look_shows_words_candidates_and_scores():
    found = TextAttacker(scores, FINDER).look(TEXTS[2], budget=0.5)
    assert found.scores == tuple(scores([TEXTS[2]])[0])
    assert (found.predicted, found.labels, found.allowed, found.truncated) == (0, ("0", "1", "2"), 1, False)
    assert [(one.word, one.candidates) for one in found.words] == [
        ("a", ()),
        ("bad", ("poor", "awful", "weak")),
        ("film", ("movie", "picture")),
    ]
    assert all(TEXTS[2][one.start : one.end] == one.word for one in found.words)


def test_a_label_or_a_target_may_be_given():
    attacker = TextAttacker(scores, FINDER)
    assert attacker.attack(TEXTS[2], label=1).record.status == "misclassified"
    assert attacker.attack(TEXTS[2], target=0).record.status == "misclassified"
    away = attacker.attack(TEXTS[1], target=0, budget=1.0)
    expected = discotext.attack(scores, ([TEXTS[1]], [1]), target=0, budget=1.0, candidates=FINDER).records
    assert untimed([away.record]) == untimed(expected)
    for bad in ({"label": 3}, {"label": -1}, {"target": 3}, {"words": -1}, {"budget": 2}, {"solver": "gredy"}):
        with pytest.raises(ValueError, match=r"choose|did you mean"):
            attacker.attack(TEXTS[2], **bad)


@pytest.mark.parametrize("text", ["", " \n", "half \ud83d a sign"])
def test_a_text_without_words_is_refused_in_one_sentence(text):
    attacker = TextAttacker(scores, FINDER)
    for ask in (attacker.look, attacker.attack):
        with pytest.raises(ValueError, match=r"blank|lone surrogate"):
            ask(text)


def test_a_victim_that_fails_says_so_in_one_sentence():
    def broken(texts):
        raise ZeroDivisionError("unlucky")

    def fails_on_changes(texts):
        if any("movie" in text for text in texts):
            raise ZeroDivisionError("unlucky")
        return scores(texts)

    attacker = TextAttacker(broken, FINDER)
    for ask in (attacker.look, attacker.attack):
        with pytest.raises(RuntimeError, match="ZeroDivisionError: unlucky"):
            ask(TEXTS[2])
    record = TextAttacker(fails_on_changes, FINDER).attack(TEXTS[2], "greedy", budget=1.0).record
    assert (record.status, "unlucky" in record.error) == ("failed", True)


ONE = "a good film, but a poor plot"  # flipped by one word


@pytest.mark.parametrize(
    ("text", "given", "sentence"),
    [
        (ONE, {"words": 1, "solver": "exact"}, "Flipped to 0 by 1 changed word; it is proved that fewer "),
        (TEXTS[0], {"words": 1, "solver": "random"}, "Not flipped: the best found is 1 changed word, and the "),
        (TEXTS[4], {"words": 2}, "Not flipped: the text has no words."),
        (TEXTS[2], {"label": 1}, "Not attacked: the prediction is 0 already, and not 1."),
        (TEXTS[2], {"target": 0}, "Not attacked: the text is of the target class already."),
    ],
)
def test_an_outcome_is_explained_in_one_sentence(text, given, sentence):
    assert explain_outcome(TextAttacker(scores, FINDER).attack(text, **given)).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "given", "sentence"),
    [
        (ONE, {"words": 1}, "Broken: 1 changed word flips the label."),
        (TEXTS[0], {"words": 1}, "Robust: it is proved that no choice of up to 1 changed word flips the label."),
        (TEXTS[3], {"words": 1}, "Nothing to prove: none of its words has a candidate."),
        (TEXTS[2], {"target": 0}, "Nothing to prove: the text is of the target class already."),
        (TEXTS[1], {"words": 3, "passes": 30}, "Open: a proof would take more than the limit of 30 passes; robust up "),
        (TEXTS[2], {"label": 1}, "Not proved: the prediction is wrong as it is."),
    ],
)
def test_a_proof_is_explained_in_one_sentence(text, given, sentence):
    given = {"passes": 5000, **given}
    assert explain_proof(TextAttacker(scores, FINDER).attack(text, "greedy", **given)).startswith(sentence)
