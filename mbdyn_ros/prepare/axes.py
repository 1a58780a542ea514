"""Frames of the bodies, chosen so that the equations are short (Denavit and Hartenberg's way).

A frame may be turned about its joint's axis and moved along it without changing the robot.
With z along the joint, x perpendicular to the next joint too, and the next origin in the xy plane,
the step from a body to the next is a turn about x and a shift across z, and most constants of the
recursions become 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.joints.motion import MotionType
from ..model.pose import Array, Pose, rotation_onto

NEARLY_PARALLEL = 1e-6
"""Sine of the angle under which two axes count as parallel, and x goes to the next origin."""

CROSSING = 0.2
"""Sine of the angle under which the common normal of two axes may be far from their bodies."""

ZERO_ENTRY = 1e-12
"""Number under which an entry of a rotation counts as 0."""

ONE_LINE = 1e-9
"""Distance (m) under which parallel axes count as one line when a direction is chosen."""


@dataclass(frozen=True)
class BodyFrame:
    """Where a body's frame stands in its first link, and the angle added to the joint's."""

    pose: Pose
    offset: float = 0.0


def body_axes(
    motions: Sequence[MotionType],
    parents: Sequence[int],
    origins: Sequence[Pose],
    axes: Sequence[Array],
) -> list[BodyFrame]:
    """Choose the frame of every body.

    Parameters
    ----------
    motions, parents : the joint's motion and parent index (-1: world) of each body, parents first.
    origins : pose of each joint in its parent's first link.
    axes : unit axis (3,) of each joint in the body's own first link.

    Returns
    -------
    One `BodyFrame` a body. Where a joint has no axis, it is the frame of the link.
    """
    count = len(motions)
    heirs = _heirs(parents)
    poses: list[Pose | None] = [None] * count
    for i in reversed(range(count)):
        if motions[i].is_hinge:
            heir = heirs[i]
            if heir is None:
                carrier = parents[i]
                hinged = carrier >= 0 and motions[carrier].is_hinge
                foot = _foot(axes[i], origins[i].inverse(), axes[carrier]) if hinged else 0.0
                poses[i] = Pose(rotation_onto(axes[i]), foot * axes[i])
            else:
                poses[i] = _facing(axes[i], motions[heir], origins[heir], axes[heir], poses[heir])

    frames: list[BodyFrame] = []
    for i in range(count):
        pose, offset = poses[i], 0.0
        parent = frames[parents[i]].pose if parents[i] >= 0 else Pose()
        if not motions[i].has_axis:
            pose = Pose()
        elif pose is None:  # a slide: as its parent stands, so that no turn is left
            upright = rotation_onto(axes[i])
            turn = origins[i].rotation.T @ parent.rotation if parents[i] >= 0 else upright
            pose = Pose(turn)
        else:
            offset = _offset((parent.inverse() @ origins[i] @ pose).rotation)
        frames.append(BodyFrame(pose, offset))
    return frames


def _heirs(parents: Sequence[int]) -> list[int | None]:
    """For each body the child that carries most bodies, to which its frame is turned."""
    size = [1] * len(parents)
    heirs: list[int | None] = [None] * len(parents)
    for i in reversed(range(len(parents))):
        parent = parents[i]
        if parent >= 0:
            size[parent] += size[i]
            heir = heirs[parent]
            if heir is None or size[i] >= size[heir]:
                heirs[parent] = i
    return heirs


def _facing(
    axis: Array, motion: MotionType, origin: Pose, heir_axis: Array, heir: Pose | None
) -> Pose:
    """Frame on `axis` with x across the heir's axis too, at the foot of the heir's origin."""
    fallback = rotation_onto(axis)[:, 0]
    if not motion.has_axis:
        return _frame(axis, fallback, np.zeros(3))
    direction = origin.rotation @ heir_axis
    point = origin.translation
    if heir is not None:
        point = (origin @ heir).translation
    foot = float(np.dot(point, axis))
    normal = np.cross(axis, direction)
    if float(np.linalg.norm(normal)) > NEARLY_PARALLEL:
        return _frame(axis, normal, foot * axis)
    aside = point - foot * axis
    if float(np.linalg.norm(aside)) > ONE_LINE:
        return _frame(axis, aside, foot * axis)
    if heir is not None:
        along = (origin @ heir).rotation[:, 0]
        return _frame(axis, along - np.dot(along, axis) * axis, foot * axis)
    return _frame(axis, fallback, foot * axis)


def _foot(axis: Array, carrier: Pose, other: Array) -> float:
    """Where the common normal to the carrier's axis `other` ends on `axis`, 0 where that is far."""
    direction = carrier.rotation @ other
    normal = np.cross(axis, direction)
    sine = float(np.linalg.norm(normal))
    if sine <= CROSSING:
        return 0.0
    return float(np.dot(np.cross(carrier.translation, direction), normal)) / sine**2


def _frame(z: Array, x: Array, origin: Array) -> Pose:
    """Right-handed frame with unit z and x along the given direction.

    A short `x`, the difference of long vectors, is perpendicular to z within its rounding only.
    """
    x = x / np.linalg.norm(x)
    x = x - np.dot(x, z) * z
    x = x / np.linalg.norm(x)
    return Pose(np.column_stack([x, np.cross(z, x), z]), origin)


def _offset(rotation: Array) -> float:
    """The angle psi of rotation = Rz(phi) Rx(alpha) Rz(psi) (rad), with phi 0 where possible."""
    sx, sy = rotation[:2, 2]
    if abs(sx) < ZERO_ENTRY:  # phi is 0, which sx and sy give the less well the less the axes turn
        return float(np.arctan2(-rotation[0, 1], rotation[0, 0]))
    cphi, sphi = np.array([-sy, sx]) / np.hypot(sx, sy)
    if cphi < 0:
        cphi, sphi = -cphi, -sphi
    # the first column of Rz(phi) Rx(alpha) is x turned by phi; psi turns it within the xy plane
    x = np.array([cphi, sphi, 0.0])
    return float(np.arctan2(-np.dot(x, rotation[:, 1]), np.dot(x, rotation[:, 0])))
