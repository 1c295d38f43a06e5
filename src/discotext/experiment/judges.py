"""Models that judge texts: a sentence encoder for their meaning, and a language model for their fluency.

Both read texts of similar length together and truncate what exceeds the model's limit. Results do not depend on which
texts are read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discotext.text.pretrained import BatchedModel, SentenceEncoder, TextProgress

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LanguageModel", "SentenceEncoder", "TextProgress"]

LOGITS_PER_CALL = 2**25  # most numbers that one call of a language model returns: tokens × vocabulary


class LanguageModel:
    """The perplexity of texts: exp of the mean of −log p(token | tokens before).

    The model's start token (or, without one, its end token) precedes each text, so that the first word is judged, too.
    name: a model on the hub, or a folder with an `AutoModelForCausalLM` and its tokeniser.
    batch: texts of 64 tokens per call.
    """

    def __init__(self, name: str, batch: int = 64) -> None:
        self.name, self.batched = name, BatchedModel(name, "AutoModelForCausalLM", "a language model", batch)
        vocabulary = self._check_causal()
        self.batched.tokens = min(self.batched.tokens, max(1, LOGITS_PER_CALL // vocabulary))
        tokeniser = self.batched.tokeniser
        self.start = [token for token in (tokeniser.bos_token_id, tokeniser.eos_token_id) if token is not None][:1]

    def __call__(self, texts: Sequence[str], watch: TextProgress | None = None) -> tuple[list[float | None], int]:
        """The perplexity of each text, None if it has no token to predict; and the number of truncated texts."""
        longest = self.batched.longest
        limit = None if longest is None else longest - len(self.start)
        rows, truncated = self.batched.tokenise(texts, limit, special=False)
        found = self.batched.apply(self._compute, [self.start + row for row in rows], "reading texts", watch)
        return [None if one is None else float(one) for one in found], truncated

    def _compute(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.batched.model(input_ids=ids, attention_mask=mask.long()).logits[:, :-1].float()
        surprisal = logits.logsumexp(-1) - logits.gather(-1, ids[:, 1:, None]).squeeze(-1)
        judged = mask[:, 1:]
        return (surprisal.double().masked_fill(~judged, 0.0).sum(1) / judged.sum(1)).exp()

    def _check_causal(self) -> int:
        """Refuse a model whose predictions depend on later tokens, such as BERT, which the library also loads.

        Returns the size of the vocabulary.
        """
        import torch

        model = self.batched.model
        with torch.inference_mode():
            ids = torch.arange(8).repeat(2, 1) % model.get_input_embeddings().num_embeddings
            ids[1, -1] = ids[1, 0]
            logits = model(input_ids=ids.to(self.batched.device)).logits[:, :-1].float()
        if not torch.allclose(logits[0], logits[1], rtol=1e-3, atol=1e-4):
            raise ValueError(
                f"{self.name!r} is not a causal language model: its predictions depend on later words, so it has no "
                "perplexity; choose a model such as GPT-2"
            )
        return int(logits.shape[-1])
