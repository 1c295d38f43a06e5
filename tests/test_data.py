"""Data: files are read as written, errors name the row, and samples and splits are stratified."""

import csv
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.data import Examples, load_data, make_examples, registry
from discotext.data.catalogue import DATASETS
from discotext.data.examples import compute_quotas
from discotext.data.files import read_examples, read_table
from discotext.data.registry import describe_locations, load_split, locate
from discotext.victims.function import FunctionVictim

ODD = [
    'He said "no".',
    "two\nlines",
    "a\ttab, a comma",
    "😀 naïve — ½",
    "  spaces  ",
    "' ; \\ | \r\n end",
    "#39; <br />",
]
NAMES = ["good", "bad", "good", "bad", "so, so", "good", "bad"]

labelled = st.lists(st.integers(0, 3), min_size=2, max_size=60).filter(lambda labels: len(set(labels)) > 1)


def examples(labels) -> Examples:
    return Examples.of([f"text {row}" for row in range(len(labels))], [f"class {label}" for label in labels])


def rows(part: Examples) -> list[int]:
    return [int(text.split()[1]) for text in part.texts]


# --- samples and splits


@given(labelled, st.integers(1, 70), st.integers(0, 5))
def test_a_sample_keeps_shares_order_and_labels(labels, limit, seed):
    whole = examples(labels)
    part = whole.sample(limit, seed)
    taken = rows(part)
    assert len(part) == min(limit, len(whole))
    assert taken == sorted(set(taken))
    assert part.labels.tolist() == [whole.labels[row] for row in taken]
    assert taken == rows(whole.sample(limit, seed))
    exact = whole.counts * len(part) / len(whole)
    if exact.min() >= 1:
        assert np.all(abs(part.counts - exact) < 1)
    if limit >= len(whole.names):
        assert part.counts.min() >= 1


@given(labelled, st.floats(0.01, 0.99), st.integers(0, 5))
def test_a_split_divides_all_rows_in_two(labels, share, seed):
    whole = examples(labels)
    kept, held = whole.split(share, seed)
    assert sorted(rows(kept) + rows(held)) == list(range(len(whole)))
    assert len(kept)
    assert len(held)
    assert np.all(abs(held.counts - whole.counts * len(held) / len(whole)) < 1)
    assert rows(held) == rows(whole.split(share, seed)[1])
    if share <= 0.5:
        assert all(kept.counts > 0) or len(whole) < 2 * len(whole.names)


def test_other_seeds_take_other_rows():
    whole = examples([0, 1] * 50)
    assert len({tuple(rows(whole.sample(10, seed))) for seed in range(5)}) == 5


def test_a_limit_beyond_the_end_takes_all_rows():
    whole = examples([0, 1, 1])
    assert whole.sample(3) is whole
    assert whole.sample(99) is whole


def test_quotas_by_hand():
    # Exact shares 1.75, 0.875, 0.375: the floors sum to 1, and the two largest remainders get the other two.
    assert compute_quotas(np.array([14, 7, 3]), 3, least=0).tolist() == [2, 1, 0]
    assert compute_quotas(np.array([14, 7, 3]), 3, least=1).tolist() == [1, 1, 1]
    assert compute_quotas(np.array([1, 99]), 50, least=0).tolist() == [0, 50]


@pytest.mark.parametrize("wrong", [lambda e: e.sample(0), lambda e: e.split(0), lambda e: e.split(1)])
def test_an_impossible_sample_or_split_is_refused(wrong):
    with pytest.raises(ValueError, match="choose"):
        wrong(examples([0, 1]))


# --- labels


@pytest.mark.parametrize(
    ("labels", "names", "numbers", "called"),
    [
        ([0, 1, 2], None, [0, 1, 2], ("0", "1", "2")),
        (["0", "2", "1"], None, [0, 2, 1], ("0", "1", "2")),
        ([1.0, 0.0], None, [1, 0], ("0", "1")),
        (["1.0", "0.0"], None, [1, 0], ("0", "1")),
        ([1, 2, 5], None, [0, 1, 2], ("1", "2", "5")),
        ([10, 9], None, [1, 0], ("9", "10")),
        (["b", " a "], None, [1, 0], ("a", "b")),
        (np.array([1, 0]), None, [1, 0], ("0", "1")),
        ([1, 1], ("no", "yes"), [1, 1], ("no", "yes")),
        (["yes", "no"], ("no", "yes"), [1, 0], ("no", "yes")),
        ([2, 5], ("1", "2", "5"), [1, 2], ("1", "2", "5")),
        ([1, -1, 1], None, [1, 0, 1], ("-1", "1")),
        (["-1", "+1"], None, [0, 1], ("-1", "1")),
        ([True, False], None, [1, 0], ("False", "True")),
        (np.array([True, False]), None, [1, 0], ("False", "True")),
        (["true", "false"], None, [1, 0], ("false", "true")),
        # A victim's classes: named, numbered, nameless, and −1 and 1.
        ([" Positive", "NEGATIVE", "pos", "neg"], ("negative", "positive"), [1, 0, 1, 0], ("negative", "positive")),
        (["Positive", "negative"], ("POSITIVE", "NEGATIVE"), [0, 1], ("POSITIVE", "NEGATIVE")),
        ([-1, 1], ("POSITIVE", "NEGATIVE"), [1, 0], ("POSITIVE", "NEGATIVE")),
        ([-1, 1], ("0", "1"), [0, 1], ("0", "1")),
        ([-1, 1], ("LABEL_0", "LABEL_1"), [0, 1], ("LABEL_0", "LABEL_1")),
        ([1, -1, -1], ("-1", "1"), [1, 0, 0], ("-1", "1")),
        ([-1, -1], ("-1", "1"), [0, 0], ("-1", "1")),
        ([0, 1], ("-1", "1"), [0, 1], ("-1", "1")),
        ([-1, 0, 1], ("-1", "0", "1"), [0, 1, 2], ("-1", "0", "1")),
        ([1, 0], ("LABEL_0", "LABEL_1"), [1, 0], ("LABEL_0", "LABEL_1")),
        (["label_1", "LABEL_0"], ("LABEL_0", "LABEL_1"), [1, 0], ("LABEL_0", "LABEL_1")),
        (["LABEL_1", "LABEL_0"], ("0", "1"), [1, 0], ("0", "1")),
        ([True, False], ("0", "1"), [1, 0], ("0", "1")),
        (["true", "false"], ("LABEL_0", "LABEL_1"), [1, 0], ("LABEL_0", "LABEL_1")),
        ([True, False], ("-1", "1"), [1, 0], ("-1", "1")),
        (["TRUE", False], ("False", "True"), [1, 0], ("False", "True")),
        ([1, 0], ("False", "True"), [1, 0], ("False", "True")),
        (["pos", "neg"], ("0", "1"), [1, 0], ("0", "1")),
        (["us", "US"], ("US", "us"), [1, 0], ("US", "us")),
    ],
    ids=str,
)
def test_labels_become_class_numbers(labels, names, numbers, called):
    found = Examples.of(["some text"] * len(labels), labels, names)
    assert found.labels.tolist() == numbers
    assert found.labels.dtype == np.int64
    assert found.names == called


@pytest.mark.parametrize(
    ("labels", "names", "says"),
    [
        ([0, None], None, "row 2: the label is missing"),
        ([0, float("nan")], None, "row 2: the label is missing"),
        ([0, 1, 0.5], None, "row 3: the label is 0.5"),
        ([0, float("inf")], None, "row 2: the label is inf"),
        ([0, True], None, "row 2: the label is True, but earlier labels are numbers"),
        ([-1, 0, 1], None, "row 1: the label is -1, which is negative: published data sets mark texts without"),
        ([-1, -1], None, "row 1: the label is -1"),
        ([-1, 0], ("no", "yes"), "row 1: the label is -1, which is negative"),
        ([-1, -1], ("no", "yes"), "row 1: the label is -1, which is negative"),
        ([-1, 0, 1], ("0", "1"), "row 1: the label is -1, which is negative"),
        (
            [-1, 1],
            ("ham", "spam"),
            "row 1: the label is -1, .*--map-label '-1=CLASS' for each label, with CLASS one of ham, spam",
        ),
        ([1, 0], ("True", "False"), "row 1: the label is 1"),
        ([True, False], ("negative", "positive"), "row 1: the label is True, .*--map-label 'True=CLASS' for"),
        (
            ["bad", "good"],
            ("LABEL_0", "LABEL_1"),
            "row 1: the label is 'bad', but .* no names.*--map-label 'bad=CLASS' for each label, with CLASS one of 0, "
            r"1 \(in Python, rename the labels first, .*\), or name the classes of the victim",
        ),
        (["neg", "pos"], ("LABEL_0", "LABEL_1"), "row 1: the label is 'neg', but .* no names"),
        (["bad", "good"], ("0", "1"), "row 1: the label is 'bad', but .* no names"),
        (["uS", "us"], ("US", "us"), "row 1: the label is 'uS'"),
        (
            ["good", "bad", "Good"],
            None,
            "row 1: the label is 'good', but other rows have 'Good'; write a class one way",
        ),
        ([0, 1], ("-1", "0", "2"), "row 2: the label is 1, which is not one of the 3 classes; expected -1, 0, 2"),
        ([0, [1]], None, r"row 2: the label is \[1\]"),
        ([0, 1, "good"], None, "row 3: the label is 'good', but earlier labels are numbers, such as 0"),
        (["good", "1"], None, "row 2: the label is '1', but earlier labels are names, such as 'good'"),
        ([0, -1], None, "row 2: the label is -1, which is negative"),
        (
            [0, 2],
            ("no", "yes"),
            "row 2: the label is 2, which is not one of the 2 classes; expected 0 to 1, or no, yes",
        ),
        (["no", "maybe"], ("no", "yes"), "row 2: the label is 'maybe'"),
        ([1, 1], None, "all 2 rows are of one class, '1'"),
        ([0], None, "there are 2 texts, but 1 labels"),
    ],
    ids=str,
)
def test_an_error_about_a_label_names_the_row(labels, names, says):
    with pytest.raises(ValueError, match=says):
        Examples.of(["some text"] * max(len(labels), 2), labels, names)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (7, "is 7, of type int"),
        ("\ud800é", "surrogate"),
        (("premise", "hypothesis"), "of type tuple; .*pairs of texts.* are not supported"),
        (["premise", "hypothesis"], "of type list; .*pairs of texts.* are not supported"),
        ({"premise": "a", "hypothesis": "b"}, "of type dict; .*pairs of texts.* are not supported"),
    ],
)
def test_an_error_about_a_text_names_the_row(text, says):
    with pytest.raises(ValueError, match=rf"the examples, row 2: the text .*{says}"):
        Examples.of(["fine", text], [0, 1])


@pytest.mark.parametrize("blank", [None, float("nan"), " \n", ""])
def test_a_blank_row_is_skipped_with_its_label_and_counted(blank):
    with pytest.warns(UserWarning, match=r"the examples, row 2: the text is blank or missing; the row is skipped"):
        found = Examples.of(["fine", blank, "dull"], [1, None, 0])
    assert (found.texts, found.labels.tolist()) == (("fine", "dull"), [1, 0])
    with pytest.warns(UserWarning, match="row 2: .*as in 2 of 200 rows"):
        Examples.of(["fine", blank, blank, *["dull"] * 197], [1, 0, 0, *[0] * 197])
    with (
        pytest.warns(UserWarning, match="row 1"),
        pytest.raises(ValueError, match="row 3: the text is 7"),  # the numbers of later rows are those of the data
    ):
        Examples.of([blank, "fine", 7], [0, 0, 1])


@pytest.mark.parametrize(("blank", "filled"), [(1, 0), (2, 5), (2, 197), (11, 1000)])
def test_more_than_one_blank_row_in_a_hundred_is_refused(tmp_path, blank, filled):
    texts, labels = [*["a", "b"] * filled, *[" "] * blank][-filled - blank :], [0, 1] * filled + [0] * blank
    with pytest.raises(ValueError, match=f"the text is blank or missing{f', as in {blank} of' if blank > 1 else ''}"):
        Examples.of(texts, labels[-len(texts) :])
    with pytest.raises(ValueError, match="the text is blank or missing"):
        read_examples(write(tmp_path / "some.csv", texts, labels[-len(texts) :]))


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="there are no rows"):
        make_examples([])


# --- Python objects


class FakeDataset:
    """What `datasets.Dataset` looks like from outside."""

    column_names = ("id", "text", "label")
    features = {"label": SimpleNamespace(names=["no", "yes"])}  # noqa: RUF012

    def __getitem__(self, column):
        return {"id": [1, 2], "text": ["a", "b"], "label": [1, 0]}[column]


THINGS = {
    "pair": (["a", "b"], ["yes", "no"]),
    "arrays": (np.array(["a", "b"]), np.array(["yes", "no"])),
    "records": [{"text": "a", "label": "yes"}, {"text": "b", "label": "no", "more": 1}],
    "pairs": [("a", "yes"), ("b", "no")],
    "generator": lambda: (pair for pair in [("a", "yes"), ("b", "no")]),
    "columns": {"Sentence": ["a", "b"], "target": ["yes", "no"]},
    "dataset": FakeDataset(),
}


@pytest.mark.parametrize("name", THINGS)
def test_every_kind_of_object_gives_the_same_examples(name):
    thing = THINGS[name]() if name == "generator" else THINGS[name]
    found = make_examples(thing)
    assert found.texts == ("a", "b")
    assert found.labels.tolist() == [1, 0]
    assert found.names == ("no", "yes")
    assert make_examples(found) is found


def test_a_data_frame_is_read_and_missing_values_are_reported():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"review": ["a", "b"], "stars": ["yes", "no"], 3: [0, 0]})
    assert make_examples(frame, label_column="stars").labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"'review', 'stars', '3'.*--label-column"):
        make_examples(frame)
    gaps = pandas.DataFrame({"text": ["a", "b"], "label": pandas.array([1, None], dtype="Int64")})
    with pytest.raises(ValueError, match="row 2: the label is missing"):
        make_examples(gaps)
    with pytest.warns(UserWarning, match="row 2: the text is blank or missing"):
        assert len(make_examples(pandas.DataFrame({"text": ["a", None, "b"], "label": [0, 1, 1]}))) == 2


@pytest.mark.parametrize(
    ("thing", "error", "says"),
    [
        ("imdb", TypeError, "load_data"),
        (("a text", [1]), TypeError, "found a single string, 'a text'"),
        (SimpleNamespace(column_names={"train": [], "test": []}), ValueError, "several splits, 'train', 'test'"),
        ([{"text": "a", "label": 1}, {"text": "b"}], ValueError, "row 2: 'label' is missing; this row has 'text'"),
        ([{"text": "a", "label": 1}, "b"], ValueError, "row 2: expected an object"),
        ([("a", 1), ("b",)], ValueError, "row 2: expected a text and a label"),
        ({"text": [], "review": [], "label": []}, ValueError, "'text', 'review' could each be the text"),
        ([("premise", "hypothesis", 0)], ValueError, "row 1: .*pairs of texts.* are not supported"),
        ([{"premise": "a", "hypothesis": "b", "label": 0}], ValueError, "pairs of texts are not supported"),
        ({"text": []}, ValueError, "no column with a usual name for the label"),
    ],
    ids=str,
)
def test_an_object_without_examples_is_refused(thing, error, says):
    with pytest.raises(error, match=says):
        make_examples(thing)


# --- files


def write(path, texts, labels, columns=("text", "label")):
    if path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(texts, labels, strict=True)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({columns[0]: texts, columns[1]: labels}), path)
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t")
            writer.writerows([columns, *zip(texts, labels, strict=True)])
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_what_is_written_is_read(tmp_path, ending):
    path = write(tmp_path / f"odd{ending}", ODD, NAMES)
    found = read_examples(path)
    assert found.texts == tuple(ODD)
    assert [found.names[label] for label in found.labels] == NAMES
    assert found.source == str(path)
    other = write(tmp_path / f"other{ending}", ODD, [1, 0, 1, 0, 2, 1, 0], ("Body", "y"))
    assert load_data(other, text_column="body", label_column="y").labels.tolist() == [1, 0, 1, 0, 2, 1, 0]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=8))
def test_any_text_survives_csv_and_json(tmp_path_factory, texts):
    texts = [f"x{text}" for text in texts]
    labels = [row % 2 for row in range(len(texts))]
    folder = tmp_path_factory.mktemp("any")
    for ending in (".csv", ".jsonl"):
        assert read_examples(write(folder / f"any{ending}", texts, labels)).texts == tuple(texts)


def test_a_very_long_text_is_read(tmp_path):
    found = read_examples(write(tmp_path / "long.csv", ["a " * 200_000, "b"], [0, 1]))
    assert len(found.texts[0]) == 400_000


# --- sizes


def write_gzip(path, texts, labels):
    plain = write(path.with_suffix(""), texts, labels)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return path


def write_json(path, texts, labels):
    path.write_text(json.dumps({"text": list(texts), "label": list(labels)}))
    return path


def write_excel(path, texts, labels):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("text", "label"), *zip(texts, labels, strict=True)]:
        book.active.append(row)
    book.save(path)
    return path


def write_folders(path, texts, labels):
    for number, (text, label) in enumerate(zip(texts, labels, strict=True)):
        (path / str(label)).mkdir(parents=True, exist_ok=True)
        (path / str(label) / f"{number:06}.txt").write_text(text)
    return path


def write_stream(path, texts, labels):
    arrow = pytest.importorskip("pyarrow")
    path.mkdir()
    (path / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
    table = arrow.table({"text": arrow.array(texts).dictionary_encode(), "label": labels})
    with arrow.ipc.new_stream(path / "data.arrow", table.schema) as stream:
        stream.write_table(table)
    return path


WRITERS = {
    "some.csv": write,
    "some.jsonl": write,
    "some.parquet": write,
    "some.csv.gz": write_gzip,
    "some.json": write_json,
    "some.xlsx": write_excel,
    "folders": write_folders,
    "saved": write_stream,
}


@pytest.mark.parametrize("name", WRITERS)
def test_no_more_is_read_than_the_maximum_however_it_is_packed(tmp_path, monkeypatch, name):
    # Equal texts, which a packed file holds once.
    path = WRITERS[name](tmp_path / name, ["a fine film"] * 2000, [0, 1] * 1000)
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "20000")
    with pytest.raises(ValueError, match=r"more than 20,000 bytes when unpacked.*DISCOTEXT_MAX_BYTES"):
        load_data(path)
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "2000000")
    assert len(load_data(path)) == 2000


@pytest.mark.parametrize("name", WRITERS)
def test_a_text_is_at_most_a_hundredth_of_the_maximum(tmp_path, monkeypatch, name):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "1000000")
    path = WRITERS[name](tmp_path / name, ["a fine film", "dull " * 2001], [0, 1])
    with pytest.raises(ValueError, match=r"longer than 10,000 characters.*DISCOTEXT_MAX_BYTES"):
        load_data(path)


def test_a_maximum_that_is_no_number_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "many")
    with pytest.raises(ValueError, match="DISCOTEXT_MAX_BYTES is 'many'"):
        load_data(write(tmp_path / "some.csv", ["a", "b"], [0, 1]))


class Endless(io.RawIOBase):
    """A source without an end, as /dev/zero and `yes` are."""

    def __init__(self, piece):
        self.piece = piece

    def readline(self, size=-1):
        assert size > 0, "a whole line was asked for"
        end = self.piece.find(b"\n") + 1
        return self.piece if end else (self.piece * size)[:size]


@pytest.mark.parametrize(
    ("piece", "says"),
    [(b"\0", "there is a NUL byte"), (b"y", "the line is longer"), (b"yes\n", "bytes when unpacked")],
)
def test_standard_input_need_not_end(monkeypatch, piece, says):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "100000000")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Endless(piece)))
    with pytest.raises(ValueError, match=f"standard input.*{says}"):
        read_table("-", limit=5)


@pytest.fixture
def few_held(monkeypatch):
    """Half a million rows are too many for a test."""
    monkeypatch.setattr("discotext.data.rows.HELD_ROWS", 400)
    monkeypatch.setattr("discotext.data.rows.BATCH", 100)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_a_sample_of_very_many_rows_is_drawn_without_holding_them(tmp_path, few_held, ending):
    labels = ["b" if number % 4 else "a" for number in range(5000)]
    labels[4321] = "rare"
    path = write(tmp_path / f"many{ending}", [f"text {number}" for number in range(5000)], labels)
    table = read_table(path, limit=40)
    assert 100 < len(table.texts) <= 500
    sample = table.check().sample(40)
    assert (sample.names, sample.counts.tolist()) == (("a", "b", "rare"), [10, 29, 1])
    numbers = [int(text.split()[1]) for text in sample.texts]
    assert numbers == sorted(numbers)
    assert numbers[0] < 1000 < 4000 < numbers[-1]
    assert read_table(path, limit=40).texts == table.texts
    assert read_table(path, limit=40, seed=1).texts != table.texts
    assert len(read_table(path).texts) == len(read_table(path, limit=2000).texts) == 5000


def test_of_an_ordinary_file_the_sample_is_that_of_all_its_rows(tmp_path):
    path = write(tmp_path / "some.csv", [f"text {number}" for number in range(500)], [0, 1] * 250)
    assert read_table(path, limit=7, seed=3).check().sample(7, 3).texts == load_data(path).sample(7, 3).texts


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (["text 4567", None], "line 4568: the label is missing"),
        (["text 4567", 1], "line 4568: the label is 1, but earlier labels are names"),
        (["x" * 9999, "a"], "line 4568: the text is longer"),
        ([5, "a"], "line 4568: the text is 5"),
    ],
)
def test_what_is_wrong_with_a_row_is_found_though_few_are_held(tmp_path, monkeypatch, few_held, row, says):
    rows = [[f"text {number}", "ab"[number % 2]] for number in range(5000)]
    rows[4567], rows[4000][0], rows[3000][0] = row, " ", ""
    path = write(tmp_path / "many.jsonl", *zip(*rows, strict=True))
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "900000")
    with pytest.warns(UserWarning, match="line 3001: .* as in 2 of 5,000 rows; these rows are skipped"):
        table = read_table(path, limit=10)
    assert len(table.texts) < 600
    with pytest.raises(ValueError, match=says):
        table.check()


def test_a_message_does_not_grow_with_the_classes():
    names = [f"class {number}" for number in range(100_000)]
    with pytest.raises(ValueError, match="more") as caught:
        Examples.of(["a"], ["other"], names)
    assert len(str(caught.value)) < 1000
    with pytest.raises(ValueError, match="2 scores for each text; expected") as caught:
        FunctionVictim(lambda texts: [[0.0, 1.0]] * len(texts), labels=names).scores(["a"])
    assert len(str(caught.value)) < 1000


BAD = {
    "empty.csv": (b"", "is empty"),
    "empty.jsonl": (b"\n\n", "is empty"),
    "header.csv": (b"text,label\n", "has no rows"),
    "ending.doc": (b"a", r"ends in '.doc'; examples are read from .csv, .tsv, .jsonl, .*texts without labels .*\.txt$"),
    "plain.txt": (b"a text\n", "is plain text without labels; expected a table"),
    "blank.txt": (b"\n \n", "is empty; expected a text on each line"),
    "gz.gz": (b"a", "ends in '.gz'"),
    "cut.csv.gz": (
        gzip.compress(b"text,label\n" + b"a film,1\nb film,0\n" * 999)[:60],
        "the compressed file is damaged",
    ),
    "not.jsonl.gz": (b"plain", "line 1: the compressed file is damaged"),
    "blank.csv.gz": (gzip.compress(b"text,label\na,1\n ,0\n,\n"), "line 3: the text is blank"),
    "broken.json": (b'[{"text": "a",\n  "label": }]', "line 2: not JSON at character 12"),
    "latin.json": (b'[{"text": "a",\n"label": "\xff"}]', "line 2: not UTF-8 at byte 11"),
    "empty.json": (b"[]", "holds no rows; expected a list of objects"),
    "number.json": (b"3", "holds no rows; expected a list of objects"),
    "items.json": (b'[{"text": "a", "label": 1}, {"text": "b"}]', "item 2: 'label' is missing"),
    "list.json": (b'[["a", 1]]', "item 1: expected an object"),
    "deep.json": (b"[" * 200_000, "cannot be parsed|not JSON"),
    "uneven.json": (b'{"text": ["a", "b"], "label": [1]}', "'text' and 'label' do not have the same rows"),
    "item.json": (
        b'{"data": [{"text": "a", "label": 1}, {}, {}]}'.replace(b"{}", b'{"text": " ", "label": 0}'),
        "item 2: the text is blank",
    ),
    "broken.xlsx": (b"PK but not really", "is not a valid .xlsx file"),
    "noending": (b"a", "has no extension"),
    "latin.csv": (b"text,label\nna\xefve,1\n", "line 2: not UTF-8 at byte 3"),
    "latin.jsonl": (b'{"text": "\xff", "label": 1}\n', "line 1: not UTF-8 at byte 11"),
    "twice.csv": (b"text,label,text\na,1,b\n", "has two columns named 'text'"),
    "none.csv": (b"body,label\na,1\n", "its columns are 'body', 'label': choose one with --text-column"),
    "short.csv": (b"text,label\na,1\nb\n", "line 3: there are 1 fields; expected 2"),
    "long.tsv": (b"text\tlabel\na\tb\t1\n", "line 2: there are 3 fields; expected 2"),
    "quotes.csv": (b'text,label\na,1\n"b,0\nc,1\n', "line 3: unexpected end of data; are the quotes"),
    "inner.csv": (b'text,label\n"a" b,1\n', "line 2: ',' expected after '\"'"),
    "nul.csv": (b"text,label\na\0,1\n", "line 2: there is a NUL byte"),
    "blank.csv": (b'text,label\n"a\nb",1\n ,0\n ,0\n', "line 4: the text is blank or missing, as in 2 of 3 rows"),
    "gap.csv": (b"text,label\na,\nb,1\n", "line 2: the label is missing"),
    "nan.csv": (b"text,label\na,nan\nb,1\n", "line 2: the label is missing"),
    "mixed.csv": (b"text,label\na,0\nb,bad\n", "line 3: the label is 'bad', but earlier labels are numbers"),
    "half.csv": (b"text,label\na,0\nb,0.5\n", "line 3: the label is '0.5'"),
    "one.csv": (b"text,label\na,1\nb,1\n", "all 2 rows are of one class, '1'"),
    "broken.jsonl": (b'{"text": "a", "label": 1}\n{"text": "b",\n', "line 2: not JSON at character"),
    "deep.jsonl": (b"[" * 200_000, "line 1: "),
    "list.jsonl": (b'[{"text": "a"}]\n', "line 1: expected an object such as .* found a list"),
    "key.jsonl": (b'{"text": "a", "label": 1}\n\n{"text": "b"}\n', "line 3: 'label' is missing"),
    "null.jsonl": (b'{"text": null, "label": 1}\n', "line 1: the text is blank or missing"),
    "number.jsonl": (b'{"text": 5, "label": 1}\n', "line 1: the text is 5, of type int; expected a string"),
    "nan.jsonl": (b'{"text": "a", "label": NaN}\n', "line 1: the label is missing"),
    "bool.jsonl": (b'{"text": "a", "label": true}\n', "all 1 rows are of one class, 'True'"),
    "negative.jsonl": (b'{"text": "a", "label": 0}\n{"text": "b", "label": -1}\n', "line 2: the label is -1"),
    "broken.parquet": (b"PAR1 but not really", "is not a valid .parquet file"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_error_about_a_file_is_one_line_and_names_the_line(tmp_path, name):
    if name.endswith((".parquet", ".xlsx")):
        pytest.importorskip("pyarrow" if name.endswith(".parquet") else "openpyxl")
    content, says = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=says) as caught:
        load_data(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_label_that_is_not_a_class_of_the_victim_is_refused(tmp_path):
    path = write(tmp_path / "some.csv", ["a", "b"], [0, 3])
    with pytest.raises(ValueError, match="line 3: the label is '3', which is not one of the 2 classes"):
        load_data(path, names=("no", "yes"))
    assert load_data(write(path, ["a"], [1]), names=("no", "yes")).labels.tolist() == [1]


def test_neither_a_file_nor_a_data_set(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_data(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder without examples; expected a folder"):
        load_data(tmp_path)
    for text in ("This film was great", "I like U.S. films. " * 50):
        with pytest.raises(
            ValueError, match=r"nor a file; to attack a single text, use --text \(in Python, pass a list: \[text\]\)$"
        ):
            load_data(text)
    with pytest.raises(
        ValueError, match=r"'reviews' is neither a data set \(imdb, ag_news, .*\) nor a file ending in .csv"
    ):
        load_data("reviews")


def test_an_error_about_a_parquet_file_names_the_row(tmp_path):
    path = write(tmp_path / "some.parquet", ["a", None, "b"], [0, 1, None])
    with (
        pytest.warns(UserWarning, match="row 2: the text is blank or missing"),
        pytest.raises(ValueError, match=r"some.parquet, row 3: the label is missing"),
    ):
        read_examples(path)


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    path = write(tmp_path / "some.parquet", ["a", "b"], [0, 1])
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(ImportError, match=r"pip install .*\[parquet\]"):
        read_examples(path)


# --- named data sets


@pytest.fixture
def nowhere(monkeypatch):
    """No folder, no package, no hub."""
    monkeypatch.delenv("DISCOTEXT_DATA", raising=False)
    monkeypatch.setattr(registry, "_find_package_file", lambda: None)
    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: None)


def test_an_error_about_missing_data_says_how_to_get_it(nowhere):
    with pytest.raises(ValueError, match=r"DISCOTEXT_DATA .*pip install .*\[demo\].*pip install .*\[hub\]") as caught:
        load_split("movie_reviews", "train")
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"DISCOTEXT_DATA .*pip install .*\[hub\]") as caught:
        load_split("imdb", "test")
    assert "demo" not in str(caught.value)  # the package does not have the test split


def test_the_folder_comes_first_in_any_format(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_DATA", str(tmp_path))
    write(tmp_path / "trec_test.csv", ["Who?", "Where?"], ["HUM", "LOC"])
    found = load_data("trec")
    assert (found.names, found.labels.tolist(), found.source) == (DATASETS["trec"].labels, [3, 4], "trec")
    location = describe_locations("trec")["test"]
    content = (tmp_path / "trec_test.csv").read_bytes()
    assert (location.kind, location.rows, location.bytes, location.known) == ("folder", 2, len(content), False)
    assert location.sha256 == hashlib.sha256(content).hexdigest()
    monkeypatch.setenv("DISCOTEXT_DATA", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="is not a folder"):
        load_split("trec", "test")


def test_unknown_names_and_splits_are_refused():
    with pytest.raises(ValueError, match="choose one of imdb, ag_news, trec, movie_reviews"):
        load_split("imbd", "train")
    with pytest.raises(ValueError, match="choose train or test"):
        load_split("imdb", "validation")


def test_the_hub_comes_last_and_its_failure_is_one_line(nowhere, monkeypatch):
    asked = []

    def load_dataset(name, split):
        asked.append((name, split))
        if name == "stanfordnlp/imdb":
            raise ConnectionError("no route to host.\nmore\nlines")
        return {"text": ["What?", "Who?"], "label": [0, 1], "label_coarse_original": ["DESC", "HUM"]}

    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    assert describe_locations("trec")["test"].kind == "hub"
    assert not asked
    assert load_split("trec", "test").labels.tolist() == [1, 3]
    assert asked == [("SetFit/TREC-QC", "test")]
    says = r"stanfordnlp/imdb could not be downloaded .*\(no route to host\); check the network"
    with pytest.raises(RuntimeError, match=says) as caught:
        load_split("imdb", "test")
    assert "\n" not in str(caught.value)


def test_every_named_data_set_is_described():
    for name, one in DATASETS.items():
        assert one.name == name
        assert one.origin
        assert one.licence
        assert one.citation
        assert set(one.rows) == {"train", "test"}


COUNTS = {
    ("imdb", "train"): [12_500, 12_500],
    ("imdb", "test"): [12_500, 12_500],
    ("ag_news", "train"): [17_103, 16_253, 16_277, 17_124],
    ("ag_news", "test"): [1_900] * 4,
    ("trec", "train"): [86, 1_162, 1_250, 1_223, 835, 896],
    ("trec", "test"): [9, 138, 94, 65, 81, 113],
}


@pytest.mark.parametrize(("name", "split"), COUNTS)
def test_real_data_has_the_rows_it_should(shared_data, name, split):
    if not (shared_data / f"{name}_{split}.parquet").is_file():
        pytest.skip("not in this folder")
    found = load_split(name, split)
    location = describe_locations(name)[split]
    assert location.rows == len(found)
    if location.known:
        assert found.counts.tolist() == COUNTS[name, split]
    assert found.names == DATASETS[name].labels


@pytest.fixture
def package(monkeypatch):
    monkeypatch.delenv("DISCOTEXT_DATA", raising=False)
    if locate("movie_reviews", "test").kind != "package":
        pytest.skip("the package movie-reviews is not installed")


def test_the_split_of_movie_reviews_never_changes(package):
    train, test = load_split("movie_reviews", "train"), load_split("movie_reviews", "test")
    assert train.counts.tolist() == [3_412, 3_412]
    assert test.counts.tolist() == [853, 853]
    assert not set(train.texts) & set(test.texts)
    # Otherwise figures measured on the test split would no longer be comparable.
    digest = hashlib.sha256("\n".join(sorted(test.texts)).encode()).hexdigest()
    assert digest == "69731cdcc155a9cbf6107068e7402bb57f50338a7836419eb059b6015c22a39e"
    assert "movie_reviews" not in sys.modules
    assert all(location.known for location in describe_locations("movie_reviews").values())


def test_the_package_has_the_same_imdb_as_the_folder(shared_data, package, monkeypatch):
    found = load_split("imdb", "train")
    monkeypatch.setenv("DISCOTEXT_DATA", str(shared_data))
    if locate("imdb", "train").kind != "folder":
        pytest.skip("not in this folder")
    other = load_split("imdb", "train")
    as_set = [sorted(zip(one.texts, one.labels.tolist(), strict=True)) for one in (found, other)]
    assert as_set[0] == as_set[1]


# --- the command


def data_command(*arguments, folder=None, stdin=b""):
    environment = {key: value for key, value in os.environ.items() if key != "DISCOTEXT_DATA"}
    if folder:
        environment["DISCOTEXT_DATA"] = str(folder)
    command = [sys.executable, "-m", "discotext", "data", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=False, check=False, env=environment)


def test_the_command_lists_and_describes_data_sets(tmp_path):
    write(tmp_path / "trec_test.csv", ["Who?", "Where?"], ["HUM", "LOC"])
    listed = data_command(folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert all(name in listed.stdout.decode() for name in DATASETS)
    content = json.loads(data_command("--json", folder=tmp_path).stdout)
    assert [one["name"] for one in content] == list(DATASETS)
    assert {one["name"]: one["splits"]["test"]["found"] for one in content}["trec"] == "folder"
    told = data_command("trec", folder=tmp_path).stdout.decode()
    assert "COLING 2002" in told
    assert "2 rows of 500" in told
    assert "not a known copy" in told
    one = json.loads(data_command("trec", "--json", folder=tmp_path).stdout)
    assert one["splits"]["test"]["rows"] == 2
    assert one["labels"] == list(DATASETS["trec"].labels)


def test_the_command_knows_the_known_copies(shared_data):
    one = json.loads(data_command("trec", "--json", folder=shared_data).stdout)
    assert [location["known"] for location in one["splits"].values()] == [True, True]


def test_an_unknown_name_ends_in_one_line():
    done = data_command("imbd")
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "discotext: there is no data set 'imbd'; choose one of imdb, ag_news, trec, movie_reviews\n"
    )


def test_json_lines_come_from_standard_input():
    code = "from discotext.data import load_data; e = load_data('-'); print(e.texts, e.labels.tolist(), e.source)"
    for stdin, says in (
        ('{"text": "ä", "label": 1}\n{"text": "b", "label": 0}\n', "('ä', 'b') [1, 0] -"),
        ('{"text": "a", "label": 1}\n{"text": "b"\n', "standard input, line 2: not JSON"),
        ("", "standard input is empty"),
    ):
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", code], input=stdin.encode(), capture_output=True, check=False
        )
        assert says in (done.stdout + done.stderr).decode()
