"""The paper's networks: what they score, how they are trained, kept and loaded."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from discotext import Candidates, solve  # noqa: E402
from discotext.cli import cli  # noqa: E402
from discotext.core import check_oracle  # noqa: E402
from discotext.core.objectives import Targeted, Untargeted  # noqa: E402
from discotext.data.examples import Examples  # noqa: E402
from discotext.solvers import Disco  # noqa: E402
from discotext.text import Space  # noqa: E402
from discotext.text.sources import SynonymList  # noqa: E402
from discotext.text.vectors import WordVectors, load_packaged_vectors  # noqa: E402
from discotext.victims.neural.networks import KINDS, Shape, WordNetwork  # noqa: E402
from discotext.victims.neural.training import (  # noqa: E402
    TrainingSettings,
    train,
    train_victim,
)
from discotext.victims.neural.victim import (  # noqa: E402
    build_vocabulary,
    load_neural,
)
from discotext.victims.victim import TextOracle  # noqa: E402
from tests.victims.toys import SHAPES, tiny_network  # noqa: E402

TEXTS = ["The film was good", "a dull, weak film <br /> it is bad", "Music", "", "10/10 unheard-of words"]


def tiny(kind="lstm", pool="max"):
    return tiny_network(kind, pool, classes=3)


def space(texts=TEXTS):
    lists = {
        "good": ["great", "fine"],
        "bad": ["poor", "awful"],
        "film": ["story"],
        "weak": ["dull"],
        "music": ["good"],
    }
    return Space.of(texts, Candidates(SynonymList(lists), ()), share=0.5)


@pytest.mark.parametrize(("kind", "pool"), SHAPES)
def test_strings_and_rows_lead_to_the_same_scores_and_the_laws_hold(kind, pool):
    victim = tiny(kind, pool)
    victim.network, victim.table = victim.network.double(), victim.table.double()
    where = space()
    labels = [0, 1, 2, 0, 1]
    for goal in (Untargeted(labels), Targeted(labels)):
        by_rows, by_strings = victim.oracle(where, goal), TextOracle(victim, where, goal)
        rng = np.random.default_rng(0)
        problems = rng.integers(0, 5, 40)
        layout = where.batch.take(problems)
        choices = np.zeros((40, layout.n_max), dtype=np.int32)
        for row in range(40):
            counts = where.batch[problems[row]].counts
            choices[row, : len(counts)] = [rng.integers(0, count) for count in counts]
        np.testing.assert_allclose(by_rows.score(problems, choices), by_strings.score(problems, choices), atol=1e-9)
        places = [(p, i) for p in range(5) for i in range(len(where.options[p]))]
        problems, positions = (np.array(column) for column in zip(*places, strict=True))
        np.testing.assert_allclose(
            by_rows.without(problems, positions), by_strings.without(problems, positions), atol=1e-9
        )
        assert check_oracle(where.batch, by_rows).passed


def test_a_vocabulary_has_the_words_of_vectors_and_texts():
    vectors = WordVectors(["good", "film"], np.ones((2, 4), dtype=np.float32))
    vocabulary, table = build_vocabulary(["Good zork zork film", "once"], vectors, least=2, seed=0)
    assert vocabulary.words == ["good", "film", "zork"]
    assert table.shape == (4, 4)
    assert not table[0].any()
    assert "Good" in vocabulary
    assert "once" not in vocabulary
    assert 3 not in vocabulary
    assert len(vocabulary) == 4


# --- training


def toy(n=240, seed=0):
    rng = np.random.default_rng(seed)
    good, bad = "good great fine fun".split(), "bad poor awful dull".split()
    labels = rng.integers(0, 2, n)
    texts = [
        f"the {rng.choice(good if y else bad)} film {i % 7} was {rng.choice(['it', 'a', 'the'])}"
        for i, y in enumerate(labels)
    ]
    return Examples.of(texts, labels, names=["negative", "positive"])


SETTINGS = {"hidden": 16, "epochs": 4, "batch": 16, "seed": 1}


def test_a_network_is_trained_and_attacked_by_one_thread_that_others_need_not_wait_for(monkeypatch):
    seen, forward, before = [], WordNetwork.forward, torch.get_num_threads()

    def watch(self, vectors, lengths):
        seen.append(torch.get_num_threads())
        if vectors.requires_grad:
            vectors.register_hook(lambda _: seen.append(torch.get_num_threads()))
        return forward(self, vectors, lengths)

    monkeypatch.setattr(WordNetwork, "forward", watch)
    monkeypatch.setattr("discotext.support.threads.chosen", None)
    torch.set_num_threads(2)
    try:
        train(toy(40), load_packaged_vectors(), TrainingSettings(tune_vectors=True, **{**SETTINGS, "epochs": 1}))
        trained = len(seen)
        for kind in KINDS:
            where = space(TEXTS[:3])
            solve(where.batch, tiny(kind).oracle(where, Untargeted([0, 0, 0])), Disco())
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert 0 < trained < len(seen)
    assert set(seen) == {1}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns(kind):
    # So few steps leave the averages of batch normalisation behind for some epochs.
    victim, progress = train(
        toy(), load_packaged_vectors(), TrainingSettings(kind=kind, **{**SETTINGS, "epochs": 12, "patience": 9})
    )
    assert progress.best > 0.9
    assert victim.labels == ("negative", "positive")
    assert (victim.scores(toy().texts).argmax(1) == toy().labels).mean() > 0.9


def test_the_same_seed_gives_the_same_victim_and_tuned_vectors_move():
    first, _ = train(toy(), load_packaged_vectors(), TrainingSettings(**SETTINGS))
    again, _ = train(toy(), load_packaged_vectors(), TrainingSettings(**SETTINGS))
    tuned, _ = train(toy(), load_packaged_vectors(), TrainingSettings(tune_vectors=True, **SETTINGS))
    np.testing.assert_array_equal(first.scores(TEXTS), again.scores(TEXTS))
    row = first.vocabulary.row["good"]
    assert torch.equal(first.table[row], again.table[row])
    assert not torch.equal(first.table[row], tuned.table[row])


def test_training_reports_its_progress(tmp_path):
    examples = toy()
    lines = [
        json.dumps({"text": text, "label": int(label)})
        for text, label in zip(examples.texts, examples.labels, strict=True)
    ]
    (tmp_path / "toy.jsonl").write_text("\n".join(lines))
    seen = []

    def note(state):
        seen.append((state.stage, state.epoch, state.step, state.steps))

    settings = {"kind": "dan", **SETTINGS, "epochs": 2}
    figures = train_victim(str(tmp_path / "toy.jsonl"), tmp_path / "v", settings=settings, packaged=True, progress=note)
    stages = [stage for stage, _, _, _ in seen]
    assert list(dict.fromkeys(stages)) == ["reading", "training", "testing", "done"]
    steps = [step for stage, _, step, _ in seen if stage == "training"]
    assert steps == list(range(1, seen[-1][3] + 1))
    assert figures["epochs"] == 2


def test_an_interrupt_keeps_the_best_so_far():
    def stop(now):
        if now.epoch == 3:
            raise KeyboardInterrupt

    victim, progress = train(toy(), load_packaged_vectors(), TrainingSettings(**SETTINGS), stop)
    assert len(progress.history) == 2
    assert victim.settings["validation_accuracy"] == max(one["validation_accuracy"] for one in progress.history)


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"validation": 1.0}, {"rate": 0.0}, {"hidden": 0}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="choose"):
        TrainingSettings(**wrong)
    for kind, pool in (("gru", "max"), ("lstm", "min")):
        with pytest.raises(ValueError, match=r"lstm, wcnn|last, max"):
            Shape(kind, 2, 8, pool=pool)


# --- the folder


@pytest.fixture
def folder(tmp_path):
    victim = tiny()
    victim.table = victim.table.half().float()
    victim.settings = {"data": "toy", "test_accuracy": 0.5}
    victim.save(tmp_path / "v")
    return tmp_path / "v"


def test_a_victim_comes_back_from_its_folder(folder):
    victim = tiny()
    victim.table = victim.table.half().float()
    loaded = load_neural(folder)
    np.testing.assert_array_equal(loaded.scores(TEXTS), victim.scores(TEXTS))
    assert loaded.labels == victim.labels
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["data"] == "toy"
    assert settings["model"]["kind"] == "lstm"
    assert {path.name for path in folder.iterdir()} == {"settings.json", "vocabulary.txt", "weights.safetensors"}


def rewrite(folder, change):
    """Change the settings of a folder."""
    settings = json.loads((folder / "settings.json").read_text())
    change(settings)
    (folder / "settings.json").write_text(json.dumps(settings))


def shorten(path):
    path.write_bytes(path.read_bytes()[:-100])


def replace_weights(folder):
    content = b"not safetensors at all"
    (folder / "weights.safetensors").write_bytes(content)
    rewrite(folder, lambda found: found["sha256"].update({"weights.safetensors": hashlib.sha256(content).hexdigest()}))


DAMAGES = {
    "no settings": (lambda folder: (folder / "settings.json").unlink(), "settings.json"),
    "no JSON": (lambda folder: (folder / "settings.json").write_text("{"), "JSON"),
    "foreign": (lambda folder: (folder / "settings.json").write_text('{"model_type": "bert"}'), "sha256"),
    "format": (lambda folder: rewrite(folder, lambda found: found.update(format=99)), "99"),
    "weights cut off": (lambda folder: shorten(folder / "weights.safetensors"), "weights.safetensors"),
    "weights missing": (lambda folder: (folder / "weights.safetensors").unlink(), "weights.safetensors"),
    "vocabulary": (lambda folder: (folder / "vocabulary.txt").write_text("other words"), "vocabulary.txt"),
    "weights of another kind": (replace_weights, "train it again"),
}
# Sizes that the weights do not have: no memory is taken for them.
DAMAGES |= {
    f"{key} {size}": (
        lambda folder, key=key, size=size: rewrite(folder, lambda found: found["model"].update({key: size})),
        "train it again",
    )
    for key in ("hidden", "width", "classes")
    for size in (13, 10**7)
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_or_foreign_folder_raises_a_one_line_error(folder, what):
    damage, named = DAMAGES[what]
    damage(folder)
    with pytest.raises(ValueError, match=named) as caught:
        load_neural(folder)
    assert "\n" not in str(caught.value)


# --- the commands


def discotext(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    examples = toy(300)
    lines = [
        json.dumps({"text": text, "label": examples.names[y]})
        for text, y in zip(examples.texts, examples.labels, strict=True)
    ]
    (folder / "toy.jsonl").write_text("\n".join(lines))
    done = discotext("train", folder / "toy.jsonl", "--model", "dan", "--out", folder / "v", "--epochs", 3, "--json")
    assert done.exit_code == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_train_reports_accuracy_with_its_interval(trained):
    folder, report = trained
    assert report["test_accuracy_low"] <= report["test_accuracy"] <= report["test_accuracy_high"]
    assert report["train_rows"] == 240
    assert report["test_rows"] == 60
    assert json.loads((folder / "v" / "settings.json").read_text())["test_accuracy"] == report["test_accuracy"]
    again = discotext("train", folder / "toy.jsonl", "--out", folder / "v")
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr


# Code for other processors, and sums in another order: what differs between machines.
MACHINES = [
    {"OMP_NUM_THREADS": "3"},
    {"OMP_NUM_THREADS": "1", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_CBWR": "COMPATIBLE"},
]


def test_every_machine_trains_the_same_network(trained, tmp_path):
    folder, _ = trained
    found = []
    for number, machine in enumerate(MACHINES):
        out = tmp_path / str(number)
        line = ["train", folder / "toy.jsonl", "--model", "lstm", "--out", out, "--epochs", 3]
        command = [sys.executable, "-m", "discotext", *map(str, line)]
        environment = {**os.environ, "DISCOTEXT_DATA": "", **machine}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        found.append(load_file(out / "weights.safetensors"))
    for other in found[1:]:
        # What is kept is rounded, and once in a while two numbers that all but agree round to neighbours.
        for name, tensor in found[0].items():
            torch.testing.assert_close(other[name], tensor, rtol=1e-3 if name == "table" else 1e-6, atol=1e-9)


def test_check_finds_a_trained_victim_fit(trained):
    folder, _ = trained
    done = discotext("check", folder / "v", folder / "toy.jsonl", "--limit", 30, "--json")
    report = json.loads(done.stdout)
    assert done.exit_code == 0, report
    assert report["fit"]
    assert {one["name"] for one in report["findings"]} >= {"accuracy", "repeatable", "batches", "gradients", "mixtures"}
