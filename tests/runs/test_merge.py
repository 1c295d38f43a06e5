"""Merging the shards of a run: killed it can be run again, and it never writes over other records."""

from dataclasses import replace

import pytest

from discotext.attacks.run import run
from discotext.runs.merge import merge
from tests.runs.test_folder import job


@pytest.fixture
def shards(tmp_path):
    whole = job()
    for part in (1, 2):
        run(replace(whole, asked=replace(whole.asked, shard=f"{part}/2")), tmp_path / f"part{part}")
    return [tmp_path / "part1", tmp_path / "part2"]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99, 1.0])
def test_a_merge_that_was_killed_can_be_run_again(shards, tmp_path, share):
    merge(shards, tmp_path / "whole")
    expected = (tmp_path / "whole" / "records.jsonl").read_bytes()
    merge(shards, tmp_path / "killed")
    (tmp_path / "killed" / "records.jsonl").write_bytes(expected[: int(share * len(expected))])
    (tmp_path / "killed" / "summary.json").unlink()
    merge(shards, tmp_path / "killed")
    assert (tmp_path / "killed" / "records.jsonl").read_bytes() == expected
    assert (tmp_path / "killed" / "summary.json").exists()


def test_a_merge_does_not_write_over_other_records(shards, tmp_path):
    merge(shards, tmp_path / "whole")
    path = tmp_path / "whole" / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    with pytest.raises(ValueError, match="other records"):
        merge(shards, tmp_path / "whole")
    assert path.read_bytes() == b"".join(lines[1:])
