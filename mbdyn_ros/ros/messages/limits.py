"""The limits of a robot's joints: what references are held to, and where efforts are clamped."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...compiler.kernel import MANY
from ...errors import InputError, MbdynError
from ...model.model import Array
from ...motion.reference import Reference
from ...robot import Robot
from .layout import DEPENDENT_AGREEMENT
from .named_numbers import effort_blocks


class EffortLimits:
    """Clamps efforts (n,) to `<limit effort>` of each joint.

    Attributes
    ----------
    bound : (n,) greatest effort; infinite where the description has none.
    enforced : whether `clamp` does anything.
    without_effort : joints whose limit is zero, which cannot be driven.
    """

    def __init__(self, robot: Robot, enforced: bool = True) -> None:
        self.enforced = enforced
        self._labels = robot.effort_labels
        self.bound = np.full(len(self._labels), math.inf)
        for name, place in effort_blocks(robot).items():
            if name in robot.actuated_joints:
                self.bound[place] = robot.model.joint(name).limits.effort
        self.without_effort = [
            label for label, bound in zip(self._labels, self.bound, strict=True) if bound == 0
        ]
        self._low, self._scratch = -self.bound, np.zeros(len(self.bound))
        self._wanted = np.zeros(len(self.bound))

    @property
    def held_to(self) -> Array:
        """Greatest efforts (n,) that are enforced."""
        return self.bound if self.enforced else np.full(len(self.bound), math.inf)

    def clamp(self, effort: Array) -> None:
        """Clamp in place."""
        if not self.enforced:
            return
        np.abs(effort, out=self._scratch)
        np.maximum(self._scratch, self._wanted, out=self._wanted)
        np.minimum(effort, self.bound, out=effort)
        np.maximum(effort, self._low, out=effort)

    def report(self) -> list[str]:
        """The efforts clamped since the last report: joint, wanted and allowed effort."""
        wanted, bounds = self._wanted.tolist(), self.bound.tolist()
        self._wanted[:] = 0.0
        return [
            f"{label} ({most:.4g} wanted, {bound:g} allowed)"
            for label, most, bound in zip(self._labels, wanted, bounds, strict=True)
            if most > bound
        ]


LEEWAY = 1e-3
"""Part of a velocity or effort limit by which it may be exceeded."""

EFFORT_STRIDE = 4
"""Samples between two points of which one has its efforts computed."""


class ReferenceLimits:
    """`<limit>` of all joints of one coordinate, the dependent ones too.

    A velocity limit of 0 is none: descriptions give it where it is unknown.

    Parameters
    ----------
    robot : without quaternions.
    efforts : (n,) greatest efforts; infinite where they do not matter.
    computed : whether a motion is refused for the efforts that inverse dynamics finds for it.
    """

    def __init__(
        self, robot: Robot, efforts: Array | float = math.inf, computed: bool = False
    ) -> None:
        self._robot, self._efforts, self._computed = robot, efforts, computed
        coordinates = robot.system.coordinates
        self._labels, self._rates = coordinates.joint_labels, coordinates.joint_rate_labels
        self._direct = self._labels == robot.position_labels
        size = len(self._labels)
        self._low, self._high = np.full(size, -math.inf), np.full(size, math.inf)
        self._speed = np.full(len(self._rates), math.inf)
        for name, block in coordinates.joint_blocks.items():
            if block.kind.nv != 1:
                continue
            limits = robot.model.joint(name).limits
            if not block.kind.is_endless:
                self._low[block.q], self._high[block.q] = limits.lower, limits.upper
            self._speed[block.v] = limits.velocity or math.inf

    def require(self, reference: Reference, present: Array | None = None, where: str = "") -> None:
        """Refuse a motion that leaves the limits, at its points or between them.

        Parameters
        ----------
        present : (nq,) measured positions: a joint that is beyond a limit may come back.
        where : begins the words of a refusal.

        Raises
        ------
        InputError
            The joint, the number, its time and its limit.
        """
        low, high = self._low, self._high
        if present is not None:
            now, _ = self._all_joints(present[None], np.zeros((1, self._robot.nv)))
            low, high = np.minimum(low, now[0]), np.maximum(high, now[0])
        labels, rates, speed = self._labels, self._rates, self._speed
        for times, q, v, a in reference.samples():
            positions, velocities = self._all_joints(q, v)
            _require(where + "position", labels, times, positions, low, high, DEPENDENT_AGREEMENT)
            _require(where + "velocity", rates, times, velocities, -speed, speed, LEEWAY * speed)
            if self._computed:
                some = slice(None, None, EFFORT_STRIDE)
                efforts = self._robot.inverse_dynamics(q[some], v[some], a[some])
                require_answers(self._robot, q[some], v[some], a[some], efforts, where)
                self.require_efforts(times[some], efforts, where)

    def require_efforts(self, times: Array, efforts: Array, where: str = "") -> None:
        """Refuse efforts (N, n) at some times that are beyond the limits."""
        labels = self._robot.effort_labels
        most = np.broadcast_to(self._efforts, len(labels))
        _require(where + "effort", labels, times, efforts, -most, most, LEEWAY * most)

    def prepare(self) -> None:
        """Compile what `require` calls: it would take long when a reference waits."""
        # As many states as vectors serve: these programs are compiled at their first use.
        q = np.tile(self._robot.home_position, (MANY, 1))
        rest = np.zeros((MANY, self._robot.nv))
        self._all_joints(q, rest)
        if self._computed:
            self._robot.inverse_dynamics(q, rest, rest)

    def _all_joints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions and velocities (N, n) of all joints."""
        if self._direct:
            return q, v
        positions, velocities, _ = self._robot.joint_state(q, v)
        assert velocities is not None
        return positions, velocities


def _require(
    what: str,
    labels: Sequence[str],
    times: Array,
    found: Array,
    low: Array,
    high: Array,
    slack: Array | float,
) -> None:
    """Refuse numbers (N, n) outside limits (n,), or that are not finite, by label and time."""
    bad = np.argwhere(~((found >= low - slack) & (found <= high + slack) & np.isfinite(found)))
    if not len(bad):
        return
    row, k = bad[0].tolist()
    number, limits = found[row, k], f"{low[k] + 0.0:.6g} to {high[k]:.6g}"
    why = f"outside its limits {limits}" if math.isfinite(number) else "from too large a number"
    raise InputError(f"{what} of {labels[k]} is {number:.6g} at {times[row]:.4g} s, {why}")


def require_answers(
    robot: Robot, q: Array, v: Array, a: Array, efforts: Array, where: str = ""
) -> None:
    """Refuse states (N, n) whose efforts (N, n) are not finite, as at dead points of actuators.

    where : begins the words; "{}" in it is the number of the state.

    Raises
    ------
    InputError
        What `inverse_dynamics` says of the first of them.
    """
    for k in np.flatnonzero(~np.isfinite(efforts).all(axis=1))[:1].tolist():
        try:
            robot.inverse_dynamics(q[k], v[k], a[k])
        except MbdynError as error:
            raise InputError(f"{where.format(k)}{error}") from None
