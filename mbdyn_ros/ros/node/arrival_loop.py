"""A thread that calls a function when a message has come."""

from __future__ import annotations

import time
from collections.abc import Callable

from .inbox import Inbox
from .rate_loop import RateLoop

LONGEST_LISTENING = 0.02
"""s without a message after which the loop looks whether it shall end."""


class ArrivalLoop(RateLoop):
    """Calls `tick` in a thread of its own when a message has come to an inbox, and only then.

    The message has waited for the thread alone: neither for an executor (200 us and more) nor for
    the next tick of a loop at a rate. A tick takes what is there; `rate` is 0, for none is wanted.
    """

    def __init__(
        self,
        tick: Callable[[int], None],
        inbox: Inbox,
        on_fault: Callable[[Exception], None],
        name: str,
        priority: int = 0,
    ) -> None:
        super().__init__(tick, 0.0, on_fault, name, priority)
        self._inbox = inbox

    def _tick_on(self) -> None:
        clock = time.perf_counter
        while not self._stopping.is_set():
            if not self._inbox.wait(LONGEST_LISTENING):
                continue
            start = self.deadline = clock()
            try:
                self._tick(0)
            except Exception as error:
                self._on_fault(error)
            self._count(clock() - start)
