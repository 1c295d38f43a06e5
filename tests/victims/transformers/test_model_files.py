"""Untrusted model files: whatever they contain, a one-line error, and no more memory than their weights take."""

import json
import random
import shutil
import socket
import struct

import numpy as np
import pytest

from tests.tiny_models import classifier, word_pieces

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from discotext.models import load_language_model, model_files  # noqa: E402
from discotext.models.pretrained import load_model  # noqa: E402
from discotext.victims.transformers.victim import HuggingFaceVictim  # noqa: E402
from discotext.victims.victim import compute_scores  # noqa: E402
from tests.victims.transformers.test_victim import PIECES  # noqa: E402


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "model"
    tokeniser = word_pieces(PIECES)
    classifier("Bert", len(tokeniser)).save_pretrained(folder)
    tokeniser.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "model")
    return tmp_path / "model"


def configure(folder, **more):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **more}))


def refusal(folder):
    """The sentence in which a folder is refused."""
    with pytest.raises(ValueError) as caught:
        HuggingFaceVictim(str(folder))
    said = str(caught.value)
    assert said.startswith(f"'{folder}' cannot be loaded as a text classifier: ")
    assert "\n" not in said
    return said


SIZES = {
    "num_labels": 10**9,
    "num_hidden_layers": 3_000,
    "hidden_size": 9_000,
    "intermediate_size": 10**8,
    "vocab_size": 10**9,
    "max_position_embeddings": 10**9,
    "type_vocab_size": 10**9,
    "num_hidden_groups": 10**8,
    "block_sizes": [10**9],
    "attention_types": [[["global"], 10**9]],
    "vision_config": {"depth": 10**8},
}


@pytest.mark.parametrize("key", SIZES)
def test_a_size_that_the_weights_do_not_have_is_refused_before_memory_is_taken(folder, key, monkeypatch):
    """What would take the memory is not even called."""
    kind = transformers.AutoModelForSequenceClassification
    monkeypatch.setattr(kind, "from_pretrained", lambda *a, **k: pytest.fail("memory was taken"))
    configure(folder, **{key: SIZES[key]})
    assert "config.json" in refusal(folder)


@pytest.mark.parametrize("name", ["../elsewhere/model.safetensors", "/etc/passwd", "model.bin", "..\\x.safetensors", 5])
def test_an_index_may_only_name_safetensors_files_in_its_folder(folder, name):
    (folder / model_files.INDEX).write_text(json.dumps({"metadata": {}, "weight_map": {"a": name}}))
    assert str(name) in refusal(folder).replace("\\\\", "\\")


def header_changed(folder, change):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + size :])


def rename(header):
    header["nothing"] = header.pop("classifier.weight")


def reshape(header):
    one = header["classifier.weight"]
    one["shape"] = [one["shape"][0] * one["shape"][1]]


DAMAGES = {
    "no config": lambda folder: (folder / "config.json").unlink(),
    "config is a list": lambda folder: (folder / "config.json").write_text("[]"),
    "config is deep": lambda folder: (folder / "config.json").write_text("[" * 100_000),
    "config is a folder": lambda folder: ((folder / "config.json").unlink(), (folder / "config.json").mkdir()),
    "unknown kind": lambda folder: configure(folder, model_type="no such kind"),
    "another kind": lambda folder: configure(folder, model_type="gpt2"),
    "kind is a number": lambda folder: configure(folder, model_type=7),
    "no layers": lambda folder: configure(folder, num_hidden_layers=-1),
    "layers in words": lambda folder: configure(folder, num_hidden_layers="two"),
    "heads that do not divide": lambda folder: configure(folder, num_attention_heads=5),
    "no heads": lambda folder: configure(folder, num_attention_heads=0),
    "names of classes are numbers": lambda folder: configure(folder, id2label=[1, 2, 3]),
    **{
        f"an index of {weights}": lambda folder, weights=weights: (folder / model_files.INDEX).write_text(
            json.dumps({"weight_map": weights})
        )
        for weights in ({}, [], "x", None)
    },
    "no weights": lambda folder: (folder / "model.safetensors").unlink(),
    "only a pickle": lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
    "empty weights": lambda folder: (folder / "model.safetensors").write_bytes(b""),
    "half the weights": lambda folder: (folder / "model.safetensors").write_bytes(
        (folder / "model.safetensors").read_bytes()[:9_000]
    ),
    "a tensor renamed": lambda folder: header_changed(folder, rename),
    "a tensor reshaped": lambda folder: header_changed(folder, reshape),
    "no tokeniser": lambda folder: [path.unlink() for path in folder.glob("tokenizer*")],
    "empty tokeniser": lambda folder: (folder / "tokenizer.json").write_text("{}"),
    "half a tokeniser": lambda folder: (folder / "tokenizer.json").write_text(
        (folder / "tokenizer.json").read_text()[:700]
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_folder_is_one_sentence(folder, damage):
    damage(folder)
    refusal(folder)


@pytest.mark.parametrize("seed", range(12))
def test_a_folder_with_bytes_changed_is_a_sentence_or_a_victim(folder, seed):
    rng = random.Random(seed)
    path = rng.choice(sorted(path for path in folder.iterdir() if path.is_file()))
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 3, 20])):
        # Headers and settings stand at the beginning.
        content[rng.randrange(min(len(content), 4_000))] = rng.randrange(256)
    path.write_bytes(content)
    said = ""
    try:
        victim = HuggingFaceVictim(str(folder))
        compute_scores(victim, ["the good film was bad", "unbelievable"])
        assert victim.capabilities.gradients in (True, False)
    except ValueError as error:
        said = str(error)
    assert "\n" not in said


def test_a_model_of_the_hub_is_looked_at_like_a_folder(folder, monkeypatch):
    asked = []

    def snapshot(name, **settings):
        asked.append((name, settings))
        return str(folder)

    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert HuggingFaceVictim("someone/model").labels
    (name, settings) = asked[0]
    assert name == "someone/model"
    # Nothing that can hold a program is fetched.
    assert not any(pattern.endswith((".py", ".bin", ".pkl", "*")) for pattern in settings["allow_patterns"])
    configure(folder, vocab_size=10**9)
    with pytest.raises(ValueError, match="someone/model"):
        HuggingFaceVictim("someone/model")


# --- nothing is fetched that the user has not named


@pytest.fixture
def offline(monkeypatch):
    """Every attempt to connect, each of which fails."""
    attempts = []

    def refuse(*arguments, **settings):
        attempts.append(arguments[1:])
        raise OSError("no network in tests")

    for method in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, method, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return attempts


LOADERS = {
    "victim": HuggingFaceVictim,
    "encoder": lambda name: load_model(name, "AutoModel", "an encoder"),
    "language model": lambda name: load_language_model(f"hf:{name}"),
}


@pytest.mark.parametrize("lost", ["config.json", "model.safetensors", "tokenizer*", "*"])
@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_a_folder_that_lacks_files_is_refused_and_nothing_is_looked_for_on_the_hub(folder, offline, load, lost):
    for file in folder.glob(lost):
        file.unlink()
    with pytest.raises(ValueError) as caught:
        load(str(folder))
    assert "\n" not in str(caught.value)
    assert offline == []


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
@pytest.mark.parametrize("path", ["./missing", "/missing/model", "~/missing-model", "one/two/three", "missing.gguf"])
def test_a_path_where_nothing_is_is_not_looked_for_on_the_hub(path, offline, load):
    with pytest.raises(ValueError, match=r"there is no f") as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert offline == []


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation", "_attn_implementation_internal"])
def test_the_attention_that_a_configuration_names_is_not_used(folder, offline, key):
    expected = HuggingFaceVictim(str(folder)).scores(["a good film"])
    configure(folder, **{key: "someone/kernel"})
    victim = HuggingFaceVictim(str(folder))
    assert victim.reader.model.config._attn_implementation in ("sdpa", "eager")
    assert np.array_equal(victim.scores(["a good film"]), expected)
    assert load_model(str(folder), "AutoModel", "an encoder").model.config._attn_implementation in ("sdpa", "eager")
    assert offline == []


def test_loading_and_saving_draw_no_bars(folder, tmp_path, capfd):
    HuggingFaceVictim(str(folder)).save(tmp_path / "saved")
    assert capfd.readouterr() == ("", "")
    assert transformers.logging.is_progress_bar_enabled()


@pytest.mark.parametrize("device", ["cuda:99", "nowhere"])
def test_a_device_that_is_not_there_is_one_sentence(folder, device):
    with pytest.raises(ValueError, match=f"'{device}'") as caught:
        HuggingFaceVictim(str(folder), device=device)
    assert "\n" not in str(caught.value)


def test_a_tokeniser_that_makes_texts_very_long_is_refused(folder):
    file = folder / "tokenizer.json"
    longer = {"type": "Replace", "pattern": {"String": "o"}, "content": "o" * 10}
    whole = json.loads(file.read_text()) | {"normalizer": {"type": "Sequence", "normalizers": [longer] * 12}}
    file.write_text(json.dumps(whole))
    assert "1,000,000,000,000 times" in refusal(folder)
