"""Services as victims: from Python and from the command line, counted as they were asked."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import discotext
from discotext.cli import cli
from discotext.victims import HttpVictim
from discotext.victims.function import FunctionVictim

TEXTS = ["An awful film about mice.", "A fine film about mice.", "An awful book about ships."]
LABELS = ["bad", "good", "bad"]
DESCRIBED = ["--service", "text=instances[].text", "--service", "field.model=small", "--service"]


def score(text: str) -> list[float]:
    """Of bad and good."""
    return [float("awful" in text.lower()), 0.5]


def plain(request):
    return {"scores": [score(text) for text in request["texts"]], "labels": ["bad", "good"]}


def instances(request):
    assert request["model"] == "small"
    rows = [dict(zip(("bad", "good"), score(one["text"]), strict=True)) for one in request["instances"]]
    return {"predictions": [{"scores": row} for row in rows]}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return tmp_path


def run(*line):
    return CliRunner().invoke(cli, list(line))


def test_what_was_answered_before_a_call_failed_is_not_asked_again(serve):
    with serve(plain) as service:
        victim = HttpVictim(service.url, batch=1)
        service.troubles.extend([None, None, 400])
        with pytest.raises(ValueError, match="400"):
            victim.scores(["a", "b", "c", "d"])
        victim.scores(["a", "b"])
        victim.scores(["c", "d"])
        assert [text for one in service.seen for text in one["texts"]] == ["a", "b", "c", "c", "d"]
        victim.scores(["a"])  # kept for a failed call, and not for ever
        assert len(service.seen) == 6


def test_a_service_may_order_its_classes_and_name_the_words_it_knows(serve):
    with serve(lambda request: {**plain(request), "vocabulary": ["good", "film"]}) as service:
        turned, victim = HttpVictim(service.url, labels=["good", "bad"]), HttpVictim(service.url)
        np.testing.assert_allclose(turned.scores(TEXTS), victim.scores(TEXTS)[:, ::-1])
        assert "Good" in victim.capabilities.vocabulary
        assert "gnu" not in victim.capabilities.vocabulary


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"url": "file:///etc/passwd"}, "file:///etc/passwd"),
        ({"url": "http://"}, "'http://'"),
        ({"url": "https://me:secret@host/"}, "DISCOTEXT_TOKEN"),
        ({"batch": 0}, "batch is 0"),
        ({"timeout": 0}, "timeout is 0"),
        ({"retries": -1}, "retries is -1"),
        ({"per_second": 0}, "per_second is 0"),
        ({"max_texts": 0}, "max_texts is 0"),
    ],
)
def test_invalid_settings_are_refused(settings, named):
    with pytest.raises(ValueError) as caught:
        HttpVictim(**{"url": "http://localhost/", **settings})
    assert named in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_records_count_the_texts_that_a_failing_service_received_and_no_others(solver, serve):
    def answer(request):
        if any(len(text) % 5 == 0 for text in request["texts"]):
            raise KeyError("no such text")
        return {"scores": [score(text) for text in request["texts"]]}

    texts = [
        f"An awful film about {'very ' * number}{animal}" for number in range(4) for animal in ("mice", "cats", "a")
    ]
    apart = []
    with serve(answer) as service:
        for words in (0, 2):
            service.seen.clear()
            victim = HttpVictim(service.url, batch=3, retries=0, labels=["bad", "good"])
            result = discotext.attack(victim, (texts, [0] * len(texts)), solver, words=words, progress=False)
            received = sum(len(request["texts"]) for request in service.seen)
            apart.append(received - sum(record.forwards for record in result.records))
    # What identifies the victim belongs to no text, and is the same whatever may change.
    assert apart[0] == apart[1] >= 0


# --- on the command line


@pytest.mark.parametrize("command", ["attack", "certify", "compare", "check", "predict"])
def test_every_command_that_takes_a_victim_takes_the_description(command, serve, data):
    more = {"compare": ["--solver", "greedy"], "attack": ["--service", "per-second=1000"]}.get(command, [])
    if command in ("attack", "certify", "compare"):
        more += ["--words", "1"]
    with serve(instances) as service:
        done = run(command, service.url, "d.jsonl", *DESCRIBED, "answer=predictions[].scores", *more)
        assert done.exit_code == (0 if command != "check" else done.exit_code), done.output
        assert "accuracy" in done.output or '"predicted"' in done.output or "certified" in done.output
        assert all(set(request) == {"instances", "model"} for request in service.seen)
        wrong = run(command, service.url, "d.jsonl", *DESCRIBED, "answer=outputs[].scores", *more)
    assert wrong.exit_code == 1
    assert "'outputs'" in wrong.stderr
    assert "'predictions'" in wrong.stderr
    assert wrong.stderr.count("\n") == 1


def test_workers_ask_as_described_and_a_run_is_resumed_only_with_the_same_description(serve, data):
    with serve(instances) as service:
        line = ["attack", service.url, "d.jsonl", "--words", "1", "--surrogate", "none", "--out", "run"]
        line += [*DESCRIBED, "answer=predictions[].scores", "--service", "labels=bad,good"]
        done = run(*line, "--workers", "2", "--service", "per-second=500")
        assert done.exit_code == 0, done.output
        settings = json.loads((data / "run" / "settings.json").read_text())
        assert settings["service"] == {
            "text": "instances[].text",
            "fields": {"model": "small"},
            "answer": "predictions[].scores",
        }
        # How fast it is asked makes no difference to the records.
        assert run(*line, "--service", "per-second=100").exit_code == 0
        other = run(*line, "--service", "field.version=2")
    assert other.exit_code == 1
    assert "service was" in other.stderr
    records = [json.loads(row) for row in (data / "run" / "records.jsonl").read_text().splitlines()]
    assert {record["status"] for record in records} == {"reached", "unchanged"}


def test_a_secret_among_the_fields_is_not_written_down(serve, data):
    with serve(lambda r: plain(r) if r["api_key"] == "hush-hush-42" else 1 / 0) as service:
        given = ["--service", "field.api_key=hush-hush-42"]
        done = run("attack", service.url, "d.jsonl", "--words", "1", *given, "--out", "run")
    assert done.exit_code == 0, done.output
    kept = "".join(path.read_text(errors="replace") for path in (data / "run").iterdir())
    assert "hush-hush" not in kept + done.output
    assert '"api_key": "[redacted]"' in kept


@pytest.mark.parametrize(
    ("given", "named", "status"),
    [
        (["inputs"], "--service inputs", 2),
        (["field.a=1", "field.a=2"], "--service field.a", 2),
        (["per-second=0"], "per-second=0", 2),
        (["answer=a..b"], "'a..b'", 1),
        (["labels=one"], "'one'", 1),
    ],
)
def test_wrong_descriptions_are_answered_in_one_sentence(given, named, status, data):
    line = [part for one in given for part in ("--service", one)]
    done = run("predict", "http://127.0.0.1:9/", "d.jsonl", *line)
    assert done.exit_code == status
    assert named in done.stderr
    # Other victims have none.
    other = run("attack", "v.skops", "d.jsonl", *line)
    assert other.exit_code == 2
    assert "v.skops" in other.stderr


def test_a_service_of_predicted_classes_needs_labels(serve, data):
    with serve(lambda r: {"p": ["bad" if "awful" in t.lower() else "good" for t in r["texts"]]}) as service:
        refused = run("predict", service.url, "d.jsonl", "--service", "answer=p")
        done = run("predict", service.url, "d.jsonl", "--service", "answer=p", "--service", "labels=bad,good")
    assert (refused.exit_code, done.exit_code) == (1, 0), done.output
    assert "--service labels=" in refused.stderr


def test_a_service_loses_little_when_it_stops():
    assert HttpVictim("http://127.0.0.1:9/").capabilities.chunk < FunctionVictim(plain).capabilities.chunk
