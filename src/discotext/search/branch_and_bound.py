"""Branch and bound: where an oracle can rule out choices unseen, most need not be scored.

A node is a set of choices: some candidates of each position. The oracle says how few changes inside it may reach the
goal, and with which candidates. Nodes are opened in the order of that number: when none is left that may reach the goal
with fewer than r changes, it is proved that fewer than r do not, whatever happens afterwards. One tree therefore serves
all numbers of changes. A node with few choices is scored as a whole, another split at the position that may add most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discotext.core.arrays import Bools, Choices, Floats, Ints, rank_in_group
from discotext.core.oracle import BoundingOracle
from discotext.core.problem import Batch, count_changes
from discotext.core.reach import NEVER
from discotext.search.solver import Proposal, Proposals, Search

WIDTH = 32  # nodes of each problem opened in one round
FEW = 16  # choices of a node that are scored rather than split


@dataclass(frozen=True)
class Nodes:
    """Sets of choices. allowed: (N, width) which candidates of the problem; levels: (N,) fewest changes that may do.

    worth: (N, width) how much each candidate may add. sizes: (N,) how many choices there are in each.
    """

    problems: Ints
    allowed: NDArray[np.bool_]
    levels: Floats
    worth: Floats
    sizes: Floats

    def _parts(self) -> tuple[NDArray[Any], ...]:
        return self.problems, self.allowed, self.levels, self.worth, self.sizes

    def take(self, which: Ints | Bools) -> Nodes:
        return Nodes(*(part[which] for part in self._parts()))

    def __add__(self, other: Nodes) -> Nodes:
        return Nodes(*(np.concatenate(both) for both in zip(self._parts(), other._parts(), strict=True)))


class Tree:
    """The state of one search: what is open, the goals, and how many changes may still matter.

    limit: the most passes of each problem; None for no limit.
    """

    def __init__(self, batch: Batch, oracle: BoundingOracle, search: Search, limit: int | None) -> None:
        self.batch, self.oracle, self.search = batch, oracle, search
        self.limit = np.inf if limit is None else limit
        self.width = int(batch.widths.max(initial=0))
        # (B, width) the position of each candidate, and which are originals; beyond a problem's end −1.
        self.position = np.full((len(batch), self.width), -1)
        self.inside = np.arange(self.width) < batch.widths[:, None]
        self.position[self.inside] = (batch.position_of - batch.first_position[batch.row_of])[:]
        self.candidate = np.zeros((len(batch), self.width), dtype=np.int32)
        self.candidate[self.inside] = np.arange(batch.candidates) - batch.starts[batch.position_of]
        self.scores = oracle.score(np.arange(len(batch)), batch.originals())
        self.most = batch.budgets.astype(np.float64)  # changes that a choice worth finding has at most
        self.found = batch.originals()
        self.reached = np.zeros(len(batch), dtype=bool)
        self.given_up = np.zeros(len(batch), dtype=bool)
        self.nodes = self._bound(np.arange(len(batch)), self.inside.copy())

    @property
    def goals(self) -> Floats:
        """(B,) what a choice must score: the goal, or as much as the best so far (with fewer changes, perhaps)."""
        return self.scores if self.search.goal is None else np.full(len(self.batch), self.search.goal)

    def _bound(self, problems: Ints, allowed: NDArray[np.bool_]) -> Nodes:
        """Ask about sets of choices, and leave out what cannot reach the goal."""
        inside = self.inside[problems]
        flat = allowed[inside]
        found = self.oracle.reach(problems, flat, self.goals[problems])
        kept = np.zeros_like(allowed)
        # An original stays: leaving it out would force a change.
        kept[inside] = flat & (found.by_candidate <= np.repeat(self.most[problems], self.batch.widths[problems]))
        kept |= allowed & (self.candidate[problems] == 0)
        worth = np.full(allowed.shape, -np.inf)
        worth[inside] = found.worth
        alive = found.levels <= self.most[problems]
        problems, kept = problems[alive], kept[alive]
        return Nodes(problems, kept, found.levels[alive], worth[alive], self._count_choices(problems, kept))

    def open_nodes(self, active: Ints) -> Nodes:
        """Take out of the tree the nodes to open next: of each problem, those of the lowest level."""
        nodes = self.nodes
        alive = np.isin(nodes.problems, active) & (nodes.levels <= self.most[nodes.problems])
        alive &= ~self.given_up[nodes.problems]
        nodes = nodes.take(alive)
        free = nodes.allowed.sum(axis=1)
        order = np.lexsort((free, nodes.levels, nodes.problems))
        lowest = np.full(len(self.batch), NEVER)
        np.minimum.at(lowest, nodes.problems, nodes.levels)
        now = (rank_in_group(nodes.problems[order]) < WIDTH) & (nodes.levels[order] == lowest[nodes.problems[order]])
        self.nodes = nodes.take(order[~now])
        return nodes.take(order[now])

    def below(self) -> Ints:
        """(B,) the number of changes below which everything is ruled out."""
        least = self.most + 1
        np.minimum.at(least, self.nodes.problems, self.nodes.levels)
        return np.maximum(least, 0).astype(np.int64)

    def _count_choices(self, problems: Ints, allowed: NDArray[np.bool_]) -> Floats:
        """(N,) how many choices there are in each set, with at most as many changes as matter."""
        counts = np.zeros((len(problems), self.batch.n_max, 2))
        rows, columns = np.nonzero(allowed)
        where = self.position[problems[rows], columns]
        changed = (self.candidate[problems[rows], columns] > 0).astype(np.int64)
        np.add.at(counts, (rows, where, changed), 1)
        counts[..., 0] += counts.sum(axis=2) == 0  # beyond the end of a text there is nothing to choose
        most = int(self.most.max(initial=0))
        totals = np.zeros((len(problems), most + 1))
        totals[:, 0] = 1
        for position in range(self.batch.n_max):
            kept, new = counts[:, position, :1], counts[:, position, 1:]
            moved = np.concatenate([np.zeros((len(totals), 1)), totals[:, :-1]], axis=1)
            totals = totals * kept + moved * new
        inside = np.arange(most + 1) <= self.most[problems][:, None]
        return np.asarray((totals * inside).sum(axis=1))

    def list_choices(self, nodes: Nodes) -> tuple[Ints, Choices]:
        """Every choice of these nodes, with at most as many changes as matter."""
        problems, rows = [], []
        for number in range(len(nodes.problems)):
            problem = int(nodes.problems[number])
            here = np.flatnonzero(nodes.allowed[number])
            partial = np.zeros((1, self.batch.n_max), dtype=np.int32)
            for position in np.unique(self.position[problem, here]).tolist():
                options = self.candidate[problem, here[self.position[problem, here] == position]]
                partial = np.repeat(partial, len(options), axis=0)
                partial[:, position] = np.tile(options, len(partial) // len(options))
                partial = partial[count_changes(partial) <= self.most[problem]]
            problems.append(np.full(len(partial), problem))
            rows.append(partial)
        if not rows:
            return np.empty(0, dtype=np.int64), self.batch.originals()[:0]
        return np.concatenate(problems), np.concatenate(rows)

    def split(self, nodes: Nodes) -> tuple[Ints, NDArray[np.bool_]]:
        """Close one position of each node: the one that may add most; a child for every candidate it has."""
        problems, children = [], []
        for number in range(len(nodes.problems)):
            problem, allowed = int(nodes.problems[number]), nodes.allowed[number]
            position, candidate = self.position[problem], self.candidate[problem]
            options = np.bincount(position[allowed], minlength=self.batch.n_max)
            undecided = allowed & (options[position] > 1) & (candidate > 0)
            at = position[np.where(undecided, nodes.worth[number], -np.inf).argmax()]
            if not undecided.any():
                continue
            for column in np.flatnonzero(allowed & (position == at)).tolist():
                child = allowed & (position != at)
                child[column] = True
                problems.append(problem)
                children.append(child)
        if not children:
            return np.empty(0, dtype=np.int64), np.zeros((0, self.width), dtype=bool)
        return np.array(problems), np.stack(children)

    def keep(self, problems: Ints, choices: Choices, scores: Floats) -> None:
        """Remember what is best: what reaches the goal with the fewest changes, or the highest score."""
        changes = count_changes(choices)
        for row in np.lexsort((changes, -scores)).tolist():
            problem = int(problems[row])
            if self.search.goal is not None and scores[row] >= self.search.goal:
                better = bool(changes[row] <= self.most[problem])
                if better:
                    self.most[problem], self.reached[problem] = changes[row] - 1, True
            else:
                fewer = changes[row] < np.count_nonzero(self.found[problem])
                better = not self.reached[problem] and (
                    scores[row] > self.scores[problem] or bool(scores[row] == self.scores[problem] and fewer)
                )
            if better:
                self.scores[problem], self.found[problem] = scores[row], choices[row]

    def give_up(self, problems: Ints) -> None:
        """Leave problems that have spent what they may, with their nodes open."""
        spent = self.search.spent(problems) >= self.limit
        self.given_up[problems[spent]] = True


def branch_and_bound(batch: Batch, oracle: BoundingOracle, search: Search, limit: int | None) -> Proposals:
    """Open nodes until none is left, or the passes have run out; what is found is proposed when a problem is done."""
    tree = Tree(batch, oracle, search, limit)
    active = np.arange(len(batch))
    reported = np.zeros(len(batch), dtype=bool)
    while True:
        tree.give_up(active)
        going = active[np.isin(active, tree.nodes.problems) & ~tree.given_up[active]]
        alive = tree.nodes.take(tree.nodes.levels <= tree.most[tree.nodes.problems])
        going = going[np.isin(going, alive.problems)]
        done = active[~np.isin(active, going) & ~reported[active]]
        if len(done):
            reported[done] = True
            proved = done[~tree.given_up[done] | ~np.isin(done, alive.problems)]
            # Of the others there is nothing to say yet; and nodes of those that were given up are gone later.
            below = np.zeros(len(batch), dtype=np.int64)
            below[done] = tree.below()[done]
            active = yield Proposal(done, tree.found[done], tree.scores[done], proved=proved, proved_below=below)
        if not len(going):
            return
        nodes = tree.open_nodes(going)
        small = nodes.sizes <= _find_small(tree, nodes)
        problems, choices = tree.list_choices(nodes.take(small))
        if len(problems):
            scores = oracle.score(problems, choices)
            tree.keep(problems, choices, scores)
            if search.limited:
                # What a limit may cut off is reported at once, although fewer changes might do.
                active = yield Proposal(problems, choices, scores)
        parents, children = tree.split(nodes.take(~small))
        if len(parents):
            tree.nodes = tree.nodes + tree._bound(parents, children)


def _find_small(tree: Tree, nodes: Nodes) -> Floats:
    """(N,) how many choices a node may have to be scored as a whole: few; or any number where all of them still fit.

    Scoring everything that is open is sure to end. While that fits into what may be spent, and a further round might
    change that, it is done.
    """
    every = np.zeros(len(tree.batch))
    for some in (tree.nodes, nodes):
        np.add.at(every, some.problems, some.sizes)
    left = tree.limit - tree.search.spent(np.arange(len(tree.batch)))
    last_chance = (every <= left) & (every > left - 8 * WIDTH)
    return np.where(last_chance[nodes.problems], np.inf, FEW)
