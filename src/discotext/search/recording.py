"""A wrapper that reports while a search goes on."""

from __future__ import annotations

from collections.abc import Callable

from discotext.core.oracle import Oracle, Reply, Request, Wrapper


class Reporting(Wrapper):
    """Reports after each call how many choices were scored in it."""

    def __init__(self, oracle: Oracle, report: Callable[[int], None]) -> None:
        self.oracle, self.report = oracle, report

    def ask(self, request: Request) -> Reply:
        reply = self.pass_on(request)
        if request.kind == "score":
            self.report(len(request))
        return reply
