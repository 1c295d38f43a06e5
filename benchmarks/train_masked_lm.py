"""Fine-tune a MiniLM sentence encoder as a masked language model of news, to be measured without a hub.

The encoder is that of `benchmarks.finetune_minilm`; its head predicts pieces by their own embeddings. Whole words are
masked, as `masked:` does. A few hundred small steps make a weak model, which is enough to compare searches: they all
have the same one. Prints what it has learnt: nats per masked piece, and how often the pseudo-log-likelihood of a title
of the test set is above that of the same words in random order (`masked:`, and `masked-fast:`).

    python -m benchmarks.train_masked_lm --out models/minilm_masked          needs DISCOTEXT_DATA
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer, BertForMaskedLM

from benchmarks.finetune_minilm import encoder_folder, read
from discotext.language.masked import load_masked
from discotext.language.model import Token

BATCH, LONGEST, SHARE, WARM_UP = 16, 32, 0.2, 0.1
RATE, HEAD_RATE = 2e-4, 1e-3
SEED = 20


def hide_words(batch: Any, tokeniser: Any, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Pieces with whole words hidden, and where: four fifths masked, and half of the rest replaced, as BERT's are."""
    ids, chosen = batch["input_ids"].clone(), torch.zeros_like(batch["input_ids"], dtype=torch.bool)
    for row in range(len(ids)):
        words = [-1 if word is None else word for word in batch.word_ids(row)]
        drawn, kind = rng.random(max(words) + 2) < SHARE, rng.random(max(words) + 2)
        for at, word in enumerate(words):
            if word < 0 or not drawn[word]:
                continue
            chosen[row, at] = True
            # Without the words that stay as they are, one pass over an unmasked text would mean nothing.
            if kind[word] < 0.8:
                ids[row, at] = tokeniser.mask_token_id
            elif kind[word] < 0.9:
                ids[row, at] = int(rng.integers(len(tokeniser)))
    return ids, chosen


def measure_loss(model: BertForMaskedLM, ids: Tensor, batch: Any, chosen: Tensor) -> Tensor:
    """Nats per masked piece. Only those are predicted: the head is as expensive as the encoder."""
    hidden = model.bert(input_ids=ids, attention_mask=batch["attention_mask"]).last_hidden_state
    return torch.nn.functional.cross_entropy(model.cls(hidden[chosen]), batch["input_ids"][chosen])


def train(model: BertForMaskedLM, tokeniser: Any, texts: list[str], steps: int) -> None:
    rng = np.random.default_rng(SEED)
    head = [*model.cls.predictions.transform.parameters(), model.cls.predictions.bias]
    optimiser = torch.optim.AdamW(
        [{"params": list(model.bert.parameters()), "lr": RATE}, {"params": head, "lr": HEAD_RATE}]
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / (WARM_UP * steps), (steps - step) / ((1 - WARM_UP) * steps))
    )
    model.train()
    began, recent = time.perf_counter(), []
    for step in range(steps):
        some = [texts[at] for at in rng.integers(len(texts), size=BATCH)]
        batch = tokeniser(some, truncation=True, max_length=LONGEST, padding=True, return_tensors="pt")
        ids, chosen = hide_words(batch, tokeniser, rng)
        loss = measure_loss(model, ids, batch, chosen)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        recent.append(loss.item())
        if (step + 1) % 25 == 0:
            seconds = time.perf_counter() - began
            print(f"step {step + 1}: {np.mean(recent[-25:]):.2f} nats, {seconds:.0f} s", flush=True)
    model.eval()


def test(folder: Path, texts: list[str]) -> None:
    """How often a title is above the same words in random order."""
    rng = np.random.default_rng(SEED)
    titles = [words for text in texts if len(words := text.split()[:10]) >= 6]
    both = [[Token(" ", word) for word in words] for words in titles]
    both += [[Token(" ", word) for word in rng.permutation(words).tolist()] for words in titles]
    for fast in (False, True):
        scores = load_masked(str(folder), fast).score(both)
        right = float(np.mean(scores[: len(titles)] > scores[len(titles) :]))
        print(f"{'masked-fast' if fast else 'masked'}: {100 * right:.0f} % of {len(titles)} above their shuffled words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, help="folder of the encoder [default: that of the installed package]")
    parser.add_argument("--texts", type=int, default=6000)
    parser.add_argument("--steps", type=int, default=400)
    given = parser.parse_args()
    folder = given.encoder or encoder_folder()
    torch.manual_seed(SEED)
    tokeniser = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = BertForMaskedLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32)
    model.tie_weights()
    train(model, tokeniser, read("ag_news", "train")[0][: given.texts], given.steps)
    model.save_pretrained(given.out)
    tokeniser.save_pretrained(given.out)
    test(given.out, read("ag_news", "test")[0][:100])


if __name__ == "__main__":
    main()
