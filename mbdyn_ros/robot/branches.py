"""Other coordinates and other branches for the loops of a robot: methods of `Robot`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..array import Array
from ..equations.actuation import condition_number, joint_rates
from ..errors import ModelWarning
from ..model.model import constant
from .parameters import follow, start_calls
from .variable import variable_names

if TYPE_CHECKING:
    from .robot import Robot


def actuation_condition(self: Robot, q: Array) -> Array:
    """How near the actuators of loops are to a dead point: a condition number, () or (N,).

    Parameters
    ----------
    q : (nq,) or (N, nq).

    Returns
    -------
    1 over the least share that the actuators have in the motions of their loop: of all motions with
    the sum of squares 1, the least root of the actuators' sum of squares, lengths counting in the
    way around the loop; of several loops the worst. 1 is best, and all there is without loops. At a
    dead point, where an actuator stands still while the loop moves, it is infinite; from 1e6 on
    `inverse_dynamics` refuses (in batches: NaN), because the effort would have few digits.
    """
    rates = self.calls.call(joint_rates, (q,))
    return condition_number(self.system, rates)


def with_independent(self: Robot, joints: Sequence[str], home: Mapping[str, float]) -> Robot:
    """A copy of the robot in other coordinates: these joints independent, on `home`'s branch.

    The order of efforts stays; q, v and a follow `joints`.
    """
    model = replace(self.model, independent=tuple(joints), actuated=self.actuated_joints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # they were given for this robot
        layout = self._parameters.layout
        other = type(self)(
            model, home, self.floating_base, self.gravity.tolist(), variable_names(layout)
        )
    follow(other, self)
    return other


def with_home(self: Robot, tree_position: Array) -> Robot:
    """A copy of the robot on the branch of a closed configuration, with nothing compiled anew.

    tree_position : (nq_tree,) as `System.home`; loops with closed form stay on their branch.
    """
    other = copy.copy(self)
    home = constant(tree_position, self.system.home.shape)
    other._system = replace(self.system, home=home)
    start_calls(other, home)
    follow(other, self)
    other.home = other._home_by_name()
    other._rough = dict(other.home)
    return other
