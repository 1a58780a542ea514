"""Shapes of links, for their looks and for collisions."""

from __future__ import annotations

from dataclasses import dataclass, field

from .pose import Pose

Vector = tuple[float, ...]


@dataclass(frozen=True)
class Box:
    """Edges along x, y, z (m)."""

    size: Vector


@dataclass(frozen=True)
class Cylinder:
    """Along z, the origin in its middle (m)."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule(Cylinder):
    """A cylinder between two half balls; `length` is that of the cylinder."""


@dataclass(frozen=True)
class Sphere:
    """About the origin (m)."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid:
    """About the origin, half axes along x, y, z (m)."""

    half_axes: Vector


@dataclass(frozen=True)
class Mesh:
    """A file, as the URDF names it, and what its numbers are multiplied by."""

    file: str
    scale: Vector


Geometry = Box | Cylinder | Sphere | Ellipsoid | Mesh


@dataclass(frozen=True, eq=False)
class Collision:
    """A shape with which a link collides: `origin` places it there.

    `geometry` is None where the description gives none that can be read, and `problem` says why.
    """

    geometry: Geometry | None
    origin: Pose = field(default_factory=Pose)
    line: int | None = None
    problem: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class Visual(Collision):
    """A shape to look at, and its `color` (red, green, blue, opacity) if it has one.

    `material` is the name of the colour, `texture` a picture's file.
    """

    color: Vector | None = None
    material: str = ""
    texture: str = ""
