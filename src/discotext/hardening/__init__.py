"""Hardening: train a model in several ways, choose the most robust one, and show against what it is robust."""
