"""Models small enough to make in a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def word_pieces(vocabulary: Sequence[str]) -> Any:
    """A tokeniser as BERT has it, with this vocabulary."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    number = {word: place for place, word in enumerate(vocabulary)}
    made = Tokenizer(WordPiece(number, unk_token="[UNK]"))
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, number[mark]) for mark in ("[CLS]", "[SEP]")]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )


def byte_pairs(sentences: Sequence[str], size: int = 400) -> Any:
    """A tokeniser as RoBERTa has it (byte-level pairs, a space belongs to the word after it), learnt from sentences."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        sentences,
        trainers.BpeTrainer(vocab_size=size, special_tokens=marks, initial_alphabet=alphabet, show_progress=False),
    )
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
        model_max_length=64,
    )


def classifier(kind: str, vocabulary: int, seed: int = 0, **more: Any) -> Any:
    """A classifier of the Hugging Face library, two layers of width 32, with lively random weights."""
    import torch
    import transformers

    common = {"vocab_size": vocabulary, "num_labels": 3, **more}
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    settings: dict[str, Any] = {
        "Bert": {**sizes, "max_position_embeddings": 64},
        # RoBERTa counts positions from behind the padding token, so two of them are never used.
        "Roberta": {**sizes, "max_position_embeddings": 66, "pad_token_id": 1, "type_vocab_size": 1},
        "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64},
        "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64, "pad_token_id": 1}
        | {"bos_token_id": 0, "eos_token_id": 2},
        "Llama": {**sizes, "max_position_embeddings": 64, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        "Bart": {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "max_position_embeddings": 64}
        | {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
        | {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
    }[kind]
    torch.manual_seed(seed)
    config = getattr(transformers, f"{kind}Config")(**{**settings, **common})
    model = getattr(transformers, f"{kind}ForSequenceClassification")(config).eval()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # The usual beginning is so faint that every text would score the same.
            if weights.ndim == 2 and "position" not in name:
                weights.mul_(8)
    return model
