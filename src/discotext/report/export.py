"""Records as tables, one row each, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from discotext.report.markup import replace_surrogates
from discotext.runs.record import Record, column_type
from discotext.support.extras import require
from discotext.support.files import atomic_file, describe_write_error, write_atomically

# The order of columns; their types come from the fields of a record, so that an empty column keeps its type.
ORDER = """id solver share allowed accept label label_name predicted predicted_name adversarial_predicted
adversarial_predicted_name status score adversarial_score words
budget changed changes text adversarial_text seed space forwards backwards seconds victim_seconds error tied tolerance
changeable candidates unknown_swaps bounds radius flipped_after verdict reason""".split()
CLASSES = ("label", "predicted", "adversarial_predicted")  # numbers of classes; their names stand beside them
MADE = {"changed": "int64"} | {f"{name}_name": "string" for name in CLASSES}  # what a record does not have itself
COLUMNS = {name: MADE.get(name) or column_type(name) for name in ORDER}


def flatten(records: Iterable[Record], labels: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Records as flat rows: changes become 'old→new; …', and their number stands beside them.

    labels: the names of the classes, if they are known.
    """
    for record in records:
        changes = "; ".join(f"{change.old}→{change.new}" for change in record.changes)
        row = record.as_dict() | {"changes": changes, "changed": len(record.changes)}
        for name in CLASSES:  # there is none where the victim failed
            row[f"{name}_name"] = labels[row[name]] if labels and row[name] is not None else None
        flat = {name: row.get(name) for name in COLUMNS}
        yield {name: replace_surrogates(value) if isinstance(value, str) else value for name, value in flat.items()}


def write_csv(path: Path, records: Iterable[Record], labels: Sequence[str] = ()) -> None:
    """Write rows as CSV in UTF-8 with a heading; what is missing is empty."""
    try:
        with atomic_file(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            writer = csv.DictWriter(text, COLUMNS)
            writer.writeheader()
            writer.writerows(flatten(records, labels))
            text.detach()
    except OSError as error:
        raise ValueError(describe_write_error(path, error)) from None


def write_parquet(path: Path, records: Iterable[Record], labels: Sequence[str] = ()) -> None:
    """Write rows as Parquet."""
    arrow = require("pyarrow", extra="parquet", reason="--parquet")
    parquet = require("pyarrow.parquet", extra="parquet", reason="--parquet")
    schema = arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in COLUMNS.items()])
    content = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(flatten(records, labels)), schema=schema), content)
    write_atomically(path, content.getvalue().to_pybytes())
