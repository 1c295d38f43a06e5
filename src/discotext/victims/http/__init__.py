"""Classifiers behind a URL."""
