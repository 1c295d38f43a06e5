"""The result of `discotext demo`, collected from the summary it wrote.

discotext demo
python -m benchmarks.demo discotext-demo/run-0.2-200
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.results_file import save, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    summary = json.loads((parser.parse_args().run / "summary.json").read_text())
    about = {key: summary[key] for key in ("data", "n", "budget", "space", "unchangeable_texts")}
    rows = [{"solver": name, **about, **figures} for name, figures in summary["solvers"].items()]
    save("demo", rows)
    show(
        "The demo", [{key: row[key] for key in ("solver", "original_accuracy", "adversarial_accuracy")} for row in rows]
    )


if __name__ == "__main__":
    main()
