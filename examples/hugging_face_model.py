"""Attack a Hugging Face model that you hold as an object, with gradients through its subwords.

    pip install "discotext[demo,hf]"
    python examples/hugging_face_model.py [TEXTS] [FOLDER]

FOLDER is a text classifier of two classes, negative and positive, as save_pretrained writes it. Without one, a tiny
BERT is made and trained here, for there may be no hub in reach; it takes seconds and knows little.
"""

import sys

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertTokenizerFast
from transformers import BertForSequenceClassification as Bert

import discotext as d
from discotext.victims.huggingface import HuggingFaceVictim


def tiny(examples: d.Examples):
    """A BERT of one layer, trained on the examples, and its tokeniser."""
    torch.manual_seed(0)
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(examples.texts, vocab_size=3000, show_progress=False)
    tokeniser = BertTokenizerFast(tokenizer_object=Tokenizer.from_str(pieces.to_str()))
    config = BertConfig(
        vocab_size=len(tokeniser), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        id2label=dict(enumerate(examples.names)), label2id={name: place for place, name in enumerate(examples.names)},
    )  # fmt: skip
    model, labels = Bert(config), torch.from_numpy(examples.labels)
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for batch in torch.cat([torch.randperm(len(examples)) for _ in range(3)]).split(64):
        inputs = tokeniser([examples.texts[row] for row in batch], padding=True, return_tensors="pt")
        model(**inputs, labels=labels[batch]).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return model, tokeniser


texts = d.load_data("movie_reviews", "test").sample(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
if len(sys.argv) > 2:
    model = AutoModelForSequenceClassification.from_pretrained(sys.argv[2], use_safetensors=True)
    tokeniser = AutoTokenizer.from_pretrained(sys.argv[2])
else:
    model, tokeniser = tiny(d.load_data("movie_reviews", "train").sample(3000))
result = d.attack(HuggingFaceVictim(model, tokeniser), texts, "disco")
row = result.summary["solvers"]["disco"]
before, after = (f"{100 * row[f'{when}_accuracy']:.1f} %" for when in ("original", "adversarial"))
print(f"Accuracy falls from {before} to {after} on {len(texts)} reviews. The first that turned:")
for record in [record for record in result.records if record["status"] in ("reached", "fewest")][:3]:
    swaps = ", ".join(f"{one['old']} → {one['new']}" for one in record["changes"])
    print(f"  {texts.names[record['adversarial_predicted']]:8} by {swaps}: {record['adversarial_text']}")
