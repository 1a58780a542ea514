"""The wrench at one link that external efforts of joints can come from, by least squares.

External efforts r are J^T w of a force and moment w at a point of a link. With fewer than six
coordinates that move it, or at a singular pose, parts of w do no work: they cannot be determined,
are zero in the result, and named. What of r no wrench at this link explains is left over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arguments import WRENCH_LABELS, require_link, single_vector
from ..array import Array
from ..compiler.kernel import Bound
from ..equations.frames import frame_pose, wrench_columns
from ..errors import InputError
from ..export.headers import constant
from ..names import former_name
from ..prepare.tree import WORLD
from ..robot import Robot
from ..units import velocity_unit

LEAST_WORK = constant("external_wrench.hpp", "least")
"""Singular value of J^T, relative to the largest, from which a wrench is determined; moments by the
mean lever of the link, angles too."""

NAMED_SHARE = 0.01
"""Share of an axis in what cannot be determined from which it is named."""


@dataclass(frozen=True, eq=False)
class ExternalWrench:
    """An external wrench at a point of a link, in world axes.

    Attributes
    ----------
    link : its name. point : (3,) m, where the wrench acts, in the world.
    force, torque : (3,), (3,) N and N m; parts that cannot be determined are 0.
    rank : how many of its six parts (three of a force alone) are determined.
    undetermined : (6,) share of the force and torque along each axis that is unknown, 0 to 1.
    left : (nv,) external efforts that it does not explain.
    local : (6,) the same wrench at the link's origin in its axes, as `wrenches` have it.
    """

    link: str
    point: Array
    force: Array
    torque: Array
    rank: int
    undetermined: Array
    left: Array = field(repr=False)
    local: Array = field(repr=False)

    untold = former_name("undetermined")

    @property
    def array(self) -> Array:
        """Force and torque (6,)."""
        return np.concatenate([self.force, self.torque])

    @property
    def remark(self) -> str:
        """The parts that cannot be determined, in words; empty where all can."""
        named = [
            f"{label} ({share:.0%})" if share < 1 - NAMED_SHARE else label
            for label, share in zip(WRENCH_LABELS, self.undetermined.tolist(), strict=True)
            if share > NAMED_SHARE
        ]
        return f"link {self.link} does not determine {', '.join(named)}" if named else ""


class WrenchEstimator:
    """Least-squares estimates of the external wrench at a point of a link, call by call.

    Parameters
    ----------
    point : (3,) m, of the link, in its axes. moment : whether torques count; without, it is a force
        alone, which fewer joints can determine.

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
            raise InputError(f"{self._source}: link {link!r} is fixed to the world, and feels "
                             "nothing of what pushes it; name a link that moves")  # fmt: skip
        self._columns = Bound(robot.calls.kernel(wrench_columns, link))
        self._pose = Bound(robot.calls.kernel(frame_pose, link))
        self._columns.point[:] = single_vector("point", point, ("x", "y", "z"))
        labels = robot.velocity_labels
        self._columns.turning[:] = [velocity_unit(robot.model, one) != "m/s" for one in labels]

    def local(self, q: Array, external: Array) -> Array:
        """The wrench (6,) at the link's origin in its axes, as `wrenches` have it."""
        return self._about_origin(self._solve(q, external)[0])

    def at(self, q: Array, external: Array) -> ExternalWrench:
        """The wrench, and what of it cannot be determined."""
        wrench, determined, left = self._solve(q, external)
        self._pose.q[:] = q
        self._pose()
        turn, origin = self._pose.result[:3, :3], self._pose.result[:3, 3]
        force, torque = wrench.reshape(2, 3) @ turn.T
        axes = np.zeros((len(determined), 6))
        turned = determined.reshape(len(determined), -1, 3) @ turn.T
        axes[:, : self._parts] = turned.reshape(len(determined), -1)
        undetermined = (1 - (axes**2).sum(axis=0)).clip(0, 1)
        undetermined[self._parts :] = 0.0
        return ExternalWrench(
            self.link, origin + turn @ self._columns.point, force, torque, len(determined),
            undetermined, left, self._about_origin(wrench),
        )  # fmt: skip

    def _solve(self, q: Array, external: Array) -> tuple[Array, Array, Array]:
        """By least squares: the wrench (6,) at the point in the link's axes, the directions (k, 6)
        of it that are determined, in like sizes, and what it leaves of the efforts (nv,)."""
        self._columns.q[:] = q
        self._columns()
        table, parts = self._columns.result, self._parts
        columns, scale, lever = table[:, :parts], table[:, 6], table[0, 7]
        left, singular, right = np.linalg.svd(columns, full_matrices=False)
        count = int(np.count_nonzero(singular > LEAST_WORK * singular[0])) if singular[0] else 0
        if not count:
            raise InputError(f"{self._source}: no joint moves the point of link {self.link!r}")
        determined = right[:count]
        found = ((scale * external) @ left[:, :count] / singular[:count]) @ determined
        wrench = np.zeros(6)
        wrench[:parts] = found
        wrench[3:] *= lever
        return wrench, determined, external - columns @ found / scale

    def _about_origin(self, wrench: Array) -> Array:
        """A wrench (6,) at the point as one at the link's origin."""
        a, b, c = self._columns.point.tolist()
        x, y, z, *torque = wrench.tolist()
        arm = b * z - c * y, c * x - a * z, a * y - b * x
        return np.array([x, y, z, *map(sum, zip(torque, arm, strict=True))])


def wrench_at(
    robot: Robot,
    q: Array,
    external: Array,
    link: str,
    point: Array | Sequence[float] = (0.0, 0.0, 0.0),
    moment: bool = True,
) -> ExternalWrench:
    """The least-squares wrench at a link for the efforts `external` (nv,) at q.

    Arguments and errors are those of `WrenchEstimator`, which is quicker call after call.
    """
    return WrenchEstimator(robot, link, point, moment).at(q, external)
