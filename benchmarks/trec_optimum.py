"""How often do solvers find the true optimum on real text? TREC questions with all their allowed texts enumerated.

    python -m benchmarks.trec_optimum --victim victims/lstm_trec --cache truth_test                        the report
    python -m benchmarks.trec_optimum --victim victims/lstm_trec --split train --cache truth_train \\
        --solver disco-high --words 3 --out trial.jsonl                                                    to tune

Of 500 questions (the whole test split), the benchmark takes those that the victim classifies correctly and that have
more than 1,000 and at most 200,000 allowed texts, so that enumeration is feasible. Candidates are the nearest words in
the embedded vectors that the victim knows, without any other filter: 8 per word at first, and two more until there are
at least 100 such questions. All of them are measured.

The truth comes from scoring every allowed text. It is stored in the file --cache, one line per question, so that an
interrupted run can be resumed with the same command. Every solver then gets the same problems

    without a goal  does it reach the best score?
    with the goal 0 does it find out whether the label can be flipped, and with the fewest words?

The last bits of a network's score depend on the shape of the call, so a score counts as optimal if it is within 1e-5 of
the optimum (relative, for scores above 1). Each run measures these differences, and how many questions have a
second-best text within the tolerance (`noise` and `ties`). Rows of the same solver in --out are replaced.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.results_file import RESULTS, provenance, show
from discotext import solve
from discotext.core import Untargeted
from discotext.core.objectives import predictions
from discotext.core.oracle import Oracle
from discotext.core.problem import Batch, Solution
from discotext.core.wrappers import Chunked
from discotext.data import load_data
from discotext.data.examples import Examples
from discotext.search.solver import Solver
from discotext.solvers import Disco, make_solver
from discotext.solvers.exact import level_rows
from discotext.support.extras import flush_denormals_globally
from discotext.support.intervals import wilson
from discotext.text import Space
from discotext.text.candidates import make_candidates
from discotext.victims import load_victim
from discotext.victims.victim import Victim

WORDS = (2, 3)
SOLVERS = ("disco", "disco-high", "disco, effort 3", "greedy", "local-search", "beam")
POOL = 500  # questions considered: the size of the test split, also for training questions
NEIGHBOURS = range(8, 25, 2)  # candidates per word: from the default to all that the source proposes
CELLS = 8_192  # words in one call; on one thread, larger calls of this network are slower
TOLERANCE = 1e-5
COLUMNS = {
    "m": "m",
    "solver": "solver",
    "n": "n",
    "optimum_share": "optimum",
    "optimum_low": "from",
    "optimum_high": "to (95 %)",
    "gain_share": "gain",
    "forwards": "forwards",
    "backwards": "backwards",
    "seconds": "s",
    "verdict_share": "verdict",
    "fewest_share": "fewest words",
    "goal_forwards": "goal: forwards",
    "goal_backwards": "goal: backwards",
    "goal_seconds": "goal: s",
}


@dataclass(frozen=True)
class Truth:
    """The result of enumerating one question.

    texts: how many were scored. best: the best score with at most 0, 1, … changes. choice: the best text.
    second: the score of the next best.
    """

    texts: int
    best: tuple[float, ...]
    choice: tuple[int, ...]
    second: float

    @property
    def optimum(self) -> float:
        return self.best[-1]

    @property
    def fewest(self) -> int | None:
        """The fewest changes that flip the label, or None."""
        return next((changes for changes, score in enumerate(self.best) if score >= 0), None)

    @property
    def tolerance(self) -> float:
        return TOLERANCE * max(1.0, abs(self.optimum))


def enumerate_texts(oracle: Oracle, batch: Batch, watch: Callable[[int], None] = lambda texts: None) -> Truth:
    """Score every allowed text of the one problem of a batch."""
    everyone, choice = np.zeros(1, dtype=np.int64), batch.originals()[0]
    chunked = Chunked(oracle, batch, CELLS)
    top = np.array([-np.inf, float(chunked.score(everyone, batch.originals())[0])])  # the two best, rising
    texts, best = 1, [float(top[1])]
    watch(1)
    for changes in range(1, int(batch.budgets[0]) + 1):
        for problems, choices in level_rows(batch, everyone, changes):
            scores = chunked.score(problems, choices)
            if scores.max() > top[1]:
                choice = choices[scores.argmax()]
            top = np.sort(np.concatenate([top, scores]))[-2:]
            texts += len(scores)
            watch(len(scores))
        best.append(float(top[1]))
    return Truth(texts, tuple(best), tuple(choice[: batch.sizes[0]].tolist()), float(top[0]))


class TruthFile:
    """Truths by the hash of their search space (text, candidates, budget), one per line, append-only."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.known = path, dict[str, Truth]()
        if path is None or not path.exists():
            return
        if not path.is_file():
            raise ValueError(f"--cache is {path}, which is not a file; name a file for the enumerated results")
        *lines, cut_off = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                best, choice = tuple(found["best"]), tuple(found["choice"])
                self.known[found["space"]] = Truth(found["texts"], best, choice, found["second"])
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{path}, line {number} was not written by this benchmark; name another file with --cache"
                ) from None
        if cut_off:
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def add(self, space: str, truth: Truth) -> None:
        self.known[space] = truth
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"space": space, **asdict(truth)}) + "\n")


@dataclass(frozen=True, eq=False)
class Questions:
    """The questions that are measured, and how many were left out for which reason."""

    space: Space
    labels: list[int]
    candidates: int
    left_out: dict[str, int]

    def __len__(self) -> int:
        return len(self.labels)

    def oracle(self, victim: Victim, numbers: Sequence[int] | None = None) -> tuple[Oracle, Space]:
        """Some of the questions (default: all) as an oracle and its search space."""
        chosen = range(len(self)) if numbers is None else numbers
        space = self.space.take(chosen)
        return victim.oracle(space, Untargeted([self.labels[number] for number in chosen])), space


def widen_candidates(victim: Victim, examples: Examples, words: int, wanted: int, least: int, most: int) -> Questions:
    """Add candidates until enough questions have more than `least` and at most `most` allowed texts."""
    right = examples.take(np.flatnonzero(predictions(victim.scores(examples.texts)) == examples.labels))
    found = 0
    for candidates in NEIGHBOURS:
        finder = make_candidates(sources=["neighbours"], without=["all"], per_word=candidates)
        space = Space.of(right.texts, finder.restrict_to(getattr(victim, "vocabulary", None)), words=words)
        texts = np.array([space.batch[number].feasible_choices for number in range(len(space))], dtype=np.float64)
        chosen = np.flatnonzero((texts > least) & (texts <= most)).tolist()
        found = max(found, len(chosen))
        if len(chosen) >= wanted:
            left_out = {
                "misclassified": len(examples) - len(right),
                f"not more than {least:,} texts": int((texts <= least).sum()),
                f"more than {most:,} texts": int((texts > most).sum()),
            }
            return Questions(space.take(chosen), right.labels[chosen].tolist(), candidates, left_out)
    raise ValueError(
        f"at most {found} of {len(examples)} questions have {least + 1:,} to {most:,} texts with {words} words changed "
        f"and up to {NEIGHBOURS[-1]} candidates a word; lower --questions, which is {wanted}"
    )


def load_truths(victim: Victim, questions: Questions, file: TruthFile, progress: Progress) -> list[Truth]:
    """The truth of each question, from the file or by enumeration."""
    hashes = [questions.space.take([number]).hash for number in range(len(questions))]
    new = [number for number, name in enumerate(hashes) if name not in file.known]
    total = sum(questions.space.batch[number].feasible_choices for number in new)
    if new:
        task = progress.add_task(f"enumerating {len(new)} questions", total=total)
        for number in new:
            oracle, space = questions.oracle(victim, [number])
            file.add(hashes[number], enumerate_texts(oracle, space.batch, lambda texts: progress.advance(task, texts)))
    return [file.known[name] for name in hashes]


def noise(victim: Victim, questions: Questions, truths: Sequence[Truth]) -> float:
    """How much the best scores differ between single and joint calls, relative to max(1, |score|)."""
    oracle, space = questions.oracle(victim)
    choices = space.batch.originals()
    for row, truth in enumerate(truths):
        choices[row, : len(truth.choice)] = truth.choice
    rows = np.arange(len(truths))
    again = [
        oracle.score(rows, choices),
        np.concatenate([oracle.score(rows[i : i + 1], choices[i : i + 1]) for i in rows]),
    ]
    then = np.array([truth.optimum for truth in truths])
    worst = np.abs(np.array(again) - then).max(axis=0) / np.maximum(1.0, np.abs(then))
    if worst.max() > TOLERANCE:
        row = int(worst.argmax())
        raise ValueError(
            f"the best text of a question scores {again[1][row]:.7g}, but {then[row]:.7g} when it was enumerated; the "
            f"shape of a call explains no more than {TOLERANCE:g}, so --cache may belong to another victim; "
            "name another file"
        )
    return float(worst.max())


def shares(found: Sequence[Solution], aimed: Sequence[Solution], truths: Sequence[Truth]) -> dict[str, float | None]:
    """How often solutions without a goal are optimal, and how often solutions with the goal 0 have the right verdict.

    fewest_share: of the flipped questions, those flipped with the fewest words (None if none was flipped).
    """
    hits = [
        tuple(one.choice.tolist()) == truth.choice or one.score >= truth.optimum - truth.tolerance
        for one, truth in zip(found, truths, strict=True)
    ]
    verdicts = [one.reached == (truth.fewest is not None) for one, truth in zip(aimed, truths, strict=True)]
    fewest = [one.changes == truth.fewest for one, truth in zip(aimed, truths, strict=True) if one.reached]
    gains = [
        (one.score - truth.best[0], truth.optimum - truth.best[0]) for one, truth in zip(found, truths, strict=True)
    ]
    low, high = wilson(sum(hits), len(hits))
    return {
        "optimum_share": sum(hits) / len(hits),
        "optimum_low": low,
        "optimum_high": high,
        "gain_share": float(np.mean([gain / most if most > 0 else 1.0 for gain, most in gains])),
        "verdict_share": sum(verdicts) / len(verdicts),
        "fewest_share": sum(fewest) / len(fewest) if fewest else None,
    }


def parse_solver(name: str) -> Solver:
    """Make the solver of a name, or of "disco, effort NUMBER"."""
    kind, _, effort = name.partition(", effort ")
    if kind == "disco" and effort:
        try:
            return Disco(effort=float(effort))
        except ValueError:
            raise ValueError(f"there is no solver {name!r}; give a number above 0, as in 'disco, effort 3'") from None
    return make_solver(name)


def measure(victim: Victim, questions: Questions, truths: Sequence[Truth], name: str, seed: int) -> dict[str, Any]:
    """Run one solver on all questions; passes are per question, seconds for all of them."""
    oracle, space = questions.oracle(victim)
    row: dict[str, Any] = {}
    runs = []
    for prefix, goal in (("", None), ("goal_", 0.0)):
        began = time.perf_counter()
        run = solve(space.batch, oracle, parse_solver(name), goal=goal, seed=seed)
        row[f"{prefix}seconds"] = time.perf_counter() - began
        row[f"{prefix}forwards"] = float(np.mean([one.forwards for one in run]))
        row[f"{prefix}backwards"] = float(np.mean([one.backwards for one in run]))
        runs.append(run)
    return {**shares(runs[0], runs[1], truths), **row}


def keep(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Store rows in a file, replacing those of the same measurement; all others stay as they are."""
    key = ("data", "split", "victim", "m", "solver", "seed")
    old = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    merged = {tuple(row.get(name) for name in key): row for row in [*old, *rows]}
    path.write_text("".join(json.dumps(row) + "\n" for row in merged.values()))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trec_optimum",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--victim", default="victims/lstm_trec", help="a victim trained on TREC (%(default)s)")
    add("--split", choices=["test", "train"], default="test", help="use test texts for the report only, never to tune")
    add("--words", type=int, action="append", help="number of words that may change; repeatable (2 and 3)")
    add("--solver", action="append", help="run only this solver, a name or 'disco, effort NUMBER'; repeatable")
    add("--questions", type=int, default=100, help="add candidates until there are this many questions (%(default)s)")
    add("--least", type=int, default=1_000, help="lower limit for the allowed texts of a question (%(default)s)")
    add("--most", type=int, default=200_000, help="upper limit (%(default)s)")
    add("--cache", type=Path, help="file for enumerated results")
    add("--truth-only", action="store_true", help="enumerate only, and run no solver")
    add("--seed", type=int, default=0, help="random seed of the solvers (%(default)s)")
    add("--pool-seed", type=int, default=0, help="random seed of the sample of 500 training questions (%(default)s)")
    add("--out", type=Path, default=RESULTS / "trec_optimum.jsonl", help="file for results")
    options = parser.parse_args(given)
    for name, least in (("questions", 1), ("least", 0), ("most", 1), ("seed", 0), ("pool_seed", 0)):
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} is {getattr(options, name)}; choose {least} or more")
    for words in options.words or ():
        if words < 1:
            parser.error(f"--words is {words}; choose 1 or more")
    for solver in options.solver or ():
        try:
            parse_solver(solver)
        except ValueError as error:
            parser.error(str(error))
    return options


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the benchmark; each row is stored as soon as it is measured."""
    victim = load_victim(options.victim)
    examples = load_data("trec", options.split).sample(POOL, options.pool_seed)
    file, console = TruthFile(options.cache), Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    rows = []
    for words in options.words or WORDS:
        questions = widen_candidates(victim, examples, words, options.questions, options.least, options.most)
        with Progress(*columns, console=console) as progress:
            truths = load_truths(victim, questions, file, progress)
        about = {
            "data": "trec",
            "split": options.split,
            "victim": Path(victim.name).name,
            "m": words,
            "n": len(questions),
            "candidates": questions.candidates,
            "left_out": questions.left_out,
            "texts": sum(truth.texts for truth in truths),
            "can_be_turned": sum(truth.fewest is not None for truth in truths),
            "noise": noise(victim, questions, truths),
            "ties": sum(truth.second >= truth.optimum - truth.tolerance for truth in truths),
            "space": questions.space.hash,
        }
        console.print(
            f"{words} words: {len(questions)} of {len(examples)} questions, {questions.candidates} candidates each, "
            f"{about['texts']:,} texts, {about['can_be_turned']} can be flipped; left out: "
            + ", ".join(f"{count} {reason}" for reason, count in questions.left_out.items())
            + f"; repeated scores differ by at most {about['noise']:.1e}, {about['ties']} ties within {TOLERANCE:g}"
        )
        for name in () if options.truth_only else options.solver or SOLVERS:
            console.print(f"{words} words: {name} …")
            found = measure(victim, questions, truths, name, options.seed)
            rows.append({**about, "solver": name, **found, "seed": options.seed, **provenance()})
            keep(options.out, rows[-1:])
    return rows


def main(given: Sequence[str] | None = None) -> None:
    flush_denormals_globally()
    options = arguments(given)
    try:
        rows = run(options)
    except (ValueError, TypeError) as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(
            "interrupted; with --cache, enumerated results are kept and the same command resumes"
        ) from None
    if rows:
        shown = [{heading: row[name] for name, heading in COLUMNS.items()} for row in rows]
        show(f"TREC, {options.split}: is the enumerated optimum found?", shown)


if __name__ == "__main__":
    main()
