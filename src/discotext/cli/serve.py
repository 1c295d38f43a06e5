"""discotext serve: a local web page to type a text into, and to watch attacks on it."""

from __future__ import annotations

import sys
import webbrowser
from typing import Any

import click

from discotext.cli.help import Count, GroupedCommand, option
from discotext.cli.options import accept_option, candidate_options, load_named, trust_option, victim_argument
from discotext.cli.output import make_console, print_message
from discotext.cli.service_options import service_options
from discotext.support.extras import require


@click.command(cls=GroupedCommand)
@victim_argument
@option(
    "--port",
    section="Page",
    type=Count(0, 65_535),
    show_default="8765, or a free one if that is taken",
    help="Port of this machine to listen on; 0 is any free one.",
)
@option(
    "--open/--no-open",
    "show",
    section="Page",
    default=None,
    show_default="in a terminal with a desktop",
    help="Open the page in a browser.",
)
@trust_option
@accept_option(multiple=False)
@candidate_options
@service_options
def command(victim: str, port: int | None, show: bool | None, **options: Any) -> None:
    """Type a text on a local web page, and watch attacks on it.

    Prints the address of the page and serves it until Ctrl-C. It shows the prediction as you type, the words that may
    change and their candidates, attacks as they happen, solvers side by side, and what is proved. Only this machine can
    open it, and only by that address. Needs discotext[web].

    \b
    Examples:
      discotext serve victim
      discotext serve sklearn:model.skops --port 9000 --no-open
      discotext serve py:model.py:scores --synonyms synonyms.tsv
    """
    for module in ("starlette", "uvicorn"):
        require(module, "web", "discotext serve")
    console = make_console(stderr=True)
    print_message(console, f"loading {victim}")
    served = load_named(victim, options)
    from discotext.attacks.one_text import TextAttacker
    from discotext.text.candidates import make_candidates
    from discotext.web.model import SharedModel
    from discotext.web.server import PATIENCE, Server

    model = SharedModel(TextAttacker(served, make_candidates(**options), patience=PATIENCE))
    model.warm_up()
    server = Server(model, port)
    click.echo(server.address)
    sys.stdout.flush()
    print_message(console, "open this address in a browser; Ctrl-C ends the server")
    if can_show() if show is None else show:
        webbrowser.open(server.address)
    try:
        server.serve_page()
    except KeyboardInterrupt:
        click.echo(err=True)
        print_message(console, "stopped")


def can_show() -> bool:
    """Whether there is a browser with a window of its own: one that runs in the terminal would only be in the way."""
    try:
        return sys.stdout.isatty() and type(webbrowser.get()) is not webbrowser.GenericBrowser
    except webbrowser.Error:
        return False
