"""discotext attack VICTIM --text "…": one text, before and after, and what was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discotext.cli.candidates import print_candidates
from discotext.cli.figures import paint
from discotext.cli.options import load_named
from discotext.cli.output import make_console, make_table, print_sentence, write_json
from discotext.support.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from discotext.attacks.observation import Step
    from discotext.attacks.one_text import Look, Outcome

# What only makes sense for many texts.
FOR_DATA = (
    "limit", "text_column", "label_column", "map_labels", "unlabelled", "out", "shard", "total_queries", "fail_under",
    "workers", "time_limit", "ray",
)  # fmt: skip
CLASSES = 8  # classes whose scores are shown


def attack_text(victim: str, text: str, solver: str, options: dict[str, Any]) -> None:
    """Attack one text, and print what came of it."""
    options = dict(options)
    for name in FOR_DATA:
        if options.pop(name) not in (None, (), False):
            raise click.UsageError(f"--{name.replace('_', '-')} is for DATA with many texts; leave it out with --text.")
    single = {name: options.pop(name) for name in ("budget", "words", "accept")}
    for name, given in single.items():  # repeatable, but not for a single text
        if len(given) > 1:
            raise click.UsageError(f"--{name} is given {len(given)} times; give it once with --text.")
    budget, words, accept = (given[0] if given else None for given in single.values())
    if budget is not None and words is not None:
        raise click.UsageError("--budget and --words are both given; give one of them.")
    model = load_named(victim, options)
    from discotext.attacks.one_text import TextAttacker
    from discotext.text.candidates import make_candidates

    as_json = options.pop("as_json")
    search = {name: options.pop(name) for name in ("target", "seed", "surrogate", "max_queries")}
    limits: dict[str, Any] = {"budget": budget or 0.2, "words": words}
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
    console.print()
    print_candidates(look.words)


def print_scores(console: Console, outcome: Outcome) -> None:
    """Print the scores of the classes before and after, the largest first."""
    table = make_table("", "before", "after")
    after = outcome.scores if outcome.adversarial_scores is None else outcome.adversarial_scores
    rows = sorted(zip(outcome.labels, outcome.scores, after, strict=True), key=lambda row: -max(row[1:]))
    for name, *scores in rows[:CLASSES]:
        winner = scores[1] == max(after)
        table.add_row(name, *(f"{value:.3f}" for value in scores), style="bold" if winner else "")
    console.print(table)
