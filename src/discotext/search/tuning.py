"""The constants of the search that were chosen by measurement, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants of `Disco` and of pruning. No user needs to set one; a test or an experiment may.

    `benchmarks.tuning` varies each of them on random networks with a known optimum and on real texts, and prints what
    the table in docs/benchmarks shows: halving or doubling any one of them changes the score or the number of flipped
    texts by less than the noise, or makes it worse.

    frank_wolfe_steps: vertices that the relaxation visits before climbing begins. More are rarely better starts.
    proposals: moves scored in each round of climbing.
    partners: ways back, and swaps, that are paired with each other to form exchanges.
    smoothing: weight of the uniform mixture when slopes are taken near a choice instead of at it. On text classifiers
        such slopes predict better what a whole swap gains; small random networks prefer 0, so it is used only when
        there is a goal.
    patience: a climber is given up when so many more rounds like its last one would not bring it to the goal.
    surveyed_swaps: swaps that a survey scores one by one.
    surveyed_moves: combinations of them that it scores afterwards.
    idle_waves: restarts in a row that ask nothing new before a problem is given up.
    exchanged_words: words exchanged at random to leave a local optimum.
    beam_width: width of the beam that a high effort without a goal can afford to begin with.
    near_passes: passes for a problem that has almost reached its goal, at the default effort.
    near_share: share of the way to the goal that may be missing for a problem to get any of them.
    high_share: the same for a high effort.
    least_passes: passes that `effort="high"` spends at least when there is no goal; short texts cost little.
    pruning_proposals, pruning_rounds: moves a round, and rounds, spent looking for a choice with one change fewer.
    pruning_swaps: swaps that thorough pruning measures one by one.
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


DEFAULT = Tuning()
