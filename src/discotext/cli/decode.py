"""discotext decode: the best word at each position, under language models; plain text is corrected line by line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from discotext.cli.errors import RESUME, InterruptError
from discotext.cli.help import Count, GroupedCommand, Number, argument, option
from discotext.cli.names import NETWORK_SOURCES, SEQUENCE_SOLVERS, SOLVERS, join_names
from discotext.cli.options import EXISTING_FILE, OUTPUT_FILE, complete_names, json_option, seed_option
from discotext.cli.output import make_console, print_message, write_json
from discotext.support.plain_text import percent
from discotext.support.progress import Progress

if TYPE_CHECKING:
    from discotext.decoding.corrector import Corrected
    from discotext.decoding.metrics import ErrorRates
    from discotext.decoding.network import Network

AT_ONCE = 256  # networks that are held in memory
SECONDS_PER_SAVE = 5.0  # after which it is noted how far a result goes
# Options that are for one source alone.
ONLY_FOR = {
    **dict.fromkeys(("margin", "diff", "confusions"), "spelling"),
    **dict.fromkeys(("word_penalty", "solver", "nbest"), "networks"),
}
spelling_option, score_option, search_option, output_option = (
    partial(option, section=name) for name in ("Spelling", "Score", "Search", "Output")
)


@click.command(cls=GroupedCommand)
@argument(
    "input",
    "A file of networks, JSON lines with positions or n-best lists, or - for standard input. With --source spelling: "
    "a text, a file of plain text, or -.",
)
@option(
    "--source",
    section="Input",
    type=click.Choice(NETWORK_SOURCES),
    default="networks",
    help="Where the alternatives come from: a file of networks, or words that are spelt alike.",
)
@spelling_option(
    "--confusions",
    multiple=True,
    type=EXISTING_FILE,
    metavar="FILE",
    help="Your own table of mistakes: `wrong<TAB>right[<TAB>count]` or `wrong->right, right` on each line. Repeatable.",
)
@spelling_option(
    "--margin",
    type=Number(),
    metavar="M",
    default=2.2,
    help="How much better a change must be, in natural logarithms: more means fewer and safer changes.",
)
@spelling_option("--diff", is_flag=True, help="Show only changed lines, as [-old-]{+new+}.")
@score_option(
    "--lm",
    "models",
    multiple=True,
    metavar="LM",
    help="A language model: a file written by `discotext train-lm`, an ARPA or KenLM file, "
    "hf:NAME_OR_FOLDER (Hugging Face, causal), masked:NAME_OR_FOLDER or smollm2. Repeatable.",
)
@score_option(
    "--weight",
    "weights",
    multiple=True,
    type=Number(),
    metavar="W",
    show_default="1",
    help="Weight of a language model. Repeatable, in the order of --lm.",
)
@score_option(
    "--word-penalty",
    type=Number(),
    metavar="P",
    default=0.0,
    help="What every word costs, so that longer texts are not preferred; below 0, what it earns.",
)
@search_option(
    "--budget",
    type=Number(0, 1, min_open=True),
    metavar="SHARE",
    show_default="all",
    help="Share of the positions that may change, above 0 and at most 1.",
)
@search_option("--words", type=Count(0), metavar="N", help="Number of positions that may change, instead of --budget.")
@search_option(
    "--solver",
    default="auto",
    metavar="NAME",
    shell_complete=lambda ctx, param, incomplete: complete_names(("auto", *SEQUENCE_SOLVERS, *SOLVERS), incomplete),
    help=f"Search method: auto, {join_names((*SEQUENCE_SOLVERS, *SOLVERS))}. auto is viterbi for n-gram models, "
    "prefix-beam for others that read from left to right, else greedy.",
)
@search_option("--nbest", type=Count(1), metavar="N", default=1, help="How many texts to return.")
@seed_option("Search")
@output_option(
    "--truth",
    type=EXISTING_FILE,
    metavar="FILE",
    help="The right texts, one on each line or as JSON lines with `text`: prints word and character error rates, "
    "with 95 % intervals and a matched-pairs test.",
)
@output_option(
    "--out",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write the results to a file, networks as JSON lines; interrupted, the same command resumes.",
)
@json_option("a JSON object for each text; with --truth, the error rates as the last line")
def command(input: str, as_json: bool, **options: Any) -> None:
    """Choose the best word at each position, under language models.

    A network has alternatives at each position, with channel scores: natural logarithms of how well each fits what was
    heard, seen or typed. The first is the original. The chosen text maximises

    \b
      channel + Σ weight × ln p(text) − word penalty × words

    and changes no more positions than allowed. Under n-gram models the answer is proved to be the best.

    \b
    Examples:
      discotext decode networks.jsonl --lm news.lm --json
      discotext decode nbest.jsonl --lm news.lm --weight 0.5 --truth t.txt
      discotext decode big.jsonl --lm news.lm --out decoded.jsonl
      discotext decode "I recieve alot" --source spelling --lm news.lm
      discotext decode essay.txt --source spelling --lm news.lm --diff
    """
    check_options(input, as_json, options)
    kind = CorrectText if options["source"] == "spelling" else DecodeNetworks
    kind(input, as_json, options).run()


def check_options(given: str, as_json: bool, options: dict[str, Any]) -> None:
    """Report mistakes in the command line before anything slow begins."""
    source, context = options["source"], click.get_current_context()
    for one in context.command.params:
        typed = one.name and context.get_parameter_source(one.name) == ParameterSource.COMMANDLINE
        if typed and ONLY_FOR.get(str(one.name), source) != source:
            raise click.UsageError(
                f"{one.opts[0]} is for {ONLY_FOR[str(one.name)]}; leave it out with --source {source}"
            )
    weights, models, limits = len(options["weights"]), len(options["models"]), (options["budget"], options["words"])
    for wrong, message in (
        (not given, "the input is empty; name a file, - for standard input or, with --source spelling, give a text"),
        (None not in limits, "--budget and --words are two ways to say the same; give one of them"),
        (weights not in (0, models), f"{weights} times --weight, but {models} times --lm; give one for each, or none"),
        (
            source == "spelling" and not models,
            "--source spelling needs a language model; train one with discotext train-lm, and name it with --lm",
        ),
        (options["diff"] and as_json, "--diff and --json are two forms of output; give one of them"),
        (options["truth"] and options["out"], "--truth compares what is printed; leave out --out"),
    ):
        if wrong:
            raise click.UsageError(message)


class DecodeNetworks:
    """The command on networks. Results are written as they come, and counted.

    unit: What they are called. done: How many there are so far. position: How many bytes of the input were read.
    """

    unit = "texts"

    def __init__(self, given: str, as_json: bool, options: dict[str, Any]) -> None:
        self.given, self.as_json, self.options = given, as_json, options
        self.done = self.position = 0
        self.counts: Counter[str] = Counter()
        self.prepare()

    def run(self) -> None:
        from discotext.decoding.metrics import ErrorCounts

        began, size, right = time.perf_counter(), find_size(self.given), self.options["truth"]
        out = None if self.options["out"] is None else ResumableFile(self.options["out"], self._hash_settings())
        skipped = 0 if out is None else out.lines
        errors, truth = ErrorCounts(), iter(()) if right is None else read_truth(right)
        try:
            with Progress() as progress:
                for number, (found, network) in enumerate(self.read(skipped), start=skipped + 1):
                    self.done += 1
                    (sys.stdout if out is None else out).write(self.format(found, number))
                    if size:
                        progress.update(f"{self.done:,} {self.unit} decoded", min(self.position, size), size)
                    if right is not None:
                        line = next(truth, None)
                        if line is None:
                            raise ValueError(f"the truth has {number - 1:,} lines, but there are more {self.unit}")
                        errors.add(line, found.text, found.original, network)
        except KeyboardInterrupt:
            saved = "with --out it could be resumed"
            if out is not None:
                out.save()
                saved = f"completed work is saved in {out.path}: {RESUME}"
            raise InterruptError(f"interrupted after {self.done:,} {self.unit}; {saved}") from None
        if out is not None:
            out.finish()
        if next(truth, None) is not None:
            raise ValueError(f"the truth has more lines than there are {self.unit}, which are {self.done:,}")
        already = f"; {skipped:,} were there already" if skipped else ""
        for message in self.summarise(time.perf_counter() - began, already):
            print_message(make_console(stderr=True), message)
        if right is not None:
            self._print_rates(errors.rates(self.options["seed"]))

    def _hash_settings(self) -> str:
        """A key of what the results depend on, files included."""
        from discotext.support.files import describe_files

        models = [re.sub("^(hf|masked):", "", name) for name in self.options["models"]]
        files = describe_files([self.given, *models, *map(str, self.options["confusions"])])
        settings = {name: str(value) for name, value in self.options.items() if name != "out"}
        settings |= {"input": self.given, "json": str(self.as_json), "files": json.dumps(files)}
        if self.given == "-":
            settings["input"] += str(time.time_ns())  # what comes another time may be anything
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()

    def _print_rates(self, rates: ErrorRates) -> None:
        if self.as_json:
            write_json(asdict(rates))
            return
        shown = {name: percent(value, 2) for name, value in asdict(rates).items() if name not in ("p", "n", "words")}
        p = "–" if rates.p is None else f"{rates.p:.2g}"
        click.echo(f"word error rate      {shown['wer']} (95 %: {shown['wer_low']} to {shown['wer_high']})")
        click.echo(f"of the originals     {shown['wer_original']} (matched pairs: p = {p})")
        click.echo(f"best in the networks {shown['wer_oracle']}")
        click.echo(f"character error rate {shown['cer']}, of the originals {shown['cer_original']}")

    def prepare(self) -> None:
        """Load what is needed; mistakes are reported before any file is written."""
        from discotext.decoding.decode import Decoder

        if self.given != "-" and not Path(self.given).exists():
            raise FileNotFoundError(
                f"there is no file {self.given!r}; name a file of networks, or - for standard input; to correct a "
                "text, add --source spelling"
            )
        names = "word_penalty budget words nbest solver seed models".split()
        self.decoder = Decoder(weights=self.options["weights"] or None, **{name: self.options[name] for name in names})
        self.solvers: Counter[str] = Counter()

    def read(self, skip: int) -> Iterator[tuple[Any, Network | None]]:
        """The results after the first `skip`, each with its network if there is one."""
        from discotext.decoding.decode import check_words
        from discotext.decoding.reading import read_networks

        def watch(read: int) -> None:
            self.position = read

        networks = read_networks(self.given, watch=watch)
        some = list(islice(networks, skip, skip + AT_ONCE))
        check_words(some, self.options["words"])
        while some:
            for network, found in zip(some, self.decoder(some), strict=True):
                self.solvers[found.solver] += 1
                self.counts.update(
                    changed=bool(found.changes), proved=found.proved, failed=found.status.name == "FAILED",
                    words=found.words, unknown=found.unknown,
                )  # fmt: skip
                yield found, network
            some = list(islice(networks, AT_ONCE))

    def format(self, found: Any, number: int) -> str:
        """What is written of a result."""
        if self.as_json or self.options["out"] is not None:
            return json.dumps(found.as_json(), ensure_ascii=False) + "\n"
        listed = found.nbest if self.options["nbest"] > 1 else ()
        return "".join([f"{found.text}\n", *(f"  {one.score:.3f}  {one.text}\n" for one in listed)])

    def summarise(self, seconds: float, already: str) -> list[str]:
        """What is said on standard error."""
        counts = self.counts
        failed = f", {counts['failed']:,} failed" if counts["failed"] else ""
        done = f"{self.done:,} texts, {counts['changed']:,} changed, {counts['proved']:,} proved to be the best"
        lines = [*(f"{count:,} searched by {name}" for name, count in self.solvers.items()), f"{done}{failed}{already}"]
        if counts["unknown"]:
            share = percent(counts["unknown"] / counts["words"])
            words = f"{counts['unknown']:,} of {counts['words']:,} words"
            lines.append(f"{words} ({share}) are unknown to a language model")
        return lines


class CorrectText(DecodeNetworks):
    """The command on plain text, line by line; what is not changed stays as it is."""

    unit = "lines"

    def prepare(self) -> None:
        from discotext.decoding.corrector import Corrector
        from discotext.decoding.speller import read_confusions
        from discotext.models.registry import load_language_model

        options = self.options
        self.lines = self._read_lines()
        self.corrector = Corrector(
            [load_language_model(name) for name in options["models"]],
            options["weights"] or None,
            read_confusions(options["confusions"]),
            **{name: options[name] for name in ("margin", "budget", "words")},
        )

    def read(self, skip: int) -> Iterator[tuple[Corrected, None]]:
        from discotext.decoding.passages import CodeBlocks

        blocks = CodeBlocks()
        for line in islice(self.lines, skip):
            blocks.read(line)  # done already, and only read to know where code begins
        for found in self.corrector.correct_all(self.lines, blocks):
            self.position += len(found.original.encode("utf-8", "surrogatepass"))
            self.counts.update(words=found.words, changes=len(found.changes))
            yield found, None

    def _read_lines(self) -> Iterator[str]:
        from discotext.data.files import read_file, read_lines

        # A byte order mark, which some programs write before a text, stays before it.
        keep = not (self.as_json or self.options["truth"])
        if self.given == "-":
            return read_lines(sys.stdin.buffer, "standard input", keep)
        if find_size(self.given) is not None:
            return read_file(self.given, keep)
        if " " not in self.given and Path(self.given).suffix:
            # One word without spaces that ends like a file is a file that is not there.
            raise FileNotFoundError(
                f"there is no file {self.given!r}; name a file, - for standard input, or give a text"
            )
        return iter([self.given if self.as_json else f"{self.given}\n"])

    def format(self, found: Any, number: int) -> str:
        if self.as_json:
            return json.dumps(found.as_json(str(number)), ensure_ascii=False) + "\n"
        if self.options["diff"]:
            return f"{number}: {found.show_changes().rstrip()}\n" if found.changes else ""
        return str(found.text)

    def summarise(self, seconds: float, already: str) -> list[str]:
        words, changes = self.counts["words"], self.counts["changes"]
        share = 1000 * changes / max(words, 1)
        return [f"{words:,} words in {seconds:.1f} s, {changes:,} changed ({share:.1f} of 1,000){already}"]


def find_size(name: str) -> int | None:
    """The bytes of a file; None where there is none (a text may be too long for the name of a file)."""
    try:
        return None if name == "-" else os.path.getsize(name)
    except (OSError, ValueError):
        return None


class ResumableFile:
    """A file that an interrupted command resumes.

    A second file, `.progress` added to its name, notes how far it is complete; it is removed at the end.
    lines: How many results are there. key: What they depend on; a file that was begun with another is refused.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key, self.lines, size = path, key, 0, 0
        self.note = path.with_name(f"{path.name}.progress")
        if path.exists() and path.stat().st_size:
            way_out = "choose another file, or remove it"
            if not self.note.exists():
                raise ValueError(f"{path} already exists; {way_out}")
            try:
                noted = json.loads(self.note.read_bytes())
                known, self.lines, size = noted["key"], noted["lines"], noted["bytes"]
            except (ValueError, LookupError, TypeError, RecursionError):
                known = None
            if known != key or size > path.stat().st_size:
                raise ValueError(f"{path} was begun with other settings or another input, or changed since; {way_out}")
        self.file = open(path, "r+b" if size else "wb")  # noqa: SIM115 (closed by `finish`, or with the process)
        self.file.truncate(size)
        self.file.seek(size)
        self.save()  # at once, so that whatever happens, the same command may be repeated

    def write(self, text: str) -> None:
        """Add a result."""
        self.file.write(text.encode())
        self.lines += 1
        if time.monotonic() - self._saved >= SECONDS_PER_SAVE:
            self.save()

    def save(self) -> None:
        """Note how far the file is complete."""
        from discotext.support.files import write_atomically

        self.file.flush()
        write_atomically(self.note, json.dumps({"key": self.key, "lines": self.lines, "bytes": self.file.tell()}))
        self._saved = time.monotonic()

    def finish(self) -> None:
        """Close the file, which is complete."""
        self.file.close()
        self.note.unlink(missing_ok=True)


def read_truth(path: Path) -> Iterator[str]:
    """The right texts of a file: one on each line, or JSON lines {"id": …, "text": …}."""
    from discotext.data.files import read_file, read_json_lines

    lines = read_file(path)
    first = next(lines, "")
    if not first.startswith('{"'):
        yield from chain([first] if first else [], lines)
        return
    for where, (text,) in read_json_lines(chain([first], lines), lambda names, file: ("text",), str(path)):
        if not isinstance(text, str):
            raise ValueError(f"{path}, {where}: the text is {text!r:.40}; expected a string")
        yield text
