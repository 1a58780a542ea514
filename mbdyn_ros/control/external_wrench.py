"""The wrench at one link that external efforts of joints can come from, by least squares.

External efforts r are J^T w of a force and moment w at a point of a link. With fewer than six
coordinates that move it, or at a singular pose, parts of w do no work: they cannot be told, are
zero in the result, and named. What of r no wrench at this link explains is left over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..arguments import WRENCH_LABELS, require_link, single_vector
from ..array import Array
from ..compiler.kernel import Bound
from ..equations.frames import Frame, frame_pose, jacobian
from ..errors import InputError
from ..prepare.tree import WORLD
from ..robot import Robot
from ..units import velocity_unit

LEAST_TOLD = 1e-3
"""Singular value of J^T, relative to the largest, from which a wrench can be told; moments by the
mean lever of the link, angles too."""

NAMED_SHARE = 0.01
"""Share of an axis in what cannot be told from which it is named."""


@dataclass(frozen=True, eq=False)
class ExternalWrench:
    """A wrench from outside at a point of a link, in world axes.

    Attributes
    ----------
    link : its name. point : (3,) m, where the wrench acts, in the world.
    force, torque : (3,), (3,) N and N m; parts that cannot be told are 0.
    rank : how many of its six parts (three of a force alone) are told.
    untold : (6,) share of the force and torque along each axis that cannot be told, 0 to 1.
    left : (nv,) external efforts that it does not explain.
    local : (6,) the same wrench at the link's origin in its axes, as `wrenches` have it.
    """

    link: str
    point: Array
    force: Array
    torque: Array
    rank: int
    untold: Array
    left: Array = field(repr=False)
    local: Array = field(repr=False)

    @property
    def array(self) -> Array:
        """Force and torque (6,)."""
        return np.concatenate([self.force, self.torque])

    @property
    def remark(self) -> str:
        """The parts that cannot be told, in words; empty where all can."""
        named = [
            f"{label} ({share:.0%})" if share < 1 - NAMED_SHARE else label
            for label, share in zip(WRENCH_LABELS, self.untold.tolist(), strict=True)
            if share > NAMED_SHARE
        ]
        return f"link {self.link} cannot tell {', '.join(named)}" if named else ""


class WrenchEstimator:
    """The wrench at a point of a link whose efforts come nearest to external ones, call by call.

    Parameters
    ----------
    point : (3,) m, of the link, in its axes. moment : whether torques count; without, it is a force
        alone, which fewer joints can tell.

    Raises
    ------
    InputError
        There is no such link, or it is fixed to the world; from the methods: no joint moves the
        point.

    Examples
    --------
    >>> import mbdyn_ros
    >>> arm = mbdyn_ros.example("ur5")
    >>> q = [0.0, -1.2, 1.4, -0.6, 1.1, 0.3]
    >>> efforts = arm.jacobian(q, "tool0").T @ [0.0, 0.0, -9.0, 0.0, 0.0, 0.0]
    >>> WrenchEstimator(arm, "tool0").at(q, efforts).force.round(6) + 0.0
    array([ 0.,  0., -9.])
    """

    def __init__(
        self,
        robot: Robot,
        link: str,
        point: Array | Sequence[float] = (0.0, 0.0, 0.0),
        moment: bool = True,
    ) -> None:
        self.link = link = require_link(robot.system.tree, link, robot.model.source)
        self._source, self._parts = robot.model.source, 6 if moment else 3
        if robot.system.tree.frames[link][0] == WORLD:
            raise InputError(f"{self._source}: link {link!r} is fixed to the world, and tells "
                             "nothing of what pushes it; name a link that moves")  # fmt: skip
        self._point = single_vector("point", point, ("x", "y", "z"))
        self._jacobian = Bound(robot.calls.kernel(jacobian, Frame(link, "world")))
        self._pose = Bound(robot.calls.kernel(frame_pose, link))
        labels = robot.velocity_labels
        self._turning = np.array([velocity_unit(robot.model, one) != "m/s" for one in labels])

    def local(self, q: Array, external: Array) -> Array:
        """The wrench (6,) at the link's origin in its axes, as `wrenches` have it."""
        return self._solve(q, external).local

    def at(self, q: Array, external: Array) -> ExternalWrench:
        """The wrench, and what of it cannot be told."""
        found = self._solve(q, external)
        (force, torque), told, untold = found.wrench, found.told, np.zeros(6)
        untold[: self._parts] = 1 - (told**2).sum(axis=0)
        left = external - force @ found.linear - torque @ found.angular
        return ExternalWrench(
            self.link, found.point, force, torque, len(told), untold.clip(0, 1), left, found.local
        )

    def _solve(self, q: Array, external: Array) -> _Least:
        columns, pose = self._jacobian, self._pose
        columns.q[:] = pose.q[:] = q
        columns()
        pose()
        turn, origin = pose.result[:3, :3].copy(), pose.result[:3, 3]
        linear, angular = columns.result[:3], columns.result[3:].copy()
        arm = turn @ self._point
        x, y, z = arm.tolist()
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        linear = linear - cross @ angular
        spun, moved = math.sqrt(np.vdot(angular, angular)), math.sqrt(np.vdot(linear, linear))
        lever = moved / spun if spun > 0 and moved > 0 else 1.0
        # As the link feels them: efforts of joints that turn over the lever, and torques too.
        rows = np.where(self._turning, 1 / lever, 1.0)
        scaled = np.concatenate([linear, lever * angular]).T[:, : self._parts] * rows[:, None]
        left, singular, right = np.linalg.svd(scaled, full_matrices=False)
        count = int(np.count_nonzero(singular > LEAST_TOLD * singular[0])) if singular[0] else 0
        if not count:
            raise InputError(f"{self._source}: no joint moves the point of link {self.link!r}")
        told = right[:count]
        wrench = np.zeros((2, 3))
        share = ((rows * external) @ left[:, :count]) / singular[:count]
        wrench.ravel()[: self._parts] = share @ told
        wrench[1] *= lever
        local = wrench @ turn
        a, b, c = self._point.tolist()
        x, y, z = local[0].tolist()
        local[1] += b * z - c * y, c * x - a * z, a * y - b * x
        return _Least(wrench, told, linear, angular, origin + arm, local.ravel())


class _Least(NamedTuple):
    """A least-squares solution: the wrench (2, 3) about the point, in the world; directions of it
    that are told (k, 6), in units of force; velocities of the point (3, nv), (3, nv); and that
    point (3,)."""

    wrench: Array
    told: Array
    linear: Array
    angular: Array
    point: Array
    local: Array


def wrench_at(
    robot: Robot,
    q: Array,
    external: Array,
    link: str,
    point: Array | Sequence[float] = (0.0, 0.0, 0.0),
    moment: bool = True,
) -> ExternalWrench:
    """The wrench at a link whose efforts come nearest to `external` (nv,) at q.

    Arguments and errors are those of `WrenchEstimator`, which is quicker call after call.
    """
    return WrenchEstimator(robot, link, point, moment).at(q, external)
