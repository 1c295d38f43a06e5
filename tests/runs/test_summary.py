"""What a run holds does not grow with what it has written, and figures do not depend on how they are counted."""

import gc
import hashlib
import json
import random
from dataclasses import replace
from math import comb
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotext import Candidates
from discotext.attacks.run import perform, run
from discotext.runs.folder import read_lines
from discotext.runs.record import Change, Record
from discotext.runs.summary import Tally, mcnemar, mcnemar_of_pairs, summarise_run
from discotext.text.sources import SynonymList
from tests.conftest import EMPTY_RECORD, job_for, stop_after, untimed

CHUNK, TEXTS = 8, 100
WORDS = {"good": ["fine", "nice"], "bad": ["poor", "weak"]}
SCORE = {"good": 2.0, "fine": 0.5, "nice": -0.4, "bad": -2.0, "poor": -0.3, "weak": 0.2}


def scores(texts):
    sums = [sum(SCORE.get(word, 0.0) for word in text.split()) for text in texts]
    return [[-z, z] for z in sums]


def job(solvers=("greedy", "exact")):
    rng = random.Random(1)
    texts = [f"a {rng.choice(sorted(WORDS))} film {rng.choice(sorted(SCORE))} {number}" for number in range(TEXTS)]
    labels = [number % 2 for number in range(TEXTS)]
    given = {"budget": [0.2, 0.5], "chunk": CHUNK}
    return job_for(scores, (texts, labels), list(solvers), candidates=Candidates(SynonymList(WORDS), ()), **given)


def alive() -> int:
    """How many records there are in memory."""
    gc.collect()
    return sum(type(one) is Record for one in gc.get_objects())


def test_no_record_is_held_after_its_unit_be_it_made_or_read(tmp_path):
    before, seen = alive(), []

    def watch(done, units, made):
        if done % 9 == 0:  # to look takes a while
            seen.append(alive() - before)

    for _ in range(2):  # the second time all of them are read
        perform(job(), tmp_path / "run", watch)
    assert 0 < max(seen) <= 2 * CHUNK
    assert alive() == before
    kept = run(job(), tmp_path / "run")
    assert alive() - before == len(kept.records) == 4 * TEXTS  # and the count does count


def test_who_watches_sees_every_unit_once_also_those_of_before(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        perform(job(), tmp_path / "run", stop_after(7, KeyboardInterrupt))
    seen = []
    whole = run(job(), tmp_path / "run", lambda done, units, made: seen.append((done, units, list(made))))
    units = len(job().schedule.units)
    assert [one[:2] for one in seen] == [(number, units) for number in range(1, units + 1)]
    watched = [record for one in seen for record in one[2]]
    assert [record.as_dict() for record in watched] == list(read_lines(tmp_path / "run"))
    assert sorted(watched, key=lambda record: record.id) == whole.records


def test_with_and_without_a_folder_the_command_and_the_function_count_the_same(tmp_path):
    there, here = perform(job(), tmp_path / "run"), run(job())
    assert json.loads((tmp_path / "run" / "summary.json").read_text().splitlines()[1]) == there.summaries[1].as_dict()
    for one, other in zip(there.summaries, here.summaries, strict=True):
        rows = [untimed(summary.as_dict()["solvers"].values()) for summary in (one, other)]
        assert rows[0] == rows[1]
    flipped = {row.id: row.succeeded for row in here.select("exact") if row.share == "0.5"}
    assert there.flipped("0.5", "exact") == flipped


STATUS = ["reached", "fewest", "improved", "unchanged", "impossible", "misclassified", "failed", "unstable"]


@st.composite
def run_records(draw):
    """Records as a run might have them, of two solvers under two budgets."""
    records = []
    for number in range(draw(st.integers(0, 12))):
        for share in ("0.2", "0.5"):
            for solver in ("disco", "greedy"):
                status = draw(st.sampled_from(STATUS))
                words = draw(st.integers(0, 9))
                predicted, after = (draw(st.sampled_from([0, 1, None])) for _ in range(2))
                changed = draw(st.integers(1, 3)) if status in ("reached", "fewest") else draw(st.integers(0, words))
                records.append(
                    replace(
                        EMPTY_RECORD, id=number, label=draw(st.integers(0, 1)), predicted=predicted,
                        adversarial_predicted=after, changes=(Change(0, 0, 0, "", ""),) * changed,
                        words=max(words, changed), status=status, solver=solver,
                        space=draw(st.sampled_from(["ab", "é", None])), forwards=draw(st.integers(0, 2**62)),
                        backwards=number, seconds=draw(st.floats(0, 9)), victim_seconds=0.5, share=share,
                        error=status if status == "failed" else None,
                    )
                )  # fmt: skip
    return records


OF = {"victim": "v", "data": "d", "seed": 3, "budgets": ["0.2", "0.5"], "solvers": {"disco": "", "greedy": ""},
      "version": "1"}  # fmt: skip


@settings(max_examples=40, deadline=None)
@patch("discotext.runs.summary.bootstrap", lambda values, seed: (float(np.sum(values)), float(seed)))
@given(run_records(), st.integers(1, 7))
def test_a_tally_says_what_the_records_say_in_whatever_portions_they_come(records, portion):
    tally = Tally(OF)
    for begin in range(0, len(records), portion):
        tally.add(records[begin : begin + portion])
    assert tally.summaries == summarise_run(OF, records)
    assert tally.error == ("failed" if any(row.status == "failed" for row in records) else None)
    for budget, summary in zip(OF["budgets"], tally.summaries, strict=True):
        mine = [row for row in records if row.share == budget]
        spaces = sorted({(row.id, row.space) for row in mine if row.space is not None})
        text = "\n".join(f"{number} {space}" for number, space in spaces)
        assert summary.space == hashlib.sha256(text.encode()).hexdigest()[:16]
        assert summary.n == len({row.id for row in mine})
        for solver, found in summary.solvers.items():
            rows = [row for row in mine if row.solver == solver]
            tried = [row for row in rows if row.attacked]
            won = [row for row in tried if row.succeeded]
            right = [row.predicted == row.label for row in rows]
            after = [row.predicted if row.status == "failed" else row.adversarial_predicted for row in rows]
            stays = [one == row.label for one, row in zip(after, rows, strict=True)]
            proved = [row.status in ("reached", "fewest", "impossible") for row in tried]
            assert found.original_accuracy == mean(right)
            assert found.adversarial_accuracy == mean(stays)
            assert found.success_rate == mean([row in won for row in tried])
            assert found.perturbation == mean([len(row.changes) / row.words for row in won])
            assert found.perturbation_all == mean([len(row.changes) / max(row.words, 1) for row in rows])
            assert found.words_changed == mean([len(row.changes) for row in won])
            assert found.optimal == mean(proved)
            for key in ("forwards", "backwards", "seconds", "victim_seconds"):
                assert getattr(found, key) == sum(getattr(row, key) for row in rows)
            assert (found.attacked, found.failed) == (len(tried), sum(row.status == "failed" for row in rows))


def mean(values):
    return pytest.approx(float(np.mean(values))) if values else None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemars_p_is_the_sum_of_binomial_coefficients(pairs):
    first, second = (sum(a and not b for a, b in some) for some in (pairs, [(b, a) for a, b in pairs]))
    n = first + second
    expected = min(1.0, 2 * sum(comb(n, k) for k in range(min(first, second) + 1)) / 2**n) if n else 1.0
    assert mcnemar_of_pairs(pairs) == expected
    won = [replace(EMPTY_RECORD, id=n, status="reached") for n in range(len(pairs))]
    lost = [replace(one, status="improved") for one in won]
    records = [[(lost, won)[pair[which]][n] for n, pair in enumerate(pairs)] for which in (0, 1)]
    assert mcnemar(*records) == expected


def test_texts_are_hashed_piece_by_piece_into_the_hash_of_the_whole():
    made = job()
    content = [made.examples.texts, made.examples.labels.tolist(), made.examples.names]
    assert made.settings["texts"] == hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
