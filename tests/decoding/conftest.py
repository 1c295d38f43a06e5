"""The language model and the corrector of the tests of spelling."""

import pytest

from discotext.decoding import Corrector
from discotext.models import train_kneser_ney
from tests.decoding.small_models import SENTENCES


@pytest.fixture(scope="session")
def model():
    return train_kneser_ney(SENTENCES, order=3, least=1)


@pytest.fixture(scope="session")
def corrector(model):
    """So small a model leaves little to words that it does not know, and knows few others: no margin."""
    return Corrector([model], margin=0.0)
