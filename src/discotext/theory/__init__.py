"""Executable theory: set functions, matroids, greedy and its guarantees, extensions, and the paper's propositions.

Nothing here knows texts or models, and nothing imports it at run time. A problem and an oracle become a set function
(`best_inside`); `is_monotone` and `is_submodular` check it and return a witness if it fails; `guarantee` states what
greedy then achieves, and how each hypothesis is known. The problems that the paper reasons about are oracles for any
solver: `subset_sum` (hard), `LinearBag` (easy), `WindowNetwork` and `RecurrentUnit` (submodular under conditions that
are checked, with a counter-example for each).
"""

from discotext.theory.guarantees import Chain as Chain
from discotext.theory.guarantees import Guarantee as Guarantee
from discotext.theory.guarantees import Hypothesis as Hypothesis
from discotext.theory.guarantees import Standing as Standing
from discotext.theory.guarantees import greedy as greedy
from discotext.theory.guarantees import guarantee as guarantee
from discotext.theory.guarantees import lazy_greedy as lazy_greedy
from discotext.theory.matroids import Changes as Changes
from discotext.theory.matroids import Intersection as Intersection
from discotext.theory.matroids import PartitionMatroid as PartitionMatroid
from discotext.theory.matroids import System as System
from discotext.theory.matroids import Truncation as Truncation
from discotext.theory.matroids import UniformMatroid as UniformMatroid
from discotext.theory.matroids import check_extensible as check_extensible
from discotext.theory.matroids import check_matroid as check_matroid
from discotext.theory.networks import ACTIVATIONS as ACTIVATIONS
from discotext.theory.networks import RECURRENT_WITNESSES as RECURRENT_WITNESSES
from discotext.theory.networks import WINDOW_WITNESSES as WINDOW_WITNESSES
from discotext.theory.networks import Activation as Activation
from discotext.theory.networks import RecurrentUnit as RecurrentUnit
from discotext.theory.networks import WindowNetwork as WindowNetwork
from discotext.theory.networks import check_recurrent_hypotheses as check_recurrent_hypotheses
from discotext.theory.networks import check_window_hypotheses as check_window_hypotheses
from discotext.theory.propositions import LinearBag as LinearBag
from discotext.theory.propositions import SubsetSum as SubsetSum
from discotext.theory.propositions import best_among as best_among
from discotext.theory.propositions import best_inside as best_inside
from discotext.theory.propositions import frank_wolfe_bound as frank_wolfe_bound
from discotext.theory.propositions import proximal_bound as proximal_bound
from discotext.theory.propositions import read_subset as read_subset
from discotext.theory.propositions import subset_sum as subset_sum
from discotext.theory.set_functions import SetFunction as SetFunction
from discotext.theory.set_functions import Verdict as Verdict
from discotext.theory.set_functions import Witness as Witness
from discotext.theory.set_functions import coverage as coverage
from discotext.theory.set_functions import curvature as curvature
from discotext.theory.set_functions import is_monotone as is_monotone
from discotext.theory.set_functions import is_submodular as is_submodular
from discotext.theory.set_functions import lovasz as lovasz
from discotext.theory.set_functions import modular as modular
from discotext.theory.set_functions import multilinear as multilinear
from discotext.theory.set_functions import submodularity_ratio as submodularity_ratio
from discotext.theory.set_functions import subsets as subsets
from discotext.theory.set_functions import tabulate as tabulate
