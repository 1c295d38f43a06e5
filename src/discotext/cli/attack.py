"""discotext attack: how many predictions flip when a few words change?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from discotext.attacks.progress import AttackProgress
from discotext.cli.data_options import describe_classes, pop_columns
from discotext.cli.errors import (
    CommandError,
    TooLowError,
    VictimFailedError,
    describe_saved,
    explain_interrupt,
    one_line,
)
from discotext.cli.figures import print_certificates, print_differences, print_flipped, print_summary
from discotext.cli.help import GroupedCommand, option
from discotext.cli.options import WORKER_OPTIONS, attack_options, data_argument, solver_option, victim_argument
from discotext.cli.output import make_console, print_message, write_json
from discotext.cli.service_options import pop_service
from discotext.support.plain_text import count_texts

if TYPE_CHECKING:
    from discotext.attacks.settings import Settings
    from discotext.runs.record import Record
    from discotext.runs.summary import Tally


@click.command(cls=GroupedCommand)
@victim_argument
@data_argument("test", required=False)
@solver_option(text="Search method", default="auto")
@attack_options
@option("--text", section="Data", metavar="TEXT", help="Attack this text instead of DATA, and show what was tried.")
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


def run_attack(victim: str, data: str, solvers: Sequence[str], options: dict[str, Any]) -> None:
    """Attack with progress, and print tables or JSON; after Ctrl-C or a failed service, say what has been saved."""
    from discotext.core.oracle import UnavailableError

    try:
        _run_attack(victim, data, solvers, dict(options))
    except KeyboardInterrupt:
        raise explain_interrupt(options["out"]) from None
    except UnavailableError as error:
        raise CommandError(f"{one_line(error)}{describe_saved(options['out'])}") from error


def _run_attack(victim: str, data: str, solvers: Sequence[str], options: dict[str, Any]) -> None:
    from discotext.attacks.preflight import is_network, preflight
    from discotext.attacks.run import make_executor
    from discotext.support.extras import flush_denormals_globally

    # Mistakes in the command line are reported before anything slow begins.
    least, out, as_json = (options.pop(name) for name in ("fail_under", "out", "as_json"))
    service = pop_service(victim, options, options["workers"])
    executor = make_executor(**{name: options.pop(name) for name in WORKER_OPTIONS})
    asked = pop_settings(options, service)
    preflight(victim, data, solvers, out)
    if is_network(victim):
        flush_denormals_globally()  # must come first; for other victims it would only import PyTorch for nothing
    from discotext.attacks.job import Job
    from discotext.attacks.run import perform
    from discotext.report.flipped import choose_flipped
    from discotext.runs.certificate import make_certificates
    from discotext.runs.summary import list_classes
    from discotext.runs.threshold import check_accuracy
    from discotext.text.candidates import make_candidates

    # The options that are left are about candidates.
    found = make_candidates(**options, accept=float(asked.levels[0]) if asked.levels else None)
    job = Job.of(victim, data, solvers, replace(asked, candidates=found))
    passes = asked.passes
    console = make_console(stderr=True)
    print_message(console, f"{count_texts(len(job.examples), data, 200)}, solver {', '.join(job.solvers)}")
    classes = describe_classes(job.examples, job.victim.labels)
    if classes is not None:
        print_message(console, classes)
    if job.target is not None:
        print_message(console, f"target class: {job.victim.labels[job.target]}")
    if passes is not None:
        print_message(console, job.victim.explain_bounds())
    verdicts: list[Record] = []
    flipped: list[Record] = []
    with AttackProgress(console, len(job.schedule.units)) as progress:

        def watch(done: int, units: int, made: Sequence[Record]) -> None:
            if passes is not None:
                # All that a certificate needs; the texts of a long run would fill the memory.
                verdicts.extend(replace(one, text="", adversarial_text="", refused={}) for one in made)
            flipped[:] = choose_flipped([*flipped, *made])
            progress.update(done, units, made)

        tally = perform(job, out, watch, executor, progress.update_workers, progress.update_inside)
    if passes is not None:
        certificates = make_certificates(tally.settings, verdicts)
        if as_json:
            for certificate in certificates:
                write_json(certificate.as_dict())
        else:
            print_certificates(certificates, passes)
    for budget, summary in zip(tally.settings["budgets"], tally.summaries, strict=True) if passes is None else ():
        if as_json:
            write_json(summary.as_dict())
        else:
            print_summary(summary)
            print_differences(tally, budget)
    if not as_json and passes is None:
        print_flipped(flipped, list_classes(tally.settings))
    if out is not None and not as_json:
        print_message(console, f"records saved in {out}; run `discotext report {out}` for an HTML report")
    report_failures(tally)
    if least is None:
        return
    if passes is None:
        low = [f"{check.name}: {check}" for check in check_accuracy(tally.summaries, least) if not check.passed]
    else:
        shares = [(one, one.certified_accuracy) for one in certificates]
        low = [f"{one}; required: certified accuracy of at least {100 * least:.12g} %" for one, share in shares
               if share is None or share < least]  # fmt: skip
    if low:
        raise TooLowError("; ".join(low))


def pop_settings(options: dict[str, Any], service: Mapping[str, Any] | None) -> Settings:
    """What a command's options ask for but candidates, taken out of the options."""
    from discotext.attacks.settings import DEFAULT, Settings

    budget, words = list(options.pop("budget")), list(options.pop("words"))
    if budget and words:
        raise ValueError("--budget and --words are both given; give a share of the words or a number of them, not both")
    columns = pop_columns(options)
    names = "accept limit seed target trust surrogate max_queries total_queries shard passes".split()
    return Settings(
        budget=budget or DEFAULT,
        words=words or None,
        text_column=columns.text,
        label_column=columns.label,
        rename=columns.rename,
        unlabelled=columns.unlabelled,
        service=service,
        **{name: options.pop(name) for name in names if name in options},
    )


def report_failures(tally: Tally) -> None:
    """Report on how many texts the victim raised an error; if on most of them, exit with status 3."""
    failed, records = int(tally.lines["failed"].sum()), len(tally.lines)
    if not failed:
        return
    message = f"the victim failed on {failed:,} of {records:,} records; the first error was: {one_line(tally.error)}"
    if 2 * failed > records:
        raise VictimFailedError(f"{message}. The figures cover only the few texts that are left; do not rely on them")
    click.echo(f"discotext: {message}", err=True)
