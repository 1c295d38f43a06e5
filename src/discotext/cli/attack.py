"""discotext attack, compare and certify: how many predictions flip when a few words change, and how many cannot?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from discotext.attacks.progress import AttackProgress
from discotext.cli import options as shared
from discotext.cli.errors import CommandError, InterruptError, describe_saved, one_line
from discotext.cli.figures import print_certificates, print_differences, print_flipped, print_summary
from discotext.cli.help import Count, GroupedCommand, data_option, option
from discotext.cli.output import make_console, print_message, write_json
from discotext.cli.service_options import pop_service
from discotext.support.plain_text import count_texts

if TYPE_CHECKING:
    from discotext.attacks.settings import Settings
    from discotext.runs.certificate import Certificate
    from discotext.runs.record import Record
    from discotext.runs.summary import Tally


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test", required=False)
@shared.solver_option(text="Search method", default="auto")
@shared.attack_options
@data_option("--text", metavar="TEXT", help="Attack this text instead of DATA, and show what was tried.")
def command(victim: str, data: str | None, text: str | None, solver: str, **options: Any) -> None:
    """Attack a classifier: how many predictions flip when a few words change?

    Prints the accuracy before and after the attack, with 95 % intervals, and some flipped texts. Texts that the victim
    misclassifies anyway are not attacked.

    \b
    Examples:
      discotext attack victim --text "A charming and often affecting film"
      discotext attack victim movie_reviews --limit 200 --out run
      discotext attack sklearn:model.skops reviews.csv --budget 0.1
      discotext attack py:model.py:scores reviews.jsonl --words 2 --solver beam
      discotext attack hf:NAME imdb --limit 50 --budget 0.05 --budget 0.1 --json
      discotext attack sklearn:model.skops reviews.csv --fail-under 0.65
    """
    if text is not None:
        if data is not None:
            raise click.UsageError("DATA and --text are both given; give one of them.")
        from discotext.cli.one_text import attack_text

        attack_text(victim, text, solver, options)
        return
    if data is None:
        raise click.UsageError("Missing argument 'DATA': give labelled texts, or a single one with --text.")
    run_attack(victim, data, [solver], options)


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test")
@shared.solver_option("solvers", text="Search method. Repeatable. One of", multiple=True, required=True)
@shared.attack_options
def compare(victim: str, data: str, solvers: tuple[str, ...], **options: Any) -> None:
    """Compare solvers on the same texts, candidates and budgets.

    Prints one table per budget, and McNemar's test of the first solver against each of the others.

    \b
    Examples:
      discotext compare victim movie_reviews --solver disco --solver greedy
      discotext compare victim trec --solver greedy --solver exact --words 2
      discotext compare victim trec --solver disco --solver beam --out run
    """
    run_attack(victim, data, solvers, options)


@click.command(cls=GroupedCommand)
@shared.victim_argument
@shared.data_argument("test")
@shared.solver_option(text="Search method of the attack", default="auto")
@option(
    "--passes",
    section="Proof",
    type=Count(1),
    default=1000,
    help="Passes of the model, bounds included, that may be spent to prove a text. What needs more stays open.",
)
@shared.attack_options
def certify(victim: str, data: str, solver: str, **options: Any) -> None:
    """Certify a classifier: what accuracy is proved to survive, whatever words are exchanged?

    Prints a bracket for each budget: at least the certified accuracy survives (proved), at most the attacked accuracy
    does (shown by flipped texts). Several budgets are answered by one run.

    Bounds are used for scikit-learn pipelines that are linear after a word vectoriser, and for the models dan and wcnn
    of `discotext train`. For any other victim, all choices are tried where that takes at most --passes.

    \b
    Examples:
      discotext certify sklearn:model.skops reviews.csv --words 1 --words 2
      discotext certify victim movie_reviews --budget 0.1 --limit 200 --out run
      discotext certify py:model.py:scores data.csv --words 1 --passes 200
    """
    run_attack(victim, data, [solver], options)


def run_attack(victim: str, data: str, solvers: Sequence[str], options: dict[str, Any]) -> None:
    """Attack with progress, and print tables or JSON; after Ctrl-C or a failed service, say what has been saved."""
    from discotext.core.oracle import UnavailableError

    least, as_json, out = options.pop("fail_under"), options.pop("as_json"), options["out"]
    try:
        tally, found, flipped = attack_all(victim, data, solvers, options)
    except KeyboardInterrupt:
        raise InterruptError(f"interrupted{describe_saved(out)}") from None
    except UnavailableError as error:
        raise CommandError(f"{one_line(error)}{describe_saved(out)}") from error
    if as_json:
        for one in found or tally.summaries:
            write_json(one.as_dict())
    else:
        print_results(tally, found, flipped)
        if out is not None:
            console = make_console(stderr=True)
            print_message(console, f"records saved in {out}; run `discotext report {out}` for an HTML report")
    report_failures(tally)
    if least is not None:
        check_least(tally, found, least)


def attack_all(
    victim: str, data: str, solvers: Sequence[str], options: dict[str, Any]
) -> tuple[Tally, list[Certificate], list[Record]]:
    """Attack, and return what came of it: the tally, certificates if they were asked for, and some flipped texts."""
    from discotext.attacks.preflight import is_network, preflight
    from discotext.attacks.run import make_executor
    from discotext.support.extras import flush_denormals_globally

    # Mistakes in the command line are reported before anything slow begins.
    out = options.pop("out")
    service = pop_service(victim, options, options["workers"])
    executor = make_executor(**{name: options.pop(name) for name in shared.WORKER_OPTIONS})
    asked = pop_settings(options, service)
    preflight(victim, data, solvers, out)
    if is_network(victim):
        flush_denormals_globally()  # must come first; for other victims it would only import PyTorch for nothing
    from discotext.attacks.job import Job
    from discotext.attacks.run import perform
    from discotext.data.labels import fold, list_some
    from discotext.report.flipped import choose_flipped
    from discotext.runs.certificate import make_certificates
    from discotext.text.candidates import make_candidates

    # The options that are left are about candidates.
    candidates = make_candidates(**options, accept=float(asked.levels[0]) if asked.levels else None)
    job = Job.of(victim, data, solvers, replace(asked, candidates=candidates))
    certifies = asked.passes is not None
    console = make_console(stderr=True)
    print_message(console, f"{count_texts(len(job.examples), data, 200)}, solver {', '.join(job.solvers)}")
    classes = list(zip(job.examples.own or job.examples.names, job.victim.labels, strict=True))
    if any(fold(own) != fold(taken_for) for own, taken_for in classes):
        pairs = [f"{own} → {taken_for}" for own, taken_for in classes]
        print_message(console, f"classes of the data → of the victim: {list_some(pairs)}")
    if job.target is not None:
        print_message(console, f"target class: {job.victim.labels[job.target]}")
    if certifies:
        print_message(console, job.victim.explain_bounds())
    verdicts: list[Record] = []
    flipped: list[Record] = []
    with AttackProgress(console, len(job.schedule.units)) as progress:

        def watch(done: int, units: int, made: Sequence[Record]) -> None:
            if certifies:
                # All that a certificate needs; the texts of a long run would fill the memory.
                verdicts.extend(replace(one, text="", adversarial_text="", refused={}) for one in made)
            flipped[:] = choose_flipped([*flipped, *made])
            progress.update(done, units, made)

        tally = perform(job, out, watch, executor, progress.update_workers, progress.update_inside)
    return tally, make_certificates(tally.settings, verdicts) if certifies else [], flipped


def print_results(tally: Tally, found: list[Certificate], flipped: list[Record]) -> None:
    """Print certificates or, if there are none, what each attack left and some flipped texts."""
    from discotext.runs.summary import list_classes

    if found:
        print_certificates(found, tally.settings["certify"]["passes"])
        return
    for budget, summary in zip(tally.settings["budgets"], tally.summaries, strict=True):
        print_summary(summary)
        print_differences(tally, budget)
    print_flipped(flipped, list_classes(tally.settings))


def check_least(tally: Tally, found: list[Certificate], least: float) -> None:
    """End with status 4 if the certified accuracy or, without certificates, that under attack is too low."""
    from discotext.runs.threshold import check_accuracy

    if found:
        shares = [(one, one.certified_accuracy) for one in found]
        required = f"required: certified accuracy of at least {100 * least:.12g} %"
        low = [f"{one}; {required}" for one, share in shares if share is None or share < least]
    else:
        low = [f"{check.name}: {check}" for check in check_accuracy(tally.summaries, least) if not check.passed]
    if low:
        raise CommandError("; ".join(low), 4)


def pop_settings(options: dict[str, Any], service: Mapping[str, Any] | None) -> Settings:
    """What a command's options ask for but candidates, taken out of the options."""
    from discotext.attacks.settings import DEFAULT, Settings

    budget, words = list(options.pop("budget")), list(options.pop("words"))
    if budget and words:
        raise ValueError("--budget and --words are both given; give a share of the words or a number of them, not both")
    columns = shared.pop_columns(options)
    names = "accept limit seed target trust surrogate max_queries total_queries shard passes".split()
    given = {name: options.pop(name) for name in names if name in options}
    given |= {"text_column": columns.text, "label_column": columns.label, "rename": columns.rename}
    given |= {"unlabelled": columns.unlabelled, "service": service}
    return Settings(budget=budget or DEFAULT, words=words or None, **given)


def report_failures(tally: Tally) -> None:
    """Report on how many texts the victim raised an error; if on most of them, exit with status 3."""
    failed, records = int(tally.lines["failed"].sum()), len(tally.lines)
    if not failed:
        return
    message = f"the victim failed on {failed:,} of {records:,} records; the first error was: {one_line(tally.error)}"
    if 2 * failed > records:
        raise CommandError(f"{message}. The figures cover only the few texts that are left; do not rely on them", 3)
    click.echo(f"discotext: {message}", err=True)
