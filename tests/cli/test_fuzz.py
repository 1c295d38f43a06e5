"""Every command under odd command lines, and damaged folders: see `fuzzing` for the law."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import click
import pytest

from discotext.attacks.attack import attack
from discotext.attacks.run import LONG, warn_of_long_texts
from discotext.attacks.settings import parse_budgets
from discotext.cli import COMMANDS, cli
from discotext.runs.folder import count_expected
from tests.conftest import heed_ctrl_c
from tests.fuzzing import NAMES, NUMBERS, ends_well, run

TORCH = importlib.util.find_spec("torch") is not None
WEB = all(importlib.util.find_spec(name) for name in ("starlette", "uvicorn"))
WEIGHTS = {"good": 2.0, "great": 1.5, "fine": 0.4, "bad": -2.0, "awful": -0.5}
VICTIM = f"""
WEIGHTS = {WEIGHTS}
def scores(texts):
    worth = [sum(WEIGHTS.get(word.strip('.,!').lower(), 0.0) for word in text.split()) for text in texts]
    return [[0.1 - z, z] for z in worth]
def named(texts):
    return scores(texts)
named.labels = ("negative", "positive")
def three(texts):
    return [[0.0, 1.0, 2.0] for _ in texts]
def raises(texts):
    raise RuntimeError("boom\\nand more")
def nan(texts):
    return [[float("nan"), 1.0] for _ in texts]
def ragged(texts):
    return [[1.0] * (number + 1) for number, _ in enumerate(texts)]
def nothing(texts):
    return None
def letters(texts):
    return ["x" for _ in texts]
def few(texts):
    return []
number = 3
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder, deep enough for `../..`, with victims, data, lists, vectors and runs, good and bad; it is entered."""
    here = tmp_path_factory.mktemp("a") / "b" / "c"
    here.mkdir(parents=True)
    rng = random.Random(0)
    rows = [
        {"text": f"The {' '.join(rng.choice(list(WEIGHTS)) for _ in range(3))} film {number}", "label": number % 2}
        for number in range(8)
    ]
    files = {
        "victim.py": VICTIM,
        "broken.py": "def (",
        "d.jsonl": "\n".join(map(json.dumps, rows)),
        "d.csv": "text,label\n" + "\n".join(f"{row['text']},{row['label']}" for row in rows),
        "semicolons.csv": "text;label\n" + "\n".join(f"{row['text']};{row['label']}" for row in rows),
        "empty.csv": "",
        "junk.parquet": "PAR1junk",
        "junk.npz": "junk",
        "lists.json": json.dumps({"good": ["fine", "great"], "bad": ["awful"], "great": ["fine", "good"]}),
        "junk.json": "[1, 2",
        "vectors.txt": "\n".join(f"{word} {n} {n * n % 7} 1.5" for n, word in enumerate(WEIGHTS, start=1)),
        "ragged.txt": "good 1 2\nbad 1\n",
        "synonyms.txt": "good great\nbad awful\n",
        "antonyms.txt": "good bad\n",
        "model.skops": "junk",
        "model.pkl": "junk",
        "nets.jsonl": "\n".join(json.dumps({"positions": [["good", "bad"], ["film", "", "farm"]]}) for _ in range(3)),
        "lines.txt": "a good film\na bad film\n" * 3,
        "full/file": "x",
    }
    for name, content in files.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(content)
    for name in ("folder.csv", "nothing"):
        (here / name).mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.delenv("DISCOTEXT_DATA", raising=False)
        # It changes how this process reckons, and tests that come after would see it.
        patch.setattr("discotext.support.extras.flush_denormals_globally", lambda: None)

        def from_hub(*arguments):
            raise RuntimeError("the network is never touched")

        patch.setattr("discotext.data.registry._download", from_hub)
        patch.setattr("webbrowser.open", lambda address: False)
        if WEB:
            patch.setattr("discotext.web.server.Server.serve_page", lambda server: server.listening.close())
        if TORCH:

            def train_victim(*arguments, **more):
                raise ValueError("training would begin here")

            patch.setattr("discotext.victims.neural.training.train_victim", train_victim)
        for out, more in (("run", []), ("s1", ["--shard", "1/2"]), ("s2", ["--shard", "2/2"])):
            done = run("compare", *ATTACK, "--out", out, *more)
            assert done.exit_code == 0, done.output
        yield here


ATTACK = "py:victim.py:scores d.jsonl --synonyms lists.json --solver greedy --solver exact --budget 0.2 --budget .5"
ATTACK = ATTACK.split()
SLOW = {"report", "compare"}  # `compare` has the options of `attack`
SKIPPED = {"masked_lm", "sentence_encoder", "language_model"}  # would ask the hub
SKIPPED |= {"per_second", "fields", "answer", "one_by_one", "labels", "binary"}  # for services only
USUAL = {
    "victim": ["py:victim.py:scores"] * 20
    + [f"py:victim.py:{name}" for name in "named three raises nan ragged nothing letters few number none".split()]
    + ["py:broken.py:f", "py:no.py:f", "sklearn:model.skops", "sklearn:model.pkl", "sklearn:no", "run", "nothing"],
    "data": ["d.jsonl"] * 12 + ["d.csv", "semicolons.csv", "empty.csv", "junk.parquet", "folder.csv", "-", "trec"],
    "name": ["trec", "ag-news"],
    "input": ["nets.jsonl"] * 12 + ["d.jsonl", "lists.json", "empty.csv", "junk.npz", "folder.csv", "-"],
    "texts": ["lines.txt", "d.csv", "-"],
    "truth": ["lines.txt"],
    "solver": ["auto", "greedy", "exact", "beam", "disco", "left_to_right"],
    "solvers": ["greedy", "exact", "random", "ranked_greedy"],
    "budget": ["0.2", ".5", "1"],
    "words": ["0", "1", "2"],
    "limit": ["1", "3"],
    "seed": ["0", "5"],
    "target": ["0", "1"],
    "out": [f"out{number}" for number in range(20)] + ["run", "more.jsonl", "more.csv", "new.npz", "new.txt"],
    "shard": ["1/2", "2/2", "7/9"],
    "synonyms": ["lists.json", "synonyms.txt", "junk.json"],
    "vectors": ["vectors.txt", "ragged.txt", "junk.npz"],
    "antonyms": ["antonyms.txt"],
    "simlex": ["vectors.txt"],
    "run": ["run", "s1"],
    "runs": ["s1", "s2"],
    "text_column": ["text"],
    "label_column": ["label", "LABEL"],
    "sources": ["list", "wordnet"],
    "without": ["all", "phrase"],
    "similarity": ["0.5"],
    "accept": ["0.2", "0.7"],
    "scorer": ["light"],
    "per_word": ["1", "3"],
    "word_or_text": ["good", "I purchased it"],
    "networks": ["1", "2"],
    "html_file": ["page.html"],
    "csv_file": ["table.csv"],
    "parquet_file": ["table.parquet"],
    "kind": ["dan"],
    "test": ["d.csv"],
}
GIVEN = [b"", b"{}", b'{"text": "a good film", "label": 1}\n', b"\xff\xfe", b"null\n", b"[1]", b"good", b"\x00"]


def command_line(name: str, rng: random.Random) -> list[str]:
    """A random command line: every option now and then, with a usual value or, in some lines, an odd one."""
    odd = rng.choice([0.0, 0.02, 0.05, 0.3])

    def value(of: str) -> str:
        return rng.choice(USUAL[of]) if of in USUAL and rng.random() >= odd else rng.choice(NUMBERS + NAMES)

    line = [name]
    for one in cli.get_command(None, name).params:
        if isinstance(one, click.Argument):
            count = rng.choice([1, 2, 3]) if one.nargs == -1 else 1
            line += [value(one.name) for _ in range(count)] if rng.random() >= odd / 2 else []
            continue
        for _ in range(2 if one.multiple else 1):
            if one.name not in SKIPPED and rng.random() < (0.9 if one.required else 0.12):
                line.append(rng.choice(one.opts + one.secondary_opts))
                line += [] if one.is_flag or one.secondary_opts else [value(one.name)]
    if rng.random() < odd:
        line.insert(rng.randrange(len(line)), rng.choice(["--nonsense", "-x", "--help", *NAMES]))
    return line


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_is_written_a_command_ends_in_a_status_and_a_sentence(place, name):
    statuses = set()
    for seed in range(10 if name in SLOW else 15):
        rng = random.Random(f"{name} {seed}")
        line = command_line(name, rng)
        done = run(*line, given=rng.choice(GIVEN))
        ends_well(done, line)
        statuses.add(done.exit_code)
    assert statuses - {2}  # not all were refused at the door


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_refuses_or_takes_every_odd_value(place, name):
    rng = random.Random(name)
    params = [one for one in cli.get_command(None, name).params if one.name not in SKIPPED]
    needed = [value for one in params if one.required for value in _usual(one)]
    # The options that `compare` and `certify` share with `attack` are the same objects.
    known = cli.get_command(None, "attack").params if name in ("compare", "certify") else []
    for one in params:
        if isinstance(one, click.Argument) or one.is_flag or one.secondary_opts or one.name in {a.name for a in known}:
            continue
        for odd in [*rng.sample(NUMBERS, 1 if name in SLOW else 2), rng.choice(NAMES)]:
            line = [name, *needed, one.opts[0], odd]
            ends_well(run(*line), line)


def _usual(one: click.Parameter) -> list[str]:
    return [USUAL[one.name][0]] if isinstance(one, click.Argument) else [one.opts[0], USUAL[one.name][0]]


# --- damaged folders

ODD = [None, True, 0, -1, 2.5, 10**12, 10**30, 1e300, float("nan"), float("inf"), "", "x", "0.2", "2 words", "9/9"]
ODD += ["9" * 5000 + " words", "\ud800", "\x00", [], [1], ["x"], [[]], [{}], [None], ["0.2", "0.2"], ["1e999"], {}]


def damaged_json(content, rng: random.Random):
    """The same, with one value taken out or replaced by an odd one, at any depth."""

    def places(value, above=()):
        yield above
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield from places(value[key], (*above, key))

    *above, last = rng.choice(list(places(content))[1:])
    inside = content
    for key in above:
        inside = inside[key]
    if rng.random() < 0.3:
        del inside[last]
    else:
        inside[last] = rng.choice(ODD)
    return content


def damaged_bytes(raw: bytes, rng: random.Random) -> bytes:
    """The same, cut off, with other bytes, without a part, twice, or something else altogether."""
    at = rng.randrange(len(raw) + 1)
    other = bytearray(raw)
    for _ in range(3):
        other[rng.randrange(len(raw))] = rng.randrange(256)
    without = raw[:at] + raw[at + rng.randrange(200) :]
    return rng.choice([raw[:at], raw[:at], bytes(other), bytes(other), without, raw * 2, rng.randbytes(50), b""])


def damage_run(folder: Path, rng: random.Random) -> None:
    file = folder / rng.choice(["records.jsonl", "records.jsonl", "settings.json"])
    if rng.random() < 0.3:
        file.write_bytes(damaged_bytes(file.read_bytes(), rng))
    elif file.name == "settings.json":
        file.write_text(json.dumps(damaged_json(json.loads(file.read_text()), rng)))
    else:
        lines = file.read_text().splitlines()
        at, kind = rng.randrange(len(lines)), rng.choice(["gone", "more", "shuffled", "changed", "changed", "changed"])
        if kind == "gone":
            del lines[at]
        elif kind == "more":
            lines.insert(at, rng.choice([*lines, "", "null", "{}", "[]", "3"]))
        elif kind == "shuffled":
            rng.shuffle(lines)
        else:
            lines[at] = json.dumps(damaged_json(json.loads(lines[at]), rng))
        file.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", ["report", "augment", "merge", "compare"])
def test_a_damaged_run_is_refused_in_a_sentence_or_of_no_harm(place, tmp_path, name):
    line = {
        "report": ["report", "damaged", "--csv", tmp_path / "r.csv", "--html", tmp_path / "r.html"],
        "augment": ["augment", "damaged", "--out", tmp_path / "a.jsonl", "--overwrite"],
        "merge": ["merge", "damaged", "s2", "--out", tmp_path / "m"],
        "compare": ["compare", *ATTACK, "--out", "damaged"],
    }[name]
    statuses = set()
    for seed in range(25):
        for there in ("damaged", tmp_path / "m"):
            shutil.rmtree(there, ignore_errors=True)
        shutil.copytree("s1" if name == "merge" else "run", "damaged")
        damage_run(Path("damaged"), random.Random(f"{name} {seed}"))
        done = run(*line)
        ends_well(done, [seed, *line])
        statuses.add(done.exit_code)
    assert statuses == {0, 1}


def test_a_shard_without_texts_is_a_shard(place):
    for part in range(1, 4):
        done = run("compare", *ATTACK, "--shard", f"{part}/3", "--out", f"third{part}")
        assert done.exit_code == 0, done.stderr
    done = run("merge", "third1", "third2", "third3", "--out", "thirds")
    assert done.exit_code == 0, done.stderr
    assert Path("thirds/records.jsonl").read_text().count("\n") == Path("run/records.jsonl").read_text().count("\n")


def test_expected_records_are_those_that_counting_gives():
    for n, chunk, parts in product(range(12), (1, 3, 5), (1, 2, 4)):
        for part in range(1, parts + 1):
            mine = [row for row in range(n) if row // chunk % parts == part - 1]
            given = {"n": n, "chunk": chunk, "shard": f"{part}/{parts}", "budgets": ["1"], "solvers": {"a": ""}}
            assert count_expected(given) == len(mine)


# --- in a process of its own


def discotext(*arguments: str, **more) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "discotext", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, errors="replace", **more)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["no-victim", "d.jsonl"], "there is no victim 'no-victim'"),
        (["nothing", "d.jsonl"], "it has no settings.json"),
        (["sklearn:no.skops", "d.jsonl"], "there is no file 'no.skops'"),
        (["hf:any", "no.csv"], "there is no file no.csv"),
        (["hf:any", "trec"], "was not found"),
        (["hf:any", "d.jsonl", "--solver", "best"], "there is no solver 'best'"),
        (["hf:any", "d.jsonl", "--shard", "3/2"], "i/n"),
        (["hf:any", "d.jsonl", "--out", "full"], "not empty and is not a run folder"),
        (["hf:any", "d.jsonl", "--out", "d.csv/run"], "d.csv is not a folder"),
    ],
)
def test_what_can_be_seen_from_outside_is_refused_before_torch_is_imported(place, monkeypatch, given, says):
    monkeypatch.setattr(
        "discotext.support.extras.flush_denormals_globally", lambda: pytest.fail("torch would be imported here")
    )
    if "trec" in given and importlib.util.find_spec("datasets"):
        pytest.skip("the set could be had from the hub")
    done = run("attack", *given)
    assert done.exit_code == 1
    assert says in done.stderr


STOPS = """
asked = 0
def stops(texts):
    global asked
    asked += 1
    if asked == {when}:
        {how}
    return scores(texts)
"""


CTRL_C, USELESS = "raise KeyboardInterrupt", "return []"
EARLY, LATE = "before the first record was saved in", "completed work is saved in"


@pytest.mark.parametrize(
    ("when", "how", "out", "says"),
    [
        (20, CTRL_C, None, "nothing is saved without --out"),
        (1, CTRL_C, "early", EARLY),
        (20, CTRL_C, "late", LATE),
        (1, USELESS, "useless_early", EARLY),
        (20, USELESS, "useless_late", LATE),
    ],
)
def test_ctrl_c_and_a_victim_that_is_of_no_use_any_more_say_what_is_kept(place, when, how, out, says):
    name = f"stops_{out}.py"
    Path(name).write_text(VICTIM + STOPS.format(when=when, how=how))
    # More texts than one chunk holds.
    Path("many.jsonl").write_text("\n".join(f'{{"text": "A good film {n}", "label": 1}}' for n in range(300)))
    line = [
        "attack",
        f"py:{name}:stops",
        "many.jsonl",
        *ATTACK[2:4],
        "--solver",
        "beam",
        *(["--out", out] if out else []),
    ]
    done = run(*line)
    assert done.exit_code == (130 if how == CTRL_C else 1)
    assert says in done.stderr.splitlines()[-1]
    if out:
        Path(name).write_text(VICTIM + STOPS.format(when=0, how="pass"))
        again = run(*line)
        assert again.exit_code == 0, again.stderr


def test_commands_that_always_have_a_folder_say_that_they_go_on(place, monkeypatch):
    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("discotext.data.registry.check_data", stop)
    done = run("harden", "d.jsonl", "--out", "hardened")
    assert done.exit_code == 130
    assert "interrupted; completed work is saved: repeat the command to resume" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_real_signal_is_ctrl_c(place):
    how = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    Path("signalled.py").write_text(VICTIM + STOPS.format(when=4, how=how))
    line = ["attack", "py:signalled.py:stops", *ATTACK[1:4], "--out", "signalled"]
    done = discotext(*line, cwd=place, preexec_fn=heed_ctrl_c)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "saved in signalled" in done.stderr.strip().splitlines()[-1]


# --- what is said


def test_shares_mean_the_same_however_they_are_written(place):
    for share in (".3", "3e-1"):
        done = run("attack", *ATTACK[:4], "--budget", share, "--out", "shares")
        assert done.exit_code == 0, done.stderr
    assert json.loads(Path("shares/settings.json").read_text())["budgets"] == ["0.3"]
    assert [str(one) for one in parse_budgets([1, 0.5, "1e-7", 1e-05], None)] == ["1", "0.5", "1e-7", "0.00001"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"budget": None}, "both None"),
        ({"budget": 0.1, "words": 1}, r"budget is 0\.1 and words is 1"),
        ({"budget": object}, "share of words"),
        ({"budget": [None]}, "share of words"),
        ({"budget": [0.2, "0.20"]}, "given twice"),
        ({"words": 1.5}, "words is 1.5; choose a whole number, 0 or more"),
        ({"words": [1, 1]}, "given twice"),
        ({"limit": "all"}, "limit is 'all'; choose a whole number, 1 or more"),
        ({"chunk": 0}, "chunk is 0; choose a whole number, 1 or more"),
        ({"target": "positive"}, "there is no class 'positive'; choose one of 0, 1"),
    ],
)
def test_wrong_settings_in_python_are_told_in_a_sentence(given, says):
    with pytest.raises(ValueError, match=says):
        attack(lambda texts: [[0.0, 1.0] for _ in texts], (["a", "b"], [0, 1]), **given)


def test_augment_writes_the_labels_of_the_data_and_says_how_many(place, tmp_path):
    rows = [json.loads(line) for line in Path("d.jsonl").read_text().splitlines()]
    named = [json.dumps(row | {"label": ["bad", "good"][row["label"]]}) for row in rows]
    Path("named.jsonl").write_text("\n".join(named))
    # The victim has numbers for classes, and the user says which name is which.
    line = ["attack", "py:victim.py:scores", "named.jsonl", *ATTACK[2:4], "--budget", "0.9"]
    done = run(*line, "--out", tmp_path / "run", "--map-label", "bad=0", "--map-label", "good=1")
    assert done.exit_code == 0, done.stderr
    done = run("augment", tmp_path / "run", "--out", tmp_path / "more.jsonl")
    assert done.exit_code == 0, done.stderr
    written = [json.loads(line) for line in (tmp_path / "more.jsonl").read_text().splitlines()]
    assert {row["label"] for row in written} == {"bad", "good"}
    assert len(written) > len(rows)
    assert f"{len(written) - len(rows)} successful attacks" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs /proc")
def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(place):
    for line in (["attack", *ATTACK[:4]], ["train", "d.jsonl"]):
        if line[0] == "train" and not TORCH:
            continue
        done = run(*line, "--out", "/proc/no/such")
        ends_well(done)
        assert done.exit_code == 1
        assert "/proc/no/such cannot be" in done.stderr
        assert "choose" in done.stderr


def test_a_long_text_is_warned_of_once_by_its_number_and_length():
    with pytest.warns(UserWarning, match=rf"^text 1 has {LONG + 2:,} words") as warned:
        warn_of_long_texts(["a " * 10, "a " * (LONG + 2), "word" * LONG, "a " * (LONG + 1)])
    assert len(warned) == 1
