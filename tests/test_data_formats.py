"""Data in the forms that people have it: packed files, JSON, workbooks, folders, standard input, and without labels."""

import csv
import gzip
import io
import json
import re
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import discotext
from discotext.data import Examples, load_data, make_examples, registry
from discotext.data.columns import Columns, parse_renames
from discotext.data.files import find_separator, read_table
from discotext.data.labels import find_class
from discotext.data.texts import read_texts
from discotext.victims.registry import load_examples, load_victim
from tests.fuzzing import run

TEXTS = ["A fine film.", "A dull, awful film", "Größe ½", "Great fun"]
LABELS = ["positive", "negative", "negative", "positive"]
ROWS = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]


def scores(texts):
    return [[float("awful" in text or "½" in text), 0.5] for text in texts]


def make_victim(*labels):
    def answer(texts):
        return scores(texts)

    answer.labels = labels
    return load_victim(answer)


def csv_of(separator=","):
    quote = '"A dull, awful film"' if separator == "," else "A dull, awful film"
    texts = [TEXTS[0], quote, *TEXTS[2:]]
    lines = [f"text{separator}label", *(f"{a}{separator}{b}" for a, b in zip(texts, LABELS, strict=True))]
    return ("\n".join(lines) + "\n").encode()


JSON_LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
COLUMNS = {"text": TEXTS, "label": LABELS}
FORMS = {
    "some.csv.gz": gzip.compress(csv_of()),
    "some.TSV.gz": gzip.compress(csv_of("\t")),
    "some.jsonl.gz": gzip.compress(JSON_LINES),
    "some.ndjson": JSON_LINES,
    "list.json": json.dumps(ROWS, indent=1).encode(),
    "list.json.gz": gzip.compress(b"\xef\xbb\xbf" + json.dumps(ROWS).encode()),
    "columns.json": json.dumps(COLUMNS).encode(),
    "frame.json": json.dumps({name: dict(enumerate(column)) for name, column in COLUMNS.items()}).encode(),
    "data.json": json.dumps({"version": 1, "data": ROWS}).encode(),
    "lines.json": JSON_LINES,
}


def fits(found: Examples) -> bool:
    return found.texts == tuple(TEXTS) and [found.names[label] for label in found.labels] == LABELS


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_file_gives_the_same_examples(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    assert fits(load_data(path))
    assert list(read_texts(path)) == TEXTS  # for train-lm


def test_what_pandas_writes_is_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    for name in ("a.csv.gz", "a.json", "b.jsonl.gz"):
        path = tmp_path / name
        if name.endswith(".csv.gz"):
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, **({"orient": "records", "lines": True} if "jsonl" in name else {}))
        assert fits(load_data(path)), name


# --- workbooks


def make_workbook(path, rows, sheets=("Sheet",)):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = sheets[0]
    for row in rows:
        book.active.append(row)
    for name in sheets[1:]:
        book.create_sheet(name).append(["text"])
    book.save(path)
    return path


def test_a_workbook_is_read(tmp_path):
    rows = [
        ["id", " Text", "label"],
        *([n, text, label] for n, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))),
    ]
    assert fits(load_data(make_workbook(tmp_path / "a.xlsx", rows)))
    with pytest.warns(UserWarning, match="has 2 sheets; only the first, 'Data', is read"):
        assert fits(load_data(make_workbook(tmp_path / "b.xlsx", rows, ("Data", "Notes"))))
    numbered = make_workbook(tmp_path / "c.xlsx", [["text", "label"], ["a", True], [None, None], ["b", False]])
    assert load_data(numbered).labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([["text", "label"], ["a", 1], [], ["b", None]], "c.xlsx, sheet 'Sheet', row 4: the label is missing"),
        ([["text", "label"], ["a", 1], [5, 0]], "row 3: the text is 5, of type int"),
        ([["text", "label"]], "sheet 'Sheet' has no rows"),
        ([["body", "label"], ["a", 1]], "its columns are 'body', 'label'"),
        ([], "has no rows"),
    ],
)
def test_an_error_about_a_workbook_names_the_sheet_and_the_row(tmp_path, rows, says):
    with pytest.raises(ValueError, match=says):
        load_data(make_workbook(tmp_path / "c.xlsx", rows))


def test_without_openpyxl_the_error_names_the_extra(tmp_path, monkeypatch):
    path = make_workbook(tmp_path / "c.xlsx", [["text", "label"], ["a", 1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"pip install .*\[excel\]"):
        load_data(path)


# --- folders


def make_classes(folder, texts=TEXTS, labels=LABELS):
    for number, (text, label) in enumerate(zip(texts, labels, strict=True)):
        (folder / label).mkdir(parents=True, exist_ok=True)
        (folder / label / f"{number}_7.txt").write_text(text + "\n", encoding="utf-8")
    return folder


def in_order(found: Examples) -> list[tuple[str, str]]:
    return sorted((text, found.names[label]) for text, label in zip(found.texts, found.labels.tolist(), strict=True))


PAIRS = sorted(zip(TEXTS, LABELS, strict=True))


def test_a_folder_of_text_files_by_class_is_read(tmp_path):
    folder = make_classes(tmp_path / "reviews")
    (folder / ".git").mkdir()
    assert in_order(load_data(folder)) == PAIRS
    assert [load_examples(make_victim("POSITIVE", "NEGATIVE"), folder).names[0]] == ["POSITIVE"]
    (folder / "positive" / "notes.md").write_text("x")
    (folder / "unsup").mkdir()
    (folder / "unsup" / "1.txt").write_text("no label")
    with pytest.warns(UserWarning, match="left out") as told:
        assert in_order(load_data(folder)) == PAIRS
    said = " ".join(str(one.message) for one in told)
    assert "unsup have no labels, and are left out" in said
    assert "1 files do not end in .txt" in said


def test_a_folder_with_splits_takes_test_and_says_so(tmp_path):
    make_classes(tmp_path / "train", ["Other", "Texts"], ["positive", "negative"])
    make_classes(tmp_path / "test")
    with pytest.warns(UserWarning, match=r"has the splits test, train; test is read"):
        assert in_order(load_data(tmp_path)) == PAIRS
    with pytest.warns(UserWarning, match=r"train is read"):
        assert len(load_data(tmp_path, split="train")) == 2
    assert len(load_data(tmp_path / "train")) == 2
    (tmp_path / "test").rename(tmp_path / "dev")
    with pytest.raises(ValueError, match=r"has the splits dev, train; choose one, such as .*dev$"):
        load_data(tmp_path)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("content", "says"),
    [(b"na\xefve", r"positive/0.txt: not UTF-8 at byte 3"), (b" \n", "file positive/0.txt: the text is blank")],
)
def test_a_message_about_a_folder_names_the_file(tmp_path, content, says):
    make_classes(tmp_path)
    (tmp_path / "positive" / "0.txt").write_bytes(content)
    with pytest.raises((ValueError, UserWarning), match=says):
        load_data(tmp_path)


def save_as_datasets_does(folder, labels, names=None):
    """A folder as `save_to_disk` writes it, by hand."""
    arrow = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True)
    features = {"text": {"dtype": "string", "_type": "Value"}, "label": {"names": names, "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})} if names else None
    table = arrow.table({"text": TEXTS, "label": labels}).replace_schema_metadata(metadata)
    path = str(folder / "data-00000-of-00001.arrow")
    with arrow.OSFile(path, "wb") as sink, arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    return folder


def test_a_saved_data_set_is_read_by_its_class_names(tmp_path):
    folder = save_as_datasets_does(tmp_path / "a", [1, 0, 0, 1], ["neg", "pos"])
    assert load_data(folder).names == ("neg", "pos")
    turned = load_examples(make_victim("POSITIVE", "NEGATIVE"), folder)
    assert turned.labels.tolist() == [0, 1, 1, 0]
    nameless = load_examples(make_victim("LABEL_0", "LABEL_1"), folder)
    assert nameless.labels.tolist() == [1, 0, 0, 1]
    with pytest.raises(
        ValueError, match=r"the classes of the data are neg, pos, those of the victim ham, spam.*neg=CLASS"
    ):
        load_examples(make_victim("ham", "spam"), folder)
    mapped = Columns(rename={"neg": "spam", "pos": "ham"})
    assert load_examples(make_victim("ham", "spam"), folder, mapped).labels.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("{", "is not what `save_to_disk` writes"),
        ('{"_data_files": [{"filename": "../secret.arrow"}]}', "names no files in this folder"),
        ('{"_data_files": [{"filename": "none.arrow"}]}', "none.arrow is not a valid Arrow file"),
        ('{"_data_files": []}', "names no files in this folder"),
    ],
)
def test_a_damaged_saved_data_set_is_told_in_a_sentence(tmp_path, state, says):
    folder = save_as_datasets_does(tmp_path / "a", LABELS)
    assert fits(load_data(folder))
    (folder / "state.json").write_text(state)
    with pytest.raises(ValueError, match=says):
        load_data(folder)


def test_what_datasets_saves_is_read(tmp_path):
    datasets = pytest.importorskip("datasets")
    feature = datasets.ClassLabel(names=["negative", "positive"])
    features = datasets.Features({"text": datasets.Value("string"), "label": feature})
    numbers = [feature.str2int(label) for label in LABELS]
    one = datasets.Dataset.from_dict({"text": TEXTS, "label": numbers}, features=features)
    one.save_to_disk(tmp_path / "one")
    assert fits(load_data(tmp_path / "one"))
    assert fits(make_examples(one))
    assert make_examples(one, names=("POSITIVE", "NEGATIVE")).labels.tolist() == [0, 1, 1, 0]
    # A selection of rows is what counts, not the whole table behind it.
    one.select([3, 1]).save_to_disk(tmp_path / "some")
    assert load_data(tmp_path / "some").texts == (TEXTS[3], TEXTS[1])
    datasets.DatasetDict({"train": one.select([0, 1]), "test": one}).save_to_disk(tmp_path / "both")
    with pytest.warns(UserWarning, match=r"has the splits test, train; test is read"):
        assert fits(load_data(tmp_path / "both"))
    assert len(load_data(tmp_path / "both" / "train")) == 2
    one.to_parquet(str(tmp_path / "one.parquet"))
    assert load_examples(make_victim("POSITIVE", "NEGATIVE"), tmp_path / "one.parquet").labels.tolist() == [0, 1, 1, 0]


# --- standard input


def on_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


@pytest.mark.parametrize(
    "content",
    [csv_of(), csv_of("\t"), JSON_LINES, b"\n\n" + csv_of(), b"\xef\xbb\xbf" + csv_of(), json.dumps(ROWS).encode()],
    ids=["csv", "tsv", "json lines", "blank lines", "mark", "json"],
)
def test_tables_come_from_standard_input(monkeypatch, content):
    on_standard_input(monkeypatch, content)
    assert fits(load_data("-"))


@pytest.mark.parametrize(
    ("first", "separator"),
    [
        ("text,label", ","),
        ('"Text","Label"', ","),
        ("id\ttext", "\t"),
        ("text;label", ","),  # which then says what a table with semicolons needs
        ("text", ","),
        ("A text, with a label", None),
        ("Review: it was fine.", None),
        ("Fine", None),
    ],
)
def test_a_first_line_of_column_names_is_told_from_text(first, separator):
    assert find_separator(first) == separator
    assert find_separator("body,y", ("body", None)) == ","


def test_plain_text_without_a_victim_is_refused(monkeypatch):
    on_standard_input(monkeypatch, b"A fine film.\n")
    with pytest.raises(ValueError, match="standard input is plain text without labels"):
        load_data("-")


# --- without labels


@pytest.mark.parametrize("form", ["list", "file", "column"])
def test_without_labels_the_predictions_are_the_labels_and_that_is_said(tmp_path, form):
    path = tmp_path / ("a.txt" if form == "file" else "a.csv")
    rows = TEXTS if form == "file" else ["text", TEXTS[0], f'"{TEXTS[1]}"', *TEXTS[2:]]
    path.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    data = TEXTS if form == "list" else path
    with pytest.warns(UserWarning, match="the 4 texts have no labels: the victim's own predictions"):
        found = load_examples(load_victim(scores), data, Columns(unlabelled=form == "column"))
    assert found.labels.tolist() == [1, 0, 0, 1]
    if form == "column":
        with pytest.raises(ValueError, match=r"no column with a usual name for the label.*--unlabelled"):
            load_examples(load_victim(scores), data)


@pytest.mark.parametrize("make", [tuple, np.array, lambda texts: np.array(texts, dtype=object), "series", "string"])
def test_any_sequence_of_strings_is_texts_without_labels(make):
    if isinstance(make, str):
        kind = object if make == "series" else "string"
        pandas = pytest.importorskip("pandas")

        def make(texts):
            return pandas.Series(texts, index=[7, 7, 3, 1], dtype=kind)

    with pytest.warns(UserWarning, match="the 4 texts have no labels"):
        result = discotext.attack(scores, make(TEXTS), "greedy", words=1, progress=False)
    assert [(record.text, record.label) for record in result.records] == list(zip(TEXTS, [1, 0, 0, 1], strict=True))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([*TEXTS, None, None], "row 5: the text is blank or missing"),
        ([*TEXTS, 3.0], "row 5: the text is 3.0, of type float; expected a string"),
        (
            ("A film", "neg"),
            r"a pair of 'A film' and 'neg'; give two lists, such as \(\[text\], \[label\]\), or a list",
        ),
        (("A film", 1), "a pair of 'A film' and 1; give two lists"),
        ("A film", r"use --text \(in Python, pass a list: \[text\]\)"),
    ],
)
def test_what_is_not_a_sequence_of_strings_is_told(data, says):
    with pytest.raises(ValueError, match=says):
        discotext.attack(scores, data, words=1)


def test_a_single_string_in_an_array_is_not_cut_into_letters():
    with pytest.raises(TypeError, match="found a single string, 'abc'"):
        discotext.attack(scores, np.array("abc"), words=1)


class Counted:
    """A function that counts the texts it is asked about."""

    labels = ("negative", "positive")

    def __init__(self):
        self.asked = 0

    def __call__(self, texts):
        self.asked += len(texts)
        return scores(texts)


def make_unlabelled(place, form, many=100):
    texts = [f"An awful film of {number} mice" if number % 3 else f"A fine film {number}" for number in range(many)]
    if form == "list":
        return texts
    path = place / ("many.txt" if form == "file" else "many.csv")
    path.write_text("\n".join(texts if form == "file" else ["text", *texts]) + "\n")
    return path


@pytest.mark.parametrize("form", ["list", "file", "column"])
def test_a_sample_of_texts_without_labels_is_taken_before_the_victim_is_asked(tmp_path, form):
    counted, data = Counted(), make_unlabelled(tmp_path, form)
    with pytest.warns(UserWarning, match="the 7 texts have no labels"):
        found = load_examples(load_victim(counted), data, Columns(unlabelled=form == "column"), limit=7, seed=3)
    assert (len(found), found.asked, counted.asked) == (7, 7, 7)
    assert found.labels.tolist() == [int("fine" in text) for text in found.texts]
    with pytest.warns(UserWarning, match="the 100 texts have no labels"):
        whole = load_examples(load_victim(counted), data, Columns(unlabelled=form == "column"))
    places = [whole.texts.index(text) for text in found.texts]
    assert places == sorted(places)
    assert whole.asked == 100
    assert load_examples(load_victim(counted), found).asked == 0  # labelled before, not for this run
    assert counted.asked == 107


def test_queries_for_labels_are_part_of_all_queries():
    counted, data = Counted(), make_unlabelled(None, "list")
    with pytest.warns(UserWarning, match="no labels"):
        discotext.attack(counted, data, words=1, limit=20, total_queries=150, progress=False)
    assert 20 < counted.asked <= 150
    counted = Counted()
    with pytest.raises(ValueError, match=r"99 queries in all are too few for 100 texts without labels, .* one each"):
        discotext.attack(counted, data, words=1, total_queries=99)
    assert counted.asked == 0
    with pytest.raises(ValueError, match=r"100 attacks, which need 3 each; allow (\d+)") as told:
        discotext.attack(counted, data, words=1, surrogate="none", total_queries=400)
    assert "allow 424 or more" in str(told.value)  # 24 once, 100 for labels, and 3 for each text
    assert counted.asked == 0


def test_labels_that_are_there_are_not_looked_at_if_the_user_says_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nfine,nonsense\nawful,\n")
    with pytest.warns(UserWarning, match="no labels"):
        assert load_examples(load_victim(scores), path, Columns(unlabelled=True)).labels.tolist() == [1, 0]


# --- classes of the data and of the victim


@pytest.mark.parametrize(
    ("own", "labels", "expected"),
    [
        (("neg", "pos"), ("NEGATIVE", "POSITIVE"), [0, 1]),
        (("neg", "pos"), ("POSITIVE", "NEGATIVE"), [1, 0]),
        (("a", "b"), ("0", "1"), [0, 1]),
        (("a", "b"), ("LABEL_0", "LABEL_1"), [0, 1]),
        (("0", "1"), ("b", "a"), [0, 1]),
        (("a", "c"), ("c", "b", "a"), [2, 0]),
    ],
)
def test_examples_are_matched_with_a_victim_by_name_or_by_number(own, labels, expected):
    found = Examples(("x", "y"), np.array([0, 1]), own).match(labels)
    assert found.labels.tolist() == expected
    whole = [found.own or found.names][0]
    assert [whole[label] for label in expected] == list(own)


def test_a_named_data_set_in_another_order_than_the_victims_is_turned(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_DATA", str(tmp_path))
    (tmp_path / "imdb_test.csv").write_text("text,label\nfine film,1\nawful film,0\n")
    assert load_examples(make_victim("NEGATIVE", "POSITIVE"), "imdb").labels.tolist() == [1, 0]
    assert load_examples(make_victim("POSITIVE", "NEGATIVE"), "imdb").labels.tolist() == [0, 1]
    assert load_examples(make_victim("LABEL_0", "LABEL_1"), "imdb").labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"imdb: the classes of the data are negative, positive.*--map-label"):
        load_examples(make_victim("bad", "good"), "imdb")
    mapped = Columns(rename=parse_renames(["negative=bad", "Positive=good"]))
    assert load_examples(make_victim("bad", "good"), "imdb", mapped).labels.tolist() == [1, 0]


def test_scikit_learn_classes_of_any_kind_are_matched():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["fine film", "awful film", "fine fun", "awful bore"]
    for own, others in (
        ([1, -1, 1, -1], [[1, 0, 1, 0], [True, False, True, False], ["pos", "neg", "pos", "neg"]]),
        ([True, False, True, False], [[1, 0, 1, 0], [1, -1, 1, -1], ["true", "FALSE", "true", "false"]]),
        ([1, 0, 1, 0], [[1, -1, 1, -1], [True, False, True, False], ["LABEL_1", "LABEL_0", "LABEL_1", "LABEL_0"]]),
        (["pos", "neg", "pos", "neg"], [["Positive", "Negative", "POS", "NEG"], [1, -1, 1, -1], [1, 0, 1, 0]]),
    ):
        victim = load_victim(make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, own))
        for labels in (own, *others):
            assert load_examples(victim, (texts, labels)).labels.tolist() == [1, 0, 1, 0], (own, labels)


@pytest.mark.parametrize(
    ("given", "names", "expected"),
    [
        ("Positive", ("negative", "positive"), 1),
        (" pos ", ("negative", "positive"), 1),
        ("1", ("negative", "positive"), 1),
        (0, ("negative", "positive"), 0),
        (np.int64(1), ("a", "b"), 1),
        ("5", ("1", "3", "5"), 2),
        (-1, ("-1", "1"), 0),
        ("label_1", ("LABEL_0", "LABEL_1"), 1),
        (1, ("LABEL_0", "LABEL_1"), 1),
    ],
)
def test_a_class_is_found_by_name_or_number(given, names, expected):
    assert find_class(given, names) == expected


@pytest.mark.parametrize("given", ["spam", 2, -1, 0.5, None, True, "us"])
def test_a_class_that_is_not_there_is_refused_with_the_classes(given):
    names = ("US", "Us") if given == "us" else ("negative", "positive")
    with pytest.raises(ValueError, match=rf"there is no class .*; choose one of {names[0]} \(0\), {names[1]} \(1\)"):
        find_class(given, names)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["good"], "'good'; give a label"),
        (["=a"], "'=a'"),
        (["a="], "'a='"),
        (["a=1", "a=2"], "'a' two classes, 1 and 2"),
    ],
)
def test_a_wrong_renaming_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        parse_renames(given)


# --- the commands

MODEL = """
def scores(texts):
    return [[float("awful" in text), 0.5] for text in texts]
scores.labels = ("negative", "positive")
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "data.csv").write_text("text,label\nAn awful film about mice.,-1\nA fine film about mice.,1\n")
    return tmp_path


ATTACK = ["attack", "py:model.py:scores"]
SHORT = ["--words", "1", "--solver", "greedy", "--json"]


def test_classes_and_the_target_are_named(place):
    done = run(*ATTACK, "data.csv", *SHORT, "--target", "POSITIVE", "--out", "run")
    assert done.exit_code == 0, done.stderr
    assert "classes of the data → of the victim: -1 → negative, 1 → positive" in done.stderr
    assert "target class: positive" in done.stderr
    assert json.loads((place / "run" / "settings.json").read_text())["target"] == 1
    same = run(*ATTACK, "data.csv", *SHORT, "--target", "1", "--out", "run")
    assert same.exit_code == 0, same.stderr
    wrong = run("certify", "py:model.py:scores", "data.csv", "--target", "neutral")
    assert wrong.stderr == "discotext: there is no class 'neutral'; choose one of negative (0), positive (1)\n"
    result = discotext.attack("py:model.py:scores", "data.csv", "greedy", words=1, target="positive")
    assert result.settings["target"] == 1


def test_results_name_the_classes(place):
    done = run("attack", "py:model.py:scores", "data.csv", *SHORT, "--target", "positive", "--out", "run")
    assert {key: json.loads(done.stdout)[key] for key in ("labels", "target")} == {
        "labels": ["negative", "positive"],
        "target": "positive",
    }
    certified = run("certify", "py:model.py:scores", "data.csv", "--words", "1", "--json")
    assert json.loads(certified.stdout)["labels"] == ["negative", "positive"]
    assert json.loads(certified.stdout)["target"] is None
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run("report", "run", "--csv", "a.csv", "--parquet", "a.parquet").exit_code == 0
    with open("a.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ["negative", "positive"]
    for row, other in zip(rows, parquet.read_table("a.parquet").to_pylist(), strict=True):
        for column in ("label", "predicted", "adversarial_predicted"):
            assert row[f"{column}_name"] == other[f"{column}_name"] == names[int(row[column])]
    (place / "turned.csv").write_text("text,label\n" + "awful film,good\nfine film,bad\n" * 20)
    mapped = ["--map-label", "bad=negative", "--map-label", "good=positive"]
    checked = run("check", "py:model.py:scores", "turned.csv", *mapped)
    assert "negative means good, positive means bad" in " ".join(checked.stdout.split())


def test_augmented_data_has_the_labels_of_the_data(place):
    assert run(*ATTACK, "data.csv", *SHORT, "--out", "run").exit_code == 0
    assert run("augment", "run", "--out", "more.csv").exit_code == 0
    assert {line.rpartition(",")[2] for line in (place / "more.csv").read_text().split()[1:] if "," in line} <= {
        "-1",
        "1",
    }
    assert load_data("more.csv").names == ("-1", "1")


def test_lines_of_text_on_standard_input_are_attacked_and_predicted(place):
    lines = b"An awful film about mice.\n\nA fine film.\n"
    done = run(*ATTACK, "-", *SHORT, given=lines)
    assert done.exit_code == 0, done.stderr
    assert "the 2 texts have no labels: the victim's own predictions" in done.stderr
    assert json.loads(done.stdout)["solvers"]["greedy"]["original_accuracy"] == 1
    found = [json.loads(line) for line in run("predict", "py:model.py:scores", "-", given=lines).stdout.splitlines()]
    assert [one["predicted_name"] for one in found] == ["negative", "positive"]
    assert [one["label"] for one in found] == [None, None]
    table = run("predict", "py:model.py:scores", "-", given=b"text\tlabel\nA film\tPOS\n")
    expected = {"text": "A film", "label": 1, "predicted": 1, "scores": 0}
    expected |= {"label_name": "positive", "predicted_name": "positive"}
    assert json.loads(table.stdout) | {"scores": 0} == expected


def test_labels_are_mapped_on_the_command_line(place):
    (place / "other.csv").write_text("text,label\nAn awful film.,bad\nA fine film.,good\n")
    done = run(*ATTACK, "other.csv", *SHORT)
    assert done.exit_code == 1
    assert "other.csv, line 2: the label is 'bad'" in done.stderr
    assert "by --map-label 'bad=CLASS' for each label, with CLASS one of negative, positive" in done.stderr
    assert "(in Python, rename the labels first, for instance df.label.map({…}))" in done.stderr
    copied = run(*ATTACK, "other.csv", *SHORT, "--map-label", "bad=CLASS")
    assert "line 2: the label is 'bad', mapped to 'CLASS', which is not one of the 2 classes" in copied.stderr
    done = run(*ATTACK, "other.csv", *SHORT, "--map-label", "bad=negative", "--map-label", "good=positive")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["solvers"]["greedy"]["original_accuracy"] == 1


def test_prices_count_the_queries_for_labels(place):
    make_unlabelled(place, "column")
    (place / "counted.py").write_text(
        "from model import scores as own\n\n\ndef scores(texts):\n"
        "    with open('asked', 'a') as file:\n        file.write('.' * len(texts))\n    return own(texts)\n\n\n"
        "scores.labels = own.labels\n"
    )
    cost = ["--unlabelled", "--limit", "30", "--price", "0.5"]
    done = run("attack", "py:counted.py:scores", "many.csv", "--solver", "greedy", "--words", "1", *cost)
    assert done.exit_code == 0, done.stderr
    assert "the labels took 30 queries (15.00); learning takes at most 0" in done.stderr
    told = int(re.search(r"about (\d+) queries at 0.5 cost", done.stderr)[1])
    asked = len((place / "asked").read_text())
    assert asked <= told <= asked + 24  # the queries that identify and calibrate a victim are at most 24
    limited = run("attack", "py:counted.py:scores", "many.csv", *SHORT, *cost, "--most-queries", "5")
    assert f"at most {30 + 24 + 30 * 5} queries" in limited.stderr


@pytest.mark.parametrize("label", [0, "negative"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_swapped_columns_are_told_in_a_short_message(place, label, form):
    texts = [f"Film {number} is " + "a long and winding story " * 100 for number in range(20)]
    rows = [{"text": label, "label": text} for text in texts]
    lines = [json.dumps(row) for row in rows] if form == "jsonl" else ["text,label", *(f"{label},{t}" for t in texts)]
    (place / f"swapped.{form}").write_text("\n".join(lines) + "\n")
    for command in (ATTACK, ["predict", "py:model.py:scores"], *([["train"]] if find_spec("torch") else [])):
        options = ["--out", "trained"] if command == ["train"] else []
        done = run(*command, f"swapped.{form}", *options)
        assert done.exit_code == 1
        assert "are the texts and the labels swapped? Choose the columns with --text-column and" in done.stderr
        assert len(done.stderr) < 500
    assert "--map-label" not in done.stderr


def test_long_labels_are_shortened_in_all_messages():
    long = "a very long label " * 100
    for labels, names in (
        ([long, "b"], ("neg", "pos")),
        ([long, "b"], ("0", "1")),
        ([long, long], None),
        ([long, long.upper()], None),
        (["a", "b"], (long, "other")),
    ):
        with pytest.raises(ValueError, match=r"(?i)a very long label") as told:
            Examples.of(["x", "y"], labels, names)
        assert len(str(told.value)) < 500
    with pytest.raises(ValueError, match="a very long label") as told:
        Examples.of(["x", "y"], [long, "b"]).match(("neg", "pos"))
    assert len(str(told.value)) < 500
    with pytest.raises(ValueError, match="has 3 classes") as told:
        load_examples(make_victim("0", "1"), Examples.of(["x", "y", "z"], ["0", "1", "2"]).match(None, {"0": long}))
    assert len(str(told.value)) < 500


def test_a_folder_with_the_name_of_a_data_set_is_not_silently_passed_over(place, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_DATA", str(place))
    (place / "trec_test.csv").write_text("text,label\nWho?,HUM\nWhere?,LOC\n")
    make_classes(place / "trec")
    with pytest.warns(
        UserWarning, match=r"trec is read as the data set of that name; for the file or folder, give ./trec"
    ):
        registry.check_data("trec")
    assert in_order(load_data("./trec")) == PAIRS


def test_a_single_text_is_told_from_a_file(place):
    done = run(*ATTACK, "This film was great")
    assert (done.exit_code, "to attack a single text, use --text (in Python, pass a list" in done.stderr) == (1, True)


def test_a_table_says_whether_it_is_plain_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n\ntwo\n")
    found = read_table(path)
    assert (found.texts, found.labels, [*found.rows], found.plain) == (["one", "two"], None, ["line 1", "line 3"], True)
