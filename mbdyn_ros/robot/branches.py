"""Other coordinates and other branches for the loops of a robot."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ..arguments import checked_home, checked_names
from ..array import Array, ArrayLike, as_numbers
from ..assembly.closure_gap import tree_gap
from ..equations.actuation import condition_number, joint_rates
from ..errors import InputError, ModelWarning, suggestion, warn
from ..model.model import Model, constant
from .core import Core
from .parameters import follow
from .variable import variable_names

if TYPE_CHECKING:
    from typing_extensions import Self

CLOSED_WITHIN = 1e-6
"""Gap (m or rad) of loops that counts as closed."""

ANOTHER_BRANCH = 1e-3
"""Distance (rad or m) of a joint from its home, from which the loops are on another branch."""

Made = TypeVar("Made", bound=Core)
"""The class of robots that is made again."""


class Branches(Core):
    """Other coordinates and other branches for loops."""

    def actuation_condition(self, q: ArrayLike) -> Array:
        """How near the actuators of loops are to a dead point: a condition number, () or (N,).

        Parameters
        ----------
        q : (nq,) or (N, nq).

        Returns
        -------
        The reciprocal of the smallest singular value of the map from normalized motions of a loop
        to the motions of its actuators, lengths counting in the way around the loop; of several
        loops the worst. 1 is best, and all there is without loops. At a dead point, where an
        actuator stands still while the loop moves, it is infinite; from 1e6 on `inverse_dynamics`
        refuses (in batches: NaN), because the effort would have few digits.
        """
        rates = self.calls.call(joint_rates, (q,))
        return condition_number(self.system, rates)

    def with_independent(self, joints: Sequence[str], home: Mapping[str, float]) -> Self:
        """A copy of the robot in other coordinates: these joints independent, on `home`'s branch.

        The order of efforts stays; q, v and a follow `joints`. Where `home` is closed and the
        loops are not found closed there in these coordinates, a `ModelWarning` names the joint.

        Raises
        ------
        InputError
            A joint is unknown.
        ModelError
            The joints do not determine the others.
        """
        names = checked_names("joints", joints)
        for name in names:
            if name not in self.joint_names:
                known = suggestion(name, self.joint_names)
                raise InputError(f"{self.model.source}: there is no movable joint {name!r}{known}")
        model = replace(self.model, independent=names, actuated=self.actuated_joints)
        other = _rebuilt(self, model, home)
        warn_of_branch(self, other, home)
        return other

    def with_home(self, home: Mapping[str, float] | Array) -> Self:
        """A copy of the robot on the branch of another home.

        Parameters
        ----------
        home : rough positions (rad or m) by joint name, as in `load`; joints that are not named
            stay where they are in `home`. Or the closed positions of the whole tree (nq_tree,), as
            `System.home` has them: nothing is compiled anew then, and loops with closed form stay
            on their branch.

        Raises
        ------
        InputError
            A joint is unknown, or the loops do not close near these positions.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.example("four_bar")
        >>> robot.with_home({"crank_joint": 0.5}).home_position
        array([0.5])
        """
        if isinstance(home, Mapping):
            names = [joint.name for joint in self.model.joints if joint.nv]
            near = {**self.home, **checked_home(home, names, self.model.source)}
            model = replace(self._described, home={})
            return _rebuilt(self, model, near)
        try:
            closed = constant(as_numbers(home), self.system.home.shape)
        except ValueError as error:
            raise InputError(f"home must map joint names to positions: {error}") from None
        other = copy.copy(self)
        other._system = replace(self.system, home=closed)
        other._start_calls(closed)
        follow(other, self)
        other._keep(home=other._home_by_name())
        other._rough = dict(other.home)
        return other


def warn_of_branch(robot: Core, other: Core, home: Mapping[str, float]) -> None:
    """Warn where a closed configuration became another one: loops were closed elsewhere."""
    if not isinstance(home, Mapping) or not set(robot.home) <= set(home):
        return
    whole = robot.system.home.copy()
    bodies = {body.joint: body for body in robot.system.tree.bodies}
    for name in robot.home:
        whole[bodies[name].q.start] = home[name]
    if tree_gap(robot.system, whole)[0].largest > CLOSED_WITHIN:
        return
    apart = {
        name: math.remainder(other.home[name] - home[name], math.tau)
        if bodies[name].motion.is_periodic
        else other.home[name] - home[name]
        for name in robot.home
    }
    worst = max(apart, key=lambda name: abs(apart[name]), default="")
    if worst and abs(apart[worst]) > ANOTHER_BRANCH:
        warn(
            f"{robot.model.source}: with {', '.join(other.independent_joints)} independent the "
            f"loops were closed on another branch than home: {worst} is at "
            f"{other.home[worst]:.6g}, where home has {home[worst]:.6g}. Choose other independent "
            "joints, or a home farther from a singularity",
            ModelWarning,
        )


def _rebuilt(robot: Made, model: Model, home: Mapping[str, float]) -> Made:
    """A robot of that model with the arguments of this one; its warnings were given for this."""
    layout = robot._parameters.layout
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        other = type(robot)(
            model, home, robot.floating_base, robot.gravity.tolist(), variable_names(layout)
        )
    follow(other, robot)
    return other
