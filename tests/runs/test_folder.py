"""A run on disk: damage is told and never averaged, nothing is cut unseen, and files keep their nature."""

import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import textwrap
import threading

import pytest
from click.testing import CliRunner

import discotext as d
from discotext.attacks.run import run
from discotext.cli import cli
from discotext.runs.folder import format_line, is_sound, read_run
from discotext.support.files import write_atomically
from discotext.text.sources import SynonymList
from tests.conftest import job_for
from tests.conftest import untimed as without_times
from tests.report.helpers import folder as write
from tests.report.helpers import record, records, settings

FINDER = d.Candidates(SynonymList({"good": ["fine", "poor"], "bad": ["weak", "fine"]}), ())
TEXTS = [f"a {word} film no. {number}" for number, word in enumerate(["good", "bad"] * 12)]
LABELS = [1, 0] * 12


def scores(texts):
    z = [2.0 * text.count("good") + text.count("fine") - text.count("poor") - 2.0 * text.count("bad") for text in texts]
    return [[-one, one] for one in z]


def job(**more):
    settings = {"budget": 0.2, "words": 1, "candidates": FINDER, "limit": None, "seed": 0, "target": None, "chunk": 8}
    return job_for(scores, (TEXTS, LABELS), ["greedy", "exact"], **{**settings, **more})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that is done, to be copied."""
    path = tmp_path_factory.mktemp("finished") / "run"
    run(job(), path)
    return path


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def untimed(path):
    return without_times(read_run(path).records)


def summaries_or_sentence(path):
    try:
        return read_run(path).summaries
    except ValueError as error:
        return str(error)


def test_every_line_carries_a_checksum_of_itself(folder):
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 48
    assert all(map(is_sound, lines))
    assert is_sound(format_line({"text": "a \ud83d half", "number": 1.5}))


@pytest.mark.parametrize(("name", "seeds"), [("records.jsonl", range(40)), ("settings.json", range(40, 70))])
def test_a_flipped_bit_is_told_or_of_no_harm(folder, name, seeds):
    path, expected = folder / name, read_run(folder).summaries
    whole = path.read_bytes()
    for seed in seeds:
        rng, content = random.Random(seed), bytearray(whole)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        found = summaries_or_sentence(folder)
        assert found == expected or name in found
        if name == "records.jsonl":
            # The same command neither resumes nor cuts anything.
            with pytest.raises(ValueError, match=r"records\.jsonl"):
                run(job(), folder)
            assert path.read_bytes() == content


def drop_checksums(lines):
    return [json.dumps({k: v for k, v in json.loads(line).items() if k != "check"}).encode() + b"\n" for line in lines]


DAMAGES = {
    "a line missing": lambda lines: lines[:10] + lines[11:],
    "two lines exchanged": lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
    "a line twice": lambda lines: [*lines[:5], lines[4], *lines[5:]],
    "a strange line at the end": lambda lines: [*lines, b"{}\n"],
    "a line at the end twice": lambda lines: [*lines, lines[-1]],
    "without checksums": drop_checksums,
    "units exchanged": lambda lines: lines[8:16] + lines[:8] + lines[16:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_resuming_looks_before_it_cuts(folder, damage):
    path = folder / "records.jsonl"
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"records\.jsonl, line"):
        run(job(), folder)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kept", [0, 1, 8, 13, 16, 47])
@pytest.mark.parametrize("torn", [b"", b'{"id": 3, "te', b"\0" * 100], ids=["whole lines", "half a line", "zeros"])
def test_a_unit_that_was_not_finished_is_done_again(folder, kept, torn):
    path = folder / "records.jsonl"
    expected = untimed(folder)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]) + torn)
    run(job(), folder)
    assert untimed(folder) == expected


def test_a_run_of_before_without_checksums_can_still_be_reported(folder):
    settings = json.loads((folder / "settings.json").read_text())
    del settings["checksum"], settings["check"]
    (folder / "settings.json").write_text(json.dumps(settings))
    path, expected = folder / "records.jsonl", read_run(folder).summaries
    path.write_bytes(b"".join(drop_checksums(path.read_bytes().splitlines())))
    assert read_run(folder).summaries == expected


def test_a_success_without_a_flipped_prediction_is_refused(folder):
    path = folder / "records.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    won = next(line for line in lines if line["status"] in ("reached", "fewest"))
    won["adversarial_predicted"] = None
    for line in lines:
        line.pop("check")
    path.write_bytes(b"".join(map(format_line, lines)))
    with pytest.raises(ValueError, match="flipped"):
        read_run(folder)


# Runs in a process of its own, whose copies are struck at each of their writes in turn: killed, or told of a full disk.
STRIKES = """
    import errno, os, sys, traceback, warnings
    import discotext as d
    from discotext.runs.folder import read_run
    from tests.conftest import untimed
    from tests.runs.test_folder import FINDER, LABELS, TEXTS, scores

    warnings.simplefilter("ignore")
    what, kill, place = sys.argv[1], sys.argv[2] == "kill", sys.argv[3]

    def work(folder):
        settings = {"words": 1, "candidates": FINDER, "chunk": 8, "out": folder, "progress": False}
        getattr(d, what)(scores, (TEXTS, LABELS), "disco", **settings)

    def strike_at(number, folder):
        def strike():
            nonlocal number
            number -= 1
            if number == 0 and kill:
                os._exit(9)
            if number == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def listen(event, given):
            writes = event in ("os.mkdir", "os.rename") or event == "open" and given[2] & (os.O_WRONLY | os.O_RDWR)
            if writes and isinstance(given[0], str | os.PathLike) and os.fspath(given[0]).startswith(folder):
                strike()

        def sync(file, usual=os.fsync):
            strike()
            usual(file)

        sys.addaudithook(listen)
        os.fsync = sync

    def attempt(number, folder):
        child = os.fork()
        if child == 0:
            try:
                strike_at(number, folder)
                work(folder)
                os._exit(0)
            except ValueError as error:
                os._exit(1 if "No space left" in str(error) or "no space left" in str(error) else 2)
            except BaseException:
                traceback.print_exc()
                os._exit(3)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    work(f"{place}/whole")
    expected = untimed(read_run(f"{place}/whole").records)
    number = 0
    while True:
        number += 1
        folder = f"{place}/{number}"
        status = attempt(number, folder)
        if status == 0:
            break
        assert status == (9 if kill else 1), (number, status)
        found = sorted(os.listdir(folder)) if os.path.exists(folder) else []
        work(folder)  # the same command resumes it
        assert untimed(read_run(folder).records) == expected, (number, found)
        assert not [name for name in os.listdir(folder) if name.endswith(".new")], number
        assert os.path.exists(f"{folder}/surrogate.npz") and os.path.exists(f"{folder}/summary.json")
    print(number - 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("strike", ["kill", "full disk"])
@pytest.mark.parametrize("what", ["attack", "certify"])
def test_whatever_a_folder_holds_at_any_moment_can_be_resumed(tmp_path, what, strike):
    command = [sys.executable, "-c", textwrap.dedent(STRIKES), what, strike, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    # The folder, three for each of three files beside the records, and the records: their file, and three units.
    assert int(done.stdout) == 1 + 3 * 3 + 1 + 3


def test_a_surrogate_of_a_run_that_never_began_is_not_trusted(tmp_path):
    """A run that was killed before its settings may have been another one."""
    settings = {"candidates": FINDER, "words": 1, "progress": False}
    for folder, texts in (("one", TEXTS), ("other", [text.replace("film", "book") for text in TEXTS])):
        d.attack(scores, (texts, LABELS), "disco", out=tmp_path / folder, **settings)
    left = tmp_path / "left"
    left.mkdir()
    (left / "records.jsonl").touch()
    (left / "surrogate.npz").write_bytes((tmp_path / "other" / "surrogate.npz").read_bytes())
    d.attack(scores, (TEXTS, LABELS), "disco", out=left, **settings)
    assert untimed(left) == untimed(tmp_path / "one")
    own, other = ((tmp_path / name / "surrogate.npz").read_bytes() for name in ("one", "other"))
    assert (left / "surrogate.npz").read_bytes() == own != other


@pytest.mark.parametrize("name", ["surrogate.npz", "notes.txt"])
def test_a_file_and_a_folder_with_files_of_others_are_refused(tmp_path, name):
    (tmp_path / name).touch()
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(ValueError, match=str(path)):
            run(job(), path)


# --- what is no ordinary file


def report(folder, *arguments):
    done = CliRunner().invoke(cli, ["report", str(folder), *map(str, arguments)])
    assert done.exit_code == 0, done.stderr
    return done


@pytest.mark.parametrize("option", ["--html", "--csv", "--parquet"])
def test_a_link_is_written_through_and_a_pipe_is_written_to(folder, tmp_path, option):
    if option == "--parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    report(folder, option, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len((tmp_path / "target").read_bytes()) > 1000
    assert not list(tmp_path.glob("*.new"))
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    report(folder, option, tmp_path / "pipe")
    reader.join(timeout=120)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert len(got[0]) > 1000


def test_a_device_stays_a_device(tmp_path):
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (tmp_path / "null").write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be made here")
    write_atomically(tmp_path / "null", "gone")
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)


def test_what_cannot_be_written_is_one_sentence(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "x"):
        with pytest.raises(ValueError, match=re.escape(f"{path} ")):
            write_atomically(path, "x")


# --- what is no run


def test_a_shard_expects_its_own_chunks_only(tmp_path):
    # 9 texts in chunks of 4, 4 and 1: the second of two parts has 4 texts.
    assert read_run(write(tmp_path / "run", records(), settings(chunk=4, shard="2/2"))).expected == 4 * 4


SPOILT = [
    (lambda path: (path / "settings.json").unlink(), "settings.json"),
    (lambda path: (path / "settings.json").write_text("{"), "settings.json is not JSON"),
    (lambda path: (path / "settings.json").write_text('{"name": "other"}'), "'version'"),
    (lambda path: write(path, records(), settings(budgets=["many"])), "'many'"),
    (lambda path: write(path, records(), settings(shard="x")), "'shard' is 'x'"),
    (lambda path: write(path, records(), settings(surrogate={"queries": "few"})), "'surrogate'"),
    (lambda path: write(path, records(), settings(certify={"passes": 1, "budgets": []})), "'certify'"),
    (lambda path: (path / "records.jsonl").unlink(), "no records.jsonl"),
    (lambda path: (path / "records.jsonl").write_text(""), "records.jsonl is empty"),
    (lambda path: (path / "records.jsonl").write_text("[]\n"), "line 1"),
    (lambda path: (path / "records.jsonl").write_text('{"id": 1}\n'), "'text'"),
    (lambda path: write(path, [record(0, words="many")], settings()), "'words' is 'many'"),
    (lambda path: write(path, [record(0), record(0)], settings()), "line 2"),
    (lambda path: write(path, [record(0, "beam")], settings()), "'beam'"),
    (lambda path: write(path, [record(0, share="0.9")], settings()), "'0.9'"),
    (lambda path: write(path, [record(0, label=5)], settings()), "'label' is 5"),
    (lambda path: write(path, [record(0, text="another")], settings()), "'fine'"),
]


@pytest.mark.parametrize(("spoil", "said"), SPOILT)
def test_a_folder_that_is_no_run_ends_in_one_sentence(tmp_path, spoil, said):
    path = write(tmp_path / "run", records(), settings())
    spoil(path)
    done = CliRunner().invoke(cli, ["report", str(path)])
    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (path / "report.html").exists()


def test_a_solver_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="'beam'"):
        read_run(write(tmp_path / "run", records(), settings())).only(["beam"])
