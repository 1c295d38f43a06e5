"""A victim that contradicts itself is reported, loudly: its figures mean nothing."""

import json
import random
import warnings

import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli
from discotext.report import make_page
from discotext.runs.certificate import CONTRADICTION
from discotext.runs.folder import read_lines, read_run
from discotext.runs.record import Record

TEXTS = [f"An awful and dull film about {thing}." for thing in ("mice", "ships", "wars", "kings", "songs", "dogs")]
SENTENCE = "the victim answered differently when asked again on"


class Noisy:
    """Scores with noise, from a seed. about: a word that a text must have for it."""

    def __init__(self, noise, about=""):
        self.noise, self.about, self.random = noise, about, random.Random(0)

    def __call__(self, texts):
        noises = [self.random.gauss(0, self.noise) if self.about in text else 0.0 for text in texts]
        return [[sum(w in t for w in ("awful", "dull")) + noise, 0.5] for t, noise in zip(texts, noises, strict=True)]


@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_a_victim_that_answers_at_random_is_warned_of_and_no_other(noise):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = discotext.attack(Noisy(noise), (TEXTS * 4, [0] * 24), words=2)
    assert any(SENTENCE in str(one.message) for one in told) == (noise > 0)
    assert any(SENTENCE in note for note in result.notes) == (noise > 0)
    unstable = result.summary.solvers["disco"].as_dict()["unstable"]
    assert unstable == sum(record.status == "unstable" for record in result.records)
    assert (unstable > 0) == (noise > 0)


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
    assert ("Nothing is certified" in done.stdout) == (command == "certify")


@pytest.mark.parametrize("target", [None, 1])
@pytest.mark.parametrize("noise", [0.0, 0.5, 2.0])
def test_nothing_is_robust_where_the_victim_contradicts_itself_on_any_text(tmp_path, noise, target):
    texts, labels = [*TEXTS * 4, *[f"A film about {number}" for number in range(4)]], [0] * 24 + [1] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"words": 1, "out": tmp_path / "run", "chunk": 8, "target": target}
        result = discotext.certify(Noisy(noise, "mice"), (texts, labels), "greedy", **settings)
    unstable = sum(record.status == "unstable" for record in result.records)
    assert (unstable > 0) == (noise > 0)
    run = read_run(tmp_path / "run")
    for records, certificates in ((result.records, result.certificates), (run.records, run.certificates)):
        robust = [record for record in records if record.verdict == "robust"]
        assert bool(robust) == (noise == 0)
        assert any(record.radius for record in records) == (noise == 0)
        for one in certificates:
            assert one.unstable == unstable
            assert (one.certified_accuracy > 0) == (one.verdicts["robust"] > 0) == (noise == 0)
            assert (set(one.radius) == {0}) == (noise > 0)
            assert one.as_dict()["verdicts"] == dict(one.verdicts)
    assert "Nothing is certified" in make_page(run) or not noise
    # What is written once the contradiction is known is open at once.
    written = [Record.from_dict(line) for line in read_lines(tmp_path / "run")]
    first = next((number for number, record in enumerate(written) if record.status == "unstable"), len(written))
    assert not any(record.verdict == "robust" for record in written[first:])
    reasons = {record.reason for record in result.records if record.verdict == "open"}
    assert CONTRADICTION in reasons or not noise
