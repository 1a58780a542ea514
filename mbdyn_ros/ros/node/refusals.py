"""Refusals of messages, counted, and errors in one line."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from ...errors import MbdynError
from ...names import in_text
from .diagnostics import Health


def one_line(text: Any) -> str:
    """Text without line breaks, and without what moves a terminal."""
    return in_text(" ".join(str(text).split()))


def in_words(error: Exception) -> str:
    """One line about an error; those that are not ours with their kind."""
    return one_line(error if isinstance(error, MbdynError) else f"{type(error).__name__}: {error}")


class Refusals:
    """The messages of one kind that a node refused.

    Attributes
    ----------
    last : why it refused the last one, until that was reported.
    """

    def __init__(self, node: Node, what: str) -> None:
        self._node, self._what = node, what
        self.last = ""
        self._count = 0

    def add(self, error: Exception) -> None:
        """Count one, and log it at most once a second."""
        self._count += 1
        self.last = in_words(error)
        self._node.get_logger().warning(
            f"refused a {self._what}: {self.last}", throttle_duration_sec=1.0
        )

    def report(self, health: Health) -> None:
        """Say what was refused since the last report, and how often in all."""
        if self.last:
            health.warnings.append(f"refused a {self._what}: {self.last}")
            self.last = ""
        health.values[f"refused {self._what}s"] = self._count
