"""Attack a Hugging Face model that is already in memory, with gradients through its subwords.

    pip install ".[demo,hf]"
    python examples/hugging_face_model.py [TEXTS] [FOLDER]

FOLDER is a text classifier with the classes negative and positive, as written by save_pretrained. Without it, a tiny
BERT is created and trained here in seconds, so that the example runs offline; its accuracy is low.
"""

import sys

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertTokenizerFast
from transformers import BertForSequenceClassification as Bert

import discotext as d
from discotext.data import Examples, load_data


def train_tiny_bert(examples: Examples):
    """A BERT with one layer, trained on the examples, and its tokeniser."""
    torch.manual_seed(0)
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(examples.texts, vocab_size=3000, show_progress=False)
    tokeniser = BertTokenizerFast(tokenizer_object=Tokenizer.from_str(pieces.to_str()))
    config = BertConfig(
        vocab_size=len(tokeniser), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        id2label=dict(enumerate(examples.names)), label2id={name: label for label, name in enumerate(examples.names)},
    )  # fmt: skip
    model, labels = Bert(config), torch.from_numpy(examples.labels)
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for batch in torch.cat([torch.randperm(len(examples)) for _ in range(3)]).split(64):
        inputs = tokeniser([examples.texts[row] for row in batch], padding=True, return_tensors="pt")
        model(**inputs, labels=labels[batch]).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return model, tokeniser


texts = load_data("movie_reviews", "test").sample(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
if len(sys.argv) > 2:
    model = AutoModelForSequenceClassification.from_pretrained(sys.argv[2], use_safetensors=True)
    tokeniser = AutoTokenizer.from_pretrained(sys.argv[2])
else:
    model, tokeniser = train_tiny_bert(load_data("movie_reviews", "train").sample(3000))
result = d.attack(d.victims.HuggingFaceVictim(model, tokeniser), texts, "disco")
figures = result.summary.solvers["disco"]
before, after = 100 * figures.original_accuracy, 100 * figures.adversarial_accuracy
print(f"Accuracy falls from {before:.1f} % to {after:.1f} % on {len(texts)} reviews. The first adversarial texts:")
for record in [record for record in result.records if record.succeeded][:3]:
    swaps = ", ".join(f"{change.old} → {change.new}" for change in record.changes)
    print(f"  {texts.names[record.adversarial_predicted]:8} by {swaps}: {record.adversarial_text}")
