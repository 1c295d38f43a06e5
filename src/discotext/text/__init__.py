"""From text to problem: words, and what may replace them."""

from discotext.text.words import Words, budget_for, match_case, split

__all__ = ["Words", "budget_for", "match_case", "split"]
