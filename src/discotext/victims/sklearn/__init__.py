"""Pipelines of scikit-learn: as they are, and where they are linear, with gradients and bounds."""
