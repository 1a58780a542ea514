"""Arrows in a scene: vectors of a bounded length, and the forces in the joints of a robot."""

from __future__ import annotations

import math

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ..figure import Color
from .scene import ORIGIN, Arrows, Item

ARROW_SHARE = 0.3
"""The arrow of the largest force, as a share of the subject's size."""

THICK = 0.009
"""Radius of an arrow's shaft, as a share of the subject's size."""

FORCE_COLOR: Color = (0.25, 0.03, 0.33, 1.0)
"""Dark, because arrows are lit from all sides."""


def arrow_vector(vector: Array, longest: float = math.inf) -> tuple[Array, float]:
    """The vector (3,) of an arrow, shortened where it is too long, and its length before that.

    Parameters
    ----------
    longest : length of an arrow, in the unit of `vector`.

    Examples
    --------
    >>> arrow_vector(np.array([0.0, 3.0, 4.0]), longest=1.0)
    (array([0. , 0.6, 0.8]), 5.0)
    """
    length = float(np.linalg.norm(vector))
    return (vector * (longest / length) if length > longest else vector), length


def joint_arrows(
    robot: Robot, size: float, q: Array, v: Array, a: Array
) -> tuple[list[Item], float]:
    """Arrows where joints push the links that they carry, loops included.

    Parameters
    ----------
    size : of the robot, m.

    Returns
    -------
    list of Item
    float
        The largest of the forces, N.
    """
    wrenches = robot.joint_wrenches(q, v, a)
    places = {joint.name: (joint.child, ORIGIN) for joint in robot.model.joints if joint.nv}
    places |= {loop.name: (loop.predecessor, loop.predecessor_frame) for loop in robot.model.loops}
    forces = {name: wrenches[name][:3] for name in places if name in wrenches}
    most = max((float(np.linalg.norm(one)) for one in forces.values()), default=0.0)
    full = ARROW_SHARE * size / (most or 1.0)
    arrows = [
        Item(
            f"force_in_{name}", places[name][0],
            Arrows(np.stack([np.zeros(3), full * force])[None], THICK * size), FORCE_COLOR,
            places[name][1], group="forces",
        )
        for name, force in forces.items()
    ]  # fmt: skip
    return arrows, most
