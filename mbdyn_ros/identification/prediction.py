"""Residuals of measured poses and joints, as functions of the numbers of a robot's origins.

The frame M of the measurement and every target T are links on fixed joints. So what is found of
them are numbers of origins too, near zero: M is counted from a first guess, the turn of T likewise.
A row's residuals are, for every target, R_M^T (p_T - p_M) less the measured place (m), and the
rotation vector of R_measured^T R_M^T R_T (rad); then of every joint read that follows in a loop its
position less the reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..equations.frames import frame_pose
from ..equations.parameter_derivatives import (
    frame_pose_by_parameters,
    joint_position_by_parameters,
)
from ..equations.programs import joint_position
from ..errors import InputError
from ..model.pose import Pose
from ..program.program import Declaration
from ..robot import Robot
from ..units import position_unit
from .measured_poses import MeasuredPoses, Target

MEASUREMENT = "measurement"
"""Name of the link and joint of the measurement's frame."""

POSITION, ORIENTATION = "position", "orientation"
"""Kinds of residuals of targets; those of joints are called as these."""

POSES = frame_pose, frame_pose_by_parameters

MOST_INTERPRETED = 2000
"""Rows from which a compiled program is worth its compilation."""

SMALLEST_SIZE = 1e-3
"""Length (m) of a robot whose origins that vary are all in one point."""

ALTERNATIONS = 30
"""How often frames are guessed from targets and targets from frames."""


def target_joint(name: str) -> str:
    """Name of the link and joint of a target."""
    return f"target {name}"


@dataclass(frozen=True, eq=False)
class FirstFrames:
    """Frames from which those of measurement and targets are counted.

    measurement : its frame in the world. targets : place and turn by name, in their links.
    """

    measurement: Pose
    targets: Mapping[str, Pose]


class Prediction:
    """Residuals (N, m) and their derivatives (N, m, p) at numbers (p,) of origins.

    kinds : (m,) of a row's residuals. size : longest length (m) to an origin that varies.
    """

    def __init__(self, robot: Robot, measured: MeasuredPoses, frames: FirstFrames) -> None:
        self.robot, self.measured, self.frames = robot, measured, frames
        self._place = frames.measurement.rotation, frames.measurement.translation
        self._last: tuple[bytes, tuple[Array, Array]] | None = None
        frames_added = {MEASUREMENT, *(target_joint(one.name) for one in measured.targets)}
        lengths = [
            float(np.linalg.norm(robot.system.origins[name].pose.translation))
            for name in robot.variable_origins
            if name not in frames_added
        ]
        self.size = max(SMALLEST_SIZE, *lengths)
        coordinates = robot.system.coordinates
        rows = dict(zip(coordinates.joint_labels, coordinates.joint_rows[0], strict=True))
        self._rows = [rows[label] for label in measured.readings]
        bodies = {body.q.start: body for body in robot.system.tree.bodies}
        self._turning = np.array([bodies[row].motion.is_periodic for row in self._rows], dtype=bool)
        kinds: list[str] = []
        for one in measured.targets:
            kinds += [POSITION] * 3 + [ORIENTATION] * 3 * (one.rotation is not None)
        self.kinds = (*kinds, *measured.readings)

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Residuals and derivatives; NaN where loops cannot be closed."""
        if self._last is None or self._last[0] != x.tobytes():
            self._last = x.tobytes(), self._at(x)
        return self._last[1]

    def _at(self, x: Array) -> tuple[Array, Array]:
        count = len(self.measured.q)
        try:
            self.robot.set_parameter_values(x)
        except InputError:
            shape = count, len(self.kinds)
            return np.full(shape, np.nan), np.full((*shape, len(x)), np.nan)
        residuals, derivatives = [np.zeros((count, 0))], [np.zeros((count, 0, len(x)))]
        for one in self.measured.targets:
            for part, by_x in self._of_target(one):
                residuals.append(part)
                derivatives.append(by_x)
        if self._rows:
            position = self._numbers(joint_position)[:, self._rows]
            apart = position - np.column_stack(list(self.measured.readings.values()))
            turns = np.round(apart / (2 * np.pi)) * self._turning
            residuals.append(apart - 2 * np.pi * turns)
            derivatives.append(self._numbers(joint_position_by_parameters)[:, self._rows])
        return np.concatenate(residuals, axis=1), np.concatenate(derivatives, axis=1)

    def _numbers(self, program: Declaration, about: str | None = None) -> Array:
        """Results (N, ...) of a program; of few rows without waiting for a compiler."""
        calls, q = self.robot.calls, self.measured.q
        compiled = bool(calls.traced.nz) or len(q) > MOST_INTERPRETED
        return calls.kernel(program, about, compiled=compiled).batch((q,), len(q))

    def _of_target(self, one: Target) -> list[tuple[Array, Array]]:
        """Residuals of a target, and their derivatives: its place, and its turn if measured."""
        pose, of_pose = (self._numbers(program, target_joint(one.name)) for program in POSES)
        frame, of_frame = (self._numbers(program, MEASUREMENT)[0] for program in POSES)
        turn, origin = self._place
        back = frame[:3, :3].T
        arm = pose[:, :3, 3] - frame[:3, 3]
        place = arm @ back.T - (one.position @ turn.T + origin)
        carried = np.cross(of_frame[None, 3:], arm[:, :, None], axis=1)
        found = [(place, back @ (of_pose[:, :3] - of_frame[:3] - carried))]
        if one.rotation is not None:
            from scipy.spatial.transform import Rotation  # slow to import

            measured = turn @ one.rotation @ self.frames.targets[one.name].rotation.T
            there = measured.transpose(0, 2, 1) @ back @ pose[:, :3, :3]
            vector = Rotation.from_matrix(there).as_rotvec()
            spin = pose[:, :3, :3].transpose(0, 2, 1) @ (of_pose[:, 3:] - of_frame[3:])
            found.append((vector, rotation_vector_rates(vector) @ spin))
        return found

    def unit(self, kind: str) -> str:
        """Of a kind of residual, m or rad."""
        if kind in (POSITION, ORIENTATION):
            return "m" if kind == POSITION else "rad"
        return position_unit(self.robot.model, kind)

    def distances(self, x: Array) -> dict[str, Array]:
        """By kind the size of each row's residual (N,), the root mean square of several targets."""
        residual, found = self(x)[0], {}
        for kind in dict.fromkeys(self.kinds):
            part = residual[:, [one == kind for one in self.kinds]]
            count = part.shape[1] // 3 if kind in (POSITION, ORIENTATION) else 1
            found[kind] = np.sqrt((part**2).sum(axis=1) / count)
        return found

    def found_frames(self) -> dict[str, Array]:
        """Matrices (4, 4) of the frames as they are now: the measurement's in the world, if
        something is measured in it, and targets' in their links."""
        origins, frames = self.robot.system.origins, {}
        if self.measured.targets:
            frames[MEASUREMENT] = origins[MEASUREMENT].pose @ self.frames.measurement
        for one in self.measured.targets:
            turn = Pose(self.frames.targets[one.name].rotation, np.zeros(3))
            frames[one.name] = origins[target_joint(one.name)].pose @ turn
        return {name: pose.matrix() for name, pose in frames.items()}


def rotation_vector_rates(vector: Array) -> Array:
    """Derivatives (N, 3, 3) of rotation vectors (N, 3) by a turn in the turned axes.

    The inverse of the right Jacobian of SO(3), 1 + [w]x / 2 + (1/a^2 - (1 + cos a)/(2 a sin a))
    [w]x^2 with a = |w| (Chirikjian, Stochastic Models, Information Theory, and Lie Groups 2, 2012).
    """
    angle = np.linalg.norm(vector, axis=1)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = 1 / safe**2 - (1 + np.cos(safe)) / (2 * safe * np.sin(safe))
    factor = np.where(small, 1 / 12, factor)[:, None, None]
    x, y, z = vector.T
    zero = np.zeros_like(x)
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)
    result: Array = np.eye(3) + skew / 2 + factor * (skew @ skew)
    return result


def first_frames(
    robot: Robot, measured: MeasuredPoses, measurement: Pose | None, targets: Mapping[str, Pose]
) -> FirstFrames:
    """Frames that explain the measured places well: those given, and a guess of the others.

    The measurement's is fitted to targets (Arun, Huang and Blostein 1987) and targets to it, in
    turns.
    """
    poses = {
        one.name: robot.calls.call(frame_pose, (measured.q,), about=one.link)
        for one in measured.targets
    }
    closed = np.all([np.isfinite(one).all(axis=(1, 2)) for one in poses.values()], axis=0)
    found = {one.name: targets.get(one.name, Pose()) for one in measured.targets}
    frame = measurement or Pose()
    for _ in range(ALTERNATIONS if measured.targets and closed.any() else 0):
        if measurement is None:
            there = [poses[k][:, :3, :3] @ t.translation + poses[k][:, :3, 3]
                     for k, t in found.items()]  # fmt: skip
            seen = [one.position for one in measured.targets]
            frame = aligned(*(np.concatenate([x[closed] for x in part]) for part in (seen, there)))
        for one in measured.targets:
            if one.name not in targets:
                found[one.name] = _guessed(one, poses[one.name], frame, closed)
    return FirstFrames(frame, found)


def _guessed(one: Target, pose: Array, frame: Pose, closed: Array) -> Pose:
    """The mean pose of a target in its link."""
    back = pose[closed, :3, :3].transpose(0, 2, 1)
    seen = one.position[closed] @ frame.rotation.T + frame.translation - pose[closed, :3, 3]
    place = (back @ seen[:, :, None])[:, :, 0].mean(axis=0)
    if one.rotation is None:
        return Pose(np.eye(3), place)
    return Pose(
        _nearest_rotation((back @ frame.rotation @ one.rotation[closed]).sum(axis=0)), place
    )


def aligned(seen: Array, there: Array) -> Pose:
    """The pose that carries points (n, 3) nearest to others."""
    a, b = seen.mean(axis=0), there.mean(axis=0)
    rotation = _nearest_rotation((there - b).T @ (seen - a))
    return Pose(rotation, b - rotation @ a)


def _nearest_rotation(matrix: Array) -> Array:
    u, _, vt = np.linalg.svd(matrix)
    sign = np.sign(np.linalg.det(u @ vt))
    rotation: Array = u @ np.diag([1.0, 1.0, sign]) @ vt
    return rotation
