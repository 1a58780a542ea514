"""Gravity, and what acts on joints, while a node runs: set on all its robots, without compiling."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Sequence

from rclpy.node import Node

from ...equations.variable import AT_JOINTS, GRAVITY
from ...errors import InputError, MbdynError, suggestion
from ...model.read.yaml_source import YamlSource
from ...robot import Robot
from .parameters import Parameters, Spec
from .payloads import Payloads
from .refusals import one_line

JOINT_DYNAMICS = Spec(
    "joint_dynamics", "", "as YAML: {elbow: {damping: 3.0, friction: 0.5, armature: 0.03, "
    "spring_stiffness: 40.0, spring_reference: 0.1}}; only what `variable` names; the rest is the "
    "description's",
)  # fmt: skip

Numbers = dict[str, dict[str, float]]
"""By joint the numbers that act on it, by name."""


class RunningNumbers:
    """Gravity and numbers of joints, as parameters give them, on every robot that a node loads."""

    def __init__(
        self, node: Node, parameters: Parameters, lock: threading.Lock, payloads: Payloads
    ) -> None:
        self._node, self._parameters = node, parameters
        self._lock, self._payloads = lock, payloads
        self._robots: weakref.WeakSet[Robot] = weakref.WeakSet()
        self._given: Numbers = {}

    def carry(self, robot: Robot) -> None:
        """Set them on a robot that was just loaded; what does not fit is dropped."""
        if JOINT_DYNAMICS.name in self._parameters:
            try:
                given = self._checked([robot], self._read())
                self._act(robot, given, {})
                self._given = given
            except MbdynError as error:
                self._node.get_logger().warning(one_line(f"joint_dynamics is dropped: {error}"))
        self._robots.add(robot)

    def review(self, names: Collection[str]) -> list[str]:
        """Take the parameters that changed; return the names of those that are left to others.

        Raises
        ------
        MbdynError
            Numbers that no joint has, or that are not variable; nothing has changed then.
        """
        left = list(names)
        if JOINT_DYNAMICS.name in left:
            with self._lock:
                robots = list(self._robots)
                given = self._checked(robots, self._read())
                for robot in robots:
                    self._act(robot, given, self._given)
                self._given = given
            left.remove(JOINT_DYNAMICS.name)
        if GRAVITY in left and GRAVITY in self._variable:
            with self._lock:
                for robot in list(self._robots):
                    robot.set_gravity(self._parameters[GRAVITY])
            left.remove(GRAVITY)
        return left

    @property
    def _variable(self) -> list[str]:
        return self._payloads.variable

    def _read(self) -> Numbers:
        """The numbers of the parameter, those of unknown names refused."""
        text = self._parameters[JOINT_DYNAMICS.name]
        if not text.strip():
            return {}
        known = [name for names in AT_JOINTS.values() for name in names]
        document = YamlSource(f"{text}\n", "parameter joint_dynamics", "numbers by joint")
        given = document.mapping(document.root, "joint_dynamics")
        return {
            joint: {
                name: document.number(value, f"{name} of {joint}")
                for name, value in document.mapping(node, f"joint {joint}", known).items()
            }
            for joint, node in given.items()
        }

    def _checked(self, robots: Sequence[Robot], given: Numbers) -> Numbers:
        """The numbers, refused where one robot or another cannot take them."""
        for robot in robots:
            for joint, numbers in given.items():
                if joint not in robot.joint_names:
                    raise InputError(
                        f"{robot.model.source}: there is no movable joint {joint!r}"
                        f"{suggestion(joint, robot.joint_names)}"
                    )
                one = robot.model.joint(joint)
                if one.nq != one.nv and any(name.startswith("spring") for name in numbers):
                    raise InputError(f"joint {joint!r} is {one.type}, and has no spring")
                for name, value in numbers.items():
                    if value < 0 and not name.startswith("spring"):
                        raise InputError(f"{name} of {joint} is {value:g}; it is not negative")
        for group, names in AT_JOINTS.items():
            asked = any(name in numbers for numbers in given.values() for name in names)
            if asked and group not in self._variable:
                raise InputError(
                    f"the {group} of joints is folded into the programs: start the node with the "
                    f"parameter variable naming {group}"
                )
        return given

    def _act(self, robot: Robot, given: Numbers, before: Numbers) -> None:
        """Set the numbers of joints, and those of the description where they were set before."""
        for group, names in AT_JOINTS.items():
            for joint in {**before, **given}:
                mine, old = (one.get(joint, {}) for one in (given, before))
                if not any(name in mine or name in old for name in names):
                    continue
                described = robot.model.joint(joint)
                values = [mine.get(name, getattr(described, name)) for name in names]
                getattr(robot, SETTERS[group])(joint, *values)


SETTERS = {"friction": "set_friction", "armature": "set_armature", "springs": "set_spring"}
"""The method of `Robot` that sets each group of numbers."""
