"""Scorers by name."""

from __future__ import annotations

from discotext.text.acceptability import LightScorer, Scorer

SCORERS = ("light", "encoder", "full")


def make_scorer(name: str, encoder: str | None = None, language_model: str | None = None) -> Scorer:
    """Make the scorer of that name. encoder, language_model: folders of its models.

    >>> make_scorer("light").name
    'light'
    """
    if name not in SCORERS:
        raise ValueError(f"there is no scorer {name!r}; choose one of {', '.join(SCORERS)}")
    if name == "light":
        return LightScorer()
    from discotext.text.encoder_scorer import EncoderScorer, FullScorer

    return EncoderScorer(encoder) if name == "encoder" else FullScorer(EncoderScorer(encoder), language_model)
