"""The time of calls: interleaved in one process, the minimum of many."""

from __future__ import annotations

import gc
import timeit
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Name = TypeVar("Name", bound=Hashable)

BLOCK_TIME = 5e-4
"""Seconds that one timed block of calls should take."""


@dataclass(frozen=True)
class Call:
    """A statement to be timed, and the names it uses."""

    statement: str
    names: Mapping[str, Any]


def time_calls(calls: Mapping[str, Call], rounds: int = 200) -> dict[str, float]:
    """Seconds a call, for each: the minimum over blocks that take turns.

    What disturbs a machine comes and goes. Blocks of all calls in turn give each the same chance
    of a quiet moment, and the minimum is what the call itself takes. The statement stands in the
    timed loop itself, so no wrapper is timed with it.

    Examples
    --------
    >>> times = time_calls({"sum": Call("sum(x)", {"x": range(1000)}), "nothing": Call("pass", {})})
    >>> times["sum"] > times["nothing"]
    True
    """
    return {name: min(samples) for name, samples in sample_calls(calls, rounds).items()}


def sample_calls(calls: Mapping[Name, Call], rounds: int = 200) -> dict[Name, list[float]]:
    """Seconds a call, for each and for every block; see `time_calls`."""
    timers = {
        name: timeit.Timer(call.statement, globals=dict(call.names)) for name, call in calls.items()
    }
    counts = {}
    for name, timer in timers.items():
        timer.timeit(3)  # what only the first calls do
        count = 1
        while (seconds := timer.timeit(count)) < BLOCK_TIME / 4:
            count *= 4
        counts[name] = max(1, round(count * BLOCK_TIME / seconds))
    samples: dict[Name, list[float]] = {name: [] for name in calls}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, timer in timers.items():
                samples[name].append(timer.timeit(counts[name]) / counts[name])
    finally:
        if collecting:
            gc.enable()
    return samples
