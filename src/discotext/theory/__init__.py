"""Executable theory: set functions, matroids, greedy and its guarantees, extensions, and the paper's propositions.

Nothing here knows texts or models, and at run time only the command `optima` imports it. A problem and an oracle become
a set function (`best_inside`); `is_monotone` and `is_submodular` check it and return a witness if it fails; `guarantee`
states what greedy then achieves, and how each hypothesis is known. The problems that the paper reasons about are
oracles for any solver: `subset_sum` (hard), `LinearBag` (easy), `WindowNetwork` and `RecurrentUnit` (submodular under
conditions that are checked, with a counter-example for each).
"""

from discotext.theory.activation import ACTIVATIONS, Activation
from discotext.theory.axioms import check_extensible, check_matroid
from discotext.theory.best_within import best_among, best_inside
from discotext.theory.chain import Chain, greedy
from discotext.theory.change_matroid import Changes
from discotext.theory.counterexamples import RECURRENT_WITNESSES, WINDOW_WITNESSES
from discotext.theory.extensions import Estimate, lovasz, multilinear, sample_lovasz, sample_multilinear
from discotext.theory.guarantees import Guarantee, guarantee
from discotext.theory.hardness import SubsetSum, read_subset, subset_sum
from discotext.theory.independence import Intersection, PartitionMatroid, System, Truncation, UniformMatroid
from discotext.theory.linear_bag import LinearBag
from discotext.theory.properties import is_monotone, is_submodular
from discotext.theory.rates import frank_wolfe_bound, proximal_bound
from discotext.theory.ratios import curvature, submodularity_ratio
from discotext.theory.recurrent_unit import RecurrentUnit, check_recurrent_hypotheses, make_random_recurrent_unit
from discotext.theory.set_function import SetFunction, combine, coverage, modular, subsets, tabulate
from discotext.theory.verdict import Hypothesis, Standing, Verdict, Witness
from discotext.theory.window_network import WindowNetwork, check_window_hypotheses, make_random_window_network

__all__ = [
    "ACTIVATIONS",
    "RECURRENT_WITNESSES",
    "WINDOW_WITNESSES",
    "Activation",
    "Chain",
    "Changes",
    "Estimate",
    "Guarantee",
    "Hypothesis",
    "Intersection",
    "LinearBag",
    "PartitionMatroid",
    "RecurrentUnit",
    "SetFunction",
    "Standing",
    "SubsetSum",
    "System",
    "Truncation",
    "UniformMatroid",
    "Verdict",
    "WindowNetwork",
    "Witness",
    "best_among",
    "best_inside",
    "check_extensible",
    "check_matroid",
    "check_recurrent_hypotheses",
    "check_window_hypotheses",
    "combine",
    "coverage",
    "curvature",
    "frank_wolfe_bound",
    "greedy",
    "guarantee",
    "is_monotone",
    "is_submodular",
    "lovasz",
    "make_random_recurrent_unit",
    "make_random_window_network",
    "modular",
    "multilinear",
    "proximal_bound",
    "read_subset",
    "sample_lovasz",
    "sample_multilinear",
    "submodularity_ratio",
    "subset_sum",
    "subsets",
    "tabulate",
]
