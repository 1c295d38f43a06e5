"""The constants of the search that were chosen by measurement, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants of `Disco` and of pruning. No user needs to set one; an experiment may.

    What each of them does was measured by halving and doubling it (`python -m benchmarks.tuning`; the whole table is in
    docs/benchmarks/solvers.md): on 300 random networks whose optimum is known (as it is: 74.3 % found in 64 passes, and
    99.3 % in 994 with a high effort), on 300 larger ones with a goal (as it is: 149 reach it in 63 passes, 150 in 382
    with a high effort), and on film reviews, where none of them changes how many labels flip.

    frank_wolfe_steps: vertices that the relaxation visits before climbing begins. Half: 72.3 % and 145 reach the goal.
        Double: 75.7 % and 149, for 6 more passes.
    proposals: moves scored in each round of climbing. Half: 65.3 % in 46 passes. Double: 79.3 % in 98.
    partners: ways back, and swaps, that are paired with each other to form exchanges. Either way within one in 300.
    smoothing: weight of the uniform mixture when slopes are taken near a choice instead of at it. Slopes of text
        classifiers then predict better what a whole swap gains; used only with a goal. Half: no change. Double: 147.
    patience: a climber is given up when this many more rounds like its last would not bring it to the goal. Half: 2
        passes fewer, double: 2 more, and the same goals reached.
    surveyed_swaps: swaps that a survey scores one by one. Either way within one in 300.
    surveyed_moves: combinations of them that it scores afterwards. No difference.
    idle_waves: restarts in a row that ask nothing new before a problem is given up. It only ends loops in tiny spaces.
    exchanged_words: words exchanged at random to leave a local optimum. Half, high effort: 99.7 %. Double: 99.0 %.
    beam_width: width of the beam that a high effort without a goal begins with where it can afford one. Either way
        100 %.
    near_passes: passes for a problem that has almost reached its goal, at the default effort. Half: 147 in 49 passes.
        Double: 149 in 94.
    near_share: share of the way to the goal that may be missing for a problem to get any of them. Half: 147 in 51
        passes. Double: 149 in 95.
    high_share: the same for a high effort. Half reaches the same 150 in 229 passes instead of 382, double in 433; kept
        at 0.7, with which the published figures were measured.
    least_passes: passes that `effort="high"` spends at least when there is no goal; short texts cost little. Half:
        99.0 % in 497 passes. Double: 100 % in 1,993.
    pruning_proposals, pruning_rounds: moves per round, and rounds, spent looking for a choice with one change fewer.
        Half the proposals: 2.78 changes instead of 2.76, for 4 passes fewer. Twice as many find no more.
    greedy_passes: where greedy search would spend no more than this, the search begins with it: a gradient costs as
        much as four forwards, and the first steps take several.
    last_share: share of the way to the goal that may be missing for a high effort to end with greedy search.
    frugal_questions: choices asked for in each round where slopes are free (`search_frugally`).
    frugal_queries: what a problem may spend there, at the default effort. labels_queries: the same for a model that
        answers labels, where most of what is found is found in the first ten.
    frugal_patience: rounds without gain before a problem may be given up there.
    frugal_pruning: moves per round, and rounds, of pruning there.
    pruning_swaps: swaps that thorough pruning measures one by one. Half: 10 passes fewer and the same changes.
    """

    frank_wolfe_steps: int = 5
    proposals: int = 12
    partners: int = 8
    smoothing: float = 0.3
    patience: int = 4
    surveyed_swaps: int = 24
    surveyed_moves: int = 8
    idle_waves: int = 10
    exchanged_words: int = 2
    beam_width: int = 8
    near_passes: float = 300.0
    near_share: float = 0.3
    high_share: float = 0.7
    least_passes: float = 1000.0
    pruning_proposals: int = 16
    pruning_rounds: int = 4
    pruning_swaps: int = 48
    greedy_passes: float = 100.0
    last_share: float = 0.1
    frugal_questions: int = 3
    frugal_queries: float = 200.0
    labels_queries: float = 60.0
    frugal_patience: int = 2
    frugal_pruning: tuple[int, int] = (3, 2)


DEFAULT = Tuning()
