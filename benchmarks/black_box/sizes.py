"""Small files that declare huge sizes, to exhaust memory or time.

The command must end with one sentence and status 1, within 2.5 GiB of memory and two minutes of processor time.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.black_box import Outcome, main

# The other checks use the first part, too: how to call a command, and small models to damage.
os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
WORDS = "a the film movie was is good bad lovely awful story acting we bought it and dull fine slow plot".split()
KINDS = ("Bert", "Roberta", "DistilBert", "GPT2", "Bart")
GIB = 2**30
ROOM, MOST, COMPUTING, BIG = 6 * GIB, 2.5 * GIB, 120, 10**9
Json = dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """How a command ended; a negative status is the signal that killed it. peak: maximal memory in bytes."""

    status: int
    out: str
    err: str
    peak: int

    @property
    def last(self) -> str:
        """The last line of standard error."""
        return (self.err.strip().splitlines() or [""])[-1]

    @property
    def is_told(self) -> bool:
        """Whether it ended with status 1 and one sentence."""
        return self.status == 1 and self.last.startswith("discotext: ") and len(self.last.split()) > 3

    @property
    def has_traceback(self) -> bool:
        return "Traceback (most recent call last)" in self.out + self.err


def call(arguments: Sequence[str], folder: Path, stdout: int | None = None, **limits: int) -> Ended:
    """Run the command line in a fork of this process, in which everything is already imported.

    limits: `seconds` until it is killed, seconds of `computing`, bytes of `memory`.
    """
    limits = {"seconds": 120, "computing": 600, "memory": 8 * GIB, **limits}
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            be_the_command(arguments, folder, limits, (out.fileno() if stdout is None else stdout, err.fileno()))
        status, peak = wait_for(child, limits["seconds"])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Ended(status, *texts, peak)


def be_the_command(
    arguments: Sequence[str], folder: Path, limits: dict[str, int], outputs: tuple[int, int]
) -> NoReturn:
    status: Any = 70
    try:
        for place, file in enumerate((os.open(os.devnull, os.O_RDONLY), *outputs)):
            os.dup2(file, place)
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
        resource.setrlimit(resource.RLIMIT_CPU, (limits["computing"], limits["computing"] + 5))
        sys.argv = ["discotext", *arguments]
        from discotext.cli import main as command_line

        command_line()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 1)


def wait_for(child: int, seconds: float) -> tuple[int, int]:
    """Wait for a child, or kill it after some time; returns its status and peak memory."""
    until = time.monotonic() + seconds
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            until = float("inf")
        time.sleep(0.005)


def warm_up(arguments: Sequence[str]) -> None:
    """Import and load what every child would otherwise import and load again."""
    from click.testing import CliRunner

    from discotext.cli import cli

    CliRunner().invoke(cli, list(arguments))


def tokeniser(kind: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    if kind in ("Bert", "DistilBert"):
        marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        letters = "abcdefghijklmnopqrstuvwxyz"
        entries = [*marks.values(), *WORDS, *letters[1:], *(f"##{letter}" for letter in letters)]
        made = Tokenizer(models.WordPiece({entry: place for place, entry in enumerate(entries)}, unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    else:
        marks = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        learn = trainers.BpeTrainer(vocab_size=320, special_tokens=list(marks.values()), initial_alphabet=alphabet)
        learn.show_progress = False
        made.train_from_iterator([" ".join(WORDS)] * 3, learn)
        made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **marks)


def make_folder(kind: str, folder: Path) -> None:
    """Write a classifier of two classes with random weights."""
    import torch
    import transformers

    reader = tokeniser(kind)
    heads = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    both = {f"{half}_{key}": 2 for half in ("encoder", "decoder") for key in ("layers", "attention_heads")}
    sizes: Json = {
        "Bert": heads,
        "Roberta": heads | {"pad_token_id": 1, "type_vocab_size": 1},
        "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
        "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        "Bart": {"d_model": 32, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "pad_token_id": 1, **both},
    }[kind]
    sizes |= {"vocab_size": len(reader), "n_positions" if kind == "GPT2" else "max_position_embeddings": 66}
    torch.manual_seed(1)
    config = getattr(transformers, f"{kind}Config")(id2label={0: "no", 1: "yes"}, **sizes)
    model = getattr(transformers, f"{kind}ForSequenceClassification")(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights), alpha=0.3)
    transformers.logging.disable_progress_bar()
    model.save_pretrained(folder)
    reader.save_pretrained(folder)
    transformers.logging.enable_progress_bar()


def write_data(path: Path, seed: int, rows: int = 12) -> None:
    rng = random.Random(seed)
    lines = [f"{' '.join(rng.choices(WORDS, k=rng.randint(4, 20)))},{row % 2}\n" for row in range(rows)]
    path.write_text("text,label\n" + "".join(lines))


def set_entries(path: Path, **values: Any) -> None:
    """Change entries of a JSON file; None removes an entry."""
    found = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({key: value for key, value in found.items() if value is not None}))


def set_network_entries(folder: Path, vocabulary: bytes | None = None, **values: Any) -> None:
    """Change the settings of a trained network, including the checksums."""
    found = json.loads((folder / "settings.json").read_text())
    if vocabulary is not None:
        (folder / "vocabulary.txt").write_bytes(vocabulary)
        found["sha256"]["vocabulary.txt"] = hashlib.sha256(vocabulary).hexdigest()
    set_entries(folder / "settings.json", model={**found["model"], **values}, sha256=found["sha256"])


def array_of(shape: str, zeros: int) -> Iterator[bytes]:
    """An array file that declares a shape, and contains this many zero bytes."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    yield b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header.encode()
    yield from nulls(zeros)


def nulls(size: int, sign: bytes = b"\0") -> Iterator[bytes]:
    yield from [sign * 2**20] * (size // 2**20)


def nested(depth: int) -> Iterator[bytes]:
    """Nested lists, as skops writes them."""
    yield b'{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [' * depth
    yield b"]}" * depth


def rewrite_zip(path: Path, what: str, content: Iterator[bytes], before: bool = False) -> None:
    """Rewrite a zip file with other content in the first member with this suffix, or in a new one."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    aim = next((name for name in members if name.endswith(what)), what)
    kept = members.pop(aim, b"")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name, member in members.items():
            new.writestr(name, member)
        with new.open(aim, "w", force_zip64=True) as file:
            for part in (kept if before else b"", *content):
                file.write(part)


SIZES = {
    "Bert": "num_hidden_layers=3e3 num_hidden_layers=1e8 hidden_size=9e3 hidden_size=1e6 vocab_size=1e9 num_labels=1e9 "
    "max_position_embeddings=1e9 type_vocab_size=1e9 intermediate_size=1e9 num_labels=1e6 albert.num_hidden_groups=1e8 "
    "albert.inner_group_num=1e8 mobilebert.num_feedforward_networks=1e8 canine.num_hash_functions=1e8 "
    "t5.num_layers=1e8 perceiver.num_blocks=1e8 mixtral.num_local_experts=1e8",
    "Roberta": "max_position_embeddings=1e9 vocab_size=1e12",
    "DistilBert": "n_layers=3e3 dim=9e3 hidden_dim=1e9 vocab_size=1e9",
    "GPT2": "n_layer=1e8 n_positions=1e9 n_positions=1e5 n_embd=1e6 n_inner=1e9",
    "Bart": "encoder_layers=1e8 decoder_layers=3e3 d_model=9e3 encoder_ffn_dim=1e9",
}
OTHERS: list[Json] = [
    {"model_type": "gemma3", "text_config": {"num_hidden_layers": 10**8}},
    {"model_type": "t5gemma", "encoder": {"num_hidden_layers": 10**8}},
    {"model_type": "qwen3_5", "vision_config": {"depth": 10**8}},
    {"model_type": "gpt_neo", "num_layers": 2, "attention_types": [[["global"], BIG]]},
    {"model_type": "funnel", "num_hidden_layers": None, "block_sizes": [BIG]},
]
SHOUT = {"type": "Replace", "pattern": {"String": "o"}, "content": "o" * 10}
READERS: list[Json] = [
    {"padding": {"strategy": {"Fixed": 10**11}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0}
     | {"pad_type_id": 0, "pad_token": "[PAD]"}},
    {"normalizer": {"type": "Sequence", "normalizers": [SHOUT] * 12}},
    {"model": {"type": "WordLevel", "vocab": {"a": 0, "film": 4_000_000_000}, "unk_token": "a"}},
]  # fmt: skip
NETWORKS: list[Json] = [{"hidden": 9000}, {"hidden": BIG}, {"width": 10**6}, {"classes": BIG}, {"hidden": 10**30}]
NETWORKS += [{"kind": "wcnn", "hidden": BIG}, {"kind": "dan", "hidden": 10**5}, {"vocabulary": b"\n" * 30_000_000}]
PIPELINES: dict[str, tuple[str, Callable[[], Iterator[bytes]], bool]] = {
    "an extra member of 3 GiB": ("more.npy", lambda: nulls(3 * GIB), False),
    "an array of 3 GiB": (".npy", lambda: array_of(f"({3 * GIB // 8},)", 3 * GIB), False),
    "an array that says it has 8 TB": (".npy", lambda: array_of("(1000000000000,)", 0), False),
    "an array that says it has 2⁶² rows": (".npy", lambda: array_of(f"({2**62}, 4)", 0), False),
    "an array of less than no rows": (".npy", lambda: array_of("(-5,)", 0), False),
    "a header of an array 100,000 deep": (".npy", lambda: array_of("(" * 100_000, 0), False),
    "3 GiB of blanks after the schema": ("schema.json", lambda: nulls(3 * GIB, b" "), True),
    "a schema of lists 900 deep": ("schema.json", lambda: nested(900), False),
    "a schema of lists 100,000 deep": ("schema.json", lambda: nested(100_000), False),
    "a schema of brackets 1,000,000 deep": ("schema.json", lambda: iter([b"[" * 10**6]), False),
}
HARMLESS = ("extra member", "'padding'", "blanks after")  # which may also give a verdict
Case = tuple[str, str, Callable[[Path], None]]


def cases() -> Iterator[Case]:
    """(description, name of the victim in the scratch folder, function that changes the copy)."""

    def changed(name: str, values: Json) -> Callable[[Path], None]:
        return lambda at: set_entries(at / name, **values)

    for kind, key, size in ((kind, *pair.split("=")) for kind, pairs in SIZES.items() for pair in pairs.split()):
        model, _, name = key.rpartition(".")
        more = {"id2label": None, "label2id": None} if key == "num_labels" else {"model_type": model} if model else {}
        yield f"{kind} with {key}={size}", f"hf:{kind}", changed("config.json", {name: int(float(size)), **more})
    for values in OTHERS:
        yield f"a config of {values}", "hf:Bert", changed("config.json", values)
    for values in READERS:
        yield f"a tokeniser with {values!s:.90}", "hf:Bert", changed("tokenizer.json", values)
    for values in NETWORKS:
        yield f"a network with {values!s:.60}", "trained", lambda at, values=values: set_network_entries(at, **values)
    for name, (what, content, before) in PIPELINES.items():
        change = lambda at, what=what, content=content, before=before: rewrite_zip(at, what, content(), before)  # noqa: E731
        yield f"a pipeline with {name}", "sklearn:model.skops", change


def broken(ended: Ended, harmless: bool) -> str | None:
    """The requirement that a command violated, or None."""
    if ended.status < 0:
        return f"killed by signal {-ended.status} after {ended.last[:150]!r}"
    if ended.has_traceback:
        return f"a traceback: {ended.last[:200]}"
    if ended.peak > MOST:
        return f"{ended.peak / GIB:.1f} GiB at the peak, then status {ended.status}: {ended.last[:150]}"
    fine = ended.is_told or (harmless and ended.status in (0, 1) and "fit to be attacked" in ended.out)
    return None if fine else f"status {ended.status}, {ended.last[:200]!r}"


def make_all(whole: Path, seed: int) -> None:
    """Create one small valid victim of each kind."""
    import skops.io
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    for kind in KINDS:
        make_folder(kind, whole / kind)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(WORDS * 2, [0, 1] * len(WORDS))
    skops.io.dump(pipeline, whole / "model.skops")
    write_data(whole / "learn.csv", seed, 200)
    write_data(whole / "data.csv", seed)
    ended = call(["train", "learn.csv", "--model", "lstm", "--epochs", "1", "--out", "trained"], whole)
    if ended.status:
        raise RuntimeError(f"there is no network to be tried: {ended.last}")


def try_case(case: Case, scratch: Path) -> str | None:
    """Try one case; returns a line if it fails."""
    asked, victim, change = case
    prefix, _, name = victim.rpartition(":")
    copy = scratch / "copy" / name
    shutil.rmtree(scratch / "copy", ignore_errors=True)
    copy.parent.mkdir()
    (shutil.copytree if (scratch / "whole" / name).is_dir() else shutil.copy)(scratch / "whole" / name, copy)
    change(copy)
    arguments = ["check", f"{prefix}:{copy}".removeprefix(":"), "data.csv"]
    ended = call(arguments, scratch / "whole", seconds=10 * COMPUTING, computing=COMPUTING, memory=ROOM)
    law = broken(ended, any(part in asked for part in HARMLESS))
    return law and f"check of {asked}: {law}; expected one sentence, status 1, at most {MOST / GIB} GiB"


def run(tries: int, seed: int) -> Outcome:
    """Try the cases, all of them if there are enough tries."""
    chosen = list(cases())
    if tries < len(chosen):
        chosen = random.Random(seed).sample(chosen, tries)
    with tempfile.TemporaryDirectory() as name:
        make_all(Path(name) / "whole", seed)
        found = [try_case(case, Path(name)) for case in chosen]
    return Outcome("sizes", len(chosen), tuple(line for line in found if line))


if __name__ == "__main__":
    sys.exit(main(run, 100, __doc__ or ""))
