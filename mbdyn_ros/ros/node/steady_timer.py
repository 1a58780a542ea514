"""Timers by a clock that goes on while simulated time stands still."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer


def steady_timer(node: Node, rate: float, call: Callable[[], None]) -> Timer:
    """Call a function of the executor's thread at a rate, Hz, whatever `use_sim_time` says."""
    return node.create_timer(1 / rate, call, clock=Clock(clock_type=ClockType.STEADY_TIME))
