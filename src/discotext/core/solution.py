"""What comes back: one solution per problem, with a status that is a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from discotext.core.arrays import Choices


class Status(Enum):
    """How a search ended. The value is a sentence to show."""

    REACHED = "The goal was reached."
    FEWEST = "The goal was reached, and it is proved that fewer changes do not reach it."
    IMPOSSIBLE = "It is proved that no choice within the budget reaches the goal."
    OPTIMAL = "It is proved that no choice within the budget scores higher."
    IMPROVED = "A better choice than the original was found; it may not be the best."
    UNCHANGED = "Nothing better than the original was found."
    STOPPED = "A limit stopped the search; this is the best choice found until then."
    UNSTABLE = "The score changed on re-evaluation; is the model deterministic? `check_oracle` finds out."
    FAILED = "The oracle failed on this problem (`error` says how); this is the best choice found until then."

    @property
    def proved(self) -> bool:
        """Whether the status is a proof."""
        return self in (Status.FEWEST, Status.IMPOSSIBLE, Status.OPTIMAL)


@dataclass(frozen=True, eq=False)
class Solution:
    """The best choice found for one problem, checked: it is within budget, and `score` was asked for once more.

    choice: (n,) one candidate number per position, 0 for the original.
    original_score: of the choice that changes nothing.
    forwards, backwards: what reached the model for this problem, the check included.
    seconds: this problem's share of the time; the shares of a batch add up to the whole.
    oracle_seconds: of those, what was spent inside the oracle.
    error: why the oracle failed, when it did.
    bounds: how often the oracle was asked for bounds.
    reached_after: the forwards after which the goal was first reached, before pruning; None where it was not.
    below: it is proved that no choice with fewer changes than this reaches the goal; 0 or 1 where nothing is proved.
    """

    choice: Choices
    score: float
    original_score: float
    status: Status
    forwards: int
    backwards: int
    seconds: float
    oracle_seconds: float
    error: str | None = None
    below: int = 0
    bounds: int = 0
    reached_after: int | None = None

    @property
    def changes(self) -> int:
        """How many positions hold something else than their original."""
        return int((self.choice != 0).sum())

    @property
    def proved(self) -> bool:
        """Whether the answer is a proof."""
        return self.status.proved

    @property
    def reached(self) -> bool:
        """Whether the goal was reached."""
        return self.status in (Status.REACHED, Status.FEWEST)
