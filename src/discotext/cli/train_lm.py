"""discotext train-lm: train an n-gram language model on plain text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from discotext.cli.help import Count, GroupedCommand, argument, option
from discotext.cli.options import OUTPUT_FILE, complete_data, json_option
from discotext.cli.output import write_json
from discotext.support.progress import Progress

HELD_OUT = 100  # every hundredth line is kept for the perplexity
MOST_HELD_OUT = 2000  # lines
PRUNE = (0, 1)  # pairs are all kept, longer n-grams only if they were seen twice: smaller and almost as good


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
    "--order", section="Model", type=click.IntRange(1, 5), metavar="N", default=3, help="Words of an n-gram, 1 to 5."
)
@option(
    "--words",
    section="Model",
    type=Count(1),
    metavar="N",
    show_default="no limit",
    help="Size of the vocabulary at most; the most frequent words stay, if they occur twice.",
)
@option("--text-column", section="Data", metavar="NAME", show_default="detected by name", help="Column with the texts.")
@option(
    "--out",
    section="Output",
    required=True,
    type=OUTPUT_FILE,
    metavar="FILE",
    help="File for the model: in the ARPA format if its name ends in .arpa or .arpa.gz, else a compact one.",
)
@json_option("one JSON object instead of text")
def command(
    texts: tuple[str, ...], order: int, words: int | None, text_column: str | None, out: Path, as_json: bool
) -> None:
    """Train a language model on plain text, and print its perplexity on held-out lines.

    Words are in lower case. One line in a hundred is held out, and not trained on.

    \b
    Examples:
      discotext train-lm books.txt --out books.lm
      discotext train-lm ag_news imdb --order 3 --out news.lm
      zcat books.gz | discotext train-lm - --order 4 --out books.arpa.gz
    """
    from discotext.data.registry import check_texts, read_texts
    from discotext.models.arpa import write_arpa
    from discotext.models.kneser_ney import Corpus, train_kneser_ney
    from discotext.text.sentences import read_sentences

    # Mistakes in the command line are reported before anything slow begins.
    if out.exists():
        raise ValueError(f"{out} already exists; choose another file, or remove it")
    for one in texts:
        check_texts(one)
    if not out.parent.is_dir():
        raise ValueError(f"there is no folder {out.parent} for {out.name}; make it first")
    began = time.perf_counter()
    held: list[list[str]] = []
    lines = held_lines = 0

    def read() -> Iterator[list[str]]:
        nonlocal lines, held_lines
        for place, one in enumerate(texts):
            progress.update("reading", place, len(texts))
            for text in read_texts(one, text_column):
                lines += 1
                if lines % HELD_OUT == 0 and len(held) < MOST_HELD_OUT:
                    held_lines += 1
                    held.extend(read_sentences(text))
                else:
                    yield from read_sentences(text)

    with Progress() as progress:
        corpus = Corpus.of(read(), most=words)
        model = train_kneser_ney(
            corpus,
            order,
            PRUNE,
            name=str(out),
            progress=lambda activity, done: progress.update(activity, int(100 * done), 100),
        )
        if out.name.endswith((".arpa", ".arpa.gz")):
            write_arpa(model, out)
        else:
            model.write(out)
    unseen = [word for sentence in held for word in sentence]
    report = {
        "model": "ngram",
        "order": model.order,
        "lines": lines - held_lines,
        "tokens": len(corpus.ids),
        "words": len(model.words),
        "ngrams": list(model.counts),
        "held_out_words": len(unseen),
        "unknown": sum(not model.knows(word) for word in unseen) / len(unseen) if unseen else None,
        "perplexity": model.perplexity(held) if held else None,
        "held_out_lines": held_lines,
        "seconds": round(time.perf_counter() - began, 2),
        "out": str(out),
    }
    if as_json:
        write_json(report)
    else:
        print_report(report)


def print_report(report: dict[str, Any]) -> None:
    """Print the size of a trained model, and how well it predicts held-out lines."""
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
