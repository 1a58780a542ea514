"""The signals that would end or suspend a process, all heard by one handler.

It imports the standard library alone: a node hears them before it imports what takes long.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

Handler = Callable[[int, FrameType | None], None] | signal.Handlers

_OTHERS = {
    *("SIGKILL", "SIGSTOP"),  # which cannot be caught
    *("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"),  # of instructions, which would run again
    *("SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH"),  # which end nothing
}

ENDING = tuple(
    sorted(
        number for number in signal.valid_signals() if getattr(number, "name", "") not in _OTHERS
    )
)
"""Numbers of the signals after which, unheard, a process sends no more: a closed terminal, Ctrl-C,
Ctrl-\\, Ctrl-Z, `kill`, timers, limits."""


def hear(handler: Handler) -> None:
    """Call `handler` in the main thread at each of `ENDING`.

    What the parent made us ignore, as `nohup` does, stays ignored: except for Ctrl-C, which
    shells withhold from what they start in the background, and SIGTERM.
    """
    for number in ENDING:
        asked = number in (signal.SIGINT, signal.SIGTERM)
        if asked or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
