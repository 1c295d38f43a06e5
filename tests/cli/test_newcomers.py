"""What newcomers met: wrong answers without a word, dead ends, and work that was lost."""

import json
import random
import warnings

import pytest
from click.testing import CliRunner

import discotext
from discotext.attacks.job import Job, share_out
from discotext.attacks.settings import Settings
from discotext.cli import cli
from discotext.core.oracle import UnavailableError
from discotext.testing import assert_robust
from discotext.victims.function import FunctionVictim
from discotext.victims.http.victim import HttpVictim
from tests.attacks.test_attack import FINDER, LISTS, data, scores

NEWS = ("World", "Sports", "Business")


def label_rows(texts):
    """Scores by name, the best first, as a transformers pipeline returns them."""
    rows = []
    for text in texts:
        found = [{"label": name, "score": float(text.count(name.lower()))} for name in NEWS]
        rows.append(sorted(found, key=lambda one: -one["score"]))
    return rows


TEXTS = ["world news today", "sports news today", "business news today"]


def test_numbers_are_not_guessed_for_classes_that_have_no_order():
    with pytest.raises(ValueError, match="which number means which is not certain"):
        discotext.attack(label_rows, (TEXTS, [0, 1, 2]), words=1)


def test_names_or_a_declared_order_settle_it():
    by_name = discotext.attack(label_rows, (TEXTS, list(NEWS)), words=1)
    declared = discotext.attack(FunctionVictim(label_rows, labels=NEWS), (TEXTS, [0, 1, 2]), words=1)
    for result in (by_name, declared):
        assert result.summary.solvers["disco"].original_accuracy == 1


def test_opposites_and_numbered_classes_are_certain():
    def opinions(texts):
        return [{"positive": float(text.count("good")), "negative": 0.5} for text in texts]

    result = discotext.attack(opinions, (["a good film", "a film"], [1, 0]), words=1)
    assert result.summary.solvers["disco"].original_accuracy == 1


@pytest.mark.parametrize("short", [lambda rows: rows[:1], lambda rows: [*rows, rows[0]]])
def test_a_wrong_number_of_rows_ends_a_run_and_is_not_taken_for_a_bad_text(short):
    with pytest.raises(UnavailableError, match=r"returned [\d,]+ rows? for \d+ texts?; expected one row for each text"):
        discotext.attack(lambda texts: short(scores(texts)) if len(texts) > 1 else scores(texts), data(40))


def test_a_victim_worse_than_guessing_is_warned_of_in_python_too():
    texts, labels = data(60)
    with pytest.warns(UserWarning, match="worse than random guessing"):
        discotext.attack(scores, (texts, [1 - label for label in labels]), candidates=FINDER)


def test_a_text_that_is_not_read_to_its_end_is_warned_of():
    class Short(FunctionVictim):
        def truncates(self, texts):
            return [len(text) > 12 for text in texts]

    with pytest.warns(UserWarning, match=r"reads only the beginning of 1 of 2 texts"):
        discotext.attack(Short(scores), (["good film", "a good film about mice"], [1, 1]), candidates=FINDER)


def test_columns_may_be_named_in_python():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"Kommentar": data(20)[0], "Urteil": data(20)[1]})
    for call in (discotext.attack, discotext.certify):
        result = call(scores, frame, text_column="Kommentar", label_column="Urteil", candidates=FINDER)
        assert len(result.records) == 20


def test_a_share_and_a_number_of_words_are_refused_together():
    with pytest.raises(ValueError, match=r"budget is 0\.1 and words is 1"):
        discotext.attack(scores, data(4), budget=0.1, words=1)


def test_examples_need_a_number_and_notes_name_their_budget():
    result = discotext.attack(scores, data(40), words=[1, 2], candidates=FINDER)
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match="choose a whole number, 1 or more"):
            result.examples(wrong)
    assert {note.split(":")[0] for note in result.notes} == {"budget 1 words", "budget 2 words"}


def test_the_least_number_of_queries_that_is_named_suffices():
    job = Job.of(scores, data(30), ["disco"], Settings(budget=0.2, candidates=FINDER))
    with pytest.raises(ValueError, match="allow") as caught:
        share_out(job, 10)
    enough = int(str(caught.value).partition("allow ")[2].split()[0].replace(",", ""))
    assert share_out(job, enough).max_queries == 3
    with pytest.raises(ValueError, match=f"allow {enough:,} or more"):
        share_out(job, enough - 1)


def test_a_service_loses_little_when_it_stops():
    assert HttpVictim("http://127.0.0.1:9/").capabilities.chunk < FunctionVictim(scores).capabilities.chunk


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (0, " before the first record was saved in run; repeat the command to start again"),
        (40, "; completed work is saved in run: repeat the command to resume"),
    ],
)
def test_a_victim_that_is_of_no_use_any_more_says_what_is_saved(tmp_path, monkeypatch, calls, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"gone_{calls}.py").write_text(
        "from tests.attacks.test_attack import scores\n"
        "asked = []\n"
        "def gone(texts):\n"
        "    asked.append(1)\n"
        f"    return scores(texts)[:-1] if len(asked) > {calls} and len(texts) > 1 else scores(texts)\n"
    )
    texts, labels = data(200)
    rows = [json.dumps({"text": text, "label": label}) for text, label in zip(texts, labels, strict=True)]
    (tmp_path / "films.jsonl").write_text("\n".join(rows))
    (tmp_path / "lists.json").write_text(json.dumps(LISTS))
    line = ["attack", f"py:gone_{calls}.py:gone", "films.jsonl", "--synonyms", "lists.json", "--solver", "beam"]
    done = CliRunner().invoke(cli, [*line, "--budget", "0.5", "--out", "run"])
    assert done.exit_code == 1
    assert f"expected one row for each text{said}" in done.stderr


def test_a_model_that_contradicts_itself_does_not_pass_a_gate(tmp_path, monkeypatch):
    rng = random.Random(0)
    texts, labels = data(40)

    def unsteady(given):
        return [[value + rng.uniform(-3, 3) for value in row] for row in scores(given)]

    with pytest.warns(UserWarning, match="answered differently when asked again"), pytest.raises(AssertionError):
        assert_robust(unsteady, (texts, labels), at_least=0.0, candidates=FINDER)


def test_a_misspelt_option_of_assert_robust_is_named():
    with pytest.raises(TypeError, match="'at_leest'"):
        assert_robust(scores, data(4), at_leest=0.65)


def test_numbers_are_not_guessed_for_a_pipeline_that_was_trained_on_names():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS * 3, list(NEWS) * 3)
    with pytest.raises(ValueError, match="which number means which is not certain"):
        discotext.attack(pipeline, (TEXTS, [0, 1, 2]), words=1)
    assert len(discotext.attack(pipeline, (TEXTS, list(NEWS)), words=1).records) == 3


def test_a_misspelt_command_is_named():
    done = CliRunner().invoke(cli, ["atack", "x", "y"])
    assert done.exit_code == 2
    assert "Did you mean 'attack'?" in done.stderr


def test_no_warning_is_given_where_all_is_well():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discotext.attack(scores, data(40), candidates=FINDER)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["py:m.py:scores", "reviws.csv"], "there is no file reviws.csv; did you mean reviews.csv?"),
        (["py:m.py:scores", "imbd"], "'imbd' is neither a data set (imdb, ag_news, trec, movie_reviews) nor"),
        (["py:m.py:scores", "imbd"], "did you mean imdb?"),
        (["reviews.csv", "model.skops"], "model.skops is a model, but DATA is expected there; give VICTIM first"),
    ],
)
def test_near_names_and_exchanged_arguments_are_pointed_out(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("def scores(texts):\n    return [[0.0, 1.0] for _ in texts]\n")
    (tmp_path / "reviews.csv").write_text("text,label\ngood,1\n")
    (tmp_path / "model.skops").write_bytes(b"")
    done = CliRunner().invoke(cli, ["attack", *arguments])
    assert done.exit_code == 1
    assert said in done.stderr
