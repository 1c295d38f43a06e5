"""discotext decode, as it is called: on networks, and on plain text."""

import json
import os

import pytest
from click.testing import CliRunner

from discotext.cli import cli
from discotext.decoding.corrector import MARGIN
from discotext.models.arpa import write_arpa
from discotext.models.kneser_ney import train_kneser_ney
from tests.decoding.small_models import SENTENCES, make_ngram

NETS = [
    {
        "id": "u1",
        "positions": [[{"word": "a", "score": -0.1}, {"word": "the", "score": -2}], ["god", "good"], ["film"]],
    },
    {"id": "u2", "positions": [["it"], ["was", "is", ""], ["unheard"]]},
    {"id": "u3", "nbest": [{"text": "the film", "score": -2}, {"text": "the plot", "score": -1}]},
]
BEFORE = "My siter went to the cinema.\n\nA good film\r\nI recieve a letter from my sister every week"
AFTER = "My sister went to the cinema.\n\nA good film\r\nI receive a letter from my sister every week"


@pytest.fixture(scope="module")
def models():
    return make_ngram(3), train_kneser_ney(SENTENCES, order=3, least=1)


@pytest.fixture
def folder(tmp_path, monkeypatch, models):
    """A folder with networks, a text, language models and the truth, in which the command is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.jsonl").write_text("\n".join(map(json.dumps, NETS)))
    (tmp_path / "truth.txt").write_text("a good film\nit was heard\nthe plot\n")
    (tmp_path / "essay.txt").write_bytes(BEFORE.encode())
    write_arpa(models[0], tmp_path / "small.arpa")
    models[1].write(tmp_path / "small.lm")
    return tmp_path


def call(*arguments, given=None):
    return CliRunner().invoke(cli, ["decode", *map(str, arguments)], input=given, catch_exceptions=False)


def spell(*arguments, given=None):
    return call(*arguments, "--source", "spelling", "--lm", "small.lm", "--margin", "0", given=given)


def lines_of(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def fails(result, *values, status=1):
    assert result.exit_code == status, result.output
    said = " ".join(result.stderr.split())
    assert status == 2 or len(result.stderr.strip().splitlines()) == 1
    assert all(value in said for value in values), said


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
    lines = lines_of(spell("-", "--json", given=BEFORE))
    assert [line["id"] for line in lines] == ["1", "2", "3", "4"]
    assert "".join(line["text"] for line in lines) == AFTER
    assert {"start", "end", "old", "new", "margin", "alternatives"} == set(lines[0]["changes"][0])
    assert {"words", "score", "original_score", "status", "nbest"} <= lines[0].keys()


def test_truth_adds_a_line_of_error_rates(folder):
    *found, rates = lines_of(call("nets.jsonl", "--lm", "small.arpa", "--json", "--truth", "truth.txt"))
    assert len(found) == 3
    assert {"wer", "wer_low", "wer_high", "wer_original", "cer"} <= set(rates)
    assert rates["wer_oracle"] <= min(rates["wer"], rates["wer_original"])
    shown = call("nets.jsonl", "--lm", "small.arpa", "--truth", "truth.txt").stdout
    assert f"word error rate      {100 * rates['wer']:.2f} %" in shown
    truth = [{"id": one["id"], "text": text} for one, text in zip(NETS, ["a", "b", "c"], strict=True)]
    (folder / "truth").write_text("\n".join(map(json.dumps, truth)))
    assert lines_of(call("nets.jsonl", "--json", "--truth", "truth"))[-1]["words"] == 3
    (folder / "right.txt").write_text("my sister went to the cinema\n")
    last = lines_of(spell("my siter went to the cinema", "--truth", "right.txt", "--json"))[-1]
    assert (last["wer"], last["wer_original"]) == (0, pytest.approx(1 / 6))


def test_texts_go_to_standard_output_and_messages_to_standard_error(folder):
    result = call("nets.jsonl", "--lm", "small.arpa")
    assert len(result.stdout.splitlines()) == 3
    assert "3 searched by Viterbi" in result.stderr
    assert "3 texts, " in result.stderr
    piped = call("-", "--lm", "small.arpa", given=(folder / "nets.jsonl").read_text())
    assert piped.stdout == result.stdout


def test_options_reach_the_search(folder):
    plain = lines_of(call("nets.jsonl", "--json"))
    assert [one["text"] for one in plain] == ["a god film", "it was unheard", "the plot"]
    none = lines_of(call("nets.jsonl", "--json", "--lm", "small.arpa", "--words", 0))
    assert not any(one["changes"] for one in none)
    light = lines_of(call("nets.jsonl", "--json", "--lm", "small.arpa", "--weight", 0, "--solver", "prefix_beam"))
    assert [one["text"] for one in light] == [one["text"] for one in plain]
    heavy = lines_of(call("nets.jsonl", "--json", "--word-penalty", 5))
    assert heavy[1]["text"] == "it unheard"


def test_a_text_a_file_and_standard_input_are_corrected(folder):
    assert spell("my siter went to the cinema").stdout == "my sister went to the cinema\n"
    assert spell("essay.txt").stdout_bytes == AFTER.encode()
    done = spell("-", given=BEFORE)
    assert done.stdout_bytes == AFTER.encode()
    assert "2 changed" in done.stderr
    assert spell("-", "--diff", given=BEFORE).stdout.splitlines() == [
        "1: My [-siter-]{+sister+} went to the cinema.",
        "4: I [-recieve-]{+receive+} a letter from my sister every week",
    ]


def test_a_byte_order_mark_is_written_back(folder):
    (folder / "marked.txt").write_bytes("\ufeffRealy good\nthe dog was realy funny\n".encode())
    expected = "\ufeffReally good\nthe dog was really funny\n".encode()
    assert spell("marked.txt").stdout_bytes == expected
    assert spell("-", given=(folder / "marked.txt").read_bytes()).stdout_bytes == expected
    assert spell("marked.txt", "--out", "out.txt").exit_code == 0
    assert (folder / "out.txt").read_bytes() == expected


# --- files that are resumed

RUNS = {
    "networks": (call, ["nets.jsonl", "--lm", "small.arpa", "--json"], "small.arpa"),
    # The code between fences stays as it is, also where the command is resumed in the middle of it.
    "a text": (spell, ["code.txt", "--confusions", "pairs.tsv"], "pairs.tsv"),
}


@pytest.fixture
def long(folder, monkeypatch):
    """The same, with inputs of ten lines that are noted one by one."""
    nets = [{**NETS[number % 3], "id": str(number)} for number in range(10)]
    (folder / "nets.jsonl").write_text("\n".join(map(json.dumps, nets)))
    (folder / "code.txt").write_text("my siter was good\n```\nmy siter\n\nmy siter\n```\n" + "my siter was good\n" * 4)
    (folder / "pairs.tsv").write_text("siter\tsister\n")
    for name, value in {"AT_ONCE": 1, "SECONDS_PER_SAVE": 0}.items():
        monkeypatch.setattr(f"discotext.cli.decode.{name}", value)
    monkeypatch.setattr("discotext.decoding.corrector.WORDS_AT_ONCE", 1)
    return folder


def stop_after(monkeypatch, lines, error):
    from discotext.cli.decode import ResumableFile

    usual = ResumableFile.write

    def write(self, text):
        if self.lines == lines:
            raise error
        usual(self, text)

    monkeypatch.setattr(ResumableFile, "write", write)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("lines", [0, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("the power went off")], ids=repr)
def test_what_was_stopped_is_resumed_and_ends_the_same(long, monkeypatch, name, lines, error):
    run, arguments, _ = RUNS[name]
    whole = run(*arguments).stdout
    with monkeypatch.context() as patch:
        stop_after(patch, lines, error)
        stopped = run(*arguments, "--out", "out")
    assert stopped.exit_code == (130 if isinstance(error, KeyboardInterrupt) else 1)
    (long / "out").write_bytes((long / "out").read_bytes() + b"half of a li")
    done = run(*arguments, "--out", "out")
    assert done.exit_code == 0, done.stderr
    assert (long / "out").read_text() == whole
    assert not (long / "out.progress").exists()
    assert (f"{lines} were there already" in done.stderr) == bool(lines)
    fails(run(*arguments, "--out", "out"), "out already exists")


@pytest.mark.parametrize("name", RUNS)
def test_only_the_same_command_on_the_same_files_resumes(long, monkeypatch, name):
    run, arguments, file = RUNS[name]
    with monkeypatch.context() as patch:
        stop_after(patch, 3, KeyboardInterrupt())
        assert "out: repeat the command" in run(*arguments, "--out", "out").stderr
        fails(run("-", *arguments[1:], "--out", "piped", given=(long / arguments[0]).read_text()), "piped", status=130)
    fails(run("-", *arguments[1:], "--out", "piped", given=""), "piped")
    fails(run(*arguments, "--out", "out", "--words", 1), "out")
    os.utime(long / file, ns=(1, 1))
    fails(run(*arguments, "--out", "out"), "out")
    for note in ("{}", "[]", "garbage"):
        (long / "out.progress").write_text(note)
        fails(run(*arguments, "--out", "out"), "out")


def test_an_empty_file_is_a_new_one_and_another_is_not_touched(folder):
    (folder / "out.jsonl").touch()
    assert call("nets.jsonl", "--out", "out.jsonl").exit_code == 0
    fails(call("nets.jsonl", "--out", "truth.txt"), "truth.txt")
    fails(call("nets.jsonl", "--lm", "nowhere", "--out", "new.jsonl"), "nowhere")
    assert not (folder / "new.jsonl").exists()


# --- mistakes


@pytest.mark.parametrize(
    ("arguments", "status", "value"),
    [
        (["missing.jsonl"], 1, "'missing.jsonl'"),
        (["nets.jsonl", "--lm", "no-such-model"], 1, "'no-such-model'"),
        (["nets.jsonl", "--lm", "tiny.lm"], 1, "tiny.lm is damaged"),
        (["nets.jsonl", "--words", "1", "--budget", "0.5"], 2, "--budget and --words"),
        (["nets.jsonl", "--weight", "1"], 2, "1 times --weight"),
        (["nets.jsonl", "--channel-weight", "1"], 2, "--channel-weight is gone"),
        (["nets.jsonl", "--truth", "short.txt"], 1, "has 1 lines"),
        (["nets.jsonl", "--truth", "long.txt"], 1, "more lines"),
        (["nets.jsonl", "--truth", "long.txt", "--out", "x"], 2, "--truth"),
        ([""], 2, "empty"),
        *(
            (["nets.jsonl", "--source", source, "--lm", "small.arpa", *one.split()], 2, f"{one.split()[0]} is for")
            for source, some in {
                "spelling": ("--solver greedy", "--word-penalty 0", "--nbest 1"),
                "networks": ("--margin 2.2", "--diff", "--confusions essay.txt"),
            }.items()
            for one in some
        ),
        (["a text", "--source", "spelling"], 2, "--lm"),
        (["nowhere.txt", "--source", "spelling", "--lm", "small.lm"], 1, "'nowhere.txt'"),
        (["a text", "--source", "spelling", "--lm", "small.lm", "--diff", "--json"], 2, "--diff and --json"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_sentence(folder, arguments, status, value):
    (folder / "short.txt").write_text("one\n")
    (folder / "long.txt").write_text("1\n2\n3\n4\n5\n")
    (folder / "tiny.lm").write_bytes(b"PK\n")
    fails(call(*arguments), value, status=status)


def test_the_command_has_the_margin_of_the_library():
    (margin,) = [one for one in cli.get_command(None, "decode").params if one.name == "margin"]
    assert margin.default == MARGIN
