"""Adversarial training: the words exchanged are the best vertex of the budget polytope, and the model gets harder."""

import numpy as np
import pytest

import discotext
from discotext.core.problem import Batch, Problem
from discotext.core.rounding import best_vertex
from discotext.data.examples import Examples
from discotext.text.sources import SynonymList
from discotext.text.vectors import load_packaged_vectors
from discotext.text.words import compute_budget
from tests.conftest import needs_torch

pytestmark = needs_torch
PAIRS = {"good": ["decent"], "decent": ["good"], "bad": ["mediocre"], "mediocre": ["bad"]}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_the_words_exchanged_are_the_best_vertex(seed, share):
    import torch

    from discotext.victims.neural.adversary import choose_words, pad_options

    rng = np.random.default_rng(seed)
    table = torch.from_numpy(rng.normal(size=(40, 6)))
    lengths = [3, 7, 1]
    rows = [rng.integers(1, 40, size=length) for length in lengths]
    options = [rng.integers(0, 40, size=(length, 3)) for length in lengths]
    ids = torch.zeros(3, 7, dtype=torch.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.from_numpy(row)
    gradient = torch.from_numpy(rng.normal(size=(3, 7, 6)))
    found = choose_words(ids, torch.tensor(lengths), pad_options(options, 7), gradient, table, share)
    for number, length in enumerate(lengths):
        words = [[rows[number][at], *options[number][at][options[number][at] > 0]] for at in range(length)]
        problem = Problem(tuple(map(len, words)), compute_budget(length, share))
        weights = np.concatenate([table[some].numpy() @ gradient[number, at].numpy() for at, some in enumerate(words)])
        vertex = best_vertex(weights, Batch.of([problem]))[0]
        expected = [some[choice] for some, choice in zip(words, vertex, strict=True)]
        gain = sum(float(table[found[number, at]] @ gradient[number, at]) for at in range(length))
        best = sum(float(table[word] @ gradient[number, at]) for at, word in enumerate(expected))
        assert gain == pytest.approx(best)
        assert (found[number, length:] == 0).all()
        assert int((found[number, :length] != ids[number, :length]).sum()) <= problem.budget


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
