"""Ctrl-C of the command line: exit status 130, and one line at most.

It imports the standard library alone: it is set up before anything is imported that takes long.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

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
