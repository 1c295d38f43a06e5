"""Terms on the page: a word that explains itself on hover and on keyboard focus, and the list of all at the bottom.

A term is a link to its meaning in that list, so it is reached by the Tab key, works without styles and scripts, and a
screen reader reads the meaning as its description. The style shows the meaning beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from discotext.experiment.report.markup import Markup, element
from discotext.experiment.terms import ALIASES, TERMS, define

LINK = re.compile(r'href="#term-([a-z0-9-]+)"')


def explain(word: str, shown: str | None = None) -> Markup | str:
    """A word with its meaning; what is not a term stays as it is. shown: how it is written here.

    >>> explain("robust")[:60]
    '<a class="term" href="#term-robust" aria-describedby="term-r'
    >>> explain("no term")
    'no term'
    """
    meaning = define(word)
    if meaning is None:
        return word if shown is None else shown
    place = f"term-{name_place(word)}"
    # The style writes `data-meaning` beside the word: as an element it would be found and copied with the text.
    return element(
        "a", word if shown is None else shown, class_="term", href=f"#{place}", aria_describedby=place,
        data_meaning=meaning,
    )  # fmt: skip


def name_place(word: str) -> str:
    """The name of a term within the page.

    >>> name_place("(95 %)"), name_place("p-value")
    ('95-interval', 'p-value')
    """
    return "-".join(re.findall(r"[a-z0-9]+", ALIASES.get(word.strip(), word).lower()))


def list_terms(contents: Iterable[Markup | None], more: Iterable[str] = ()) -> Markup | None:
    """The meanings of all terms that these parts of a page link to, and of some more, in the order of definition.

    None where there is no term.
    """
    used = {place for part in contents if part for place in LINK.findall(part)} | set(map(name_place, more))
    rows = [
        element("div", element("dt", word), element("dd", meaning, id=f"term-{place}"))
        for word, meaning in TERMS.items()
        if (place := name_place(word)) in used
    ]
    return element("dl", *rows, class_="terms") if rows else None
