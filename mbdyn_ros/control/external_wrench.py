"""The wrench at one link that external efforts of joints can come from, by least squares.

External efforts r are J^T w of a force and moment w at a point of a link. With fewer than six
coordinates that move it, or at a singular pose, parts of w do no work: they cannot be told, are
zero in the result, and named. What of r no wrench at this link explains is left over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arguments import WRENCH_LABELS, require_link, single_vector
from ..array import Array
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


def wrench_at(
    robot: Robot,
    q: Array,
    external: Array,
    link: str,
    point: Array | Sequence[float] = (0.0, 0.0, 0.0),
    moment: bool = True,
) -> ExternalWrench:
    """The wrench at a link whose efforts come nearest to `external` (nv,) at q.

    Parameters
    ----------
    point : (3,) m, of the link, in its axes. moment : whether torques count; without, it is a force
        alone, which fewer joints can tell.

    Raises
    ------
    InputError
        There is no such link, it is fixed to the world, or no joint moves the point.
    """
    link = require_link(robot.system.tree, link, robot.model.source)
    if robot.system.tree.frames[link][0] == WORLD:
        raise InputError(f"{robot.model.source}: link {link!r} is fixed to the world, and tells "
                         "nothing of what pushes it; name a link that moves")  # fmt: skip
    pose = robot.frame_pose(q, link)
    arm = pose[:3, :3] @ single_vector("point", point, ("x", "y", "z"))
    linear, angular = np.split(robot.jacobian(q, link), 2)
    linear = linear + np.cross(angular.T, arm).T
    spun, moved = np.linalg.norm(angular), np.linalg.norm(linear)
    lever = moved / spun if spun > 0 and moved > 0 else 1.0
    turning = np.array([velocity_unit(robot.model, one) != "m/s" for one in robot.velocity_labels])
    rows = np.where(turning, 1 / lever, 1.0)
    columns = np.hstack([linear.T, lever * angular.T])[:, : 6 if moment else 3] * rows[:, None]
    left, singular, right = np.linalg.svd(columns, full_matrices=False)
    told = singular > LEAST_TOLD * singular.max(initial=0.0)
    if not told.any():
        raise InputError(f"{robot.model.source}: no joint moves the point of link {link!r}")
    basis = right[told]
    found = basis.T @ ((left[:, told].T @ (rows * external)) / singular[told])
    scaled, untold = np.zeros(6), np.zeros(6)
    scaled[: len(found)] = found
    untold[: len(found)] = 1 - (basis**2).sum(axis=0)
    force, torque = scaled[:3], lever * scaled[3:]
    rest = external - linear.T @ force - angular.T @ torque
    local = np.concatenate([force, torque + np.cross(arm, force)]).reshape(2, 3) @ pose[:3, :3]
    return ExternalWrench(
        link, pose[:3, 3] + arm, force, torque, int(told.sum()), untold.clip(0, 1), rest,
        local.ravel(),
    )  # fmt: skip
