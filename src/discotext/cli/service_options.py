"""The option about services: how often they are asked, where texts go in a request, and scores are in an answer."""

from __future__ import annotations

import json
import re
from typing import Any

import click

from discotext.cli.help import option

NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?|\.[0-9]+")
FIELD = "field."  # begins the keys of fixed fields
KEYS = f"text, {FIELD}NAME, answer, labels, binary, one-by-one, per-second"

service_options = option(
    "--service",
    section="Service",
    multiple=True,
    metavar="KEY=VALUE",
    help="How an HTTP service is asked. Repeatable. text=PATH: where the texts go, such as instances[].text; "
    "field.NAME=VALUE: a fixed field, JSON or else a string; answer=PATH: where the scores are, such as "
    "predictions[].scores ([]: one entry for each text); labels=a,b: the classes in the order of the scores; "
    "binary=probability or logit: what a single number is; one-by-one: one text in a request; per-second=N: the most "
    "requests per second, of all workers on this machine.",
)


def pop_service(victim: str, options: dict[str, Any], workers: int | None = None) -> dict[str, Any] | None:
    """Take --service from all options, as arguments of `HttpVictim`; None if it is not given.

    workers: processes that share the limit on requests.
    """
    given = options.pop("service", ())
    if not given:
        return None
    if victim.partition(":")[0] not in ("http", "https"):
        raise click.UsageError(f"--service is for http://… and https://…, but the victim is {victim}")
    found = parse_service(given)
    if "per_second" in found:
        found["per_second"] /= workers or 1
    return found


def parse_service(given: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments of `HttpVictim` that --service stands for.

    >>> parse_service(("text=inputs", "field.model=small", "field.options.top_k=null", "labels=bad, good"))
    {'text_field': 'inputs', 'fields': {'model': 'small', 'options.top_k': None}, 'labels': ['bad', 'good']}
    """
    keys = [one.partition("=")[0] for one in given]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise click.UsageError(f"--service {twice} is given twice; give it once")
    found: dict[str, Any] = {}
    for one in given:
        match one.partition("="):
            case ("text", _, path):
                found["text_field"] = path
            case ("answer", _, path):
                found["answer"] = path
            case ("labels", _, names) if names:
                found["labels"] = [name.strip() for name in names.split(",")]
            case ("binary", _, "probability" | "logit" as kind):
                found["binary"] = kind
            case ("one-by-one", _, "" | "true"):
                found["one_by_one"] = True
            case ("per-second", _, number) if NUMBER.fullmatch(number) and float(number) > 0:
                found["per_second"] = float(number)
            case (key, "=", value) if key.startswith(FIELD) and key != FIELD:
                found.setdefault("fields", {})[key.removeprefix(FIELD)] = parse_value(value)
            case _:
                raise click.UsageError(f"--service {one}: expected KEY=VALUE with one of the keys {KEYS}")
    return found


def parse_value(text: str) -> Any:
    """Return a value that is JSON, or else the string.

    >>> parse_value("0.5"), parse_value("true"), parse_value("small"), parse_value('"1"')
    (0.5, True, 'small', '1')
    """
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
