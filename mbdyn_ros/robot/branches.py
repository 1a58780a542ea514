"""Other coordinates and other branches for the loops of a robot: methods of `Robot`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..array import Array
from ..errors import ModelWarning
from ..model.model import constant
from .calls import Calls

if TYPE_CHECKING:
    from .robot import Robot


def with_independent(self: Robot, joints: Sequence[str], home: Mapping[str, float]) -> Robot:
    """A copy of the robot in other coordinates: these joints independent, on `home`'s branch.

    The order of efforts stays; q, v and a follow `joints`.
    """
    model = replace(self.model, independent=tuple(joints), actuated=self.actuated_joints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # they were given for this robot
        return type(self)(model, home, self.floating_base, self.gravity.tolist())


def with_home(self: Robot, tree_position: Array) -> Robot:
    """A copy of the robot on the branch of a closed configuration, with nothing compiled anew.

    tree_position : (nq_tree,) as `System.home`; loops with closed form stay on their branch.
    """
    other = copy.copy(self)
    home = constant(tree_position, self.system.home.shape)
    other.system = replace(self.system, home=home)
    other._start(Calls(other.system, self.model.source))
    other.home = other._home_by_name()
    return other
