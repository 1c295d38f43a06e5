"""A victim made of a spaCy pipeline with a text categoriser.

Its scores are the logarithms of `doc.cats`, which are probabilities: where a classifier is sure, these round to 0 and
1, and a search would see no difference between one text and the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discotext.core.arrays import Floats
from discotext.support.errors import describe_error
from discotext.victims.victim import Victim

EXCLUSIVE, SEVERAL = "textcat", "textcat_multilabel"  # spaCy's factories of text categorisers
FLOOR = np.finfo(np.float32).tiny  # replaces smaller probabilities: below it, numbers may be treated as 0


class SpacyVictim(Victim):
    """A spaCy pipeline (`Language`) with a trained `textcat`, as a victim. The classes are those of the component.

    A `textcat_multilabel` gives each of its labels a probability of its own; it is accepted with one label, which makes
    two classes.

    pipeline: a loaded pipeline. All its components are run, so disable those that the categoriser does not need.
    batch: texts in a batch of spaCy's.
    """

    def __init__(self, pipeline: Any, name: str | None = None, batch: int = 256) -> None:
        if batch < 1:
            raise ValueError(f"batch is {batch}; choose 1 or more")
        self.pipeline, self.batch = pipeline, batch
        self.name = name or f"spacy:{pipeline.meta['lang']}_{pipeline.meta['name']}"
        kinds = {one: pipeline.get_pipe_meta(one).factory for one in pipeline.pipe_names}
        found = [one for one, kind in kinds.items() if kind in (EXCLUSIVE, SEVERAL)]
        if len(found) != 1:
            raise ValueError(
                f"{self.name} has {len(found) or 'no'} text categorisers (components: {', '.join(kinds) or 'none'}); "
                "pass a pipeline with one textcat"
            )
        own = tuple(map(str, pipeline.get_pipe(found[0]).labels))
        if kinds[found[0]] == SEVERAL and len(own) > 1:
            raise ValueError(
                f"the {SEVERAL} of {self.name} assigns several labels to a text ({', '.join(own[:8])}); pass a "
                "function with the probability of one: lambda texts: [doc.cats[LABEL] for doc in nlp.pipe(texts)]"
            )
        if not own:
            raise ValueError(f"the {found[0]} of {self.name} has no labels; train it first")
        self._own = own
        self.labels = own if len(own) > 1 else (f"not {own[0]}", own[0])

    def scores(self, texts: Sequence[str]) -> Floats:
        """(N, C) logarithms of probabilities."""
        try:
            # The categories of a text without tokens would depend on the other texts; alone, they are 0.
            rows = [
                [doc.cats[label] if len(doc) else 0.0 for label in self._own]
                for doc in self.pipeline.pipe(texts, batch_size=self.batch)
            ]
        except Exception as error:
            raise ValueError(f"{self.name} raised {describe_error(error)}") from error
        # In the classifier's own precision, from which `measure_tolerance` sees how exact the scores are.
        found = np.array(rows, dtype=np.float32).reshape(len(texts), len(self._own))
        if len(self._own) == 1:
            found = np.concatenate([1 - found, found], axis=1)
        return np.log(np.maximum(found, FLOOR)).astype(np.float64)
