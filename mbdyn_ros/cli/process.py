"""The process of the command line: its standard streams, and Ctrl-C.

It imports the standard library alone: it is set up before anything is imported that takes long.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType

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


INTERRUPTED = 130
"""Exit status of a program that Ctrl-C ended, as shells have it."""


def _leave(number: int, frame: FrameType | None) -> None:
    # At once: there is nothing to clean up yet, and an exception can get lost in an import.
    os._exit(INTERRUPTED)


def leave_when_interrupted() -> None:
    """Let Ctrl-C end the process at once, until `raise_when_interrupted`."""
    _replace(signal.default_int_handler, _leave)


def raise_when_interrupted() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    _replace(_leave, signal.default_int_handler)


def _replace(old: object, new: signal._HANDLER) -> None:
    # A shell withholds Ctrl-C from what runs in the background: then both stay away from it.
    if signal.getsignal(signal.SIGINT) is old:
        signal.signal(signal.SIGINT, new)
