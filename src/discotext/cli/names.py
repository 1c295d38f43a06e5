"""The names that help pages list and the shell completes.

They are written out, because the modules that define them import NumPy, and `--help` and completion must not wait for
it. `tests/cli/test_cli.py` compares each tuple with its definition.
"""

from __future__ import annotations

SOLVERS = (
    "disco", "disco-high", "disco-proximal", "disco-adam", "disco-frank-wolfe", "greedy", "left-to-right",
    "ranked-greedy", "gradient-greedy", "beam", "local-search", "exact", "random",
)  # fmt: skip
SEQUENCE_SOLVERS = ("viterbi", "prefix-beam")
NETWORK_SOURCES = ("networks", "spelling")
SOURCES = ("thesaurus", "neighbours", "wordnet", "list", "masked-lm")
FILTERS = (
    "stop-words", "numbers", "names", "part-of-speech", "antonyms", "inflection", "similarity", "phrase", "article",
    "accept", "unknown-to-victim", "all",
)  # fmt: skip
SCORERS = ("light", "encoder", "full")
MODELS = ("lstm", "wcnn", "dan", "rnn")
POOLS = ("last", "max", "mean")
DATASETS = ("imdb", "ag_news", "trec", "movie_reviews")
PAPER_DATASETS = ("imdb", "ag_news", "trec")
VICTIM_PREFIXES = ("hf:", "sklearn:", "py:", "http://", "https://")


def join_names(names: tuple[str, ...]) -> str:
    """Join names for a sentence.

    >>> join_names(("last", "max", "mean"))
    'last, max or mean'
    """
    *others, final = names
    return f"{', '.join(others)} or {final}"
