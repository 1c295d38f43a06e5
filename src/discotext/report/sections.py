"""The sections of the page: the answer in words, tables, charts, what is proved, what to do next, and settings.

Every number of a run has its own place in the table of all solvers. Where a section can show one attack only, it is the
strongest: of the largest budget, the solver that leaves the least accuracy.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence

import numpy as np

from discotext.report import figures
from discotext.report.chart import Chart, Point, draw_curve
from discotext.report.figures import Strongest
from discotext.report.flipped import mark_changes
from discotext.report.markup import Markup, element, join
from discotext.report.table import Column, Table, count, share, write_percent
from discotext.report.terms import explain
from discotext.runs import coverage
from discotext.runs.certificate import make_certificate
from discotext.runs.folder import Run
from discotext.runs.pairing import Pairing
from discotext.runs.record import Budget, Record
from discotext.runs.summary import Estimate, make_lines, mcnemar, summarise

OF = " of the words (or one)"  # of a short text, too, one word may change
INTERVALS = "Small figures are 95\u00a0% intervals."
UNNAMED = ("function", "sklearn", "network", "given", "-")  # what models and data are called that have no name
MANY_FLIPPED = 0.05
LONGEST_CURVE = 40  # points of a curve
DIFFERING = 20  # texts of each list of a comparison


def write_headline(attack: Strongest) -> Markup:
    """The answer in words."""
    row, run = attack.figures, attack.run
    before, after = write_percent(row.original_accuracy), write_percent(row.adversarial_accuracy)
    if row.success_rate is None:
        said = f"No text could be attacked: the victim gets {before} of the texts right before any change."
        return element("h1", said)
    target = run.settings.get("target")
    what = "the texts that the victim had right" if target is None else f"the texts attacked into {run.label(target)}"
    moved = f"accuracy falls from {before} to {after}" if before != after else f"accuracy stays at {after}"
    share = write_percent(row.success_rate, 0)
    allowed = Budget.parse(attack.budget).describe(OF).replace(" %", "\u00a0%")
    comma = "," if "accept" in allowed else ""
    return element("h1", f"Changing at most {allowed}{comma} flips {share} of {what}: {moved}.")


def write_lead(attack: Strongest) -> Markup:
    """What stands behind the answer: on how many texts, how exact, how acceptable, how much is proved."""
    row, run = attack.figures, attack.run
    assert row.adversarial_accuracy is not None  # there are records
    low, high = row.adversarial_accuracy.low, row.adversarial_accuracy.high
    said: list[str] = [
        f"{attack.solver} on {attack.summary.n:,} texts of {run.settings['data']}; the accuracy after lies between "
        f"{100 * low:.1f} and {write_percent(high)} (",
        explain("95 % interval", "95\u00a0% interval"),
        "). ",
    ]
    if row.perturbation is not None:
        said.append(f"Where it succeeds it changes {write_percent(row.perturbation)} of a text’s words on average. ")
    if row.acceptable is not None and row.accepted_accuracy is not None:
        counted = "of these swaps; counting only texts in which they accept every swap, accuracy is"
        said += ["Most people are expected to ", explain("accept"), f" {write_percent(row.acceptable, 0)} {counted} "]
        said.append(f"{write_percent(row.accepted_accuracy)}. ")
    if row.optimal == 1:
        said += ["This is the true worst case: every verdict is ", explain("proved"), ". "]
    elif row.optimal:
        said += [f"For {write_percent(row.optimal)} of the attacks the verdict is ", explain("proved"), ". "]
    if (covered := coverage.describe(attack.summary)) is not None:
        said.append(f"{covered[0].upper()}{covered[1:]}. ")
    source = run.settings.get("candidates", {}).get("source", "")
    warned = coverage.warn(attack.summary, [record.text for record in attack.records], source)
    found = [element("p", *said, class_="lead")] + ([] if warned is None else [note(warned)])
    if len(run.records) < run.expected:
        there = f"{len(run.records):,} of {run.expected:,} records are there"
        found.append(note(f"the run is not finished: {there}, and this page is about them"))
    return join(*found)


def note(said: str) -> Markup:
    """A warning in a box."""
    return element("p", f"{said[0].upper()}{said[1:]}.", class_="note", role="note")


def suggest_next(attack: Strongest) -> Markup | None:
    """What the figures of a run suggest: a reason, what to do, and a command that can be copied."""
    run, row = attack.run, attack.figures
    victim, data = (
        name if (given := run.settings[key]) in UNNAMED else shlex.quote(given)
        for key, name in (("victim", "VICTIM"), ("data", "DATA"))
    )
    budget = Budget.parse(attack.budget)
    allowed = f"--budget {budget.share}" if budget.words is None else f"--words {budget.words}"
    found: list[tuple[str, str, Markup | None]] = []  # a reason, what to do, and a command
    if len(run.records) < run.expected:
        found.append(("The run is not finished.", "Repeat the command that began it; it resumes.", None))
    guessing = row.original_accuracy is not None and row.original_accuracy.high < 1 / len(run.labels)
    if row.failed or row.unstable or guessing or row.success_rate is None:
        trouble = (
            f"The victim failed on {row.failed:,} texts, contradicted itself on {row.unstable:,}, and has "
            f"{write_percent(row.original_accuracy)} of the texts right."
        )
        command = element("code", f"discotext check {victim} {data}")
        found.append((trouble, "Check it before you rely on the figures.", command))
    if row.optimal is not None and row.optimal < 1 and not run.certificates:
        reason = f"Nothing is proved for {write_percent(1 - row.optimal)} of the attacks: another might flip them."
        command = element("code", f"discotext certify {victim} {data} {allowed}")
        found.append((reason, "Prove how robust the model is.", command))
    if row.success_rate is not None and row.success_rate >= MANY_FLIPPED:
        reason = f"{write_percent(row.success_rate, 0)} of the attacked texts were flipped."
        command = element(
            "code",
            f"discotext harden TRAINING_DATA --test {data} --model {victim} --out hardened\n"
            "discotext report hardened/before hardened/after",
        )
        found.append((reason, "Train a more robust model, and compare both.", command))
    rows = [
        element("li", element("p", reason, " ", element("b", action)), code and element("pre", code, tabindex="0"))
        for reason, action, code in found
    ]
    return element("ol", *rows, class_="steps") if rows else None


def show_bracket(run: Run) -> Markup | None:
    """What is proved: the answer in words, a table, and a curve over the number of words; None if nothing was asked."""
    found = run.certificates
    if not found:
        return None
    said = f"The bracket is the difference of certified and attacked accuracy, in points. {INTERVALS} {found[-1].scope}"
    chart = draw_brackets(run)
    return join(
        element("p", figures.describe_bracket(found[-1]), class_="lead"),
        figures.tabulate_certificates(found).as_html(),
        element("p", said, class_="fine"),
        None if chart is None else chart.as_html(),
    )


def draw_brackets(run: Run) -> Chart | None:
    """Certified and attacked accuracy by the number of changed words; None where shares of words were given."""
    most, *others = (Budget.parse(text).words for text in run.settings["budgets"])
    if others or most is None or most < 2:
        return None
    steps = [*range(0, most, max(1, -(-most // LONGEST_CURVE))), most]
    found = [make_certificate(run.settings, run.records, Budget(words=number)) for number in steps]
    pairs = list(zip(steps, found, strict=True))
    series = {
        "attacked": [_point(number, one.attacked_accuracy) for number, one in pairs],
        "certified": [_point(number, one.certified_accuracy) for number, one in pairs],
    }
    return draw_curve(series, [(number, str(number)) for number in steps], "changed words")


def compare_runs(found: Pairing) -> Markup:
    """This run, B, beside another one, A: which is more robust, whether that may be chance, and where they differ."""
    attack, (both, first, second) = found.strongest, found.texts
    names = [
        element("li", element("b", letter), f" {name}: {run.settings['victim']}")
        for letter, name, run in zip("AB", found.names, found.runs, strict=True)
    ]
    said = (
        f"{both:,} texts are in both runs; {first:,} are only in A and {second:,} only in B, and are left out. "
        f"{INTERVALS} B − A is in percentage points, with Newcombe’s interval for pairs; p is that of McNemar’s exact "
        f"test, not corrected for there being {len(found.attacks)} comparisons."
    )
    lists = []
    for letter, in_second in (("B", True), ("A", False)):
        pairs = attack.differing(in_second)
        title = f"Right under attack only in {letter}: {len(pairs):,} texts, as the other changed them"
        shown = [mark_changes(pair[0 if in_second else 1]) for pair in pairs[:DIFFERING]]
        lists += [element("h3", title), *(element("p", text, class_="text", dir="auto") for text in shown)]
    return join(
        element("p", figures.describe_difference(attack.after, attack.budget.describe(OF)), class_="lead"),
        element("ul", *names, class_="plain"),
        *map(note, found.warnings),
        figures.tabulate_pairing(found).as_html(best=1 + list(found.attacks).index(attack)),
        element("p", said, class_="fine"),
        *lists,
    )


def list_solvers(attack: Strongest) -> Markup:
    """All solvers under all budgets."""
    begun = attack.run.begun
    places = [(budget, name) for budget, one in begun for name in one.solvers]
    table = figures.tabulate_solvers([one for _, one in begun])
    # How much of the texts can change, ties, words that the victim does not know.
    notes = [
        element("li", f"At most {Budget.parse(budget).describe()}: {note}.")
        for budget, one in begun
        for note in coverage.notes(one)
    ]
    return join(
        table.as_html(best=places.index((attack.budget, attack.solver))),
        element("p", f"{INTERVALS} The strongest attack is in colour.", class_="fine"),
        element("ul", *notes, class_="plain"),
        compare_solvers(attack),
    )


def compare_solvers(attack: Strongest) -> Markup | None:
    """How the strongest compares with each other solver on the same texts."""
    rows = []
    for name in attack.summary.solvers:
        if name == attack.solver:
            continue
        theirs = attack.run.select(attack.budget, name)
        both = {row.id for row in theirs} & {row.id for row in attack.records}
        mine, its = ([row for row in rows if row.id in both] for rows in (attack.records, theirs))
        flipped, its_flipped = (sum(row.succeeded for row in rows) for rows in (mine, its))
        both_flip = f"Of the same {len(both):,} texts {attack.solver} flips {flipped} and {name} {its_flipped}"
        chance = "for a difference this large by chance alone (McNemar’s exact test)"
        rows.append(element("li", f"{both_flip}; p = {mcnemar(mine, its):.2g} {chance}."))
    if not rows:
        return None
    # The strongest was found on the texts it is now compared on: so a small p is less surprising than it looks.
    caution = (
        f"{attack.solver} was picked as the strongest on these same texts; the p-values are corrected neither for that "
        "nor for the number of comparisons."
    )
    return join(element("ul", *rows, class_="plain"), element("p", caution, class_="fine"))


def show_queries(attack: Strongest) -> Markup | None:
    """The share of attacked texts that each solver had flipped after so many queries; None if none was attacked."""
    table = figures.tabulate_queries(attack.summary)
    said = element("p", "A ", explain("query"), " is a forward pass of the model for one text.", class_="fine")
    return None if table is None else join(table.as_html(), said)


def _point(x: float, estimate: Estimate | None) -> Point:
    return Point(x, 0, 0, 0) if estimate is None else Point(x, float(estimate), estimate.low, estimate.high)


def plot_run(run: Run) -> Chart:
    """A run as a picture: accuracy by budget or, of one budget, by the number of changes that it took."""
    return draw_by_budget(run) if len(run.begun) > 1 else draw_by_changes(Strongest.of(run))


def draw_by_budget(run: Run) -> Chart:
    """Accuracy by budget, a line for each solver and level of acceptance."""
    summaries = sorted((one for _, one in run.begun), key=lambda one: (one.budget, one.accept or 0.0))
    several = len({one.accept for one in summaries}) > 1
    series: dict[str, list[Point]] = {}
    for one in summaries:
        for name, row in one.solvers.items():
            # With no budget at all, accuracy is what it was before.
            start = [_point(0, row.original_accuracy)] if one.budget > 0 else []
            line = series.setdefault(f"{name}, accept ≥ {one.accept:g}" if several else name, start)
            line.append(_point(float(one.budget), row.adversarial_accuracy))
    shares = isinstance(summaries[0].budget, float)
    budgets = dict.fromkeys([0.0, *(float(one.budget) for one in summaries)])
    ticks = [(budget, f"{100 * budget:g} %" if shares else f"{budget:g}") for budget in budgets]
    return draw_curve(series, ticks, "share of words that may change" if shares else "words that may change")


def draw_by_changes(attack: Strongest) -> Chart:
    """The share of texts that are right unless an attack flipped them with k changes or fewer, for each solver.

    That is what the flips that were found say: a text that was flipped with k changes counts as right where fewer may
    change, though another search might flip it there.
    """
    series = {}
    for name in attack.summary.solvers:
        if records := attack.run.select(attack.budget, name):
            curve = accuracy_by_changes(records)
            series[name] = [Point(number, share, share, share) for number, share in enumerate(curve)]
    most = max(map(len, series.values()))
    steps = range(0, most, max(1, -(-most // 10)))
    return draw_curve(series, [(number, str(number)) for number in steps], "changes in a text")


def accuracy_by_changes(records: Sequence[Record]) -> list[float]:
    """For k = 0, 1, …: the share of texts that are right before the attack and not flipped with k changes or fewer."""
    lines = make_lines(records)
    before, lost = lines["right_before"], lines["right_before"] & ~lines["right_after"]
    counts = np.bincount(lines["changes"][lost], minlength=2)
    return [(int(before.sum()) - int(gone)) / len(records) for gone in np.cumsum(counts)]


def compare_classes(attack: Strongest) -> Markup:
    """The same figures class by class."""
    rows = {}
    for label, name in enumerate(attack.run.labels):
        if mine := [row for row in attack.records if row.label == label]:
            rows[name] = len(mine), summarise(mine, attack.run.settings["seed"])
    summaries = [row for _, row in rows.values()]
    columns = [
        Column("class", list(rows)),
        count("texts", [n for n, _ in rows.values()]),
        share("before", [row.original_accuracy for row in summaries], between=True),
        share("after", [row.adversarial_accuracy for row in summaries], between=True),
        share("success", [row.success_rate for row in summaries], between=True),
    ]
    return Table(str(attack), columns).as_html()


def count_swaps(records: Sequence[Record], most: int = 15) -> list[tuple[str, str, int, int]]:
    """The swaps that occur in most flipped texts: old, new, how many of these, and in how many texts at all.

    Case and repetition within a text do not count.
    """

    def swaps_of(record: Record) -> set[tuple[str, str]]:
        return {(change.old.lower(), change.new.lower()) for change in record.changes}

    used = Counter(swap for record in records for swap in swaps_of(record))
    flipped = Counter(swap for record in records if record.succeeded for swap in swaps_of(record))
    order = sorted(flipped, key=lambda swap: (-flipped[swap], used[swap], swap))
    return [(*swap, flipped[swap], used[swap]) for swap in order[:most]]


def list_swaps(attack: Strongest) -> Markup:
    """The swaps found in most flipped texts."""
    found = count_swaps(attack.records)
    if not found:
        return element("p", "No text was flipped, so no swap did any damage.")
    flipped = sum(record.succeeded for record in attack.records)
    columns = [
        Column("swap", [join(element("del", old), " → ", element("ins", new)) for old, new, _, _ in found]),
        count("flipped texts", [times for _, _, times, _ in found]),
        share("share of them", [times / flipped for _, _, times, _ in found]),
        count("all texts with it", [used for *_, used in found]),
    ]
    return Table(f"{attack}; the {len(found)} most frequent", columns).as_html()


def list_settings(run: Run) -> Markup:
    """Where the numbers come from."""
    settings = run.settings
    facts = [("victim", settings["victim"]), ("data", settings["data"]), ("seed", settings["seed"]),
             ("version", settings["version"]), ("records", f"{len(run.records):,} of {run.expected:,}")]  # fmt: skip
    facts += [(f"search space, {Budget.parse(budget).describe()}", one.space) for budget, one in run.begun]
    listed = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    pretty = json.dumps(settings, indent=2, ensure_ascii=False)
    shown = element("details", element("summary", "All settings"), element("pre", pretty, tabindex="0"))
    return join(element("dl", *listed), shown)
