"""A regression test for robustness in one line, for pytest or any other test runner.

    from discotext.testing import assert_robust

    def test_the_model_is_robust_against_synonyms():
        assert_robust("sklearn:model.skops", "reviews.csv", at_least=0.65, limit=200)

The seed is fixed, so that the same model, data and version pass or fail every time.
"""

from __future__ import annotations

import inspect
import shlex
from typing import Any

from discotext.attacks.attack import attack
from discotext.attacks.result import Result
from discotext.runs.threshold import Check, check_accuracy
from discotext.support.plain_text import count_texts, shorten


def assert_robust(model: Any, data: Any, at_least: float = 0.65, **options: Any) -> Result:
    """Attack a classifier, and raise AssertionError if its accuracy under attack is below `at_least`; else the result.

    model, data: what `attack` takes, as `victim` and `data`.
    options: those of `attack`, such as `budget`, `words`, `limit`, `seed` and `solver`. With several budgets the
    accuracy under each must be high enough.

    A model that fails on most texts does not pass. Wrong options or data raise the errors of `attack`.

    >>> def scores(texts):
    ...     return [[text.count("purchased"), 0.5] for text in texts]
    >>> assert_robust(scores, (["We purchased it", "bad"], [0, 1]), at_least=0.5, words=1).accuracy
    0.5
    """
    __tracebackhide__ = True  # pytest then shows the line of the test, not this one
    # Mistakes are reported before the work.
    check_accuracy([], at_least)
    inspect.signature(attack).bind(model, data, **options)
    result = attack(model, data, **options)
    failed = [check for check in check_accuracy(result.summaries, at_least) if not check.passed]
    if failed:
        raise AssertionError(explain(result, failed, make_command(model, data, options)))
    return result


def make_command(model: Any, data: Any, options: dict[str, Any]) -> str | None:
    """The command that does the same; None where a command line cannot say it."""
    named = {name: f"--{name}" for name in ("solver", "budget", "words", "accept", "limit", "seed")}
    if not isinstance(model, str) or not isinstance(data, str) or not set(options) <= {*named, "out", "progress"}:
        return None
    parts = ["discotext", "attack", model, data]
    for name, value in options.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if name in named and one is not None:
                parts += [named[name], str(one)]
    return shlex.join(parts)


def explain(result: Result, failed: list[Check], command: str | None) -> str:
    """What fell short, by how much, on which texts, and how to see it again."""
    lines = [f"{check} ({check.name})" for check in failed]
    examples = result.examples()
    if examples:
        lines += ["", "flipped texts, those with the fewest changes:", *map(repr, examples)]
    settings = result.settings
    where = "" if result.folder is None else f"; all records are in {shorten(result.folder)}"
    seed = f"seed={settings['seed']}"
    lines += ["", f"{count_texts(result.summary.n, settings['data'], 60)}, {seed}, discotext "
              f"{settings['version']}: the same call gives the same texts{where}"]  # fmt: skip
    if command is not None:
        lines.append(f"on the command line: {shorten(command, 300)}")
    return "\n".join(lines)
