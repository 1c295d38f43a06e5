"""Puts measured results into the docs, between marks, so that pages and measurements cannot drift apart."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks import audit, cluster
from benchmarks.results_file import PICTURES, RESULTS

NAMES = {
    "disco": "`Disco()`",
    "disco-high": '`Disco(effort="high")`',
    "disco, effort 1": "`Disco(effort=1)`",
    "disco, effort 3": "`Disco(effort=3)`",
    "disco-frank-wolfe": '`Disco(method="frank-wolfe")`',
    "disco-adam": '`Disco(method="adam")`',
    "disco-adam, confidence": '`Disco(method="adam", reading="confidence")`',
    "disco-proximal": '`Disco(method="proximal")`',
    "greedy": "`Greedy()`",
    "lazy-greedy": "`LazyGreedy()`",
    "stochastic-greedy": "`StochasticGreedy()`",
    "left-to-right": "`LeftToRight()`",
    "ranked-greedy": "`RankedGreedy()`",
    "gradient-greedy": "`GradientGreedy()`",
    "local-search": "`LocalSearch()`",
    "local-search, random": '`LocalSearch(guide="random")`',
    "beam 4": "`Beam(4)`",
    "beam 8": "`Beam(8)`",
    "random": "`Random(draws=135)`",
}


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def optimality() -> str:
    found = {(row["networks"].split()[0], row["solver"]): row for row in rows_of("optimality")}
    cells = []
    for solver, shown in NAMES.items():
        line = [shown]
        for family in ("relu", "tanh"):
            row = found[family, solver]
            line += [f"{row['hits %']:.1f} %", f"{row['share of gain %']:.1f} %"]
            line += [f"{row['forwards']:.0f}", f"{row['backwards']:.0f}"]
        cells.append(line)
    four = ["share of gain", "forwards", "backwards"]
    return table(["solver", "ReLU: optimum found", *four, "tanh × 3: optimum found", *four], cells)


def short() -> str:
    found = {row["solver"]: row for row in rows_of("optimality") if row["networks"].startswith("relu")}
    cells = []
    shown = ("disco-high", "disco, effort 3", "disco, effort 1", "disco", "disco-frank-wolfe", "beam 8", "greedy")
    for solver in (*shown, "left-to-right"):
        row = found[solver]
        shares = [f"{row['hits %']:.1f} %", f"{row['share of gain %']:.1f} %"]
        cells.append([NAMES[solver], *shares, f"{row['passes']:.0f}"])
    return table(["solver", "optimum found", "share of the optimal gain", "passes"], cells)


def trec_optimum() -> str:
    """Of each solver and number of changes: optima found, what that took, and verdicts that are right."""
    mine = [row for row in rows_of("trec_optimum") if row["split"] == "test" and row["seed"] == 0]
    found = {(row["solver"], row["m"]): row for row in mine}
    budgets = sorted({m for _, m in found})
    lines = []
    for solver in dict.fromkeys(solver for solver, _ in found):
        if any((solver, m) not in found for m in budgets):
            continue
        line = [{**NAMES, "beam": "`Beam(8)`"}.get(solver, f"`{solver}`")]
        for m in budgets:
            row = found[solver, m]
            line += [f"{100 * row['optimum_share']:.1f} %", f"{row['forwards'] + row['backwards']:.0f}"]
            line += [f"{100 * row['verdict_share']:.1f} %", f"{row['goal_forwards'] + row['goal_backwards']:.0f}"]
        lines.append(line)
    four = ["optimum found", "passes", "verdict right", "passes"]
    heads = [f"{m} words: {name}" if not place else name for m in budgets for place, name in enumerate(four)]
    return table(["solver", *heads], lines)


def scaling() -> str:
    """Texts against processor time and memory."""
    lines = [
        [
            f"{row['texts']:,}",
            f"{row['processor seconds']:,.0f}",
            f"{1e3 * row['processor seconds'] / row['texts']:.1f}",
            f"{row['peak MiB']:,.0f}",
        ]
        for row in rows_of("scaling")
        if row["what"] == "texts" and not row["texts done before"]
    ]
    return table(["texts", "processor seconds", "ms a text", "peak MiB"], lines)


def step_cost() -> str:
    cells = [
        [
            row["solver"],
            f"{row['own ms a step']:.1f} ms",
            f"{row['LSTM forward+backward ms']:.0f} ms",
            f"{row['share %']:.1f} %",
        ]
        for row in rows_of("step_cost")
        if "solver" in row
    ]
    return table(["solver", "own time of a step", "LSTM forward + backward", "share"], cells)


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [row for row in rows_of("candidates") if row["what"] == kind]


def resources() -> str:
    rows = [
        [f"`{row['name']}`", f"{row['bytes']:,}", row["from"], row["licence"], f"`{row['sha256']}`"]
        for row in of_kind("file")
    ]
    return table(["file", "bytes", "made from", "licence", "sha256"], rows)


def simlex() -> str:
    rows = [[row["vectors"], f"{row['words']:,}", f"{row['rho']:.3f}", str(row["pairs"])] for row in of_kind("simlex")]
    return table(["vectors", "words", "ρ", "pairs"], rows)


def counterfit() -> str:
    rows = []
    for run in of_kind("fit"):
        held = "held_out" in run
        title = "a fifth held out: " if held else ""
        rows.append([f"{title}SimLex-999, ρ", f"{run['simlex_before']:.3f}", f"{run['simlex_after']:.3f}"])
        part = run["held_out" if held else "fitted"]
        for key, label in (
            ("antonyms_apart", f"{part['antonym_pairs']:,} antonyms, share (nearly) δ apart"),
            ("antonym_distance", "antonyms, mean distance"),
            ("synonym_distance", f"{part['synonym_pairs']:,} synonyms, mean distance"),
            ("synonyms_nearer_than_antonyms", "synonyms nearer than the median antonym"),
        ):
            rows.append(
                [("held-out " if held else "") + label, f"{part['before'][key]:.3f}", f"{part['after'][key]:.3f}"]
            )
    return table(["60,000 words", "before", "after"], rows)


def vectors() -> str:
    found = {
        (row["what"], row["asked"] == row["words"], row["words"]): row for row in rows_of("vectors") if "asked" in row
    }
    kinds = dict.fromkeys((what, whole) for what, whole, _ in found)
    rows = []
    for what, whole in kinds:
        cells = [found.get((what, whole, words)) for words in (20_000, 60_000, 200_000)]
        asked = next(row["asked"] for row in cells if row)
        label = what if whole else f"{what}, for {asked:,} words"
        rows.append(
            [label, *(f"{row['seconds']:.2g} s, {row['MB above imports']:,.0f} MB" if row else "" for row in cells)]
        )
    return table(["", "20,000 words", "60,000", "200,000"], rows)


def tagging() -> str:
    rows = [
        [
            row["set"],
            f"{100 * row['same_tag']:.1f} %",
            f"{100 * row['same_class']:.1f} %",
            f"{row['light_words_per_second']:,}",
            f"{row['spacy_words_per_second']:,}",
        ]
        for row in rows_of("tagging")
        if row["set"].endswith("_test")
    ]
    return table(["texts", "same tag", "same part of speech", "words/s, ours", "words/s, spaCy"], rows)


def audited() -> str:
    rows = [
        [name, str(pairs), f"{100 * share:.1f} %", f"{100 * low:.1f} to {100 * high:.1f}"]
        for name, pairs, share, low, high in audit.shares()
    ]
    return table(["sentences of", "pairs", "accepted", "95 % interval"], rows)


def training() -> str:
    rows = [
        [
            f"`{row['model']}`",
            row["data"],
            f"{row['train_rows']:,}",
            f"{100 * row['test_accuracy']:.1f} %",
            f"{100 * row['test_accuracy_low']:.1f} to {100 * row['test_accuracy_high']:.1f}",
            f"{row['seconds']:.0f} s",
        ]
        for row in rows_of("training")
    ]
    return table(["model", "data", "learnt from", "test accuracy", "95 % interval", "training"], rows)


def throughput() -> str:
    rows = [
        [row["victim"], row["call"], f"{row['texts/s']:,.0f}", f"{row['bare texts/s']:,.0f}", f"{row['share %']:.0f} %"]
        for row in rows_of("throughput")
    ]
    return table(["victim", "call", "texts/s", "bare model", "share"], rows)


def cluster_rates() -> str:
    """The middle round of each way to work, and Ray beside what it is compared with, round by round."""
    rows = [row for row in rows_of("cluster") if row["what"] == "rate"]
    beside = {(row["Ray"], row["of"]): row for row in cluster.ratios(rows)}
    lines = []
    for mode in cluster.MODES:
        mine = [row for row in rows if row["mode"] == mode]
        seconds, start, rate = (
            statistics.median(row[key] for row in mine)
            for key in ("seconds", "seconds of one unit", "texts/s after the first")
        )
        found = [beside.get((mode, of)) for of in ("after the first unit", "whole run")]
        ratios = [f"{row['rate']:.2f} ({row['rounds']})" if row else "" for row in found]
        other = found[0]["beside"] if found[0] else ""
        lines.append([mode, f"{seconds:.0f}", f"{start:.1f}", f"{rate:.0f}", other, *ratios])
    heads = ["who", "seconds in all", "of which the first unit", "texts/s after it", "beside", "rate after it"]
    return table([*heads, "rate of the whole run"], lines)


def cluster_memory() -> str:
    lines = [
        [
            f"{row['texts']:,}",
            f"{row['MB of texts']:.0f}",
            f"{row['peak MiB']:,.0f}",
            f"{row['seconds']:,.0f}",
            f"{row['driver seconds']:.0f}",
        ]
        for row in rows_of("cluster")
        if row["what"] == "memory"
    ]
    return table(["texts", "MB of texts", "MiB at most", "seconds", "of the driver's processor"], lines)


def put(page: Path, name: str, text: str) -> None:
    """Write a text between the marks of this name."""
    begin, end = f"<!-- {name} -->\n", "\n<!-- end -->"
    before, rest = page.read_text().split(begin, 1)
    # Where nothing stands between the marks yet, the end follows at once.
    after = ("\n" + rest).split(end, 1)[1]
    page.write_text(before + begin + text + end + after)


def main() -> None:
    docs = PICTURES.parent
    for page, name, text in (
        (docs / "victims.md", "training", training()),
        (docs / "victims.md", "throughput", throughput()),
        (docs / "candidates.md", "example", "```text\n" + of_kind("example")[0]["output"].rstrip() + "\n```"),
        (docs / "candidates.md", "resources", resources()),
        (docs / "candidates.md", "simlex", simlex()),
        (docs / "candidates.md", "counterfit", counterfit()),
        (docs / "candidates.md", "vectors", vectors()),
        (docs / "candidates.md", "tagging", tagging()),
        (docs / "candidates.md", "audit", audited()),
        (docs / "cluster.md", "cluster-rates", cluster_rates()),
        (docs / "cluster.md", "cluster-memory", cluster_memory()),
        (docs / "solvers.md", "optimality", optimality()),
        (docs / "solvers.md", "step-cost", step_cost()),
        (docs / "solvers.md", "trec-optimum", trec_optimum()),
        (docs / "solvers.md", "scaling", scaling()),
        (docs.parent / "README.md", "short", short()),
    ):
        put(page, name, text)


if __name__ == "__main__":
    main()
