"""Files and standard input are read as written, and an error names the line."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.data import load_data, make_examples
from discotext.data.columns import Columns
from discotext.data.files import read_table
from discotext.data.registry import read_texts
from discotext.victims.examples import load_examples
from tests.data.writers import make_victim, write

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
TEXTS = ["A fine film.", "A dull, awful film", "Größe ½", "Great fun"]
LABELS = ["positive", "negative", "negative", "positive"]
ROWS = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]


def fits(found):
    return found.texts == tuple(TEXTS) and [found.names[label] for label in found.labels] == LABELS


# --- what is written is read


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_what_is_written_is_read(tmp_path, ending):
    path = write(tmp_path / f"odd{ending}", ODD, NAMES)
    found = load_data(path)
    assert found.texts == tuple(ODD)
    assert [found.names[label] for label in found.labels] == NAMES
    assert found.source == str(path)
    # Columns of other names, the label before the text.
    labels = [1, 0, 1, 0, 2, 1, 0]
    found = load_data(write(path, labels, ODD, ("y", "Body")), text_column="body", label_column="y")
    assert (found.texts, found.labels.tolist()) == (tuple(ODD), labels)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=8))
def test_any_text_survives_csv_and_json(tmp_path_factory, texts):
    texts = [f"x{text}" for text in texts]
    labels = [row % 2 for row in range(len(texts))]
    folder = tmp_path_factory.mktemp("any")
    for ending in (".csv", ".jsonl"):
        assert load_data(write(folder / f"any{ending}", texts, labels)).texts == tuple(texts)


def csv_of(separator=","):
    lines = [["text", "label"], *zip([TEXTS[0], f'"{TEXTS[1]}"', *TEXTS[2:]], LABELS, strict=True)]
    return "".join(separator.join(line) + "\n" for line in lines).encode()


JSON_LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
FORMS = {
    "some.csv.gz": gzip.compress(csv_of()),
    "some.TSV.gz": gzip.compress(csv_of("\t")),
    "some.jsonl.gz": gzip.compress(JSON_LINES),
    "some.ndjson": JSON_LINES,
    "list.json": json.dumps(ROWS, indent=1).encode(),
    "list.json.gz": gzip.compress(b"\xef\xbb\xbf" + json.dumps(ROWS).encode()),
    "lines.json": JSON_LINES,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_file_gives_the_same_examples(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    assert fits(load_data(path))
    assert list(read_texts(path)) == TEXTS  # for train-lm


def test_what_pandas_writes_is_read(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame({"text": TEXTS, "label": LABELS})
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_json(tmp_path / "a.json", orient="records")
    frame.to_json(tmp_path / "b.jsonl.gz", orient="records", lines=True)
    assert all(fits(load_data(path)) for path in tmp_path.iterdir())


# --- errors

# Each with what the message must have: the line and what is wrong there.
BAD = {
    "empty.csv": (b"", "no rows"),
    "ending.doc": (b"a", "'.doc'"),
    "plain.txt": (b"a text\n", "without labels"),
    "cut.csv.gz": (gzip.compress(b"text,label\n" + b"a film,1\nb film,0\n" * 999)[:60], "damaged"),
    "not.jsonl.gz": (b"plain", "line 1|damaged"),
    "blank.csv.gz": (gzip.compress(b"text,label\na,1\n ,0\n,\n"), "line 3|blank"),
    "broken.json": (b'[{"text": "a",\n  "label": }]', "line 2|character 12"),
    "empty.json": (b"[]", "no rows"),
    "columns.json": (b'{"text": ["a", "b"], "label": [0, 1]}', "line 1|type list"),
    "items.json": (b'[{"text": "a", "label": 1}, {"text": "b"}]', "item 2|'label'"),
    "list.json": (b'[["a", 1]]', "item 1|a list"),
    "deep.json": (b"[" * 200_000, "JSON"),
    "item.json": (b'[{"text": "a", "label": 1}%s]' % (b', {"text": " ", "label": 0}' * 2), "item 2|blank"),
    "noending": (b"a", "no extension"),
    "latin.csv": (b"text,label\nna\xefve,1\n", "line 2|byte 3"),
    "utf16.csv": ("text,label\na,0\n".encode("utf-16"), "UTF-8"),
    "twice.csv": (b"text,label,text\na,1,b\n", "'text'"),
    "none.csv": (b"body,label\na,1\n", "'body', 'label'|--text-column"),
    "semicolons.csv": (b"text;label\na;0\n", "'text;label'|commas"),
    "return.csv": (b"text,label\ra,0\rb,1\r", "line 1|lines end"),
    "short.csv": (b"text,label\na,1\nb\n", "line 3|1 fields"),
    "quotes.csv": (b'text,label\na,1\n"b,0\nc,1\n', "line 3|quotes"),
    "nul.csv": (b"text,label\na\0,1\n", "line 2|NUL"),
    "blank.csv": (b'text,label\n"a\nb",1\n ,0\n ,0\n', "line 4|blank|2 of 3"),
    "gap.csv": (b"text,label\na,\nb,1\n", "line 2|missing"),
    "one.csv": (b"text,label\na,1\nb,1\n", "one class, '1'"),
    "broken.jsonl": (b'{"text": "a", "label": 1}\n{"text": "b",\n', "line 2|JSON"),
    "list.jsonl": (b'[{"text": "a"}]\n', "line 1|a list"),
    "object.jsonl": (b'{"text": {"text": "a"}, "label": 1}\n', "line 1|of type dict"),
    "nan.jsonl": (b'{"text": "a", "label": NaN}\n', "line 1|missing"),
    "broken.parquet": (b"PAR1 but not really", "valid .parquet"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_error_about_a_file_is_one_line_and_names_the_line(tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    content, says = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=name) as caught:
        load_data(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    for part in says.split("|"):
        assert part in message


def test_an_error_about_a_parquet_file_names_the_row(tmp_path):
    path = write(tmp_path / "some.parquet", ["a", None, "b"], [0, 1, None])
    with pytest.warns(UserWarning, match="row 2"), pytest.raises(ValueError, match="row 3"):
        load_data(path)


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    path = write(tmp_path / "some.parquet", ["a", "b"], [0, 1])
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(ImportError, match=r"\[parquet\]"):
        load_data(path)


def test_class_names_of_datasets_are_read_from_objects_and_parquet(tmp_path):
    datasets = pytest.importorskip("datasets")
    feature = datasets.ClassLabel(names=["neg", "pos"])
    features = datasets.Features({"text": datasets.Value("string"), "label": feature})
    one = datasets.Dataset.from_dict({"text": TEXTS, "label": [1, 0, 0, 1]}, features=features)
    path = tmp_path / "one.parquet"
    one.to_parquet(str(path))
    assert make_examples(one).names == load_data(path).names == ("neg", "pos")
    assert make_examples(one, names=("POSITIVE", "NEGATIVE")).labels.tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="'train', 'test'"):
        make_examples(datasets.DatasetDict({"train": one, "test": one}))
    assert load_examples(make_victim("POSITIVE", "NEGATIVE"), path).labels.tolist() == [0, 1, 1, 0]
    assert load_examples(make_victim("LABEL_0", "LABEL_1"), path).labels.tolist() == [1, 0, 0, 1]
    with pytest.raises(ValueError, match=r"neg, pos, .* ham, spam.*neg=CLASS"):
        load_examples(make_victim("ham", "spam"), path)
    mapped = Columns(rename={"neg": "spam", "pos": "ham"})
    assert load_examples(make_victim("ham", "spam"), path, mapped).labels.tolist() == [0, 1, 1, 0]


# --- standard input


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (JSON_LINES, None),
        (b"\xef\xbb\xbf\n\n" + JSON_LINES, None),
        (b"", "no rows"),
        (csv_of(), "line 1: not JSON"),
        (b'{"text": "a", "label": 1}\n{"text": "b"\n', "line 2"),
    ],
)
def test_standard_input_is_json_lines(monkeypatch, content, says):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
    if says is None:
        assert fits(load_data("-"))
        return
    with pytest.raises(ValueError, match=f"standard input.*{says}"):
        load_data("-")


# --- limits

PACKED = ("some.csv", "some.jsonl", "some.parquet", "some.csv.gz", "some.json")


@pytest.mark.parametrize("name", PACKED)
def test_no_more_is_read_than_the_maximum_however_it_is_packed(tmp_path, monkeypatch, name):
    # Equal texts, which a packed file holds once.
    path = write(tmp_path / name, ["a fine film"] * 2000, [0, 1] * 1000)
    for most in ("20000", "many"):
        monkeypatch.setenv("DISCOTEXT_MAX_BYTES", most)
        with pytest.raises(ValueError, match=r"20,000 bytes.*DISCOTEXT_MAX_BYTES|'many'"):
            load_data(path)
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "2000000")
    assert len(load_data(path)) == 2000
    # A text may take a hundredth.
    write(path, ["a fine film", "dull " * 4001], [0, 1])
    with pytest.raises(ValueError, match=r"20,000 characters.*DISCOTEXT_MAX_BYTES"):
        load_data(path)


class Endless(io.RawIOBase):
    """A source without an end, as /dev/zero and `yes` are."""

    def __init__(self, piece):
        self.piece = piece

    def readline(self, size=-1):
        assert size > 0, "a whole line was asked for"
        end = self.piece.find(b"\n") + 1
        return self.piece if end else (self.piece * size)[:size]


@pytest.mark.parametrize(
    ("piece", "says"), [(b"\0", "NUL"), (b"y", "the line"), (b'{"text": "a", "label": 1}\n', "unpacked")]
)
def test_standard_input_need_not_end(monkeypatch, piece, says):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "1000000")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Endless(piece)))
    with pytest.raises(ValueError, match=f"standard input.*{says}"):
        read_table("-")
