"""Networks from JSON lines: positions with words and scores, or n-best lists.

    {"id": "u1", "positions": [[{"word": "a", "score": -0.1}, {"word": "the", "score": -2.3}], …], "gaps": ["", " ", …]}
    {"id": "u1", "nbest": [{"text": "a film", "score": -4.2}, …]}

`score` may be left out, and a word may stand for its object. The first word, and the first text, are the original.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Literal

from discotext.decoding.lines import InputError, Lines
from discotext.decoding.lists import combine_list, rescore_list
from discotext.decoding.network import LARGEST, Alternative, Network, NetworkError, looks_like_probabilities

Lists = Literal["rescore", "combine"]
Scale = Literal["log", "log10", "probability"]


def read_json_networks(lines: Lines, lists: Lists = "rescore", scale: Scale = "log") -> Iterator[Network]:
    """The networks of JSON lines, one at a time. lists: what to make of n-best lists. scale: what the scores are."""
    for line in lines:
        if line.strip():
            try:
                yield parse_network(parse_json(line), f"{lines.number}", lists, scale)
            except InputError as error:
                raise lines.error(str(error)) from None
            except NetworkError as error:
                raise lines.error(str(error)) from None


def parse_json(line: str | bytes) -> Any:
    """One line of JSON; NaN and Infinity are read, so that the network can say where they are."""
    try:
        return json.loads(line)
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"character {error.pos + 1} is not JSON ({error.msg})") from None
    except ValueError:
        raise InputError("a number has thousands of digits") from None  # Python reads no more than 4300
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None


def parse_network(value: Any, number: str, lists: Lists, scale: Scale) -> Network:
    """The network of one object. number: its id where it has none."""
    if not isinstance(value, dict) or ("positions" not in value) == ("nbest" not in value):
        raise InputError(
            'expected an object with "positions" or with "nbest", such as {"id": "1", "positions": [["a"]]}'
        )
    name = value.get("id", number)
    if not isinstance(name, str | int):
        raise InputError(f"the id is {name!r}; expected a string")
    if "nbest" in value:
        texts = [parse_text(at, one, scale) for at, one in enumerate(parse_list("nbest", value["nbest"]))]
        best = value.get("best")
        make = rescore_list if lists == "rescore" else combine_list
        return make(str(name), texts, best if isinstance(best, str) else None)
    rows = parse_list("positions", value["positions"])
    positions = tuple(
        tuple(parse_alternative(at, one, scale) for one in parse_list(f"position {at}", row))
        for at, row in enumerate(rows)
    )
    gaps = value.get("gaps")
    if gaps is not None and not (isinstance(gaps, list) and all(isinstance(gap, str) for gap in gaps)):
        raise InputError("gaps is not a list of strings; give what stands before each position, and at the end")
    network = Network(str(name), positions, None if gaps is None else tuple(gaps))
    if scale == "log" and looks_like_probabilities(network):
        where = next(at for at, row in enumerate(positions) if len(row) > 1)
        raise NetworkError(
            "the scores add up to 1, as probabilities do; give natural logarithms, or say --scores probability", where
        )
    return network


def parse_list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{name} is {describe(value)}; expected a list")
    return value


def describe(value: Any) -> str:
    """A value, for a message.

    >>> describe({"a": 1}), describe(None)
    ('an object', 'null')
    """
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:40]


def parse_alternative(position: int, value: Any, scale: Scale) -> Alternative:
    """A word with its score at a position."""
    if isinstance(value, str):
        value = {"word": value}
    if not isinstance(value, dict) or not isinstance(value.get("word"), str):
        raise NetworkError(f'a word is {describe(value)}; expected {{"word": "film", "score": -1.5}}', position)
    span = value.get("span", 1)
    if not isinstance(span, int) or isinstance(span, bool):
        raise NetworkError(f"the span of {value['word']!r} is {describe(span)}; expected a whole number", position)
    score = parse_score(f"the score of {value['word']!r}", value.get("score", 0.0), scale, position)
    return Alternative(" ".join(value["word"].split()), score, span)


def parse_text(number: int, value: Any, scale: Scale) -> tuple[str, float]:
    """A text with its score in an n-best list."""
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise InputError(f'entry {number} of nbest is {describe(value)}; expected {{"text": "a film", "score": -4.2}}')
    score = value.get("score", 0.0)
    return value["text"], parse_score(f"the score of entry {number} of nbest", score, scale, None)


def parse_score(name: str, value: Any, scale: Scale, position: int | None) -> float:
    """A score as a natural logarithm."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise NetworkError(f"{name} is {describe(value)}; expected a number", position)
    if value != -math.inf and (abs(value) > LARGEST or math.isnan(value)):
        shown = str(value) if isinstance(value, float) else f"{str(value)[:20]}…"
        raise NetworkError(
            f"{name} is {shown}; expected a natural logarithm below {LARGEST:g} in size, or −Infinity to forbid",
            position,
        )
    if scale == "probability":
        if not 0 <= value <= 1:
            raise NetworkError(f"{name} is {value}; expected a probability from 0 to 1", position)
        return math.log(value) if value else -math.inf
    return float(value) * (math.log(10) if scale == "log10" else 1.0)
