"""The points of a robot that may touch walls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arguments import single_vector
from ...errors import InputError
from ...model.model import Array
from ...prepare.tree import WORLD
from ...robot import Robot
from .surfaces import XYZ, number_within

GivenPoint = tuple[str, Sequence[float]] | tuple[str, Sequence[float], float]

SAME_PLACE = 1e-12
"""Distance (m) of points that are one."""


class Point(tuple[str, tuple[float, float, float]]):
    """A pair (link, xyz): a place (m) in a link's frame; with a `radius` (m) a ball about it.

    axis : of the rim of a cylinder, a circle of that radius across it; None for others.
    """

    radius: float
    axis: tuple[float, float, float] | None

    def __new__(
        cls, link: str, xyz: tuple[float, float, float], radius: float = 0.0,
        axis: tuple[float, float, float] | None = None,
    ) -> Point:  # fmt: skip
        self = super().__new__(cls, (link, xyz))
        self.radius, self.axis = radius, axis
        return self

    def __getnewargs__(
        self,
    ) -> tuple[str, tuple[float, float, float], float, tuple[float, float, float] | None]:
        """Arguments for a copy or a pickle."""
        return self.link, self.xyz, self.radius, self.axis

    @property
    def link(self) -> str:
        """The link's name."""
        return self[0]

    @property
    def xyz(self) -> tuple[float, float, float]:
        """The place (3,), m."""
        return self[1]

    def __str__(self) -> str:
        x, y, z = self.xyz
        kind = "radius" if self.axis is None else "rim of radius"
        ball = f", {kind} {self.radius:.4g}" if self.radius else ""
        return f"({x:.4g}, {y:.4g}, {z:.4g}){ball} of link {self.link!r}"


def checked_points(points: Sequence[GivenPoint]) -> tuple[Point, ...]:
    """The points that a user gives.

    Raises
    ------
    InputError
        One has not the form of a point.
    """
    result: list[Point] = []
    try:
        given: list[tuple[Any, ...]] = [tuple(point) for point in points]
        if any(len(point) < 2 for point in given):
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(f"points must be [(link, (x, y, z)), ...]; they are {points!r}") from None
    for one, (link, xyz, *radius) in zip(points, given, strict=True):
        if not isinstance(link, str):
            raise InputError(f"points must name links; {link!r} is not a name")
        if len(radius) > 1:
            raise InputError(f"a point is (link, xyz) or (link, xyz, radius), not {one!r}")
        what = f"the point on link {link!r}"
        x, y, z = single_vector(what, xyz, XYZ).tolist()
        r = radius[0] if radius else getattr(one, "radius", 0.0)
        r = number_within(f"{what}: radius", r, np.inf, "of metres, 0 or more")
        point = Point(link, (x, y, z), r, getattr(one, "axis", None))
        if point in result:
            raise InputError(f"the point {point} is given twice; keep one")
        result.append(point)
    return tuple(result)


def default_points(robot: Robot) -> tuple[Point, ...]:
    """The origin of every joint, and the end of every link that carries no other."""
    model, tree = robot.model, robot.system.tree
    parents = {joint.parent for joint in model.joints}
    found: list[Point] = []
    places: list[tuple[int, Array]] = []

    def add(link: str, xyz: Array, home: tuple[int, Array]) -> None:
        for body, place in places:
            if body == home[0] and np.abs(place - home[1]).max() < SAME_PLACE:
                return
        places.append(home)
        x, y, z = xyz.tolist()
        found.append(Point(link, (x, y, z)))

    def on_body(link: str, xyz: Array) -> tuple[int, Array]:
        body, pose = tree.frames[link]
        return body, pose.rotation @ xyz + pose.translation

    zero = np.zeros(3)
    if robot.floating_base and tree.bodies[tree.frames[model.root][0]].inertia.mass:
        add(model.root, zero, on_body(model.root, zero))
    for joint in model.joints:
        body, _ = tree.frames[joint.child]
        if body == WORLD or not tree.bodies[body].inertia.mass:
            continue
        home = on_body(joint.child, zero)
        if joint.nv and joint.kind.keeps_origin:  # the origin is fixed in the parent too
            home = on_body(joint.parent, joint.origin.translation)
        if home[0] != WORLD:
            add(joint.child, zero, home)
        inertia = model.link(joint.child).inertia
        if joint.nv and joint.child not in parents and inertia is not None:
            end = 2 * inertia.center
            add(joint.child, end, on_body(joint.child, end))
    return tuple(found)
