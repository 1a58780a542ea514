"""The dynamics of a robot in its independent coordinates.

The formulations work on the coordinates of the spanning tree. The loops give the tree's motion
as v_tree = G v, a_tree = G a + g, so by d'Alembert the efforts reduce to G^T tau_tree and the
mass matrix to G^T H G. The efforts of the actuated joints do the same work:
G_act^T effort = G^T tau_tree, with the rows G_act of G.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..model.clusters import Cluster
from ..model.coordinates import Coordinates
from ..model.model import Array
from ..model.regrouping import regrouped
from ..model.tree import WORLD, Tree
from ..program.elimination import solve_ltl
from ..program.stages import Staged
from . import pulses
from .algebra.spatial import SX, constant
from .articulated_body import articulated_body
from .contact.contact import ContactGeometry, contact_state, distances, point_motions
from .derivatives import acceleration_derivatives, effort_derivatives
from .loop_forces import loop_terms
from .loops.embedding import Embedding
from .loops.linkage import Linkage, rows_at_positions
from .position_rate import position_rate
from .rotor_torque import levers, rotor_torques
from .tree import kinematics
from .tree.composite_body import composite_body
from .tree.newton_euler import newton_euler
from .tree.regressor import linear_form, moving_links, symbolic_inertias

LONG = 200
"""Mean square of the numbers of coordinates that move a body, from which on forward dynamics by
the mass matrix costs at least 1.5 times that by articulated bodies: a chain of 24 joints."""


@dataclass(frozen=True, eq=False)
class System:
    """All that the equations of a robot need.

    tree, clusters : the bodies, and how constraints group them.
    linkages : the constrained clusters, solved for their independent joints.
    coordinates : which joints are independent and actuated.
    gravity : (3,) (m/s^2). home : tree positions (nq_tree,) of a closed configuration.
    parameters : symbols (p, 1) that stand for numbers of the robot; None where all are numbers.

    Methods take the independent positions q and, where loops have no closed form, the positions
    z of their dependent joints, which the caller has solved for.
    """

    tree: Tree
    clusters: tuple[Cluster, ...]
    linkages: tuple[Linkage, ...]
    coordinates: Coordinates
    gravity: Array
    home: Array
    parameters: SX | None = None

    @functools.cached_property
    def regrouped(self) -> Tree:
        """The tree with inertias merged where only their sum matters; symbols stay as they are."""
        return self.tree if self.parameters is not None else regrouped(self.tree)

    @property
    def walked(self) -> tuple[Linkage, ...]:
        """The linkages whose positions have no closed form."""
        return tuple(one for one in self.linkages if not one.linear and one.closed_form is None)

    @property
    def walked_rows(self) -> list[int]:
        """Tree positions of the dependent joints that have no closed form."""
        return [
            self.tree.bodies[linkage.cluster.tied[k]].q.start
            for linkage in self.walked
            for k in linkage.dependent
        ]

    @property
    def walk_home(self) -> Array:
        """Home (ny + nz,) of these loops: all their independent joints, then the dependent ones."""
        return self.home[[*self.walk_rows, *self.walked_rows]]

    @property
    def walk_rows(self) -> list[int]:
        """Tree positions of the independent joints of the loops that have no closed form."""
        return [
            self.tree.bodies[linkage.cluster.tied[k]].q.start
            for linkage in self.walked
            for k in linkage.independent
        ]

    @property
    def nz(self) -> int:
        """Number of dependent positions that have no closed form."""
        return len(self.walked_rows)

    @functools.cached_property
    def embedding_at_home(self) -> Array:
        """G (nv_tree, nv) as numbers, at home; the same everywhere where only gears constrain."""
        home = self.home[list(self.coordinates.q)], self.home[self.walked_rows]
        return np.array(ca.evalf(self.embedding(*(SX(part) for part in home)).matrix))

    @functools.cached_property
    def residuals(self) -> dict[Linkage, ca.Function]:
        """Residuals (m, 1) of the linkages' rows as functions of their tied joints' positions."""
        pairs = [(one, rows_at_positions(self.tree, one.cluster)) for one in self.linkages]
        return {one: ca.Function("residual", [x], [rows.residual]) for one, (x, rows) in pairs}

    def embedding(self, q: SX, z: SX) -> Embedding:
        """The motion of the tree at independent positions."""
        return Embedding(self.tree, self.linkages, self.coordinates, q, z)

    def inverse_dynamics(
        self, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
    ) -> SX:
        """Efforts of the actuated joints."""
        embedding = self.embedding(q, z)
        reduced = self._reduced_efforts(embedding, v, a, wrenches, friction)
        return self.actuated(embedding, reduced)

    def mass_matrix(self, q: SX, z: SX) -> SX:
        """Mass matrix (nv, nv), zeros structural."""
        embedding = self.embedding(q, z)
        matrix = composite_body(self.regrouped, embedding.joints)
        return embedding.matrix.T @ matrix @ embedding.matrix

    def regressor(self, q: SX, z: SX, v: SX, a: SX) -> SX:
        """Y (efforts, 10 links): inverse dynamics without friction = Y (standard parameters)."""
        parameters = SX.sym("parameters", 10, len(moving_links(self.tree)))
        anyone = replace(self, tree=symbolic_inertias(self.tree, parameters), parameters=SX(0, 1))
        efforts = anyone.inverse_dynamics(q, z, v, a, None, False)
        return linear_form(efforts, parameters)

    def forward_dynamics(self) -> dict[str, Callable[..., SX]]:
        """The formulations of forward dynamics worth comparing, by name; all give the same.

        The mass matrix of a chain of n joints costs n^3, to write down too.
        """
        depth: list[int] = []  # coordinates that move a body
        for body in self.tree.bodies:
            above = depth[body.parent] if body.parent != WORLD else 0
            depth.append(above + body.v.stop - body.v.start)
        if sum(number**2 for number in depth) > LONG * len(depth):
            return {"articulated bodies": self._by_articulated_bodies}
        return {
            "composite bodies and Newton-Euler": self._by_mass_matrix,
            "articulated bodies": self._by_articulated_bodies,
        }

    def _by_mass_matrix(
        self, q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool
    ) -> SX:
        """Accelerations (nv, 1) from H a = effort - bias, H = L^T D L."""
        embedding = self.embedding(q, z)
        rest = SX.zeros(v.shape[0])
        bias = self._reduced_efforts(embedding, v, rest, wrenches, friction)
        return solve_ltl(self.mass_matrix(q, z), self.driving(embedding, effort) - bias)

    def _by_articulated_bodies(
        self, q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool
    ) -> SX:
        """Accelerations (nv, 1) in O(n)."""
        embedding = self.embedding(q, z)
        driving = SX.zeros(self.tree.nv)
        for k, row in enumerate(self.coordinates.effort):
            driving[row] = driving[row] + effort[k]
        velocity = embedding.velocity(v)
        if friction:
            driving = driving - self.friction(velocity)
        whole = articulated_body(
            self.regrouped, self.clusters, embedding, velocity, driving, self.gravity, wrenches
        )
        return whole[list(self.coordinates.v)]

    def inverse_dynamics_derivatives(
        self, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
    ) -> SX | Staged:
        """Derivatives of the actuated joints' efforts by q, v and a, side by side."""
        return effort_derivatives(self, q, z, v, a, wrenches, friction)

    def forward_dynamics_derivatives(
        self, q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None = None, friction: bool = True
    ) -> SX | Staged:
        """Derivatives of the accelerations by q, v and effort, side by side."""
        return acceleration_derivatives(self, q, z, v, effort, wrenches, friction)

    def coriolis_vector(self, q: SX, z: SX, v: SX) -> SX:
        """Centrifugal and Coriolis efforts (nv, 1) of the independent coordinates."""
        weightless = replace(self, gravity=0 * self.gravity)
        rest = SX.zeros(v.shape[0])
        return weightless._reduced_efforts(self.embedding(q, z), v, rest, None, False)

    def gravity_vector(self, q: SX, z: SX) -> SX:
        """Efforts (nv, 1) of the independent coordinates that hold the robot at rest."""
        rest = SX.zeros(self.coordinates.nv)
        return self._reduced_efforts(self.embedding(q, z), rest, rest, None, False)

    def friction_vector(self, q: SX, z: SX, v: SX) -> SX:
        """Efforts (nv, 1) that overcome damping and dry friction of all joints."""
        embedding = self.embedding(q, z)
        return embedding.reduce(self.friction(embedding.velocity(v)))

    def motion_rate(self, q: SX, z: SX, v: SX, effort: SX, a: SX) -> SX:
        """Rates of q and v, which is a, and the power of efforts and of friction (nq + nv + 2, 1).

        y' of an integrator that also keeps the work.
        """
        velocity = self.embedding(q, z).velocity(v)
        work = ca.dot(velocity[list(self.coordinates.effort)], effort)
        loss = ca.dot(velocity, self.friction(velocity))
        return ca.vertcat(position_rate(self.coordinates, q, v), a, work, loss)

    def energy(self, q: SX, z: SX, v: SX) -> SX:
        """Kinetic and potential energy (2, 1) (J)."""
        embedding = self.embedding(q, z)
        velocity = embedding.velocity(v)
        joints = embedding.joints
        return ca.vertcat(*kinematics.energy(self.tree, joints, velocity, self.gravity))

    def joint_position(self, q: SX, z: SX) -> SX:
        """Tree positions; angles are continuous however far the joints turn."""
        return self.embedding(q, z).values()

    def loop_terms(self, q: SX, z: SX, v: SX, a: SX) -> SX:
        """What `loop_forces` needs of the closing joints."""
        return loop_terms(self, q, z, v, a)

    def closure(self, q: SX, z: SX) -> SX:
        """Residual (nz, 1) of the loops that have no closed form, rows of full rank."""
        embedding, rest = self.embedding(q, z), SX.zeros(self.tree.nv)
        residuals = (embedding.rows(one, rest).residual[list(one.rows)] for one in self.walked)
        return ca.vertcat(SX(0, 1), *residuals)

    def joint_velocity(self, q: SX, z: SX, v: SX) -> SX:
        """Tree velocities."""
        embedding = self.embedding(q, z)
        return embedding.velocity(v)

    def joint_acceleration(self, q: SX, z: SX, v: SX, a: SX) -> SX:
        """Tree accelerations."""
        embedding = self.embedding(q, z)
        return embedding.velocity(a) + embedding.drift(embedding.velocity(v))

    def frame_pose(self, q: SX, z: SX, link: str) -> SX:
        """Homogeneous matrix (4, 4) of a link's frame in the world."""
        index, pose = self.tree.frames[link]
        rotation, origin = SX.eye(3), SX.zeros(3)
        if index != WORLD:
            joints = self.embedding(q, z).joints
            rotation, origin = kinematics.body_poses(self.tree, joints)[index]
        origin = origin + rotation @ constant(pose.translation)
        rotation = rotation @ constant(pose.rotation)
        bottom = constant([[0.0, 0.0, 0.0, 1.0]])
        return ca.vertcat(ca.horzcat(rotation, origin), bottom)

    def jacobian(self, q: SX, z: SX, link: str) -> SX:
        """Jacobian (6, nv) of a link's origin: linear, then angular velocity, in world axes."""
        index, pose = self.tree.frames[link]
        if index == WORLD:
            return SX.zeros(6, self.coordinates.nv)
        embedding = self.embedding(q, z)
        columns = kinematics.jacobian(self.tree, embedding.joints, index)
        rotation = kinematics.body_poses(self.tree, embedding.joints)[index][0]
        arm = rotation @ constant(pose.translation)
        lever = ca.horzcat(*(ca.cross(columns[3:, k], arm) for k in range(self.tree.nv)))
        columns = ca.vertcat(columns[:3, :] + lever, columns[3:, :])
        return ca.densify(columns @ embedding.matrix)

    def distances(self, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
        """What points and walls, joints and stops are apart; see `contact.distances`."""
        embedding = self.embedding(q, z)
        velocity = embedding.velocity(v)
        rest = SX.zeros(self.tree.nv)
        points = point_motions(self.tree, embedding.joints, velocity, rest, contacts.points)
        return distances(points, contacts, embedding.values(), velocity)

    def contact_state(self, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
        """What contacts need to know, in one column; see `ContactLayout`."""
        embedding = self.embedding(q, z)
        velocity = embedding.velocity(v)
        drift = embedding.drift(velocity)
        points = point_motions(self.tree, embedding.joints, velocity, drift, contacts.points)
        return contact_state(points, contacts, velocity, drift, v)

    def rotor_torques(self, q: SX, z: SX, link: str) -> SX:
        """X and Y (nv, 2) of the efforts X cos(wt) + Y sin(wt) of 1 N turning about z of a link."""
        embedding = self.embedding(q, z)
        return embedding.reduce(rotor_torques(self.tree, embedding.joints, link))

    def pulse_windows(self, q: SX, z: SX, force: SX, torque: SX, link: str) -> SX:
        """Pulses (6, nv), rows as in `pulses.ROWS`, that give wanted mean torques (nv, 1)."""
        return pulses.windows(*self._rotor_drive(q, z, force, link), torque).T

    def pulse_control(
        self,
        q: SX,
        z: SX,
        wanted_q: SX,
        wanted_v: SX,
        gain: SX,
        tolerance: SX,
        force: SX,
        speed: SX,
        link: str,
    ) -> SX:
        """Pulses (8, nv) that keep the joints on their way, rows as in `pulses.CONTROL_ROWS`.

        The way of a joint in one turn is that of the speed wanted_v + gain (wanted_q - q); none
        while it is within the tolerance of where it is wanted, and is to go no further in a turn.
        """
        amplitude, phase = self._rotor_drive(q, z, force, link)
        inertia = ca.diag(self.mass_matrix(q, z))
        gravity = self.gravity_vector(q, z)
        error = wanted_q - q
        turn = pulses.TURN / speed
        wanted_way = wanted_v * turn
        there = ca.fmax(ca.fabs(wanted_way), ca.fabs(error)) <= tolerance
        way = ca.if_else(there, 0, wanted_way + turn * gain * error)
        torque, given, able = pulses.torque_for_way(amplitude, gravity, inertia, way, speed)
        short = ca.fabs(way) > ca.fabs(given) * (1 + pulses.ROUNDING)
        result = pulses.windows(amplitude, phase, torque)
        result[:, pulses.ROWS.index("saturated")] = short
        return ca.horzcat(result, given, able).T

    def pulsed_motion(
        self, q: SX, z: SX, v: SX, free: SX, force: SX, phase: SX, link: str
    ) -> SX:
        """Accelerations, and below them the rotor's torques (2, nv), while some joints are held.

        Of the joints that are free (1; held: 0), H_ff a_f = (Q - bias)_f; the others stand still.
        """
        embedding = self.embedding(q, z)
        rest = SX.zeros(v.shape[0])
        turning = ca.vertcat(ca.cos(phase), ca.sin(phase))
        torque = force * (self.rotor_torques(q, z, link) @ turning)
        drive = torque - self._reduced_efforts(embedding, v, rest, None, True)
        matrix = self.mass_matrix(q, z)
        held = ca.diag(free) @ matrix @ ca.diag(free) + ca.diag(1 - free)
        return ca.horzcat(solve_ltl(held, free * drive), torque).T

    def _rotor_drive(self, q: SX, z: SX, force: SX, link: str) -> tuple[SX, SX]:
        """Amplitudes and phases (nv, 1) of the rotor's torques."""
        whole = SX.zeros(self.tree.nq)
        for k, row in enumerate(self.coordinates.q):
            whole[row] = q[k]
        reach = levers(self.tree, whole, link)[list(self.coordinates.v)]
        components = force * self.rotor_torques(q, z, link)
        return pulses.amplitude_and_phase(components, force * reach)

    def _reduced_efforts(
        self, embedding: Embedding, v: SX, a: SX, wrenches: SX | None, friction: bool
    ) -> SX:
        """Efforts (nv, 1) of the independent coordinates."""
        velocity = embedding.velocity(v)
        acceleration = embedding.velocity(a) + embedding.drift(velocity)
        efforts = newton_euler(
            self.regrouped, embedding.joints, velocity, acceleration, self.gravity, wrenches
        )
        if friction:
            efforts = efforts + self.friction(velocity)
        return embedding.reduce(efforts)

    def driving(self, embedding: Embedding, effort: SX) -> SX:
        """Efforts of the independent coordinates that do the work of the actuators."""
        rows = embedding.matrix[list(self.coordinates.effort), :]
        return ca.densify(rows.T @ effort)

    def actuated(self, embedding: Embedding, reduced: SX) -> SX:
        """Efforts of the actuators that do the work of the independent coordinates' efforts.

        With more actuators than mobility they are those of least norm.
        """
        coordinates = self.coordinates
        if sorted(coordinates.effort) == sorted(coordinates.v):
            return reduced[[coordinates.v.index(row) for row in coordinates.effort]]
        rows = embedding.matrix[list(coordinates.effort), :]
        if len(coordinates.effort) == len(coordinates.v):
            return ca.solve(rows.T, reduced)
        return rows @ ca.solve(rows.T @ rows, reduced)

    def friction(self, v: SX) -> SX:
        """damping v + friction sign(v) of the tree's joints."""
        efforts = SX.zeros(self.tree.nv)
        for body in self.tree.bodies:
            rate = v[body.v]
            efforts[body.v] = body.damping * rate + body.friction * ca.sign(rate)
        return efforts

    @functools.cached_property
    def has_friction(self) -> bool:
        """Whether any joint has damping or dry friction."""
        return any(body.damping or body.friction for body in self.tree.bodies)

    def digest(self) -> str:
        """Hash of every number that the equations depend on; home is an input of programs."""
        content = hashlib.sha256()
        for body in self.tree.bodies:
            content.update(f"{body.kind} {body.parent} {body.q} {body.v}".encode())
            for numbers in (
                [body.offset, body.inertia.mass, body.damping, body.friction],
                body.placement.rotation,
                body.placement.translation,
                body.axis,
                body.inertia.first,
                body.inertia.second,
            ):
                content.update(np.asarray(numbers, dtype=np.float64).tobytes())
        for link, (index, pose) in self.tree.frames.items():
            content.update(f"{link} {index}".encode())
            content.update(pose.rotation.tobytes() + pose.translation.tobytes())
        for linkage in self.linkages:
            content.update(repr((linkage.independent, linkage.dependent, linkage.rows)).encode())
            content.update(repr((linkage.cluster.gears, linkage.closed_form)).encode())
            for closure in linkage.cluster.closures:
                content.update(f"{closure.type} {closure.bodies} {closure.axis.tolist()}".encode())
                for frame in (closure.predecessor_frame, closure.successor_frame):
                    content.update(frame.rotation.tobytes() + frame.translation.tobytes())
        indices = (self.coordinates.q, self.coordinates.v, self.coordinates.effort)
        content.update(repr(indices).encode() + self.gravity.tobytes())
        return content.hexdigest()
