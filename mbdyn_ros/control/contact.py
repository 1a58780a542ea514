"""Contact seen in external efforts: thresholds from a free motion, the hit, and what it may be.

Let y_i = (r_i - c_i) / threshold_i of the external efforts r, with the centres c and thresholds of
a recorded free motion, in which they show what the model and the sensors leave. A joint sees a
contact at |y_i| > 1, all together at |y| > whole. A wrench at a link acts as J^T w: the link can
have been hit where no more of y is left outside the range of its J^T than free motion leaves
(Haddadin, De Luca and Albu-Schaffer 2017).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_numbers, positive_number
from ..array import Array
from ..errors import InputError, unknown
from ..export.headers import constant
from ..prepare.tree import WORLD
from ..robot import Robot
from .controller import STANDSTILL, Controller
from .external_wrench import LEAST_WORK

ALARM_MARGIN = 1.5
"""Thresholds over the largest number of free motion."""

DEVIATIONS = 6.0
"""Standard deviations of free motion that a threshold has at least: noise reaches that many in
2e-9 of independent samples."""

FEWEST_SAMPLES = 100
"""Samples of free motion from which thresholds can be learned."""

TOUCHLESS = 0.3
"""Share of the thresholds below which nothing touches: a hit began after the last such sample."""

LINGERING, RELEASE = (constant("contact.hpp", name) for name in ("lingering", "release"))
"""Share of the thresholds, and s below it after which a contact has ended."""


@dataclass(frozen=True, eq=False)
class Thresholds:
    """External efforts that free motion does not reach.

    labels : of the velocity coordinates. center, joint : (nv,) N m or N. whole : of |y|.
    """

    labels: tuple[str, ...]
    center: Array
    joint: Array
    whole: float

    @staticmethod
    def learn(labels: tuple[str, ...], external: Array, margin: float = ALARM_MARGIN) -> Thresholds:
        """Those of the external efforts (N, nv) of a free motion, which is like those to come.

        Raises
        ------
        InputError
            Fewer than 100 samples, numbers that are not finite, or a joint that shows nothing at
            all, so that its threshold would be zero.
        """
        rows = checked_numbers("external", external)
        margin = positive_number("margin", margin)
        if rows.ndim != 2 or rows.shape[1] != len(labels) or len(rows) < FEWEST_SAMPLES:
            raise InputError(
                f"external efforts of a free motion have shape {rows.shape}: expected "
                f"({FEWEST_SAMPLES} or more, {len(labels)})"
            )
        if not np.isfinite(rows).all():
            raise InputError("external efforts of the free motion have NaN or infinity")
        center = np.median(rows, axis=0)
        away = np.abs(rows - center)
        joint = np.maximum(margin * away.max(axis=0), DEVIATIONS * rows.std(axis=0))
        if not (joint > 0).all():
            still = labels[int(np.argmin(joint))]
            raise InputError(
                f"the external effort of {still} is constant in the free motion, which therefore "
                "sets no threshold. Record the joint while it moves"
            )
        whole = margin * float(np.linalg.norm(away / joint, axis=1).max())
        return Thresholds(labels, center, joint, whole)

    def scaled(self, external: Array) -> Array:
        """y (nv,) or (N, nv)."""
        result: Array = (external - self.center) / self.joint
        return result


@dataclass(frozen=True, eq=False)
class Contact:
    """A detected contact: its time, the joints that feel it, and links that may be touched.

    time, began : s, when it was seen, and the last instant before without a sign of it.
    joint : that shows most, and how much: y. farthest : the last joint, from the base outward, that
        shows more than free motion does.
    links : that can have been hit, from the base outward; empty where no single one explains it.
    """

    time: float
    began: float
    joint: str
    y: float
    farthest: str
    links: tuple[str, ...]

    def __str__(self) -> str:
        where = f"on or beyond {self.links[0]}" if self.links else "on more than one link"
        return f"hit at {self.time:.3f} s, {where}; {self.joint} shows most"


class ContactDetector:
    """Detects the beginning of contacts in samples of external efforts.

    Attributes
    ----------
    contact : the present one; None where nothing touches.
    """

    def __init__(self, robot: Robot, thresholds: Thresholds) -> None:
        if thresholds.labels != robot.velocity_labels:
            raise InputError(
                f"the thresholds are of {', '.join(thresholds.labels)}; the robot has "
                f"{', '.join(robot.velocity_labels)}"
            )
        self._robot, self._thresholds = robot, thresholds
        first: dict[int, str] = {}
        for link, (body, _) in robot.system.tree.frames.items():
            if body != WORLD:
                first.setdefault(body, link)
        self._links = [first[body] for body in sorted(first)]
        self.contact: Contact | None = None
        self._quiet = self._seen = math.nan

    def update(self, now: float, q: Array, external: Array) -> Contact | None:
        """The contact that begins at a time (s); None where none does, or one goes on."""
        y = self._thresholds.scaled(external)
        sizes = np.abs(y)
        largest = float(sizes.max(initial=0.0))
        if largest <= TOUCHLESS or math.isnan(self._quiet):
            self._quiet = now
        share = max(largest, math.sqrt(float(y @ y)) / self._thresholds.whole)
        if self.contact is not None:
            if share > LINGERING:
                self._seen = now
            elif now - self._seen > RELEASE:
                self.contact = None
            return None
        if share <= 1:
            return None
        self._seen = now
        labels = self._thresholds.labels
        k = int(np.argmax(sizes))
        farthest = int(np.flatnonzero(sizes >= min(1 / ALARM_MARGIN, largest))[-1])
        self.contact = Contact(
            now, self._quiet, labels[k], float(y[k]), labels[farthest], self.links(q, external)
        )
        return self.contact

    def links(self, q: Array, external: Array) -> tuple[str, ...]:
        """The links at which one wrench explains external efforts, from the base outward."""
        y, found = self._thresholds.scaled(external), []
        for link in self._links:
            columns = self._robot.jacobian(q, link).T / self._thresholds.joint[:, None]
            size = np.linalg.norm(columns, axis=0)
            basis, singular, _ = np.linalg.svd(columns / np.where(size > 0, size, 1.0))
            kept = basis[:, : len(singular)][:, singular > LEAST_WORK * max(singular[0], 1e-300)]
            if np.linalg.norm(y - kept @ (kept.T @ y)) <= self._thresholds.whole / ALARM_MARGIN:
                found.append(link)
        return tuple(found)


REACTIONS = ("stop", "float", "retract")


class Reaction:
    """The reaction of a controller to a contact, in its own modes.

    stop : it holds the joints where they are, in the mode `holding`.
    float : it gives way, in gravity compensation with its damping.
    retract : it leads the joints back along their path of the last `way` seconds, as slowly again,
        and holds them there.

    Parameters
    ----------
    holding : a mode that follows joints, with gains.
    way : s of the path that is kept.
    """

    def __init__(
        self, control: Controller, kind: str, holding: str = "joint_impedance", way: float = 0.5
    ) -> None:
        if kind not in REACTIONS:
            raise InputError(unknown("reaction", kind, REACTIONS))
        if holding not in control.modes or holding == STANDSTILL:
            raise InputError(f"mode {holding!r} holds no joints; choose joint_impedance or another")
        self.control, self.kind = control, kind
        self._mode = STANDSTILL if kind == "float" else holding
        self._way = positive_number("way", way)
        self._path: deque[tuple[float, Array]] = deque()
        self._begun: float | None = None

    def remember(self, now: float) -> None:
        """Keep the measured positions of a cycle without contact."""
        self._path.append((now, self.control.q.copy()))
        while now - self._path[0][0] > self._way:
            self._path.popleft()

    def begin(self, now: float) -> None:
        """React from this time (s) on."""
        self.control.switch(self._mode)
        self._begun = now

    def end(self) -> None:
        """React no more; the mode stays until the user switches it."""
        self._begun = None
        self._path.clear()

    def cycle(self, now: float) -> Array:
        """The controller's efforts of a time (s), led back along the path where it retracts."""
        if self.kind == "retract" and self._begun is not None and len(self._path) > 1:
            self._lead(now)
        return self.control.cycle(now)

    def _lead(self, now: float) -> None:
        """Want the joints where they were: s back in time, with s'' continuous at both ends."""
        assert self._begun is not None
        times, places = np.array([t for t, _ in self._path]), np.array([q for _, q in self._path])
        way = times[-1] - times[0]
        x = min((now - self._begun) / (2 * way), 1.0)
        back, pace = way * x**3 * (10 - x * (15 - 6 * x)), 15 * x**2 * (1 - x) ** 2
        at = times[-1] - back
        k, control = max(int(np.searchsorted(times, at)), 1), self.control
        speed = (places[k] - places[k - 1]) / (times[k] - times[k - 1])
        control.wanted_q[:] = places[k] + speed * (at - times[k])
        control.wanted_v[:] = -pace * speed
