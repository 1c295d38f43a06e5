"""A victim behind an address: texts are posted as JSON, scores come back as JSON.

    POST {"texts": ["A fine film.", …]}
    → {"scores": [[0.1, 2.3], …], "labels": ["neg", "pos"]}     labels may be left out
    → [[0.1, 2.3], …]                                           or a single number for each text
    → [[{"label": "pos", "score": 0.9}, …], …]                  as Hugging Face services answer

A network fails now and then, and a search asks thousands of times, so trouble that may pass (no connection, no answer
in time, status 429 or 5xx) is waited out, longer each time, or as long as the service asks for. Trouble that will not
pass is an `UnavailableError`, and for a while nothing more is asked: a search that meets an error asks again in halves
to find the text at fault, and would wait for every half. For the same reason the answers of a call that failed midway
are kept: nothing that is paid for is asked twice.

The standard library does the talking: one kind of request does not need another package. Redirects are not followed,
for they would carry texts and token to where nobody sent them.
"""

from __future__ import annotations

import json
import logging
import math
import os
import random
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from discotext.oracle import UnavailableError
from discotext.segments import Floats
from discotext.version import __version__
from discotext.victims.function import PROBE, Answers, Binary, shown

LOG = logging.getLogger(__name__)  # without a handler, warnings go to standard error as they are
TOKEN = "DISCOTEXT_TOKEN"  # the environment variable whose content is sent as a bearer token
LARGEST = 100_000_000  # bytes of an answer; what is larger is no table of scores
LONGEST = 300.0  # seconds a service may ask to wait before that counts as a refusal
REST = 10.0  # seconds without asking after trouble that waiting did not cure
QUIET = 2  # failures in a row of a service that has answered before, of which nothing is said
REFUSED = (401, 402, 403, 404, 405, 410)  # whatever the texts are


class NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


class HttpVictim:
    """A service at an http or https address, as a victim.

    batch: texts in a request. timeout: seconds without a sign of life. retries: how often a request is sent again.
    per_second: requests in a second at most. most: texts to send in all, those that are sent again included; `spent`
    counts them. headers: sent with every request. binary: see `discotext.victims.function.Answers`.
    clock, sleep: for tests.
    """

    def __init__(
        self,
        url: str,
        labels: Sequence[str] | None = None,
        batch: int = 32,
        timeout: float = 30,
        retries: int = 5,
        per_second: float | None = None,
        most: int | None = None,
        headers: Mapping[str, str] | None = None,
        binary: Binary = "auto",
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"{url!r} is no address of a service; expected http://… or https://…")
        if address.username is not None:
            raise ValueError(f"the address of {address.hostname} holds a password; set {TOKEN} or give headers instead")
        limits = {"batch": batch, "timeout": timeout, "retries": retries + 1, "per_second": per_second, "most": most}
        for key, value in limits.items():
            if value is not None and not value > 0:
                raise ValueError(f"{key} is {value - (key == 'retries')}; choose more")
        # Records hold the name, and what follows a question mark is often a key.
        self.name = url.split("?")[0].split("#")[0]
        self.url, self.batch, self.timeout, self.retries = url, batch, timeout, retries
        self.per_second, self.most, self.spent = per_second, most, 0
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self.headers |= {"User-Agent": f"discotext/{__version__}", **authorisation(), **(headers or {})}
        self.answers = Answers(self.name, labels, binary)
        self._clock, self._sleep = clock, sleep
        self._opener = build_opener(NoRedirects)
        self._next = -math.inf  # when the rate allows another request
        self._rest = (-math.inf, "")  # until when nothing is asked, and why
        self._kept: dict[str, Floats] = {}
        self._answered = False

    @property
    def labels(self) -> tuple[str, ...]:
        if self.answers.labels is None:
            self._ask([PROBE], probe=True)
        return self.answers.labels or ()

    def scores(self, texts: Sequence[str]) -> Floats:
        if not len(texts):
            return np.empty((0, len(self.labels)))
        new = [text for text in dict.fromkeys(texts) if text not in self._kept]
        for start in range(0, len(new), self.batch):
            part = new[start : start + self.batch]
            self._kept.update(zip(part, self._ask(part), strict=True))
        found = np.stack([self._kept[text] for text in texts])
        for text in dict.fromkeys(texts):
            del self._kept[text]
        return found

    def _ask(self, texts: list[str], probe: bool = False) -> Floats:
        body = self._post(json.dumps({"texts": texts}).encode(), len(texts))
        try:
            answer = json.loads(body)
        except ValueError:
            raise ValueError(
                f"{self.name} returned {shown(body.decode(errors='replace'))}, which is not JSON"
            ) from None
        names = None
        if isinstance(answer, dict):
            if "scores" not in answer:
                raise ValueError(f'{self.name} returned {shown(answer)}; expected {{"scores": [[…], …]}}')
            answer, names = answer["scores"], answer.get("labels")
            if names is not None and not isinstance(names, list):
                raise ValueError(f"{self.name} returned the labels {shown(names)}; expected a list of names")
        return self.answers.read(answer, texts, names, probe)

    def _post(self, data: bytes, count: int) -> bytes:
        """Send, and send again while there is hope."""
        until, reason = self._rest
        if self._clock() < until:
            raise UnavailableError(reason)
        for attempt in range(self.retries + 1):
            if self.most is not None and self.spent + count > self.most:
                raise UnavailableError(
                    f"the cap of {self.most} texts is spent: {self.spent} were sent, {count} more are wanted"
                )
            self._keep_the_rate()
            self.spent += count
            try:
                with self._opener.open(Request(self.url, data, self.headers), timeout=self.timeout) as response:
                    body = self._read(response)
                    self._answered = True
                    return body
            except HTTPError as error:
                reason, wait = self._refusal(error)
            except (OSError, HTTPException) as error:  # a timeout and an URLError are OSErrors
                cause = error.reason if isinstance(error, URLError) else error
                said = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
                reason, wait = f"{self.name} cannot be reached: {said}", 0.0
                if isinstance(cause, ssl.SSLCertVerificationError):
                    wait = math.inf
            if wait > LONGEST:
                break
            if attempt < self.retries:
                # Many clients that failed together should not come back together.
                pause = max(wait, min(2.0**attempt, 60.0) * random.uniform(0.5, 1.0))
                # Of a service that answers, a failure or two is nothing to speak of; else nobody should wait unknowing.
                if not self._answered or attempt >= QUIET or pause > 10:
                    again = f"trying again in {pause:.0f} s ({attempt + 1} of {self.retries})"
                    LOG.warning("%s; %s", reason, again)
                self._sleep(pause)
        else:
            reason += f" ({self.retries + 1} times)"
        self._rest = (self._clock() + REST, reason)
        raise UnavailableError(reason)

    def _read(self, response: HTTPResponse) -> bytes:
        body = response.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise ValueError(f"{self.name} returned more than {LARGEST:,} bytes, too many for scores")
        # A read of limited size does not say so itself.
        if response.length:
            raise IncompleteRead(body, response.length)
        return body

    def _refusal(self, error: HTTPError) -> tuple[str, float]:
        """What a status that is no success says, and how long to wait; for ever, where waiting will not help."""
        with error:
            try:
                body = error.read(500).decode(errors="replace")
            except (OSError, HTTPException):
                body = ""
        said = f"{self.name} answered {error.code} {error.reason}: {shown(body)}"
        if error.code == 429 or error.code >= 500:
            wait = seconds_of(error.headers.get("Retry-After"))
            return (f"{said}, and asks to wait {wait:.0f} s" if wait > LONGEST else said), wait
        if error.code < 400:
            return (
                f"{self.name} redirects to {error.headers.get('Location')}; give that address if you mean it",
                math.inf,
            )
        if error.code in REFUSED:
            hint = f"; a token is taken from {TOKEN}" if error.code in (401, 403) else ""
            return said + hint, math.inf
        # Most likely the texts are to blame (too long, too many), and others may fare better.
        raise ValueError(said) from None

    def _keep_the_rate(self) -> None:
        if self.per_second is not None:
            now = self._clock()
            if now < self._next:
                self._sleep(self._next - now)
            self._next = max(now, self._next) + 1 / self.per_second


def authorisation() -> dict[str, str]:
    """The token of the environment as a header. A bad one is refused here, where it will not be printed."""
    token = os.environ.get(TOKEN, "").strip()
    if not (token.isascii() and token.isprintable()):
        raise ValueError(f"{TOKEN} holds signs that no token has; expected one line of plain letters and digits")
    return {"Authorization": f"Bearer {token}"} if token else {}


def seconds_of(header: str | None) -> float:
    """How long a Retry-After asks to wait: seconds or a date; 0 where it says nothing that can be read.

    >>> seconds_of("3"), seconds_of(None), seconds_of("soon"), seconds_of("Mon, 01 Jan 2024 00:00:00 GMT")
    (3.0, 0.0, 0.0, 0.0)
    """
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header or "")
        return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    except ValueError:
        return 0.0
