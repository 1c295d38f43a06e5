"""discotext decode: files that are damaged, that have changed, or that an interrupted run left behind."""

import json
import math
import os
import re

import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.decoding import Decoder, Network
from discotext.decoding.network import Alternative, NetworkError
from discotext.language.arpa import write_arpa
from tests.small_models import make_ngram

NETS = [
    {"id": "u1", "positions": [["a"], ["god", "good"], ["film"]]},
    {"id": "u2", "positions": [["it"], ["was", "is"]]},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.jsonl").write_text("\n".join(map(json.dumps, NETS)))
    (tmp_path / "essay.txt").write_text("a god film\nit was good\n" * 3)
    write_arpa(make_ngram(3), tmp_path / "small.arpa")
    return tmp_path


def call(*arguments, given=None):
    return CliRunner().invoke(cli, ["decode", *map(str, arguments)], input=given, catch_exceptions=False)


def spell(*arguments, **more):
    return call(*arguments, "--source", "spelling", "--lm", "small.arpa", **more)


def fails(result, words):
    assert result.exit_code == 1, result.output
    assert len(result.stderr.strip().splitlines()) == 1
    assert re.search(words, result.stderr), result.stderr


@pytest.mark.parametrize(
    "text", ["{}\n", "garbage\n", "garbage", "[]\n", "\n", "\xff\n", '{"id": 3}\n', "[" * 9999 + "\n"]
)
def test_a_damaged_line_of_results_is_named(folder, text):
    assert call("nets.jsonl", "--out", "out.jsonl").exit_code == 0
    whole = (folder / "out.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "out.jsonl").write_bytes(whole[0] + text.encode("latin-1"))
    fails(call("nets.jsonl", "--out", "out.jsonl"), r"out\.jsonl, line 2: .*; delete the file, or choose another one")


@pytest.mark.parametrize("text", ["{", "[]", "garbage", "", "\xff", '{"files": 3}'])
def test_damaged_settings_are_named(folder, text):
    assert call("nets.jsonl", "--out", "out.jsonl").exit_code == 0
    (folder / "out.jsonl.settings.json").write_bytes(text.encode("latin-1"))
    fails(
        call("nets.jsonl", "--out", "out.jsonl"), r"out\.jsonl\.settings\.json is damaged: .*; delete it and out\.jsonl"
    )


@pytest.mark.parametrize("text", ["{}", "[]", "garbage", '{"lines": -1, "bytes": 0}', '{"lines": 1, "bytes": 999}'])
def test_a_damaged_note_of_progress_is_named(folder, text):
    (folder / "out.txt").write_text("a god film\n")
    (folder / "out.txt.progress").write_text(text)
    fails(
        spell("essay.txt", "--out", "out.txt"),
        r"out\.txt\.progress is damaged, or out\.txt was changed since; remove both",
    )


@pytest.mark.parametrize("changed", ["nets.jsonl", "small.arpa"])
def test_results_are_not_mixed_with_those_of_changed_files(folder, changed):
    arguments = ["nets.jsonl", "--lm", "small.arpa", "--out", "out.jsonl"]
    assert call(*arguments).exit_code == 0
    assert "2 were there already" in call(*arguments).stderr
    os.utime(folder / changed, ns=(1, 1))
    fails(call(*arguments), f"out.jsonl was written before {changed} changed; choose another file, or delete it")


def interrupt_after(monkeypatch, lines):
    from discotext.decoding.corrector import Corrector

    usual = Corrector.correct_all

    def correct_all(self, texts, *more):
        for number, found in enumerate(usual(self, texts, *more)):
            if number == lines:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr("discotext.decoding.corrector.Corrector.correct_all", correct_all)


@pytest.mark.parametrize("lines", [0, 1, 3])
@pytest.mark.parametrize("changed", [None, "essay.txt", "small.arpa", "pairs.tsv"])
def test_an_interrupted_text_says_so_and_is_resumed_with_the_same_files_alone(folder, monkeypatch, lines, changed):
    (folder / "pairs.tsv").write_text("god\tgood\n")
    arguments = ["essay.txt", "--confusions", "pairs.tsv"]
    whole = spell(*arguments).stdout
    monkeypatch.setattr("discotext.cli.spelling.LINES_PER_SAVE", 2)
    with monkeypatch.context() as patch:
        interrupt_after(patch, lines)
        stopped = spell(*arguments, "--out", "out.txt")
        assert "with --out it could be resumed" in spell(*arguments).stderr
    assert stopped.exit_code == 130
    assert f"after {lines} lines; completed work is saved in out.txt: repeat the command to resume" in stopped.stderr
    if changed is not None:
        os.utime(folder / changed, ns=(1, 1))
        if (folder / "out.txt").stat().st_size:
            fails(spell(*arguments, "--out", "out.txt"), "was begun with other settings or another input")
            return
    assert spell(*arguments, "--out", "out.txt").exit_code == 0
    assert (folder / "out.txt").read_text() == whole
    assert not (folder / "out.txt.progress").exists()


def test_an_empty_file_is_a_new_one(folder):
    (folder / "out.txt").touch()
    assert spell("essay.txt", "--out", "out.txt").exit_code == 0
    (folder / "out.jsonl").touch()
    assert call("nets.jsonl", "--out", "out.jsonl").exit_code == 0


def test_a_network_without_a_possible_text_is_refused_where_it_ends():
    never = -math.inf
    rows = [["a"], [("god", never), ("good", never)], ["film"]]
    with pytest.raises(NetworkError, match=r"network 1: position 1: every word \('god', 'good'\) is forbidden"):
        Decoder()([Network.of("1", rows)])
    # A longer word leads around the position, unless it is forbidden, too.
    for score in (0.0, never):
        around = Network(
            "1", ((Alternative("a", 0.0), Alternative("x", score, 2)), *Network.of("1", rows).positions[1:])
        )
        if score == never:
            with pytest.raises(NetworkError, match="position 1: every word"):
                Decoder()([around])
        else:
            assert Decoder()([around])[0].text == "x film"


@pytest.mark.parametrize("score", ["1e308", "-1e308", "1" + "0" * 400, "1e999"])
@pytest.mark.parametrize("lists", ["rescore", "combine"])
def test_scores_that_would_overflow_are_refused(folder, score, lists):
    given = f'{{"positions": [["a", {{"word": "b", "score": {score}}}]]}}'
    fails(call("-", given=given), "line 1: position 0: the score of 'b' is .*; expected a natural logarithm")
    given = f'{{"nbest": [{{"text": "a"}}, {{"text": "b", "score": {score}}}]}}'
    fails(call("-", "--lists", lists, given=given), "line 1: the score of entry 1 of nbest is")
    with pytest.raises(NetworkError, match="position 0: the score of 'a' is"):
        Network.of("1", [[("a", float(score) if len(score) < 9 else 1e101)]])


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        *(("spelling", one.split()) for one in (
            "--solver greedy", "--channel-weight 1", "--word-penalty 0", "--shortest 0", "--longest 9", "--contain a",
            "--exclude a", "--lists rescore", "--scores log", "--nbest 1", "--force 0=a", "--forbid a")),
        *(("networks", one.split()) for one in ("--margin 2.2", "--diff", "--confusions essay.txt")),
    ],
)  # fmt: skip
def test_options_that_would_do_nothing_are_refused(folder, source, arguments):
    result = call("nets.jsonl", "--source", source, "--lm", "small.arpa", *arguments)
    assert result.exit_code == 2
    other = "networks" if source == "spelling" else "spelling"
    assert f"{arguments[0]} is for {other}; leave it out with --source {source}" in " ".join(result.stderr.split())


@pytest.mark.parametrize("lines", [1, 7])
def test_the_truth_has_as_many_lines_as_the_text(folder, lines):
    (folder / "truth.txt").write_text("a good film\n" * lines)
    result = spell("essay.txt", "--truth", "truth.txt")
    assert result.exit_code == 1
    assert f"the truth has {lines} lines, but the text has" in result.stderr


def test_small_mistakes_are_told_plainly(folder):
    (folder / "tiny.lm").write_bytes(b"PK\n")
    result = call("nets.jsonl", "--lm", "tiny.lm")
    fails(result, r"tiny\.lm is damaged or incomplete; expected a language model written by discotext train-lm")
    for source in ("networks", "spelling"):
        empty = call("", "--source", source)
        assert empty.exit_code == 2
        assert "the input is empty; name a file" in empty.stderr
