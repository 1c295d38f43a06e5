"""Attack your own PyTorch model with its gradients: any module that begins with an embedding.

    pip install "discotext[demo]"
    python examples/pytorch_model.py [TEXTS]

What makes a module a victim: a name, labels, scores of texts, and with `gradients` an oracle that hands it vectors.
"""

import sys

import numpy as np
import torch
from torch import nn

import discotext as d
from discotext.text.words import split


class Classifier(nn.Module):
    name, labels, gradients = "my-model", ("negative", "positive"), True

    def __init__(self, examples: d.Examples) -> None:
        super().__init__()
        words = sorted({word.lower() for text in examples.texts for word in split(text).words})
        self.vocabulary = {word: row for row, word in enumerate(words, start=1)}  # no candidate comes from outside it
        self.embedding = nn.Embedding(len(words) + 1, 32, padding_idx=0)  # row 0 is for unknown words, too
        self.layers = nn.Sequential(nn.Dropout(0.5), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Yours may be anything from vectors (R, n, d) and lengths (R,) to scores (R, classes)."""
        return self.layers(vectors.sum(1) / lengths.clamp(min=1).unsqueeze(-1))

    def logits(self, texts: list[str]) -> torch.Tensor:
        rows = [torch.tensor([self.vocabulary.get(word.lower(), 0) for word in split(text).words]) for text in texts]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True).long()
        return self(self.embedding(ids), torch.tensor([len(row) for row in rows]))

    def scores(self, texts: list[str]) -> np.ndarray:
        return self.logits(texts).detach().numpy()

    def oracle(self, space: d.Space, goal: d.Untargeted) -> d.EmbeddingOracle:
        words = (word.lower() for text in space.options for options in text for word in options)
        ids = np.array([self.vocabulary.get(word, 0) for word in words])
        return d.EmbeddingOracle(space.batch, ids, self.embedding.weight, self, goal)


torch.manual_seed(0)
known = d.load_data("movie_reviews", "train")
unseen = d.load_data("movie_reviews", "test").sample(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
model, labels = Classifier(known), torch.from_numpy(known.labels)
optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
for batch in torch.cat([torch.randperm(len(known)) for _ in range(3)]).split(128):
    optimiser.zero_grad()
    nn.functional.cross_entropy(model.logits([known.texts[row] for row in batch]), labels[batch]).backward()
    optimiser.step()
for solver, row in d.compare(model.eval(), unseen, ["disco", "exact"]).summary["solvers"].items():
    before, after = (f"{100 * row[f'{when}_accuracy']:.1f} %" for when in ("original", "adversarial"))
    passes, proved = (row["forwards"] + row["backwards"]) / row["attacked"], f"{100 * row['optimal']:.0f} %"
    print(f"{solver:5} takes accuracy from {before} to {after} in {passes:.0f} passes a text; proved: {proved}")
