"""Which of a command's numbers belong to which joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InputError
from ...model.model import Model
from ...robot import Robot
from .named_numbers import columns, effort_blocks, require_known

Numbers = tuple[list[int], list[float]]
"""Places among the efforts of the robot, and a number for each of them; NaN: none."""


class CommandLayout:
    """The joints of commands by name.

    Hardware of ros2_control names all of its joints, and sends numbers for those alone that have
    the command interface in `<ros2_control>`: passive joints have none.

    Attributes
    ----------
    remarks : what was left out of commands, each once.
    """

    def __init__(self, robot: Robot) -> None:
        self._blocks, self._actuated = effort_blocks(robot), robot.actuated_joints
        self._known = robot.joint_names
        self._interfaces = command_interfaces(robot.model)
        self.remarks: dict[str, None] = {}
        self._names: list[str] = []
        self._known_places: dict[tuple[str, int], list[int]] = {}

    def numbers(self, quantity: str, names: Sequence[str], values: Sequence[float]) -> Numbers:
        """The numbers of named joints; without values none.

        Raises
        ------
        InputError
            Unknown or repeated joint, or values that cannot be told apart.
        """
        if names != self._names:
            self._names, self._known_places = list(names), {}
        key = quantity, len(values)
        if key not in self._known_places:
            self._known_places[key] = self._places(quantity, names, len(values))
        return self._known_places[key], list(values)

    def _places(self, quantity: str, names: Sequence[str], count: int) -> list[int]:
        if not names:
            raise InputError("the command names no joint")
        passive = [name for name in names if name not in self._actuated]
        if all(name in self._known for name in passive):
            owners = [name for name in names if quantity in self._interfaces.get(name, ())]
            actuated = [name for name in names if name in self._actuated]
            for chosen in (actuated if not passive else [], owners, actuated):
                require_known(names, self._known, "joint")
                places = columns(self._blocks, [n for n in chosen if n in self._blocks])
                if chosen and len(places) == count:
                    self._remark(quantity, [name for name in names if name not in chosen])
                    return places
        require_known(names, self._actuated, "actuated joint")
        raise InputError(
            f"the command has {count} {PLURALS[quantity]}, expected "
            f"{len(columns(self._blocks, names))}: {', '.join(names)}"
        )

    def _remark(self, quantity: str, others: list[str]) -> None:
        if others:
            said = f"commands name joints without {quantity}, which are left out: "
            self.remarks[said + ", ".join(others)] = None


PLURALS = {"effort": "efforts", "velocity": "velocities", "position": "positions"}
"""Quantities of commands, many of them."""


def command_interfaces(model: Model) -> Mapping[str, frozenset[str]]:
    """The command interfaces of joints in the `<ros2_control>` blocks of a description."""
    found: dict[str, frozenset[str]] = {}
    for foreign in model.foreign:
        element: Any = foreign.element() if "ros2_control" in foreign.text else None
        if element is None or element.tag != "ros2_control":
            continue
        for joint in element.iter("joint"):
            names = {str(one.get("name")) for one in joint.iterchildren("command_interface")}
            name = str(joint.get("name"))
            found[name] = found.get(name, frozenset()) | names
    return found
