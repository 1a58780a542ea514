"""Inertias as a description gives them, and as equations take them: about a frame's origin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..array import Array
from .pose import SNAPPED, Pose, constant
from .shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass (kg), centre of mass (3,) (m) and moments about it (3, 3) (kg m^2), in link axes."""

    mass: float = 0.0
    center: Array = field(default_factory=lambda: constant(np.zeros(3), (3,)))
    moments: Array = field(default_factory=lambda: constant(np.zeros((3, 3)), (3, 3)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", constant(self.center, (3,)))
        object.__setattr__(self, "moments", constant(self.moments, (3, 3)))

    @staticmethod
    def of_solid(shape: Geometry, mass: float) -> Inertia | None:
        """The inertia of a shape of even density about its middle; None of a mesh."""
        if isinstance(shape, Box):
            squares = np.square(shape.size)
            return Inertia(mass, moments=np.diag(mass / 12 * (squares.sum() - squares)))
        if isinstance(shape, Sphere):
            return Inertia(mass, moments=0.4 * mass * shape.radius**2 * np.eye(3))
        if isinstance(shape, Ellipsoid):
            squares = np.square(shape.half_axes)
            return Inertia(mass, moments=np.diag(mass / 5 * (squares.sum() - squares)))
        if not isinstance(shape, Cylinder):
            return None
        r, length = shape.radius, shape.length
        ball = isinstance(shape, Capsule) and 4 * r / (3 * length + 4 * r)
        rod, ends = (1 - ball) * mass, ball * mass
        # two half balls, whose centres are 3/8 r beyond the ends of the rod
        along = rod * r**2 / 2 + ends * 0.4 * r**2
        across = rod * (r**2 / 4 + length**2 / 12)
        across += ends * (0.4 * r**2 + length**2 / 4 + 3 / 8 * length * r)
        return Inertia(mass, moments=np.diag([across, across, along]))


@dataclass(frozen=True, eq=False)
class RigidInertia:
    """Inertia of a body about its frame's origin: mass, first moment m c (3,), moments (3, 3).

    spread : diagonal (3,) of J = (tr I / 2) 1 - I, where `second` consists of symbols; else None.
    """

    mass: float
    first: Array
    second: Array
    spread: Array | None = None

    @staticmethod
    def sum(parts: list[tuple[Pose, Inertia]]) -> RigidInertia:
        """Lump inertias given in frames that `Pose` places in the body's frame."""
        mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
        for pose, inertia in parts:
            center = pose.rotation @ inertia.center + pose.translation
            moments = pose.rotation @ inertia.moments @ pose.rotation.T
            parallel_axis = np.dot(center, center) * np.eye(3) - np.outer(center, center)
            mass += inertia.mass
            first += inertia.mass * center
            second += moments + inertia.mass * parallel_axis
        reach = np.abs(first).max(initial=0.0)
        size = np.abs(second).max(initial=0.0)
        first[np.abs(first) <= SNAPPED * reach] = 0.0
        second = (second + second.T) / 2
        second[np.abs(second) <= SNAPPED * size] = 0.0
        return RigidInertia(mass, constant(first, (3,)), constant(second, (3, 3)))

    @staticmethod
    def total(parts: Iterable[RigidInertia]) -> RigidInertia:
        """The sum of inertias about one origin in the same axes."""
        whole = RigidInertia(0.0, np.zeros(3), np.zeros((3, 3)))
        for part in parts:
            whole = whole + part
        return whole

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(
            self.mass + other.mass, self.first + other.first, self.second + other.second
        )

    @property
    def center(self) -> Array:
        """Centre of mass (3,); the origin for a massless body."""
        return self.first / self.mass if self.mass else np.zeros(3)


PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of a link's standard parameters, in order."""


def standard_parameters(inertia: Inertia | None) -> Array:
    """The ten numbers (10,) of a link; zeros where it has no mass."""
    if inertia is None:
        return np.zeros(10)
    c = inertia.center
    moments = inertia.moments + inertia.mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    return np.concatenate([[inertia.mass], inertia.mass * c, moments[np.triu_indices(3)]])
