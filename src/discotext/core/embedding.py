"""A PyTorch model of word vectors as an oracle, with its gradient.

A mixture of candidates is a mixture of their vectors, Σ_j α_i^j w_i^j, for all positions at once. That is exactly
`torch.nn.functional.embedding_bag` with weights: one fused kernel, the gradient with respect to α included, and no
tensor of size texts × words × candidates × dimensions. PyTorch is imported when the first oracle is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from discotext.core.arrays import Choices, Floats, Ints
from discotext.core.objectives import Objective
from discotext.core.problem import Batch
from discotext.support.extras import require

if TYPE_CHECKING:
    from torch import Tensor


class EmbeddingOracle:
    """Scores texts by a model of their word vectors.

    ids: (K,) for every candidate of every position, its row in the table.
    table: (V, d) word vectors, a tensor; the work is done where it lives and in its precision.
    model: takes vectors (R, n, d) and lengths (R,), returns scores (R,). Vectors beyond a text's end are zero. It must
        be in evaluation mode: a row's score may not depend on the others.
    objective: makes one number of a model's scores of classes; the model then returns (R, C).
    """

    exact_at_vertices = True
    pads = True

    def __init__(
        self,
        batch: Batch,
        ids: Ints,
        table: Tensor,
        model: Callable[[Tensor, Tensor], Tensor],
        objective: Objective | None = None,
    ) -> None:
        require("torch", extra="torch", reason="EmbeddingOracle")
        import torch

        ids = np.asarray(ids)
        if ids.shape != (batch.candidates,) or (ids.size and ids.dtype.kind not in "iu"):
            raise ValueError(
                f"ids have shape {ids.shape} and type {ids.dtype}, but there are {batch.candidates} candidates; give "
                "one flat array of whole numbers, the candidates of each position in turn, the original first"
            )
        if not isinstance(table, torch.Tensor) or table.ndim != 2:
            raise TypeError(
                f"table is a {type(table).__name__}; give a tensor (words, dimensions) like Embedding.weight"
            )
        if len(ids) and not (int(np.min(ids)) >= 0 and int(np.max(ids)) < len(table)):
            raise ValueError(f"ids run from {np.min(ids)} to {np.max(ids)}, but the table has {len(table)} rows")
        self.batch, self.model, self.objective = batch, model, objective
        self.ids = torch.as_tensor(np.asarray(ids, dtype=np.int64), device=table.device)
        self.table = table.detach()

    def score(self, problems: Ints, choices: Choices) -> Floats:
        import torch

        layout = self.batch.take(problems)
        with torch.inference_mode():
            picked = self._ids_of(problems)[torch.from_numpy(layout.chosen(choices)).to(self.ids.device)]
            vectors = torch.nn.functional.embedding(picked, self.table)
            scores = to_numpy(self._run(layout, vectors))
        return scores if self.objective is None else self.objective.value(scores, problems)

    def relaxed(self, problems: Ints, alpha: Floats) -> tuple[Floats, Floats]:
        import torch

        layout = self.batch.take(problems)
        weights = torch.from_numpy(np.ascontiguousarray(alpha)).to(self.table).requires_grad_()
        offsets = torch.from_numpy(layout.starts).to(self.ids.device)
        with torch.enable_grad(), flush_denormals():
            vectors = torch.nn.functional.embedding_bag(
                self._ids_of(problems), self.table, offsets, mode="sum", per_sample_weights=weights
            )
            # cuDNN cannot run a recurrent layer backwards in evaluation mode.
            with torch.backends.cudnn.flags(enabled=False):
                scores = self._run(layout, vectors)
                found = to_numpy(scores)
                by_score = torch.ones_like(scores)
                if self.objective is not None:
                    by_score = torch.from_numpy(self.objective.gradient(found, problems)).to(scores)
                (gradient,) = torch.autograd.grad(scores, weights, by_score)
        return found if self.objective is None else self.objective.value(found, problems), to_numpy(gradient)

    def _ids_of(self, problems: Ints) -> Tensor:
        import torch

        return self.ids[torch.from_numpy(self.batch.flat_rows(problems)).to(self.ids.device)]

    def _run(self, layout: Batch, vectors: Tensor) -> Tensor:
        """Pad (N, d) vectors over positions and hand them to the model."""
        import torch

        mask = torch.from_numpy(layout.mask).to(vectors.device)
        padded = vectors.new_zeros(*mask.shape, vectors.shape[1])
        padded = padded.masked_scatter(mask.unsqueeze(-1), vectors)
        return self.model(padded, torch.from_numpy(layout.sizes).to(vectors.device))


@contextmanager
def flush_denormals() -> Iterator[None]:
    """Treat the very smallest numbers as zero while this lasts, as processors do fast and otherwise very slowly.

    A recurrent model's gradient fades over a long text to such numbers: the backward pass of a 200-unit LSTM over 200
    words takes 3 to 15 times as long without this (15 if it is set before PyTorch starts its threads, which a program
    can do with `torch.set_flush_denormal(True)` at its start).
    """
    import torch

    already = float(np.float32(1e-40) * np.float32(0.5)) == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)


def to_numpy(tensor: Tensor) -> Floats:
    """A tensor of any device and precision as float64."""
    return np.asarray(tensor.detach().cpu().double().numpy())
