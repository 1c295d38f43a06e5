import pytest

from discotext.victims.http.client import TOKEN
from tests.victims.services import serving


@pytest.fixture
def serve(monkeypatch):
    """`with serve(answer) as service`, without a token or a proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv(TOKEN, raising=False)
    return serving
