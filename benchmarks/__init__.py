"""Benchmarks, one module each; `make bench` runs the quick ones. Results are stored in benchmarks/results."""
