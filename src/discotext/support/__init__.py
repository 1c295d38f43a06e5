"""Helpers that are independent of texts, models and search."""
