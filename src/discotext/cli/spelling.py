"""discotext decode --source spelling: plain text in, corrected text out, line by line."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from discotext.cli.decode_options import list_files
from discotext.cli.errors import RESUME, InterruptError
from discotext.cli.output import make_console, percent, print_message, write_json
from discotext.cli.progress import DelayedProgress

if TYPE_CHECKING:
    from discotext.decoding.corrector import Correction, Corrector
    from discotext.decoding.metrics import ErrorCounts

MARK = "\ufeff"  # a byte order mark, which some programs write before a text
LINES_PER_SAVE = 256  # lines of a result after which it is noted how far it goes
SECONDS_PER_SAVE = 5.0  # or after so long


class SpellingCommand:
    """One run of the command on plain text."""

    def __init__(self, given: str, as_json: bool, options: dict[str, Any]) -> None:
        from discotext.decoding.code_blocks import CodeBlocks

        self.given, self.as_json, self.options = given, as_json, options
        self.words = self.changes = self.lines = 0
        self.mark = ""
        self.blocks = CodeBlocks()

    def run(self) -> None:
        from discotext.decoding.metrics import ErrorCounts

        self._check()
        out: Path | None = self.options["out"]
        truth = self._read_truth()
        errors = ErrorCounts() if truth is not None else None
        began = time.perf_counter()
        corrector = self._make_corrector()
        size = os.path.getsize(self.given) if self._is_file() else 0
        try:
            with DelayedProgress() as progress:
                lines = self._read()
                if out is not None:
                    self._write(out, lines, lambda rest: self._correct(corrector, rest, progress, size))
                else:
                    for number, found in enumerate(self._correct(corrector, lines, progress, size), start=1):
                        sys.stdout.write(self._format(found, number))
                        _count(errors, truth, found)
        except KeyboardInterrupt:
            raise InterruptError(f"interrupted after {self.lines:,} lines; {self._tell_saved(out)}") from None
        if errors is not None and truth is not None and len(truth) > len(errors.rows):
            raise ValueError(
                f"the truth has {len(truth):,} lines, but the text has {len(errors.rows):,}; give one line for each"
            )
        self._tell(time.perf_counter() - began)
        if errors is not None:
            self._print_rates(errors)

    def _tell_saved(self, out: Path | None) -> str:
        if out is None:
            return "with --out it could be resumed"
        if self.given == "-":
            return f"the first lines are in {out}, but standard input cannot be resumed"
        return f"completed work is saved in {out}: {RESUME}"

    def _check(self) -> None:
        """Report mistakes in the command line before anything slow begins."""
        if not self.options["models"]:
            raise click.UsageError("--source spelling needs a language model; name one with --lm, such as pocketsphinx")
        if self.options["diff"] and self.as_json:
            raise click.UsageError("--diff and --json are two forms of output; give one of them")
        if self.options["truth"] is not None and self.options["out"] is not None:
            raise click.UsageError("--truth compares what is printed; leave out --out")
        # One word without spaces that ends like a file is a file that is not there.
        if self.given != "-" and not self._is_file() and " " not in self.given and Path(self.given).suffix:
            raise FileNotFoundError(
                f"there is no file {self.given!r}; name a file, - for standard input, or give a text"
            )

    def _is_file(self) -> bool:
        try:
            return self.given != "-" and Path(self.given).exists()
        except OSError:  # a text may be too long for the name of a file
            return False

    def _make_corrector(self) -> Corrector:
        from discotext.decoding.confusions import read_confusions
        from discotext.decoding.corrector import Corrector
        from discotext.language.registry import load_language_model

        options = self.options
        confusions = read_confusions(options["confusions"])
        return Corrector(
            [load_language_model(name) for name in options["models"]],
            options["weights"] or None,
            confusions,
            margin=options["margin"],
            budget=options["budget"],
            words=options["words"],
        )

    def _read(self) -> Iterator[str]:
        from discotext.data.texts import read_file, read_lines

        if self.given == "-":
            lines = read_lines(sys.stdin.buffer, "standard input", keep_mark=True)
        elif self._is_file():
            lines = read_file(self.given, keep_mark=True)
        else:
            lines = iter([self.given if self.as_json else f"{self.given}\n"])
        first = next(lines, None)
        if first is not None:
            self.mark = MARK if first.startswith(MARK) else ""
            yield first.removeprefix(MARK)
        yield from lines

    def _correct(
        self, corrector: Corrector, lines: Iterator[str], progress: DelayedProgress, size: int
    ) -> Iterator[Correction]:
        read = 0
        for found in corrector.correct_all(lines, self.blocks):
            read += len(found.original.encode("utf-8", "surrogatepass"))
            self.words += found.words
            self.changes += len(found.changes)
            self.lines += 1
            if size and self.lines % 100 == 0:
                progress.update(f"correcting, {self.words:,} words", min(read, size), size)
            yield found

    def _format(self, found: Correction, number: int) -> str:
        """What is written of a line."""
        if self.as_json:
            return json.dumps(found.as_dict(str(number)), ensure_ascii=False) + "\n"
        if self.options["diff"]:
            return f"{number}: {found.show_changes().rstrip()}\n" if found.changes else ""
        mark = self.mark if number == 1 else ""
        if not self.options["explain"]:
            return mark + found.text
        end = "" if found.text.endswith("\n") else "\n"
        return f"{mark}{found.text}{end}" + "".join(
            f"  {change.old} → {change.new}  {change.margin:+.2f}"
            + "".join(f", {word} {score:+.2f}" for word, score in change.alternatives)
            + "\n"
            for change in found.changes
        )

    def _write(self, out: Path, lines: Iterator[str], correct: Callable[[Iterator[str]], Iterator[Correction]]) -> None:
        """Write to a file. A second file notes how far it is complete, so that the same command goes on from there."""
        state = out.with_name(f"{out.name}.progress")
        settings = {name: str(value) for name, value in self.options.items() if name != "out"}
        settings |= {"input": self.given, "json": str(self.as_json)}
        settings["files"] = json.dumps(list_files(self.given, self.options))
        key = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
        done = self._find_done(out, state, key)
        with closing(open(out, "r+b" if done["bytes"] else "wb")) as file:
            file.truncate(done["bytes"])
            file.seek(done["bytes"])
            number = done["lines"]
            for line in islice(lines, number):
                self.blocks.read(line)  # done already, and only read to know where code begins
            _note(state, key, number, file)  # at once, so that whatever happens, the same command may be repeated
            saved = time.monotonic()
            for found in correct(lines):
                number += 1
                file.write(self._format(found, number).encode())
                if number % LINES_PER_SAVE == 0 or time.monotonic() - saved > SECONDS_PER_SAVE:
                    _note(state, key, number, file)
                    saved = time.monotonic()
        state.unlink(missing_ok=True)

    def _find_done(self, out: Path, state: Path, key: str) -> dict[str, int]:
        if not out.exists() or (out.is_file() and not out.stat().st_size):
            return {"lines": 0, "bytes": 0}
        if not state.exists():
            raise ValueError(f"{out} already exists; choose another file, or remove it")
        try:
            noted = json.loads(state.read_bytes())
            lines, size = noted["lines"], noted["bytes"]
            usable = type(lines) is type(size) is int and lines >= 0 and 0 <= size <= out.stat().st_size
        except (ValueError, LookupError, TypeError, RecursionError):
            usable = False
        if not usable:
            raise ValueError(f"{state} is damaged, or {out} was changed since; remove both, or choose another file")
        if noted.get("key") != key or self.given == "-":
            raise ValueError(f"{out} was begun with other settings or another input; choose another file, or remove it")
        return {"lines": lines, "bytes": size}

    def _read_truth(self) -> list[str] | None:
        path = self.options["truth"]
        if path is None:
            return None
        from discotext.data.texts import read_file

        return [line.rstrip("\r\n") for line in read_file(path)]

    def _tell(self, seconds: float) -> None:
        share = 1000 * self.changes / max(self.words, 1)
        print_message(
            make_console(stderr=True),
            f"{self.words:,} words in {seconds:.1f} s, {self.changes:,} changed ({share:.1f} of 1,000)",
        )

    def _print_rates(self, errors: ErrorCounts) -> None:
        rates = errors.rates(self.options["seed"])
        if self.as_json:
            write_json(asdict(rates))
            return
        wer, low, high = (percent(rate, 2) for rate in (rates.wer, rates.wer_low, rates.wer_high))
        before, cer, cer_before = (percent(rate, 2) for rate in (rates.wer_original, rates.cer, rates.cer_original))
        click.echo(f"word error rate      {wer} (95 %: {low} to {high}), of the originals {before}")
        click.echo(f"character error rate {cer}, of the originals {cer_before}")


def _note(state: Path, key: str, lines: int, file: IO[bytes]) -> None:
    """Note how far a file is complete."""
    from discotext.support.files import write_atomically

    file.flush()
    write_atomically(state, json.dumps({"key": key, "lines": lines, "bytes": file.tell()}))


def _count(errors: ErrorCounts | None, truth: list[str] | None, found: Correction) -> None:
    if errors is None or truth is None:
        return
    number = len(errors.rows)
    if number >= len(truth):
        raise ValueError(f"the truth has {len(truth):,} lines, but the text has more; give one line for each")
    errors.add(truth[number], found.text, found.original)
