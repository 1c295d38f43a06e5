"""The options of `discotext decode`, and the files that they name."""

from __future__ import annotations

import re
from typing import Any

import click

from discotext.cli.help import combine, option
from discotext.cli.names import NETWORK_SOURCES, SEQUENCE_SOLVERS, SOLVERS, join_names
from discotext.cli.number_types import Count, Number
from discotext.cli.options import EXISTING_FILE, OUTPUT_FILE, complete_names, json_option, seed_option

decode_options = combine(
    option(
        "--source",
        section="Input",
        type=click.Choice(NETWORK_SOURCES),
        default="networks",
        help="Where the alternatives come from: a file of networks, or words that are spelt alike.",
    ),
    option(
        "--confusions",
        section="Spelling",
        multiple=True,
        type=EXISTING_FILE,
        metavar="FILE",
        help="Mistakes of your own: `wrong<TAB>right[<TAB>count]` or `wrong->right, right` on each line. Repeatable.",
    ),
    option(
        "--margin",
        section="Spelling",
        type=Number(),
        metavar="M",
        default=2.2,
        help="How much better a change must be, in natural logarithms: more means fewer and safer changes.",
    ),
    option("--diff", section="Spelling", is_flag=True, help="Show only changed lines, as [-old-]{+new+}."),
    option(
        "--lists",
        section="Input",
        type=click.Choice(("rescore", "combine")),
        default="rescore",
        help="N-best lists: pick one of the texts, or combine them word by word.",
    ),
    option(
        "--scores",
        section="Input",
        type=click.Choice(("log", "log10", "probability")),
        default="log",
        help="What the scores in JSON are: natural logarithms, logarithms to base 10, or probabilities.",
    ),
    option(
        "--lm",
        "models",
        section="Score",
        multiple=True,
        metavar="LM",
        help="A language model: a file written by `discotext train-lm`, an ARPA or KenLM file, pocketsphinx, "
        "hf:NAME_OR_FOLDER (Hugging Face, causal), masked:NAME_OR_FOLDER or smollm2. Repeatable.",
    ),
    option(
        "--weight",
        "weights",
        section="Score",
        multiple=True,
        type=Number(),
        metavar="W",
        show_default="1",
        help="Weight of a language model. Repeatable, in the order of --lm.",
    ),
    option("--channel-weight", section="Score", type=Number(), metavar="W", default=1.0, help="Weight of the channel."),
    option(
        "--word-penalty",
        section="Score",
        type=Number(),
        metavar="P",
        default=0.0,
        help="What every word costs, so that longer texts are not preferred; below 0, what it earns.",
    ),
    option(
        "--budget",
        section="Search",
        type=Number(0, 1, min_open=True),
        metavar="SHARE",
        show_default="all",
        help="Share of the positions that may change, above 0 and at most 1.",
    ),
    option(
        "--words",
        section="Search",
        type=Count(0),
        metavar="N",
        help="Number of positions that may change, instead of --budget.",
    ),
    option(
        "--solver",
        section="Search",
        default="auto",
        metavar="NAME",
        shell_complete=lambda ctx, param, incomplete: complete_names(("auto", *SEQUENCE_SOLVERS, *SOLVERS), incomplete),
        help=f"Search method: auto, {join_names((*SEQUENCE_SOLVERS, *SOLVERS))}. auto is viterbi for n-gram models, "
        "prefix-beam for others that read from left to right, disco for those with gradients, else greedy.",
    ),
    option("--nbest", section="Search", type=Count(1), metavar="N", default=1, help="How many texts to return."),
    seed_option("Search"),
    option(
        "--force",
        section="Constraints",
        multiple=True,
        metavar="POSITION=WORD",
        help="A word that must stand at a position, counted from 0. Repeatable.",
    ),
    option("--forbid", section="Constraints", multiple=True, metavar="WORD", help="A word not to use. Repeatable."),
    option(
        "--contain", section="Constraints", default="", metavar="LETTERS", help="Letters that every word must have."
    ),
    option("--exclude", section="Constraints", default="", metavar="LETTERS", help="Letters that no word may have."),
    option(
        "--shortest", section="Constraints", type=Count(0), metavar="N", default=0, help="Letters of a word, at least."
    ),
    option("--longest", section="Constraints", type=Count(0), metavar="N", help="Letters of a word, at most."),
    option(
        "--truth",
        section="Output",
        type=EXISTING_FILE,
        metavar="FILE",
        help="The right texts, one on each line or as JSON lines with `text`: prints word and character error rates, "
        "with 95 % intervals and a matched-pairs test.",
    ),
    option("--explain", section="Output", is_flag=True, help="Show for each change what the alternatives would score."),
    option(
        "--out",
        section="Output",
        type=OUTPUT_FILE,
        metavar="FILE",
        help="Write the results as JSON lines to a file; interrupted, the same command goes on.",
    ),
    json_option("a JSON object for each text; with --truth, the error rates as the last line"),
)


def list_files(given: str, options: dict[str, Any]) -> dict[str, list[int]]:
    """The size and the time of the last change of the files that the results depend on."""
    from discotext.support.files import describe_files

    models = [re.sub("^(hf|masked|masked-fast):", "", name) for name in options["models"]]
    return describe_files([*([] if given == "-" else [given]), *models, *map(str, options["confusions"])])
