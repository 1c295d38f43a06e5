"""Random valid and damaged data: `fuzzing` states the law."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fuzzing import ends_well, run

VICTIM = """
def scores(texts):
    return [[float(text.count("a")), float(text.count("b"))] for text in texts]
def named(texts):
    return scores(texts)
named.labels = ("neg", "pos")
"""
KINDS = ("csv", "tsv", "jsonl", "-")
TEXTS = ["", " ", "a", "good film", "ü", "😀", "\u0301", "\ufeff", 'a"b', "a,b", "a;b", "a\tb", "a\nb", "a\rb", "<br/>"]
TEXTS += ["x" * 200_000, "\x00", "\x1f", "\u2028", "\ud800", "nan", 1, None, [], {}]
LABELS = [0, 1, "0", "1", "neg", "pos", 0.0, 1.5, None, True, [], [1], {"a": 1}, "", -1, 10**30, float("nan"), "½"]
LABELS += ["1.0", "+1", "\ud800", "a\nb", float("inf")]
COLUMNS = [["text", "label"]] * 6 + [["text"], ["label"], ["text", "text"], ["Text", "LABEL"], ["a", "b"], ["", " "]]
COLUMNS += [["sentence", "class", "id"], ["text", "label", "sentiment"], ["text", "label", "x" * 500]]
ENCODINGS = ["utf-8"] * 8 + ["utf-16", "utf-8-sig", "latin-1", "utf-32"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The working directory: an empty folder with a victim."""
    here = tmp_path_factory.mktemp("data")
    (here / "victim.py").write_text(VICTIM)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        yield here


def rows(rng: random.Random) -> tuple[list[str], list[list]]:
    """Columns and rows, clean or with anything in them."""
    columns, clean = rng.choice(COLUMNS), rng.random() < 0.5

    def value(column: str, row: int):
        label = column.lower() in ("label", "class")
        if clean:
            return row % 2 if label else f"good film {row}"
        return rng.choice(LABELS if label else TEXTS)

    return columns, [[value(column, row) for column in columns] for row in range(rng.choice([0, 1, 2, 5]))]


def written(kind: str, rng: random.Random) -> bytes:
    """A file of this kind, perhaps with the wrong separator, encoding or line ends."""
    columns, made = rows(rng)
    if kind in ("csv", "tsv"):
        separator = rng.choice([",", ",", ";", "|"] if kind == "csv" else ["\t", "\t", ","])
        quote = (lambda value: f'"{value}"') if rng.random() < 0.3 else str
        text = io.StringIO()
        if rng.random() < 0.6:
            csv.writer(text, delimiter=separator).writerows([columns, *made])
        else:
            ends = rng.choice(["\n", "\r\n", "\r"])
            text.write(ends.join(separator.join(map(quote, row)) for row in [columns, *made]))
        return text.getvalue().encode(rng.choice(ENCODINGS), "replace")
    if kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet as parquet

        sink = io.BytesIO()
        found = {column: [row[place] for row in made] for place, column in enumerate(columns)}
        try:
            parquet.write_table(pyarrow.table(found), sink)
        except Exception:  # not everything fits into a column
            plain = {name: [ascii(value) for value in values] for name, values in found.items()}
            parquet.write_table(pyarrow.table(plain), sink)
        return sink.getvalue()
    lines = [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=rng.random() < 0.5) for row in made]
    if rng.random() < 0.2:
        odd = ["null", "3", "[]", '{"text": {}}', "{", "[" * 2_000, '{"text": 1e999, "label": ' + "9" * 5_000 + "}"]
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(odd))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """The same, or truncated, or with other bytes in it, or after a byte order mark."""
    at = rng.randrange(len(raw) + 1)
    flipped = raw[:at] + rng.randbytes(1) + raw[at + 1 :]
    kinds = [raw, raw, raw, raw[:at], flipped, raw + raw, b"\xef\xbb\xbf" + raw, raw[:at] + b"\0" + raw[at:]]
    return rng.choice(kinds)


def attempt(kind: str, raw: bytes, victim: str = "py:victim.py:scores") -> int:
    """The status of a command that reads this."""
    path = "-" if kind == "-" else f"file.{kind}"
    if kind != "-":
        Path(path).write_bytes(raw)
    done = run("predict", victim, path, given=raw if kind == "-" else b"")
    ends_well(done, [victim, path, raw[:200]])
    return done.exit_code


@pytest.mark.parametrize("kind", [*KINDS, "parquet"])
def test_any_file_is_read_or_refused_with_a_message(place, kind):
    statuses = set()
    for seed in range(120):
        rng = random.Random(f"{kind} {seed}")
        raw = damaged(written(kind, rng), rng)
        statuses.add(attempt(kind, raw, rng.choice(["py:victim.py:scores", "py:victim.py:named"])))
    assert statuses == {0, 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ROW = st.fixed_dictionaries({}, optional={"text": st.text() | JSON, "label": st.sampled_from([0, 1, "neg"]) | JSON})
JSON_LINES = st.lists(ROW | JSON, max_size=4).map(lambda lines: "\n".join(map(json.dumps, lines)).encode())


@pytest.mark.parametrize("kind", [*KINDS, "parquet"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=200) | JSON_LINES)
@example(raw=b"")
@example(raw=b"\xff\xfe")
@example(raw=b"PAR1")
@example(raw=b"text,label\r\n\r\n")
@example(raw=b'{"text": "a", "label": 0}\n' * 3)
def test_any_bytes_and_any_json_are_read_or_refused_with_a_message(place, kind, raw):
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        pytest.skip("needs pyarrow")
    attempt(kind, raw)


def test_a_message_does_not_grow_with_the_file(place):
    header = ",".join(f"column{number}" for number in range(20_000))
    Path("wide.csv").write_text(f"{header}\n{header}\n")
    done = run("predict", "py:victim.py:scores", "wide.csv")
    ends_well(done)
    assert "and 19992 more" in done.stderr
