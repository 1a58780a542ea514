"""Standard streams that are closed, full, or of a narrow alphabet."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import click


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Write to standard output and error whatever they are; one line where that fails.

    A stream that was closed before the program began takes what is written, and drops it.
    Characters that a stream cannot encode become question marks. A full disk ends the program
    with exit status 1.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # as long as the program lives
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        with contextlib.suppress(OSError):
            click.echo(f"Error: cannot write: {error}", err=True)
        _forget_output()
        raise SystemExit(1) from None


def _forget_output() -> None:
    """Let the interpreter's own flush at the end find nothing to complain about."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
