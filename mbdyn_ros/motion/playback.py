"""The motion that a node follows, and the place in it at any time."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InputError
from .poses import Turns
from .reference import Reference, State

NO_REFERENCE = "no reference yet"


class Playback:
    """A `Reference` played from a time on, preceded by an approach to its first point where that
    comes later.

    Times are those of the node's clock, s.

    Attributes
    ----------
    reference : what is followed; None while there is nothing.
    start : the time at which the reference's own time is 0.
    """

    def __init__(self) -> None:
        self.reference: Reference | None = None
        self.start = 0.0
        self._approach: Reference | None = None
        self._reason = NO_REFERENCE

    def follow(self, reference: Reference, start: float, approach: Reference | None = None) -> None:
        """Play a motion whose time 0 is at `start`, after the `approach` to it if there is one."""
        self.reference, self.start, self._approach = reference, start, approach

    def drop(self, reason: str = NO_REFERENCE) -> None:
        """Follow nothing any more, because of `reason`."""
        self.reference, self._reason = None, reason

    def forget(self, reason: str) -> bool:
        """Drop what is followed, if anything is; whether something was."""
        if self.reference is None:
            return False
        self.drop(reason)
        return True

    def at(self, now: float, lead: float = 0.0) -> State:
        """Position, velocity and acceleration (n,) wanted at a time, or `lead` after it."""
        assert self.reference is not None
        moment = now - self.start + lead
        if self._approach is not None and moment < self.reference.times[0]:
            return self._approach.at(moment)
        return self.reference.at(moment)

    def idle_reason(self, now: float, timeout: float) -> str:
        """Why there is nothing to follow at a time; empty where there is."""
        if self.reference is None:
            return self._reason
        age = now - self.start - self.reference.end
        return f"the reference ended {age:.2f} s ago" if age > timeout else ""


def require_timely(
    reference: Reference, start: float, now: float, timeout: float, longest_wait: float
) -> None:
    """Refuse a motion from `start` on that is over for `timeout`, or too far ahead, s."""
    wait, age = start + reference.times[0] - now, now - start - reference.end
    if age > timeout:
        raise InputError(
            f"its last point was due {age:.4g} s ago by the node's clock: header.stamp is too old"
        )
    if wait > longest_wait:
        raise InputError(
            f"its first point is due in {wait:.4g} s by the node's clock, more than the parameter "
            f"longest_wait ({longest_wait:g} s): look at header.stamp, and at use_sim_time, which "
            "the sender and this node must set alike"
        )


def approach(
    reference: Reference, start: float, now: float, present: State, turns: Turns | None = None
) -> Reference | None:
    """The approach from a state at `now` to a motion's first point; None where that is due already.

    A polynomial of degree 5, in the time of the motion, which begins at `start`; along the shortest
    rotation where `turns` is given.
    """
    begin, first = now - start, reference.times[0]
    if begin >= first:
        return None
    if turns is not None:
        goal = reference.first[0]
        present = goal - turns.shortest(goal - present[0]), *present[1:]
    ends = zip(present, reference.first, strict=True)
    return Reference(np.array([begin, first]), *(np.array(pair) for pair in ends))


def patience(timeout: float) -> float:
    """A timeout of which 0 means never."""
    return timeout or math.inf
