"""The efforts of a machine as a linear form: inertias, the lean of its base, and its drives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..array import Array
from ..equations import programs
from ..errors import InputError, ModelWarning, listed
from ..model.model import Inertia, Joint
from ..recording.conditioning import Motion, clipped
from ..robot import Robot
from .drives import Column, DriveColumns, Shaft, drive_columns, shafts, top_speed
from .evidence import Evidence

LARGE_LEAN, ROWS_FOR_RANK, NEWLY_EXCITED = (0.5, 0.3), 200, 1e-3
"""A lean (rad) at which the columns that only a lean excites are seen, rows that are enough for it,
and the share of a column that must be new."""


BLURRED_ROWS = 4000
"""Rows at which noise is drawn, about."""

GAINS = "gains"
"""Part of the model of drives whose gains are unknown."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A motion with what is linear there.

    regressor : (N, efforts, 10 links). leaning : (2, N, efforts, 10 links) by a unit (1 rad) of
    lean of the base about its x and y axes. known : (N, efforts) of springs that the description
    has. moving : (N, efforts) 1 where nothing that acts on an effort is at rest or clipped, and the
    filter knows both sides.
    acting : (N, efforts, terms) by 1 of every term of the drives, in the order of the columns.
    """

    motion: Motion
    drives: DriveColumns
    acting: Array
    regressor: Array
    leaning: Array
    known: Array
    moving: Array

    def scaled(self, gains: Array) -> Rows:
        """With the efforts times gains (efforts,)."""
        if (gains == 1).all():
            return self
        own, raw = self.motion.effort * gains, self.motion.raw_effort * gains
        return replace(self, motion=replace(self.motion, effort=own, raw_effort=raw))

    def shifted(self, delay: float) -> Rows:
        """With the efforts that were measured a delay (s) later."""
        if not delay:
            return self
        motion = self.motion
        effort, raw = motion.effort.copy(), motion.raw_effort - motion.effort
        for one in np.unique(motion.part):
            here = motion.part == one
            if here.sum() > 2:
                effort[here] = _late(motion.time[here], effort[here], delay)
        return replace(self, motion=replace(motion, effort=effort, raw_effort=raw + effort))


def _late(time: Array, rows: Array, delay: float) -> Array:
    """Smooth rows (N, n) at regular times a delay (s) later, by cubics (Catmull and Rom 1974)."""
    last = len(rows) - 1
    place = np.clip(np.arange(len(rows)) + delay * last / (time[-1] - time[0]), 0, last)
    start = np.floor(place).astype(int)
    f = (place - start)[:, None]
    a, b, c, d = (rows[np.clip(start + k, 0, last)] for k in (-1, 0, 1, 2))
    result: Array = b + f / 2 * (
        c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a))
    )
    return result


class LinearForm:
    """Efforts tau = A x of a robot, x by columns: standard inertias, lean, drives.

    columns : of A. tops : by shaft's name the largest speed in the motions to be explained.

    Measured in units of an unknown gain k, efforts are (A x) / k. With what is known of k they have
    the unit of efforts, and of what is left e the column is (A x) itself: (A x)(1 + e) (after
    Gautier and Briot, "Global identification of joint drive gains and dynamic parameters", 2014;
    their scale is that of a known load, ours that of all known masses).
    """

    def __init__(
        self, robot: Robot, motions: Sequence[Motion], unknown_gains: Sequence[str] = ()
    ) -> None:
        self.robot = robot
        self.base = robot.base_parameters()
        self.shafts = shafts(robot)
        self.columns = [Column(name, "inertia") for name in self.base.standard_names]
        self.lean = slice(len(self.columns), len(self.columns) + 2)
        self.columns += [Column(f"lean about {axis}", "lean") for axis in "xy"]
        self.columns += drive_columns(robot, self.shafts)
        self.gains = slice(len(self.columns), len(self.columns) + len(unknown_gains))
        self.scaled = [robot.effort_labels.index(one) for one in unknown_gains]
        self.columns += [Column(f"gain of {one}", GAINS) for one in unknown_gains]
        self._leaned = _leaned(robot)
        drives = [DriveColumns(robot, one) for one in motions]
        self.tops = {
            one.name: top_speed(drives, one) for group in self.shafts for one in group
        }  # fmt: skip
        self.rows = [self._rows(one, own) for one, own in zip(motions, drives, strict=True)]
        self._excited_by_lean = self._newly_excited()

    def add(self, motions: Sequence[Motion]) -> list[Rows]:
        """Rows of other motions."""
        return [self._rows(one, DriveColumns(self.robot, one)) for one in motions]

    def blurs(self) -> list[Evidence]:
        """Products that noise of the positions makes in the columns of inertias, by draws of it."""
        rows = sum(len(one.motion.time) for one in self.rows)
        return [self._blur(seed) for seed in range(int(np.clip(BLURRED_ROWS / rows, 2, 8)))]

    def _blur(self, seed: int) -> Evidence:
        given = []
        for one in self.rows:
            motion = one.motion
            moved = [x + more for x, more in
                     zip((motion.q, motion.v, motion.a), motion.drawn_noise(seed), strict=True)]
            off = motion.filtered(self.robot.regressor(*moved)) - one.regressor
            whole = np.zeros((*off.shape[:2], len(self.columns)))
            whole[:, :, : off.shape[2]] = np.nan_to_num(off)
            given.append((whole, np.zeros_like(one.moving), one.moving, motion.part))
        return Evidence.of(*(np.concatenate(each) for each in zip(*given, strict=True)))

    @property
    def positive(self) -> Array:
        """Columns (n,) whose parameters cannot be negative."""
        return np.array([one.positive for one in self.columns])

    def parts(self) -> list[str]:
        """Parts of the model, in order."""
        return list(dict.fromkeys(one.part for one in self.columns))

    def of_part(self, part: str) -> list[int]:
        """Columns of a part; of inertias those that are independent."""
        if part == "inertia":
            return list(self.base.independent)
        if part == "lean":
            return self._excited_by_lean + list(range(self.lean.start, self.lean.stop))
        return [k for k, one in enumerate(self.columns) if one.part == part]

    def guessed_gains(self) -> Array:
        """Gains (efforts,), unknown ones with the scatter and friction's sign that are described.
        """
        gains = np.ones(len(self.robot.effort_labels))
        for k, column in zip(self.scaled, self.columns[self.gains], strict=True):
            shaft, ratio = self.shafts[0][k], np.zeros(3)
            for one in self.rows:
                described = (one.known + one.regressor @ self.base.standard)[:, k]
                effort = one.motion.effort[:, k]
                dry = one.drives(shaft, "Coulomb", self.tops[shaft.name])[:, k]
                ratio += np.var(described), np.var(effort), np.cov(dry, effort)[0, 1]
            if not ratio[1]:
                raise InputError(f"{self.robot.model.source}: the {column.name} cannot be found: "
                                 "its efforts never change")  # fmt: skip
            gains[k] = np.copysign(np.sqrt(ratio[0] / ratio[1]), ratio[2])
        return gains

    def matrix(self, rows: Rows, lean: Array, x: Array) -> Array:
        """A (N, efforts, n) at a lean (2,) of the base; that of more lean and gains at x (n,)."""
        regressor = rows.regressor + np.tensordot(lean, rows.leaning, 1)
        more = np.moveaxis(rows.leaning @ x[: regressor.shape[-1]], 0, -1)
        linear = np.concatenate([regressor, more, rows.acting], axis=-1)
        predicted = rows.known + linear @ x[: linear.shape[-1]]
        by_gain = np.zeros((*predicted.shape, len(self.scaled)))
        by_gain[:, self.scaled, range(len(self.scaled))] = predicted[:, self.scaled]
        return np.concatenate([linear, by_gain], axis=-1)

    def _newly_excited(self) -> list[int]:
        """Standard columns that are independent of the base ones where the base leans."""
        one = self.rows[0]
        kept = slice(None, None, max(1, len(one.motion.time) // ROWS_FOR_RANK))
        leaned_rows = one.regressor[kept] + LARGE_LEAN[0] * one.leaning[0][kept]
        leaned_rows = leaned_rows + LARGE_LEAN[1] * one.leaning[1][kept]
        flat = leaned_rows.reshape(-1, leaned_rows.shape[-1])
        basis = np.linalg.qr(flat[:, list(self.base.independent)])[0]
        rest = flat - basis @ (basis.T @ flat)
        sizes, found = np.linalg.norm(flat, axis=0) + 1e-300, list[int]()
        while True:
            own = np.linalg.norm(rest, axis=0)
            own[own < NEWLY_EXCITED * sizes] = 0.0
            k = int(own.argmax())
            if not own[k]:
                return found
            found.append(k)
            direction = rest[:, k] / own[k]
            rest = rest - np.outer(direction, direction @ rest)

    def _rows(self, motion: Motion, drives: DriveColumns) -> Rows:
        q, v, a = motion.q, motion.v, motion.a
        regressor = self.robot.regressor(q, v, a)
        self._require_closed(motion, regressor)
        still = np.zeros_like(v)
        leaning = np.array([
            one.calls.kernel(programs.regressor, compiled=bool(one.calls.traced.nz))
            .batch((q, still, still), len(q))
            for one in self._leaned  # few rows, but loops are solved at each
        ]).reshape(2, *regressor.shape)  # fmt: skip
        known = self.robot.inverse_dynamics(q, v, a, friction=False)
        known = motion.filtered(known - regressor @ self.base.standard - self._armatures(drives))
        moving = motion.inner[:, None] * np.ones_like(motion.effort)
        for one in (*self.shafts[0], *self.shafts[1]):
            moving[drives.rests(one, self.tops[one.name])] = 0.0
        moving[clipped(motion.raw_effort)] = 0.0
        acting = [
            drives(one.shaft, one.term, self.tops[one.shaft.name])
            for one in self.columns if one.shaft is not None
        ]  # fmt: skip
        regressor, leaning = motion.filtered(regressor), np.array([*map(motion.filtered, leaning)])
        return Rows(motion, drives, np.stack(acting, -1), regressor, leaning, known, moving)

    def _require_closed(self, motion: Motion, regressor: Array) -> None:
        """Refuse positions that no loop reaches, with the joints that pass their limits there."""
        open_ = np.flatnonzero(~np.isfinite(regressor.sum(axis=(1, 2))))
        if not open_.size:
            return
        states = zip(
            self.robot.position_labels, motion.q[open_[0]], *self.robot.position_limits, strict=True
        )
        beyond = [f"{label} is {x:.4g}, its limits {low:g} and {high:g}"
                  for label, x, low, high in states if not low <= x <= high]  # fmt: skip
        raise InputError(
            f"{self.robot.model.source}: positions do not close its loops in {open_.size} of "
            f"{len(motion.q)} rows, first at {motion.time[open_[0]]:.3f} s"
            + (f" ({listed(beyond)})" if beyond else "")
            + ": give their units (--columns) or zeros (--zero)"
        )

    def _armatures(self, drives: DriveColumns) -> Array:
        """Efforts of armatures that the description has; found are whole ones."""
        total = np.zeros((len(drives.v), len(self.robot.effort_labels)))
        for shaft, joint in described_joints(self.robot, self.shafts[0]).items():
            total += joint.armature * drives(shaft, "armature", 1.0)
        return total


def described_joints(robot: Robot, drives: Sequence[Shaft]) -> Mapping[Shaft, Joint]:
    """The joints of shafts that are one joint each, by shaft."""
    known = {joint.name: joint for joint in robot.model.joints}
    return {one: known[one.name] for one in drives if one.name in known}


def _leaned(robot: Robot) -> list[Robot]:
    """The robot where only the gravity acts that a unit of lean about x and y adds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return [
            Robot(robot.model, robot.home, False, np.cross(axis, robot.gravity).tolist())
            for axis in np.eye(3)[:2]
        ]


def leaned(gravity: Array, lean: Array) -> Array:
    """Gravity (3,) in a base that leans by two small angles (2,)."""
    more: Array = gravity + np.cross([*lean, 0.0], gravity)
    return more * (np.linalg.norm(gravity) / max(float(np.linalg.norm(more)), 1e-300))


def massive_links(robot: Robot) -> list[slice]:
    """Columns of the links that have mass, or of the first one of a body that has none."""
    found, bodies = [], set[int]()
    place = {link: k for k, link in enumerate(robot.moving_links)}
    links = sorted(place, key=lambda link: not _mass(robot.model.link(link).inertia))
    for link in links:
        body = robot.system.tree.frames[link][0]
        if _mass(robot.model.link(link).inertia) or body not in bodies:
            found.append(place[link])
            bodies.add(body)
    return [slice(10 * k, 10 * k + 10) for k in sorted(found)]


def _mass(inertia: Inertia | None) -> float:
    return 0.0 if inertia is None else inertia.mass
