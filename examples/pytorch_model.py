"""Attack your own PyTorch model with its gradients: any module that begins with an embedding.

    pip install ".[demo]"
    python examples/pytorch_model.py [TEXTS]

A victim has a name, labels and scores of texts; one that declares gradients also has an oracle, which feeds it vectors.
"""

import sys

import numpy as np
import torch
from torch import nn

import discotext as d
from discotext.core import EmbeddingOracle, Objective
from discotext.data import load_data
from discotext.text import split


class Classifier(nn.Module, d.Victim):
    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self.name, self.labels = "my-model", ("negative", "positive")
        words = sorted({word.lower() for text in texts for word in split(text).words})
        self.vocabulary = {word: row for row, word in enumerate(words, start=1)}
        self.capabilities = d.victims.Capabilities(gradients=True, vocabulary=words)
        self.embedding = nn.Embedding(len(words) + 1, 32, padding_idx=0)  # row 0: padding and unknown words
        self.layers = nn.Sequential(nn.Dropout(0.5), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """From vectors (R, n, d) and lengths (R,) to scores (R, classes); yours may compute anything in between."""
        return self.layers(vectors.sum(1) / lengths.clamp(min=1).unsqueeze(-1))

    def logits(self, texts: list[str]) -> torch.Tensor:
        rows = [torch.tensor([self.vocabulary.get(word.lower(), 0) for word in split(text).words]) for text in texts]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True).long()
        return self(self.embedding(ids), torch.tensor([len(row) for row in rows]))

    def scores(self, texts: list[str]) -> np.ndarray:
        return self.logits(texts).detach().numpy()

    def oracle(self, space: d.text.Space, objective: Objective) -> EmbeddingOracle:
        ids = [self.vocabulary.get(word.lower(), 0) for text in space.options for row in text for word in row]
        return EmbeddingOracle(space.batch, np.array(ids, dtype=int), self.embedding.weight, self, objective)


torch.manual_seed(0)
known = load_data("movie_reviews", "train")
unseen = load_data("movie_reviews", "test").sample(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
model, labels = Classifier(known.texts), torch.from_numpy(known.labels)
optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
for batch in torch.cat([torch.randperm(len(known)) for _ in range(3)]).split(128):
    optimiser.zero_grad()
    nn.functional.cross_entropy(model.logits([known.texts[row] for row in batch]), labels[batch]).backward()
    optimiser.step()
for solver, row in d.compare(model.eval(), unseen, ["disco", "exact"]).summary.solvers.items():
    before, after, proved = (100 * x for x in (row.original_accuracy, row.adversarial_accuracy, row.optimal))
    print(f"{solver:5} accuracy {before:.1f} %, after the attack {after:.1f} %; proved optimal: {proved:.0f} %")
