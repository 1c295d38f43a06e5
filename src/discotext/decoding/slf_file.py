"""Word graphs in HTK's standard lattice format (SLF), one to a file or several one after the other.

Of an edge (J=) the acoustic score `a=` times the header's `acscale=` is its channel score, or, where there is none, the
logarithm of its posterior `p=`. Scores of a language model (`l=`) are left out: the models given here take their place.
`base=` is the base of the logarithms, e if it is not given and 0 if the scores are not logarithms. A word may be at the
edge or at the node it leads to. !NULL, <s>, </s>, !SENT_START and !SENT_END are no words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from discotext.decoding.graph import Edge, make_network
from discotext.decoding.lines import Lines
from discotext.decoding.network import Network, NetworkError

FIELD = re.compile(r"""([A-Za-z]+)=("(?:\\.|[^"])*"|'(?:\\.|[^'])*'|\S*)""")
SILENT = {"!NULL", "<s>", "</s>", "!SENT_START", "!SENT_END", "<eps>", "<sil>", "SIL", "#0"}


@dataclass
class Lattice:
    """What has been read of a lattice."""

    header: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # of nodes
    edges: list[dict[str, str]] = field(default_factory=list)
    line: int = 0

    def __bool__(self) -> bool:
        return bool(self.words or self.edges or self.header)

    def network(self, number: int) -> Network:
        for letter, name, found in (("N", "nodes", len(self.words)), ("L", "edges", len(self.edges))):
            told = self.header.get(letter, self.header.get("NODES" if letter == "N" else "LINKS"))
            if told is not None and told != str(found):
                raise NetworkError(f"there are {found} {name}, but {letter}={told} says otherwise; is it truncated?")
        name = self.header.get("UTTERANCE", self.header.get("U", str(number)))
        edges = [Edge(one["S"], one["E"], self._word(one), self._score(one)) for one in self.edges]
        return make_network(name, edges, self.header.get("start"), self.header.get("end"))

    def _word(self, edge: dict[str, str]) -> str:
        word = edge.get("W", self.words.get(edge["E"], ""))
        return "" if word in SILENT else word

    def _score(self, edge: dict[str, str]) -> float:
        base = float(self.header.get("base", math.e))
        if base < 0 or base == 1:
            raise NetworkError(f"base={base:g} is no base of logarithms; expected a number above 1, or 0 for none")
        for key, scale in (("a", float(self.header.get("acscale", 1.0))), ("p", 1.0)):
            if key in edge:
                value = float(edge[key])
                if key == "p" or base == 0:
                    return scale * (math.log(value) if value > 0 else -math.inf)
                return scale * value * math.log(base)
        return 0.0


def read_slf(lines: Lines) -> Iterator[Network]:
    """The networks of lattices, one at a time."""
    lattice, number = Lattice(), 0
    for line in lines:
        text = line.split("#", 1)[0].strip() if line.lstrip().startswith("#") else line.strip()
        if not text or text == ".":
            continue
        try:
            fields = parse_fields(text)
            if "VERSION" in fields and lattice:
                number += 1
                yield lattice.network(number)
                lattice = Lattice()
            add_fields(lattice, fields)
        except NetworkError as error:
            raise lines.error(str(error)) from None
    if lattice:
        try:
            yield lattice.network(number + 1)
        except NetworkError as error:
            raise lines.error(str(error)) from None


def parse_fields(text: str) -> dict[str, str]:
    """The fields NAME=value of a line.

    >>> parse_fields('J=0 S=0 E=1 W="New York" a=-1.5')
    {'J': '0', 'S': '0', 'E': '1', 'W': 'New York', 'a': '-1.5'}
    """
    found = {}
    for name, value in FIELD.findall(text):
        if value[:1] in "\"'" and len(value) > 1 and value[-1] == value[0]:
            value = value[1:-1]
        found[name] = re.sub(r"\\(.)", r"\1", value)
    if not found:
        raise NetworkError(f"{text[:40]!r} has no field such as J=0 or W=word")
    return found


def add_fields(lattice: Lattice, fields: dict[str, str]) -> None:
    """Put the fields of a line where they belong."""
    if "J" in fields:
        missing = [key for key in "SE" if key not in fields]
        if missing:
            raise NetworkError(
                f"the edge J={fields['J']} has no {missing[0]}= (its {'start' if missing[0] == 'S' else 'end'})"
            )
        for node in (fields["S"], fields["E"]):
            if lattice.words and node not in lattice.words:
                raise NetworkError(f"the edge J={fields['J']} names the node {node}, which is not there")
        for key in ("a", "l", "p"):
            check_number(fields, key)
        lattice.edges.append(fields)
    elif "I" in fields:
        lattice.words[fields["I"]] = fields.get("W", "")
    else:
        for key in ("acscale", "base", "lmscale"):
            check_number(fields, key)
        lattice.header.update(fields)


def check_number(fields: dict[str, str], key: str) -> None:
    """Raise if a field is there and not a finite number."""
    try:
        fine = key not in fields or math.isfinite(float(fields[key]))
    except ValueError:
        fine = False
    if not fine:
        raise NetworkError(f"{key}={fields[key]} is not a finite number")
