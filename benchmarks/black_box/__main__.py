"""Run all black-box checks, and print a table of tries and failures.

    python -m benchmarks.black_box [NAME…] [--seed S]

Some take long (`kills` a quarter of an hour, `model_folders` some minutes). The exit status is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import importlib
import sys

TRIES = {
    "solutions": 9_311,
    "splitting": 250_000,
    "data_files": 2_600,
    "kills": 56,
    "browser": 46,
    "model_folders": 524,
    "services": 10_000,
    "sizes": 100,
    "run_folders": 300,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.black_box", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(TRIES)} (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    unknown = set(given.names) - set(TRIES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(TRIES)}")
    rows = []
    for name in given.names or TRIES:
        outcome = importlib.import_module(f"benchmarks.black_box.{name}").run(TRIES[name], given.seed)
        rows.append((name, outcome.tries, len(outcome.failures)))
        for failure in outcome.failures:
            print(f"{name}: {failure}")
        print(f"{name}: {outcome.tries:,} tries, {len(outcome.failures)} failures", flush=True)
    print("\n| check | tries | failures |\n| --- | --- | --- |")
    for name, tries, failures in rows:
        print(f"| {name.replace('_', ' ')} | {tries:,} | {failures} |")
    return int(any(failures for _, _, failures in rows))


if __name__ == "__main__":
    sys.exit(main())
