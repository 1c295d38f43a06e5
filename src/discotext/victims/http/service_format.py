"""What a service expects and returns: where the texts go in a request, and where the scores are in an answer.

Services differ in nothing but the names of their fields, so a field is named by a path:

    inputs                      {"inputs": ["A fine film.", …]}
    instances[].text            {"instances": [{"text": "A fine film."}, …]}
    predictions[].scores        {"predictions": [{"scores": [0.1, 0.9]}, …]}
    []                          [[0.1, 0.9], …]
    data.outputs[0]             {"data": {"outputs": [[[0.1, 0.9], …]]}}

A name is a key, `[]` stands for one entry for each text, and `[0]` for an entry by its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discotext.support.redaction import NO_SECRETS, Secrets
from discotext.victims.score_reader import parse_named_score

STEP = re.compile(r"(?:^|\.)(?P<key>[^.\[\]]+)|\[(?P<number>\d{0,9})\]")
EACH = None  # the step `[]`
# Fields under such names hold secrets: their values are not written down, and not quoted.
SECRET = re.compile(r"key|token|secret|password|passwd|auth|credential", re.IGNORECASE)
Step = str | int | None


class PathError(ValueError):
    """An answer does not have what a path leads to."""


def parse_path(path: str) -> tuple[Step, ...]:
    """Return the steps of a path: keys, numbers, and None for one entry for each text.

    >>> parse_path("predictions[].scores[0]")
    ('predictions', None, 'scores', 0)
    """
    steps: list[Step] = []
    at = 0
    while (found := STEP.match(path, at)) and not (path[at] == "." and not steps):
        number = found["number"]
        steps.append(found["key"] if number is None else int(number) if number else EACH)
        at = found.end()
    if not steps or at < len(path):
        raise ValueError(
            f"the path is {path!r}; expected names separated by dots, with [] where there is one entry for each text, "
            "such as instances[].text"
        )
    return tuple(steps)


@dataclass(frozen=True)
class ServiceFormat:
    """Where a service has the texts and the scores.

    text: the path of the texts in a request; without `[]`, they are one list. fields: further fields of a request, each
    a path with its value. answer: the path of the scores in an answer; None for the forms that `HttpVictim` knows.
    one_by_one: each request has one text, as a string and not in a list, and its answer the scores of that text.
    """

    text: str = "texts"
    fields: Mapping[str, Any] = field(default_factory=dict)
    answer: str | None = None
    one_by_one: bool = False

    def __post_init__(self) -> None:
        steps = parse_path(self.text)
        most = 0 if self.one_by_one else 1
        if any(isinstance(step, int) for step in steps) or steps.count(EACH) > most:
            often = "at most once" if most else "nowhere, with one text in a request"
            raise ValueError(f"the path of the texts is {self.text!r}; expected names, and [] {often}")
        for path in self.fields:
            if not all(isinstance(step, str) for step in parse_path(path)) or steps[0] is EACH:
                raise ValueError(
                    f"the field is {path!r}; expected names separated by dots, in a request that has names"
                )
        if self.answer is not None:
            parse_path(self.answer)
        self.write(["a"])  # raises if two fields are in each other's way

    def write(self, texts: Sequence[str]) -> bytes:
        """Return the body of a request."""
        body: Any = None
        for path, value in self.fields.items():
            body = _put(body, parse_path(path), value, path)
        body = _put(body, parse_path(self.text), texts[0] if self.one_by_one else list(texts), self.text)
        return json.dumps(body).encode()

    def find_rows(self, answer: Any, count: int, secrets: Secrets = NO_SECRETS) -> Any:
        """Return what the path of the answer leads to, a row for each of `count` texts; PathError if there is none."""
        assert self.answer is not None
        found = _follow(answer, self.answer, parse_path(self.answer), secrets, None if self.one_by_one else count)
        return [found] if self.one_by_one else found

    @property
    def settings(self) -> dict[str, Any]:
        """What differs from the default, as JSON, without secrets: the part that a run's settings keep."""
        shown = {path: "[redacted]" if SECRET.search(path) else value for path, value in self.fields.items()}
        given, usual = vars(self) | {"fields": shown}, vars(ServiceFormat())
        return {name: value for name, value in given.items() if value != usual[name]}

    @property
    def secrets(self) -> list[str]:
        """The values of fields that hold secrets."""
        return [str(value) for path, value in self.fields.items() if SECRET.search(path)]


def _put(body: Any, steps: tuple[Step, ...], value: Any, path: str) -> Any:
    """Return the body with a value at a path."""
    first, rest = (steps[0], steps[1:]) if steps else (EACH, ())
    if not (body is None or (isinstance(body, dict) and first is not EACH)):
        raise ValueError(f"the field {path!r} is in the way of another; give each field a different place")
    if not steps:
        return value
    if first is EACH:
        return [_put(None, rest, one, path) for one in value]
    inside = body or {}
    return {**inside, str(first): _put(inside.get(str(first)), rest, value, path)}


def _follow(found: Any, path: str, steps: tuple[Step, ...], secrets: Secrets, count: int | None) -> Any:
    """Return what the steps of a path lead to. count: the entries of the first `[]`; None for any."""

    def explain(what: str) -> PathError:
        return PathError(f"the path {path!r} does not lead to a row of scores for each text: {what}")

    for at, step in enumerate(steps):
        if step is EACH:
            if not isinstance(found, list):
                raise explain(f"{describe(found, secrets)} is not a list")
            if count is not None and len(found) != count:
                raise explain(f"there are {len(found)} entries for {count} texts")
            if count is None and any(parse_named_score(one) for one in found):
                # Such entries are often sorted by score: without their names, columns would be mixed up.
                raise explain(f"{describe(found, secrets)} has names, so end the path there, to have them read")
            return [_follow(one, path, steps[at + 1 :], secrets, None) for one in found]
        if isinstance(step, int):
            there = isinstance(found, list) and step < len(found)
        else:
            there = isinstance(found, dict) and step in found
        if not there:
            raise explain(f"there is no {step!r} in {describe(found, secrets)}")
        found = found[step]
    return found


def describe(found: Any, secrets: Secrets = NO_SECRETS) -> str:
    """Describe a value of an answer: an object by its keys, of which paths are made.

    >>> describe({"outputs": [], "model": "m"}), describe([1, 2])
    ("an object with the keys ['outputs', 'model']", '[1, 2]')
    """
    return f"an object with the keys {secrets.quote(list(found))}" if isinstance(found, dict) else secrets.quote(found)
