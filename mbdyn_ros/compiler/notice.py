"""A word to whoever waits at a terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

UNNOTICED = 1.0
"""Seconds that nobody needs to be told about."""


@contextlib.contextmanager
def waiting_for(what: str, patience: float = UNNOTICED) -> Iterator[None]:
    """Say on a terminal, once this lasts, what is compiled; to a file or a pipe nothing is said."""
    screen = getattr(sys.stderr, "rich_proxied_file", sys.stderr)  # behind a bar
    if not screen.isatty():
        yield
        return
    text = f"mbdyn_ros: compiling {what}, once; next time it is there at once"
    timer = threading.Timer(patience, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
