"""Posting to a service: within a time, not too often, and again after a failure that will pass.

Networks fail now and then, and a search sends thousands of requests, so temporary failures (no connection, no answer in
time, status 429 or 5xx) are retried, after a pause that grows each time or that the service asks for. Permanent
failures raise an `UnavailableError`.

Redirects are not followed, because they would carry texts and token to an address the user did not choose. What a
service answers is quoted with secrets hidden and control characters escaped.
"""

from __future__ import annotations

import logging
import math
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from discotext.core.oracle import UnavailableError
from discotext.support.redaction import Secrets

LOG = logging.getLogger(__name__)  # without a handler, warnings go to standard error
TOKEN = "DISCOTEXT_TOKEN"  # the environment variable whose value is sent as a bearer token
LARGEST_ANSWER = 100_000_000  # bytes; nothing larger is a table of scores
LARGEST_ERROR = 1 << 16  # bytes that are read of an answer that is an error
LONGEST_WAIT = 300.0  # seconds; a service that asks for a longer pause counts as unavailable
PERMANENT = (401, 402, 403, 404, 405, 410)  # statuses that no other text will change


class FailedError(Exception):
    """A request failed. wait: seconds before it may be sent again, infinite if that cannot help."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(eq=False)
class Client:
    """Posts to one address. Threads and copies share one client, its limits and its count; another process does not.

    name: what messages call the service. retries: how often a failed request is sent again. timeout: seconds for a
    whole answer. per_second: requests per second at most. max_texts: texts to send in all, retries included.
    spent: the texts that were sent.
    """

    url: str
    name: str
    headers: Mapping[str, str]
    secrets: Secrets
    retries: int
    timeout: float
    per_second: float | None
    max_texts: int | None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    spent: int = 0
    has_answered: bool = False
    _next: float = -math.inf  # when the next request may be sent
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _http: httpx.Client | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Client:
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Another process has a clock and connections of its own.
        return {**vars(self), "_lock": None, "_http": None, "_next": -math.inf}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def post(self, body: bytes, texts: int) -> bytes:
        """Send a body with so many texts, retrying temporary failures; return the body of the answer."""
        for attempt in range(self.retries + 1):
            self._take_turn(texts)
            try:
                answer = self._exchange(body)
                self.has_answered = True
                return answer
            except FailedError as error:
                reason, wait = str(error), error.wait
            if wait > LONGEST_WAIT:
                raise UnavailableError(reason)
            if attempt < self.retries:
                # Clients that failed at the same time should not all return at the same time.
                pause = max(wait, min(2.0**attempt, 60.0) * random.uniform(0.5, 1.0))
                # A service that has answered may fail once or twice; otherwise the user should know what is waited for.
                if not self.has_answered or attempt >= 2 or pause > 10:
                    LOG.warning("%s; retry %d of %d in %.0f s", reason, attempt + 1, self.retries, pause)
                self.sleep(pause)
        raise UnavailableError(f"{reason} ({self.retries + 1} times)")

    def _take_turn(self, texts: int) -> None:
        """Count the texts of a request, and wait until it may be sent."""
        with self._lock:
            if self.max_texts is not None and self.spent + texts > self.max_texts:
                raise UnavailableError(
                    f"max_texts is {self.max_texts}, {self.spent} texts have been sent, and {texts} more are needed; "
                    "raise the limit"
                )
            self.spent += texts
            now = self.clock()
            mine = max(now, self._next)
            if self.per_second is not None:
                self._next = mine + 1 / self.per_second
        if mine > now:
            self.sleep(mine - now)

    def _exchange(self, body: bytes) -> bytes:
        """Send a body once. Raises `FailedError`, or a ValueError if other texts may succeed."""
        if self._http is None:
            # Like all of Python, by the system's certificates. Connections are not kept: a service may close them.
            context, limits = ssl.create_default_context(), httpx.Limits(max_keepalive_connections=0)
            self._http = httpx.Client(verify=context, limits=limits, timeout=self.timeout)
        # httpx limits the gap between two parts, so that a byte now and then would never exceed it.
        deadline, answer = time.monotonic() + self.timeout, bytearray()
        try:
            with self._http.stream("POST", self.url, content=body, headers=dict(self.headers)) as response:
                most = LARGEST_ANSWER if response.is_success else LARGEST_ERROR
                for part in response.iter_raw():
                    answer += part
                    if len(answer) > most:
                        break
                    if time.monotonic() > deadline:
                        raise httpx.ReadTimeout("the answer is not complete")
        except httpx.TimeoutException:
            raise FailedError(f"{self.name} has not answered completely within {self.timeout:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            cause: BaseException = error
            while (earlier := cause.__cause__ or cause.__context__) is not None:
                cause = earlier
            # Even a reply that is not HTTP may contain what was sent.
            said = self.quote(str(cause) or type(cause).__name__)
            is_final = isinstance(cause, ssl.SSLCertVerificationError)
            raise FailedError(f"{self.name} cannot be reached: {said}", math.inf if is_final else 0.0) from None
        if not response.is_success:
            raise self._describe(response, bytes(answer))
        if len(answer) > LARGEST_ANSWER:
            raise ValueError(f"{self.name} returned more than {LARGEST_ANSWER:,} bytes; expected a table of scores")
        return bytes(answer)

    def _describe(self, response: httpx.Response, body: bytes) -> Exception:
        """Return the error that an answer with another status than 2xx is."""
        status = response.status_code
        if status < 400:
            where = self.quote(response.headers.get("Location"))
            return FailedError(
                f"{self.name} redirects to {where}, which is not followed; pass that address if you trust it", math.inf
            )
        said = self.secrets.quote(body.decode(errors="replace"))
        message = f"{self.name} answered {status} {self.quote(response.reason_phrase)}: {said}"
        if status == 429 or status >= 500:
            asked = response.headers.get("Retry-After", "")
            wait = float(asked) if asked.isdecimal() else 0.0  # a date, the other form, is rare
            return FailedError(f"{message}, and asks to wait {wait:.0f} s" if wait > LONGEST_WAIT else message, wait)
        if status in PERMANENT:
            hint = f"; set {TOKEN} to send a token" if status in (401, 403) else ""
            return FailedError(message + hint, math.inf)
        # Most likely the texts are at fault (too long, too many), and others may succeed.
        hint = "; if it expects other fields, name them (--service text=PATH, or text_field= and fields=)"
        return ValueError(message if self.has_answered else message + hint)

    def quote(self, phrase: object) -> str:
        """Return a short phrase from the service, safe to print and without quotation marks."""
        return self.secrets.quote(str(phrase)).strip("'")
