"""What a user of the command line meets every day: tables that fit, flipped texts, a single text, a gate in CI."""

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.cli.figures import paint
from discotext.report.flipped import cut_pieces
from discotext.report.terms import ALIASES, TERMS, define
from discotext.runs.record import Change
from tests.conftest import EMPTY_RECORD

MODEL = """
WEIGHTS = {"good": 2.0, "great": 1.5, "fine": -0.4, "bad": -2.0, "poor": -1.2, "weak": 0.3}

def scores(texts):
    sums = [sum(WEIGHTS.get(word.strip(".,").lower(), 0.0) for word in text.split()) for text in texts]
    return [[0.5 - total / 20, 0.5 + total / 20] for total in sums]

scores.labels = ("negative", "positive")

def broken(texts):
    raise RuntimeError("no such weight")

def flaky(texts):
    if len(texts) > 2 or texts[0].startswith("A "):
        raise RuntimeError("no such weight")
    return scores(texts)

flaky.labels = scores.labels
"""
SYNONYMS = {"good": ["great", "fine"], "great": ["good", "fine"], "bad": ["poor", "weak"], "poor": ["bad", "weak"]}
ROWS = [("A good film", 1), ("A great, good film of mice", 1), ("A bad film", 0), ("Such a bad, poor film", 0)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "everyday_model.py").write_text(MODEL)
    (tmp_path / "synonyms.json").write_text(json.dumps(SYNONYMS))
    rows = [f'"{text}",{label}' for text, label in ROWS * 5]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, victim="py:everyday_model.py:scores", command="attack"):
    line = [command, victim, *arguments, "--synonyms", "synonyms.json", "--words", "1"]
    return CliRunner().invoke(cli, [str(one) for one in line])


def run_in_terminal(line, columns, cwd):
    """What a command prints to a terminal of so many columns."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "discotext", *map(str, line)]
    process = subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE, cwd=cwd, env=environment)
    os.close(follower)
    shown = b""
    with suppress(OSError):  # the other end is closed
        while more := os.read(leader, 65536):
            shown += more
    process.communicate()
    os.close(leader)
    return shown.decode()


def test_a_terminal_gets_the_columns_that_fit_and_colours_and_other_output_all_columns(folder):
    whole = run("films.csv").stdout
    names = re.split(r" {2,}", next(line for line in whole.splitlines() if line.startswith("solver")))
    assert all(define(name) is not None for name in names)
    line = ["attack", "py:everyday_model.py:scores", "films.csv", "--synonyms", "synonyms.json", "--words", "1"]
    shown = run_in_terminal(line, 80, folder)
    assert "\x1b[9;31mgood\x1b[0m \x1b[1;32mfine\x1b[0m" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).replace("\r", "").splitlines()
    assert max(map(len, plain)) <= 80
    kept = re.split(r" {2,}", next(line for line in plain if line.startswith("solver")).strip())
    hidden = " ".join(plain).partition("a wider terminal also shows: ")[2]
    assert 3 < len(kept) < len(names)
    assert all(name in kept or name in hidden for name in names)


def test_terms_are_explained_by_name_and_all_together():
    shown = CliRunner().invoke(cli, ["terms", "s/text", "Proved"]).stdout
    assert " ".join(define("proved").split()[:6]) in " ".join(shown.split())
    every = " ".join(CliRunner().invoke(cli, ["terms"]).stdout.split())
    assert all(name in every for name in (*TERMS, *ALIASES))
    assert "'provd'" in CliRunner().invoke(cli, ["terms", "provd"]).stderr


def test_three_flipped_texts_follow_an_attack_with_names_of_classes(folder):
    shown = run("films.csv").stdout
    assert "text 0: positive → negative, 1 of 3 words changed\nA [good → fine] film" in shown
    assert shown.count("words changed\n") == 2  # the data has each text five times, and two of them flip
    assert "words changed" not in run("films.csv", "--json").stdout


def test_a_text_is_painted_whatever_it_contains():
    text = "\x1b[31mred\x1b[0m [bold] " + "word " * 300 + "end"
    start = text.index("end")
    change = Change(303, start, start + 3, "end", "[b]\x07")
    record = replace(EMPTY_RECORD, text=text, changes=(change,), adversarial_text=text[:start] + change.new)
    for colour in (True, False):
        whole = str(paint(cut_pieces(record, whole=True), colour=colour))
        assert "\x1b" not in whole
        assert "\x07" not in whole
        assert whole.startswith("\\x1b[31mred")
        assert whole.count("word") == 300
        short = str(paint(cut_pieces(record), colour=colour))
        assert len(short) < 200
        assert "[b]\\x07" in short


def test_one_text_is_attacked_and_shown_before_and_after(folder):
    done = run("--text", "A good film of mice")
    assert done.exit_code == 0, done.output
    shown = done.stdout
    assert "A [good → fine] film of mice" in shown
    assert "after:\nA fine film of mice" in shown
    assert re.search(r"positive +0\.600 +0\.480", shown)
    assert "1 of 5 words changed, 1 allowed" in shown
    assert "none of its words has a candidate" in run("--text", "Mice and men").stdout
    assert re.search(r"good +(great|fine) 0\.\d\d, (great|fine) 0\.\d\d", shown)


def test_one_text_as_json_is_the_record_that_attack_makes(folder):
    (folder / "one.csv").write_text('text,label\n"A good film of mice",1\n')
    found = json.loads(run("--text", "A good film of mice", "--solver", "greedy", "--json").stdout)
    assert run("one.csv", "--solver", "greedy", "--out", "run").exit_code == 0
    (record,) = map(json.loads, (folder / "run" / "records.jsonl").read_text().splitlines())
    same = ("text", "adversarial_text", "changes", "status", "predicted", "adversarial_predicted", "words", "budget")
    assert {key: found[key] for key in same} == {key: record[key] for key in same}
    assert found["labels"] == ["negative", "positive"]
    assert found["adversarial_scores"] == pytest.approx([0.52, 0.48])
    assert found["words_tried"][0]["candidates"] == ["great", "fine"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["films.csv", "--text", "A good film"], 2, "both given"),
        ([], 2, "--text"),
        (["--text", "A good film", "--limit", "3"], 2, "--limit is for DATA"),
        (["--text", "A good film", "--words", "2"], 2, "--words is given 2 times"),
        (["--text", "A good film", "--fail-under", "0.5"], 2, "--fail-under is for DATA"),
        (["--text", "   "], 1, "the text is blank"),
        (["films.csv", "--fail-under", "65"], 2, "65"),
    ],
)
def test_wrong_command_lines_get_one_sentence(folder, arguments, status, said):
    done = run(*arguments)
    assert done.exit_code == status, done.output
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["attack", "certify"])
@pytest.mark.parametrize(("share", "status"), [(0, 0), (0.5, 0), (0.5001, 4)])
def test_fail_under_exits_with_status_4_below_the_accuracy_under_attack_or_certified(folder, command, share, status):
    # "A good film" and "A bad film" flip with one word; "great, good" keeps its label, and so does "bad, poor".
    done = run("films.csv", "--fail-under", share, command=command)
    assert done.exit_code == status, done.output
    assert ("certified accuracy" if command == "certify" else "too low") in done.stderr or not status
    assert "budget" in done.stdout or "solver" in done.stdout  # the table is printed all the same


def test_a_victim_that_fails_on_most_texts_is_status_3_not_4(folder):
    done = run("films.csv", "--fail-under", "0.5", victim="py:everyday_model.py:flaky")
    assert done.exit_code == 3, done.output
