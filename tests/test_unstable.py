"""A victim that contradicts itself is reported, loudly: its figures mean nothing."""

import json
import random
import warnings

import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli

TEXTS = [f"An awful and dull film about {thing}." for thing in ("mice", "ships", "wars", "kings", "songs", "dogs")]
SENTENCE = "the victim answered differently when asked again on"


class Noisy:
    """Scores with noise, from a seed."""

    def __init__(self, noise):
        self.noise, self.random = noise, random.Random(0)

    def __call__(self, texts):
        return [[sum(w in t for w in ("awful", "dull")) + self.random.gauss(0, self.noise), 0.5] for t in texts]


def test_a_victim_that_answers_at_random_is_warned_of():
    with pytest.warns(UserWarning, match=rf"{SENTENCE} (\d+) of (\d+) texts; its figures cannot be relied on"):
        result = discotext.attack(Noisy(2.0), (TEXTS * 4, [0] * 24), words=2)
    figures = result.summary.solvers["disco"]
    assert figures.unstable > 0
    assert figures.unstable == sum(record.status == "unstable" for record in result.records)
    assert figures.as_dict()["unstable"] == figures.unstable
    assert any(SENTENCE in note for note in result.notes)


def test_a_victim_that_answers_the_same_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = discotext.attack(Noisy(0.0), (TEXTS, [0] * 6), words=2)
    assert result.summary.solvers["disco"].unstable == 0
    assert not any(SENTENCE in note for note in result.notes)


@pytest.mark.parametrize("command", ["attack", "compare", "certify"])
def test_the_commands_say_so(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noisy.py").write_text(
        "import random\nrng = random.Random(0)\n\n\ndef scores(texts):\n"
        "    return [[sum(w in t for w in ('awful', 'dull')) + rng.gauss(0, 2), 0.5] for t in texts]\n"
    )
    rows = [json.dumps({"text": text, "label": label}) for text, label in [*[(t, 0) for t in TEXTS * 4], ("A film", 1)]]
    (tmp_path / "d.jsonl").write_text("\n".join(rows) + "\n")
    more = ["--solver", "greedy"] if command == "compare" else []
    done = CliRunner().invoke(cli, [command, "py:noisy.py:scores", "d.jsonl", "--words", "2", *more])
    assert done.exit_code == 0, done.output
    assert f"discotext: {SENTENCE}" in done.stderr
    assert "cannot be relied on" in done.stderr
