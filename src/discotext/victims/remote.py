"""A victim behind an HTTP address: texts are posted as JSON, scores come back as JSON.

    POST {"texts": ["A fine film.", …]}
    → {"scores": [[0.1, 2.3], …], "labels": ["neg", "pos"]}     labels are optional, and so is "vocabulary": ["good", …]
                                                                for a service that knows only some words
    → [[0.1, 2.3], …]                                           or a single number for each text
    → [[{"label": "pos", "score": 0.9}, …], …]                  as Hugging Face services answer

A service that names its fields otherwise is described by paths, see `discotext.victims.service_format`.

Networks fail now and then, and a search sends thousands of requests, so temporary failures (no connection, no answer in
time, status 429 or 5xx) are retried, after a pause that grows each time or that the service asks for. Permanent
failures raise an `UnavailableError`, and no request is sent for a while after one: a search that meets an error retries
in halves to find the text at fault, and would wait for every half. For the same reason the answers of a call that
failed midway are kept, so that nothing that may be billed is sent twice.

The standard library suffices for this one kind of request. Redirects are not followed, because they would carry texts
and token to an address the user did not choose. The timeout is for the whole answer: a service that sends a byte now
and then would otherwise never end. Whatever a service answers is printed and stored with secrets redacted and control
characters escaped (`discotext.support.redaction`).
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
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request

import numpy as np

from discotext.core.arrays import Bools, Floats
from discotext.core.oracle import UnavailableError, UnsentError
from discotext.support.redaction import Secrets, escape_unprintable
from discotext.version import __version__
from discotext.victims.function import PROBE
from discotext.victims.rate_limit import RateLimit
from discotext.victims.score_reader import Binary, ScoreReader
from discotext.victims.service_format import PathError, ServiceFormat, describe
from discotext.victims.timed_requests import OutOfTimeError, TimedOpener
from discotext.victims.victim import Capabilities, Victim

LOG = logging.getLogger(__name__)  # without a handler, warnings go to standard error
EXPECTED = '{"scores": [[…], …]}, or the path of the scores (--answer, or answer= of HttpVictim)'
DECLARED = "--{0}, or {0}= of HttpVictim"  # where a user declares what answers leave open
TOKEN = "DISCOTEXT_TOKEN"  # the environment variable whose value is sent as a bearer token
LARGEST_ANSWER = 100_000_000  # bytes; nothing larger is a table of scores
LONGEST_WAIT = 300.0  # seconds; a service that asks for a longer pause counts as unavailable
COOLDOWN = 10.0  # seconds without requests after a failure that retries did not cure
SILENT_RETRIES = 2  # failures in a row of a service that has answered before, which are not logged
PERMANENT = (401, 402, 403, 404, 405, 410)  # statuses that no other text will change
LARGEST_ERROR = 1 << 16  # bytes that are read of an answer that is an error
# All other headers that the user sets are treated as secrets.
PUBLIC_HEADERS = ("accept", "accept-encoding", "accept-language", "content-type", "user-agent")


class HttpVictim(Victim):
    """A service at an http or https address, as a victim.

    labels: the names of the classes; by default those that the answers name, or "0", "1", …
    batch: texts in a request.
    timeout: seconds for a whole answer.
    retries: how often a failed request is sent again.
    per_second: the largest number of requests per second, of all threads of this process; None for no limit.
    max_texts: the largest number of texts to send in all, retries included; None for no limit. `spent` counts them.
    headers: sent with every request.
    binary: how to read a single number for each text; see `discotext.victims.score_reader.ScoreReader`.
    vocabulary: the words it can tell apart; by default those that its answers name, or else any word.
    text_field: the path of the texts in a request, such as "inputs" or "instances[].text".
    fields: further fields of a request, each a path with its value.
    answer: the path of the scores in an answer, such as "predictions[].scores"; a row of scores is a list of numbers,
        an object {class: score}, or a list of objects with a class and a score each.
    one_by_one: send one text in a request, as a string; the answer then has the scores of that text.
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
        max_texts: int | None = None,
        headers: Mapping[str, str] | None = None,
        binary: Binary = "auto",
        vocabulary: Sequence[str] | None = None,
        *,
        text_field: str = "texts",
        fields: Mapping[str, Any] | None = None,
        answer: str | None = None,
        one_by_one: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"{url!r} is not the address of a service; expected http://… or https://…")
        if address.username is not None:
            raise ValueError(
                f"the address of {address.hostname} contains a password; set {TOKEN} or pass headers instead"
            )
        limits = {"batch": batch, "timeout": timeout, "per_second": per_second, "max_texts": max_texts}
        for key, value in limits.items():
            if value is not None and not value > 0:
                raise ValueError(f"{key} is {value}; choose a number above 0")
        if retries < 0:
            raise ValueError(f"retries is {retries}; choose 0 or more")
        # The name is stored in records, and the query string often contains a key.
        self.name = url.split("?")[0].split("#")[0]
        self.format = ServiceFormat(text_field, dict(fields or {}), answer, one_by_one)
        self.url, self.batch, self.timeout, self.retries = url, 1 if one_by_one else batch, timeout, retries
        self.per_second, self.max_texts, self.spent = per_second, max_texts, 0
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        token = read_token()
        self.headers |= {"User-Agent": f"discotext/{__version__}", **token, **(headers or {})}
        self.secrets = Secrets([*find_secrets(url, {**token, **(headers or {})}), *self.format.secrets])
        self.score_reader = ScoreReader(self.name, labels, binary, self.secrets, DECLARED)
        protocol = self.format.settings | ({} if binary == "auto" else {"binary": binary})
        # Small units: a query may be paid for, and those of an unfinished unit are lost.
        self._declared = Capabilities(vocabulary=vocabulary, has_memory=True, protocol=protocol, chunk=16)
        self._clock, self._sleep = clock, sleep
        self._rate = RateLimit(per_second, clock, sleep)
        self._cooldown = (-math.inf, "")  # until when no request is sent, and why
        self._answers: dict[str, Floats] = {}
        self._has_answered = self._has_scores = False

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """What it can do, as far as its answers have shown."""
        return self.score_reader.complete(self._declared)

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the classes. If nothing has named them yet, the service is asked once to count them."""
        if self.score_reader.format.labels is None:
            self._request([PROBE], probe=True)
        return self.score_reader.format.labels or ()

    def scores(self, texts: Sequence[str]) -> Floats:
        if not len(texts):
            return np.empty((0, len(self.labels)))
        # Kept here, too, because another thread may ask about the same text.
        known = {text: self._answers[text] for text in dict.fromkeys(texts) if text in self._answers}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(new), self.batch):
            part = new[start : start + self.batch]
            try:
                rows = dict(zip(part, self._request(part), strict=True))
            except ValueError as error:
                later = set(new[start + self.batch :])
                unsent = [row for row, text in enumerate(texts) if text in later]
                raise UnsentError(str(error), unsent) if unsent else error from error
            self._answers.update(rows)
            known.update(rows)
        for text in known:
            self._answers.pop(text, None)
        return np.stack([known[text] for text in texts])

    def remembers(self, texts: Sequence[str]) -> Bools:
        """Return (N,) texts whose answers came before a call failed midway, and all but the first of equal texts."""
        seen, known = set(self._answers), []
        for text in texts:
            known.append(text in seen)
            seen.add(text)
        return np.array(known, dtype=bool)

    def _request(self, texts: list[str], probe: bool = False) -> Floats:
        # A request without a batch, for the labels, has one text as well.
        body = self._post(self.format.write(texts), len(texts))
        try:
            found = self._read_scores(self._parse(body), texts, probe)
            self._has_scores = True
            return found
        except PathError as error:
            message = f"{self.name}: {error}; give another path (--answer, or answer= of HttpVictim)"
            # Before any answer could be read, no other text will change that; later, this text may be the exception.
            raise (ValueError if self._has_scores else UnavailableError)(message) from None
        except RecursionError:
            raise ValueError(f"{self.name} returned deeply nested JSON; expected a table of scores") from None

    def _parse(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            found = self.secrets.quote(body[:LARGEST_ERROR].decode(errors="replace"))
            raise ValueError(f"{self.name} returned {found}, which is not valid JSON; expected scores") from None

    def _read_scores(self, answer: Any, texts: list[str], probe: bool) -> Floats:
        if self.format.answer is not None:
            return self.score_reader.read(self.format.find_rows(answer, len(texts), self.secrets), texts, None, probe)
        names = None
        if isinstance(answer, dict):
            if "scores" not in answer:
                found = f"{self.secrets.quote(answer)}; expected {EXPECTED}: it is {describe(answer, self.secrets)}"
                raise ValueError(f"{self.name} returned {found}")
            names, words = answer.get("labels"), answer.get("vocabulary")
            if names is not None:
                names = self._read_strings("labels", names)
            if words is not None and self._declared.vocabulary is None:
                self._declared = replace(self._declared, vocabulary=self._read_strings("vocabulary", words))
            answer = answer["scores"]
        is_table = isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], list)
        if self.format.one_by_one and not is_table:
            answer = [answer]
        return self.score_reader.read(answer, texts, names, probe)

    def _read_strings(self, what: str, given: Any) -> list[str]:
        """Return a list of names from the service, safe to print."""
        if not isinstance(given, list):
            raise ValueError(f"{self.name} returned the {what} {self.secrets.quote(given)}; expected a list of names")
        return [self.secrets.redact(escape_unprintable(str(one))) for one in given]

    def _post(self, data: bytes, count: int) -> bytes:
        """Send a request, retrying temporary failures; return the body of the answer."""
        until, reason = self._cooldown
        if self._clock() < until:
            raise UnavailableError(reason)
        for attempt in range(self.retries + 1):
            if self.max_texts is not None and self.spent + count > self.max_texts:
                raise UnavailableError(
                    f"max_texts is {self.max_texts}, {self.spent} texts have been sent, and {count} more are needed; "
                    "raise the limit"
                )
            self._rate.wait()
            self.spent += count
            try:
                with TimedOpener(self.timeout) as opener:
                    try:
                        with opener.open(Request(self.url, data, self.headers)) as response:
                            body = self._read(response)
                        self._has_answered = True
                        return body
                    except HTTPError as error:
                        reason, wait = self._read_failure(error)
            except OutOfTimeError:
                reason, wait = f"{self.name} has not answered completely within {self.timeout:g} s", 0.0
            except (OSError, HTTPException) as error:  # TimeoutError and URLError are OSErrors
                cause = error.reason if isinstance(error, URLError) else error
                message = (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__
                # Even a reply that is not HTTP may contain what was sent.
                reason, wait = f"{self.name} cannot be reached: {self._quote_phrase(message)}", 0.0
                if isinstance(cause, ssl.SSLCertVerificationError):
                    wait = math.inf
            if wait > LONGEST_WAIT:
                break
            if attempt < self.retries:
                # Clients that failed at the same time should not all return at the same time.
                pause = max(wait, min(2.0**attempt, 60.0) * random.uniform(0.5, 1.0))
                # A service that has answered may fail once or twice; otherwise the user should know what is waited for.
                if not self._has_answered or attempt >= SILENT_RETRIES or pause > 10:
                    LOG.warning("%s; retry %d of %d in %.0f s", reason, attempt + 1, self.retries, pause)
                self._sleep(pause)
        else:
            reason += f" ({self.retries + 1} times)"
        self._cooldown = (self._clock() + COOLDOWN, reason)
        raise UnavailableError(reason)

    def _read(self, response: HTTPResponse) -> bytes:
        body = response.read(LARGEST_ANSWER + 1)
        if len(body) > LARGEST_ANSWER:
            raise ValueError(f"{self.name} returned more than {LARGEST_ANSWER:,} bytes; expected a table of scores")
        # `read` with a size does not raise IncompleteRead itself.
        if response.length:
            raise IncompleteRead(body, response.length)
        return body

    def _read_failure(self, error: HTTPError) -> tuple[str, float]:
        """Return the message of an HTTP error and how many seconds to wait; infinity if a retry cannot help."""
        with error:
            try:
                body = error.read(LARGEST_ERROR).decode(errors="replace")
            except (OSError, HTTPException):
                body = ""
        message = f"{self.name} answered {error.code} {self._quote_phrase(error.reason)}: {self.secrets.quote(body)}"
        if error.code == 429 or error.code >= 500:
            wait = parse_retry_after(error.headers.get("Retry-After"))
            return (f"{message}, and asks to wait {wait:.0f} s" if wait > LONGEST_WAIT else message), wait
        if error.code < 400:
            where = self._quote_phrase(error.headers.get("Location"))
            return (
                f"{self.name} redirects to {where}, which is not followed; pass that address if you trust it",
                math.inf,
            )
        if error.code in PERMANENT:
            hint = f"; set {TOKEN} to send a token" if error.code in (401, 403) else ""
            return message + hint, math.inf
        # Most likely the texts are at fault (too long, too many), and others may succeed.
        hint = (
            ""
            if self._has_answered
            else "; if it expects other fields, name them (--field, or text_field= and fields=)"
        )
        raise ValueError(message + hint) from None

    def _quote_phrase(self, phrase: object) -> str:
        """Return a short phrase from the service, safe to print and without quotation marks."""
        return self.secrets.quote(str(phrase)).strip("'")


def read_token() -> dict[str, str]:
    """Return the token in the environment as a header. A malformed one is refused here, without printing it."""
    token = os.environ.get(TOKEN, "").strip()
    if not (token.isascii() and token.isprintable()):
        raise ValueError(
            f"{TOKEN} contains characters that are not allowed in a token; expected one line of printable ASCII"
        )
    return {"Authorization": f"Bearer {token}"} if token else {}


def find_secrets(url: str, headers: Mapping[str, str]) -> list[str]:
    """Return the values of an address and of headers that are secret: tokens, and the query string.

    >>> find_secrets("https://a.org/x?key=0123456789", {"Authorization": "Bearer abcdefghij", "Accept": "*/*"})
    ['0123456789', 'abcdefghij']
    """
    found = [value for _, value in parse_qsl(urlsplit(url).query)]
    for name, value in headers.items():
        if name.lower() not in PUBLIC_HEADERS:
            rest = str(value).partition(" ")[2]
            found.append(rest if name.lower() == "authorization" and rest else str(value))
    return found


def parse_retry_after(header: str | None) -> float:
    """Return the seconds that a Retry-After header asks to wait, given as seconds or a date; 0 if it is unreadable.

    >>> parse_retry_after("3"), parse_retry_after(None), parse_retry_after("soon")
    (3.0, 0.0, 0.0)
    >>> parse_retry_after("Mon, 01 Jan 2024 00:00:00 GMT")  # in the past
    0.0
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
