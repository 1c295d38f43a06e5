"""Data: files, data frames and named data sets, all of which become `Examples`."""

from discotext.data.examples import Examples, examples_from
from discotext.data.files import read_examples
from discotext.data.named import DATASETS, load, load_data, where

__all__ = ["DATASETS", "Examples", "examples_from", "load", "load_data", "read_examples", "where"]
