"""Refusals of messages, counted, and errors in one line."""

from __future__ import annotations

import math
import time
from typing import Any

from rclpy.node import Node

from ...errors import MbdynError
from ...names import in_text
from .health import Health

HEAD, TAIL = 3000, 1000
"""Characters that are kept of a text that is longer than both together: a name may be a book."""

QUIET = 1.0
"""Seconds between two lines in the log about refusals of one kind."""


SHOWN = 10.0
"""Seconds for which the diagnostics warn of a refusal: one period is easily missed."""


def one_line(text: Any) -> str:
    """Text without line breaks, escapes of terminals, and the middle where it is very long."""
    words = str(text)
    left_out = len(words) - HEAD - TAIL
    if left_out > 0:
        words = f"{words[:HEAD]} ... ({left_out} characters left out) ... {words[-TAIL:]}"
    return in_text(" ".join(words.split()))


ROBOTS: dict[str, str] = {}
"""Names of the robots that nodes of this process have loaded, by what errors call their source."""


def in_words(error: Exception) -> str:
    """One line about an error, with the robot's name for its file; foreign ones with their kind."""
    if not isinstance(error, MbdynError):
        return one_line(f"{type(error).__name__}: {error}")
    text = str(error)
    for source, name in ROBOTS.items():
        if text.startswith(f"{source}:"):
            return one_line(name + text[len(source) :])
    return one_line(text)


class Refusals:
    """The messages of one kind that a node refused.

    To refuse one takes microseconds: whoever floods a node cannot hold up its loop. (A call of
    rclpy's logger takes 0.7 ms, one that it suppresses too.)

    Attributes
    ----------
    count : of all messages refused.
    """

    def __init__(self, node: Node, what: str) -> None:
        self._node, self._what = node, what
        self.count = 0
        self._last: Exception | None = None
        self._refused = self._logged = -math.inf

    @property
    def last(self) -> str:
        """Why it refused the last one, for `SHOWN` after it."""
        return in_words(self._last) if self._last is not None else ""

    def add(self, error: Exception) -> None:
        """Count one, and log it at most once a second."""
        self.count += 1
        self._last = error.with_traceback(None)
        self._refused = now = time.monotonic()
        if now - self._logged >= QUIET:
            self._logged = now
            self._node.get_logger().warning(f"refused a {self._what}: {self.last}")

    def report(self, health: Health) -> None:
        """Warn of what was refused lately, and say how often in all."""
        if time.monotonic() - self._refused > SHOWN:
            self._last = None
        if self._last is not None:
            health.warnings.append(f"refused a {self._what}: {self.last}")
        kind = self._what.removesuffix("y")
        plural = f"{self._what}s" if kind == self._what else f"{kind}ies"
        health.values[f"refused {plural}"] = self.count
