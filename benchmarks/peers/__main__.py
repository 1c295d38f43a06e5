"""Run or resume the comparison with TextAttack; `benchmarks.peers` describes it.

    python -m benchmarks.peers --victims victims                          everything (many hours)
    python -m benchmarks.peers --cell ag_news-20 --limit 20 \\
        --search greedy --search textattack-greedy --out trial            a small part
    python -m benchmarks.peers --split train --out tuning …               to tune; test texts are for the report only

Finished texts are not attacked again: after Ctrl-C the same command resumes, and a larger --limit continues the run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.cells import CELLS


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--victims", type=Path, default=Path("victims"), help="folder that contains lstm_ag_news …")
    parser.add_argument("--out", type=Path, default=Path("peers-run"), help="folder for records")
    parser.add_argument("--peer-python", type=Path, default=Path(".venv-peers/bin/python"))
    parser.add_argument("--cell", action="append", choices=list(CELLS), help="only these cells")
    parser.add_argument("--search", action="append", default=[], help="only these searches")
    parser.add_argument("--redo", action="store_true", help="discard the records of these searches first")
    parser.add_argument("--limit", type=int, default=10**9, help="texts of a cell at most")
    parser.add_argument("--split", choices=["test", "train"], default="test")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="of either side")
    parser.add_argument("--batch", type=int, default=32, help="batch size of TextAttack (its default: 32)")
    options = parser.parse_args(given)
    known = list(dict.fromkeys(search.name for cell in CELLS.values() for search in cell.searches))
    for name in options.search:
        if name not in known:
            parser.error(f"there is no search {name!r}; choose among {', '.join(known)}")
    if options.redo and not options.search:
        parser.error("--redo discards the records of searches; name them with --search")
    for name, least in (("limit", 1), ("threads", 1), ("batch", 1), ("seed", 0)):
        if getattr(options, name) < least:
            parser.error(f"--{name} is {getattr(options, name)}; choose {least} or more")
    return options


def main() -> None:
    options = arguments()
    # Before any library starts its threads.
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import torch

    from benchmarks.peers.run import Run

    torch.set_num_threads(options.threads)
    cells = options.cell or list(CELLS)
    run = Run(
        options.out,
        options.victims,
        options.peer_python,
        options.search,
        options.split,
        options.seed,
        options.limit,
        options.threads,
        options.batch,
    )
    try:
        run.check(cells)
        run.begin()
        if options.redo:
            print(f"{run.forget(cells)} records discarded", file=sys.stderr)
        for name in cells:
            run.cell(name)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(
            f"interrupted; finished texts are kept in {options.out}, and the same command resumes"
        ) from None


if __name__ == "__main__":
    main()
