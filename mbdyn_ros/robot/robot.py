"""The object users hold: a robot's model and its compiled equations."""

from __future__ import annotations

from ..errors import InputError, shown
from .base_parameters import Regression
from .branches import Branches
from .editing import Editing
from .export import Exports
from .formulas import Programs
from .inverse_kinematics import InverseKinematics
from .parameters import Parametrized
from .report import Reports
from .rollout import Rollouts
from .saving import Saving
from .wrenches import JointWrenches


class Robot(
    Regression,
    JointWrenches,
    InverseKinematics,
    Parametrized,
    Rollouts,
    Branches,
    Editing,
    Programs,
    Exports,
    Saving,
    Reports,
):
    """Exact dynamics of one robot.

    Positions q, velocities v and accelerations a follow `independent_joints` (rad or m), behind
    the base's coordinates where the base floats: q = [x y z qx qy qz qw, joints] and
    v = [linear, angular velocity in base axes, joints]. Efforts (N m or N) follow
    `actuated_joints`, behind the base's wrench. Arrays are NumPy; each may have a leading batch
    dimension N, and the result then has it too. Arrays of other types or not contiguous are
    copied once. Methods write their arrays into `out` on request. Methods may be called from
    several threads.

    Attributes
    ----------
    model : the description, as read.
    joint_names : all movable joints, in document order.
    independent_joints, dependent_joints, actuated_joints : subsets of them.
    nq, nv : numbers of position and velocity coordinates.
    position_labels, velocity_labels : a name for each coordinate of q and v.
    gravity : (3,) m/s^2.
    warnings : what looks wrong in the description but could be computed.
    home : closed configuration by joint name (rad or m) that fixes the assembly branch.
    effort_labels : a name for each effort.
    massless_links : links that can move without moving mass; forward dynamics is refused then.
    """


def checked_robot(value: object) -> Robot:
    """Return `value`, refused where it is not a robot."""
    if not isinstance(value, Robot):
        raise InputError(f"robot must be a Robot, such as load(file) gives; it is {shown(value)}")
    return value
