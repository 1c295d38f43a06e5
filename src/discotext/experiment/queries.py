"""Success against queries: what an attack achieves with so many calls of the model and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

QUERIES = (10, 20, 50, 100, 200, 500)  # at which success is measured


def summarise_queries(rows: NDArray[Any]) -> dict[str, Any]:
    """The share of attacked texts that were flipped after so many queries or fewer, and the area under that curve.

    What an attack asks after that makes its changes fewer, and is not counted here.

    rows: lines of a tally, see `discotext.experiment.summary`.
    """
    tried = rows[rows["tried"]]
    if not len(tried):
        return {}
    curve = [float((tried["won"] & (tried["flipped_after"] <= most)).mean()) for most in QUERIES]
    # Over the logarithm of the queries, since the first ten matter as much as the last hundred; 1 is the best there is.
    area = float(np.trapezoid(curve, np.log(QUERIES)) / np.log(QUERIES[-1] / QUERIES[0]))
    return {"success_by_queries": dict(zip(map(str, QUERIES), curve, strict=True)), "query_area": area}
