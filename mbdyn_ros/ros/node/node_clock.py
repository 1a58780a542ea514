"""The time by which a node plays, ages and times out, and timers that need it not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType, ROSClock
from rclpy.node import Node
from rclpy.timer import Timer

CLOCK_READINGS, TOGETHER = 5, 20_000
"""Attempts to read two clocks, and the ns within which both must be read."""


def steady_timer(node: Node, rate: float, call: Callable[[], None]) -> Timer:
    """Call a function of the executor's thread at a rate, Hz, whatever `use_sim_time` says."""
    return node.create_timer(1 / rate, call, clock=Clock(clock_type=ClockType.STEADY_TIME))


def since_1970() -> int:
    """The system's time at the zero of the steady clock, ns.

    A thread that has to wait for its core between two readings would be wrong by that wait.
    """
    offset = 0
    for _ in range(CLOCK_READINGS):
        begin = time.perf_counter_ns()
        offset = time.time_ns() - begin
        if time.perf_counter_ns() - begin < TOGETHER:
            break
    return offset


class NodeClock:
    """Seconds by which a node plays, ages and times out. One thread at a time may read them.

    With `use_sim_time` they are those of `/clock`, which stand still while the simulation is
    paused. Otherwise they are those of a steady clock, which no correction of the system's time
    disturbs; only time stamps are compared with the system's time, when they come.

    Parameters
    ----------
    clock : of the node.
    published : whether anybody publishes `/clock`: a simulation that has not begun is at 0.

    Attributes
    ----------
    era : grows when time went back, ahead or came from another source: times of different eras
        cannot be compared.
    jump : what happened then, in words.
    """

    def __init__(self, clock: Clock, published: Callable[[], bool] = lambda: False) -> None:
        assert isinstance(clock, ROSClock)
        self._clock, self._published = clock, published
        self._simulated = clock.ros_time_is_active
        self._last = math.nan
        self.era, self.jump = 0, ""

    def now(self, longest_gap: float = math.inf) -> float:
        """The time, s; more than `longest_gap` since it was asked before is a jump."""
        simulated = self._clock.ros_time_is_active
        now = self._clock.now().nanoseconds / 1e9 if simulated else time.perf_counter()
        if simulated != self._simulated:
            self.era, self.jump = self.era + 1, f"use_sim_time became {str(simulated).lower()}"
        elif now < self._last:
            back = self._last - now
            self.era, self.jump = self.era + 1, f"the clock went back by {back:.4g} s"
        elif now - self._last > longest_gap:
            gap = now - self._last
            self.era, self.jump = self.era + 1, f"{gap:.4g} s passed between two cycles"
        self._simulated, self._last = simulated, now
        return now

    def at(self, stamp: Time, now: float) -> float:
        """The time of a message's stamp, s; `now` where it has none (zeros)."""
        nanoseconds = stamp.sec * 1_000_000_000 + stamp.nanosec
        if not nanoseconds:
            return now
        if self._simulated:
            return nanoseconds / 1e9
        return (nanoseconds - since_1970()) / 1e9

    @property
    def simulated(self) -> bool:
        """Whether `/clock` says what time it is."""
        return self._simulated

    def stamp(self, time_then: float) -> int:
        """The stamp of a time, ns: what `at` makes that time of."""
        if self._simulated:
            return round(time_then * 1e9)
        return since_1970() + round(time_then * 1e9)

    @property
    def waiting(self) -> str:
        """The complaint where simulated time has not begun; empty where it has."""
        silent = self._simulated and self._last == 0.0 and not self._published()
        return "use_sim_time is true, and there is no time on /clock yet" if silent else ""
