"""From one choice of coordinates to another: the robot stays where it is and moves as it does."""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...equations import programs
from ...equations.position_rate import motion_rate
from ...errors import MbdynError
from ...robot import Robot
from ..velocity_map import VelocityMap

SAME_CONFIGURATION = 1e-6
"""Distance (rad or m) of joints that are at the same place, on the same branch.

Loops are closed to 1e-12, which near a dead centre, at a quality of 1e-4, may be 1e-8 in the
joints. Where coordinates change the branches are 1e-2 and more apart.
"""

SIMULATED = (
    programs.joint_position,
    programs.joint_velocity,
    programs.joint_acceleration,
    programs.energy,
    programs.forward_dynamics,
    motion_rate,
)
"""Programs that simulations run."""


def same_place(one: Array, other: Array) -> bool:
    """Whether joints are at the same place; NaN is nowhere."""
    return bool(np.abs(one - other).max(initial=0.0) < SAME_CONFIGURATION)


def closes(robot: Robot, tree_position: Array) -> bool:
    """Whether a robot's loops close at tree positions, on its branch and with these turns."""
    q = tree_position[list(robot.system.coordinates.q)]
    try:
        found = robot.calls.call(programs.joint_position, (q,))
    except MbdynError:
        return False
    return same_place(found, tree_position)


def with_joints(robot: Robot, joints: list[str], tree_position: Array) -> Robot:
    """The robot with other independent joints, at home where it stands now."""
    coordinates = robot.system.coordinates
    places = zip(coordinates.joint_labels, coordinates.joint_rows[0], strict=True)
    names = set(robot.joint_names)
    home = {label: float(tree_position[row]) for label, row in places if label in names}
    other = robot.with_independent(joints, home)
    if robot.system.nz:  # which takes seconds, so it is done side by side
        other.calls.load(*((one,) for one in SIMULATED if robot.calls.has(one)))
    return other


def translated_velocity(robot: Robot, other: Robot, tree_position: Array, v: Array) -> Array:
    """Velocities (nv,) of `other` that move the joints as v (nv,) of `robot` does."""
    directions = VelocityMap(other).at(tree_position[list(other.system.coordinates.q)])
    own: Array = directions[list(robot.system.coordinates.v)]
    return np.asarray(np.linalg.solve(own, v), dtype=np.float64)
