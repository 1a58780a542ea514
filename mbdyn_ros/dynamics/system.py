"""The dynamics of a robot in its independent coordinates.

The formulations work on the coordinates of the spanning tree. Where joints follow others, the
tree's motion is v_tree = V v, so by d'Alembert the efforts reduce to V^T tau_tree and the mass
matrix to V^T H V.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.coordinates import Coordinates
from ..model.model import Array
from ..model.tree import Tree
from . import kinematics
from .articulated_body import articulated_body
from .composite_body import composite_body, solve_ltl
from .newton_euler import newton_euler
from .spatial import SX, constant


@dataclass(frozen=True, eq=False)
class System:
    """Bodies, coordinates and gravity (3,) (m/s^2): all that the equations of a robot need."""

    tree: Tree
    coordinates: Coordinates
    gravity: Array

    def tree_position(self, q: SX) -> SX:
        """Tree coordinates of the independent positions (nq, 1)."""
        if not self.coordinates.coupled:
            return q
        return constant(self.coordinates.position) @ q + constant(self.coordinates.offset)

    def tree_velocity(self, v: SX) -> SX:
        """Tree coordinates of independent velocities or accelerations (nv, 1)."""
        return constant(self.coordinates.velocity) @ v if self.coordinates.coupled else v

    def reduce(self, efforts: SX) -> SX:
        """Efforts of the independent coordinates that do the work of the tree's efforts."""
        if not self.coordinates.coupled:
            return efforts
        return constant(self.coordinates.velocity).T @ efforts

    def inverse_dynamics(
        self, q: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
    ) -> SX:
        """Efforts (nv, 1) of the independent coordinates."""
        q, v, a = self.tree_position(q), self.tree_velocity(v), self.tree_velocity(a)
        efforts = newton_euler(self.tree, q, v, a, self.gravity, wrenches)
        return self.reduce(efforts + self._friction(v) if friction else efforts)

    def mass_matrix(self, q: SX) -> SX:
        """Mass matrix (nv, nv)."""
        matrix = composite_body(self.tree, self.tree_position(q))
        if not self.coordinates.coupled:
            return matrix
        velocity = ca.sparsify(constant(self.coordinates.velocity))
        return velocity.T @ matrix @ velocity

    def forward_dynamics(self) -> list[Callable[..., SX]]:
        """The formulations of forward dynamics that serve this robot; all give the same."""
        if self.coordinates.coupled:
            return [self._by_mass_matrix]
        return [self._by_mass_matrix, self._by_articulated_bodies]

    def _by_mass_matrix(
        self, q: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool
    ) -> SX:
        """Accelerations (nv, 1) from H a = effort - bias, H = L^T D L."""
        bias = self.inverse_dynamics(q, v, SX.zeros(v.shape[0]), wrenches, friction)
        return solve_ltl(self.mass_matrix(q), effort - bias)

    def _by_articulated_bodies(
        self, q: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool
    ) -> SX:
        """Accelerations (nv, 1) in O(n)."""
        if friction:
            effort = effort - self._friction(v)
        return articulated_body(self.tree, q, v, effort, self.gravity, wrenches)

    def coriolis_vector(self, q: SX, v: SX) -> SX:
        """Centrifugal and Coriolis efforts (nv, 1)."""
        weightless = System(self.tree, self.coordinates, 0 * self.gravity)
        return weightless.inverse_dynamics(q, v, SX.zeros(v.shape[0]), friction=False)

    def gravity_vector(self, q: SX) -> SX:
        """Efforts (nv, 1) that hold the robot at rest."""
        rest = SX.zeros(self.coordinates.nv)
        return self.inverse_dynamics(q, rest, rest, friction=False)

    def friction_vector(self, v: SX) -> SX:
        """Efforts (nv, 1) that overcome damping and dry friction of all joints."""
        return self.reduce(self._friction(self.tree_velocity(v)))

    def energy(self, q: SX, v: SX) -> SX:
        """Kinetic and potential energy (2, 1) (J)."""
        q, v = self.tree_position(q), self.tree_velocity(v)
        return ca.vertcat(*kinematics.energy(self.tree, q, v, self.gravity))

    def frame_pose(self, q: SX, link: str) -> SX:
        """Homogeneous matrix (4, 4) of a link's frame in the world."""
        index, pose = self.tree.frames[link]
        rotation, origin = SX.eye(3), SX.zeros(3)
        if index >= 0:
            rotation, origin = kinematics.body_poses(self.tree, self.tree_position(q))[index]
        origin = origin + rotation @ constant(pose.translation)
        rotation = rotation @ constant(pose.rotation)
        bottom = constant([[0.0, 0.0, 0.0, 1.0]])
        return ca.vertcat(ca.horzcat(rotation, origin), bottom)

    def jacobian(self, q: SX, link: str) -> SX:
        """Jacobian (6, nv) of a link's origin: linear, then angular velocity, in world axes."""
        q = self.tree_position(q)
        index, pose = self.tree.frames[link]
        if index < 0:
            return SX.zeros(6, self.coordinates.nv)
        columns = kinematics.jacobian(self.tree, q, index)
        rotation = kinematics.body_poses(self.tree, q)[index][0]
        arm = rotation @ constant(pose.translation)
        lever = ca.horzcat(*(ca.cross(columns[3:, k], arm) for k in range(self.tree.nv)))
        columns = ca.vertcat(columns[:3, :] + lever, columns[3:, :])
        if self.coordinates.coupled:
            columns = columns @ constant(self.coordinates.velocity)
        return columns

    def _friction(self, v: SX) -> SX:
        """damping v + friction sign(v) of the tree's joints."""
        efforts = SX.zeros(self.tree.nv)
        for body in self.tree.bodies:
            rate = v[body.v]
            efforts[body.v] = body.damping * rate + body.friction * ca.sign(rate)
        return efforts

    @property
    def has_friction(self) -> bool:
        """Whether any joint has damping or dry friction."""
        return any(body.damping or body.friction for body in self.tree.bodies)

    def digest(self) -> str:
        """Hash of every number that the equations depend on."""
        content = hashlib.sha256()
        for body in self.tree.bodies:
            content.update(f"{body.kind} {body.parent} {body.q} {body.v}".encode())
            numbers = [body.offset, body.inertia.mass, body.damping, body.friction]
            content.update(_bits(numbers))
            for array in (
                body.placement.rotation, body.placement.translation, body.axis,
                body.inertia.first, body.inertia.second,
            ):
                content.update(_bits(array))
        for link, (index, pose) in self.tree.frames.items():
            content.update(f"{link} {index}".encode())
            content.update(_bits(pose.rotation) + _bits(pose.translation))
        for array in (
            self.coordinates.position, self.coordinates.offset, self.coordinates.velocity,
            self.gravity,
        ):
            content.update(f"{array.shape}".encode() + _bits(array))
        return content.hexdigest()


def _bits(values: object) -> bytes:
    """The exact bits of some numbers."""
    return np.asarray(values, dtype=np.float64).tobytes()
