"""Word graphs as networks, without loss, and their files in HTK's standard lattice format (SLF).

`network` says how a network is made of a graph. A file holds one lattice, or several one after the other. Of an edge
(J=) the acoustic score `a=` times the header's `acscale=` is its channel score, or, where there is none, the logarithm
of its posterior `p=`. Scores of a language model (`l=`) are left out: the models given here take their place. `base=`
is the base of the logarithms, e if it is not given and 0 if the scores are not logarithms. A word may be at the edge or
at the node it leads to. !NULL, <s>, </s>, !SENT_START and !SENT_END are no words.
"""

from __future__ import annotations

import graphlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from discotext.decoding.network import Alternative, Network, NetworkError

FIELD = re.compile(r"""([A-Za-z]+)=("(?:\\.|[^"])*"|'(?:\\.|[^'])*'|\S*)""")
SILENT = {"!NULL", "<s>", "</s>", "!SENT_START", "!SENT_END", "<eps>", "<sil>", "SIL", "#0"}
NUMBERS = {"a", "l", "p", "acscale", "base", "lmscale"}  # fields that hold one


@dataclass(frozen=True, slots=True)
class Edge:
    """A word between two nodes. score: The channel's, a natural logarithm. word: Empty for none."""

    start: str
    end: str
    word: str
    score: float = 0.0


def make_network(name: str, edges: Sequence[Edge], start: str | None = None, end: str | None = None) -> Network:
    """The network of a word graph.

    start, end: The nodes where every path begins and ends; without them, the one node that no edge enters, and the one
    that none leaves. Edges that are on no path from one to the other are left out; of two edges with the same word
    between the same nodes, the better stays.

    >>> graph = [Edge("0", "1", "new"), Edge("1", "2", "york"), Edge("0", "2", "newark", -1.0)]
    >>> network = make_network("1", graph)
    >>> network.text((0, 0)), network.text((1, 0))
    ('new york', 'newark')
    """
    if not edges:
        raise NetworkError("the graph has no edges; expected at least one")
    order = sort_nodes(edges)
    entered, left = {edge.end for edge in edges}, {edge.start for edge in edges}
    first = pick_node("start", start, [node for node in order if node not in entered], order)
    last = pick_node("end", end, [node for node in order if node not in left], order)
    leaving: dict[str, dict[tuple[str, str], Edge]] = defaultdict(dict)
    for edge in edges:
        known = leaving[edge.start].get((edge.word, edge.end))
        if known is None or edge.score > known.score:
            leaving[edge.start][edge.word, edge.end] = edge
    reached = {first}
    for node in order:
        if node in reached and node != last:
            reached |= {edge.end for edge in leaving[node].values()}
    # From the end back: the best way from each node, which only nodes on a path have.
    best, ranked = {last: 0.0}, dict[str, list[Edge]]()
    for node in reversed(order):
        onward = [edge for edge in leaving[node].values() if edge.end in best and node in reached and node != last]
        if onward:
            ranked[node] = sorted(onward, key=lambda edge: -(edge.score + best[edge.end]))
            best[node] = ranked[node][0].score + best[ranked[node][0].end]
    if first not in ranked:
        raise NetworkError(f"no path leads from the node {first} to the node {last}; check the edges")
    place = {node: number for number, node in enumerate(node for node in order if node in best)}
    return Network.of(
        name,
        [
            [Alternative(one.word, one.score, place[one.end] - place[node]) for one in ranked[node]]
            for node in place
            if node != last
        ],
    )


def sort_nodes(edges: Iterable[Edge]) -> list[str]:
    """The nodes in topological order; NetworkError if there is a cycle."""
    # Dictionaries, not sets: the order of strings in a set differs from one process to the next.
    graph: dict[str, dict[str, None]] = defaultdict(dict)
    for edge in edges:
        graph[edge.end][edge.start] = None
    try:
        return list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise NetworkError(f"the graph has a cycle through the node {error.args[1][0]}; expected none") from None


def pick_node(which: str, named: str | None, found: Sequence[str], nodes: Sequence[str]) -> str:
    """The node that is named, or else the only one found."""
    if named is not None and named not in nodes:
        raise NetworkError(f"the {which} node is {named}, which no edge touches; name another")
    if named is None and len(found) != 1:
        raise NetworkError(
            f"{len(found)} nodes may be the {which} of the graph ({', '.join(sorted(found)[:5])}); name one by {which}="
        )
    return found[0] if named is None else named


@dataclass
class Lattice:
    """What has been read of a lattice. words: of nodes."""

    header: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    edges: list[dict[str, str]] = field(default_factory=list)

    def add(self, fields: dict[str, str]) -> None:
        """Put the fields of a line where they belong."""
        for key in NUMBERS & fields.keys():
            try:
                finite = math.isfinite(float(fields[key]))
            except ValueError:
                finite = False
            if not finite:
                raise NetworkError(f"{key}={fields[key]} is not a finite number")
        if "J" in fields:
            for key in "SE":
                if key not in fields:
                    raise NetworkError(f"the edge J={fields['J']} has no {key}=; expected the node it joins")
                if self.words and fields[key] not in self.words:
                    raise NetworkError(f"the edge J={fields['J']} names the node {fields[key]}, which is not there")
            self.edges.append(fields)
        elif "I" in fields:
            self.words[fields["I"]] = fields.get("W", "")
        else:
            self.header.update(fields)

    def network(self, number: int) -> Network:
        for letter, long, found in (("N", "NODES", len(self.words)), ("L", "LINKS", len(self.edges))):
            told = self.header.get(letter, self.header.get(long))
            if told is not None and told != str(found):
                raise NetworkError(f"{long} is {told}, but there are {found}; is the lattice truncated?")
        name = self.header.get("UTTERANCE", self.header.get("U", str(number)))
        edges = []
        for edge in self.edges:
            word = edge.get("W", self.words.get(edge["E"], ""))
            edges.append(Edge(edge["S"], edge["E"], "" if word in SILENT else word, self._score(edge)))
        return make_network(name, edges, self.header.get("start"), self.header.get("end"))

    def _score(self, edge: dict[str, str]) -> float:
        base = float(self.header.get("base", math.e))
        if base < 0 or base == 1:
            raise NetworkError(f"base={base:g} is no base of logarithms; expected a number above 1, or 0 for none")
        if "a" in edge:
            value, scale = float(edge["a"]), float(self.header.get("acscale", 1.0))
            if base:
                return scale * value * math.log(base)
        else:
            value, scale = float(edge.get("p", 1.0)), 1.0
        return scale * math.log(value) if value > 0 else -math.inf


def read_slf(lines: Iterable[str]) -> Iterator[Network]:
    """The networks of lattices, one at a time."""
    lattice, number = Lattice(), 0
    for line in lines:
        text = line.strip()
        if not text or text == "." or text.startswith("#"):
            continue
        fields = parse_fields(text)
        if "VERSION" in fields and lattice.header:
            number += 1
            yield lattice.network(number)
            lattice = Lattice()
        lattice.add(fields)
    if lattice != Lattice():
        yield lattice.network(number + 1)


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
