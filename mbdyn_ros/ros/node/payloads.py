"""Bodies that are fastened to a node's robot while it runs: the service `~/set_payload`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node

from ...array import Array
from ...errors import InputError, MbdynError
from ...robot import Robot
from .interfaces import NOT_BUILT, srv
from .parameters import STRINGS, Parameters, Spec
from .refusals import one_line

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
