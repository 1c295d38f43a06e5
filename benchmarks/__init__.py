"""Measurements, one module each; `make bench` runs them. Results are kept under benchmarks/results/."""
