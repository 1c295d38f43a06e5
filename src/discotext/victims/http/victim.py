"""A victim behind an HTTP address: texts are posted as JSON, scores come back as JSON.

    POST {"texts": ["A fine film.", …]}
    → {"scores": [[0.1, 2.3], …], "labels": ["neg", "pos"]}     labels are optional, and so is "vocabulary": ["good", …]
                                                                for a service that knows only some words
    → [[0.1, 2.3], …]                                           or a single number for each text
    → [[{"label": "pos", "score": 0.9}, …], …]                  as Hugging Face services answer

A service that names its fields otherwise is described by paths, see `discotext.victims.http.service_format`. Answers
of a call that failed midway are kept, so that nothing that may be billed is sent twice.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from discotext.core.arrays import Bools, Floats
from discotext.core.oracle import UnavailableError, UnsentError
from discotext.support.plain_text import escape_unprintable
from discotext.support.redaction import Secrets
from discotext.version import __version__
from discotext.victims.http.client import LARGEST_ERROR, TOKEN, Client
from discotext.victims.http.service_format import PathError, ServiceFormat, describe
from discotext.victims.score_reader import AnsweringVictim, Binary, ScoreReader
from discotext.victims.victim import Capabilities

WAY = "--service answer=PATH, or answer= of HttpVictim"
DECLARED = "--service {0}=…, or {0}= of HttpVictim"  # where a user declares what answers leave open
# All other headers that the user sets are treated as secrets.
PUBLIC_HEADERS = ("accept", "accept-encoding", "accept-language", "content-type", "user-agent")


class HttpVictim(AnsweringVictim):
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
        self.batch = 1 if one_by_one else batch
        given = {**read_token(), **(headers or {})}
        self.secrets = Secrets([*find_secrets(url, given), *self.format.secrets])
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # what is not compressed cannot be a compression bomb
            "User-Agent": f"discotext/{__version__}",
            **given,
        }
        self.client = Client(url, self.name, sent, self.secrets, retries, timeout, per_second, max_texts, clock, sleep)
        self.score_reader = ScoreReader(self.name, labels, binary, self.secrets, DECLARED)
        protocol = self.format.settings | ({} if binary == "auto" else {"binary": binary})
        # Small units: a query may be paid for, and those of an unfinished unit are lost.
        self.declared = Capabilities(vocabulary=vocabulary, has_memory=True, protocol=protocol, chunk=16)
        self._answers: dict[str, Floats] = {}
        self._has_scores = False

    @property
    def spent(self) -> int:
        """The number of texts that were sent."""
        return self.client.spent

    def scores(self, texts: Sequence[str]) -> Floats:
        if not len(texts):
            return np.empty((0, len(self.labels)))
        # Kept here, too, because another thread may ask about the same text.
        known = {text: self._answers[text] for text in dict.fromkeys(texts) if text in self._answers}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(new), self.batch):
            part = new[start : start + self.batch]
            try:
                rows = dict(zip(part, self.ask(part), strict=True))
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

    def ask(self, texts: list[str], probe: bool = False) -> Floats:
        body = self.client.post(self.format.write(texts), len(texts))
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            said = self.secrets.quote(body[:LARGEST_ERROR].decode(errors="replace"))
            raise ValueError(f"{self.name} returned {said}, which cannot be read as JSON; expected scores") from None
        try:
            found = self._read_scores(answer, texts, probe)
        except PathError as error:
            # Before any answer could be read, no other text will change that; later, this text may be the exception.
            kind = ValueError if self._has_scores else UnavailableError
            raise kind(f"{self.name}: {error}; give another path ({WAY})") from None
        self._has_scores = True
        return found

    def _read_scores(self, answer: Any, texts: list[str], probe: bool) -> Floats:
        if self.format.answer is not None:
            return self.score_reader.read(self.format.find_rows(answer, len(texts), self.secrets), texts, None, probe)
        names = None
        if isinstance(answer, dict):
            if "scores" not in answer:
                raise ValueError(
                    f'{self.name} returned {self.secrets.quote(answer)}; expected {{"scores": [[…], …]}}, or the path '
                    f"of the scores ({WAY}): it is {describe(answer, self.secrets)}"
                )
            names = self._read_strings(answer, "labels")
            words = self._read_strings(answer, "vocabulary")
            if words is not None and self.declared.vocabulary is None:
                self.declared = replace(self.declared, vocabulary=words)
            answer = answer["scores"]
        is_table = isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], list)
        if self.format.one_by_one and not is_table:
            answer = [answer]
        return self.score_reader.read(answer, texts, names, probe)

    def _read_strings(self, answer: dict[str, Any], key: str) -> list[str] | None:
        """Return a list of names from the service, safe to print; None if there is none."""
        given = answer.get(key)
        if given is not None and not isinstance(given, list):
            raise ValueError(f"{self.name} returned the {key} {self.secrets.quote(given)}; expected a list of names")
        return None if given is None else [self.secrets.hide(escape_unprintable(str(one))) for one in given]


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
