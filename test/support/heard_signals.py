"""Signals that a parent ignores, as `nohup` and background jobs do, heard again by children.

What is ignored stays ignored in the programs that a process starts; what it handles is back at its
default there. So a handler that does nothing keeps this process as deaf as it was asked to be, and
lets the programs under test be interrupted.
"""

from __future__ import annotations

import signal

IGNORED_BY_SHELLS = ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM", "SIGTSTP")
"""Names of the signals that shells and `nohup` withhold from what they start."""


def let_children_hear() -> None:
    """Let programs that are started from here have signals at their defaults."""
    for name in IGNORED_BY_SHELLS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
