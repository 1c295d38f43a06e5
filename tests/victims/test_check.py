"""The check of a victim: labels in another order, missing deletions, gradients that are missing or masked."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.data import Examples
from discotext.victims import load_victim
from discotext.victims.check import binomial_tail, check_victim
from discotext.victims.victim import Capabilities
from tests.victims.test_victim import Deep


def test_a_model_without_gradients_is_checked_and_attacked_with_a_surrogate_or_none(tmp_path, monkeypatch):
    """A solver that needs gradients is refused before any work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "letters.py").write_text("def scores(texts):\n    return [[t.count('a'), len(t) / 9] for t in texts]\n")
    rows = [{"text": f"the good film was {word}", "label": label} for word, label in (("bad", 0), ("nice", 1))]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def run(command, *arguments):
        return CliRunner().invoke(cli, [command, "py:letters.py:scores", "data.jsonl", *arguments])

    findings = {one["name"]: one for one in json.loads(run("check", "--json").stdout)["findings"]}
    assert findings["gradients"]["verdict"] == "note"
    found = json.loads(run("attack", "--json").stdout)
    assert list(found["solvers"]) == ["disco"]
    assert found["surrogate_queries"] > 0
    assert found["solvers"]["disco"]["backwards"] == 0
    assert list(json.loads(run("attack", "--json", "--surrogate", "none").stdout)["solvers"]) == ["greedy"]
    refused = run("attack", "--solver", "disco", "--surrogate", "none")
    assert refused.exit_code == 1
    assert "gradients" in refused.stderr.splitlines()[-1]


def test_deletions_that_are_declared_and_missing_are_reported():
    class Unfounded(Deep):
        capabilities = Capabilities(gradients=True)

    found = {one.name: one for one in check_victim(Unfounded(), Examples.of(["a good film", "it"], [0, 1], names="ab"))}
    assert found["deletions"].verdict == "note"


@pytest.mark.parametrize(
    ("labels", "guesses", "verdict", "says"),
    [
        # Right for four of nine; the other order for five.
        ([0, 1] * 4 + [0], [0, 1, 0, 1, 1, 0, 1, 0, 1], "fine", ["p = 0.5"]),
        ([0, 1] * 20, [1, 0] * 20, "wrong", ["0 means 1", "p = "]),
    ],
    ids=["a difference of one text in nine", "really swapped"],
)
def test_labels_in_another_order_are_reported_where_that_is_significant(labels, guesses, verdict, says):
    texts = [f"text {number}" for number in range(len(labels))]
    table = {text: [1.0 - guess, float(guess)] for text, guess in zip(texts, guesses, strict=True)}
    victim = load_victim(lambda texts: [table[text] for text in texts])
    findings = check_victim(victim, Examples.of(texts, labels, names=("0", "1")))
    found = next(one for one in findings if one.name == "labels")
    assert found.verdict == verdict
    assert all(part in found.says for part in says)


def test_the_tail_of_a_fair_coin():
    coins = np.random.default_rng(0).integers(0, 2, size=(200_000, 12)).sum(axis=1)
    for heads in range(13):
        assert binomial_tail(heads, 12) == pytest.approx((coins >= heads).mean(), abs=0.005)
