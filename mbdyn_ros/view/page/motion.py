"""A motion that a page plays: of one coordinate, or one that was recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot


@dataclass(frozen=True, eq=False)
class RobotMotion:
    """Positions of a robot over time, and the efforts that go with them; N instants.

    Attributes
    ----------
    time : (N,), s, from 0. q, v, a : (N, nq), (N, nv), (N, nv).
    position : (N, n) of all joints. gravity, effort : (N, n), N m or N; None where the actuated
        joints do not determine the motion.
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    a: Array
    position: Array
    gravity: Array | None
    effort: Array | None

    @property
    def period(self) -> float:
        """How long it takes, s."""
        return float(self.time[-1])

    def at(self, share: float) -> tuple[Array, Array, Array]:
        """Position (nq,), velocity and acceleration (nv,) where a share of the period passed."""
        k, part = self._place(share)
        v, a = ((1 - part) * one[k - 1] + part * one[k] for one in (self.v, self.a))
        return self.robot.interpolate(self.q[k - 1], self.q[k], part), v, a

    def effort_at(self, share: float) -> Array | None:
        """Efforts (n,) there, where they are known."""
        if self.effort is None:
            return None
        k, part = self._place(share)
        before, after = self.effort[k - 1 : k + 1]
        return (1 - part) * before + part * after

    def _place(self, share: float) -> tuple[int, float]:
        """The row after a share of the period, and the fraction of its interval, 0 to 1."""
        instant = share * self.period
        k = min(int(np.searchsorted(self.time, instant, side="right")), len(self.time) - 1)
        before, after = self.time[k - 1 : k + 1]
        return k, min(max(float((instant - before) / (after - before)), 0.0), 1.0)


def recorded(
    robot: Robot, time: Array, q: Array, v: Array, a: Array, effort: Array | None = None
) -> RobotMotion:
    """A motion that was recorded.

    Parameters
    ----------
    time : (N,), s, rising. q, v, a : (N, nq), (N, nv), (N, nv).
    effort : (N, n) that were recorded; else those of inverse dynamics.

    Raises
    ------
    InputError
        Fewer than two instants, times that do not rise, or a position whose loops do not close.
    """
    if len(time) < 2 or not np.isfinite(time).all() or (np.diff(time) <= 0).any():
        raise InputError(
            f"{robot.model.source}: a recording has two instants or more, and its time rises from "
            "row to row"
        )
    position = robot.joint_state(q)[0]
    open_rows = np.flatnonzero(~np.isfinite(position).all(axis=-1))
    if open_rows.size:
        robot.joint_state(q[open_rows[0]])  # says why
    gravity = None
    if len(robot.effort_labels) >= robot.nv:
        still = np.zeros_like(v)
        gravity = robot.inverse_dynamics(q, still, still)
        effort = robot.inverse_dynamics(q, v, a) if effort is None else effort
    return RobotMotion(robot, time - time[0], q, v, a, position, gravity, effort)
