"""How many threads a batch runs on.

The environment variable `MBDYN_ROS_THREADS` gives the greatest number; by default it is that of
the processors this process may use. Small batches run on fewer, for it takes 5 to 20 us to
wake a thread.
"""

from __future__ import annotations

import os

from ..errors import InputError


def threads_for(operations: int, worth_a_thread: int) -> int:
    """The number of threads for a batch by its operations; see `Options.worth_a_thread`."""
    wanted = operations // worth_a_thread
    return 1 if wanted < 2 else min(most_threads(), wanted)


def most_threads() -> int:
    """The greatest number of threads: that of the environment, else of the processors."""
    text = os.environ.get("MBDYN_ROS_THREADS", "")
    if not text:
        return len(os.sched_getaffinity(0))
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise InputError(f"MBDYN_ROS_THREADS must be a whole number from 1 on; it is {text!r}")
    return number
