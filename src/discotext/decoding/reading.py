"""Networks from files of JSON lines.

    {"id": "u1", "positions": [[{"word": "a", "score": -0.1}, {"word": "the", "score": -2.3}], …], "gaps": ["", " ", …]}
    {"id": "u1", "nbest": [{"text": "a film", "score": -4.2}, …]}

`score`, a natural logarithm, may be left out, and a word may stand for its object. The first word, and the first text,
are the original.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from discotext.data.files import read_lines
from discotext.decoding.network import LARGEST, Alternative, Network, NetworkError

LONGEST = 32_000_000  # bytes of a line; a longer one is not a network but a file without line breaks


def read_networks(source: str | Path, *, watch: Callable[[int], None] | None = None) -> Iterator[Network]:
    """The networks of a file, or of standard input (-), one at a time.

    watch: Called with the bytes that were read so far. A ValueError names the file and the line of a mistake.
    """
    piped, read, found = str(source) == "-", 0, 0
    name = "standard input" if piped else str(source)
    with nullcontext(sys.stdin.buffer) if piped else open(source, "rb") as file:
        for number, line in enumerate(read_lines(file, name, longest=LONGEST), start=1):
            read += len(line)
            if watch is not None:
                watch(read)
            if not line.strip():
                continue
            try:
                if not found and line.lstrip()[0] != "{":
                    raise NetworkError(
                        f"{line.strip()[:40]!r} is not JSON; write the n-best lists of a lattice (HTK) as JSON lines, "
                        "and for plain text give --source spelling"
                    )
                network = parse_network(parse_json(line), str(number))
            except NetworkError as error:
                raise ValueError(f"{name}, line {number}: {error}") from None
            found += 1
            yield network
    if not found:
        raise ValueError(f"{name} is empty; expected networks")


def parse_json(line: str) -> Any:
    """One line of JSON; NaN and Infinity are read, so that the network can say where they are."""
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise NetworkError(f"character {error.pos + 1} is not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or lists in lists
        raise NetworkError(f"this JSON cannot be parsed ({error})") from None


def parse_network(value: Any, number: str) -> Network:
    """The network of one object. number: Its id where it has none."""
    if not isinstance(value, dict) or ("positions" not in value) == ("nbest" not in value):
        raise NetworkError('expected an object with "positions" or "nbest", such as {"id": "1", "positions": [["a"]]}')
    name, gaps = value.get("id", number), value.get("gaps")
    if not isinstance(name, str | int):
        raise NetworkError(f"the id is {show(name)}; expected a string")
    if "nbest" in value:
        texts = parse_row("text", value["nbest"], "nbest")
        best = value.get("best")
        listed = [(one.word, one.score) for one in texts]
        return rescore_list(str(name), listed, best if isinstance(best, str) else None)
    if not isinstance(value["positions"], list):
        raise NetworkError(f"positions is {show(value['positions'])}; expected a list of lists")
    if gaps is not None and not (isinstance(gaps, list) and all(isinstance(gap, str) for gap in gaps)):
        raise NetworkError("gaps is not a list of strings; give what stands before each position, and at the end")
    rows = [parse_row("word", row, f"position {at}") for at, row in enumerate(value["positions"])]
    network = Network(str(name), tuple(rows), None if gaps is None else tuple(gaps))
    several = [[one.score for one in row] for row in rows if len(row) > 1]
    if several and all(min(row) >= 0 and abs(sum(row) - 1) < 0.01 for row in several):
        raise NetworkError("the scores of its positions add up to 1, as probabilities do; give natural logarithms")
    return network


def parse_row(key: str, row: Any, where: str) -> tuple[Alternative, ...]:
    """The words of a position, or the texts of a list. key: What holds a word. where: How messages call the place."""
    if not isinstance(row, list):
        raise NetworkError(f"{where} is {show(row)}; expected a list")
    found = []
    for number, one in enumerate(row):
        entry = {key: one} if isinstance(one, str) else one
        if not isinstance(entry, dict) or not isinstance(entry.get(key), str):
            raise NetworkError(f'{where}, entry {number}: {show(one)}; expected {{"{key}": "film", "score": -1.5}}')
        span, score = entry.get("span", 1), entry.get("score", 0.0)
        fits = type(score) in (int, float) and (score == -math.inf or abs(score) <= LARGEST)
        if type(span) is not int or not fits:
            raise NetworkError(
                f"{where}, entry {number}: {entry[key][:40]!r} has the score {show(score)} and the span {show(span)}; "
                f"expected a natural logarithm of at most {LARGEST:g} in size, or -Infinity, and a whole number"
            )
        found.append(Alternative(" ".join(entry[key].split()), float(score), span))
    return tuple(found)


def show(value: Any) -> str:
    """The beginning of a value as JSON."""
    return json.dumps(value)[:40]


def rescore_list(name: str, texts: Sequence[tuple[str, float]], best: str | None = None) -> Network:
    """A network of one position whose alternatives are the texts: decoding picks one of them.

    texts: The texts with their scores. best: The original, if it is among them; otherwise the first. Of a text that is
    there twice, the better score counts.

    >>> network = rescore_list("1", [("a film", -1.0), ("a firm", -2.0)])
    >>> [one.word for one in network.positions[0]]
    ['a film', 'a firm']
    """
    if not texts:
        raise NetworkError("the n-best list is empty; give at least one text")
    found: dict[str, float] = {}
    for text, score in texts:
        plain = " ".join(text.split())
        found[plain] = max(score, found.get(plain, -math.inf))
    first = next(iter(found)) if best is None else " ".join(best.split())
    return Network.of(name, [({first: found[first], **found} if first in found else found).items()])
