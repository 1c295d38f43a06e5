"""Decoding: the best word at each position of a text, under language models and a channel."""
