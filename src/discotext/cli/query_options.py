"""Options about queries: what they may be spent on, and how many there may be."""

from __future__ import annotations

from discotext.cli.help import Count, combine, option

query_options = combine(
    option(
        "--surrogate",
        section="Queries",
        default="auto",
        metavar="auto|none|FILE|VICTIM",
        help="What lends slopes to a victim without gradients: auto, a stand-in learnt from its scores (at most 1,500 "
        "queries, once); a surrogate.npz that a run has kept; another victim, with gradients; or none.",
    ),
    option(
        "--max-queries",
        section="Queries",
        type=Count(3),
        metavar="N",
        show_default="no limit",
        help="Maximum number of queries (forward passes) per text.",
    ),
    option(
        "--total-queries",
        section="Queries",
        type=Count(1),
        metavar="N",
        show_default="no limit",
        help="Maximum number of queries of the whole run, learning included; each text gets an equal share.",
    ),
)
