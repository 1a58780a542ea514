"""Trajectories in other joints of the same closed loops: cylinders for angles, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_names, coordinate_array
from ..array import Array
from ..equations import programs
from ..equations.actuation import LEAST_SHARE, joint_rates
from ..errors import DeadPointError, InputError
from ..program.program import Declaration
from ..robot import Robot
from .joint_space import JointSpace
from .path_motion import UnclosedError, followed, homes_of
from .violation import Violation, first_violation

AGREEMENT = 1e-4
"""How far (rad or m, or relative) redundant joints of a trajectory may be from the others."""


@dataclass(frozen=True, eq=False)
class ConvertedTrajectory:
    """A trajectory in the requested joints.

    joints : their names. labels : of their coordinates (m,).
    position, velocity, acceleration, effort : (N, m); None where they were not given.
    violation : the first limit that is passed, in the joints given or in those asked for.
    """

    joints: tuple[str, ...]
    labels: tuple[str, ...]
    position: Array
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None
    violation: Violation | None


def convert_trajectory(
    robot: Robot,
    joints: Sequence[str],
    position: Array,
    velocity: Array | None = None,
    acceleration: Array | None = None,
    effort: Array | None = None,
    to: Sequence[str] | None = None,
) -> ConvertedTrajectory:
    """Convert a trajectory to other joints, with loops closed exactly.

    Loops with closed form stay on the branch of home; others are followed from point to point.
    Efforts become those that do the same work in every motion of the robot: of actuated joints
    among those asked for, if these reach all motions, else of all of them; where there are more
    than freedoms, those of least norm.

    Parameters
    ----------
    joints : that the numbers are of; any that determine all others, as for `MeasuredJoints`.
    position, velocity, acceleration : (N, k), one row for each point. Of redundant joints, which
        must agree, velocities and accelerations are taken from the others.
    effort : (N, k), N m or N, of the joints given.
    to : joints of the answer; all actuated ones by default.

    Raises
    ------
    InputError
        Wrong numbers, joints that do not determine the others, redundant ones that disagree, or a
        point at which loops cannot be closed; with point and joint.
    DeadPointError
        A point at which the joints asked for stand still while the robot moves, for efforts.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> convert_trajectory(mbdyn_ros.load(CART), ["rail"], [[0.1], [0.2]], to=["rail"]).position
    array([[0.1],
           [0.2]])
    """
    space = JointSpace(robot, joints)
    wanted = _Wanted(robot, robot.actuated_joints if to is None else to)
    points = [
        None if numbers is None else _points(what, numbers, space.labels)
        for what, numbers in (
            ("position", position), ("velocity", velocity), ("acceleration", acceleration),
            ("effort", effort),
        )
    ]  # fmt: skip
    x, rate, curve, force = points
    if x is None:
        raise InputError("position must be numbers (N, k); it is None")
    for what, one in zip(("velocity", "acceleration", "effort"), points[1:], strict=True):
        if one is not None and len(one) != len(x):
            raise InputError(f"there are {len(x)} positions, but of {what} {len(one)}")
    motion = _Motion(space, x)
    v = np.zeros((len(x), space.chart.nv)) if rate is None else space.v(rate)
    speeds = motion.in_chart(programs.joint_velocity, v)
    curves = None
    if curve is not None:
        curves = motion.in_chart(programs.joint_acceleration, v, space.v(curve))
    efforts = None if force is None else _efforts(motion, force, wanted)
    result = ConvertedTrajectory(
        wanted.joints,
        wanted.labels,
        motion.tree[:, wanted.rows_of(space.chart, 0)],
        None if rate is None else speeds[:, wanted.rows_of(space.chart, 1)],
        None if curves is None else curves[:, wanted.rows_of(space.chart, 1)],
        efforts,
        None,
    )
    named = [*dict.fromkeys([*space.labels, *wanted.labels])]
    every = _Wanted(robot, [*dict.fromkeys([*space.joints, *wanted.joints])])
    forces = None
    if force is not None and efforts is not None:
        forces = np.concatenate([force, efforts], axis=1)
    violation = first_violation(
        robot,
        {
            "position": (named, motion.tree[:, every.rows_of(space.chart, 0)]),
            "velocity": (named, None if rate is None else
                         speeds[:, every.rows_of(space.chart, 1)]),
            "effort": ([*space.labels, *wanted.labels], forces),
        },
    )  # fmt: skip
    return ConvertedTrajectory(**{**vars(result), "violation": violation})


def _points(what: str, numbers: Array, labels: Sequence[str]) -> Array:
    """Finite numbers (N, k); anything else is refused."""
    rows = np.atleast_2d(coordinate_array(what, numbers, labels))
    if not len(rows):
        raise InputError("the trajectory has no points")
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        point, k = bad[0].tolist()
        raise InputError(f"point {point}: {what} of {labels[k]} is {rows[point, k]}")
    return rows


class _Wanted:
    """The joints of the answer: their labels, and where the tree of a chart has them."""

    def __init__(self, robot: Robot, joints: Sequence[str]) -> None:
        self.joints = checked_names("to", joints)
        unknown = [name for name in self.joints if name not in robot.joint_names]
        if unknown or not self.joints:
            what = f"there is no joint {unknown[0]!r}" if unknown else "no joint is requested"
            raise InputError(
                f"{robot.model.source}: {what}; there are {', '.join(robot.joint_names)}"
            )
        blocks = robot.system.coordinates.joint_blocks
        self.labels = tuple(x for name in self.joints for x in blocks[name].labels()[0])
        self.driven = [k for k, label in enumerate(self.labels) if label in robot.effort_labels]
        for name in self.joints:
            if self.joints.count(name) > 1:
                raise InputError(f"{robot.model.source}: joint {name!r} is requested twice")
            if blocks[name].kind.nq != blocks[name].kind.nv:
                raise InputError(
                    f"{robot.model.source}: joint {name!r} turns by a quaternion, which no "
                    "trajectory of joints carries"
                )

    def rows_of(self, chart: Robot, kind: int) -> list[int]:
        """Tree positions (kind 0) or velocities (1) of these joints."""
        coordinates = chart.system.coordinates
        labels = coordinates.joint_rate_labels if kind else coordinates.joint_labels
        # Parts bear the same names in both.
        places = dict(zip(labels, coordinates.joint_rows[kind], strict=True))
        return [places[label] for label in self.labels]


class _Motion:
    """Points of a motion of a chart, loops closed: tree positions (N, nq_tree)."""

    def __init__(self, space: JointSpace, position: Array) -> None:
        self.space, self.chart = space, space.chart
        self.q = space.q(position)
        try:
            self.tree = followed(self.chart, self.q)
        except UnclosedError as error:
            raise InputError(f"point {error.point}: {error}") from None
        self.homes = homes_of(self.chart, self.tree)
        self._require_agreement(position)

    def in_chart(self, program: Declaration, *values: Array) -> Array:
        """Tree numbers (N, n) of a program of q and the values."""
        return self.chart.calls.along(program, (self.q, *values), self.homes)

    def _require_agreement(self, position: Array) -> None:
        """Refuse redundant joints that are not where the others put them."""
        some = self.space.redundant
        expected = self.tree[:, _Wanted(self.space.robot, self.space.joints).rows_of(self.chart, 0)]
        apart = np.abs(position - expected)[:, some]
        bad = np.argwhere(apart > AGREEMENT * np.maximum(1.0, np.abs(expected[:, some])))
        if len(bad):
            point, k = bad[0].tolist()
            label = self.space.labels[some[k]]
            raise InputError(
                f"point {point}: {label} is {position[point, some[k]]:g}, but the other joints "
                f"put it at {expected[point, some[k]]:g}; leave it out, or make them agree"
            )


def _efforts(motion: _Motion, force: Array, wanted: _Wanted) -> Array:
    """Efforts (N, m) of the joints asked for that do the work of `force` (N, k)."""
    space, chart = motion.space, motion.chart
    base = 6 * space.robot.floating_base
    rates = motion.in_chart(joint_rates)[..., base:]
    work = np.einsum("nki,nk->ni", rates[:, space.rate_rows], force)
    rows = wanted.rows_of(chart, 1)
    result = np.zeros((len(force), len(rows)))
    for acting in (wanted.driven, list(range(len(rows)))):
        reach = rates[:, [rows[k] for k in acting]]
        if reach.shape[1] < work.shape[1]:
            continue
        share = np.linalg.svd(reach, compute_uv=False)[:, work.shape[1] - 1 :].min(axis=1)
        least = LEAST_SHARE * np.abs(rates).max(axis=(1, 2))
        if (share > least).all():
            pseudo = np.linalg.pinv(np.swapaxes(reach, 1, 2))
            result[:, acting] = np.einsum("nki,ni->nk", pseudo, work)
            return result
        point = int(np.argmin(share > least))
    if len(rows) < work.shape[1]:
        raise InputError(
            f"{space.robot.model.source}: efforts of {', '.join(wanted.joints)} cannot do the work "
            f"of all {work.shape[1]} freedoms of the robot: ask for more joints"
        )
    raise DeadPointError(
        f"{space.robot.model.source}: point {point}: {', '.join(wanted.joints)} have no efforts "
        "that do the same work: one of them stands still there while the robot moves, or the "
        "robot has a freedom that moves none of them"
    )
