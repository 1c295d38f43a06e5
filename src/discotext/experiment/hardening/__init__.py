"""Hardening: train a model in several ways, choose the one that holds, and show against what it holds."""
