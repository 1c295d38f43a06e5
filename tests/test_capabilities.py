"""A victim declares what it can do, and its oracle can do just that; and no `assert` has an effect."""

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discotext as d
from discotext.cli import cli
from discotext.core import BoundingOracle, DeletingOracle, Oracle, RelaxedOracle, Untargeted
from discotext.data import Examples
from discotext.victims import Capabilities, load_victim
from discotext.victims.check import binomial_tail, check_victim
from tests.tiny_models import byte_pairs, classifier

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


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


def test_a_model_without_gradients_is_attacked_by_a_solver_that_needs_none(bart):
    done = discotext(bart, "attack", "--json", "--surrogate", "none")
    assert done.exit_code == 0, done.stderr
    assert list(json.loads(done.stdout)["solvers"]) == ["greedy"]


def test_a_model_without_gradients_gets_slopes_from_a_stand_in(bart):
    done = discotext(bart, "attack", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["solvers"]) == ["disco"]
    assert found["surrogate_queries"] > 0
    assert found["solvers"]["disco"]["backwards"] == 0


def test_check_names_the_solver_that_attack_chooses(bart):
    done = discotext(bart, "check", "--json")
    assert "Traceback" not in done.stderr
    findings = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
    (chosen,) = json.loads(discotext(bart, "attack", "--json").stdout)["solvers"]
    assert "none of its own" in findings["gradients"]["says"]
    assert chosen in findings["gradients"]["says"]


def test_a_solver_that_needs_gradients_is_refused_before_any_work(bart):
    done = discotext(bart, "attack", "--solver", "disco", "--surrogate", "none")
    assert done.exit_code == 1
    assert "needs gradients, which hf:" in done.stderr.splitlines()[-1]


def test_a_model_whose_way_back_is_blocked_has_no_gradients():
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from discotext.victims.huggingface import HuggingFaceVictim
    from tests.test_huggingface import PIECES
    from tests.tiny_models import word_pieces

    tokeniser = word_pieces(PIECES)
    model = classifier("Bert", len(tokeniser))
    assert HuggingFaceVictim(model, tokeniser).capabilities.gradients

    class Blocked(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, states):
            return self.inner(states).detach()

    model.classifier = Blocked(model.classifier)
    assert not HuggingFaceVictim(model, tokeniser).capabilities.gradients


class Plain:
    name, labels = "plain", ("a", "b")

    def scores(self, texts):
        return [[len(text) / 10, 1.0] for text in texts]


def test_an_object_with_an_oracle_must_declare_whether_it_has_gradients():
    class Silent(Plain):
        def oracle(self, space, objective):
            raise AssertionError("it is never asked")

    with pytest.raises(TypeError, match="does not declare whether that oracle has gradients"):
        load_victim(Silent())

    class Honest(Silent):
        capabilities = Capabilities(gradients=False)

    result = d.attack(Honest(), (["a good film", "it"], ["b", "b"]), words=1)
    assert list(result.summary.solvers) == ["disco"]  # by a stand-in


def test_every_victim_declares_what_it_can_do():
    for given in (Plain(), lambda texts: [[0.0, 1.0] for _ in texts]):
        victim = load_victim(given)
        assert isinstance(victim, d.Victim)
        assert victim.capabilities == Capabilities()


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


class Unfounded(Deep, d.Victim):
    """Declares that it deletes words, but has an oracle of its own that cannot."""

    capabilities = Capabilities(gradients=True)


@pytest.mark.parametrize(
    "given", [Plain(), Deep(), lambda texts: [[0.0, 1.0] for _ in texts]], ids=["plain", "deep", "function"]
)
def test_an_oracle_has_the_abilities_that_its_victim_declares(given):
    victim = load_victim(given)
    oracle = victim.oracle(d.Space.of(["a good film"], d.Candidates()), Untargeted([1]))
    for ability in (Oracle, RelaxedOracle, DeletingOracle, BoundingOracle):
        assert victim.supports(ability) == isinstance(oracle, ability)


def test_gradients_without_an_oracle_are_refused():
    class Boastful(Plain):
        capabilities = Capabilities(gradients=True)

    with pytest.raises(TypeError, match="declares gradients but has no method `oracle`"):
        load_victim(Boastful())


def test_check_reports_deletions_that_are_declared_and_missing():
    found = {one.name: one for one in check_victim(Unfounded(), Examples.of(["a good film", "it"], [0, 1], names="ab"))}
    assert found["deletions"].verdict == "note"
    assert "set `deletes=False`" in found["deletions"].says


# --- labels in another order


def examples(labels):
    return Examples.of([f"text {number}" for number in range(len(labels))], labels, names=("0", "1"))


def finding(scores, labels):
    table = {f"text {number}": row for number, row in enumerate(scores)}
    victim = load_victim(lambda texts: [table[text] for text in texts])
    return next(one for one in check_victim(victim, examples(labels)) if one.name == "labels")


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


# --- no assert has an effect


@functools.cache  # one test for each file asks for it, and it reads all of them
def properties():
    """The names of all properties of the package: to read one may do work."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                marks = {ast.unparse(mark) for mark in node.decorator_list}
                found |= {node.name} if marks & {"property", "cached_property", "functools.cached_property"} else set()
    return frozenset(found)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_assert_calls_anything_or_reads_a_property(path):
    lazy = properties()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assert):
            calls = {ast.unparse(one.func) for one in ast.walk(node.test) if isinstance(one, ast.Call)}
            read = {one.attr for one in ast.walk(node.test) if isinstance(one, ast.Attribute)}
            assert calls <= {"isinstance"}, f"{path.name}:{node.lineno}"
            assert not read & lazy, f"{path.name}:{node.lineno}"


def test_without_asserts_workers_write_the_same_records(tmp_path):
    """A function whose single numbers are settled as logits by the first texts, and would not be by later ones."""
    (tmp_path / "mine.py").write_text(
        "def scores(texts):\n"
        "    return [3.0 if 'first' in text else 0.4 if 'fine' in text else 0.6 for text in texts]\n"
    )
    texts = ["first good film", *(f"a good film no. {number}" for number in range(5))]
    lines = [json.dumps({"text": text, "label": 1}) for text in texts]
    lines.append(json.dumps({"text": "another good film", "label": 0}))
    (tmp_path / "data.jsonl").write_text("\n".join(lines))
    (tmp_path / "list.json").write_text(json.dumps({"good": ["fine"]}))
    command = ["attack", "py:mine.py:scores", "data.jsonl", "--synonyms", "list.json", "--solver", "greedy", "--json"]
    found = []
    for flags, workers in (([], []), (["-O"], ["--workers", "2"])):
        done = subprocess.run(
            [sys.executable, *flags, "-m", "discotext", *command, *workers],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)["solvers"]["greedy"]
        found.append({key: value for key, value in row.items() if "seconds" not in key})
    assert found[0] == found[1]
