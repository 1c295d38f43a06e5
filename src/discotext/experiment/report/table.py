"""One row a record, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from discotext.experiment.work import Record
from discotext.extras import need
from discotext.files import cannot_write, whole_file, write_whole

# Kinds are fixed here: a column that happens to be empty must not change its kind from run to run.
COLUMNS = {
    "id": "int64", "solver": "string", "share": "string", "allowed": "int64", "label": "int64", "predicted": "int64",
    "adversarial_predicted": "int64", "status": "string", "score": "float64", "adversarial_score": "float64",
    "words": "int64", "budget": "int64", "changed": "int64", "changes": "string", "text": "string",
    "adversarial_text": "string", "seed": "int64", "space": "string", "forwards": "int64", "backwards": "int64",
    "seconds": "float64", "victim_seconds": "float64", "error": "string", "tied": "bool", "tolerance": "float64",
    "changeable": "int64", "candidates": "int64", "unknown_swaps": "int64",
    "similarity": "float64", "perplexity_original": "float64", "perplexity": "float64",
}  # fmt: skip


def whole(text: str) -> str:
    """The text with halves of characters, which no file in UTF-8 can hold, marked as missing; as long as before."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def rows(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Records as flat rows: changes become 'old→new; …', and their number stands beside them."""
    for record in records:
        changes = "; ".join(f"{change['old']}→{change['new']}" for change in record["changes"])
        row = {**record, "changes": changes, "changed": len(record["changes"])}
        flat = {name: row.get(name) for name in COLUMNS}
        yield {name: whole(value) if isinstance(value, str) else value for name, value in flat.items()}


def write_csv(path: Path, records: Iterable[Record]) -> None:
    """Write rows as CSV in UTF-8 with a heading; what is missing is empty."""
    try:
        with whole_file(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            writer = csv.DictWriter(text, COLUMNS)
            writer.writeheader()
            writer.writerows(rows(records))
            text.detach()
    except OSError as error:
        raise ValueError(cannot_write(path, error)) from None


def write_parquet(path: Path, records: Iterable[Record]) -> None:
    """Write rows as Parquet."""
    arrow = need("pyarrow", extra="parquet", reason="--parquet")
    parquet = need("pyarrow.parquet", extra="parquet", reason="--parquet")
    schema = arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in COLUMNS.items()])
    content = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(rows(records)), schema=schema), content)
    write_whole(path, content.getvalue().to_pybytes())
