"""Where the links of a robot are: the methods of `Robot` that say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arguments import require_link
from ..array import Array
from ..equations import programs

if TYPE_CHECKING:
    from .robot import Robot


def frame_pose(self: Robot, q: Array, link: str, out: Array | None = None) -> Array:
    """Homogeneous matrix (4, 4) or (N, 4, 4) of a link's frame in the world."""
    known = require_link(self.system.tree, link, self.model.source)
    return self.calls.call(programs.frame_pose, (q,), link=known, out=out)


def jacobian(self: Robot, q: Array, link: str, out: Array | None = None) -> Array:
    """Jacobian (6, nv) or (N, 6, nv) of a link's origin.

    Rows: linear velocity of the origin, then angular velocity, both in world axes; times v.
    """
    known = require_link(self.system.tree, link, self.model.source)
    return self.calls.call(programs.jacobian, (q,), link=known, out=out)
