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


def test_it_needs_candidates_and_a_weight_below_one():
    from discotext.victims.neural.training import TrainingSettings, train

    with pytest.raises(ValueError, match="adversarial is 1"):
        TrainingSettings(adversarial=1.0)
    examples = Examples(("a film", "a plot", "good", "bad") * 10, np.array([0, 1] * 20), ("no", "yes"))
    with pytest.raises(ValueError, match="needs candidates"):
        train(examples, load_packaged_vectors(), TrainingSettings(adversarial=0.5))


@pytest.mark.parametrize("kind", ["dan", "wcnn"])
def test_interval_bounds_hold_for_every_exchange_and_are_exact_without_one(kind):
    import torch

    from discotext.victims.neural.adversary import bound_logits, make_boxes
    from discotext.victims.neural.networks import Network, Shape

    torch.manual_seed(3)
    rng = np.random.default_rng(3)
    network = Network(Shape(kind, 3, 5, hidden=8)).double().eval()
    network.norm.running_mean.normal_()
    network.norm.running_var.uniform_(0.5, 2)
    network.norm.weight.data.normal_()
    table = torch.from_numpy(rng.normal(size=(30, 5)))
    lengths, wanted = torch.tensor([6, 4]), torch.tensor([0, 2])
    ids = torch.from_numpy(rng.integers(1, 30, size=(2, 6)))
    ids[1, 4:] = 0
    inside = (torch.arange(6) < lengths[:, None]).unsqueeze(-1).double()
    options = torch.from_numpy(rng.integers(0, 30, size=(2, 6, 3)))
    vectors = torch.nn.functional.embedding(ids, table)

    def differences(rows):
        scores = network(torch.nn.functional.embedding(rows, table) * inside, lengths)
        return scores - scores.gather(1, wanted[:, None])

    low, high = (one * inside for one in make_boxes(vectors, ids, options, table, 0.0))
    assert torch.allclose(bound_logits(network, low, high, lengths, wanted), differences(ids))
    low, high = (one * inside for one in make_boxes(vectors, ids, options, table, 1.0))
    bound = bound_logits(network, low, high, lengths, wanted)
    choices = torch.cat([ids.unsqueeze(-1), torch.where(options == 0, ids.unsqueeze(-1), options)], dim=2)
    for _ in range(200):
        drawn = torch.from_numpy(rng.integers(0, 4, size=(2, 6, 1)))
        assert (differences(choices.gather(2, drawn).squeeze(2)) <= bound + 1e-9).all()


def test_mixtures_stay_within_the_budget_and_the_hull():
    import torch

    from discotext.victims.neural.adversary import mix_words

    rng = np.random.default_rng(0)
    table = torch.from_numpy(rng.normal(size=(30, 4)))
    ids = torch.from_numpy(rng.integers(1, 30, size=(3, 8)))
    options = torch.from_numpy(rng.integers(0, 30, size=(3, 8, 3)))
    options[:, 0] = 0
    lengths = torch.tensor([8, 8, 8])
    mixed = mix_words(ids, lengths, options, table, 0.3, rng)
    plain = torch.nn.functional.embedding(ids, table)
    changed = (mixed - plain).abs().sum(-1) > 1e-12
    assert (changed.sum(1) <= compute_budget(8, 0.3)).all()
    assert changed.any()
    assert not changed[:, 0].any()
    words = torch.nn.functional.embedding(torch.cat([ids.unsqueeze(-1), options], 2), table)
    reached = torch.where((options > 0).unsqueeze(-1), words[:, :, 1:], plain.unsqueeze(2))
    low, high = torch.minimum(reached.amin(2), plain), torch.maximum(reached.amax(2), plain)
    assert ((mixed >= low - 1e-9) & (mixed <= high + 1e-9)).all()


@pytest.mark.parametrize("inner", ["mixture", "interval"])
def test_other_inner_problems_train(inner):
    from discotext.victims.neural.training import TrainingSettings, train

    texts = ["a good film", "a bad film", "good plot", "bad plot"] * 30
    finder = discotext.Candidates(source=SynonymList(PAIRS), filters=())
    settings = TrainingSettings(
        kind="dan", epochs=15, patience=15, rate=1e-2, adversarial=0.5, inner=inner, share=1.0, hidden=16
    )
    _, state = train(Examples.of(texts, [1, 0, 1, 0] * 30), load_packaged_vectors(), settings, candidates=finder)
    assert state.best > 0.9
    with pytest.raises(ValueError, match="lstm"):
        TrainingSettings(kind="lstm", inner="interval")
