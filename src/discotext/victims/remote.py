"""A victim behind an address: texts are posted as JSON, scores come back as JSON.

    POST {"texts": ["A fine film.", …]}
    → {"scores": [[0.1, 2.3], …], "labels": ["neg", "pos"]}     labels may be left out; "vocabulary": ["good", …]
                                                                may be there, where the service knows only some words
    → [[0.1, 2.3], …]                                           or a single number for each text
    → [[{"label": "pos", "score": 0.9}, …], …]                  as Hugging Face services answer

A network fails now and then, and a search asks thousands of times, so trouble that may pass (no connection, no answer
in time, status 429 or 5xx) is waited out, longer each time, or as long as the service asks for. Trouble that will not
pass is an `UnavailableError`, and for a while nothing more is asked: a search that meets an error asks again in halves
to find the text at fault, and would wait for every half. For the same reason the answers of a call that failed midway
are kept: nothing that is paid for is asked twice.

The standard library does the talking: one kind of request does not need another package. Redirects are not followed,
for they would carry texts and token to where nobody sent them. An answer has so many seconds as a whole: a service that
sends a byte now and then would otherwise never end. Whatever a service says is shown and kept without the token, and
without signs that drive a terminal (`redaction`).
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
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request

import numpy as np

from discotext.oracle import UnavailableError
from discotext.redaction import Secrets, printable
from discotext.segments import Bools, Floats
from discotext.version import __version__
from discotext.victims.function import PROBE, Answers, Binary
from discotext.victims.timed_requests import OutOfTimeError, TimedOpener
from discotext.victims.victim import KnownWords, Victim

LOG = logging.getLogger(__name__)  # without a handler, warnings go to standard error as they are
TOKEN = "DISCOTEXT_TOKEN"  # the environment variable whose content is sent as a bearer token
LARGEST = 100_000_000  # bytes of an answer; what is larger is no table of scores
LONGEST = 300.0  # seconds a service may ask to wait before that counts as a refusal
REST = 10.0  # seconds without asking after trouble that waiting did not cure
QUIET = 2  # failures in a row of a service that has answered before, of which nothing is said
REFUSED = (401, 402, 403, 404, 405, 410)  # whatever the texts are
SAID = 1 << 16  # bytes that are read of an answer that is an error
# Headers of a user's own are secrets but for these.
PUBLIC = ("accept", "accept-encoding", "accept-language", "content-type", "user-agent")


class HttpVictim(Victim):
    """A service at an http or https address, as a victim.

    batch: texts in a request. timeout: seconds for a whole answer. retries: how often a request is sent again.
    per_second: requests in a second at most. most: texts to send in all, those that are sent again included; `spent`
    counts them. headers: sent with every request. binary: see `discotext.victims.function.Answers`. vocabulary: the
    words it knows; without it, those that its answers name. clock, sleep: for tests.
    """

    has_memory = True

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
        vocabulary: Sequence[str] | None = None,
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
        token = authorisation()
        self.headers |= {"User-Agent": f"discotext/{__version__}", **token, **(headers or {})}
        self.secrets = Secrets(secrets_in(url, {**token, **(headers or {})}))
        self.answers = Answers(self.name, labels, binary, self.secrets)
        self.vocabulary = None if vocabulary is None else KnownWords(frozenset(vocabulary))
        self._clock, self._sleep = clock, sleep
        self._next = -math.inf  # when the rate allows another request
        self._rest = (-math.inf, "")  # until when nothing is asked, and why
        self._kept: dict[str, Floats] = {}
        self._answered = False

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
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

    def remembers(self, texts: Sequence[str]) -> Bools:
        """(N,) texts whose answers came before a call failed midway, and all but the first of equal texts."""
        seen, known = set(self._kept), []
        for text in texts:
            known.append(text in seen)
            seen.add(text)
        return np.array(known, dtype=bool)

    def _ask(self, texts: list[str], probe: bool = False) -> Floats:
        body = self._post(json.dumps({"texts": texts}).encode(), len(texts))
        try:
            return self._understand(self._parse(body), texts, probe)
        except RecursionError:
            raise ValueError(f"{self.name} returned JSON of very many levels; expected a table of scores") from None

    def _parse(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            said = self.secrets.shown(body[:SAID].decode(errors="replace"))
            raise ValueError(f"{self.name} returned {said}, which is not JSON that can be read") from None

    def _understand(self, answer: Any, texts: list[str], probe: bool) -> Floats:
        names = None
        if isinstance(answer, dict):
            if "scores" not in answer:
                said = self.secrets.shown(answer)
                raise ValueError(f'{self.name} returned {said}; expected {{"scores": [[…], …]}}')
            names, words = answer.get("labels"), answer.get("vocabulary")
            if names is not None:
                names = self._strings("labels", names)
            if words is not None and self.vocabulary is None:
                self.vocabulary = KnownWords(frozenset(self._strings("vocabulary", words)))
            answer = answer["scores"]
        return self.answers.read(answer, texts, names, probe)

    def _strings(self, what: str, given: Any) -> list[str]:
        """A list of names from the service, fit to be shown."""
        if not isinstance(given, list):
            raise ValueError(f"{self.name} returned the {what} {self.secrets.shown(given)}; expected a list of names")
        return [self.secrets.redact(printable(str(one))) for one in given]

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
                with TimedOpener(self.timeout) as opener:
                    try:
                        with opener.open(Request(self.url, data, self.headers)) as response:
                            body = self._read(response)
                        self._answered = True
                        return body
                    except HTTPError as error:
                        reason, wait = self._refusal(error)
            except OutOfTimeError:
                reason, wait = f"{self.name} has not answered in full within {self.timeout:g} s", 0.0
            except (OSError, HTTPException) as error:  # a timeout and an URLError are OSErrors
                cause = error.reason if isinstance(error, URLError) else error
                said = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
                # Even a line that is no HTTP may hold what was sent.
                reason, wait = f"{self.name} cannot be reached: {self._tidy(said)}", 0.0
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
                body = error.read(SAID).decode(errors="replace")
            except (OSError, HTTPException):
                body = ""
        said = f"{self.name} answered {error.code} {self._tidy(error.reason)}: {self.secrets.shown(body)}"
        if error.code == 429 or error.code >= 500:
            wait = seconds_of(error.headers.get("Retry-After"))
            return (f"{said}, and asks to wait {wait:.0f} s" if wait > LONGEST else said), wait
        if error.code < 400:
            where = self._tidy(error.headers.get("Location"))
            return f"{self.name} redirects to {where}; give that address if you mean it", math.inf
        if error.code in REFUSED:
            hint = f"; a token is taken from {TOKEN}" if error.code in (401, 403) else ""
            return said + hint, math.inf
        # Most likely the texts are to blame (too long, too many), and others may fare better.
        raise ValueError(said) from None

    def _tidy(self, said: object) -> str:
        """What a service says in a few words, fit to be shown."""
        return self.secrets.shown(str(said)).strip("'")

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


def secrets_in(url: str, headers: Mapping[str, str]) -> list[str]:
    """What must not be seen of an address and of headers: a token, and what follows a question mark.

    >>> secrets_in("https://a.org/x?key=0123456789", {"Authorization": "Bearer abcdefghij", "Accept": "*/*"})
    ['0123456789', 'abcdefghij']
    """
    found = [value for _, value in parse_qsl(urlsplit(url).query)]
    for name, value in headers.items():
        if name.lower() not in PUBLIC:
            rest = str(value).partition(" ")[2]
            found.append(rest if name.lower() == "authorization" and rest else str(value))
    return found


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
