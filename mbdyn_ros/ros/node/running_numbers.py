"""Gravity, payloads and what acts on joints: set on all robots of a running node."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from rclpy.node import Node

from ...array import Array
from ...equations.variable import AT_JOINTS, GRAVITY
from ...errors import InputError, MbdynError, suggestion
from ...model.read.yaml_source import YamlSource
from ...robot import Robot
from .interfaces import NOT_BUILT, srv
from .parameters import STRINGS, Parameters, Spec
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


VARIABLE = Spec(
    "variable",
    STRINGS,
    "what may change without compiling: links (payloads), gravity, friction, armature, springs",
    read_only=True,
)

HEAVIEST = 1e12
"""kg, m or kg m^2 that no payload has."""


class Payloads:
    """The bodies that every robot carries which the node loads, the present one and all to come."""

    def __init__(self, node: Node, parameters: Parameters) -> None:
        self._node, self._parameters = node, parameters
        self._robots: weakref.WeakSet[Robot] = weakref.WeakSet()
        self._held: dict[str, tuple[float, Array, Array]] = {}

    @property
    def variable(self) -> list[str]:
        """The links that may carry one."""
        given = self._parameters
        return list(given[VARIABLE.name]) if VARIABLE.name in given else []

    def open(self, offer: Callable[[str, Any, Callable[[Any], str]], None]) -> None:
        """Offer the service by the node's `offer`."""
        if VARIABLE.name not in self._parameters:
            return
        kind = getattr(srv, "SetPayload", None)
        if kind is not None:
            offer("set_payload", kind, self._set)
        elif self.variable:
            self._node.get_logger().warning(
                f"the package mbdyn_ros_interfaces has no SetPayload: there is no service "
                f"~/set_payload. {NOT_BUILT}"
            )

    def carry(self, robot: Robot) -> None:
        """Fasten all of them to a robot that was just loaded; what does not fit is dropped."""
        self._robots.add(robot)
        for link, body in list(self._held.items()):
            try:
                robot.set_payload(link, *body)
            except MbdynError as error:
                self._node.get_logger().warning(one_line(f"a payload is dropped: {error}"))

    def _set(self, request: Any) -> str:
        """Fasten one; called between two ticks."""
        link, given = request.link, request.payload
        if link not in self.variable:
            raise InputError(
                f"{link!r} is not one of the links whose payload may change "
                f"({', '.join(self.variable) or 'none'}): start the node with the parameter "
                "variable naming it"
            )
        i = given
        moments = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
        center = np.array([i.com.x, i.com.y, i.com.z])
        largest = max(abs(i.m), np.abs(center).max(), np.abs(moments).max())
        if largest > HEAVIEST:
            raise InputError(f"the payload of link {link!r} has the number {largest:g}: too large")
        for robot in list(self._robots):
            robot.set_payload(link, i.m, center, moments)
        self._held[link] = i.m, center, moments
        return f"{link} carries {i.m:g} kg"
