"""discotext attack VICTIM --text "…": one text, before and after, and what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from discotext.cli.figures import NEW, OLD, paint
from discotext.cli.options import load_named
from discotext.cli.output import make_console, make_table, print_sentence, write_json
from discotext.support.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from discotext.attacks.observation import Step
    from discotext.attacks.one_text import Look, Outcome

# What only makes sense for many texts.
FOR_DATA = {
    "limit": None, "text_column": None, "label_column": None, "map_labels": (), "unlabelled": False, "out": None,
    "shard": None, "total_queries": None, "fail_under": None, "workers": None, "time_limit": None, "ray": None,
}  # fmt: skip
BAR = 24  # characters of the longest bar
CLASSES = 8  # classes whose scores are shown


def attack_text(victim: str, text: str, solver: str, options: dict[str, Any]) -> None:
    """Attack one text, and print what came of it."""
    options = dict(options)
    for name, default in FOR_DATA.items():
        if options.pop(name) != default:
            raise click.UsageError(f"--{name.replace('_', '-')} is for DATA with many texts; leave it out with --text.")
    budget, words, accept = (choose_one(options.pop(name), name) for name in ("budget", "words", "accept"))
    if budget is not None and words is not None:
        raise click.UsageError("--budget and --words are both given; give one of them.")
    model = load_named(victim, options)
    from discotext.attacks.one_text import TextAttacker
    from discotext.text.candidates import make_candidates

    as_json = options.pop("as_json")
    search = {name: options.pop(name) for name in ("target", "seed", "surrogate", "max_queries")}
    limits = {"budget": budget or 0.2, "words": words}
    attacker = TextAttacker(model, make_candidates(**options, accept=accept))
    look = attacker.look(text, **limits)
    with Progress() as progress:

        def watch(step: Step) -> None:
            nearer = "flipped" if step.flipped else f"{len(step.changes)} of {look.allowed} words changed"
            progress.update(f"{step.queries:,} queries, {nearer}", 0, 0)

        outcome = attacker.attack(text, solver, **limits, **search, watch=watch)
    if not as_json:
        print_outcome(look, outcome)
        return
    found = {name: vars(outcome)[name] for name in ("labels", "scores", "adversarial_scores")}
    found["words_tried"] = [word.as_json() for word in look.words if word.candidates]
    write_json(outcome.record.as_dict() | found)


def choose_one(given: Sequence[Any], name: str) -> Any:
    """The single value of an option that is repeatable for data, or None."""
    if len(given) > 1:
        raise click.UsageError(f"--{name} is given {len(given)} times; give it once with --text.")
    return given[0] if given else None


def print_outcome(look: Look, outcome: Outcome) -> None:
    """Print the text before and after, the scores, and what was tried."""
    from discotext.attacks.one_text import explain_outcome
    from discotext.report.flipped import cut_pieces

    console = make_console()
    record = outcome.record
    pieces = list(cut_pieces(record, whole=True))
    console.print(paint(pieces, colour=console.color_system is not None), highlight=False)
    if record.changes:
        console.print("\nafter:", style="bold")
        console.print(paint(piece for piece in pieces if piece[0] != "old"), highlight=False)
    console.print()
    print_scores(console, outcome)
    console.print()
    style = "bold green" if record.succeeded else "bold"
    console.print(explain_outcome(outcome), style=style, highlight=False, markup=False)
    print_sentence(console, f"{len(record.changes)} of {record.words} words changed, {record.budget} allowed")
    if record.status in ("improved", "unchanged"):
        print_sentence(console, "a larger --budget or --solver exact, which also proves, may find more")
    if look.truncated:
        print_sentence(console, "the victim reads only the beginning of this text")
    spent = f"queries: {record.forwards:,}" + (f", gradients: {record.backwards:,}" if record.backwards else "")
    learning = f", {outcome.learning_queries:,} more queries to learn a surrogate" if outcome.learning_queries else ""
    print_sentence(console, f"{record.solver}: {record.seconds:.1f} s, {spent}{learning}")
    print_candidates(console, look, outcome)


def print_scores(console: Console, outcome: Outcome) -> None:
    """Print the scores of the classes before and after, with bars where they are probabilities."""
    after = outcome.adversarial_scores if outcome.record.changes else None
    columns = [outcome.scores] if after is None else [outcome.scores, after]
    table = make_table("", *("before", "after")[: len(columns)], "bar", left=["", "bar"])
    table.show_header = after is not None
    table.columns[-1].header = ""
    rows = list(zip(*columns, strict=True))
    shares = all(0 <= value <= 1 for row in rows for value in row)
    winner = max(range(len(rows)), key=columns[-1].__getitem__)
    for number in sorted(range(len(rows)), key=lambda number: -max(rows[number]))[:CLASSES]:
        bar = "█" * round(BAR * rows[number][-1]) if shares else ""
        scores = [f"{value:.3f}" for value in rows[number]]
        table.add_row(outcome.labels[number], *scores, bar, style="bold" if number == winner else "")
    console.print(table)


def print_candidates(console: Console, look: Look, outcome: Outcome) -> None:
    """Print the words that may change and their candidates, the one that was put in first."""
    from rich.text import Text

    used = {change.start: change.new for change in outcome.record.changes}
    able = [word for word in look.words if word.candidates]
    if not able:
        print_sentence(console, "no word of it has a candidate; `discotext candidates` shows what was refused and why")
        return
    estimated = any(chance is not None for word in able for chance in word.accept)
    probability = ", with the probability that most people accept them" if estimated else ""
    console.print(f"\ncandidates of {len(able)} of {len(look.words)} words{probability}:")
    for word in able:
        line = Text(f"  {word.word}: ", style=OLD if word.start in used else "")
        ranked = sorted(zip(word.candidates, word.accept, strict=True), key=lambda pair: -(pair[1] or 0.0))
        for number, (candidate, chance) in enumerate(ranked):
            chosen = used.get(word.start) == candidate
            line.append(", " if number else "", "not strike default")
            line.append(candidate, NEW if chosen else "not strike default")
            line.append("" if chance is None else f" {chance:.2f}", "not strike dim")
        console.print(line, highlight=False)
