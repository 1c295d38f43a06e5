"""discotext decode, as it is called."""

import json

import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.decoding import run as runs
from discotext.language.arpa import write_arpa
from tests.small_models import make_ngram

NETS = [
    {
        "id": "u1",
        "positions": [[{"word": "a", "score": -0.1}, {"word": "the", "score": -2}], ["god", "good"], ["film"]],
    },
    {"id": "u2", "positions": [["it"], ["was", "is", ""], ["unheard"]]},
    {"id": "u3", "nbest": [{"text": "the film", "score": -2}, {"text": "the plot", "score": -1}]},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with networks, a language model and the truth, in which the command is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.jsonl").write_text("\n".join(map(json.dumps, NETS)))
    (tmp_path / "truth.txt").write_text("a good film\nit was heard\nthe plot\n")
    write_arpa(make_ngram(3), tmp_path / "small.arpa")
    return tmp_path


def call(*arguments, given=None):
    return CliRunner().invoke(cli, ["decode", *map(str, arguments)], input=given, catch_exceptions=False)


def lines_of(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_json_lines_have_what_is_promised(folder):
    found = lines_of(call("nets.jsonl", "--lm", "small.arpa", "--json", "--nbest", 2))
    assert [one["id"] for one in found] == ["u1", "u2", "u3"]
    for one in found:
        assert {"id", "text", "words", "score", "original_score", "status", "changes", "nbest"} <= set(one)
        assert one["status"] == "optimal"
        assert one["score"] >= one["original_score"]
        assert one["words"] == len(one["text"].split())
        assert one["nbest"][0]["text"] == one["text"]
        assert sum(one["parts"].values()) == pytest.approx(one["score"])
    assert found[1]["unknown"] == 1


def test_truth_adds_a_line_of_error_rates(folder):
    *found, rates = lines_of(call("nets.jsonl", "--lm", "small.arpa", "--json", "--truth", "truth.txt"))
    assert len(found) == 3
    assert {"wer", "wer_low", "wer_high", "wer_original", "cer"} <= set(rates)
    assert rates["wer_oracle"] <= min(rates["wer"], rates["wer_original"])
    shown = call("nets.jsonl", "--lm", "small.arpa", "--truth", "truth.txt")
    assert "word error rate" in shown.stdout
    assert "matched pairs" in shown.stdout
    truth = [{"id": one["id"], "text": text} for one, text in zip(NETS, ["a", "b", "c"], strict=True)]
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, truth)))
    assert lines_of(call("nets.jsonl", "--json", "--truth", "truth.jsonl"))[-1]["words"] == 3


def test_texts_go_to_standard_output_and_talk_to_standard_error(folder):
    result = call("nets.jsonl", "--lm", "small.arpa", "--explain")
    assert len([line for line in result.stdout.splitlines() if not line.startswith(" ")]) == 3
    assert "searched by Viterbi" in result.stderr
    assert "3 texts, " in result.stderr
    assert "are unknown to a language model" in result.stderr
    assert " → " in result.stdout
    piped = call("-", "--lm", "small.arpa", given=(folder / "nets.jsonl").read_text())
    assert piped.stdout.splitlines()[0] == result.stdout.splitlines()[0]


def test_options_reach_the_search(folder):
    plain = lines_of(call("nets.jsonl", "--json"))
    assert [one["text"] for one in plain] == ["a god film", "it was unheard", "the plot"]
    forced = lines_of(call("-", "--json", "--force", "1=good", given=json.dumps(NETS[0])))
    assert forced[0]["text"] == "a good film"
    none = lines_of(call("nets.jsonl", "--json", "--lm", "small.arpa", "--words", 0))
    assert not any(one["changes"] for one in none)
    light = lines_of(call("nets.jsonl", "--json", "--lm", "small.arpa", "--weight", 0, "--solver", "prefix_beam"))
    assert [one["text"] for one in light] == [one["text"] for one in plain]
    heavy = lines_of(call("nets.jsonl", "--json", "--word-penalty", 5, "--lists", "combine"))
    assert heavy[1]["text"] == "it unheard"


def test_an_interrupted_run_goes_on_where_it_was(folder, monkeypatch):
    arguments = ["nets.jsonl", "--lm", "small.arpa", "--truth", "truth.txt", "--json"]
    *expected, rates = lines_of(call(*arguments))
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    monkeypatch.setattr(runs.cut, "__defaults__", (1,))
    out = folder / "out.jsonl"
    assert lines_of(call(*arguments, "--out", out)) == [rates]
    whole = out.read_text()
    assert [json.loads(line) for line in whole.splitlines()] == expected
    out.write_text(whole[: len(whole) // 2])  # in the middle of a line
    again = call(*arguments, "--out", out)
    assert out.read_text() == whole
    assert lines_of(again) == [rates]
    assert "1 were there already" in again.stderr
    other = call(*arguments, "--out", out, "--words", 1)
    assert other.exit_code == 1
    assert "was written with another words (None)" in other.stderr
    reverse = "\n".join(map(json.dumps, NETS[::-1]))
    (folder / "nets.jsonl").write_text(reverse)
    assert "out.jsonl was written before nets.jsonl changed" in call(*arguments, "--out", out).stderr
    assert call("-", "--out", folder / "piped.jsonl", given="\n".join(map(json.dumps, NETS))).exit_code == 0
    moved = call("-", "--out", folder / "piped.jsonl", given=reverse)
    assert "has the result of u1 where u3 is due" in moved.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["missing.jsonl"], 1, "there is no file 'missing.jsonl'"),
        (["nets.jsonl", "--lm", "no-such-model"], 1, "there is no language model 'no-such-model'"),
        (["nets.jsonl", "--words", "9"], 1, "--words is 9, but the longest network has 3 positions; choose 0 to 3"),
        (["nets.jsonl", "--words", "1", "--budget", "0.5"], 2, "two ways to say the same"),
        (["nets.jsonl", "--weight", "1"], 2, "1 times --weight, but 0 times --lm"),
        (["nets.jsonl", "--weight", "nan", "--lm", "small.arpa"], 2, "'nan' is not a number"),
        (["nets.jsonl", "--solver", "vitrebi"], 1, "there is no solver 'vitrebi'"),
        (["nets.jsonl", "--force", "film"], 1, "expected a position and a word, such as 3=film"),
        (["nets.jsonl", "--exclude", "g"], 1, "network u1: position 1: none of 'god', 'good' is allowed"),
        (["nets.jsonl", "--truth", "short.txt"], 1, "the truth ends before network u2"),
        (["nets.jsonl", "--truth", "long.txt"], 1, "the truth goes on after the last network"),
        (["nets.jsonl", "--out", "truth.txt"], 1, "exists and is not a file of results"),
        (["small.arpa"], 1, "line 1"),
        (["nets.jsonl", "--solver", "disco", "--lists", "combine", "--nbest", "0"], 2, "0 is not in the range"),
    ],
)
def test_mistakes_end_in_one_sentence(folder, arguments, status, words):
    (folder / "short.txt").write_text("one\n")
    (folder / "long.txt").write_text("1\n2\n3\n4\n")
    result = call(*arguments)
    assert result.exit_code == status, result.stderr
    assert words in " ".join(result.stderr.split())
    if status == 1:
        assert len(result.stderr.strip().splitlines()) == 1 or "searched" in result.stderr


@pytest.mark.parametrize("more", [[], ["--out", "out.jsonl"]])
def test_ctrl_c_says_what_is_saved(folder, monkeypatch, more):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("discotext.decoding.decode.Decoder.__call__", interrupt)
    result = call("nets.jsonl", *more)
    assert result.exit_code == 130
    assert ("completed work is saved in out.jsonl: repeat the command" if more else "with --out") in result.stderr
