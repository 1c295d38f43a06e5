"""No more is read than the maximum, and of very many rows a part is held, from which the sample is drawn."""

import io
from types import SimpleNamespace

import pytest

from discotext.data import load_data
from discotext.data.files import read_table
from tests.data.writers import WRITERS, write


@pytest.mark.parametrize("name", WRITERS)
def test_no_more_is_read_than_the_maximum_however_it_is_packed(tmp_path, monkeypatch, name):
    # Equal texts, which a packed file holds once.
    path = WRITERS[name](tmp_path / name, ["a fine film"] * 2000, [0, 1] * 1000)
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "20000")
    with pytest.raises(ValueError, match=r"20,000 bytes.*DISCOTEXT_MAX_BYTES"):
        load_data(path)
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "2000000")
    assert len(load_data(path)) == 2000


@pytest.mark.parametrize("name", WRITERS)
def test_a_text_is_at_most_a_hundredth_of_the_maximum(tmp_path, monkeypatch, name):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "1000000")
    path = WRITERS[name](tmp_path / name, ["a fine film", "dull " * 2001], [0, 1])
    with pytest.raises(ValueError, match=r"10,000 characters.*DISCOTEXT_MAX_BYTES"):
        load_data(path)


def test_a_maximum_that_is_no_number_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "many")
    with pytest.raises(ValueError, match="'many'"):
        load_data(write(tmp_path / "some.csv", ["a", "b"], [0, 1]))


class Endless(io.RawIOBase):
    """A source without an end, as /dev/zero and `yes` are."""

    def __init__(self, piece):
        self.piece = piece

    def readline(self, size=-1):
        assert size > 0, "a whole line was asked for"
        end = self.piece.find(b"\n") + 1
        return self.piece if end else (self.piece * size)[:size]


@pytest.mark.parametrize(("piece", "says"), [(b"\0", "NUL"), (b"y", "the line"), (b"yes\n", "unpacked")])
def test_standard_input_need_not_end(monkeypatch, piece, says):
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "100000000")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Endless(piece)))
    with pytest.raises(ValueError, match=f"standard input.*{says}"):
        read_table("-", limit=5)


@pytest.fixture
def few_held(monkeypatch):
    """Half a million rows are too many for a test."""
    monkeypatch.setattr("discotext.data.rows.HELD_ROWS", 400)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_a_sample_of_very_many_rows_is_drawn_without_holding_them(tmp_path, few_held, ending):
    labels = ["b" if number % 4 else "a" for number in range(5000)]
    labels[4321] = "rare"
    path = write(tmp_path / f"many{ending}", [f"text {number}" for number in range(5000)], labels)
    table = read_table(path, limit=40)
    assert 100 < len(table.texts) <= 500
    sample = table.check().sample(40)
    assert (sample.names, sample.counts.tolist()) == (("a", "b", "rare"), [10, 29, 1])
    numbers = [int(text.split()[1]) for text in sample.texts]
    assert numbers == sorted(numbers)
    assert numbers[0] < 1000 < 4000 < numbers[-1]
    assert read_table(path, limit=40).texts == table.texts
    assert read_table(path, limit=40, seed=1).texts != table.texts
    assert len(read_table(path).texts) == len(read_table(path, limit=2000).texts) == 5000


def test_of_very_long_texts_fewer_are_held(tmp_path, monkeypatch):
    monkeypatch.setattr("discotext.data.rows.HELD_CHARACTERS", 10_000)
    path = write(tmp_path / "long.csv", ["long " * 20] * 1000, [0, 1] * 500)
    assert 8 <= len(read_table(path, limit=2).texts) <= 110


def test_of_an_ordinary_file_the_sample_is_that_of_all_its_rows(tmp_path):
    path = write(tmp_path / "some.csv", [f"text {number}" for number in range(500)], [0, 1] * 250)
    assert read_table(path, limit=7, seed=3).check().sample(7, 3).texts == load_data(path).sample(7, 3).texts


@pytest.mark.parametrize("row", [["text", None], ["text", 1], ["x" * 9999, "a"], [5, "a"]], ids="abcd")
def test_what_is_wrong_with_a_row_is_found_though_few_are_held(tmp_path, monkeypatch, few_held, row):
    rows = [[f"text {number}", "ab"[number % 2]] for number in range(5000)]
    rows[4567], rows[4000][0], rows[3000][0] = row, " ", ""
    path = write(tmp_path / "many.jsonl", *zip(*rows, strict=True))
    monkeypatch.setenv("DISCOTEXT_MAX_BYTES", "900000")
    with pytest.warns(UserWarning, match="line 3001: .* 2 of 5,000"):
        table = read_table(path, limit=10)
    assert len(table.texts) < 600
    with pytest.raises(ValueError, match="line 4568"):
        table.check()
