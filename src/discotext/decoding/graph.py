"""Word graphs as networks, without loss; `network` says how one is made of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from discotext.decoding.network import Alternative, Network, NetworkError


@dataclass(frozen=True, slots=True)
class Edge:
    """A word between two nodes. score: of the channel, a natural logarithm. word: empty for none."""

    start: str
    end: str
    word: str
    score: float = 0.0


def make_network(name: str, edges: Sequence[Edge], start: str | None = None, end: str | None = None) -> Network:
    """The network of a word graph.

    start, end: the nodes where every path begins and ends; without them, the one node that no edge enters, and the one
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
    edges = keep_on_paths(edges, order, first, last)
    if not edges:
        raise NetworkError(f"no path leads from the node {first} to the node {last}; check the edges")
    used = {edge.start for edge in edges} | {last}
    place = {node: number for number, node in enumerate(node for node in order if node in used)}
    # The best way from each node to the end, found from the end.
    best = {last: 0.0}
    rows: list[tuple[Alternative, ...]] = []
    leaving: dict[str, dict[tuple[str, str], Edge]] = defaultdict(dict)
    for edge in edges:
        known = leaving[edge.start].get((edge.word, edge.end))
        if known is None or edge.score > known.score:
            leaving[edge.start][edge.word, edge.end] = edge
    for node in sorted(leaving, key=place.__getitem__, reverse=True):
        ranked = sorted(leaving[node].values(), key=lambda edge: -(edge.score + best[edge.end]))
        best[node] = ranked[0].score + best[ranked[0].end]
        rows.append(tuple(Alternative(one.word, one.score, place[one.end] - place[node]) for one in ranked))
    return Network(name, tuple(rows[::-1]))


def sort_nodes(edges: Sequence[Edge]) -> list[str]:
    """The nodes in topological order; NetworkError if there is a cycle."""
    after: dict[str, list[str]] = defaultdict(list)
    waiting: dict[str, int] = {}
    for edge in edges:
        after[edge.start].append(edge.end)
        waiting.setdefault(edge.start, 0)
        waiting[edge.end] = waiting.get(edge.end, 0) + 1
    ready = [node for node, count in waiting.items() if not count]
    order = []
    while ready:
        node = ready.pop()
        order.append(node)
        for other in after[node]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    if len(order) < len(waiting):
        node = next(edge.start for edge in edges if waiting[edge.start] and waiting[edge.end])
        raise NetworkError(f"the graph has a cycle, at or before the node {node}; a text cannot go in circles")
    return order


def pick_node(which: str, named: str | None, found: Sequence[str], nodes: Sequence[str]) -> str:
    """The node that is named, or else the only one found."""
    if named is not None:
        if named not in nodes:
            raise NetworkError(f"the {which} node is {named}, which no edge touches; name another")
        return named
    if len(found) != 1:
        raise NetworkError(
            f"{len(found)} nodes may be the {which} of the graph ({', '.join(found[:5])}); name one by {which}="
        )
    return found[0]


def keep_on_paths(edges: Sequence[Edge], order: Sequence[str], first: str, last: str) -> list[Edge]:
    """The edges that are on a path from the first node to the last."""
    leaving: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        leaving[edge.start].append(edge)
    reached, reaching = {first}, {last}
    for node in order:
        if node in reached:
            reached |= {edge.end for edge in leaving[node]}
    for node in reversed(order):
        if any(edge.end in reaching for edge in leaving[node]):
            reaching.add(node)
    return [edge for edge in edges if edge.start in reached and edge.end in reaching and edge.start != last]
