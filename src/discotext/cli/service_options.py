"""Options about services: how often they are asked, where texts go in a request, and scores are in an answer."""

from __future__ import annotations

import json
from typing import Any

import click

from discotext.cli.help import combine, option
from discotext.cli.number_types import Number

TEXT = "text"  # the name under which --field says where the texts go
NAMES = ("per_second", "fields", "answer", "one_by_one", "labels", "binary")

service_options = combine(
    option(
        "--per-second",
        section="Service",
        type=Number(0, min_open=True),
        metavar="NUMBER",
        show_default="no limit",
        help="Maximum number of requests per second, of all workers on this machine together. With Ray, of each worker "
        "unless --workers says how many there are.",
    ),
    option(
        "--field",
        "fields",
        section="Service",
        multiple=True,
        metavar="NAME=VALUE",
        show_default="text=texts",
        help="A field of a request. text=PATH: where the texts go, such as text=inputs or text=instances[].text. Any "
        "other name: a fixed value, such as model=small or options.top_k=null (JSON, or else a string). Repeatable.",
    ),
    option(
        "--answer",
        section="Service",
        metavar="PATH",
        show_default="scores, or the whole answer",
        help="Where the scores are in an answer, such as predictions[].scores; [] is one entry for each text.",
    ),
    option("--one-by-one", section="Service", is_flag=True, help="Send one text in a request, as a string."),
    option(
        "--labels",
        section="Service",
        metavar="NAME,NAME",
        show_default="those in the answers, or 0, 1, …",
        help="Names of the classes, in the order of the scores. Needed for a service that returns only predicted "
        "classes.",
    ),
    option(
        "--binary",
        section="Service",
        type=click.Choice(["probability", "logit"]),
        show_default="from the first answer",
        help="What a single number for each text is.",
    ),
)


def pop_service(victim: str, options: dict[str, Any], workers: int | None = None) -> dict[str, Any] | None:
    """Take the options of a service from all options, as arguments of `HttpVictim`; None if there are none.

    workers: processes that share the limit on requests.
    """
    given = {name: value for name in NAMES if (value := options.pop(name, None))}
    if not given:
        return None
    if victim.partition(":")[0] not in ("http", "https"):
        flags = ", ".join("--field" if name == "fields" else f"--{name.replace('_', '-')}" for name in given)
        raise click.UsageError(f"{flags}: only for a service (http://… or https://…), but the victim is {victim}")
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name == "fields":
            found |= parse_fields(value)
        elif name == "labels":
            found[name] = [label.strip() for label in value.split(",")]
        else:
            found[name] = value / (workers or 1) if name == "per_second" else value
    return found


def parse_fields(given: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments that --field stands for.

    >>> parse_fields(("text=inputs", "model=small", "options.top_k=null"))
    {'text_field': 'inputs', 'fields': {'model': 'small', 'options.top_k': None}}
    """
    fields: dict[str, Any] = {}
    for one in given:
        name, mark, value = one.partition("=")
        if not mark or not name:
            raise click.UsageError(f"--field {one}: expected NAME=VALUE, such as text=inputs or model=small")
        if name in fields:
            raise click.UsageError(f"--field {name} is given twice; give each once")
        fields[name] = value if name == TEXT else parse_value(value)
    text = {"text_field": fields.pop(TEXT)} if TEXT in fields else {}
    return {**text, **({"fields": fields} if fields else {})}


def parse_value(text: str) -> Any:
    """Return a value that is JSON, or else the string.

    >>> parse_value("0.5"), parse_value("true"), parse_value("small"), parse_value('"1"')
    (0.5, True, 'small', '1')
    """
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
