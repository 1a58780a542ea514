"""What this library chose where a description leaves it open, in words, once."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..array import Array
from ..errors import ModelWarning

if TYPE_CHECKING:
    from ..equations.loops.assembly import Assembly
    from .robot import Robot

MOST_TOLD = 3
"""Most other ways to close a loop, and joints in each, that are told."""


def independent_by(self: Robot) -> str:
    """Who says which joints are independent; see `Report.independent_by`."""
    model = self.model
    if model.independent is not None:
        return "description"
    if not self.dependent_joints:
        return "all"
    if all(model.joint(name).mimic is not None for name in self.dependent_joints):
        return "description"
    if model.actuated is not None and set(self.independent_joints) <= set(model.actuated):
        return "actuated"
    if set(_in_loops(self)) <= {*model.driven, *(model.actuated or ())}:
        return "driven"
    return "chosen"


def choice_text(self: Robot) -> str:
    """Words about a choice of independent joints that nobody made; empty where there is none."""
    if independent_by(self) != "chosen":
        return ""
    chosen = _in_loops(self)
    known = {*self.model.driven, *(self.model.actuated or ())}
    ours = ", ".join(name for name in chosen if name not in known)
    efforts = ", and efforts act at them" if self.model.actuated is None else ""
    return (
        f"{self.model.source}: nothing says which joints of its loops are independent. Chosen "
        f"here: {ours}; q, v and a count them{efforts}. To choose otherwise, write independent: "
        f"[{', '.join(self.independent_joints)}] with the joints you mean in a side-car file "
        '(mechanism), or independent="true" at these joints of the URDF'
    )


def say_choice(self: Robot) -> None:
    """Warn of `choice_text`, once a robot: before its first dynamics."""
    if not self._choice_said:
        self._choice_said = True
        if text := choice_text(self):
            warnings.warn(text, ModelWarning, stacklevel=5)


def other_branches_text(self: Robot, assembly: Assembly) -> str:
    """Words about other ways to close a loop than the one that home was found on, if any."""
    if not assembly.others:
        return ""
    bodies, cluster = self.system.tree.bodies, assembly.linkage.cluster
    names = [bodies[body].label for body in cluster.tied]

    def places(x: Array, joints: list[int]) -> str:
        return ", ".join(f"{names[k]} = {x[k]:.4g}" for k in joints)

    seen = []
    for other in assembly.others[:MOST_TOLD]:
        differing = np.argsort(-np.abs(other - assembly.home), kind="stable")[:MOST_TOLD].tolist()
        here = places(assembly.home, differing)
        seen.append(f"{places(other, differing)} (instead of {here})")
    more = len(assembly.others) - len(seen)
    return (
        f"{self.model.source}: loop {cluster.name!r} closes in more than one way, and no home says "
        f"which is meant: the nearest to zero is taken. Also seen: {'; '.join(seen)}"
        f"{f'; and {more} more' if more else ''}. Name such positions in home to have another"
    )


def _in_loops(robot: Robot) -> list[str]:
    """The independent joints that stand in closed loops or gears, in order."""
    bodies = robot.system.tree.bodies
    tied = {bodies[k].joint for one in robot.system.linkages for k in one.cluster.tied}
    return [name for name in robot.independent_joints if name in tied]
