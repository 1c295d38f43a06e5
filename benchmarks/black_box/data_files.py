"""Damaged data files, read by `discotext predict`, must be read correctly or refused with one sentence.

A small table is written as .csv, .tsv, .jsonl or .parquet and then damaged, a little or a lot. Independent readers, as
strict as the documentation, decide what is expected: the texts, a refusal, or either if the documentation is silent.
"""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import re
import resource
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from click.testing import CliRunner

from benchmarks.black_box import Outcome, main
from discotext.cli import cli

VICTIM = """
def scores(texts):
    return [[float(len(text)), text.count("good") + 1.0] for text in texts]
scores.labels = ["negative", "positive"]
"""
TEXT = {"text", "sentence", "review", "content", "question"}
LABEL = {"label", "labels", "class", "target", "category", "sentiment"}
WORDS = (
    'good bad, film "quoted" a;b été 映画 😀 <b> tab\there two\nlines x=1 \u202eabc zero\u200bwidth o\'clock - 0'.split(
        " "
    )
)
LABELS: list[list[Any]] = [["0", "1"], ["negative", "positive"], [0, 1], [0, "positive"], [True, False]]
ODD: list[Any] = ["", " \t", None, 3, -1, 2.5, float("nan"), 10**30, "1e0", "x" * 200_000, ["list"], {"a": {"b": [1]}}]
ODD += ["\ud83d", "\ufeff", b"\xff", "deep", "١"]
STRINGS = (pyarrow.large_string(), pyarrow.binary(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
MEMORY = 8 << 30  # a damaged length must not exhaust the memory of the machine
PATIENCE = 120  # seconds until a single file counts as hung
Texts = list[str]


class Refused(Exception):  # noqa: N818 (not an error of ours)
    """The file is invalid."""


def fields(text: str, separator: str) -> list[list[str]]:
    """Rows of a file with separators; empty lines are skipped."""
    one = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"|((?!")[^{separator}\r\n]*))({separator}|\r*\n|\r*\Z)')
    rows: list[list[str]] = []
    row: list[str] = []
    at = 0
    while at < len(text) or row:
        found = one.match(text, at)
        if found is None:
            raise Refused("quotes that are not balanced, or a carriage return alone")
        at, (quoted, plain, end) = found.end(), found.groups()
        row.append(plain if quoted is None else quoted.replace('""', '"'))
        if end != separator:
            rows += [row] if row != [""] or quoted is not None else []
            row = []
    return rows


def column(names: list[str], usual: set[str]) -> str:
    found = [name for name in names if name.strip().lower() in usual]
    if len(found) != 1 or len(set(names)) < len(names):
        raise Refused("no single column")
    return found[0]


def columns(names: list[str]) -> tuple[str, str | None]:
    """The columns of the texts and of the labels, which `predict` can do without: None where there is no single one."""
    text = column(names, TEXT)
    try:
        return text, column(names, LABEL)
    except Refused:
        return text, None


def judged(texts: list[Any], labels: list[Any] | None) -> Texts | None:
    """The texts of a valid file; None if the documentation does not say whether it is valid."""
    filled = [row for row, text in enumerate(texts) if text is not None and text == text and str(text).strip()]
    if not filled or len(texts) - len(filled) > max(1, len(texts) // 100):
        raise Refused("texts are missing")
    texts = [texts[row] for row in filled]
    if any(not isinstance(text, str) for text in texts):
        raise Refused("a text is not a string")
    if labels is None:
        return None
    labels = [labels[row] for row in filled]
    numbers = all(str(label) in ("0", "1") and not isinstance(label, bool) for label in labels)
    known = numbers or all(isinstance(label, str) and label in ("negative", "positive") for label in labels)
    whole = not any("\ud800" <= sign <= "\udfff" for text in texts for sign in text)
    return texts if known and whole else None


def decoded(content: bytes) -> str:
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if "\0" in text:
        raise Refused("a NUL byte")
    return text


def from_separated(content: bytes, separator: str) -> Texts | None:
    rows = fields(decoded(content), separator)
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise Refused("no rows, or rows of other lengths")
    header = [name.strip() for name in rows[0]]
    text, label = columns(header)
    place = None if label is None else header.index(label)
    labels = None if place is None else [row[place].strip() for row in rows[1:]]
    return judged([row[header.index(text)] for row in rows[1:]], labels)


def from_json(content: bytes) -> Texts | None:
    try:
        rows = [json.loads(line) for line in decoded(content).split("\n") if line.strip()]
    except (ValueError, RecursionError):
        raise Refused("not JSON") from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Refused("not objects")
    text, label = columns(list(rows[0]))
    if any(text not in row or (label is not None and label not in row) for row in rows):
        raise Refused("a key is missing")
    return judged([row[text] for row in rows], None if label is None else [row[label] for row in rows])


def from_parquet(content: bytes) -> Texts | None:
    table = pyarrow.parquet.ParquetFile(io.BytesIO(content)).read()
    text, label = columns(table.column_names)
    return judged(table.column(text).to_pylist(), None if label is None else table.column(label).to_pylist())


READERS: dict[str, Callable[[bytes], Texts | None]] = {
    ".csv": lambda content: from_separated(content, ","),
    ".tsv": lambda content: from_separated(content, "\t"),
    ".jsonl": from_json,
    ".parquet": from_parquet,
}


def some_table(rng: np.random.Generator) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows, which are often invalid themselves."""
    names = [str(rng.choice(["text", "Review", " content "])), str(rng.choice(["label", "CLASS", "sentiment"]))]
    labels = LABELS[rng.choice(len(LABELS), p=[0.3, 0.3, 0.3, 0.05, 0.05])]
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 8))) for _ in range(rng.integers(1, 13))]
    rows = [[text, labels[rng.integers(2)]] for text in texts]
    if rng.random() < 0.25:
        rows[rng.integers(len(rows))][rng.integers(2)] = ODD[rng.integers(len(ODD))]
    if rng.random() < 0.25:
        names.append(str(rng.choice(["id", "text", "label", "sentence", "", "a\nb", names[0]])))
        rows = [[*row, number] for number, row in enumerate(rows)]
    if rng.random() < 0.05:
        names, rows = names[1:], [row[1:] for row in rows]
    if rng.random() < 0.05:
        rows[rng.integers(len(rows))].append("one too many")
    return names, rows if rng.random() < 0.97 else []


def written(names: list[str], rows: list[list[Any]], ending: str, rng: np.random.Generator) -> bytes:
    """The bytes of a table."""
    if ending == ".parquet":
        return as_parquet(names, rows, rng)
    if ending == ".jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=False)), default=repr) for row in rows]
        nested = "[" * 50_000 + "]" * 50_000
        return "".join(line.replace('"deep"', nested) + "\n" for line in lines).encode()
    text = io.StringIO()
    csv.writer(text, delimiter="," if ending == ".csv" else "\t").writerows([names, *rows])
    return text.getvalue().encode("utf-8", "surrogatepass")


def as_parquet(names: list[str], rows: list[list[Any]], rng: np.random.Generator) -> bytes:
    """A table; columns without a common type are written as strings."""
    arrays = []
    for place in range(len(names)):
        values = [row[place] if place < len(row) else None for row in rows]
        try:
            array = pyarrow.array(values)
        except (pyarrow.ArrowException, OverflowError, UnicodeError):
            array = pyarrow.array([ascii(value) for value in values])
        plain = array.type != pyarrow.string() or rng.random() < 0.8
        arrays.append(array if plain else array.cast(STRINGS[rng.integers(len(STRINGS))]))
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, names=names), file)
    return file.getvalue()


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage the bytes once more."""
    at, other = sorted(rng.integers(len(content) + 1, size=2).tolist())
    some = bytes(rng.integers(256, size=rng.integers(1, 9)).tolist())
    ways: list[Callable[[], bytes]] = [
        lambda: content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :],
        lambda: content[:at] + some + content[at:],
        lambda: content[:at] + content[other:],
        lambda: content[:other] + content[at:],
        lambda: content[:at],
        lambda: content[:at] + b"\0" + content[at:],
        lambda: b"\xef\xbb\xbf" * int(rng.integers(1, 3)) + content,
        lambda: content.decode("utf-8", "replace").encode(str(rng.choice(["utf-16", "utf-32", "utf-16-le", "utf-7"]))),
        lambda: content.decode("utf-8", "replace").encode("latin-1", "replace"),
        lambda: content.replace(b"\r\n", b"\n").replace(b"\n", rng.choice([b"\r\n", b"\r", b"\r\r\n", b"\n\n"])),
        lambda: content[:at].replace(b"\r\n", b"\n") + content[at:],
        lambda: content.replace(b'"', rng.choice([b'""', b"'", b""])),
        lambda: content[:at] + b'"' + content[at:],
        lambda: content.replace(b",", rng.choice([b";", b"\t", b",,"])),
        lambda: content + rng.choice([b"\n\n", b"   ", b"\x1a", b"{", b"null\n", b'"', b",\n"]),
        lambda: content.replace(b"good", rng.choice([b"\\ud800", b"\xed\xa0\x80", b"\\u0000", b"\xe2\x80\xa8"])),
    ]
    return ways[rng.integers(len(ways))]() if at < len(content) else content[: len(content) // 2]


def expected(content: bytes, ending: str, rows: int | None) -> Any:
    """The expected result: the texts, their number, None for anything, or the reason for a refusal.

    Plain text cannot be wrong.
    """
    if ending == ".txt":
        return None
    if ending not in READERS or not content or (ending == ".parquet" and content[:4] != b"PAR1"):
        return "refusal"
    if ending == ".parquet" and rows is not None:
        return rows  # pages have no checksum, so texts may have changed
    try:
        return READERS[ending](content)
    except Refused as error:
        return f"refusal: {error}"


def attempt(seed: int, number: int, folder: Path) -> str | None:
    """Try one file; returns what is wrong, or None."""
    rng = np.random.default_rng([seed, number])
    ending = str(rng.choice(list(READERS)))
    names, rows = some_table(rng)
    content = written(names, rows, ending, rng)
    times = int(rng.choice([0, 1, 2, 4], p=[0.25, 0.45, 0.2, 0.1]))
    for _ in range(times):
        content = damage(content, rng)
    if rng.random() < 0.05:
        ending = str(rng.choice([*READERS, ".txt", ""]))
    piped = ending == ".jsonl" and rng.random() < 0.1
    wanted = expected(content, ending, len(rows) if times else None)
    file = folder / f"data{ending}"
    file.write_bytes(content)
    given = ["predict", f"py:{folder / 'victim.py'}:scores", "-" if piped else str(file)]
    trouble = broken(CliRunner().invoke(cli, given, input=content if piped else None), wanted)
    return trouble and f"try {number} of seed {seed}: {ending or 'no ending'}, {times} times damaged: {trouble}"


def broken(result: Any, wanted: Any) -> str | None:
    """What is wrong with the result of the command, or None."""
    last = (result.stderr.strip().splitlines() or [""])[-1]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{type(result.exception).__name__} escaped: {str(result.exception)[:200]}"
    if result.exit_code not in (0, 1, 2) or "Traceback" in result.stderr:
        return f"status {result.exit_code}, {result.stderr[-300:]!r}"
    if result.exit_code:
        said = last.startswith("discotext: ") if result.exit_code == 1 else "Error: " in result.stderr
        if not said:
            return f"status {result.exit_code} without one sentence: {result.stderr[-300:]!r}"
        return f"refused ({last[:200]}) where {len(wanted)} rows were expected" if isinstance(wanted, list) else None
    try:
        texts = [json.loads(line)["text"] for line in result.stdout.split("\n")[:-1]]
    except ValueError as error:
        return f"a line that is not JSON: {error}"
    if isinstance(wanted, str):
        return f"read as {len(texts)} rows where a {wanted} was expected"
    right = wanted is None or wanted in (texts, len(texts))
    return None if right else f"read as {len(texts)}: {texts!r:.300}, expected {wanted!r:.300}"


# A library may crash on a damaged file, so files are read in another process.


def work(pipe: Connection, seed: int, begin: int, end: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "victim.py").write_text(VICTIM)
        for number in range(begin, end):
            pipe.send(attempt(seed, number, Path(name)))


def run(tries: int, seed: int) -> Outcome:
    """Try this many files."""
    failures: list[str] = []
    done, spawn = 0, multiprocessing.get_context("spawn")
    while done < tries:
        mine, its = spawn.Pipe(duplex=False)
        worker = spawn.Process(target=work, args=(its, seed, done, tries))
        worker.start()
        its.close()
        with suppress(EOFError):
            while done < tries and mine.poll(PATIENCE):
                found, done = mine.recv(), done + 1
                failures += [found] if found else []
        if done < tries:
            worker.kill()
            failures.append(f"try {done} of seed {seed}: the process hung or crashed")
            done += 1
        worker.join()
    return Outcome("data files", done, tuple(failures))


if __name__ == "__main__":
    sys.exit(main(run, 2_600, __doc__ or ""))
