"""Writes the same texts and labels in every form that is read."""

import csv
import gzip
import json

import pytest

from discotext.victims.registry import load_victim


def make_victim(*labels):
    """A victim with these classes that always predicts the last."""

    def answer(texts):
        return [[0.0, 1.0] for _ in texts]

    answer.labels = labels
    return load_victim(answer)


def write(path, texts, labels, columns=("text", "label")):
    """A table; the ending decides the format."""
    if path.suffix == ".gz":
        plain = write(path.with_suffix(""), texts, labels, columns)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    elif path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(texts, labels, strict=True)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in zip(texts, labels, strict=True)]))
    elif path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow

        parquet.write_table(pyarrow.table({columns[0]: texts, columns[1]: labels}), path)
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t")
            writer.writerows([columns, *zip(texts, labels, strict=True)])
    return path
