"""What the words in tables and reports mean, in one sentence each: the one place that defines them.

The command line explains its columns with them (`discotext terms`). On a page a term is a link to its meaning in the
list at the bottom, and shows it on hover. The glossary of the docs has the words of the whole package. A heading that
is an abbreviation is an alias of the term it stands for.
"""

from __future__ import annotations

import re

from discotext.report.markup import Markup, element

TERMS: dict[str, str] = {
    # The attack, and what it is about.
    "victim": "The classifier under attack.",
    "candidate": "A word that may replace another one in its place.",
    "swap": "Replacing one word of a text by a candidate.",
    "budget": "How many words of a text may change: a share of its words (but at least one word), or a number of "
    "words.",
    "accept": "The least probability, as estimated, that most people accept a swap in its place; swaps with a lower "
    "one are not tried.",
    "solver": "The search algorithm of an attack. Solvers of one run get the same texts, candidates and budget.",
    "score": "What an attack raises: the score of the best wrong class minus that of the right one (with a target: of "
    "the target class minus the best other). Above 0 the label is flipped.",
    "search space": "The texts, the candidates of each word and the budget; runs with the same hash searched the same "
    "space.",
    "surrogate": "A model of the victim that gives the search gradients where the victim has none.",
    "class": "The true label of a text.",
    "texts": "The number of texts.",
    # Columns of attack, compare and report.
    "accuracy before": "The share of texts that the victim classifies correctly before any change.",
    "accuracy after": "The share of texts that it still classifies correctly after the attack. Lower means a stronger "
    "attack or a weaker victim. A tie counts as correct.",
    "95 % interval": "The 95 % confidence interval: Wilson's for shares, a bootstrap's for means.",
    "success": "The share of attacked texts whose label was flipped.",
    "words changed": "The mean share of a text's words that were changed, over flipped texts.",
    "changes": "The mean number of changed words, over flipped texts.",
    "over all texts": "The mean share of words changed over all texts. A failed attack counts the words of the text "
    "it returns; a text that was not attacked counts 0.",
    "proved": "The share of attacked texts with a proved verdict: a flipped text, or a proof that no allowed change "
    "flips it. Texts in which nothing can change are left out.",
    "failed": "The number of texts on which the victim raised an error; they count as before the attack, and without "
    "a prediction as wrong.",
    "passes per text": "Forward and backward passes of the model per attacked text; for certify, per text, and with "
    "computations of bounds.",
    "seconds per text": "Seconds per attacked text; for certify, per text.",
    # Success by queries.
    "query": "One text that the victim is asked about: a forward pass.",
    "flipped within queries": "The share of attacked texts that were flipped with so many queries or fewer.",
    "area": "The area under the curve of success by queries, over the logarithm of queries: 1 is best, 0 is worst.",
    # certify.
    "certified": "The share of texts that are proved to keep their right label, whatever allowed words are exchanged. "
    "The accuracy in the worst case is at least this.",
    "attacked": "The share of texts that the victim has right and that no attack flipped. The accuracy in the worst "
    "case is at most this.",
    "bracket": "Attacked minus certified, in percentage points. At 0 the worst case is known exactly.",
    "robust": "The number of texts that are proved to keep their right label.",
    "broken": "The number of texts that an allowed change flips.",
    "open": "The number of texts that were neither flipped nor proved to keep their label.",
    "wrong": "The number of texts that the victim misclassifies before any change.",
    "radius": "The largest number of changed words up to which a text is proved to keep its label.",
    # Outcomes.
    "flipped": "The attack succeeded: the victim predicts another class (with a target: the target class).",
    "not flipped": "The attack ended without success. That proves nothing unless the status says so.",
    "not attacked": "The victim was wrong before any change, or predicted the target class already.",
    "tie": "A flipped label whose margin is within the victim's rounding errors; it does not count as flipped.",
    # Statuses of records.
    "reached": "The text was flipped; fewer changes may do.",
    "fewest": "The text was flipped, and it is proved that fewer changes do not flip it.",
    "impossible": "It is proved that no allowed change flips the text.",
    "optimal": "It is proved that no allowed change brings the text nearer to a flipped label.",
    "improved": "The changes raise the score but do not flip the text; a better text may exist.",
    "unchanged": "No change was found that raises the score.",
    "stopped": "A limit stopped the search.",
    "unstable": "The victim gave another score when it was asked again.",
    "misclassified": "The victim was wrong before any change (or predicted the target class already), so the text was "
    "not attacked.",
    "unchangeable": "No word of the text has a candidate, or the budget is 0; it was not tested and proves nothing.",
    "tied": "The attack ended in a tie, which does not count as flipped.",
    # Swaps.
    "flipped texts": "The number of flipped texts in which the swap occurs.",
    "share of them": "Of all flipped texts, the share in which the swap occurs.",
    "all texts with it": "The number of returned texts, flipped or not, in which the swap occurs.",
    # Two runs side by side.
    "right under attack": "The victim classifies the original correctly, and the attack did not flip the text.",
    "B − A": "Accuracy after the attack in the second run minus that in the first, on the texts in both, in "
    "percentage points.",
    "only A": "The number of texts that are right under attack in the first run and not in the second.",
    "only B": "The number of texts that are right under attack in the second run and not in the first.",
    "p-value": "The probability of a difference at least as large by chance if both victims were equally accurate "
    "under attack: McNemar's exact test, from the texts that only one of them keeps.",
}
ALIASES: dict[str, str] = {
    "before": "accuracy before",
    "after": "accuracy after",
    "words": "words changed",
    "words over all": "over all texts",
    "passes": "passes per text",
    "(95 %)": "95 % interval",
    "passes/text": "passes per text",
    "s/text": "seconds per text",
    "queries": "query",
    "p": "p-value",
    "swaps": "swap",
    "candidates": "candidate",
}


def define(heading: str) -> str | None:
    """What a heading or a word means, in one sentence; None if it is not a term.

    >>> define("s/text")
    'Seconds per attacked text; for certify, per text.'
    """
    return TERMS.get(ALIASES.get(heading, heading))


def explain(word: str, shown: str | None = None) -> Markup | str:
    """A word with its meaning; what is not a term stays as it is. shown: how it is written here.

    >>> explain("class")
    '<a class="term" href="#term-class" title="The true label of a text.">class</a>'
    >>> explain("no term")
    'no term'
    """
    shown = word if shown is None else shown
    meaning = define(word)
    if meaning is None:
        return shown
    return element("a", shown, class_="term", href=f"#{name_place(word)}", title=meaning)


def name_place(word: str) -> str:
    """The name of a term within the page.

    >>> name_place("(95 %)"), name_place("p-value")
    ('term-95-interval', 'term-p-value')
    """
    return "-".join(["term", *re.findall(r"[a-z0-9]+", ALIASES.get(word, word).lower())])


def list_terms() -> Markup:
    """The meanings of all terms."""
    rows = [
        element("div", element("dt", word), element("dd", meaning, id=name_place(word)))
        for word, meaning in TERMS.items()
    ]
    return element("dl", *rows, class_="terms")
