"""One server of the page for the tests of a file, and its victim as it was at first."""

import pytest

from tests.web.page_server import Opinions, attacks_running, serving, wait_until


@pytest.fixture(scope="module")
def server():
    with serving(Opinions()) as running:
        yield running


@pytest.fixture
def victim(server):
    found = server.model.attacker.victim
    yield found
    found.delay, found.fault = 0.0, None
    assert wait_until(lambda: not attacks_running())
