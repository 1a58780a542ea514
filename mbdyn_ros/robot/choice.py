"""The choice this library makes where a description leaves one open, told once in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ModelWarning, warn

if TYPE_CHECKING:
    from .robot import Robot


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
            warn(text, ModelWarning)


def _in_loops(robot: Robot) -> list[str]:
    """The independent joints that stand in closed loops or gears, in order."""
    bodies = robot.system.tree.bodies
    tied = {bodies[k].joint for one in robot.system.linkages for k in one.cluster.tied}
    return [name for name in robot.independent_joints if name in tied]
