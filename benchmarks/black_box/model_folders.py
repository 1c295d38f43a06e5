"""Damaged folders of Hugging Face classifiers, given to the command line.

Whatever a folder contains, `discotext check` must exit with status 0 or 1 (3 if most texts failed) and no traceback,
execute no code from the folder, and say in one sentence what is wrong. Every tenth folder is attacked.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.black_box import Outcome, main
from benchmarks.black_box.sizes import KINDS, Ended, call, make_folder, warm_up, write_data

GONE = object()
WRONG = (GONE, None, -1, 0, 1, 1.5, 4096, "abc", "32", "", [], {}, True, [0, 1], {"a": 1}, -0.5, 1e300, float("nan"))
Json = dict[str, Any]
Damage = Callable[[Path, random.Random], str]


def edited(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def put(holder: Any, key: Any, value: Any) -> None:
    if value is GONE:
        del holder[key]
    else:
        holder[key] = value


def places(value: Any, deepest: int = 6) -> list[tuple[Any, Any]]:
    """(container, key) of everything inside a JSON value; long lists are sampled."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    keys = keys[:20] + keys[-3:] if len(keys) > 23 else keys
    found = [(value, key) for key in keys]
    return found + [pair for key in keys if deepest for pair in places(value[key], deepest - 1)]


def value_in(name: str) -> Damage:
    """Remove or replace a random value in a JSON file."""

    def damage(folder: Path, rng: random.Random) -> str:
        content = json.loads((folder / name).read_text())
        holder, key = rng.choice(places(content))
        value = rng.choice(WRONG)
        put(holder, key, value)
        (folder / name).write_text(json.dumps(content))
        return f"{name}: {key!r} is {'gone' if value is GONE else repr(value)}"

    return damage


def key_of(name: str, key: str, *values: Any) -> list[Damage]:
    """Set a given key of a JSON file to each of some values."""

    def one(value: Any) -> Damage:
        def damage(folder: Path, rng: random.Random) -> str:
            edited(folder / name, lambda found: {k: v for k, v in {**found, key: value}.items() if v is not GONE})
            return f"{name}: {key} is {'gone' if value is GONE else repr(value)[:80]}"

        return damage

    return [one(value) for value in values]


def content_of(name: str, *contents: bytes) -> list[Damage]:
    def one(content: bytes) -> Damage:
        def damage(folder: Path, rng: random.Random) -> str:
            (folder / name).write_bytes(content)
            return f"{name} holds {content[:40]!r}, {len(content)} bytes"

        return damage

    return [one(content) for content in contents]


def some_file(folder: Path, rng: random.Random) -> Path:
    return rng.choice(sorted(path for path in folder.iterdir() if path.is_file()))


def flipped(folder: Path, rng: random.Random) -> str:
    path, many = some_file(folder, rng), rng.choice([1, 1, 2, 20])
    content = bytearray(path.read_bytes())
    for _ in range(many):
        content[rng.randrange(min(len(content), rng.choice([64, 4096, 10**9])))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    return f"{many} bits of {path.name} flipped"


def cut(folder: Path, rng: random.Random) -> str:
    path = some_file(folder, rng)
    size = rng.choice([0, 1, 8, 9, path.stat().st_size - 1, rng.randrange(path.stat().st_size)])
    os.truncate(path, size)
    return f"{path.name} cut to {size} bytes"


def replaced(folder: Path, rng: random.Random) -> str:
    path, how = some_file(folder, rng), rng.choice(["folder", "dangling link", "link to itself", "nothing", "zeros"])
    size = path.stat().st_size
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "zeros":
        path.write_bytes(bytes(size))
    elif how != "nothing":
        path.symlink_to("nowhere" if how == "dangling link" else path.name)
    return f"{path.name} replaced by {how}"


def swap_file(folder: Path, rng: random.Random) -> str:
    """Use a file of another kind of model."""
    path = some_file(folder, rng)
    other = folder.parent.parent / "whole" / rng.choice(KINDS)
    shutil.copy(other / path.name, path)
    return f"{path.name} is that of {other.name}"


def header(folder: Path, change: Callable[[Json], Any]) -> None:
    """Rewrite the header of the weights."""
    path = folder / "model.safetensors"
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    new = json.dumps(change(json.loads(content[8 : 8 + size]))).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + content[8 + size :])


def header_value(folder: Path, rng: random.Random) -> str:
    said = []

    def change(found: Json) -> Json:
        name = rng.choice(sorted(found))
        key = rng.choice(sorted(found[name]))
        wrong = (
            *WRONG,
            "F16",
            "F8_E4M3",
            "I64",
            "BOOL",
            [0, 4],
            [4, 0],
            [2**62, 2**62],
            [-4, 0],
            [[]],
            [1.5],
            [10**30],
        )
        value = rng.choice(wrong)
        said.append(f"header: {key} of {name} is {'gone' if value is GONE else value!r}")
        put(found[name], key, value)
        return found

    header(folder, change)
    return said[0]


def header_size(folder: Path, rng: random.Random) -> str:
    path, size = folder / "model.safetensors", rng.choice([0, 1, 7, 2**20, 2**40, 2**63, 2**64 - 1])
    path.write_bytes(size.to_bytes(8, "little") + path.read_bytes()[8:])
    return f"the header says it has {size} bytes"


def tensors(folder: Path, rng: random.Random) -> str:
    """Weights in a valid file that do not fit the model."""
    import torch
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    found = load_file(path)
    name = rng.choice(sorted(found))
    how = rng.choice(
        ["gone", "renamed", "transposed", "flat", "empty", "scalar", "longer", "NaN", "inf", "half", "int"]
    )
    old = found.pop(name)
    new = {
        "transposed": lambda: old.t().contiguous(),
        "flat": old.flatten,
        "empty": lambda: old[:0],
        "scalar": lambda: torch.tensor(1.0),
        "longer": lambda: torch.cat([old, old]),
        "NaN": lambda: old * float("nan"),
        "inf": lambda: old / 0,
        "half": old.half,
        "int": old.long,
        "renamed": lambda: old,
    }
    if how in new:
        found[name + ".other" if how == "renamed" else name] = new[how]().clone()
    save_file(found, path, {"format": rng.choice(["pt", "pt", "pt", "tf", "mlx", "flax", ""])})
    return f"weights: {name} is {how}"


class Canary:
    """An object whose pickle creates a folder next to the model when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def index(folder: Path, rng: random.Random) -> str:
    """Weights with an index that names unexpected files."""
    import torch

    path = folder / "model.safetensors"
    size = int.from_bytes(path.read_bytes()[:8], "little")
    names = [name for name in json.loads(path.read_bytes()[8 : 8 + size]) if name != "__metadata__"]
    torch.save({name: Canary(folder / "CANARY") for name in names}, folder / "weights.bin")
    whole = folder.parent.parent / "whole" / "Bert" / "model.safetensors"
    aims = ["../model.safetensors", str(whole), "weights.bin", "pytorch_model.bin", ".", "", "nowhere.safetensors", 7]
    aims += [None, "/etc/hostname", "config.json", "model.safetensors\0", "a" * 5000 + ".safetensors", []]
    aim, how = rng.choice(aims), rng.choice(["all", "one", "no weight_map", "a list"])
    if rng.random() < 0.7:
        path.rename(folder / "part.safetensors")
    entries = dict.fromkeys(names, "part.safetensors") | dict.fromkeys(names if how == "all" else names[:1], aim)
    content = {"metadata": {}, "weight_map": list(entries) if how == "a list" else entries}
    if how == "no weight_map":
        del content["weight_map"]
    (folder / "model.safetensors.index.json").write_text(json.dumps(content))
    return f"an index ({how}) that names {aim!r:.60}"


def foreign_code(folder: Path, rng: random.Random) -> str:
    """Code in the folder, which must never run."""
    script = (
        f"import os\nos.mkdir({str(folder / 'CANARY')!r})\nclass Config: pass\nclass Model: pass\nclass Reader: pass\n"
    )
    (folder / "own.py").write_text(script)
    auto = {"AutoConfig": "own.Config", "AutoModelForSequenceClassification": "own.Model"}
    auto |= {"AutoTokenizer": rng.choice(["own.Reader", ["own.Reader", "own.Reader"], ["own.Reader", None]])}
    unknown = rng.random() < 0.5
    for name in ("config.json", "tokenizer_config.json"):
        edited(folder / name, lambda found: {**found, "auto_map": auto} | ({"model_type": "own"} if unknown else {}))
    return f"auto_map names code in the folder{', for a model_type nobody knows' if unknown else ''}"


def nothing(folder: Path, rng: random.Random) -> str:
    return "nothing at all"


CONFIG, READER, SAYS, MARKS = "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"
NO_JSON = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"7",
    b'"x"',
    b"\xff\xfe{\0}\0",
    b"{}",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    bytes(9),
)
DAMAGES: list[Damage] = [
    *(nothing, foreign_code, *[value_in(CONFIG)] * 12, *[value_in(READER)] * 12, *[value_in(SAYS)] * 6),
    *(*[flipped] * 12, *[cut] * 6, *[replaced] * 6, *[swap_file] * 4),
    *(*[header_value] * 6, *[header_size] * 2, *[tensors] * 9, *[index] * 8),
    *key_of(CONFIG, "model_type", GONE, "unknown", "bert", "gpt2", "t5", "clip", 7, None, "../x", []),
    *key_of(
        CONFIG, "id2label", {}, [], None, {"0": "a"}, {"a": "b"}, {"0": 1, "1": 1}, {"0": "a", "5": "b"}, {"0": None}
    ),
    *key_of(
        CONFIG, "id2label", {"-1": "a", "0": "b"}, {str(n): str(n) for n in range(500)}, {"0": "\x1b[31m", "1": "\n"}
    ),
    *key_of(CONFIG, "architectures", [], ["BertModel"], "BertForMaskedLM", [None], ["NoSuch"]),
    *key_of(CONFIG, "problem_type", "regression", "multi_label_classification", "unknown", 3),
    *key_of(CONFIG, "dtype", "float16", "bfloat16", "int8", "unknown", 7),
    *key_of(CONFIG, "quantization_config", {}, {"quant_method": "gptq"}, {"quant_method": "unknown"}, "x"),
    *key_of(CONFIG, "pad_token_id", GONE, -1, 10**9, 10**30, "x", 1.5, [1]),
    *key_of(SAYS, "model_max_length", 0, 1, 2, -1, "x", 1e30, None, 10**400),
    *key_of(SAYS, "tokenizer_class", GONE, "BertTokenizer", "GPT2Tokenizer", "Unknown", 7, "T5Tokenizer"),
    *key_of(SAYS, "padding_side", "up", None, 3, "left"),
    *key_of(SAYS, "pad_token", None, 7, [], {"content": "x", "__type": "AddedToken"}, "no such token", GONE),
    *key_of(READER, "added_tokens", [], None, [{"id": 10**9, "content": "good"}], [{"id": -1, "content": "a"}]),
    *key_of(READER, "model", {}, {"type": "Unknown"}, {"type": "BPE", "vocab": {}, "merges": []}, None),
    *key_of(READER, "model", {"type": "WordLevel", "vocab": {"a": 0, "film": 4_000_000_000}, "unk_token": "a"}),
    *key_of(READER, "model", {"type": "Unigram", "vocab": [["a", -1.0], ["b", None]], "unk_id": 9}),
    *key_of(READER, "post_processor", None, {"type": "BertProcessing", "sep": ["x", 999], "cls": ["y", 10**9]}, 7),
    *key_of(READER, "truncation", {"max_length": 0, "strategy": "LongestFirst", "stride": 9, "direction": "Right"}),
    *content_of(MARKS, b'{"pad_token": 7}', b'{"cls_token": ["x"]}', b'{"unk_token": {"content": 3}}', *NO_JSON[:4]),
    *(damage for name in (CONFIG, READER, SAYS) for damage in content_of(name, *NO_JSON)),
]


def broken(ended: Ended, arguments: Sequence[str], folder: Path) -> str | None:
    """The requirement that a command violated, or None."""
    if ended.status not in (0, 1, 3) or ended.has_traceback:
        return f"status {ended.status}, {'with' if ended.has_traceback else 'without'} a traceback: {ended.last[:200]}"
    if (folder / "CANARY").exists():
        return "ran code of the folder"
    if ended.status == 1 and not ended.is_told and "not fit" not in ended.out:
        return f"status 1 and no sentence, but {ended.last[:200]!r}"
    if ended.status == 0 and "--json" in arguments:
        try:
            json.loads(ended.out, parse_constant=lambda name: float(f"no {name}"))
        except ValueError as error:
            return f"no JSON on standard output ({error}): {ended.out[:100]!r}"
    return None


def try_case(kind: str, damage: Damage, rng: random.Random, scratch: Path, attack: bool) -> str | None:
    """Damage a copy and run the command on it; returns a line if it fails."""
    folder = scratch / "damaged" / "model"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scratch / "whole" / kind, folder)
    said = damage(folder, rng)
    commands = [["check", f"hf:{folder}", "data.csv"]]
    commands += [["attack", f"hf:{folder}", "data.csv", "--limit", "4", "--json"]] * attack
    for arguments in commands:
        ended = call(arguments, scratch)
        if law := broken(ended, arguments, folder):
            return f"{arguments[0]} of {kind} with {said}: {law}; expected a verdict or one sentence"
        if damage is nothing and "fit to be attacked" not in ended.out and arguments[0] == "check":
            return f"check of a whole {kind}: no verdict, but {ended.last!r}"
    return None


def run(tries: int, seed: int) -> Outcome:
    """Try kinds of damage, each on a random kind of model."""
    rng = random.Random(seed)
    order = list(itertools.product(DAMAGES, KINDS))
    rng.shuffle(order)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "damaged").mkdir()
        write_data(scratch / "data.csv", seed)
        for kind in KINDS:
            make_folder(kind, scratch / "whole" / kind)
        warm_up(["attack", f"hf:{scratch / 'whole' / 'Bert'}", str(scratch / "data.csv"), "--limit", "4"])
        for number, (damage, kind) in enumerate(itertools.islice(itertools.cycle(order), tries)):
            if line := try_case(kind, damage, rng, scratch, number % 10 == 9):
                failures.append(line)
    return Outcome("model folders", tries, tuple(failures))


if __name__ == "__main__":
    sys.exit(main(run, 524, __doc__ or ""))
