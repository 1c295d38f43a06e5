"""Every kind of victim keeps the same laws, and its oracle can do what it declares."""

import dataclasses
import functools

import numpy as np
import pytest

from discotext.attacks.observation import Observer, WatchedVictim
from discotext.core.objectives import Untargeted
from discotext.core.oracle import BoundingOracle, DeletingOracle, Oracle, RelaxedOracle, UnavailableError
from discotext.core.problem import Status
from discotext.search.loop import solve
from discotext.solvers import Exact, Greedy
from discotext.text.merging import NOTHING_MERGED
from discotext.victims.encoded import Encoded
from discotext.victims.function import FunctionVictim
from discotext.victims.http.victim import HttpVictim
from discotext.victims.registry import load_victim
from discotext.victims.sklearn.victim import SklearnVictim
from discotext.victims.victim import Capabilities, TextOracle, Victim, WrappedVictim, compute_scores
from tests.victims.services import serving
from tests.victims.toys import (
    FUNCTIONS,
    SHAPES,
    TEXTS,
    WEIGHTS,
    answer,
    fit_pipeline,
    logit,
    tiny_network,
    tiny_space,
    tiny_transformer,
)  # fmt: skip

MAKE = {f"function, {name}": lambda f=f: FunctionVictim(f, batch=4) for name, f in FUNCTIONS.items()}
MAKE |= {
    f"sklearn, {name}": lambda name=name: SklearnVictim(fit_pipeline(name))
    for name in ("LogisticRegression", "LinearSVC", "MultinomialNB", "forest")
}
MAKE["transformer"] = lambda: tiny_transformer({0: "neg", 1: "pos"})
MAKE |= {f"network, {' '.join(shape)}": lambda shape=shape: tiny_network(*shape) for shape in SHAPES}
SERVICES = ("labels", "bare", "single", "pipeline")


class Odd(Victim):
    """Differs from the default in every declaration and method."""

    name, labels = "odd", ("neg", "pos")
    capabilities = Capabilities(
        gradients=True, deletes=False, vocabulary={"good"}, uses_gpu=True, has_memory=True, protocol={"a": "b"},
        classes_only=True, ordered=False, chunk=7,
    )  # fmt: skip

    def scores(self, texts):
        return np.array([[0.0, float(logit(text) > 0)] for text in texts]).reshape(-1, 2)

    def oracle(self, space, objective):
        return EmbeddingFree(TextOracle(self, space, objective))

    def truncates(self, texts):
        return [True for _ in texts]

    def remembers(self, texts):
        return np.ones(len(texts), dtype=bool)

    def explain_bounds(self):
        return "odd bounds"

    def save(self, folder, settings=None, more=None):
        raise ValueError(f"{folder} is odd")


class EmbeddingFree:
    """An oracle that declares gradients."""

    def __init__(self, oracle):
        self.batch, self.score = oracle.batch, oracle.score

    def relaxed(self, problems, alpha):
        return np.zeros(len(problems)), np.zeros(len(alpha))


@pytest.fixture(params=[*MAKE, *(f"http, {form}" for form in SERVICES)])
def victim(request, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    kind, _, form = request.param.partition(", ")
    if kind == "http":
        with serving(answer(form)) as service:
            yield HttpVictim(service.url, batch=2)
    else:
        yield Odd() if kind == "odd" else MAKE[request.param]()


WRAPPERS = {
    "wrapped": WrappedVictim,
    "encoded": lambda victim: Encoded(victim, NOTHING_MERGED),
    "watched": lambda victim: WatchedVictim(victim, Observer(lambda step: None, lambda: False)),
}


def outcome(call):
    """What a call returns, or how it fails."""
    try:
        found = call()
        return found.tolist() if isinstance(found, np.ndarray) else found
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("victim", [*MAKE, "http, labels", "http, pipeline", "odd"], indirect=True)
def test_a_wrapper_that_adds_nothing_is_indistinguishable_from_what_it_wraps(victim, wrap, tmp_path):
    wrapper, words = wrap(victim), [*WEIGHTS, "Good", "gnu", ""]
    for _ in range(2):  # before the first answer, and after it
        mine, its = wrapper.capabilities, victim.capabilities
        for one in dataclasses.fields(Capabilities):
            found, expected = getattr(mine, one.name), getattr(its, one.name)
            if one.name == "vocabulary" and expected is not None:
                found, expected = [word in found for word in words], [word in expected for word in words]
            assert found == expected, one.name
        assert (wrapper.name, wrapper.labels) == (victim.name, victim.labels)
        victim.scores(TEXTS)
    for ability in (Oracle, RelaxedOracle, DeletingOracle, BoundingOracle):
        assert wrapper.supports(ability) == victim.supports(ability)
    space = tiny_space()
    problems, choices = np.arange(len(space)), space.batch.originals()
    calls = {
        "scores": lambda one: one.scores(TEXTS),
        "truncates": lambda one: one.truncates(TEXTS),
        "remembers": lambda one: one.remembers(TEXTS),
        "explain_bounds": lambda one: one.explain_bounds(),
        "oracle": lambda one: one.oracle(space, Untargeted([0] * len(space))).score(problems, choices),
        "save": lambda one: one.save(tmp_path / "saved", {"n": 1}, {"more": b"2"}),
    }
    assert {*calls, "supports", "capabilities"} == {name for name in vars(Victim) if not name.startswith("_")}
    for name, call in calls.items():
        assert outcome(lambda call=call: call(wrapper)) == outcome(lambda call=call: call(victim)), name


def test_the_odd_victim_differs_in_every_declaration():
    for one in dataclasses.fields(Capabilities):
        assert getattr(Odd.capabilities, one.name) != getattr(Victim.capabilities, one.name), one.name


def test_labels_are_names_and_no_texts_have_no_scores_even_before_anything_was_asked(victim):
    assert victim.scores([]).shape == (0, len(victim.labels))
    assert len(set(victim.labels)) == len(victim.labels) >= 2
    assert all(isinstance(label, str) for label in victim.labels)


def test_scores_do_not_depend_on_order_company_or_repetition(victim):
    whole = compute_scores(victim, TEXTS)
    assert whole.dtype == np.float64
    close = functools.partial(np.testing.assert_allclose, atol=1e-5 if victim.capabilities.uses_gpu else 1e-9)
    close(whole[0], whole[4])
    close(compute_scores(victim, TEXTS[::-1])[::-1], whole)
    close(np.concatenate([compute_scores(victim, [text]) for text in TEXTS]), whole)
    close(compute_scores(victim, (TEXTS[1],) * 7), np.repeat(whole[1:2], 7, axis=0))


def test_greedy_improves_on_the_original_and_never_beats_the_exact_search(victim):
    space = tiny_space()
    goal = Untargeted(compute_scores(victim, [str(text) for text in space.texts]).argmax(axis=1).tolist())
    oracle = victim.oracle(space, goal)
    best = solve(space.batch, oracle, Exact())
    greedy = solve(space.batch, oracle, Greedy())
    for number, (one, other) in enumerate(zip(best, greedy, strict=True)):
        assert one.status != Status.FAILED
        assert other.score <= one.score + 1e-5
        assert other.score >= other.original_score
        # A second road to the same number: the text of the choice, scored by the victim itself.
        again = goal.value(victim.scores([space.text(number, one.choice)]), np.array([number]))
        assert again[0] == pytest.approx(one.score, abs=1e-5)
    assert any(one.score > one.original_score for one in greedy)


# --- what a victim declares, its oracle can do


class Plain(Victim):
    name, labels = "plain", ("a", "b")

    def scores(self, texts):
        return [[len(text) / 10, 1.0] for text in texts]


class Deep(Plain):
    """Has an oracle of its own, with gradients and without deletions."""

    capabilities = Capabilities(gradients=True, deletes=False)

    def oracle(self, space, objective):
        return SquareOracle(space.batch)


class SquareOracle:
    """The square of the share of words that change."""

    def __init__(self, batch):
        self.batch = batch

    def score(self, problems, choices):
        return np.square((choices > 0).mean(axis=1))

    def relaxed(self, problems, alpha):
        return np.zeros(len(problems)), np.zeros(len(alpha))


@pytest.mark.parametrize(
    "given", [Plain(), Deep(), lambda texts: [[0.0, 1.0] for _ in texts]], ids=["plain", "deep", "function"]
)
def test_an_oracle_has_the_abilities_that_its_victim_declares(given):
    victim = load_victim(given)
    oracle = victim.oracle(tiny_space(), Untargeted([1] * 4))
    for ability in (Oracle, RelaxedOracle, DeletingOracle, BoundingOracle):
        assert victim.supports(ability) == isinstance(oracle, ability)


def test_a_model_that_cannot_be_asked_stops_the_run_and_fails_no_problem():
    class Gone(Victim):
        name, labels = "gone", ("a", "b")

        def scores(self, texts):
            raise UnavailableError("max_texts")

    space = tiny_space()
    with pytest.raises(UnavailableError, match="max_texts"):
        solve(space.batch, TextOracle(Gone(), space, Untargeted([0] * 4)), Greedy(), goal=0)


def test_an_ability_declared_as_an_attribute_of_the_class_is_refused():
    with pytest.raises(TypeError, match=r"Old declares gradients, vocabulary .*Capabilities\(gradients="):
        type("Old", (Victim,), {"gradients": True, "vocabulary": None})
