"""discotext decode: the best word at each position, under language models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from discotext.cli.decode_options import decode_options, list_files
from discotext.cli.errors import RESUME, InterruptError
from discotext.cli.help import GroupedCommand, argument
from discotext.cli.output import make_console, print_message, write_json
from discotext.cli.progress import DelayedProgress

if TYPE_CHECKING:
    from rich.console import Console

    from discotext.decoding.constraints import Constraints
    from discotext.decoding.decode import Decoder
    from discotext.decoding.metrics import ErrorRates
    from discotext.decoding.network import Network
    from discotext.decoding.result import Decoded
    from discotext.decoding.run import ResultFile, Totals

Watch = Callable[[int], None]
# Options that do nothing with a source, by its name.
UNUSED = {
    "networks": ("margin", "diff", "confusions"),
    "spelling": ("lists", "scores", "channel_weight", "word_penalty", "solver", "nbest", "force", "forbid", "contain",
                 "exclude", "shortest", "longest"),
}  # fmt: skip


@click.command(cls=GroupedCommand)
@argument(
    "input",
    "A file of networks: JSON lines with positions or n-best lists, an HTK lattice (SLF), or hOCR with alternatives; a "
    "folder of lattices (.slf, .lat); or - for standard input. With --source spelling: a text, a file of plain text, "
    "or -.",
)
@decode_options
def command(input: str, as_json: bool, **options: Any) -> None:
    """Choose the best word at each position, under language models.

    A network has alternatives at each position, with channel scores: natural logarithms of how well each fits what was
    heard, seen or typed. The first is the original. The chosen text maximises

    \b
      channel weight × channel + Σ weight × ln p(text) − word penalty × words

    and changes no more positions than allowed. Under n-gram models the answer is proved to be the best.

    \b
    Examples:
      discotext decode lattices.jsonl --lm news.lm --json
      discotext decode nbest.jsonl --lm pocketsphinx --weight 0.5 --truth t.txt
      discotext decode page.hocr --lm news.arpa --budget 0.1 --explain
      discotext decode big.jsonl --lm news.lm --out decoded.jsonl
      discotext decode "I recieve alot" --source spelling --lm pocketsphinx
      discotext decode essay.txt --source spelling --lm news.lm --diff
    """
    if not input:
        raise click.UsageError(
            "the input is empty; name a file, - for standard input or, with --source spelling, give a text"
        )
    refuse_unused(options["source"])
    if options["budget"] is not None and options["words"] is not None:
        raise click.UsageError("--budget and --words are two ways to say the same; give one of them")
    if options["weights"] and len(options["weights"]) != len(options["models"]):
        raise click.UsageError(
            f"{len(options['weights'])} times --weight, but {len(options['models'])} times --lm; give one for each, or "
            "none"
        )
    if options["source"] == "spelling":
        from discotext.cli.spelling import SpellingCommand

        SpellingCommand(input, as_json, options).run()
    else:
        Command(input, as_json, options).run()


def refuse_unused(source: str) -> None:
    """Report options that were given but do nothing with this source."""
    context = click.get_current_context()
    for one in context.command.params:
        given = one.name and context.get_parameter_source(one.name) == ParameterSource.COMMANDLINE
        if given and one.name in UNUSED[source]:
            other = "spelling" if source == "networks" else "networks"
            raise click.UsageError(f"{one.opts[0]} is for {other}; leave it out with --source {source}")


def open_source(name: str, given: str, options: dict[str, Any], watch: Watch) -> Iterator[Network]:
    """The networks of an input, one at a time. name: of the source. watch: is told the bytes read so far."""
    from discotext.decoding.reading import read_networks

    # Further sources of networks are told apart here.
    assert name == "networks"
    return read_networks(given, lists=options["lists"], scale=options["scores"], watch=watch)


class Command:
    """One run of the command."""

    def __init__(self, given: str, as_json: bool, options: dict[str, Any]) -> None:
        self.given, self.as_json, self.options = given, as_json, options
        self.messages: Console = make_console(stderr=True)

    def run(self) -> None:
        from discotext.decoding.run import Totals, check_words, read_truth, run

        if self.given != "-" and not Path(self.given).exists():
            raise FileNotFoundError(
                f"there is no file {self.given!r}; name a file of networks, or - for standard input; to correct a "
                "text, add --source spelling"
            )
        decoder = self._make_decoder()
        totals, out, truth = Totals(), self._open_out(), self.options["truth"]
        size = os.path.getsize(self.given) if self.given != "-" and Path(self.given).is_file() else 0
        with DelayedProgress() as progress:

            def watch(read: int) -> None:
                if size:
                    progress.update(f"decoding, {totals.networks:,} texts", read, size)

            networks = open_source(self.options["source"], self.given, self.options, watch)
            solvers: dict[str, int] = {}
            results = run(
                decoder,
                check_words(networks, self.options["words"]),
                totals,
                truth=None if truth is None else read_truth(truth),
                out=out,
            )
            try:
                for found in results:
                    if found is not None:
                        solvers[found.solver] = solvers.get(found.solver, 0) + 1
                        if out is None:
                            self._print(found)
            except KeyboardInterrupt:
                saved = f"completed work is saved in {out.path}: {RESUME}" if out else "with --out it could be resumed"
                raise InterruptError(f"interrupted after {totals.networks:,} texts; {saved}") from None
        self._tell(totals, solvers)
        if truth is not None:
            self._print_rates(totals.errors.rates(self.options["seed"]))

    def _make_decoder(self) -> Decoder:
        from discotext.decoding.decode import Decoder

        options = self.options
        return Decoder(
            models=options["models"],
            weights=options["weights"] or None,
            channel_weight=options["channel_weight"],
            word_penalty=options["word_penalty"],
            budget=options["budget"],
            words=options["words"],
            constraints=self._make_constraints(),
            nbest=options["nbest"],
            solver=options["solver"],
            explain=options["explain"],
            seed=options["seed"],
        )

    def _make_constraints(self) -> Constraints:
        from discotext.decoding.constraints import Constraints

        options, forced = self.options, {}
        for pair in options["force"]:
            position, found, word = pair.partition("=")
            if not found or not position.isdecimal():
                raise ValueError(f"--force is {pair!r}; expected a position and a word, such as 3=film")
            forced[int(position)] = word
        return Constraints(
            forced=forced,
            forbidden=options["forbid"],
            contain=options["contain"],
            exclude=options["exclude"],
            shortest=options["shortest"],
            longest=options["longest"],
        )

    def _open_out(self) -> ResultFile | None:
        from discotext.decoding.run import ResultFile

        out = self.options["out"]
        if out is None:
            return None
        left_out = ("out", "truth", "as_json")
        settings = {name: list(value) if isinstance(value, tuple) else value for name, value in self.options.items()}
        kept = {name: value for name, value in settings.items() if name not in left_out}
        return ResultFile(out, {"input": self.given, **kept, "files": list_files(self.given, self.options)})

    def _print(self, found: Decoded) -> None:
        if self.as_json:
            write_json(found.as_json())
            return
        click.echo(found.text)
        if self.options["explain"]:
            for change in found.changes:
                others = ", ".join(
                    f"{one.word or '(nothing)'} {one.score - found.score:+.2f}" for one in change.options
                )
                click.echo(
                    f"  {change.position}: {change.old or '(nothing)'} → {change.new or '(nothing)'}  [{others}]"
                )
        if self.options["nbest"] > 1:
            for one in found.nbest:
                click.echo(f"  {one.score:.3f}  {one.text}")

    def _tell(self, totals: Totals, solvers: dict[str, int]) -> None:
        """Say on standard error what was done."""
        for name, count in solvers.items():
            print_message(self.messages, f"{count:,} searched by {name}")
        message = f"{totals.networks:,} texts, {totals.changed:,} changed, {totals.proved:,} proved to be the best"
        if totals.failed:
            message += f", {totals.failed:,} failed"
        if totals.resumed:
            message += f"; {totals.resumed:,} were there already"
        print_message(self.messages, message)
        if totals.unknown:
            share = 100 * totals.unknown / max(totals.words, 1)
            print_message(
                self.messages,
                f"{totals.unknown:,} of {totals.words:,} words ({share:.1f} %) are unknown to a language model: <unk>",
            )

    def _print_rates(self, rates: ErrorRates) -> None:
        if self.as_json:
            write_json(asdict(rates))
            return
        if rates.wer is None:
            click.echo("there are no words in the truth, so there are no error rates")
            return
        click.echo(
            f"word error rate      {percent(rates.wer)} (95 %: {percent(rates.wer_low)} to {percent(rates.wer_high)})"
        )
        p = "–" if rates.p is None else f"{rates.p:.2g}"
        click.echo(f"of the originals     {percent(rates.wer_original)} (matched pairs: p = {p})")
        click.echo(f"best in the networks {percent(rates.wer_oracle)}")
        click.echo(f"character error rate {percent(rates.cer)}, of the originals {percent(rates.cer_original)}")


def percent(value: float | None) -> str:
    """A rate in percent."""
    return "–" if value is None else f"{100 * value:.2f} %"
