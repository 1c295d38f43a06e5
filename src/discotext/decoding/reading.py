"""Networks from files: JSON lines, or lattices (`lattice`). Which of them it is, the beginning of a file tells.

    {"id": "u1", "positions": [[{"word": "a", "score": -0.1}, {"word": "the", "score": -2.3}], …], "gaps": ["", " ", …]}
    {"id": "u1", "nbest": [{"text": "a film", "score": -4.2}, …]}

`score`, a natural logarithm, may be left out, and a word may stand for its object. The first word, and the first text,
are the original. An n-best list is chosen from as it is, or combined word by word.
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from discotext.decoding.lattice import read_slf
from discotext.decoding.network import LARGEST, Alternative, Network, NetworkError

LONGEST = 32_000_000  # bytes of a line; a longer one is not a network but a file without line breaks
LATTICES = ("*.slf", "*.lat")
Lists = Literal["rescore", "combine"]


class InputError(ValueError):
    """Input that cannot be read. The message begins with the file and the line."""


@dataclass
class Lines:
    """The lines of a binary stream as text, with their numbers from 1.

    name: How messages call it. watch: Called with the bytes read so far.
    """

    stream: IO[bytes]
    name: str
    watch: Callable[[int], None] | None = None
    number: int = 0
    read: int = 0

    def __iter__(self) -> Iterator[str]:
        while line := self.stream.readline(LONGEST + 1):
            self.number += 1
            self.read += len(line)
            if len(line) > LONGEST:
                raise self.error(f"it has more than {LONGEST // 1_000_000} MB; is this one record a line?")
            if b"\0" in line:
                raise self.error("it contains a zero byte; this is a binary file, and text was expected")
            if self.watch is not None:
                self.watch(self.read)
            try:
                yield line.decode("utf-8-sig" if self.number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise self.error(f"byte {error.start + 1} is {line[error.start]:#04x}; expected UTF-8") from None

    def error(self, message: str) -> InputError:
        """An error about the line that was read last."""
        return InputError(f"{self.name}, line {self.number}: {message}")


def read_networks(
    source: str | Path, *, lists: Lists = "rescore", watch: Callable[[int], None] | None = None
) -> Iterator[Network]:
    """The networks of a file, of a folder of lattices (.slf, .lat), or of standard input (-), one at a time.

    lists: What to make of n-best lists, see `rescore_list` and `combine_list`. watch: Called with the bytes read.
    """
    path = Path(source)
    if str(source) != "-" and path.is_dir():
        files = sorted(file for pattern in LATTICES for file in path.glob(pattern))
        if not files:
            raise InputError(f"{source} is a folder without lattices; expected files {' or '.join(LATTICES)}")
        for file in files:
            yield from read_networks(file, lists=lists)
        return
    with ExitStack() as stack:
        stream: Any = sys.stdin.buffer if str(source) == "-" else stack.enter_context(path.open("rb"))
        buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
        lines = Lines(buffered, "standard input" if str(source) == "-" else str(source), watch)
        first = buffered.peek(4096)[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
        if not first:
            raise InputError(f"{lines.name} is empty; expected networks")
        try:
            if first.startswith(b"{"):
                for line in lines:
                    if line.strip():
                        yield parse_network(parse_json(line), f"{lines.number}", lists)
            elif b"=" in first.split(b"\n", 1)[0] or first.startswith(b"#"):
                yield from read_slf(lines)
            else:
                shown = next(iter(lines)).strip()[:40]
                raise NetworkError(
                    f"{shown!r} is neither JSON nor a lattice (VERSION=1.0); for plain text give --source spelling"
                )
        except NetworkError as error:
            raise lines.error(str(error)) from None


def parse_json(line: str | bytes) -> Any:
    """One line of JSON; NaN and Infinity are read, so that the network can say where they are."""
    try:
        return json.loads(line)
    except UnicodeDecodeError as error:
        raise NetworkError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NetworkError(f"character {error.pos + 1} is not JSON ({error.msg})") from None
    except ValueError:
        raise NetworkError("a number has thousands of digits") from None  # Python reads no more than 4300
    except RecursionError:
        raise NetworkError("the JSON is nested too deeply") from None


def parse_network(value: Any, number: str, lists: Lists) -> Network:
    """The network of one object. number: Its id where it has none."""
    if not isinstance(value, dict) or ("positions" not in value) == ("nbest" not in value):
        raise NetworkError('expected an object with "positions" or "nbest", such as {"id": "1", "positions": [["a"]]}')
    name = value.get("id", number)
    if not isinstance(name, str | int):
        raise NetworkError(f"the id is {describe(name)}; expected a string")
    if "nbest" in value:
        texts = [parse_entry("text", one, f"entry {at} of nbest") for at, one in enumerate(parse_list(value, "nbest"))]
        best = value.get("best")
        make = rescore_list if lists == "rescore" else combine_list
        pairs = [(one.word, one.score) for one in texts]
        return make(str(name), pairs, best if isinstance(best, str) else None)
    rows = [parse_list({"row": row}, "row") for row in parse_list(value, "positions")]
    positions = [[parse_entry("word", one, f"position {at}") for one in row] for at, row in enumerate(rows)]
    gaps = value.get("gaps")
    if gaps is not None and not (isinstance(gaps, list) and all(isinstance(gap, str) for gap in gaps)):
        raise NetworkError("gaps is not a list of strings; give what stands before each position, and at the end")
    network = Network(str(name), tuple(map(tuple, positions)), None if gaps is None else tuple(gaps))
    several = [[one.score for one in row] for row in network.positions if len(row) > 1]
    if several and all(min(row) >= 0 and abs(sum(row) - 1) < 0.01 for row in several):
        raise NetworkError("the scores of its positions add up to 1, as probabilities do; give natural logarithms")
    return network


def parse_list(value: dict[str, Any], name: str) -> list[Any]:
    """A value of an object that has to be a list."""
    if not isinstance(value[name], list):
        raise NetworkError(f"{name} is {describe(value[name])}; expected a list")
    found: list[Any] = value[name]
    return found


def parse_entry(key: str, value: Any, where: str) -> Alternative:
    """A word of a position, or a text of a list. key: What holds it. where: How messages call its place."""
    if isinstance(value, str):
        value = {key: value}
    if not isinstance(value, dict) or not isinstance(value.get(key), str):
        raise NetworkError(f'{where} has {describe(value)}; expected {{"{key}": "film", "score": -1.5}}')
    span, score = value.get("span", 1), value.get("score", 0.0)
    if not isinstance(span, int) or isinstance(span, bool):
        raise NetworkError(f"{where}: the span of {value[key]!r} is {describe(span)}; expected a whole number")
    fine = isinstance(score, int | float) and not isinstance(score, bool)
    if not fine or not (score == -math.inf or abs(score) <= LARGEST):
        raise NetworkError(
            f"{where}: the score of {value[key][:40]!r} is {describe(score)}; expected a natural logarithm of at most "
            f"{LARGEST:g} in size, or -Infinity to forbid"
        )
    return Alternative(" ".join(value[key].split()), float(score), span)


def describe(value: Any) -> str:
    """A value, for a message.

    >>> describe({"a": 1}), describe(None)
    ('an object', 'null')
    """
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:40]


def rescore_list(name: str, texts: Sequence[tuple[str, float]], best: str | None = None) -> Network:
    """A network of one position whose alternatives are the texts: decoding picks one of them.

    texts: The texts with their scores. best: The original, if it is among them; otherwise the first. Of a text that is
    there twice, the better score counts.

    >>> network = rescore_list("1", [("a film", -1.0), ("a firm", -2.0)])
    >>> [one.word for one in network.positions[0]]
    ['a film', 'a firm']
    """
    return Network.of(name, [merge(texts, best).items()])


def merge(texts: Sequence[tuple[str, float]], best: str | None) -> dict[str, float]:
    """Each text once, the original first."""
    if not texts:
        raise NetworkError("the n-best list is empty; give at least one text")
    found: dict[str, float] = {}
    for text, score in texts:
        plain = " ".join(text.split())
        found[plain] = max(score, found.get(plain, -math.inf))
    first = next(iter(found)) if best is None else " ".join(best.split())
    return {first: found[first], **found} if first in found else found


def combine_list(name: str, texts: Sequence[tuple[str, float]], best: str | None = None) -> Network:
    """A network of all texts, aligned word by word to the first: decoding may take each word from another text.

    The scores are made probabilities that add up to 1; a word's channel score is the logarithm of the sum over the
    texts that have it at its position. A position may be skipped where the first text has no word, or where texts of
    more than half of the probability have none: a language model prefers short texts, and would skip wherever it may.

    >>> network = combine_list("1", [("a film", 0.0), ("the film", 0.0), ("a film noir", 0.0)])
    >>> [[(one.word, round(math.exp(one.score), 2)) for one in row] for row in network.positions]
    [[('a', 0.67), ('the', 0.33)], [('film', 1.0)], [('', 0.67), ('noir', 0.33)]]
    >>> network = combine_list("1", [("on the beach", 0.0), ("on beach", 0.0)])
    >>> [[one.word for one in row] for row in network.positions]
    [['on'], ['the'], ['beach']]
    """
    found = merge(texts, best)
    top = max(found.values())
    if top == -math.inf:
        raise NetworkError("every text of the n-best list has a score of −Infinity; give at least one that is possible")
    weights = [math.exp(score - top) for score in found.values()]
    columns: list[dict[str, float]] = []
    seen = 0.0
    for text, weight in zip(found, weights, strict=True):
        columns = add_words(columns, text.split(), weight / sum(weights), seen)
        seen += weight / sum(weights)
    rows = []
    for column in columns:
        if next(iter(column)) and column.get("", 0.0) <= 0.5:  # the first is that of the first text
            column.pop("", None)
        total = sum(column.values())
        rows.append([(word, math.log(share / total) if share else -math.inf) for word, share in column.items()])
    return Network.of(name, rows)


def add_words(columns: list[dict[str, float]], words: list[str], weight: float, seen: float) -> list[dict[str, float]]:
    """Align words to columns by the fewest edits, and add their weight. seen: The weight of all texts before."""
    rows, width = len(columns), len(words)
    # To pass over a column that some text has passed over already is cheaper.
    passing = [0.5 if "" in column else 1.0 for column in columns]
    cost = [[float(i + j if not i or not j else 0) for j in range(width + 1)] for i in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, width + 1):
            same = cost[i - 1][j - 1] + (words[j - 1] not in columns[i - 1])
            cost[i][j] = min(same, cost[i - 1][j] + passing[i - 1], cost[i][j - 1] + 1)
    new: list[dict[str, float]] = []
    i, j = rows, width
    while i or j:
        if i and j and cost[i][j] == cost[i - 1][j - 1] + (words[j - 1] not in columns[i - 1]):
            i, j = i - 1, j - 1
            column, word = dict(columns[i]), words[j]
        elif i and (not j or cost[i][j] == cost[i - 1][j] + passing[i - 1]):
            i -= 1
            column, word = dict(columns[i]), ""
        else:
            j -= 1
            column, word = ({"": seen} if seen else {}), words[j]
        column[word] = column.get(word, 0.0) + weight
        new.append(column)
    return new[::-1]
