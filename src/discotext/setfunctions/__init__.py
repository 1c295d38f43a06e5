"""Theory one can run: set functions, matroids, greedy and its guarantees, extensions, and the paper's propositions.

No text and no model comes in here. A problem and an oracle become a set function (`best_inside`); whether it is
monotone or submodular is a question with a witness for an answer (`is_monotone`, `is_submodular`); what greedy is then
sure of is a `guarantee` whose hypotheses say how they are known. Beside them stand the problems the paper reasons
about, as oracles any solver can be set on: `subset_sum` (hard), `LinearBag` (easy), `WindowNetwork` and `RecurrentUnit`
(submodular under conditions that are checked, with a counter-example for each condition left out).
"""

from discotext.setfunctions.activation import ACTIVATIONS, Activation
from discotext.setfunctions.axioms import check_extensible, check_matroid
from discotext.setfunctions.chain import Chain, greedy
from discotext.setfunctions.change_matroid import Changes, changes
from discotext.setfunctions.counterexamples import RECURRENT_WITNESSES, WINDOW_WITNESSES
from discotext.setfunctions.extensions import Estimate, lovasz, multilinear, sample_lovasz, sample_multilinear
from discotext.setfunctions.guarantees import Guarantee, guarantee
from discotext.setfunctions.hardness import SubsetSum, read_subset, subset_sum
from discotext.setfunctions.independence import Intersection, PartitionMatroid, System, Truncation, UniformMatroid
from discotext.setfunctions.inside import best_among, best_inside
from discotext.setfunctions.linear_bag import LinearBag
from discotext.setfunctions.properties import is_monotone, is_submodular
from discotext.setfunctions.rates import frank_wolfe_bound, proximal_bound
from discotext.setfunctions.ratios import curvature, submodularity_ratio
from discotext.setfunctions.recurrent_unit import RecurrentUnit, random_recurrent_unit, recurrent_hypotheses
from discotext.setfunctions.set_function import SetFunction, combine, coverage, modular, subsets, table
from discotext.setfunctions.verdict import Hypothesis, Standing, Verdict, Witness
from discotext.setfunctions.window_network import WindowNetwork, random_window_network, window_hypotheses

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
    "changes",
    "check_extensible",
    "check_matroid",
    "combine",
    "coverage",
    "curvature",
    "frank_wolfe_bound",
    "greedy",
    "guarantee",
    "is_monotone",
    "is_submodular",
    "lovasz",
    "modular",
    "multilinear",
    "proximal_bound",
    "random_recurrent_unit",
    "random_window_network",
    "read_subset",
    "recurrent_hypotheses",
    "sample_lovasz",
    "sample_multilinear",
    "submodularity_ratio",
    "subset_sum",
    "subsets",
    "table",
    "window_hypotheses",
]
