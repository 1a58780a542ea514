"""Which programs have no answer for a robot, and why, in words: methods of `Robot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..equations.singularity import massless_directions
from ..errors import InputError, SingularMassMatrixError
from ..model.tree import BASE_JOINT
from ..program.declaration import Declaration

if TYPE_CHECKING:
    from .robot import Robot


def require_mass(self: Robot, purpose: str) -> None:
    """Raise `SingularMassMatrixError`, by link name, where `purpose` has no answer."""
    if self.massless_links:
        raise SingularMassMatrixError(
            f"{self.model.source}: {purpose} has no answer, because the mass matrix is "
            f"singular: {massless_text(self)}. Give the links mass and inertia, or fix "
            "their joints."
        )


def require_single(self: Robot, purpose: str) -> None:
    """Raise `InputError` where every row of batches has parameters of its own."""
    if self.calls.rows is not None:
        raise InputError(
            f"{self.model.source}: {purpose} is of one robot, but {len(self.calls.rows)} values of "
            "its parameters are set, one for each row of a batch: set single ones before"
        )


def require_answer(self: Robot, program: Declaration) -> None:
    """Refuse a program that has no answer for this robot.

    Raises
    ------
    SingularMassMatrixError
        Forward dynamics, or an inverse of the mass matrix, of links without mass, by name.
    InputError
        Inverse dynamics where the actuated joints do not determine the motion; derivatives by
        parameters where nothing is variable.
    """
    if "variables" in program.needs and not self._parameters.layout:
        raise InputError(
            f"{self.model.source}: nothing is variable; name links, gravity or friction in "
            "load(..., variable=[...])"
        )
    if program.loaded:
        self.say_choice()
    if "mass" in program.needs:
        self.require_mass(program.name.replace("_", " "))
    if "drives" in program.needs and len(self.effort_labels) < self.nv:
        idle = [name for name in self.independent_joints if name not in self.actuated_joints]
        raise InputError(
            f"{self.model.source}: inverse dynamics has no answer: {self.nv} coordinates move, "
            f"but only {len(self.effort_labels)} efforts act "
            f"({', '.join(self.effort_labels) or 'none'}). Name more actuated joints, such as "
            f"{', '.join(idle)}; if nothing drives a turn because it is idle, as that of a rod "
            "between two balls, make one ball universal, or lock it: robot.locked, or "
            "mbdyn edit --lock"
        )


def find_massless_links(robot: Robot) -> tuple[str, ...]:
    """Links that can move without moving mass."""
    names = {BASE_JOINT: robot.model.root}
    names.update((joint.name, joint.child) for joint in robot.model.joints)
    blocks = robot.system.coordinates.blocks.values()
    joints = [block.joint for block in blocks for _ in range(block.kind.nv)]
    return tuple(dict.fromkeys(names[joints[k]] for k in massless_directions(robot.system)))


def massless_text(robot: Robot) -> str:
    """Words about the links without mass."""
    links = ", ".join(repr(link) for link in robot.massless_links)
    return f"no mass resists the motion of link {links}"
