"""discotext train-lm: train a language model on plain text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discotext.cli.help import GroupedCommand, argument, option
from discotext.cli.number_types import Count
from discotext.cli.options import OUTPUT_FILE, complete_data, json_option, seed_option
from discotext.cli.output import write_json
from discotext.cli.progress import DelayedProgress

if TYPE_CHECKING:
    from discotext.language.ngram import BackoffModel
    from discotext.language.recurrent import RecurrentModel

HELD_OUT = 100  # every hundredth line is kept for the perplexity
MOST_HELD_OUT = 2000  # lines
LSTM_WORDS = 20_000


@click.command(cls=GroupedCommand)
@argument(
    "texts",
    "Files of plain text with a sentence or a paragraph on each line, gzipped or not; - for standard input; .csv, "
    ".tsv, .jsonl or .parquet files with a column of texts; or named data sets (their train splits).",
    nargs=-1,
    required=True,
    shell_complete=complete_data,
)
@option(
    "--model",
    "kind",
    section="Model",
    type=click.Choice(("ngram", "lstm")),
    default="ngram",
    help="An n-gram model with modified Kneser–Ney smoothing, or an LSTM (needs discotext[torch]).",
)
@option(
    "--order", section="Model", type=click.IntRange(1, 5), metavar="N", default=3, help="Words of an n-gram, 1 to 5."
)
@option(
    "--least",
    section="Model",
    type=Count(1),
    metavar="N",
    default=2,
    help="How often a word must occur to be in the vocabulary; others are <unk>.",
)
@option(
    "--words",
    "most",
    section="Model",
    type=Count(1),
    metavar="N",
    show_default="no limit; 20,000 for an LSTM",
    help="Size of the vocabulary at most; the most frequent words stay.",
)
@option(
    "--prune",
    section="Model",
    type=Count(0),
    multiple=True,
    metavar="N",
    show_default="0 for pairs, 1 for longer n-grams",
    help="Leave out n-grams seen at most N times. Repeatable: for orders 2, 3, … in turn; the last holds for the rest.",
)
@option("--epochs", section="Model", type=Count(1), metavar="N", default=3, help="Epochs, of an LSTM.")
@seed_option("Model", "of an LSTM")
@option("--text-column", section="Data", metavar="NAME", show_default="detected by name", help="Column with the texts.")
@option(
    "--out",
    section="Output",
    required=True,
    type=OUTPUT_FILE,
    metavar="FILE",
    help="File for the model: in the ARPA format if its name ends in .arpa or .arpa.gz, else a compact one.",
)
@option("--overwrite", section="Output", is_flag=True, help="Replace an existing file.")
@json_option("one JSON object instead of text")
def command(
    texts: tuple[str, ...],
    kind: str,
    order: int,
    least: int,
    most: int | None,
    prune: tuple[int, ...],
    epochs: int,
    seed: int,
    text_column: str | None,
    out: Path,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Train a language model on plain text, and print its perplexity on held-out lines.

    Words are in lower case. One line in a hundred is held out, and not trained on.

    \b
    Examples:
      discotext train-lm books.txt --out books.lm
      discotext train-lm ag_news imdb --order 3 --out news.lm
      discotext train-lm books.txt --model lstm --out books.lstm
      zcat books.gz | discotext train-lm - --order 4 --out books.arpa.gz
    """
    if out.exists() and not overwrite:
        raise ValueError(f"{out} already exists; choose another file or use --overwrite")
    from discotext.data.texts import check_texts, read_texts
    from discotext.language.arpa import write_arpa
    from discotext.language.kneser_ney import Corpus, train_kneser_ney
    from discotext.language.sentences import read_sentences
    from discotext.support.extras import require

    # Mistakes in the command line are reported before anything slow begins.
    for one in texts:
        check_texts(one)
    if kind == "lstm":
        require("torch", extra="torch", reason="training an LSTM")
    if not out.parent.is_dir():
        raise ValueError(f"there is no folder {out.parent} for {out.name}; make it first")
    began = time.perf_counter()
    held: list[list[str]] = []
    lines = held_lines = 0

    def read() -> Iterator[list[str]]:
        nonlocal lines, held_lines
        for place, one in enumerate(texts):
            for text in read_texts(one, text_column):
                lines += 1
                if lines % HELD_OUT == 0 and len(held) < MOST_HELD_OUT:
                    held_lines += 1
                    held.extend(read_sentences(text))
                else:
                    yield from read_sentences(text)
                if lines % 1000 == 0:
                    progress.update("reading", place, len(texts))
            progress.update("reading", place + 1, len(texts))

    with DelayedProgress() as progress:

        def tell(activity: str, done: float) -> None:
            progress.update("training" if kind == "lstm" else "counting", int(100 * done), 100)

        model: BackoffModel | RecurrentModel
        if kind == "lstm":
            from discotext.language.recurrent import train_recurrent

            corpus = Corpus.of(read(), least, most or LSTM_WORDS)
            model = train_recurrent(corpus, epochs=epochs, seed=seed, name=str(out), progress=tell)
            model.write(out)
        else:
            corpus = Corpus.of(read(), least, most)
            model = train_kneser_ney(corpus, order, prune or (0, 1), name=str(out), progress=tell)
            if out.name.endswith((".arpa", ".arpa.gz")):
                write_arpa(model, out)
            else:
                model.write(out)
    report = describe(model, len(corpus.ids), held, lines - held_lines)
    report |= {"held_out_lines": held_lines, "seconds": round(time.perf_counter() - began, 2), "out": str(out)}
    if as_json:
        write_json(report)
    else:
        print_report(report)


def describe(model: BackoffModel | RecurrentModel, tokens: int, held: list[list[str]], lines: int) -> dict[str, Any]:
    """What is worth knowing of a trained model."""
    from discotext.language.ngram import BackoffModel

    words = [word for sentence in held for word in sentence]
    unknown = sum(not model.knows(word) for word in words)
    ngrams = model if isinstance(model, BackoffModel) else None
    return {
        "model": "ngram" if ngrams else "lstm",
        "order": ngrams.order if ngrams else None,
        "lines": lines,
        "tokens": tokens,
        "words": len(model.words),
        "ngrams": list(ngrams.counts) if ngrams else None,
        "held_out_words": len(words),
        "unknown": unknown / len(words) if words else None,
        "perplexity": model.perplexity(held) if held else None,
    }


def print_report(report: dict[str, Any]) -> None:
    """Print the size of a trained model, and how well it predicts held-out lines."""
    if report["model"] == "lstm":
        click.echo(f"LSTM, {report['words']:,} words")
    else:
        counts = ", ".join(f"{count:,} of {order}" for order, count in enumerate(report["ngrams"], start=1))
        click.echo(f"order {report['order']}, {report['words']:,} words, n-grams by their length: {counts}")
    if report["perplexity"] is None:
        click.echo("no line was held out (there are fewer than 100), so that no perplexity can be given")
    else:
        click.echo(
            f"perplexity {report['perplexity']:.1f} on {report['held_out_words']:,} held-out words, "
            f"{100 * report['unknown']:.1f} % of them unknown"
        )
    click.echo(
        f"trained on {report['lines']:,} lines, {report['tokens']:,} words with starts and ends of sentences, in "
        f"{report['seconds']:.0f} s; saved in {report['out']}"
    )
