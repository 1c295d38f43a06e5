"""Disco: the relaxation, in the paper's two ways and in two of ours."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal

from discotext.solvers.adam import DiscoAdam
from discotext.solvers.frank_wolfe import DiscoFrankWolfe
from discotext.solvers.guided import DiscoGuided
from discotext.solvers.proximal import DiscoProximal

Method = Literal["guided", "proximal", "adam", "frank-wolfe"]
METHODS: dict[str, type[DiscoGuided | DiscoProximal | DiscoAdam | DiscoFrankWolfe]] = {
    "guided": DiscoGuided,
    "proximal": DiscoProximal,
    "adam": DiscoAdam,
    "frank-wolfe": DiscoFrankWolfe,
}


def Disco(method: Method = "guided", **settings: Any) -> DiscoGuided | DiscoProximal | DiscoAdam | DiscoFrankWolfe:  # noqa: N802
    """Settings for the relaxation.

    `Disco()` is for every user, without tuning; `Disco(effort="high")` looks for the best answer within about the
    passes that `Greedy` would spend. The others are `Disco(method="proximal")`, Algorithm 2 as printed;
    `Disco(method="adam")`, the paper's experimental set-up; `Disco(method="frank-wolfe")`, the budget inside the
    polytope. Each takes the settings of its class: `DiscoGuided`, `DiscoProximal`, `DiscoAdam`, `DiscoFrankWolfe`.

    >>> Disco(method="proximal", p=2).p
    2
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; choose one of {', '.join(map(repr, METHODS))}")
    known = [field.name for field in fields(METHODS[method])]
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise TypeError(f"method {method!r} does not take {', '.join(unknown)}; its settings are {', '.join(known)}")
    return METHODS[method](**settings)
