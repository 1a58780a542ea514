"""Options, address and end of verbs that serve a page."""

from __future__ import annotations

import contextlib
import signal
import webbrowser
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .printing import print_json

if TYPE_CHECKING:
    from ..view.page.page import Page

F = TypeVar("F", bound=Callable[..., Any])

END_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def page_options(function: F) -> F:
    """The options --port, --host and --open of verbs that serve a page."""
    for decorate in (
        click.option("--open", "browse", is_flag=True, help="Open the page in the browser."),
        click.option(
            "--host", default="127.0.0.1", show_default=True,
            help="Address to serve on; 0.0.0.0 shows the page to the whole network.",
        ),
        click.option(
            "--port", type=int, default=8080, show_default=True, help="0 takes any free one."
        ),
    ):  # fmt: skip
        function = decorate(function)
    return function


def announce(url: str, name: str, as_json: bool) -> None:
    """Say where the page is."""
    if as_json:
        print_json({"url": url, "shows": name})
    else:
        click.echo(f"{name} is at {url}  (Ctrl-C ends)")


def announce_file(path: str, name: str, as_json: bool) -> None:
    """Say where the picture of a page is."""
    if as_json:
        print_json({"screenshot": path, "shows": name})
    else:
        click.echo(f"{path}: {name}")


@contextlib.contextmanager
def serving(page: Page, browse: bool) -> Iterator[None]:
    """Close the page on Ctrl-C, on SIGTERM, and at the end of the block."""
    before = [signal.signal(one, lambda *_: page.end()) for one in END_SIGNALS]
    try:
        if browse:
            webbrowser.open(page.url)
        yield
    finally:
        for one, handler in zip(END_SIGNALS, before, strict=True):
            signal.signal(one, handler)
        page.close()
