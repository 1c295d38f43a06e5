"""What became of one text, in a sentence or two for its reader."""

from __future__ import annotations

from discotext.attacks.one_text import Outcome
from discotext.runs.record import Record


def explain_outcome(outcome: Outcome) -> str:
    """How an attack on one text ended."""
    record, labels = outcome.record, outcome.labels
    if record.status == "misclassified":
        if record.predicted is not None and record.predicted != record.label:
            return (
                f"Not attacked: the prediction is {labels[record.predicted]} already, and not {labels[record.label]}."
            )
        return "Not attacked: the text is of the target class already."
    if record.succeeded and record.adversarial_predicted is not None:
        fewest = "; it is proved that fewer do not flip it" if record.status == "fewest" else ""
        return f"Flipped to {labels[record.adversarial_predicted]} by {count_words(len(record.changes))}{fewest}."
    return f"Not flipped: {_explain_failure(record)}."


def _explain_failure(record: Record) -> str:
    if record.status == "failed":
        return f"the victim failed on a changed text ({' '.join(str(record.error).split())})"
    if not record.words:
        return "the text has no words"
    if not record.changeable:
        return "none of its words has a candidate"
    if not record.budget:
        return "the budget is 0 words"
    if record.status == "impossible":
        return f"it is proved that no choice of up to {count_words(record.budget)} flips it"
    if record.status == "unstable":
        return "the victim does not answer the same when asked again"
    if record.tied:
        return "the two best classes end within the victim's rounding errors"
    if record.status == "unchanged":
        return "no change was found that helps"
    limit = "; a limit stopped the search" if record.status == "stopped" else ""
    return f"the best found is {count_words(len(record.changes))}, and the prediction stays{limit}"


def explain_proof(outcome: Outcome) -> str:
    """What is proved of a text: robust, broken or open, and up to how many changed words."""
    record = outcome.record
    if record.verdict == "robust":
        # Such a text keeps its label, and counts as robust; but nothing was tested, so it says nothing of the victim.
        if record.status == "misclassified":
            return "Nothing to prove: the text is of the target class already."
        if not record.changeable or not record.budget:
            return f"Nothing to prove: {_explain_failure(record)}."
        return f"Robust: it is proved that no choice of up to {count_words(record.budget)} flips the label."
    if record.verdict == "broken":
        radius = record.radius or 0
        known = f"; it is proved that {_up_to(radius)} not" if radius else ""
        flips = "flips" if len(record.changes) == 1 else "flip"
        return f"Broken: {count_words(len(record.changes))} {flips} the label{known}."
    if record.verdict == "open":
        return f"Open: {record.reason}."
    return "Not proved: the prediction is wrong as it is."


def _up_to(radius: int) -> str:
    return "one changed word does" if radius == 1 else f"up to {radius} changed words do"


def count_words(number: int) -> str:
    """A number of changed words.

    >>> count_words(1), count_words(3)
    ('1 changed word', '3 changed words')
    """
    return f"{number} changed word{'' if number == 1 else 's'}"
