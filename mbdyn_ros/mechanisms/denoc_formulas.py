"""DeNOC of a mechanism that is cut open, on symbols: what `denoc_equations` shows.

The matrices are those of `equations/textbook/denoc.py`, in the plane: of every twist
t_i = [w_i; cd_i] the turn about z and the velocity of the centre of mass along x and y count. In
the plane W M t vanishes, for w_i x I_i w_i does.

They are written in absolute angles phi of the turning parts, places x of the sliding ones, and
their rates, in which the formulas are shorter; thd, of the joints, are differences of these.

A cam's follower goes by z = s(phi): to accelerations it is on the parabola that osculates s there,
whose row of J is thd_follower - s' w_cam, with s'' w_cam for its derivative in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..equations.algebra.spatial import SX, CosineSine, Position, joint_motion
from ..equations.textbook.denoc import ClosedDenoc, Denoc, twist_propagation
from ..model.model import Array
from ..prepare.clusters import path_from
from ..prepare.tree import WORLD, Tree
from .cut_open import CutOpen, cut_tree, point_in
from .disk_cam import DiskCam
from .layout import GROUND, GearMesh, PartConnection
from .link import Point
from .reactions import SLIDE_ROW, TURN_ROW

PLANE = (2, 3, 4)
"""The rows of a twist or wrench that count in the plane: about z, along x, along y."""


@dataclass(frozen=True, eq=False)
class FollowedCam:
    """A cam at an instant: s' and s'' (m or rad a rad), and the effort of the spring (N, N m)."""

    cam: DiskCam
    slope: SX
    bend: SX
    spring: SX


class DenocFormulas:
    """The matrices of a mechanism that is cut open, on symbols.

    Parameters
    ----------
    opened : it, its numbers floats or symbols. gravity : m/s^2, downwards.
    driven : names of the joints with a drive. meshes : wheels that drive each other.
    cams : each with s', s'' and the effort of its spring on the follower's joint, as symbols.

    Attributes
    ----------
    places, rates, accelerations : symbols (n, 1): angle phi of every turning part, place x of
        every sliding one, and their derivatives.
    differences : whole numbers (n, n): the rates of the joints thd are these times `rates`.
    closed : the equations with their loops, after Saha.
    """

    def __init__(
        self, opened: CutOpen, gravity: SX, driven: Sequence[str], meshes: Sequence[GearMesh] = (),
        cams: Sequence[FollowedCam] = (),
    ) -> None:  # fmt: skip
        count = len(opened.parts)
        self.opened = opened
        self.places, self.rates, self.accelerations = (
            SX.sym(name, count) for name in ("places", "rates", "accelerations")
        )
        self._order = {hung.part.name: k for k, hung in enumerate(opened.parts)}
        tree = cut_tree(opened)
        self._sums, quarters = _absolute(opened, tree)
        self.differences = np.linalg.inv(self._sums).round()
        offsets = -self.differences @ quarters * np.pi / 2
        differences = ca.DM(self.differences)
        angles = differences @ self.places
        motions = []
        for k, body in enumerate(tree.bodies):
            position: Position = angles[k]
            if body.kind == "revolute":
                position = CosineSine.by(angles[k], offsets[k])
            motions.append(joint_motion(body, position))
        thd = differences @ self.rates
        denoc = Denoc(tree, motions, thd)
        J = ca.vertcat(
            SX(0, count),
            *(self._held(denoc, cut) for cut in opened.cuts),
            *(self._geared(one) for one in meshes),
            *(self._followed(one.cam, one.slope, SX(1)) for one in cams),
        )
        self.J_rate = ca.reshape(ca.jtimes(ca.vec(J), self.places, self.rates), J.shape)
        self.springs = SX(count, 1)
        for row, one in enumerate(cams, start=J.shape[0] - len(cams)):
            turning = self.rates[self._order[one.cam.cam]]
            self.J_rate[row, :] = self._followed(one.cam, one.bend * turning, SX(0))
            self.springs[self._order[one.cam.follower]] = one.spring
        actuated = [k for k, hung in enumerate(opened.parts) if hung.joint.name in driven]
        weight = ca.vertcat(0, -gravity, 0)
        self.closed = ClosedDenoc(denoc, J, self.J_rate @ thd, actuated, weight)

    def matrices(self) -> dict[str, SX]:
        """The matrices of the paper by name, in the plane."""
        denoc, count = self.closed.denoc, len(self.opened.parts)
        plane = [6 * i + row for i in range(count) for row in PLANE]
        return {
            "M": denoc.M[plane, plane],
            "W": denoc.W[plane, plane],
            "N_l": denoc.N_l[plane, plane],
            "N_d": denoc.N_d[plane, :],
            "N": denoc.N[plane, :],
            "N_rate": denoc.N_rate[plane, :],
            "W M N": (denoc.W @ denoc.M @ denoc.N)[plane, :],
            "I": denoc.generalized_inertia,
            "C": denoc.convective_inertia,
            "tau_g": denoc.N.T @ denoc.weight(self.closed.gravity) + self.springs,
            "J": self.closed.J,
            "J_rate": self.J_rate,
        }

    def inverse_dynamics(self) -> tuple[SX, SX]:
        """Efforts of the driven joints, and lambda."""
        pressed = SX.zeros(6, len(self.opened.parts))
        for k, hung in enumerate(self.opened.parts):
            pressed[SLIDE_ROW if hung.joint.slides else TURN_ROW, k] = self.springs[k]
        return self.closed.inverse_dynamics(ca.DM(self.differences) @ self.accelerations, pressed)

    def _geared(self, mesh: GearMesh) -> SX:
        """The row of J of a mesh, which is linear in the absolute rates."""
        row = SX(1, len(self.opened.parts))
        for name, factor in mesh.factors:
            if name != GROUND:
                row[0, self._order[name]] += factor
        return row @ ca.DM(self._sums)

    def _followed(self, cam: DiskCam, slope: SX, one: SX) -> SX:
        """The row of J of a cam and its follower, both on the ground."""
        row = SX(1, len(self.opened.parts))
        row[0, self._order[cam.cam]], row[0, self._order[cam.follower]] = -slope, one
        return row

    def _held(self, denoc: Denoc, cut: PartConnection) -> SX:
        """The rows of J that hold a cut joint together: its second part's motion less its first's.

        Of a pin, velocities along x and y. Of a slide, the velocity across it at the second
        part's origin, and the turn.
        """
        first, second = (self._order.get(part, WORLD) for part in (cut.first, cut.second))
        rotation, point = self._place(denoc, second, cut.second, cut.at_second)
        _, other = self._place(denoc, first, cut.first, cut.at_first)
        if not cut.slides:
            held = self._moves(denoc, second, point) - self._moves(denoc, first, other)
            return held[1:, :]
        held = self._moves(denoc, second, point) - self._moves(denoc, first, point)
        across = ca.horzcat(rotation[0, 1], rotation[1, 1])
        return ca.vertcat(across @ held[1:, :], held[0, :])

    def _place(self, denoc: Denoc, body: int, part: str, at: Point) -> tuple[SX, SX]:
        """Rotation of a part, and a point of it, in the world."""
        rotation, origin = (SX.eye(3), SX(3, 1)) if body == WORLD else denoc.poses[body]
        return rotation, origin + rotation @ point_in(self.opened, part, at)

    def _moves(self, denoc: Denoc, body: int, point: SX) -> SX:
        """Turn about z and velocity along x and y (3, n) of a body at a point of the world."""
        if body == WORLD:
            return SX(3, denoc.tree.nv)
        carried = twist_propagation(point - denoc.centers[body])
        return (carried @ denoc.N[6 * body : 6 * body + 6, :])[PLANE, :]


def _absolute(opened: CutOpen, tree: Tree) -> tuple[Array, Array]:
    """The places as sums (n, n) of the joints' positions, and the quarter turns (n,) besides."""
    sums, quarters = np.eye(len(opened.parts)), np.zeros(len(opened.parts))
    for k, hung in enumerate(opened.parts):
        for i in [] if hung.joint.slides else path_from(tree, WORLD, k):
            one = opened.parts[i]
            sums[k, i] = not one.joint.slides
            quarters[k] += (-1 if one.reversed else 1) * one.joint.across
    return sums, quarters
