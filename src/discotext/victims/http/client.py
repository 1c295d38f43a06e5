"""Posting to a service: within a time, not too often, and again after a failure that will pass.

Networks fail now and then, and a search sends thousands of requests, so temporary failures (no connection, no answer in
time, status 429 or 5xx) are retried, after a pause that grows each time or that the service asks for. Permanent
failures raise an `UnavailableError`, and no request is sent for a while after one: a search that meets an error retries
in halves to find the text at fault, and would wait for every half.

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
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from discotext.core.oracle import UnavailableError
from discotext.support.redaction import Secrets

LOG = logging.getLogger(__name__)  # without a handler, warnings go to standard error
TOKEN = "DISCOTEXT_TOKEN"  # the environment variable whose value is sent as a bearer token
LARGEST_ANSWER = 100_000_000  # bytes; nothing larger is a table of scores
LARGEST_ERROR = 1 << 16  # bytes that are read of an answer that is an error
LONGEST_WAIT = 300.0  # seconds; a service that asks for a longer pause counts as unavailable
COOLDOWN = 10.0  # seconds without requests after a failure that retries did not cure
SILENT_RETRIES = 2  # failures in a row of a service that has answered before, which are not logged
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
    _cooldown: tuple[float, str] = (-math.inf, "")  # until when no request is sent, and why
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _http: httpx.Client | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Client:
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Another process has a clock and connections of its own.
        return {**vars(self), "_lock": None, "_http": None, "_next": -math.inf, "_cooldown": (-math.inf, "")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def post(self, body: bytes, texts: int) -> bytes:
        """Send a body with so many texts, retrying temporary failures; return the body of the answer."""
        until, reason = self._cooldown
        if self.clock() < until:
            raise UnavailableError(reason)
        for attempt in range(self.retries + 1):
            self._take_turn(texts)
            try:
                answer = self._exchange(body)
                self.has_answered = True
                return answer
            except FailedError as error:
                reason, wait = str(error), error.wait
            if wait > LONGEST_WAIT:
                break
            if attempt < self.retries:
                # Clients that failed at the same time should not all return at the same time.
                pause = max(wait, min(2.0**attempt, 60.0) * random.uniform(0.5, 1.0))
                # A service that has answered may fail once or twice; otherwise the user should know what is waited for.
                if not self.has_answered or attempt >= SILENT_RETRIES or pause > 10:
                    LOG.warning("%s; retry %d of %d in %.0f s", reason, attempt + 1, self.retries, pause)
                self.sleep(pause)
        else:
            reason += f" ({self.retries + 1} times)"
        self._cooldown = (self.clock() + COOLDOWN, reason)
        raise UnavailableError(reason)

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
        deadline = time.monotonic() + self.timeout
        try:
            with self._http.stream("POST", self.url, content=body, headers=dict(self.headers)) as response:
                is_error = not response.is_success
                answer = read_body(response, LARGEST_ERROR if is_error else LARGEST_ANSWER, deadline)
        except httpx.TimeoutException:
            raise FailedError(f"{self.name} has not answered completely within {self.timeout:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            cause = find_cause(error)
            # Even a reply that is not HTTP may contain what was sent.
            said = self.quote(str(cause) or type(cause).__name__)
            message = f"{self.name} cannot be reached: {said}"
            raise FailedError(message, math.inf if isinstance(cause, ssl.SSLCertVerificationError) else 0.0) from None
        if is_error:
            raise self._describe(response, answer)
        if len(answer) > LARGEST_ANSWER:
            raise ValueError(f"{self.name} returned more than {LARGEST_ANSWER:,} bytes; expected a table of scores")
        return answer

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
            wait = parse_retry_after(response.headers.get("Retry-After"))
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


def read_body(response: httpx.Response, most: int, deadline: float) -> bytes:
    """Return the body of an answer as it was sent, or a little more than `most` bytes of a longer one.

    deadline: when the body must be complete, by the real clock. httpx limits the gap between two parts, so that a
    service which sends a byte now and then would never exceed it.
    """
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > most:
            break
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("the answer is not complete")
    return bytes(body)


def find_cause(error: BaseException) -> BaseException:
    """Return the first of the errors that led to one, such as the system's."""
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    return error


def parse_retry_after(header: str | None) -> float:
    """Return the seconds that a Retry-After header asks to wait, given as seconds or a date; 0 if it is unreadable.

    >>> parse_retry_after("3"), parse_retry_after(None), parse_retry_after("soon")
    (3.0, 0.0, 0.0)
    >>> parse_retry_after("Mon, 01 Jan 2024 00:00:00 GMT")  # in the past
    0.0
    """
    with suppress(ValueError):
        return max(0.0, float(header or 0))
    with suppress(ValueError):
        when = parsedate_to_datetime(header or "")
        return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    return 0.0
