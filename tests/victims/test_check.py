"""The check of a victim: labels in another order, missing deletions, gradients that are missing or masked."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.data import Examples
from discotext.victims import load_victim
from discotext.victims.check import binomial_tail, check_victim
from discotext.victims.victim import Capabilities
from tests.tiny_models import byte_pairs, classifier
from tests.victims.test_victim import Deep


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    """A model that cannot be given vectors in place of tokens."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bart")
    tokeniser = byte_pairs(["the good film was bad and the movie was nice ."])
    classifier("Bart", len(tokeniser)).save_pretrained(folder / "model")
    tokeniser.save_pretrained(folder / "model")
    lines = [json.dumps({"text": f"the good film was {word}", "label": label}) for word, label in
             [("bad", 0), ("nice", 1), ("good", 1), ("a film", 2)]]  # fmt: skip
    (folder / "data.jsonl").write_text("\n".join(lines))
    return folder


def discotext(folder, command, *arguments):
    """A command in this process, for the library takes seconds to be imported."""
    line = [command, f"hf:{folder / 'model'}", str(folder / "data.jsonl"), *arguments]
    return CliRunner().invoke(cli, line)


def test_a_model_without_gradients_is_checked_and_attacked_with_a_surrogate_or_none(bart):
    """A solver that needs gradients is refused before any work."""
    checked = discotext(bart, "check", "--json")
    findings = {one["name"]: one for one in json.loads(checked.stdout)["findings"]}
    assert findings["gradients"]["verdict"] == "note"
    done = discotext(bart, "attack", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["solvers"]) == ["disco"]
    assert found["surrogate_queries"] > 0
    assert found["solvers"]["disco"]["backwards"] == 0
    done = discotext(bart, "attack", "--json", "--surrogate", "none")
    assert done.exit_code == 0, done.stderr
    assert list(json.loads(done.stdout)["solvers"]) == ["greedy"]
    refused = discotext(bart, "attack", "--solver", "disco", "--surrogate", "none")
    assert refused.exit_code == 1
    assert "gradients" in refused.stderr.splitlines()[-1]


def test_deletions_that_are_declared_and_missing_are_reported():
    class Unfounded(Deep):
        capabilities = Capabilities(gradients=True)

    found = {one.name: one for one in check_victim(Unfounded(), Examples.of(["a good film", "it"], [0, 1], names="ab"))}
    assert found["deletions"].verdict == "note"


def finding(scores, labels):
    texts = [f"text {number}" for number in range(len(labels))]
    table = dict(zip(texts, scores, strict=True))
    victim = load_victim(lambda texts: [table[text] for text in texts])
    return next(
        one for one in check_victim(victim, Examples.of(texts, labels, names=("0", "1"))) if one.name == "labels"
    )


def test_a_difference_of_one_text_in_nine_is_no_alarm():
    labels = [0, 1] * 4 + [0]
    right = [0, 1, 0, 1, 1, 0, 1, 0, 1]  # right for four of nine; the other order for five
    found = finding([[1.0 - guess, float(guess)] for guess in right], labels)
    assert found.verdict == "fine"
    assert "p = 0.5" in found.says


def test_labels_that_are_really_swapped_are_reported_with_their_p_value():
    labels = [0, 1] * 20
    found = finding([[float(label), 1.0 - label] for label in labels], labels)
    assert found.verdict == "wrong"
    assert "0 means 1" in found.says
    assert "p = " in found.says


def test_the_tail_of_a_fair_coin():
    coins = np.random.default_rng(0).integers(0, 2, size=(200_000, 12)).sum(axis=1)
    for heads in range(13):
        assert binomial_tail(heads, 12) == pytest.approx((coins >= heads).mean(), abs=0.005)
