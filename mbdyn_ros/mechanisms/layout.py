"""The skeleton of a mechanism: which parts hang on which, which pins close loops, what meshes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..model.model import Array
from .disk_cam import DiskCam
from .link import Number, Piece, Point

GROUND = "ground"
"""The part that is fixed."""

ORIGIN: Point = (0.0, 0.0)
"""Of a part, or of the plane."""


@dataclass(frozen=True)
class Part:
    """A moving part on its parent, by a joint at a point of the parent.

    A rotating part's frame is at its joint. A sliding one moves along its own x axis, which
    is at a quarter turn to the parent's where `across`.
    """

    name: str
    parent: str
    at: Point
    piece: Piece
    slides: bool = False
    across: bool = False

    @property
    def joint(self) -> str:
        """Name of the joint that moves it."""
        return f"{self.name}_joint"

    @property
    def connection(self) -> PartConnection:
        """That joint."""
        ends = self.parent, self.at, self.name, ORIGIN
        return PartConnection(self.joint, *ends, self.slides, self.across)

    def carried(self, name: str, piece: Piece) -> Part:
        """A part that turns on its second pin."""
        return Part(name, self.name, self.piece.end, piece)

    def pinned(self, name: str, other: Part) -> PartConnection:
        """The pin that holds its second pin to that of another part."""
        return PartConnection(name, self.name, self.piece.end, other.name, other.piece.end)


@dataclass(frozen=True)
class PartConnection:
    """A joint between two parts, neither of which comes first: a pin, where a point of one is a
    point of the other, or a slide.

    A slide moves the origin of `second` along that part's x axis, which is at a quarter turn
    to that of `first` where `across`.
    """

    name: str
    first: str
    at_first: Point
    second: str
    at_second: Point
    slides: bool = False
    across: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """The part that pushes, and the one that is pushed."""
        return self.first, self.second

    def place_on(self, part: str) -> Point:
        """Its place on one of its parts."""
        return self.at_first if part == self.first else self.at_second


@dataclass(frozen=True)
class GearMesh:
    """Two parts that mesh like wheels, their axles on `carrier` (Willis):

    driven - carrier = ratio (driver - carrier) + phase, absolute angles.

    ratio : minus the driver's teeth over those of the driven, plus where one is a ring.
    phase : rad.
    """

    driver: str
    driven: str
    carrier: str
    ratio: Number
    phase: Number = 0.0

    @property
    def name(self) -> str:
        """Name of the joint that they share."""
        return f"{self.driver}_{self.driven}_mesh"

    @property
    def parts(self) -> tuple[str, str]:
        """The part that pushes, and the one that is pushed."""
        return self.driver, self.driven

    @property
    def factors(self) -> tuple[tuple[str, Number], ...]:
        """Factors of the absolute angles whose sum is the phase."""
        return (
            (self.driven, 1.0),
            (self.driver, -self.ratio),
            (self.carrier, self.ratio - 1.0),
        )


@dataclass(frozen=True)
class MechanismLayout:
    """Parts, parents first; pins that close loops; meshes: wheels that drive each other; and cams.

    gears : meshes that place parts instead of pins, which carry forces alone then.
    """

    parts: tuple[Part, ...]
    pins: tuple[PartConnection, ...]
    gears: tuple[GearMesh, ...] = ()
    meshes: tuple[GearMesh, ...] = ()
    cams: tuple[DiskCam, ...] = ()

    @property
    def order(self) -> dict[str, int]:
        """Place of every part among the parts."""
        return {part.name: k for k, part in enumerate(self.parts)}

    @property
    def connections(self) -> tuple[PartConnection, ...]:
        """All joints, those of the parts before the pins."""
        return (*(part.connection for part in self.parts), *self.pins)

    @property
    def force_carriers(self) -> tuple[PartConnection | GearMesh | DiskCam, ...]:
        """All between parts that carries forces: joints, pins, meshes and cams."""
        return (*self.connections, *self.meshes, *self.cams)


def mesh_factors(layout: MechanismLayout, mesh: GearMesh) -> dict[str, Number]:
    """The factors of a mesh by part, of its joints in place of absolute angles."""
    parts = {part.name: part for part in layout.parts}
    factors: dict[str, Number] = {}
    for name, factor in mesh.factors:
        while name != GROUND:
            factors[name] = factors[name] + factor if name in factors else factor
            name = parts[name].parent
    return {
        name: factor
        for name, factor in factors.items()
        if not (isinstance(factor, float) and factor == 0.0)
    }


def turned(layout: MechanismLayout, joints: Array, rate: bool = False) -> dict[str, Array]:
    """Angle of every part in the plane (N,), or its `rate`, the ground's included.

    joints : (N, parts) positions of the joints, or rates of any order.
    """
    result = {GROUND: np.zeros(len(joints))}
    for k, part in enumerate(layout.parts):
        own = joints[:, k] if not part.slides else math.pi / 2 if part.across and not rate else 0.0
        result[part.name] = result[part.parent] + own
    return result


def wheel_radii(layout: MechanismLayout) -> dict[str, float]:
    """Pitch radii, m, of the wheels of a layout whose axles stand apart; as at all angles."""
    parts = {part.name: part for part in layout.parts}
    radii: dict[str, float] = {}
    for mesh in layout.meshes:
        ends = []
        for name in (mesh.driver, mesh.driven):
            part = parts.get(name)
            ends.append(complex(*part.at) if part and part.parent == mesh.carrier else 0.0)
        if mesh.carrier == GROUND or abs(ends[0] - ends[1]) > 0:
            apart = abs(ends[0] - ends[1])
            radii[mesh.driver] = apart * abs(mesh.ratio / (mesh.ratio - 1))
            radii[mesh.driven] = apart / abs(mesh.ratio - 1)
    return radii
