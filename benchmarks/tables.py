"""Writes measured results into the docs, between markers, so that pages and measurements cannot drift apart.

    python -m benchmarks.tables

Every table and sentence is followed by the date, commit and machine of its measurement. `tests/test_docs.py` fails when
a page does not show what the results files hold.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import cluster
from benchmarks.results_file import PICTURES, load

NAMES = {
    "disco": "`Disco()`",
    "disco-high": '`Disco(effort="high")`',
    "disco, effort 1": "`Disco(effort=1)`",
    "disco, effort 3": "`Disco(effort=3)`",
    "disco-frank-wolfe": "`DiscoFrankWolfe()`",
    "disco-adam": "`DiscoAdam()`",
    "disco-adam, confidence": '`DiscoAdam(reading="confidence")`',
    "disco-proximal": "`DiscoProximal()`",
    "greedy": "`Greedy()`",
    "left-to-right": "`LeftToRight()`",
    "ranked-greedy": "`RankedGreedy()`",
    "gradient-greedy": "`GradientGreedy()`",
    "local-search": "`LocalSearch()`",
    "local-search, random": '`LocalSearch(guide="random")`',
    "beam 4": "`Beam(4)`",
    "beam 8": "`Beam(8)`",
    "random": "`Random(draws=135)`",
}


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def origin(name: str, rows: Iterable[Mapping[str, Any]] | None = None) -> str:
    """When, at which commit and on which machine results were measured, as a line below a table."""
    chosen = [row for row in (load(name) if rows is None else rows) if "date" in row]

    def every(key: str) -> str:
        return ", ".join(sorted({str(row[key]) for row in chosen if row.get(key)}))

    versions: dict[str, set[str]] = {}
    for row in chosen:
        for package, version in row.get("versions", {}).items():
            if isinstance(version, str):
                versions.setdefault(package, set()).add(version)
    with_versions = ", ".join(f"{package} {'/'.join(sorted(found))}" for package, found in sorted(versions.items()))
    commits = ", ".join(f"`{one}`" for one in every("commit").split(", "))
    return (
        f"*Measured {every('date')} at commit {commits} on {every('machine')} ({with_versions}); "
        f"`benchmarks/results/{name}.jsonl`.*"
    )


def optimality() -> str:
    found = {(row["networks"].split()[0], row["solver"]): row for row in load("optimality")}
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


def trec_optimum() -> str:
    """Of each solver and number of changes: optima found, what that took, and verdicts that are right."""
    mine = [row for row in load("trec_optimum") if row["split"] == "test" and row["seed"] == 0]
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
        for row in load("scaling")
        if row["what"] == "texts" and not row["texts done before"]
    ]
    return table(["texts", "processor seconds", "ms per text", "peak MiB"], lines)


def step_cost() -> str:
    cells = [
        [
            row["solver"],
            f"{row['own ms a step']:.1f} ms",
            f"{row['LSTM forward+backward ms']:.0f} ms",
            f"{row['share %']:.1f} %",
        ]
        for row in load("step_cost")
        if "solver" in row
    ]
    return table(["solver", "own time of a step", "LSTM forward + backward", "share"], cells)


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [row for row in load("candidates") if row["what"] == kind]


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


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _acceptance(rows: list[dict[str, Any]], first: str, name: Callable[[dict[str, Any]], str]) -> str:
    cells = [
        [
            name(row),
            _share(row["words"]),
            f"{row['per word']:.2f}",
            f"**{100 * row['acceptable']:.1f} %**",
            f"{100 * row['low']:.0f} to {100 * row['high']:.0f}",
            _share(row["promised"]),
        ]
        for row in rows
    ]
    return table([first, "words", "offers per word", "acceptable", "95 % interval", "promised"], cells)


def acceptability() -> str:
    rows = [row for row in load("acceptability") if row["what"] == "level"]
    return _acceptance(rows, "scorer", lambda row: f"`{row['scorer']}`, `--accept {row['accept']:g}`")


def acceptability_parts() -> str:
    rows = [row for row in load("acceptability") if row["what"] == "part"]
    return _acceptance(rows, "scorer", lambda row: f"`{row['scorer']}`, {row['part'].lower()} ({row['targets']})")


def acceptability_f10() -> str:
    rows = [row for row in load("acceptability") if row["what"] == "F10"]
    cells = [[f"`{row['scorer']}`", f"{row['accept']:g}", f"{row['F10']:.3f}"] for row in rows]
    return table(["scorer", "`--accept`", "F10"], cells)


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def certificates() -> str:
    """Brackets of all cells."""
    rows = []
    for row in (one for one in load("certificates") if one["what"] == "bracket"):
        budget = f"{100 * row['budget']:g} %" if isinstance(row["budget"], float) else str(row["budget"])
        ratio = row["enumeration"] / row["proof_passes"] if row["proof_passes"] and row["enumeration"] else None
        rows.append(
            [
                f"{row['victim']}, {row['data']}",
                row["candidates"] if row["limit"] == 1000 else f"{row['candidates']}, {row['limit']:,} passes",
                budget,
                f"{row['n']}",
                _points(row["clean"]),
                f"{_points(row['certified'])} ({'–'.join(map(_points, row['certified_interval']))})",
                _points(row["attacked"]),
                _points(row["bracket"]),
                f"{row['passes']:.0f}",
                f"{1000 * row['seconds']:.0f}",
                "–" if ratio is None else f"{ratio:,.0f}",
            ]
        )
    headings = ["victim, data", "candidates", "words", "texts", "clean", "certified (95 %)", "attacked", "bracket"]
    return table([*headings, "passes a text", "ms a text", "proof"], rows)


def certificate_checks() -> str:
    """How many certificates were checked, and how many were wrong."""
    every = load("certificates")
    small = [row for row in every if row["what"] == "check"]
    large = {row["cell"]: row for row in every if row["what"] == "bracket"}
    draws, wrong = (sum(row[name] for row in large.values()) for name in ("random_choices", "wrong"))
    lines = [
        f"- {row['bounds']}: {row['certificates']:,} certificates of small problems against every choice there is: "
        f"{row['wrong']} wrong."
        for row in small
    ]
    lines.append(f"- The certificates of the table: {draws:,} random choices within what is certified: {wrong} flip.")
    return "\n".join(lines)


def queries() -> str:
    """What is left of the accuracy of victims without gradients, and what that took."""
    rows = []
    for row in load("queries"):
        learning = f" + {row['learning']:.1f}" if row["learning"] else ""
        within = [f"{100 * row['curve'][step]:.0f}" for step in ("20", "50", "100", "500")]
        tested = "" if row["solver"] == "disco" else f"{row['p']:.2g}"
        rows.append(
            [
                row["cell"].replace("-", ", "),
                f"`{row['solver']}`",
                _points(row["left"]),
                f"{row['queries']:.0f}{learning}",
                *within,
                tested,
            ]
        )
    headings = ["data, victim", "solver", "accuracy left", "queries/text", "% flipped in 20", "50", "100", "500", "p"]
    return table(headings, rows)


def decoding() -> str:
    """What each search finds of the optimum of networks of random words, and at what price."""
    found = [row for row in load("decoding") if "gap" in row]

    def compare(cells: list[str]) -> str:
        rows = []
        for solver in dict.fromkeys(row["solver"] for row in found if row["cell"] in cells):
            here = {row["cell"]: row for row in found if row["solver"] == solver}
            shown = (
                f"{100 * row['optimum']:.0f} / {100 * row['gap']:.1f} / {row['passes']:,.0f}" if row else ""
                for row in map(here.get, cells)
            )
            rows.append([solver, *shown])
        return table(["optimum found % / gap % / passes", *cells], rows)

    cells = [cell for cell in dict.fromkeys(row["cell"] for row in found) if "masked" not in cell]
    causal = [cell for cell in cells if cell.startswith("causal")]
    trigram = [cell for cell in cells if cell not in causal]
    counts = [next(row["n"] for row in found if row["cell"] in some) for some in (trigram, causal)]
    speed = next(row for row in load("decoding") if row["cell"] == "speed")
    return (
        f"Trigram model, 20 candidates at every position, {counts[0]} networks each.\n\n"
        f"{compare(trigram)}\n\n"
        f"A causal transformer (SmolLM2, 135 million parameters), 16 candidates, {counts[1]} networks each. The "
        "optimum is not known; gaps are to the best that any search here has found.\n\n"
        f"{compare(causal)}\n\n"
        f"With five candidates at a quarter of the positions, Viterbi decodes {speed['rate']:,.0f} words a minute on "
        f"one core ({speed['n']:,} sentences of 10 to 30 words, the check of every answer included)."
    )


def hardening() -> str:
    """Both models of every hardening, on the same test texts."""
    rows = []
    for row in load("hardening"):
        test = row["test"]
        pairs = [
            (test[f"{name}_before"], test[f"{name}_after"]) for name in ("clean", "attacked", "certified", "worst")
        ]
        interval = f"({_points(test['attacked_after_low'])}–{_points(test['attacked_after_high'])})"
        shown = [f"{_points(before)} → {_points(after)}" for before, after in pairs]
        shown[1] += f" {interval}"
        rows.append(
            [
                row["cell"].replace("-", ", "),
                f"`{row['chosen']}`",
                *shown,
                "–" if row["cost"] is None else f"{row['cost']:.1f}",
            ]
        )
    headings = ["data, model", "chosen", "clean", "attacked", "certified", "worst", "training, times"]
    return table(headings, rows)


def training() -> str:
    """Large data sets only: how small ones are trained has changed since these were measured."""
    rows = [
        [
            f"`{row['model']}`",
            row["data"],
            f"{row['train_rows']:,}",
            f"{100 * row['test_accuracy']:.1f} %",
            f"{100 * row['test_accuracy_low']:.1f} to {100 * row['test_accuracy_high']:.1f}",
            f"{row['seconds']:.0f} s",
        ]
        for row in load("training")
        if row["train_rows"] >= 20_000
    ]
    return table(["model", "data", "trained on", "test accuracy", "95 % interval", "training time"], rows)


def throughput() -> str:
    rows = [
        [row["victim"], row["call"], f"{row['texts/s']:,.0f}", f"{row['bare texts/s']:,.0f}", f"{row['share %']:.0f} %"]
        for row in load("throughput")
    ]
    return table(["victim", "call", "texts/s", "bare model", "share"], rows)


def cluster_rates() -> str:
    """The middle round of each way to work, and Ray beside what it is compared with, round by round."""
    rows = [row for row in load("cluster") if row["what"] == "rate"]
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
    heads = ["executor", "seconds", "first unit, s", "texts/s after it", "compared with", "rate ratio after it"]
    return table([*heads, "rate ratio of the whole run"], lines)


def cluster_memory() -> str:
    lines = [
        [
            f"{row['texts']:,}",
            f"{row['MB of texts']:.0f}",
            f"{row['peak MiB']:,.0f}",
            f"{row['seconds']:,.0f}",
            f"{row['driver seconds']:.0f}",
        ]
        for row in load("cluster")
        if row["what"] == "memory"
    ]
    return table(["texts", "MB of texts", "peak MiB", "seconds", "CPU seconds of the driver"], lines)


def demo() -> str:
    """What `discotext demo` finds, a row per solver."""
    rows = [
        [
            f"`{row['solver']}`",
            f"{100 * row['original_accuracy']:.1f} %",
            f"{100 * row['adversarial_accuracy']:.1f} %",
            f"{100 * row['adversarial_accuracy_low']:.1f} to {100 * row['adversarial_accuracy_high']:.1f}",
            f"{100 * row['success_rate']:.1f} %",
            f"{100 * row['optimal']:.1f} %",
            f"{(row['forwards'] + row['backwards']) / row['attacked']:.0f}",
        ]
        for row in load("demo")
    ]
    heads = ["solver", "accuracy before", "after", "95 % interval", "success", "proved", "passes per text"]
    return table(heads, rows)


def memory() -> str:
    """What a step takes where one list of candidates is long, beside lists of equal length."""
    even, uneven = (row for row in load("step_cost") if "shape" in row)
    return (
        f"Memory grows with the number of candidates and not with the padded size: a batch with one long list of "
        f"candidates per problem, whose padded size is {uneven['padded'] / even['padded']:.0f} times as large, takes "
        f"{uneven['peak MB']:.0f} MB in a step, and one with lists of equal length {even['peak MB']:.0f} MB."
    )


def shapes() -> str:
    """Words, candidates and budget against passes and time."""
    lines = [
        [
            row["grows"],
            str(row["words"]),
            str(row["candidates"]),
            str(row["budget"]),
            f"{row['passes a text']:.0f}",
            f"{1e3 * row['processor seconds a text']:.0f}",
            f"{row['us a pass and word']:.1f}",
        ]
        for row in load("scaling")
        if row["what"] == "shape"
    ]
    heads = ["what grows", "words", "candidates per word", "budget", "passes per text", "ms per text"]
    return table([*heads, "µs per pass and word"], lines)


def paper() -> str:
    """The paper's table: ours, and the paper's own figures below."""

    def percent(row: Mapping[str, Any], key: str) -> str:
        value = row.get(key)
        return "–" if value is None else f"{value:g} %" if key == "before %" else f"{value:.1f} %"

    lines, last = [], ""
    for row in load("paper"):
        cell = f"{row['data']}, {100 * row['budget']:g} %"
        ours = "low %" in row
        interval = f"{row['low %']:.1f} to {row['high %']:.1f}" if ours else ""
        figures = [percent(row, key) for key in ("before %", "after %")]
        figures += [percent(row, "after, 500 texts %") if ours else "", interval, percent(row, "words changed %")]
        lines.append(["" if cell == last else cell, row["method"], *figures, f"{row['passes']:,.0f}" if ours else ""])
        last = cell
    heads = ["data, budget", "method", "before", "after, 50 per class", "after, 500 texts", "95 % interval"]
    return table([*heads, "words changed", "passes per text"], lines)


def tuning() -> str:
    """Each constant of the search halved and doubled, on three yardsticks."""
    goals = {(row["constant"], row["change"]): row for row in load("tuning_goals")}
    lines = []
    for row in load("tuning"):
        name = f"`{row['constant']}` {row['change']}" if row["constant"] else "as it is"
        line = [name]
        other = goals[row["constant"], row["change"]]
        for effort in ("default", "high"):
            line += [f"{row[f'{effort}: optimum %']:.1f} %", f"{row[f'{effort}: passes']:,.0f}"]
            line += [f"{other[f'{effort}: reached']}", f"{other[f'{effort}: changes']:.2f}"]
            line += [f"{other[f'{effort}: passes']:,.0f}", f"{row[f'{effort}: passes, texts']:,.0f}"]
        lines.append(line)
    heads = ["optimum found", "passes", "goal reached", "changes", "passes", "reviews: passes"]
    return table(["constant", *heads, *(f"high: {head}" for head in heads)], lines)


def put(page: Path, name: str, text: str) -> None:
    """Write a text between the markers of this name."""
    page.write_text(replace(page.read_text(), name, text))


def replace(content: str, name: str, text: str) -> str:
    """A page with a text between the markers of this name."""
    begin, end = f"<!-- {name} -->\n", "\n<!-- end -->"
    if begin not in content:
        raise ValueError(f"there is no marker <!-- {name} --> in the page")
    before, rest = content.split(begin, 1)
    # Where nothing stands between the markers yet, the end follows at once.
    after = ("\n" + rest).split(end, 1)[1]
    return before + begin + text + end + after


def spelling() -> str:
    """Of each corrector what it finds and what it breaks."""
    found = {(row["system"], row["data"]): row for row in load("spelling")}
    systems = sorted(
        dict.fromkeys(row["system"] for row in load("spelling")), key=lambda name: not name.startswith("discotext")
    )
    cells = [["*uncorrected*"] + [""] * 6]
    for data in ("holbrook", "jfleg", "ocr_acl"):
        cells[0] += [f"{100 * found['discotext', data]['WER before']:.2f} %"]
    cells[0] += ["", ""]
    for system in systems:
        line = [system]
        for data in ("holbrook", "jfleg"):
            row = found.get((system, data), {})
            line += [f"{row[key]:.2f}" if key in row else "" for key in ("F0.5", "precision", "recall")]
        rates = (found.get((system, data), {}).get("WER") for data in ("holbrook", "jfleg", "ocr_acl"))
        line += ["" if rate is None else f"{100 * rate:.2f} %" for rate in rates]
        made = (found.get((system, data), {}).get("changes of 1,000") for data in ("imdb", "ag_news"))
        line += ["" if number is None else f"{number:.2f}" for number in made]
        cells.append(line)
    three = ["precision", "recall"]
    headings = ["corrector", "pupils: F0.5", *three, "learners: F0.5", *three]
    headings += ["WER pupils", "learners", "scans", "changes of 1,000 words: film reviews", "news"]
    return table(headings, cells)


def blocks() -> list[tuple[Path, str, str]]:
    """(page, marker, text) of everything that results files say in the docs."""
    docs = PICTURES.parent
    pages = docs / "benchmarks"

    def measured(name: str, text: str, rows: Iterable[Mapping[str, Any]] | None = None) -> str:
        # Markdown needs an empty line between a table and what follows.
        return f"{text}\n\n{origin(name, rows)}"

    large = [row for row in load("training") if row["train_rows"] >= 20_000]
    cluster_rows = {kind: [row for row in load("cluster") if row["what"] == kind] for kind in ("rate", "memory")}
    scaled = {kind: [row for row in load("scaling") if row["what"] == kind] for kind in ("texts", "shape")}
    return [
        (docs / "tutorial.md", "demo", measured("demo", demo())),
        (docs / "reference" / "packaged-data.md", "resources", resources()),
        (pages / "speed.md", "training", measured("training", training(), large)),
        (pages / "speed.md", "throughput", measured("throughput", throughput())),
        (pages / "certificates.md", "certificates", measured("certificates", certificates())),
        (pages / "certificates.md", "certificate-checks", certificate_checks()),
        (pages / "candidates.md", "acceptability", measured("acceptability", acceptability())),
        (pages / "candidates.md", "acceptability-f10", measured("acceptability", acceptability_f10())),
        (pages / "candidates.md", "acceptability-parts", measured("acceptability", acceptability_parts())),
        (pages / "solvers.md", "queries", measured("queries", queries())),
        (pages / "decoding.md", "spelling", measured("spelling", spelling())),
        (pages / "decoding.md", "decoding", measured("decoding", decoding())),
        (pages / "hardening.md", "hardening", measured("hardening", hardening())),
        (pages / "candidates.md", "simlex", measured("candidates", simlex(), of_kind("simlex"))),
        (pages / "candidates.md", "counterfit", measured("candidates", counterfit(), of_kind("fit"))),
        (pages / "speed.md", "cluster-rates", measured("cluster", cluster_rates(), cluster_rows["rate"])),
        (pages / "speed.md", "cluster-memory", measured("cluster", cluster_memory(), cluster_rows["memory"])),
        (pages / "solvers.md", "optimality", measured("optimality", optimality())),
        (pages / "solvers.md", "trec-optimum", measured("trec_optimum", trec_optimum())),
        (pages / "speed.md", "step-cost", measured("step_cost", step_cost())),
        (pages / "speed.md", "memory", measured("step_cost", memory())),
        (pages / "speed.md", "scaling", measured("scaling", scaling(), scaled["texts"])),
        (pages / "speed.md", "shapes", measured("scaling", shapes(), scaled["shape"])),
        (pages / "paper.md", "paper", measured("paper", paper())),
        (pages / "solvers.md", "tuning", measured("tuning", tuning())),
    ]


def main() -> None:
    for page, name, text in blocks():
        put(page, name, text)


if __name__ == "__main__":
    main()
