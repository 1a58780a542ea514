"""Places of the parts of a mechanism as numbers: for pictures, coupler curves and joint angles."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..equations.algebra.phasors import Complex
from ..model.model import Array
from .layout import GROUND, GearMesh, MechanismLayout, wheel_radii
from .link import Number, Points, Wheel

RIM = np.linspace(0.0, 2 * np.pi, 49)
"""Angles of the points of a drawn wheel, rad."""

EDGE = np.linspace(0.0, 2 * np.pi, 181)
"""The same of a drawn cam."""


@dataclass(frozen=True, eq=False)
class MechanismPose:
    """The places of the parts of a mechanism, points as complex numbers x + i y (m).

    turned, placed : directions of the x axes of all parts by name, the ground's too, and origins.
    counting : `counted`. shape : of the states, such as (N,).
    """

    layout: MechanismLayout
    turned: Mapping[str, Complex]
    placed: Mapping[str, Complex]
    counting: Mapping[str, Number]
    shape: tuple[int, ...]

    @functools.cached_property
    def directions(self) -> dict[str, Points]:
        """Direction (N,) of the x axis of every part, and of the ground."""
        return {name: self._whole(one.re + 1j * one.im) for name, one in self.turned.items()}

    @functools.cached_property
    def origins(self) -> dict[str, Points]:
        """Origin (N,) of every part, and of the ground."""
        return {name: self._whole(one.re + 1j * one.im) for name, one in self.placed.items()}

    @functools.cached_property
    def slides(self) -> dict[str, Array]:
        """(N,) m, of the parts that slide."""
        return {
            one.name: ((self.origins[one.name] - self.point(one.parent, one.at))
                       * self.directions[one.name].conj()).real
            for one in self.layout.parts if one.slides
        }  # fmt: skip

    @functools.cached_property
    def counted(self) -> dict[str, Array]:
        """(N,) rad, of wheels and inputs in the plane, however far they turn."""
        return {name: self._whole(one) for name, one in self.counting.items()}

    def _whole(self, values: Any) -> Any:
        """One value for every state."""
        shape = np.broadcast_shapes(np.shape(values), self.shape)
        return values if np.shape(values) == shape else values + np.zeros(shape)

    def point(self, part: str, at: tuple[Number, Number]) -> Points:
        """A point of a part, given along and across it: its curve."""
        origin, direction, (along, across) = self.placed[part], self.turned[part], at
        x = origin.re + direction.re * along - direction.im * across
        y = origin.im + direction.im * along + direction.re * across
        points: Points = self._whole(x + 1j * y)
        return points

    def outline(self, part: str) -> list[Points]:
        """Points of a part, to draw it: its pins, and of a wheel its pitch circle; of a cam its
        profile, of a follower its roller or flat face."""
        for cam in self.layout.cams:
            if part in (cam.cam, cam.follower):
                return [self.point(part, at) for at in cam.outline(part, EDGE)]
        piece = next(one.piece for one in self.layout.parts if one.name == part)
        points = list(piece.pins)
        if isinstance(piece, Wheel):
            rim = wheel_radii(self.layout).get(part, 0.0) * np.exp(1j * RIM)
            points += [(one.real, one.imag) for one in rim]
        return [self.point(part, at) for at in points]

    def pitch_point(self, mesh: GearMesh) -> Points:
        """Where two wheels that mesh touch; of those on one axle, the axle."""
        driver, driven = (
            self.origins[mesh.carrier if one == GROUND else one]
            for one in (mesh.driver, mesh.driven)
        )
        return driver + (driven - driver) * (mesh.ratio / (mesh.ratio - 1))

    def _angle(self, part: str) -> Array:
        if part in self.counted:
            return self.counted[part]
        return np.unwrap(np.angle(self.directions[part]))

    def joint_positions(self) -> Array:
        """(N, joints): turn of every part in its parent, continuous, or its slide (m)."""
        columns = []
        for part in self.layout.parts:
            if part.slides:
                columns.append(self.slides[part.name])
            elif part.name in self.counted:
                columns.append(self.counted[part.name] - self._angle(part.parent))
            else:
                turn = self.directions[part.name] / self.directions[part.parent]
                columns.append(np.unwrap(np.angle(turn)))
        return np.stack(columns, axis=-1)
