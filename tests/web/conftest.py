"""One server of the page for the tests of a file, and its victim as it was at first."""

import pytest

from tests.web.page_server import Opinions, borrow_victim, serving


@pytest.fixture(scope="module")
def server():
    with serving(Opinions()) as running:
        yield running


@pytest.fixture
def victim(server):
    with borrow_victim(server) as found:
        yield found
