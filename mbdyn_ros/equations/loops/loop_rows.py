"""Constraint equations of a closed loop (Jain 2010, ch. 10; Featherstone 2008, ch. 8).

A closing joint leaves some relative motions of its two frames free; each of the others is a
row K qd = 0 on the joints of the loop, with K qdd + gamma = 0 for accelerations, and a residual
phi(q) whose derivative K is wherever the loop is closed. The rows are geometry, taken relative
to the last common ancestor of the two links, whose own motion does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...model.closing_types import Rotation, Translation
from ...model.model import Pose
from ...model.pose import across
from ...prepare.clusters import Closure, loop_axes
from ...prepare.tree import Tree
from ..algebra.spatial import SX, JointMotion, constant, cross, inlined
from ..tree.newton_euler import skew_square


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
        detect.
    wrench : (6, m) force and moment of the predecessor on the successor per unit of each row's
        multiplier, about the predecessor frame's origin in its axes.
    """

    columns: list[int]
    residual: SX
    matrix: SX
    drift: SX
    aligned: SX
    wrench: SX


@dataclass(frozen=True)
class _Row:
    """One row: its residual, its entry for each joint, its drift, and where its force acts."""

    residual: SX
    entries: list[SX]
    drift: SX
    direction: SX


def loop_rows(tree: Tree, closure: Closure, joints: Mapping[int, JointMotion], v: SX) -> LoopRows:
    """All rows of a loop at the joints' motions and tree velocities `v`; some may be redundant."""
    reference = constant(loop_axes(tree, closure).T)
    one, two = (_side(tree, path, joints, v, reference, frame) for path, frame in closure.ends)
    closing = closure.closing
    held = _held_point(one, two)
    if closing.slide is not Translation.NOWHERE:
        axes = (closure.axis,) if closing.slide is Translation.ACROSS else across(closure.axis)
        held = _held_directions(one, two, axes)
    turning, aligned = TURNING[closing.turn](one, two, closure.axis)
    rows = [*held, *turning]
    return LoopRows(
        [k for side in (one, two) for k, *_ in side.columns],
        ca.vertcat(*(row.residual for row in rows)),
        ca.vertcat(*(ca.horzcat(*row.entries) for row in rows)),
        ca.vertcat(*(row.drift for row in rows)),
        aligned,
        _wrench(one, two.point - one.point, [row.direction for row in rows], len(held)),
    )


def _held_point(one: _Side, two: _Side) -> list[_Row]:
    """Both origins are one point."""
    gap, drift = two.point - one.point, two.drift - one.drift
    columns = [
        sign * (linear + cross(angular, side.point - origin))
        for side, sign in ((one, -1.0), (two, 1.0))
        for _, angular, linear, origin in side.columns
    ]
    return [
        _Row(gap[k], [column[k] for column in columns], drift[k], SX(np.eye(3)[:, k]))
        for k in range(3)
    ]


def _held_directions(one: _Side, two: _Side, directions: Sequence[np.ndarray]) -> list[_Row]:
    """The origins do not part along directions fixed in the predecessor.

    What moves with the predecessor is its point that is now at the successor's origin.
    """
    gap = two.point - one.point
    columns = [
        sign * (linear + cross(angular, two.point - origin))
        for side, sign in ((one, -1.0), (two, 1.0))
        for _, angular, linear, origin in side.columns
    ]
    carried = one.velocity + cross(one.spin, gap)
    carried_drift = one.drift + cross(one.spin_drift, gap) + cross(one.spin, cross(one.spin, gap))
    slide = two.velocity - carried
    drift = two.drift - carried_drift - 2 * cross(one.spin, slide)
    turned = [one.rotation @ constant(direction) for direction in directions]
    return [_Row(ca.dot(d, gap), [ca.dot(d, c) for c in columns], ca.dot(d, drift), d)
            for d in turned]  # fmt: skip


def _turning_columns(one: _Side, two: _Side) -> list[SX]:
    """How each joint turns the successor against the predecessor."""
    return [
        sign * angular
        for side, sign in ((one, -1.0), (two, 1.0))
        for _, angular, _, _ in side.columns
    ]


Turning = tuple[list[_Row], SX]
"""Rows of turns that are held, and what is positive where the frames are aligned."""


def _turns_about(one: _Side, two: _Side, axis: np.ndarray) -> Turning:
    """The axes of both frames stay parallel."""
    e1, e2 = across(axis)
    columns = _turning_columns(one, two)
    spin, spin_drift = two.spin - one.spin, two.spin_drift - one.spin_drift
    carried_axis = one.rotation.T @ two.rotation @ constant(axis)
    seen = spin_drift - cross(one.spin, spin)
    rows = []
    for direction, sine in ((e1, -e2), (e2, e1)):
        d = one.rotation @ constant(direction)
        residual = ca.dot(constant(sine), carried_axis)
        rows.append(_Row(residual, [ca.dot(d, c) for c in columns], ca.dot(d, seen), d))
    return rows, ca.dot(constant(axis), carried_axis)


def _bends(one: _Side, two: _Side, axis: np.ndarray) -> Turning:
    """A pin across the predecessor's axis stays at a right angle to one across the successor's."""
    e1, e2 = across(axis)
    pin_one, pin_two = one.rotation @ constant(e1), two.rotation @ constant(e2)
    spin, spin_drift = two.spin - one.spin, two.spin_drift - one.spin_drift
    d = cross(pin_two, pin_one)
    moving = cross(cross(two.spin, pin_two), pin_one) + cross(pin_two, cross(one.spin, pin_one))
    drift = ca.dot(d, spin_drift) + ca.dot(moving, spin)
    entries = [ca.dot(d, c) for c in _turning_columns(one, two)]
    aligned = ca.dot(one.rotation @ constant(axis), two.rotation @ constant(axis))
    return [_Row(ca.dot(pin_one, pin_two), entries, drift, d)], aligned


def _turns_nowhere(one: _Side, two: _Side, axis: np.ndarray) -> Turning:
    """Both frames have the same axes."""
    relative = one.rotation.T @ two.rotation
    error = one.rotation @ (
        0.5
        * ca.vertcat(
            relative[2, 1] - relative[1, 2],
            relative[0, 2] - relative[2, 0],
            relative[1, 0] - relative[0, 1],
        )
    )
    columns, spin_drift = _turning_columns(one, two), two.spin_drift - one.spin_drift
    rows = [
        _Row(error[k], [c[k] for c in columns], spin_drift[k], SX(np.eye(3)[:, k]))
        for k in range(3)
    ]
    return rows, ca.trace(relative) - 1


def _turns_freely(one: _Side, two: _Side, axis: np.ndarray) -> Turning:
    """Nothing is held."""
    return [], SX(1)


TURNING: dict[Rotation, Callable[[_Side, _Side, np.ndarray], Turning]] = {
    Rotation.NOWHERE: _turns_nowhere,
    Rotation.ABOUT: _turns_about,
    Rotation.BEND: _bends,
    Rotation.ALL: _turns_freely,
}


def _wrench(one: _Side, gap: SX, directions: Sequence[SX], translations: int) -> SX:
    """Wrenches of unit multipliers: forces act at the successor's origin, moments are free."""
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
        return _carried(arm, spin, spin_drift, skew_square(spin) @ arm, velocity, drift)

    for index in path:
        body, joint = tree.bodies[index], joints[index]
        arm = rotation @ joint.transform.shift
        velocity, drift = carry(arm)
        point = point + arm
        rotation = joint.transform.turned(rotation)
        angular, linear = rotation @ joint.angular, rotation @ joint.linear
        turning, sliding = angular @ v[body.v], linear @ v[body.v]
        spin, spin_drift, velocity, drift = _moved(
            turning, sliding, spin, spin_drift, velocity, drift
        )
        for k, column in enumerate(range(body.v.start, body.v.stop)):
            columns.append((column, angular[:, k], linear[:, k], point))
    arm = rotation @ constant(frame.translation)
    velocity, drift = carry(arm)
    return _Side(
        rotation @ constant(frame.rotation), point + arm, spin, spin_drift, velocity, drift, columns
    )


@inlined(3, 3, 3, 3, 3, 3)
def _carried(arm: SX, spin: SX, spin_drift: SX, pull: SX, velocity: SX, drift: SX) -> tuple[SX, SX]:
    """Velocity and drift of a point at `arm` on a body of this motion; `pull` is centripetal."""
    return velocity + cross(spin, arm), drift + (cross(spin_drift, arm) + pull)


@inlined(3, 3, 3, 3, 3, 3)
def _moved(
    turning: SX, sliding: SX, spin: SX, spin_drift: SX, velocity: SX, drift: SX
) -> tuple[SX, SX, SX, SX]:
    """Spin, its drift, velocity and its drift beyond a joint of this turning and sliding."""
    drift = drift + cross(2 * spin + turning, sliding)
    return spin + turning, spin_drift + cross(spin, turning), velocity + sliding, drift
