"""A motion that a page plays: of one coordinate or recorded, its stroke, and its Play button."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .page import Page


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


STROKE_POINTS = 360
"""Instants of a period; one more closes it."""

CLEARANCE = 0.02
"""Share of the reach that is left free where loops end it: dependent joints race there."""


@dataclass(frozen=True)
class Stroke:
    """One period between `low` and `high` (rad or m), s.

    There and back as the cosine; or, where it `turns`, from one to the other at constant speed.
    """

    low: float
    high: float
    period: float
    turns: bool = False

    @property
    def times(self) -> Array:
        """The instants (N,), s, from 0 to the period."""
        return np.linspace(0.0, self.period, STROKE_POINTS + 1)

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at times.

        Examples
        --------
        >>> position, velocity, acceleration = Stroke(-1.0, 1.0, 2.0).at(np.array([0.0, 1.0]))
        >>> position.tolist(), velocity.round(12).tolist()
        ([-1.0, 1.0], [0.0, 0.0])
        """
        if self.turns:
            speed = (self.high - self.low) / self.period
            return self.low + speed * time, np.full_like(time, speed), np.zeros_like(time)
        w, half = 2 * math.pi / self.period, (self.high - self.low) / 2
        return (
            self.low + half * (1 - np.cos(w * time)),
            half * w * np.sin(w * time),
            half * w * w * np.cos(w * time),
        )

    def share_at(self, value: float) -> float:
        """The share of the period at which the coordinate first has a value."""
        travelled = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return travelled if self.turns else math.acos(1 - 2 * travelled) / (2 * math.pi)


MARKS = 8.0
"""Times a second that charts, sliders and numbers follow what plays."""


class PagePlayback:
    """A motion that is repeated while the button is down.

    Attributes
    ----------
    share : of its period that has passed, 0 to 1.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.share = self._marked = 0.0
        self._button = page.gui.add_button("Play")
        self._button.on_click(self._toggle)

    def advance(self, seconds: float, period: float) -> None:
        """Go on by some seconds of a motion that takes `period` seconds."""
        self.share = (self.share + seconds / period) % 1.0

    def due(self) -> bool:
        """Whether what follows slowly should follow now; then not again for a while."""
        now = time.monotonic()
        if now - self._marked < 1 / MARKS:
            return False
        self._marked = now
        return True

    def _toggle(self, event: object) -> None:
        self._page.playing = not self._page.playing
        self._button.label = "Pause" if self._page.playing else "Play"
        self._page.changed(event)
