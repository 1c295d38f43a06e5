"""A secret is hidden however it is spelled, and no control character is left."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotext.support.plain_text import escape_unprintable
from discotext.support.redaction import REDACTED, Secrets

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("times", [1, 2])
def test_a_secret_is_hidden_however_many_of_its_letters_are_url_encoded(times):
    coded = "s3cret-token"
    for _ in range(times):
        coded = "".join(f"%{byte:02x}" if at % 3 else chr(byte) for at, byte in enumerate(coded.encode()))
    assert Secrets(["s3cret-token"]).hide(f"you sent {coded}!") == REDACTED
    assert Secrets(["s3cret-token"]).hide("100%25 of it") == "100%25 of it"


@given(st.text(max_size=40), st.text(min_size=8, max_size=30), st.text(max_size=40))
def test_no_text_with_a_secret_is_shown(before, secret, after):
    secrets = Secrets([secret])
    assert secrets.hide(before + secret + after) == REDACTED
    assert secret not in secrets.quote(before + secret + after)
    assert secrets.hide("") == ""


@given(st.text())
def test_escaped_text_has_no_control_characters_and_the_rest_is_kept(text):
    assert not CONTROL.search(escape_unprintable(text))
    if text.isprintable():
        assert escape_unprintable(text) == text or any(sign in text for sign in "\u200e\u200f\u061c")
