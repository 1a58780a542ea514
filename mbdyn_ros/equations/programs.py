"""The programs of a robot: what its methods compute, each formula with its declaration.

Their inputs are the independent positions q followed, where loops have no closed form, by the
positions z of their dependent joints. Derivatives are declared in `derivatives`, where links are in
`frames`, momentum in `momentum`, the forces in loops in `joint_forces`. Rates of positions, for
integrators, are velocities except for quaternions, which turn.

Hybrid dynamics (`actuator_response`): with the rows A of G of the actuated joints (v_act = A v) and
H a = A^T effort - bias,

    a_act = A H^-1 A^T effort + (drift_act - A H^-1 bias):

their mobility, and their accelerations without effort. Where some of these accelerations are
wanted and the efforts of the others known, the rows of the former give the efforts that it takes
(Featherstone 2008, section 9.2), in closed loops and on floating bases too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import casadi as ca

from ..integration.methods import FIXED
from ..program.elimination import Elimination, solve_ltl
from ..program.program import cheapest, program
from ..program.stages import Staged, Stages
from .actuation import actuated, applied, driving, joint_springs, reduced_efforts, without_springs
from .algebra.spatial import SX, constant
from .articulated_body import articulated_body
from .derivatives import (
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    is_tree,
)
from .dry_friction import sliding_friction
from .formulation import Study, formulation
from .loops.embedding import Embedding
from .system import System
from .tree import kinematics
from .tree.composite_body import CompositeInertia, composite_body
from .tree.kinematics import body_poses, body_velocities
from .tree.newton_euler import acting, damping_efforts, joint_friction, spring_energy
from .tree.newton_euler_derivatives import TreeDerivatives
from .tree.regressor import linear_form, moving_links, symbolic_inertias

__all__ = ["forward_dynamics_derivatives", "inverse_dynamics_derivatives"]


@program("q v a", output="effort", loaded=True, needs="drives")
def inverse_dynamics(
    system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
) -> SX:
    """Efforts of the actuated joints."""
    embedding = system.embedding(q, z)
    reduced = reduced_efforts(system, embedding, v, a, wrenches, friction)
    return actuated(system, embedding, reduced)


@program("q v effort", output="a", loaded=True, stepped=True, needs="mass")
def forward_dynamics(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    effort: SX,
    wrenches: SX | None = None,
    friction: bool = True,
) -> SX:
    """Accelerations (nv, 1) by the formulation with the fewest operations; all inputs symbols."""
    return _least_accelerations(system, q, z, v, effort, wrenches, friction, None)


@program("q v effort step:1 slides", output="a", loaded=True, internal=True)
def sliding_dynamics(
    system: System, q: SX, z: SX, v: SX, effort: SX, step: SX, slides: SX,
    wrenches: SX | None = None, friction: bool = True,
) -> SX:  # fmt: skip
    """The same with dry friction against given directions alone; see `sliding_friction`.

    step : asked for by `damped_dynamics`, in whose place this stands. friction : always counts.
    """
    return _least_accelerations(system, q, z, v, effort, wrenches, True, slides)


@program("q v effort step:1 slides", output="a", loaded=True, internal=True)
def damped_dynamics(
    system: System, q: SX, z: SX, v: SX, effort: SX, step: SX, slides: SX,
    wrenches: SX | None = None, friction: bool = True,
) -> SX:  # fmt: skip
    """The same with damping as of the end of a step (s)."""
    return _least_accelerations(system, q, z, v, effort, wrenches, True, slides, step)


def _least_accelerations(
    system: System, q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool,
    slides: SX | None, step: SX | None = None,
) -> SX:  # fmt: skip
    given = [q, z, v, effort, step, slides, wrenches, system.parameters]
    symbols = [symbol for symbol in given if symbol is not None and symbol.numel()]
    builds = list(accelerations(system, slides=slides, step=step).values())
    if system.is_shallow:
        del builds[1:]
    return cheapest(symbols, [build(q, z, v, effort, wrenches, friction) for build in builds])


def accelerations(
    system: System, deep: bool | None = None, slides: SX | None = None, step: SX | None = None
) -> dict[str, Callable[..., SX]]:
    """The formulations of forward dynamics worth comparing, by name; their results agree.

    deep : whether to leave out the mass matrix, which of a chain of n joints costs n^3, to write
    down too; default `System.is_deep`.
    slides : against which directions dry friction acts; default against all velocities.
    step : s, at the end of which damping counts, when velocities have changed; default now.
    """

    def resistance(embedding: Embedding, velocity: SX) -> SX:
        """Damping and dry friction (nv_tree, 1)."""
        if slides is None:
            return joint_friction(system.tree, velocity)
        return damping_efforts(system.tree, velocity) + sliding_friction(system, embedding, slides)

    def by_mass_matrix(q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool) -> SX:
        """Accelerations (nv, 1) from H a = effort - bias, H = L^T D L."""
        embedding = system.embedding(q, z)
        rest, apart = SX.zeros(v.shape[0]), friction and slides is not None
        bias = reduced_efforts(system, embedding, v, rest, wrenches, friction and not apart)
        if apart:
            bias = bias + embedding.reduce(resistance(embedding, embedding.velocity(v)))
        matrix = _mass_matrix(system, embedding)
        if step is not None:
            matrix = matrix + step * reduced_damping(system, embedding)
        return solve_ltl(matrix, driving(system, embedding, effort) - bias)

    def by_articulated_bodies(
        q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool
    ) -> SX:
        """Accelerations (nv, 1) in O(n)."""
        embedding = system.embedding(q, z)
        velocity = embedding.velocity(v)
        driven = applied(system, effort) - joint_springs(system, embedding)
        if friction:
            driven = driven - resistance(embedding, velocity)
        added = None if step is None else step * _damping(system)
        whole = articulated_body(
            system.regrouped, system.clusters, embedding, velocity, driven, system.gravity,
            wrenches, added,
        )  # fmt: skip
        return whole[list(system.coordinates.v)]

    if system.is_deep if deep is None else deep:
        return {"articulated bodies": by_articulated_bodies}
    return {
        "composite bodies and Newton-Euler": by_mass_matrix,
        "articulated bodies": by_articulated_bodies,
    }


@program("q", output="matrix", matrix=True, stepped=True)
def mass_matrix(system: System, q: SX, z: SX) -> SX | Staged:
    """Mass matrix (nv, nv), zeros structural."""
    return staged_inertia(system, q, z) or joint_space_inertia(system, q, z)


def joint_space_inertia(system: System, q: SX, z: SX) -> SX:
    """The same, written down; as a part of other formulas."""
    return _mass_matrix(system, system.embedding(q, z))


def has_constant_inertia(system: System) -> bool:
    """Whether the mass matrix is the same everywhere, as that of free bodies in their own axes."""
    if not is_tree(system) or any(body.parent != kinematics.WORLD for body in system.tree.bodies):
        return False
    q = SX.sym("q", system.coordinates.nq)
    return not ca.depends_on(joint_space_inertia(system, q, SX(0, 1)), q)


def staged_inertia(system: System, q: SX, z: SX, step: SX | None = None) -> Staged | None:
    """The same of a deep tree by tables of its screws, whose text grows with the bodies alone.

    step : with what damping adds over it (s).
    """
    if not (system.is_deep and is_tree(system)):
        return None
    stages, rest = Stages(), SX.zeros(system.tree.nv)
    joints = system.embedding(q, z).joints
    tree = TreeDerivatives(stages, system.regrouped, joints, rest, system.gravity, None)
    damping = () if step is None else tree.diagonal("damping", step)
    return Staged(stages, stages.multiplied((*tree.by_acceleration(), *damping)))


def _mass_matrix(system: System, embedding: Embedding) -> SX:
    matrix = composite_body(system.regrouped, embedding.joints)
    return embedding.matrix.T @ matrix @ embedding.matrix


def reduced_damping(system: System, embedding: Embedding) -> SX:
    """Damping (nv, nv) of the independent coordinates."""
    return embedding.matrix.T @ _damping(system) @ embedding.matrix


def _damping(system: System) -> SX:
    """Damping (nv, nv) of the tree's joints: a diagonal."""
    return ca.diag(acting(system.tree, "damping"))


@program("q v a", output="regressor", matrix=True, needs="drives")
def regressor(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Y (efforts, 10 links): inverse dynamics = Y (standard parameters).

    What acts on joints (friction, rotors, springs) is not part of it.
    """
    parameters = SX.sym("parameters", 10, len(moving_links(system.tree)))
    tree = symbolic_inertias(without_springs(system).tree, parameters)
    anyone = replace(system, tree=tree, parameters=SX(0, 1), grouped=None)
    return linear_form(inverse_dynamics(anyone, q, z, v, a, None, False), parameters)


@program("q v", output="effort")
def coriolis_vector(system: System, q: SX, z: SX, v: SX) -> SX:
    """Centrifugal and Coriolis efforts (nv, 1) of the independent coordinates."""
    return bias_vector(replace(system, gravity=0 * system.gravity), q, z, v)


@program("q", output="effort")
def gravity_vector(system: System, q: SX, z: SX) -> SX:
    """Efforts (nv, 1) of the independent coordinates that hold the robot against gravity."""
    return bias_vector(system, q, z, SX.zeros(system.coordinates.nv))


@program("q", output="effort")
def spring_vector(system: System, q: SX, z: SX) -> SX:
    """Efforts (nv, 1) of the independent coordinates that hold the springs of all joints."""
    embedding = system.embedding(q, z)
    return embedding.reduce(ca.densify(joint_springs(system, embedding)))


@program("q", output="effort", internal=True)
def holding_vector(system: System, q: SX, z: SX) -> SX:
    """Efforts (nv, 1) of the independent coordinates that hold the robot at rest, springs too."""
    rest = SX.zeros(system.coordinates.nv)
    return reduced_efforts(system, system.embedding(q, z), rest, rest, None, False)


@program("q v", output="effort")
def bias_vector(system: System, q: SX, z: SX, v: SX) -> SX:
    """Coriolis, centrifugal and gravity efforts (nv, 1) of the independent coordinates."""
    rest, springless = SX.zeros(v.shape[0]), without_springs(system)
    return reduced_efforts(springless, springless.embedding(q, z), v, rest, None, False)


@program("q v", output="effort")
def friction_vector(system: System, q: SX, z: SX, v: SX) -> SX:
    """Efforts (nv, 1) that overcome damping and dry friction of all joints."""
    embedding = system.embedding(q, z)
    return embedding.reduce(joint_friction(system.tree, embedding.velocity(v)))


@program("q v", output="energy", stepped=True)
def energy(system: System, q: SX, z: SX, v: SX) -> SX:
    """Kinetic and potential energy (2, 1) (J), those of rotors and springs included."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    joints = embedding.joints
    kinetic, potential = kinematics.energy(system.tree, joints, velocity, system.gravity)
    if system.has("spring_stiffness"):
        potential += spring_energy(system.tree, embedding.values())
    return ca.vertcat(kinetic, potential)


@program("q", output="position")
def joint_position(system: System, q: SX, z: SX) -> SX:
    """Tree positions; angles are continuous however far the joints turn."""
    return system.embedding(q, z).values()


@program("q v", output="velocity")
def joint_velocity(system: System, q: SX, z: SX, v: SX) -> SX:
    """Tree velocities."""
    return system.embedding(q, z).velocity(v)


@program("q v a", output="acceleration")
def joint_acceleration(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Tree accelerations."""
    return system.embedding(q, z).motion(v, a)[1]


@formulation("inverse_dynamics", "Newton-Euler")
def _efforts(study: Study) -> SX:
    return inverse_dynamics(study.system, study.q, study.z, study.v, study.a, None, False)


@formulation("mass_matrix", "composite bodies")
def _inertia(study: Study) -> SX:
    return joint_space_inertia(study.system, study.q, study.z)


@program("q v", output="response", internal=True, matrix=True)
def actuator_response(system: System, q: SX, z: SX, v: SX) -> SX:
    """Mobility of the actuated joints, followed by their accelerations without effort (n, n + 1).

    Damping and dry friction of the joints count.
    """
    embedding, rest = system.embedding(q, z), SX.zeros(system.coordinates.nv)
    bias = reduced_efforts(system, embedding, v, rest, None, True)
    rows = list(system.coordinates.effort)
    driven = ca.densify(embedding.matrix[rows, :])
    drift = embedding.drift(embedding.velocity(v))[rows]
    elimination = Elimination.of(joint_space_inertia(system, q, z))
    moved = elimination.solve(ca.horzcat(driven.T, -bias))
    return ca.densify(driven @ moved + ca.horzcat(SX.zeros(len(rows), len(rows)), drift))


@program("q v", output="energies", matrix=True)
def link_energies(system: System, q: SX, z: SX, v: SX) -> SX:
    """Kinetic and potential energy (2, links) (J), in the order of `tree.parts`."""
    embedding = system.embedding(q, z)
    tree, joints = system.tree, embedding.joints
    poses = body_poses(tree, joints)
    velocities = body_velocities(tree, joints, embedding.velocity(v))
    columns = [SX(2, 0)]
    for index, own in tree.parts.values():
        (rotation, origin), (spin, speed) = poses[index], velocities[index]
        moment, force = CompositeInertia.of(own).wrench(spin, speed)
        kinetic = 0.5 * (ca.dot(spin, moment) + ca.dot(speed, force))
        place = rotation @ constant(own.first) + own.mass * origin
        columns.append(ca.vertcat(kinetic, -ca.dot(constant(system.gravity), place)))
    return ca.densify(ca.horzcat(*columns))


@program("q v", output="rate", internal=True, integrated=(*FIXED.values(),))
def position_rate(system: System, q: SX, z: SX, v: SX) -> SX:
    """Rate of q (nq, 1) at the velocity v."""
    parts: list[SX] = []
    for motion, in_q, in_v in system.coordinates.motions:
        parts += motion.rate(ca.vertsplit(q[in_q]), ca.vertsplit(v[in_v]))
    return ca.vertcat(SX(0, 1), *parts)


@program("q v", output="rate", internal=True)
def step_rate(system: System, q: SX, z: SX, v: SX) -> SX:
    """The same for steps, compiled without the methods of rollouts: in a quarter of the time."""
    return position_rate(system, q, z, v)


@program("q v effort", output="rate", internal=True)
def motion_rate(system: System, q: SX, z: SX, v: SX, effort: SX) -> SX:
    """Rates of q and v, and the power of efforts and of friction (nq + nv + 2, 1).

    y' of an integrator that also keeps the work.
    """
    a = forward_dynamics(system, q, z, v, effort)
    velocity = system.embedding(q, z).velocity(v)
    work = ca.dot(velocity[list(system.coordinates.effort)], effort)
    loss = ca.dot(velocity, joint_friction(system.tree, velocity))
    return ca.vertcat(position_rate(system, q, z, v), a, work, loss)
