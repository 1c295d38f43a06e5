"""An LSTM language model of words, trained by `discotext train-lm --model lstm`. Needs the extra `torch`.

Words are vectors, an LSTM reads them, and the next word is predicted by the same vectors (tied weights). Sentences of
like length are read together; the state of a prefix is what the LSTM remembers, so going on from it costs one step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discotext.core.arrays import Floats, Ints
from discotext.language.kneser_ney import Corpus
from discotext.language.model import Sentence, SequentialModel, Token
from discotext.language.ngram import BEGIN, END, MARKS, UNKNOWN
from discotext.language.pieces import group_rows, pad
from discotext.language.sentences import normalise
from discotext.support.extras import require
from discotext.support.files import describe_write_error

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = "discotext-lstm-1"
LONGEST = 100  # words of a sentence that is trained on; longer ones are cut
TOKENS_PER_STEP = 1500
CLIP = 1.0  # of the gradient's norm

Progress = Callable[[str, float], None]


class RecurrentModel(SequentialModel):
    """A trained LSTM. words: the vocabulary by id, the marks first. weights: by name, see `make_network`."""

    def __init__(self, words: Sequence[str], weights: dict[str, Any], name: str) -> None:
        self.words, self.name = list(words), name
        size, width = weights["vectors.weight"].shape
        self.network = make_network(size, width, int(weights["lstm.weight_hh_l0"].shape[1]))
        self.network.load_state_dict(weights)
        self.network.eval().requires_grad_(False)

    @cached_property
    def number(self) -> dict[str, int]:
        """The id of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def knows(self, word: str) -> bool:
        return normalise(word.lower()) in self.number

    def ids(self, words: Sequence[str]) -> list[int]:
        """The id of each word; that of <unk> for unknown ones."""
        unknown = self.number[UNKNOWN]
        return [self.number.get(normalise(word.lower()), unknown) for word in words]

    def score(self, sentences: Sequence[Sentence]) -> Floats:
        import torch

        begin, end = self.number[BEGIN], self.number[END]
        lines = [[begin, *self.ids([token.word for token in sentence if token.word]), end] for sentence in sentences]
        found = np.zeros(len(lines))
        for rows in group_rows([len(line) for line in lines], TOKENS_PER_STEP):
            ids, mask = (torch.from_numpy(one) for one in pad([lines[row] for row in rows]))
            with torch.inference_mode():
                chances, _ = predict(self.network, ids[:, :-1])
                picked = chances.gather(2, ids[:, 1:, None]).squeeze(2)
            found[rows] = (picked.double() * mask[:, 1:]).sum(1).numpy()
        return found

    def start(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """(V,) ln p of the next word, and the LSTM's two states, of each prefix."""
        import torch

        with torch.inference_mode():
            chances, (h, c) = predict(self.network, torch.full((1, 1), self.number[BEGIN]))
        return chances[:, 0].expand(count, -1), h[0].expand(count, -1), c[0].expand(count, -1)

    def extend(
        self, states: tuple[Tensor, Tensor, Tensor], parents: Ints, tokens: Sequence[Token]
    ) -> tuple[tuple[Tensor, Tensor, Tensor], Floats]:
        import torch

        rows = torch.from_numpy(np.asarray(parents, dtype=np.int64))
        after, h, c = (one[rows].clone() for one in states)
        there = [number for number, token in enumerate(tokens) if token.word]
        gains = np.zeros(len(rows))
        if there:
            ids = torch.tensor(self.ids([tokens[number].word for number in there]))
            gains[there] = after[there, ids].double().numpy()
            with torch.inference_mode():
                memory = (h[there][None].contiguous(), c[there][None].contiguous())
                chances, (new_h, new_c) = predict(self.network, ids[:, None], memory)
            after[there], h[there], c[there] = chances[:, 0], new_h[0], new_c[0]
        return (after, h, c), gains

    def finish(self, states: tuple[Tensor, Tensor, Tensor]) -> Floats:
        return np.asarray(states[0][:, self.number[END]].double().numpy())

    def perplexity(self, sentences: Sequence[Sequence[str]]) -> float:
        """exp of minus the mean log-probability of a word, ends of sentences included."""
        total = sum(len(sentence) + 1 for sentence in sentences)
        scores = self.score([[Token(" ", word) for word in sentence] for sentence in sentences])
        return float(np.exp(-scores.sum() / total)) if total else float("nan")

    def write(self, path: str | Path) -> None:
        """Write a .safetensors file with the weights and the words."""
        from safetensors.torch import save_file

        weights = {name: one.contiguous() for name, one in self.network.state_dict().items()}
        try:
            save_file(weights, path, metadata={"format": FORMAT, "words": json.dumps(self.words)})
        except OSError as error:
            raise ValueError(describe_write_error(path, error)) from None


def make_network(words: int, width: int, memory: int) -> Any:
    """The network: vectors of words, an LSTM, and a projection back to the vectors."""
    torch = require("torch", extra="torch", reason="a recurrent language model")
    return torch.nn.ModuleDict(
        {
            "vectors": torch.nn.Embedding(words, width),
            "lstm": torch.nn.LSTM(width, memory, batch_first=True),
            "back": torch.nn.Linear(memory, width),
            "bias": torch.nn.Embedding(words, 1),
        }
    )


def predict(network: Any, ids: Tensor, memory: Any = None, drop: float = 0.0) -> tuple[Tensor, Any]:
    """(R, n, V) ln p of the word after each, and what the LSTM remembers. drop: the share of dropout, in training."""
    import torch

    vectors = torch.nn.functional.dropout(network["vectors"](ids), drop, training=drop > 0)
    states, memory = network["lstm"](vectors, memory)
    states = torch.nn.functional.dropout(network["back"](states), drop, training=drop > 0)
    logits = states @ network["vectors"].weight.T + network["bias"].weight.squeeze(1)
    # The start of a sentence is never predicted.
    logits[..., MARKS.index(BEGIN)] = -torch.inf
    return torch.log_softmax(logits, dim=-1), memory


def train_recurrent(
    corpus: Corpus,
    width: int = 128,
    memory: int = 256,
    epochs: int = 3,
    rate: float = 3e-3,
    drop: float = 0.2,
    seed: int = 0,
    name: str = "lstm",
    progress: Progress | None = None,
) -> RecurrentModel:
    """Train a model. width: of a word's vector. memory: of the LSTM's state. rate: of Adam, falling to 0."""
    torch = require("torch", extra="torch", reason="a recurrent language model")
    starts = np.flatnonzero(corpus.ids == MARKS.index(BEGIN))
    lines = [part[:LONGEST].tolist() for part in np.split(corpus.ids, starts[1:])]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make_network(len(corpus.words), width, memory)
        torch.nn.init.normal_(network["vectors"].weight, std=width**-0.5)
        torch.nn.init.zeros_(network["bias"].weight)
        groups = group_rows([len(line) for line in lines], TOKENS_PER_STEP)
        rng = np.random.default_rng(seed)
        optimiser = torch.optim.Adam(network.parameters(), lr=rate)
        step, steps = 0, epochs * len(groups)
        for _ in range(epochs):
            for number in rng.permutation(len(groups)).tolist():
                ids, mask = (torch.from_numpy(one) for one in pad([lines[row] for row in groups[number]]))
                for group in optimiser.param_groups:
                    group["lr"] = rate * (1 - step / steps)
                chances, _ = predict(network, ids[:, :-1], drop=drop)
                picked = chances.gather(2, ids[:, 1:, None]).squeeze(2)
                loss = -(picked * mask[:, 1:]).sum() / mask[:, 1:].sum()
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
                optimiser.step()
                step += 1
                if progress is not None:
                    progress(f"training, loss {loss.item():.2f}", step / steps)
    return RecurrentModel(corpus.words, network.state_dict(), name)


def read_recurrent(path: str | Path) -> RecurrentModel:
    """Read a file written by `RecurrentModel.write`."""
    require("torch", extra="torch", reason="a recurrent language model")
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        if about.get("format") != FORMAT:
            raise ValueError(f"{path} is not a language model of discotext train-lm; is it one of something else?")
        return RecurrentModel(json.loads(about["words"]), weights, str(path))
    except (SafetensorError, KeyError, RuntimeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged or incomplete ({error}); train the model again") from None
