"""How thesaurus.safetensors and scorer.safetensors are made; `python -m scripts.scorer --help`."""
