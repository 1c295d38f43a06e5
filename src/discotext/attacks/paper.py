"""The paper's table again: its data, its budgets, its model, its two methods, and what we put beside them.

    IMDB 10 %, AG News 20 %, TREC 20 % of the words; 50 texts of each class (TREC has 9 of one: all of them), and the
    same with more texts, 500 in all, for figures with meaning

The paper takes the nearest words of a counter-fitted space within a ball as candidates and does not say how many: ours
are the 8 nearest, with no other filter. How the states of its LSTM are read is not said either; ours is the LSTM of
`discotext train`. Its "words changed" is our `perturbation_all`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.attacks.job import Job
from discotext.attacks.run import Executor, Watch, run
from discotext.attacks.schedule import Notify, ignore
from discotext.attacks.settings import Settings
from discotext.data.examples import Examples
from discotext.data.registry import load_split
from discotext.runs.record import Record
from discotext.runs.summary import summarise
from discotext.search.solver import Solver
from discotext.solvers import DiscoAdam, DiscoProximal, make_solver
from discotext.text.candidates import make_candidates

if TYPE_CHECKING:
    from discotext.victims.neural.training import ProgressCallback

BUDGETS = {"imdb": "0.1", "ag_news": "0.2", "trec": "0.2"}
# What the paper reports: accuracy before, and after with the share of words changed, for DISCO and for greedy.
PAPER = {
    "imdb": {"before": 0.87, "disco": (0.18, 0.046), "greedy": (0.62, 0.10)},
    "ag_news": {"before": 0.8875, "disco": (0.265, 0.165), "greedy": (0.325, 0.20)},
}
PER_CLASS, TEXTS = 50, 500
TO_THE_END = "left-to-right, to the end"
SLOW = {("imdb", "greedy")}  # half a minute a text: the paper's sample must do


def list_methods() -> dict[str, Solver]:
    """The paper's methods in every reading, and ours."""
    return {
        "disco-proximal": DiscoProximal(),
        "disco-adam": DiscoAdam(),
        "disco-adam, confidence": DiscoAdam(reading="confidence"),
        "disco": make_solver("disco"),
        "left-to-right": make_solver("left-to-right"),
        TO_THE_END: make_solver("left-to-right"),
        "greedy": make_solver("greedy"),
    }


def draw_samples(data: str, per_class: int, texts: int, seed: int) -> dict[str, Examples]:
    """The paper's sample, `per_class` test texts of each class or all there are; and the rest of `texts` in all.

    The rest is drawn class after class alike, as far as classes reach.
    """
    examples = load_split(data, "test")
    order = np.random.default_rng(seed).permutation(len(examples))
    # The number of each text among its class, in this order: the first of each class are the sample.
    labels = examples.labels[order]
    turn = (np.cumsum(labels[:, None] == np.arange(len(examples.names)), axis=0) - 1)[np.arange(len(order)), labels]
    ranked = order[np.argsort(turn, kind="stable")]
    size = int((turn < per_class).sum())
    sample, rest = ranked[:size], ranked[size:texts]
    found = {"sample": examples.take(np.sort(sample)), "rest": examples.take(np.sort(rest))}
    return {name: part for name, part in found.items() if len(part)}


def get_victim(data: str, folder: Path, notify: Notify, progress: ProgressCallback | None = None) -> Path:
    """The LSTM for a data set, trained if it is not there."""
    from discotext.victims.neural.training import train_victim

    path = folder / f"lstm_{data}"
    if not (path / "settings.json").exists():
        notify(f"training an LSTM on {data}")
        train_victim(data, path, settings={"kind": "lstm", "seed": 0}, progress=progress)
    return path


@dataclass(frozen=True)
class PaperRow:
    """The records of one method on one data set."""

    data: str
    method: str
    sample: list[Record]
    rest: list[Record]


def reproduce(
    out: str | Path,
    data: Sequence[str] = tuple(BUDGETS),
    per_class: int = PER_CLASS,
    texts: int = TEXTS,
    seed: int = 0,
    notify: Notify = ignore,
    watch: Watch | None = None,
    executor: Executor | None = None,
    training: ProgressCallback | None = None,
) -> list[PaperRow]:
    """Run the paper's table into a folder; what is there already is not done again.

    training: called with the `TrainingState` of a victim that is being trained.
    """
    found: list[PaperRow] = []
    nearest = make_candidates(["neighbours"], without=["all"])  # as they are
    for name in data:
        victim = str(get_victim(name, Path(out) / "victims", notify, training))
        records: dict[tuple[str, str], list[Record]] = {}
        for part, examples in draw_samples(name, per_class, texts, seed).items():
            for method, solver in list_methods().items():
                if part == "rest" and (name, method) in SLOW:
                    continue
                notify(f"{name}: {len(examples)} texts, {method}")
                folder = Path(out) / name / part / method.replace(", ", "-").replace(" ", "-")
                to_the_end = method == TO_THE_END
                asked = Settings(budget=BUDGETS[name], candidates=nearest, seed=seed, to_the_end=to_the_end)
                job = Job.of(victim, examples, {method: solver}, asked)
                records[part, method] = run(job, folder, watch, executor).records
        found += [PaperRow(name, one, records["sample", one], records.get(("rest", one), [])) for one in list_methods()]
    return found


def make_table(found: Sequence[PaperRow]) -> list[dict[str, Any]]:
    """One row for each data set and method: the paper's sample, then all texts; its figures among them."""
    rows: list[dict[str, Any]] = []
    for whole in (False, True):
        for data in dict.fromkeys(row.data for row in found):
            mine = [row for row in found if row.data == data and (row.rest or not whole)]
            rows += [_make_row(row, whole) for row in mine]
            for method in ("disco", "greedy") if data in PAPER and mine else ():
                said: Any = PAPER[data]
                accuracy, changed = said[method]
                rows.append({"data": data, "method": f"the paper's {method}", "original_accuracy": said["before"],
                             "adversarial_accuracy": accuracy, "perturbation_all": changed})  # fmt: skip
    return rows


def _make_row(row: PaperRow, whole: bool) -> dict[str, Any]:
    records = row.sample + (row.rest if whole else [])
    figures = summarise(records).as_dict()
    kept = "original_accuracy adversarial_accuracy adversarial_accuracy_low adversarial_accuracy_high perturbation_all"
    passes = (figures["forwards"] + figures["backwards"]) / max(figures["attacked"], 1)
    row_of = {"data": row.data, "method": row.method, "n": len(records), "passes": passes}
    return row_of | {key: figures[key] for key in (*kept.split(), "attacked", "seconds")}
