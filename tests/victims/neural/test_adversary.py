"""Adversarial training: the words exchanged are the best vertex of the budget polytope, and the model gets harder."""

from itertools import product

import numpy as np
import pytest

import discotext
from discotext.core.objectives import Untargeted
from discotext.core.problem import Batch
from discotext.data.examples import Examples
from discotext.text.sources import SynonymList
from discotext.text.vectors import load_packaged_vectors
from discotext.victims.encoded import exchange_words
from tests.conftest import needs_torch
from tests.victims.toys import tiny_network, tiny_space

pytestmark = needs_torch
PAIRS = {"good": ["decent"], "decent": ["good"], "bad": ["mediocre"], "mediocre": ["bad"]}


@pytest.mark.parametrize("kind", ["dan", "lstm"])
def test_the_words_exchanged_are_those_within_the_budget_that_gain_most_to_first_order(kind):
    victim, space, labels = tiny_network(kind), tiny_space(), np.array([0, 1, 0, 1])
    gradient = victim.oracle(space, Untargeted(labels)).relaxed(
        np.arange(4), space.batch.one_hot(space.batch.originals())
    )[1]
    ends = space.batch.first_candidate
    for number, text in enumerate(exchange_words(victim, space, labels)):
        batch = Batch.of([space.batch[number]])
        gains = {
            space.text(number, choice): gradient[ends[number] : ends[number + 1]][
                batch.chosen(np.array([choice]))
            ].sum()
            for choice in product(*map(range, batch[0].counts))
            if np.count_nonzero(choice) <= batch[0].budget
        }
        assert gains[text] == pytest.approx(max(gains.values()))


def test_training_on_exchanged_words_makes_a_model_that_they_do_not_flip():
    from discotext.victims.neural.training import TrainingSettings, train

    rng = np.random.default_rng(0)
    # `decent` and `mediocre` are seen with the wrong class now and then, so a plain model trusts them little.
    texts, labels = [], []
    for _ in range(600):
        label = int(rng.integers(2))
        usual = rng.random() < 0.9
        word = (("bad", "good") if usual else ("decent", "mediocre"))[label]
        texts.append(" ".join([*rng.choice(["film", "plot", "actor", "scene", "story"], size=4), word]))
        labels.append(label)
    examples = Examples(tuple(texts), np.array(labels), ("no", "yes"))
    finder = discotext.Candidates(SynonymList(PAIRS), filters=(), scorer=None)
    found = {}
    for weight in (0.0, 0.5):
        settings = TrainingSettings(
            kind="dan", epochs=15, patience=15, tune_vectors=True, hidden=16, adversarial=weight, seed=1
        )
        victim, _ = train(examples, load_packaged_vectors(), settings, candidates=finder)
        result = discotext.attack(victim, (texts[:200], labels[:200]), "exact", words=1, candidates=finder)
        found[weight] = float(result.summary.solvers["exact"].adversarial_accuracy)
    assert found[0.5] > found[0.0] + 0.2
