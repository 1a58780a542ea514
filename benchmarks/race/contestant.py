"""What a library brings to the race."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from mbdyn_ros.bench.benchmark import Call
from mbdyn_ros.model.model import Array


class Contestant(Protocol):
    """A library with one robot at one state.

    name, version : for the table. calls : what it can compute, by the name of our method.
    """

    name: str
    version: str
    calls: dict[str, Call]

    def answer(self, program: str) -> Array:
        """What the call computes, in our order of coordinates."""


def run(call: Call) -> Any:
    """Make a call once."""
    return eval(call.statement, dict(call.names))


def gap(ours: Array, theirs: Array) -> float:
    """Largest difference, relative to the largest element."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
