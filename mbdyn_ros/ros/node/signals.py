"""The signals that would end or suspend a process, all heard by one handler.

It imports the standard library alone: a node hears them before it imports what takes long.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


class Interruption:
    """The interrupt of a node that is being made, held back until the node does work of ours.

    ROS's objects are made in several steps, in Python and in C++. One that an interrupt has left
    between two of them, or that a thread goes on using, crashes the process as it is destroyed.
    """

    def __init__(self) -> None:
        self._asked = self._allowed = False

    def ask(self) -> None:
        """Raise KeyboardInterrupt: now where it is allowed, else where it is allowed next."""
        self._asked = True
        if self._allowed:
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let the work within be interrupted: it takes long, and makes nothing of ROS."""
        try:
            self._allowed = True
            if self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._allowed = False


INTERRUPTION = Interruption()
"""Of this process, which runs one node."""
