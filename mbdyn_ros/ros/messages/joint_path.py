"""The path that a trajectory asks of joints: between its points as joint_trajectory_controller."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...array import Array
from ...errors import InputError
from ...motion.reference import Reference, State
from .conversions import seconds
from .named_numbers import LARGEST_SENT


class JointPath:
    """A trajectory of n joints, led up to from where they are.

    Between points: straight where they have positions alone, of degree 3 with velocities, of
    degree 5 with accelerations. After the last it rests there.

    Parameters
    ----------
    joints : its joints, in its order.
    message : `JointTrajectory` with at least one point, the last one at rest.
    present : position, velocity and acceleration (n,) at the time `since` (s) after its start.

    Raises
    ------
    InputError
        The point, the joint and the number that are wrong.

    Attributes
    ----------
    joints : as given. times : of its points, s. end : the last of them.
    """

    def __init__(self, message: Any, present: State, since: float = 0.0) -> None:
        self.joints = tuple(message.joint_names)
        points = list(message.points)
        if not points:
            raise InputError("the trajectory has no points")
        self.times = [seconds(point.time_from_start) for point in points]
        self.end = self.times[-1]
        if self.end < since:
            raise InputError(
                f"the trajectory ended {since - self.end:.4g} s ago: header.stamp is too old"
            )
        given = [_rows(points, what, self.joints) for what in ("positions", "velocities")]
        given.append(_rows(points, "accelerations", self.joints))
        if given[0] is None:
            raise InputError("point 0 has no positions: only positions can be followed")
        if given[1] is not None and np.abs(given[1][-1]).max(initial=0.0) > AT_REST:
            k = int(np.abs(given[1][-1]).argmax())
            raise InputError(
                f"the last point moves on: velocity of {self.joints[k]} is "
                f"{given[1][-1][k]:g}, it must be 0"
            )
        later = [k for k, time in enumerate(self.times) if time > since]
        times = np.array([since, *(self.times[k] for k in later)])
        q, v, a = (
            None if one is None else np.vstack([present[order], one[later]])
            for order, one in enumerate(given)
        )
        assert q is not None
        self._positions, self._times = q, times
        self._curve: Reference | None = None
        if not later:  # one point, due now
            self._positions, self._times = given[0][-1:], times[:1]
        elif v is not None:
            self._curve = Reference(times, q, v, a)
        else:
            Reference(times, q)  # refuses times that do not increase

    def at(self, time: float) -> State:
        """Position, velocity and acceleration (n,) at a time after its start, s."""
        if self._curve is not None:
            return self._curve.at(time)
        times, rows = self._times, self._positions
        zero = np.zeros(rows.shape[1])
        k = int(np.searchsorted(times, time, side="right")) - 1
        if k + 1 >= len(times) or k < 0:
            return rows[min(max(k, 0), len(rows) - 1)], zero, zero
        speed = (rows[k + 1] - rows[k]) / (times[k + 1] - times[k])
        return rows[k] + speed * (time - times[k]), speed, zero

    def index(self, time: float) -> int:
        """Which point was due last at a time; 0 before the first."""
        return max(0, int(np.searchsorted(self.times, time, side="right")) - 1)


AT_REST = 1e-9
"""rad/s or m/s up to which a trajectory ends at rest."""


def _rows(points: Sequence[Any], what: str, joints: Sequence[str]) -> Array | None:
    """Numbers (N, n) of all points; None where none has them."""
    lists = [getattr(point, what) for point in points]
    if not any(map(len, lists)):
        return None
    for k, numbers in enumerate(lists):
        if len(numbers) != len(joints):
            raise InputError(
                f"point {k} has {len(numbers)} {what}, expected {len(joints)}: {', '.join(joints)}"
            )
    rows = np.array(lists, dtype=np.float64)
    bad = np.argwhere(~(np.abs(rows) <= LARGEST_SENT))
    if len(bad):
        k, j = bad[0].tolist()
        raise InputError(f"point {k}: {what} of {joints[j]} is {rows[k, j]:g}")
    return rows


class Tolerances:
    """How far joints may be from a path; 0 or infinite: anywhere.

    Parameters
    ----------
    joints : in order.
    default : rad or m.
    sent : `JointTolerance`s: 0 leaves the default, a negative one takes it away.
    """

    def __init__(self, joints: Sequence[str], default: float, sent: Sequence[Any] = ()) -> None:
        self._joints = tuple(joints)
        size = len(self._joints)
        self._most = {one: np.full(size, math.inf) for one in ("position", "velocity")}
        self._most["position"][:] = default or math.inf
        for tolerance in sent:
            if tolerance.name not in self._joints:
                raise InputError(f"a tolerance is for {tolerance.name!r}, which does not move")
            k = self._joints.index(tolerance.name)
            for what, most in self._most.items():
                number = getattr(tolerance, what)
                if math.isnan(number):
                    raise InputError(f"the {what} tolerance of {tolerance.name} is nan")
                if number:
                    most[k] = number if number > 0 else math.inf

    def violation(self, wanted: State, position: Array, velocity: Array) -> str:
        """The first joint that is too far from where it is wanted, and how far; empty for none."""
        for what, apart in (("position", position - wanted[0]), ("velocity", velocity - wanted[1])):
            far = np.flatnonzero(np.abs(apart) > self._most[what])
            if len(far):
                k = int(far[0])
                return (
                    f"{what} of {self._joints[k]} is {apart[k]:+.4g} from the path, more than "
                    f"{self._most[what][k]:g}"
                )
        return ""
