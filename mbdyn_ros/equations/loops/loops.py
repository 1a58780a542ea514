"""Constraint equations of a closed loop (Jain 2010, ch. 10; Featherstone 2008, ch. 8).

A closing joint leaves some relative motions of its two frames free; each of the others is a
row K qd = 0 on the joints of the loop, with K qdd + gamma = 0 for accelerations, and a residual
phi(q) whose derivative K is wherever the loop is closed. The rows are geometry, taken relative
to the last common ancestor of the two links, whose own motion does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...model.clusters import Closure, loop_axes
from ...model.model import Pose
from ...model.tree import Tree
from ..algebra.spatial import SX, JointMotion, constant, cross
from ..tree.newton_euler import skew_square

TRANSLATION_FREE = {"prismatic": "along", "cylindrical": "along", "planar": "across"}
"""Closing joints whose frames may slide: along the axis or across it."""

ROTATION_FREE = {
    "revolute": "about",
    "cylindrical": "about",
    "planar": "about",
    "universal": "bend",
    "spherical": "all",
}
"""Closing joints whose frames may turn; the others lock them."""


def row_counts(type: str) -> tuple[int, int]:
    """How many rows of a closing joint are lengths, and how many sines of angles."""
    lengths = {"along": 2, "across": 1}.get(TRANSLATION_FREE.get(type, ""), 3)
    return lengths, {"about": 2, "bend": 1, "all": 0}.get(ROTATION_FREE.get(type, ""), 3)


@dataclass
class _Side:
    """One end of the loop: pose, velocity and drift of the frame, columns of its joints.

    All in reference axes, relative to the common ancestor. `columns` maps a body to the
    motion (angular, linear, origin) of each of its joint's coordinates.
    """

    rotation: SX
    point: SX
    spin: SX
    spin_drift: SX
    velocity: SX
    drift: SX
    columns: list[tuple[int, SX, SX, SX]]


@dataclass(frozen=True)
class LoopRows:
    """Rows of a loop over `columns` (tree velocity coordinates).

    residual : (m, 1), lengths, then sines of angles; matrix : K (m, n); drift : gamma (m, 1).
    aligned : positive where the frames are not turned by half a turn, which the residual cannot
        tell. translations : how many of the first rows are lengths.
    wrench : (6, m) force and moment of the predecessor on the successor per unit of each row's
        multiplier, about the predecessor frame's origin in its axes.
    """

    columns: list[int]
    residual: SX
    matrix: SX
    drift: SX
    aligned: SX
    translations: int
    wrench: SX


def loop_rows(tree: Tree, closure: Closure, joints: Mapping[int, JointMotion], v: SX) -> LoopRows:
    """All rows of a loop at the joints' motions and tree velocities `v`; some may be redundant."""
    paths = (closure.predecessor_path, closure.successor_path)
    frames = (closure.predecessor_frame, closure.successor_frame)
    reference = constant(loop_axes(tree, closure).T)
    one, two = (
        _side(tree, path, joints, v, reference, frame)
        for path, frame in zip(paths, frames, strict=True)
    )
    axis = closure.axis
    e1, e2 = _across(axis)
    rows: list[tuple[SX, list[SX], SX]] = []
    gap = two.point - one.point
    directions: list[SX] = []
    sides = ((one, -1.0), (two, 1.0))

    if closure.type not in TRANSLATION_FREE:
        columns = [
            sign * (linear + cross(angular, side.point - origin))
            for side, sign in sides
            for _, angular, linear, origin in side.columns
        ]
        drift = two.drift - one.drift
        for k in range(3):
            rows.append((gap[k], [column[k] for column in columns], drift[k]))
            directions.append(SX(np.eye(3)[:, k]))
    else:
        # directions fixed in the predecessor; its point that is now at the successor's origin
        columns = [
            sign * (linear + cross(angular, two.point - origin))
            for side, sign in sides
            for _, angular, linear, origin in side.columns
        ]
        carried = one.velocity + cross(one.spin, gap)
        carried_drift = (
            one.drift + cross(one.spin_drift, gap) + cross(one.spin, cross(one.spin, gap))
        )
        slide = two.velocity - carried
        drift = two.drift - carried_drift - 2 * cross(one.spin, slide)
        free_along = TRANSLATION_FREE[closure.type] == "along"
        for direction in (e1, e2) if free_along else (axis,):
            d = one.rotation @ constant(direction)
            rows.append((ca.dot(d, gap), [ca.dot(d, c) for c in columns], ca.dot(d, drift)))
            directions.append(d)
    translations = len(rows)

    turning = [sign * angular for side, sign in sides for _, angular, _, _ in side.columns]
    spin = two.spin - one.spin
    spin_drift = two.spin_drift - one.spin_drift
    relative = one.rotation.T @ two.rotation
    freedom = ROTATION_FREE.get(closure.type, "none")
    aligned = SX(1)
    if freedom == "about":
        carried_axis = relative @ constant(axis)
        aligned = ca.dot(constant(axis), carried_axis)
        seen = spin_drift - cross(one.spin, spin)
        for direction, sine in ((e1, -e2), (e2, e1)):
            d = one.rotation @ constant(direction)
            residual = ca.dot(constant(sine), carried_axis)
            rows.append((residual, [ca.dot(d, c) for c in turning], ca.dot(d, seen)))
            directions.append(d)
    elif freedom == "bend":
        pin_one, pin_two = one.rotation @ constant(e1), two.rotation @ constant(e2)
        d = cross(pin_two, pin_one)
        moving = cross(cross(two.spin, pin_two), pin_one) + cross(pin_two, cross(one.spin, pin_one))
        drift_row = ca.dot(d, spin_drift) + ca.dot(moving, spin)
        rows.append((ca.dot(pin_one, pin_two), [ca.dot(d, c) for c in turning], drift_row))
        directions.append(d)
        aligned = ca.dot(one.rotation @ constant(axis), two.rotation @ constant(axis))
    elif freedom == "none":
        error = one.rotation @ (
            0.5
            * ca.vertcat(
                relative[2, 1] - relative[1, 2],
                relative[0, 2] - relative[2, 0],
                relative[1, 0] - relative[0, 1],
            )
        )
        aligned = ca.trace(relative) - 1
        for k in range(3):
            rows.append((error[k], [c[k] for c in turning], spin_drift[k]))
            directions.append(SX(np.eye(3)[:, k]))

    coordinates = [k for side, _ in sides for k, *_ in side.columns]
    matrix = ca.vertcat(*(ca.horzcat(*columns) for _, columns, _ in rows))
    return LoopRows(
        coordinates,
        ca.vertcat(*(residual for residual, _, _ in rows)),
        matrix,
        ca.vertcat(*(drift for _, _, drift in rows)),
        aligned,
        translations,
        _wrench(one, gap, directions, translations),
    )


def _wrench(one: _Side, gap: SX, directions: Sequence[SX], translations: int) -> SX:
    """See `LoopRows.wrench`: forces act at the successor's origin, moments are free."""
    columns = []
    for k, direction in enumerate(directions):
        force = direction if k < translations else SX.zeros(3)
        moment = cross(gap, direction) if k < translations else direction
        columns.append(ca.vertcat(one.rotation.T @ force, one.rotation.T @ moment))
    return ca.horzcat(*columns)


def _side(
    tree: Tree,
    path: Sequence[int],
    joints: Mapping[int, JointMotion],
    v: SX,
    reference: SX,
    frame: Pose,
) -> _Side:
    """Follow a path outwards from the common ancestor to a loop frame."""
    rotation, point = reference, SX.zeros(3)
    spin, spin_drift, velocity, drift = (SX.zeros(3) for _ in range(4))
    columns: list[tuple[int, SX, SX, SX]] = []

    def carry(arm: SX) -> tuple[SX, SX]:
        """Velocity and drift of a point at `arm` on the body reached so far."""
        swing = cross(spin_drift, arm) + skew_square(spin) @ arm
        return velocity + cross(spin, arm), drift + swing

    for index in path:
        body, joint = tree.bodies[index], joints[index]
        arm = rotation @ joint.transform.shift
        velocity, drift = carry(arm)
        point = point + arm
        for turn in joint.transform.turns:
            rotation = rotation @ turn
        angular, linear = rotation @ joint.angular, rotation @ joint.linear
        turning, sliding = angular @ v[body.v], linear @ v[body.v]
        drift = drift + cross(2 * spin + turning, sliding)
        spin_drift = spin_drift + cross(spin, turning)
        spin, velocity = spin + turning, velocity + sliding
        for k, column in enumerate(range(body.v.start, body.v.stop)):
            columns.append((column, angular[:, k], linear[:, k], point))
    arm = rotation @ constant(frame.translation)
    velocity, drift = carry(arm)
    return _Side(
        rotation @ constant(frame.rotation), point + arm, spin, spin_drift, velocity, drift, columns
    )


def _across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed frame (e1, e2, axis)."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    e1 = np.cross(helper, axis)
    e1 /= np.linalg.norm(e1)
    return e1, np.cross(axis, e1)
