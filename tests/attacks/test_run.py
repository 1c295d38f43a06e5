"""A run: progress inside a unit, records that do not depend on it, and an end for long texts."""

import numpy as np

from discotext import Candidates, attack
from discotext.attacks.job import Job
from discotext.attacks.run import perform
from discotext.attacks.settings import Settings
from discotext.text.sources import SynonymList
from tests.attacks.test_attack import FINDER, data, scores
from tests.conftest import untimed

SYNONYMS = {f"word{number}": [f"other{number}", f"third{number}"] for number in range(400)}


def make_text(words, seed):
    rng = np.random.default_rng(seed)
    return " ".join(f"word{number}" for number in rng.integers(0, 400, size=words))


def push(texts):
    """Every exchanged word pushes a little, some more than others."""
    gains = [sum(len(word) % 3 + int(word[5:]) % 7 for word in text.split() if word[0] == "o") for text in texts]
    return [[1.0, gain / 600] for gain in gains]


def test_two_texts_of_5000_words_take_few_queries_and_keep_only_changes_that_are_needed():
    asked = []

    def counted(texts):
        asked.extend(texts)
        return push(texts)

    texts = [make_text(5000, seed) for seed in (0, 1)]
    candidates = Candidates(SynonymList({word: other[:1] for word, other in SYNONYMS.items()}), ())
    result = attack(counted, (texts, [0, 0]), candidates=candidates)
    assert all(record.succeeded for record in result.records)
    # Greedy would ask about 5,000 swaps in each of a hundred rounds.
    assert len(asked) < 6000
    for record in result.records:
        left = len(record.changes)
        assert 32 < left <= 1000
        for change in record.changes[::10]:
            undone = record.adversarial_text.split()
            undone[change.position] = change.old
            scores_then = push([" ".join(undone)])[0]
            assert scores_then[1] <= scores_then[0]


def test_progress_is_reported_inside_a_unit_and_records_do_not_depend_on_who_watches():
    job = Job.of(scores, data(40), ["disco"], Settings(budget=0.5, candidates=FINDER, chunk=40))
    plain, watched, seen = [], [], []
    perform(job, watch=lambda done, units, made: plain.extend(made))
    perform(job, watch=lambda done, units, made: watched.extend(made), inside=lambda *state: seen.append(state))
    assert untimed(plain) == untimed(watched)
    assert len(job.schedule.units) == 1
    assert len(seen) > 3
    assert all(total == 40 for _, total, _ in seen)
    assert seen == sorted(seen)
    assert seen[-1][0] == 40
    assert seen[-1][2] > 40
