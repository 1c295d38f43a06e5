"""The solvers of a run by their names, and what `auto` means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discotext.search.solver import Solver, check_solver
from discotext.solvers import SOLVERS, make_solver
from discotext.victims.victim import Victim

LONG = 1000  # words from which on greedy search would not end in a reasonable time


def choose_solver(slopes: bool, texts: Sequence[str]) -> str:
    """What `auto` means: the relaxation where there are slopes, else greedy, and for long texts one that ends.

    Greedy asks about every swap for every word that it changes, so its queries grow with the square of the length;
    those of `ranked-greedy` grow with the length.

    >>> choose_solver(True, ["a text"]), choose_solver(False, ["a text"]), choose_solver(False, ["a text " * 600])
    ('disco', 'greedy', 'ranked-greedy')
    """
    if slopes:
        return "disco"
    # Most texts need not be split to be known as short: every word has at least a letter and a gap.
    return "ranked-greedy" if any(len(text) >= 2 * LONG and len(text.split()) > LONG for text in texts) else "greedy"


def make_solvers(
    victim: Victim,
    solvers: Sequence[str | Solver] | Mapping[str, str | Solver],
    surrogate: bool = True,
    texts: Sequence[str] = (),
) -> dict[str, Solver]:
    """Solvers by name. surrogate: whether a stand-in may lend slopes to a victim without gradients."""
    if isinstance(solvers, Mapping):
        named = {name: make_solver(one) if isinstance(one, str) else one for name, one in solvers.items()}
        for solver in named.values():
            check_solver(solver)
        return named
    if isinstance(solvers, str):
        raise ValueError(f"solvers is {solvers!r}; give a list, such as [{solvers!r}]")
    found: dict[str, Solver] = {}
    for given in solvers:
        if isinstance(given, str):
            name = given.replace("_", "-")
            if name == "auto":
                name = choose_solver(victim.capabilities.gradients or surrogate, texts)
            solver = make_solver(name)
        else:
            check_solver(given)
            solver, name = given, _name_solver(given)
        if name in found:
            raise ValueError(f"the solver {name!r} is given twice; give each once, or a mapping of names to solvers")
        found[name] = solver
    return found


def _name_solver(solver: Solver) -> str:
    """The name of a solver with its default settings, else its repr."""
    return next((name for name, make in SOLVERS.items() if make() == solver), repr(solver))
