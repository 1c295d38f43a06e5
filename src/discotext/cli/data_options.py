"""Options about labels: which class a label means, which class to flip texts to, and what to do without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discotext.cli.help import option

if TYPE_CHECKING:
    from discotext.data.columns import Columns
    from discotext.data.examples import Examples

map_label_option = option(
    "--map-label",
    "map_labels",
    section="Data",
    multiple=True,
    metavar="LABEL=CLASS",
    help="Read a label of the data as this class, such as good=positive. Repeatable.",
)
unlabelled_option = option(
    "--unlabelled",
    section="Data",
    is_flag=True,
    help="Take the victim's own predictions as labels, for texts without any.",
)
target_option = option(
    "--target",
    section="Attack",
    metavar="CLASS",
    show_default="any wrong class",
    help="Target class, by name or as a number from 0.",
)


def pop_columns(options: dict[str, Any]) -> Columns:
    """How data is to be read, taken out of the options of a command."""
    from discotext.data.columns import Columns, parse_renames

    return Columns(
        options.pop("text_column"),
        options.pop("label_column"),
        parse_renames(options.pop("map_labels")),
        options.pop("unlabelled", False),
    )


def describe_classes(examples: Examples, labels: tuple[str, ...]) -> str | None:
    """Which class of a victim each class of the data is taken for; None if they have the same names, but for case.

    labels: the victim's.
    """
    from discotext.data.labels import fold, list_some

    own = examples.own or examples.names
    if [fold(name) for name in own] == [fold(name) for name in labels]:
        return None
    pairs = [f"{before} → {after}" for before, after in zip(own, labels, strict=True)]
    return f"classes of the data → of the victim: {list_some(pairs)}"
