"""Damaged run folders, read by `report`, `augment` and the same `compare`; and reports written to special files.

Damage must be reported in one sentence with status 1, or the output must be identical to that of the intact folder. A
resumed run may remove only an unfinished last line, and a refused one must not change a byte.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.black_box import Outcome, main
from benchmarks.black_box.sizes import Ended, call, warm_up

VICTIM = """
WEIGHTS = {"good": 2, "great": 1, "fine": 1, "lovely": 2, "bad": -2, "awful": -2, "dull": -1, "poor": -1, "slow": -1}

def scores(texts):
    sums = [sum(WEIGHTS.get(word, len(word) % 3 / 10 - 0.1) for word in text.lower().split()) for text in texts]
    return [[-value, value] for value in sums]
"""
WORDS = "a the film movie was good bad lovely awful story acting bought and dull fine slow poor great plot".split()
COMPARE = ["compare", "py:victim.py:scores", "data.csv", "--solver", "greedy", "--solver", "exact", "--json", "--out"]
ROWS = 150
TAIL = ("cut", "half a line")  # damage by a crash, after which a run is merely unfinished
TIMES = ("seconds", "victim_seconds", "check")  # the last is a checksum of all others
Damage = Callable[[Path, random.Random], None]


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "records.jsonl").read_bytes().splitlines(keepends=True)


def change_lines(change: Callable[[list[bytes], random.Random], None]) -> Damage:
    """Damage to the list of lines."""

    def damage(folder: Path, rng: random.Random) -> None:
        lines = lines_of(folder)
        change(lines, rng)
        (folder / "records.jsonl").write_bytes(b"".join(lines))

    return damage


def bit(folder: Path, rng: random.Random) -> None:
    content = bytearray((folder / "records.jsonl").read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    (folder / "records.jsonl").write_bytes(content)


def digit(folder: Path, rng: random.Random) -> None:
    content = bytearray((folder / "records.jsonl").read_bytes())
    place = rng.choice([at for at, sign in enumerate(content) if chr(sign).isdigit()])
    content[place] = ord(rng.choice("0123456789".replace(chr(content[place]), "")))
    (folder / "records.jsonl").write_bytes(content)


def swap(lines: list[bytes], rng: random.Random) -> None:
    first, second = rng.sample(range(len(lines)), 2)
    lines[first], lines[second] = lines[second], lines[first]


def drop(lines: list[bytes], rng: random.Random) -> None:
    del lines[rng.randrange(len(lines) - 1)]


def double(lines: list[bytes], rng: random.Random) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def field(lines: list[bytes], rng: random.Random) -> None:
    """A field of a record, with the value it has in another."""
    place = rng.randrange(len(lines))
    one, other = json.loads(lines[place]), json.loads(rng.choice(lines))
    key = rng.choice([key for key in one if one[key] != other[key]] or ["id"])
    lines[place] = (json.dumps(one | {key: other[key]}, ensure_ascii=False) + "\n").encode()


def garbage(lines: list[bytes], rng: random.Random) -> None:
    lines += rng.choice(
        [[b"garbage\n"], [b"{}\n"] * 3, [b"\n"] * 2, [rng.randbytes(200) + b"\n"], [b"[" * 10**5 + b"\n"]]
    )


def cut(folder: Path, rng: random.Random) -> None:
    path = folder / "records.jsonl"
    os.truncate(path, rng.randrange(1, path.stat().st_size))


def more(folder: Path, content: bytes) -> None:
    (folder / "records.jsonl").write_bytes((folder / "records.jsonl").read_bytes() + content)


def setting(folder: Path, rng: random.Random) -> None:
    path = folder / "settings.json"
    found = json.loads(path.read_text())
    key = rng.choice(sorted(found))
    values = (None, -1, 0, 3, 10**30, "x", [], {}, True, ["a", "b"], {"greedy": "x"}, "1/2")
    found[key] = rng.choice([value for value in values if value != found[key]])
    if rng.random() < 0.2:
        del found[key]
    path.write_text(json.dumps(found, indent=2))


def setting_bytes(folder: Path, rng: random.Random) -> None:
    path = folder / "settings.json"
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content[: rng.choice([len(content), len(content), rng.randrange(len(content))])])


DAMAGES: dict[str, Damage] = {
    "a bit flipped": bit,
    "a digit changed": digit,
    "two lines swapped": change_lines(swap),
    "a line deleted": change_lines(drop),
    "a line doubled": change_lines(double),
    "a field of another record": change_lines(field),
    "garbage lines at the end": change_lines(garbage),
    "cut": cut,
    "half a line": lambda folder, rng: more(folder, lines_of(folder)[0][: rng.randrange(1, 200)]),
    "zeros at the end": lambda folder, rng: more(folder, bytes(rng.choice([1, 512, 4096]))),
    "a setting changed": setting,
    "settings.json with a bit flipped": setting_bytes,
    "nothing": lambda folder, rng: None,
}


class Trial:
    """An intact run in a scratch folder, and the output of the commands for it."""

    def __init__(self, scratch: Path, seed: int) -> None:
        self.scratch, self.whole = scratch, scratch / "whole"
        rng = random.Random(seed)
        (scratch / "victim.py").write_text(VICTIM)
        texts = [" ".join(rng.choices(WORDS, k=rng.randint(3, 15))) for _ in range(ROWS)]
        rows = [f"{text},{int(rng.random() < 0.5)}\n" for text in texts]
        (scratch / "data.csv").write_text("text,label\n" + "".join(rows))
        warm_up(["attack", f"py:{scratch / 'victim.py'}:scores", str(scratch / "data.csv")])
        ended = self.call(*COMPARE, "whole")
        if ended.status:
            raise RuntimeError(f"there is no run to be damaged: {ended.last}")
        warm_up(["report", str(self.whole)])
        self.report, self.augment = self.read_report(self.whole), self.read_augmented(self.whole)
        self.timeless = [drop_times(line) for line in lines_of(self.whole)]

    def call(self, *arguments: str, stdout: int | None = None) -> Ended:
        return call(arguments, self.scratch, stdout=stdout)

    def read_report(self, folder: Path) -> tuple[Ended, list[list[str]]]:
        """How `report` ended, its figures and its rows; the order of the rows of one text does not matter."""
        table = self.scratch / "table.csv"
        table.unlink(missing_ok=True)
        ended = self.call("report", str(folder), "--json", "--csv", str(table))
        return ended, [ended.out.splitlines(), sorted(lines_in(table))]

    def read_augmented(self, folder: Path) -> tuple[Ended, list[list[str]]]:
        out = self.scratch / "more.jsonl"
        out.unlink(missing_ok=True)
        ended = self.call("augment", str(folder), "--out", str(out))
        return ended, [lines_in(out)]


def lines_in(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def drop_times(line: bytes) -> dict[str, Any]:
    """A record without its times, which differ between runs."""
    return {key: value for key, value in json.loads(line).items() if key not in TIMES}


def bad_end(ended: Ended) -> str | None:
    if ended.has_traceback or ended.status not in (0, 1):
        return f"status {ended.status}: {ended.last[:150]}"
    return None if ended.status == 0 or ended.is_told else f"status 1 and no sentence, but {ended.last[:150]!r}"


def reading_law(trial: Trial, name: str, folder: Path, command: str) -> str | None:
    """`report` or `augment`: the damage is reported, or has no effect."""
    read = trial.read_report if command == "report" else trial.read_augmented
    ended, found = read(folder)
    expected = (trial.report if command == "report" else trial.augment)[1]
    if trouble := bad_end(ended):
        return trouble
    if ended.status == 1 or found == expected:
        return None if name != "nothing" or not ended.status else f"refused an intact run: {ended.last[:150]}"
    if name in TAIL and "not finished" in ended.err:
        return None if set(found[-1]) <= set(expected[-1]) else "reported as unfinished, and rows differ"
    what = "texts" if command == "augment" else "figures" if found[0] != expected[0] else "rows"
    return f"status 0, and other {what} than before ({ended.err.strip().splitlines()[0][:100]!r})"


def going_on_law(trial: Trial, name: str, folder: Path) -> str | None:
    """The same `compare` again: refused without any change, or completed with nothing lost."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ended = trial.call(*COMPARE, str(folder))
    if trouble := bad_end(ended):
        return trouble
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    if ended.status == 1:
        differ = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        sizes = f"{len(before['records.jsonl'])} bytes of records before, {len(after['records.jsonl'])} after"
        return f"refused, yet {differ[0]} was changed ({sizes}): {ended.last[:120]}" if differ else None
    if [drop_times(line) for line in lines_of(folder)] != trial.timeless:
        return f"status 0, and records that differ from the whole run's, untold ({ended.last[:100]!r})"
    if name in TAIL:
        return None
    old, new = before["records.jsonl"], after["records.jsonl"]
    if old.startswith(new) and b"\n" in old[len(new) :]:
        return f"status 0, and whole lines at the end were taken off, untold: {old[len(new) :][:60]!r}"
    figures = (trial.whole / "summary.json").read_bytes()
    return None if after["summary.json"] == figures else "status 0, and other figures than before, untold"


def try_damage(trial: Trial, number: int, rng: random.Random) -> str | None:
    """Damage a copy of the run and read it; returns a line if that fails."""
    name = list(DAMAGES)[number % len(DAMAGES)]
    folder = trial.scratch / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(trial.whole, folder)
    if number // len(DAMAGES) % 2:
        (folder / "summary.json").unlink()  # as if the run were unfinished
    DAMAGES[name](folder, rng)
    troubles = {"report": reading_law(trial, name, folder, "report")}
    if number % 3 == 1:
        troubles["augment"] = reading_law(trial, name, folder, "augment")
    if number % 3 == 2:
        troubles["compare again"] = going_on_law(trial, name, folder)
    said = "; ".join(f"{command}: {trouble}" for command, trouble in troubles.items() if trouble)
    return f"try {number}, {name}: {said}; expected a sentence, or the same as before" if said else None


class Drain(threading.Thread):
    """Reads a pipe while it is written to."""

    def __init__(self, pipe: int) -> None:
        super().__init__(daemon=True)
        self.pipe, self.read, self.is_over = pipe, b"", threading.Event()
        os.set_blocking(pipe, False)
        self.start()

    def run(self) -> None:
        while True:
            over = self.is_over.is_set()  # asked first, so that what was written before is still read
            try:
                part = os.read(self.pipe, 2**20)
            except BlockingIOError:
                part = b""
            self.read += part
            if over and not part:
                return
            self.is_over.wait(0 if part else 0.002)

    def all(self) -> bytes:
        self.is_over.set()
        self.join()
        os.close(self.pipe)
        return self.read


def into_link(trial: Trial, command: list[str], place: Path) -> tuple[Ended, bytes]:
    aim = trial.scratch / f"aim{place.suffix}"
    aim.write_text("old\n")
    place.symlink_to(aim)
    return trial.call(*command, str(place)), aim.read_bytes()


def into_output(trial: Trial, command: list[str], place: Path) -> tuple[Ended, bytes]:
    """A substitute for /dev/stdout, which is not put at risk."""
    place.symlink_to("/proc/self/fd/1")
    ours, theirs = os.pipe()
    drain = Drain(ours)
    ended = trial.call(*command, str(place), stdout=theirs)
    os.close(theirs)
    return ended, drain.all()


def into_fifo(trial: Trial, command: list[str], place: Path) -> tuple[Ended, bytes]:
    os.mkfifo(place)
    drain = Drain(os.open(place, os.O_RDONLY | os.O_NONBLOCK))
    return trial.call(*command, str(place)), drain.all()


def into_device(trial: Trial, command: list[str], place: Path) -> tuple[Ended, None]:
    """A substitute for /dev/null, which is not put at risk."""
    os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    place.write_bytes(b"")  # some systems do not allow to open such a device
    return trial.call(*command, str(place)), None


COMMANDS = {
    "page.html": ["report", "whole", "--json", "--html"],
    "table.csv": ["report", "whole", "--json", "--csv"],
    "table.parquet": ["report", "whole", "--json", "--parquet"],
    "more.csv": ["augment", "whole", "--overwrite", "--out"],
}


def odd_places(trial: Trial) -> Iterator[str | None]:
    """Write to a link, standard output, a pipe and a device: each keeps its type and gets the content of a file."""
    for name, command in COMMANDS.items():
        plain = trial.scratch / name
        plain.unlink(missing_ok=True)
        trial.call(*command, str(plain))
        for into in (into_link, into_output, into_fifo, into_device):
            place = trial.scratch / f"{into.__name__}.{name}"
            try:
                ended, content = into(trial, command, place)
            except PermissionError:
                continue
            yield odd_place_law(f"{' '.join(command)} {into.__name__.replace('_', ' ')}", ended, place, plain, content)


def odd_place_law(said: str, ended: Ended, place: Path, plain: Path, content: bytes | None) -> str | None:
    kinds = {"link": stat.S_ISLNK, "output": stat.S_ISLNK, "fifo": stat.S_ISFIFO, "device": stat.S_ISCHR}
    kind = next(kind for kind in kinds if f"into_{kind}" in place.name)
    if trouble := bad_end(ended):
        return f"{said}: {trouble}; expected that it is written to"
    if not kinds[kind](place.lstat().st_mode):
        return f"{said}: it was replaced by a file; expected that it stays what it is"
    if ended.status == 1 and kind != "link":
        return None
    if content is not None and plain.read_bytes() not in content:
        return f"{said}: status {ended.status}, and {len(content)} bytes came; expected {plain.stat().st_size}"
    return None


def run(tries: int, seed: int) -> Outcome:
    """Damage copies of one run this many times; then write to special files."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(Path(name), seed)
        found = [try_damage(trial, number, rng) for number in range(tries)]
        found += odd_places(trial)
    return Outcome("run folders", len(found), tuple(line for line in found if line))


if __name__ == "__main__":
    sys.exit(main(run, 300, __doc__ or ""))
