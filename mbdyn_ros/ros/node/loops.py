"""Threads that call a function: at a rate with absolute deadlines, or when a message has come.

Deadlines lie on a grid, so the rate does not drift. A call that takes too long, or a thread that
is woken late, makes the loop skip the deadlines it missed: the next call learns how many, and no
burst of calls follows. (An rclpy timer at 1 kHz costs half a core; this one costs the calls.)
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .inbox import Inbox


@dataclass(frozen=True)
class LoopReport:
    """The record of a loop since the last report: rate (Hz), times (s) and missed deadlines."""

    rate: float = 0.0
    mean_compute: float = 0.0
    worst_compute: float = 0.0
    worst_overrun: float = 0.0
    missed: int = 0


class RateLoop:
    """Calls `tick` at `rate` (Hz), in a thread of its own.

    `tick` gets the number of deadlines that were skipped before this call. An exception in it
    goes to `on_fault`, and the loop goes on. A `priority` above 0 asks Linux for SCHED_FIFO of
    that priority; `priority_refused` says why it was not given. When the loop ends, it calls `last`
    in its thread.

    Attributes
    ----------
    deadline : of the present call, s of `time.perf_counter`, at most a period before it begins.
    """

    def __init__(
        self,
        tick: Callable[[int], None],
        rate: float,
        on_fault: Callable[[Exception], None],
        name: str = "loop",
        priority: int = 0,
        last: Callable[[], None] = lambda: None,
    ) -> None:
        self.rate = rate
        self.deadline = time.perf_counter()
        self.priority_refused = ""
        self._priority = priority
        self._tick, self._on_fault, self._last = tick, on_fault, last
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._clear()

    def start(self) -> None:
        """Begin to tick."""
        self._clear()
        self._thread.start()

    def end(self) -> None:
        """Tick no more, from the next deadline on; returns at once."""
        self._stopping.set()

    def stop(self) -> None:
        """End the thread; returns when all is over, `last` too."""
        self.end()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def report(self) -> LoopReport:
        """Statistics since the last call."""
        span = time.perf_counter() - self._since
        ticks = self._ticks
        report = LoopReport(
            ticks / span if span > 0 else 0.0,
            self._compute / ticks if ticks else 0.0,
            self._worst_compute,
            self._worst_overrun,
            self._missed,
        )
        self._clear()
        return report

    def _clear(self) -> None:
        self._since = time.perf_counter()
        self._ticks = self._missed = 0
        self._compute = self._worst_compute = self._worst_overrun = 0.0

    def _run(self) -> None:
        self._raise_priority()
        self._tick_on()
        try:
            self._last()
        except Exception as error:
            self._on_fault(error)

    def _tick_on(self) -> None:
        clock, tick = time.perf_counter, self._tick
        self.deadline = clock()
        skipped = 0
        while not self._stopping.is_set():
            start, due = clock(), self.deadline + 1.0 / self.rate
            skipped += self._skip(max(0, math.floor((start - self.deadline) * self.rate)))
            try:
                tick(skipped)
            except Exception as error:
                self._on_fault(error)
            end = clock()
            self._count(end - start)
            self._worst_overrun = max(self._worst_overrun, end - due)
            late, skipped = end - self.deadline - 1.0 / self.rate, 0
            if late > 0:
                skipped = self._skip(math.ceil(late * self.rate))
            self.deadline += 1.0 / self.rate
            remaining = self.deadline - end
            if remaining > 0.05:  # long enough to be asked to stop meanwhile
                self._stopping.wait(remaining)
            elif remaining > 0:
                time.sleep(remaining)

    def _skip(self, count: int) -> int:
        """Let deadlines pass; return how many."""
        self._missed += count
        self.deadline += count / self.rate
        return count

    def _count(self, duration: float) -> None:
        """Record one call (s)."""
        self._ticks += 1
        self._compute += duration
        if duration > self._worst_compute:
            self._worst_compute = duration

    def _raise_priority(self) -> None:
        if not self._priority:
            return
        try:
            # The main thread too: while it holds the interpreter, the loop waits for it.
            policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
            for thread in (threading.get_native_id(), os.getpid()):
                os.sched_setscheduler(thread, policy, os.sched_param(self._priority))
        except (OSError, AttributeError) as error:
            self.priority_refused = f"no real-time priority {self._priority}: {error}"


LONGEST_LISTENING = 0.02
"""s without a message after which the loop looks whether it shall end."""


class ArrivalLoop(RateLoop):
    """Calls `tick` in a thread of its own when a message has come to an inbox, and only then.

    The message has waited for the thread alone: neither for an executor (200 us and more) nor for
    the next tick of a loop at a rate. A tick takes what is there; `rate` is 0, for none is wanted.

    pause : s from one tick to the next at least: of messages that come faster a tick has several,
        which spares waking up for each.
    """

    def __init__(
        self,
        tick: Callable[[int], None],
        inbox: Inbox,
        on_fault: Callable[[Exception], None],
        name: str,
        priority: int = 0,
        pause: float = 0.0,
    ) -> None:
        super().__init__(tick, 0.0, on_fault, name, priority)
        self._inbox, self._pause = inbox, pause

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
            end = clock()
            self._count(end - start)
            if start + self._pause > end:
                time.sleep(start + self._pause - end)
