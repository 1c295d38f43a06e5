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

from discotext.report.chart import Chart, Drawing, Point, draw_bars, draw_curve, draw_histogram
from discotext.report.figures import (
    Strongest,
    describe_bracket,
    describe_difference,
    tabulate_certificates,
    tabulate_pairing,
    tabulate_queries,
    tabulate_solvers,
)
from discotext.report.flipped import mark_changes
from discotext.report.markup import Markup, element, escape, join
from discotext.report.table import Column, Table, count, share, write_percent
from discotext.report.terms import explain
from discotext.runs import coverage
from discotext.runs.certificate import make_certificate
from discotext.runs.folder import Run
from discotext.runs.pairing import Pairing
from discotext.runs.record import Budget, Record
from discotext.runs.summary import Estimate, Summary, make_lines, mcnemar, summarise
from discotext.support.plain_text import shorten
from discotext.text.tagging import LightTagger
from discotext.text.words import split

OF = " of the words (or one)"  # of a short text, too, one word may change
INTERVALS = "Small figures are 95\u00a0% intervals."
UNNAMED = ("function", "sklearn", "network", "given", "-")  # what models and data are called that have no name
MANY_FLIPPED = 0.05
LONGEST_CURVE = 40  # points of a curve
CLASSES = 12  # classes that a chart has room for
DIFFERING = 20  # texts of each list of a comparison
TENTHS = 10
TAGGED = 2000  # texts that are tagged: more would take longer and not move the shares
KINDS = {
    "nouns": "NN NNS", "names": "NNP NNPS", "verbs": "VB VBD VBG VBN VBP VBZ", "adjectives": "JJ JJR JJS",
    "adverbs": "RB RBR RBS",
}  # fmt: skip
KIND_OF = {tag: kind for kind, tags in KINDS.items() for tag in tags.split()}
REST = "all others"


def write_headline(attack: Strongest) -> Markup:
    """The answer in words."""
    row, run = attack.figures, attack.run
    before, after = write_percent(row.original_accuracy), write_percent(row.adversarial_accuracy)
    target = run.settings.get("target")
    if row.success_rate is None:
        said = f"No text could be attacked: the victim gets {before} of the texts right before any change."
    else:
        what = (
            "the texts that the victim had right" if target is None else f"the texts attacked into {run.label(target)}"
        )
        moved = f"accuracy falls from {before} to {after}" if before != after else f"accuracy stays at {after}"
        share = write_percent(row.success_rate, 0)
        allowed = Budget.parse(attack.budget).describe(OF).replace(" %", "\u00a0%")
        comma = "," if "accept" in allowed else ""
        said = f"Changing at most {allowed}{comma} flips {share} of {what}: {moved}."
    return element("h1", said)


def write_lead(attack: Strongest) -> Markup:
    """What stands behind the answer: on how many texts, how exact, how acceptable, how much is proved."""
    row, run = attack.figures, attack.run
    assert row.adversarial_accuracy is not None  # there are records
    low, high = row.adversarial_accuracy.low, row.adversarial_accuracy.high
    more = [
        join(
            f"{attack.solver} on {attack.summary.n:,} texts of {run.settings['data']}; the accuracy after lies between "
            f"{100 * low:.1f} and {write_percent(high)} (",
            explain("95 % interval", "95\u00a0% interval"),
            ").",
        )
    ]
    if row.perturbation is not None:
        more.append(
            escape(f"Where it succeeds it changes {write_percent(row.perturbation)} of a text’s words on average.")
        )
    if row.acceptable is not None and row.accepted_accuracy is not None:
        more.append(
            join(
                "Most people are expected to ",
                explain("accept"),
                f" {write_percent(row.acceptable, 0)} of these swaps; counting only texts in which they accept every "
                f"swap, accuracy is {write_percent(row.accepted_accuracy)}.",
            )
        )
    if row.optimal == 1:
        more.append(join("This is the true worst case: every verdict is ", explain("proved"), "."))
    elif row.optimal:
        more.append(join(f"For {write_percent(row.optimal)} of the attacks the verdict is ", explain("proved"), "."))
    if (covered := coverage.describe(attack.summary)) is not None:
        more.append(escape(f"{covered[0].upper()}{covered[1:]}."))
    said = join(*(part for one in more for part in (one, " ")))
    source = run.settings.get("candidates", {}).get("source", "")
    warned = coverage.warn(attack.summary, [record.text for record in attack.records], source)
    if len(run.records) < run.expected:
        there = f"{len(run.records):,} of {run.expected:,} records are there"
        unfinished = note(f"the run is not finished: {there}, and this page is about them")
    else:
        unfinished = None
    return join(element("p", said, class_="lead"), None if warned is None else note(warned), unfinished)


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
    found: list[tuple[str, str, str | None]] = []
    if len(run.records) < run.expected:
        found.append(("The run is not finished.", "Repeat the command that began it; it resumes.", None))
    guessing = row.original_accuracy is not None and row.original_accuracy.high < 1 / len(run.labels)
    if row.failed or row.unstable or guessing or row.success_rate is None:
        trouble = (
            f"The victim failed on {row.failed:,} texts, contradicted itself on {row.unstable:,}, and has "
            f"{write_percent(row.original_accuracy)} of the texts right."
        )
        found.append((trouble, "Check it before you rely on the figures.", f"discotext check {victim} {data}"))
    if row.optimal is not None and row.optimal < 1 and not run.certificates:
        reason = f"Nothing is proved for {write_percent(1 - row.optimal)} of the attacks: another might flip them."
        command = f"discotext certify {victim} {data} {allowed}"
        found.append((reason, "Prove how robust the model is.", command))
    if row.success_rate is not None and row.success_rate >= MANY_FLIPPED:
        reason = f"{write_percent(row.success_rate, 0)} of the attacked texts were flipped."
        command = f"discotext harden TRAINING_DATA --test {data} --model {victim} --out hardened"
        compared = "discotext report hardened/before hardened/after"
        found.append((reason, "Train a more robust model, and compare both.", f"{command}\n{compared}"))
    rows = [
        element(
            "li",
            element("p", reason, " ", element("b", action)),
            None if command is None else element("pre", element("code", command), tabindex="0"),
        )
        for reason, action, command in found
    ]
    return element("ol", *rows, class_="steps") if rows else None


def show_bracket(run: Run) -> Markup | None:
    """What is proved: the answer in words, a table, and a curve over the number of words; None if nothing was asked."""
    found = run.certificates
    if not found:
        return None
    said = f"The bracket is the difference of certified and attacked accuracy, in points. {INTERVALS} {found[-1].scope}"
    return join(
        element("p", describe_bracket(found[-1]), class_="lead"),
        tabulate_certificates(found).as_html(),
        element("p", said, class_="fine"),
        draw_brackets(run),
    )


def draw_brackets(run: Run) -> Markup | None:
    """Certified and attacked accuracy by the number of changed words; None where shares of words were given."""
    words = [Budget.parse(text).words for text in run.settings["budgets"]]
    if len(words) != 1 or words[0] is None or words[0] < 2:
        return None
    most = words[0]
    steps = [*range(0, most, max(1, -(-most // LONGEST_CURVE))), most]
    found = [make_certificate(run.settings, run.records, Budget(words=number)) for number in steps]
    series = {
        "attacked": [_point(number, one.attacked_accuracy) for number, one in zip(steps, found, strict=True)],
        "certified": [_point(number, one.certified_accuracy) for number, one in zip(steps, found, strict=True)],
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
        shown = [mark_changes(pair[0 if in_second else 1], whole=False) for pair in pairs[:DIFFERING]]
        lists.append(
            element("h3", f"Right under attack only in {letter}: {len(pairs):,} texts, as the other changed them")
        )
        lists += [element("p", text, class_="text", dir="auto") for text in shown]
    return join(
        element("p", describe_difference(attack.after, attack.budget.describe(OF)), class_="lead"),
        element("ul", *names, class_="plain"),
        *map(note, found.warnings),
        tabulate_pairing(found).as_html(best=1 + list(found.attacks).index(attack)),
        element("p", said, class_="fine"),
        *lists,
    )


def list_solvers(attack: Strongest) -> Markup:
    """All solvers under all budgets."""
    begun = attack.run.begun
    places = [(budget, name) for budget, one in begun for name in one.solvers]
    table = tabulate_solvers([one for _, one in begun])
    return join(
        table.as_html(best=places.index((attack.budget, attack.solver))),
        element("p", f"{INTERVALS} The strongest attack is in colour.", class_="fine"),
        list_notes(attack.run),
        compare_solvers(attack),
    )


def list_notes(run: Run) -> Markup | None:
    """What to know beside the figures: how much can change, ties, words that the victim does not know."""
    several = len(run.begun) > 1
    said = [
        f"At most {Budget.parse(budget).describe()}: {note}." if several else f"{note}."
        for budget, one in run.begun
        for note in coverage.notes(one)
    ]
    return element("ul", *(element("li", one) for one in said), class_="plain") if said else None


def compare_solvers(attack: Strongest) -> Markup | None:
    """How the strongest compares with each other solver on the same texts."""
    others = [name for name in attack.summary.solvers if name != attack.solver]
    if not others:
        return None
    rows = []
    for name in others:
        theirs = attack.run.select(attack.budget, name)
        both = {row.id for row in theirs} & {row.id for row in attack.records}
        mine, its = ([row for row in rows if row.id in both] for rows in (attack.records, theirs))
        p = mcnemar(mine, its)
        flipped, its_flipped = (sum(row.succeeded for row in rows) for rows in (mine, its))
        chance = f"p = {p:.2g} for a difference this large by chance alone (McNemar’s exact test)"
        both_flip = f"Of the same {len(both):,} texts {attack.solver} flips {flipped} and {name} {its_flipped}"
        rows.append(element("li", f"{both_flip}; {chance}."))
    # The strongest was found on the texts it is now compared on: so a small p is less surprising than it looks.
    caution = (
        f"{attack.solver} was picked as the strongest on these same texts; the p-values are not corrected for that"
    )
    more = "" if len(others) == 1 else f", nor for there being {len(others)} comparisons"
    return join(element("ul", *rows, class_="plain"), element("p", f"{caution}{more}.", class_="fine"))


def chart_accuracy(attack: Strongest) -> Markup:
    """Accuracy by budget, or before and after where there is one budget."""
    if len(attack.run.begun) > 1:
        return wrap_chart(draw_by_budget(attack.run))
    bars = [("before", _point(0, attack.figures.original_accuracy))]
    bars += [(f"after, {name}", _point(0, row.adversarial_accuracy)) for name, row in attack.summary.solvers.items()]
    return wrap_chart(draw_bars(bars))


def draw_by_budget(run: Run) -> Drawing:
    """Accuracy by budget, a line for each solver and level of acceptance; under one budget, by that level."""
    series: dict[str, list[Point]] = {}
    budgets = sorted(run.begun, key=lambda pair: pair[1].budget)
    levels = list(dict.fromkeys(one.accept for _, one in budgets))
    if len(levels) == len(budgets):
        return draw_levels([one for _, one in budgets])
    for _, one in budgets:
        for name, row in one.solvers.items():
            # With no budget at all, accuracy is what it was before.
            start = [_point(0, row.original_accuracy)] if one.budget > 0 else []
            name = name if len(levels) == 1 else f"{name}, accept ≥ {one.accept:g}"
            series.setdefault(name, start).append(_point(float(one.budget), row.adversarial_accuracy))
    shares = isinstance(budgets[0][1].budget, float)
    found = {float(one.budget): f"{100 * one.budget:g} %" if shares else str(one.budget) for _, one in budgets}
    ticks = [(0.0, "0 %" if shares else "0"), *(tick for tick in found.items() if tick[0] > 0)]
    axis = "share of words that may change" if shares else "words that may change"
    return draw_curve(series, ticks, axis)


def show_queries(attack: Strongest) -> Markup | None:
    """The share of attacked texts that each solver had flipped after so many queries; None if none was attacked."""
    table = tabulate_queries(attack.summary)
    said = element("p", "A ", explain("query"), " is a forward pass of the model for one text.", class_="fine")
    return None if table is None else join(table.as_html(), said)


def draw_levels(summaries: Sequence[Summary]) -> Drawing:
    """Accuracy by how acceptable each swap must be, under one budget."""
    series: dict[str, list[Point]] = {}
    for one in sorted(summaries, key=lambda one: one.accept or 0.0):
        for name, row in one.solvers.items():
            series.setdefault(name, []).append(_point(one.accept or 0.0, row.adversarial_accuracy))
    ticks = [(one.accept or 0.0, f"{one.accept:g}") for one in summaries]
    return draw_curve(series, ticks, "least probability that most people accept a swap")


def wrap_chart(chart: Markup, caption: str = "Accuracy of the victim, with 95\u00a0% intervals") -> Markup:
    return element("figure", element("figcaption", caption), chart)


def _point(x: float, estimate: Estimate | None) -> Point:
    return Point(x, 0, 0, 0) if estimate is None else Point(x, float(estimate), estimate.low, estimate.high)


def plot_run(run: Run) -> Chart:
    """A run as a picture: accuracy by what may change, class by class, and how many words it took."""
    attack = Strongest.of(run)
    several = len(run.begun) > 1
    first = draw_by_budget(run) if several else draw_by_changes(attack.summary, attack)
    return Chart(
        [
            ("Accuracy under attack, by budget" if several else "Right unless flipped with so many changes", first),
            (shorten(f"Class by class: {attack}", 60), draw_classes(attack)),
            (shorten(f"Words changed: {attack}", 60), draw_changes(attack.records)),
        ]
    )


def draw_by_changes(summary: Summary, attack: Strongest) -> Drawing:
    """The share of texts that are right unless an attack flipped them with k changes or fewer, for each solver.

    That is what the flips that were found say: a text that was flipped with k changes counts as right where fewer may
    change, though another search might flip it there.
    """
    series = {}
    for name in summary.solvers:
        curve = accuracy_by_changes(attack.run.select(attack.budget, name))
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


def draw_classes(attack: Strongest) -> Drawing:
    """Accuracy of the texts of each class, before and under the strongest attack; of many classes, the largest."""
    sizes = Counter(record.label for record in attack.records)
    bars = []
    for label in sorted(label for label, _ in sizes.most_common(CLASSES)):
        figures = summarise([record for record in attack.records if record.label == label])
        name = f"{shorten(attack.run.label(label), 30)} ({sizes[label]:,} texts)"
        bars.append((f"{name}, before", _point(0, figures.original_accuracy)))
        bars.append((f"{name}, under attack", _point(0, figures.adversarial_accuracy)))
    return draw_bars(bars)


def draw_changes(records: Sequence[Record]) -> Drawing:
    """How many words were changed in the flipped texts."""
    counts = Counter(len(record.changes) for record in records if record.succeeded)
    steps = range(1, max(counts, default=1) + 1)
    return draw_histogram([counts[k] for k in steps], list(map(str, steps)), "words changed in flipped texts")


def compare_classes(attack: Strongest) -> Markup:
    """The same figures class by class."""
    rows = {}
    for label, name in enumerate(attack.run.labels):
        if mine := [row for row in attack.records if row.label == label]:
            rows[name] = len(mine), summarise(mine, attack.run.settings["seed"])
    figures = [row for _, row in rows.values()]
    columns = [
        Column("class", list(rows)),
        count("texts", [n for n, _ in rows.values()]),
        share("before", [row.original_accuracy for row in figures], between=True),
        share("after", [row.adversarial_accuracy for row in figures], between=True),
        share("success", [row.success_rate for row in figures], between=True),
    ]
    return Table(str(attack), columns).as_html()


def count_swaps(records: Sequence[Record], most: int = 15) -> list[tuple[str, str, int, int]]:
    """The swaps that occur in most flipped texts: old, new, how many of these, and in how many texts at all.

    Case and repetition within a text do not count.
    """
    used: Counter[tuple[str, str]] = Counter()
    flipped: Counter[tuple[str, str]] = Counter()
    for record in records:
        swaps = {(change.old.lower(), change.new.lower()) for change in record.changes}
        used.update(swaps)
        if record.succeeded:
            flipped.update(swaps)
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


def count_tenths(records: Sequence[Record]) -> list[int]:
    """How many changes fall into each tenth of the text, counted in words."""
    found = [0] * TENTHS
    for record in records:
        for change in record.changes:
            # The middle of the word, so that the first of four words is not all at the beginning.
            found[int(TENTHS * (change.position + 0.5) / record.words)] += 1
    return found


def count_kinds(records: Sequence[Record]) -> dict[str, tuple[int, int]]:
    """By part of speech, how many words were changed, of how many in the first `TAGGED` attacked texts."""
    tried = [record for record in records if record.attacked][:TAGGED]
    changed: Counter[str] = Counter()
    words: Counter[str] = Counter()
    tags = LightTagger().tag([split(record.text) for record in tried])
    for record, given in zip(tried, tags, strict=True):
        words.update(KIND_OF.get(tag, REST) for tag in given)
        # Records of another version may have counted words differently; what cannot be placed is left out.
        places = [change.position for change in record.changes if change.position < len(given)]
        changed.update(KIND_OF.get(given[place], REST) for place in places)
    return {name: (changed[name], words[name]) for name in (*KINDS, REST) if words[name]}


def show_positions(attack: Strongest) -> Markup:
    """Where in the text, and which parts of speech."""
    counts = count_tenths(attack.records)
    if not any(counts):
        return element("p", "No word was changed.")
    names = [f"{100 // TENTHS * (place + 1)} %" for place in range(TENTHS)]
    chart = draw_histogram(counts, names, "position in the text: up to this share of its words")
    found = count_kinds(attack.records)
    changed = sum(number for number, _ in found.values())
    columns = [
        Column("part of speech", list(found)),
        count("changed", [number for number, _ in found.values()]),
        share("share of changes", [number / changed if changed else None for number, _ in found.values()]),
        share("share of its words", [number / words for number, words in found.values()]),
    ]
    part = f", in the first {TAGGED:,} texts" if len(attack.records) > TAGGED else ""
    table = Table(f"Parts of speech of the original words{part}", columns).as_html()
    return element("div", wrap_chart(chart, "Words changed, by position"), table, class_="pair")


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
