"""Options about what is printed."""

from __future__ import annotations

from discotext.cli.help import option

wide_option = option(
    "--wide",
    section="Output",
    is_flag=True,
    help="Print all columns of tables, not only those that fit. `discotext terms` explains them.",
)
