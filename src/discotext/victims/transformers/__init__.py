"""Transformers from a Hugging Face folder or name."""
