"""Momentum: generalized, as observers compare it, and about the robot's centre of mass.

The momentum p = M(q) v of the independent coordinates obeys (De Luca and Mattone 2003)

    p' = effort - friction + C(q, v)^T v - g(q) + external effort,

with the C of Christoffel's symbols. C is not formed. Of body i let V_i = (w, u) be the velocity of
its frame, H_i = (l, h) the momentum of all that it carries (angular about its origin, linear), W_i
the wrench of gravity on these, and S_i its motion subspace, constant in its axes. The columns
of the Jacobian of a body that i carries change in its axes at X (V_i x S_i) - V x (X S_i), and the
second part cancels against V x* of its own momentum, so that in the tree

    p_i = S_i^T H_i + armature v_i,    (C^T v - g)_i = S_i^T (W_i - V_i x* H_i):

one pass outward and one inward, without accelerations. Loops, v_tree = G v, make of it
p = G^T p_tree and G^T (C^T v - g)_tree + G'^T p_tree. G'(v) w is symmetric in v and w, so that
the last term is half the derivative of p_tree . G'(v) v by v.

Momenta are linear, then angular (Orin, Goswami and Lee 2013). What counts is what joints can move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from ..prepare.tree import WORLD, Tree
from ..program.program import program
from .actuation import driving, joint_springs, without_springs
from .algebra.spatial import SX, JointMotion, constant, cross, skew
from .loops.embedding import Embedding
from .system import System
from .tree.composite_body import CompositeInertia, composite_inertias
from .tree.kinematics import body_poses, body_velocities
from .tree.newton_euler import (
    forward_pass,
    inertial_wrenches,
    joint_friction,
    rotor_inertia,
    total_wrench,
)
from .tree.regressor import linear_form, moving_links, symbolic_inertias


@program("q v held effort", output="momentum", matrix=True, internal=True)
def momentum_balance(system: System, q: SX, z: SX, v: SX, held: SX, effort: SX) -> SX:
    """Momentum, its rate under the efforts `held`, and that under `effort` (nv, 3).

    held, effort : of the actuated joints, until this instant and from it on. Friction and springs
        are those of the description.
    """
    embedding = system.embedding(q, z)
    momentum, rate = _in_loops(system, system.regrouped, embedding, v)
    resistance = joint_springs(system, embedding)
    resistance = resistance + joint_friction(system.tree, embedding.velocity(v))
    rate = rate - embedding.reduce(ca.densify(resistance))
    rates = [rate + driving(system, embedding, one) for one in (held, effort)]
    return ca.densify(ca.horzcat(momentum, *rates))


@program(
    "q v held effort momentum rate external state step:1 a b c d e f",
    output="observed", matrix=True, internal=True,
)  # fmt: skip
def observed_momentum(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    held: SX,
    effort: SX,
    momentum: SX,
    rate: SX,
    external: SX,
    state: SX,
    step: SX,
    a: SX,
    b: SX,
    c: SX,
    d: SX,
    e: SX,
    f: SX,
) -> SX:
    """One cycle of an observer (nv, 5): external efforts, the state after them, and the balance.

    momentum, rate : of the sample before, the rate under the efforts from it on. The two states go
        on by (a b; d e), and by (c; f) of the mean external effort of the `step` (s).
    """
    now = momentum_balance(system, q, z, v, held, effort)
    mean = (now[:, 0] - momentum) / step - 0.5 * (rate + now[:, 1])
    first, second = a * external + b * state + c * mean, d * external + e * state + f * mean
    return ca.densify(ca.horzcat(first, second, now))


@program("q v", output="regressor", matrix=True, about="link", internal=True)
def payload_momentum(system: System, q: SX, z: SX, v: SX, link: str) -> SX:
    """Momentum and its rate (nv, 20) of a payload on a link, per each of its ten parameters.

    Ten columns of the momentum, then ten of its rate; the parameters are those of `regressor`.
    """
    payload, links = SX.sym("payload", 10), moving_links(system.tree)
    columns = [payload if one == link else SX(10, 1) for one in links]
    tree = symbolic_inertias(without_springs(system).tree, ca.horzcat(*columns))
    alone = replace(system, tree=tree, parameters=SX(0, 1), grouped=None)
    parts = _in_loops(alone, tree, system.embedding(q, z), v)
    return ca.densify(ca.horzcat(*(linear_form(part, payload) for part in parts)))


def _in_loops(system: System, tree: Tree, embedding: Embedding, v: SX) -> tuple[SX, SX]:
    """M v, and C^T v - g (nv, 1), with the inertias of `tree`."""
    momentum, rate = _in_tree(system, tree, embedding, embedding.velocity(v))
    drift = embedding.motion(v, SX.zeros(v.shape[0]))[1]  # G'(v) v
    turned = 0.5 * ca.jtimes(drift, v, momentum, True)
    return embedding.reduce(momentum), embedding.reduce(rate) + turned


def _in_tree(system: System, tree: Tree, embedding: Embedding, v: SX) -> tuple[SX, SX]:
    """The same of the tree's coordinates (nv_tree, 1), at its velocities."""
    joints, velocities = embedding.joints, body_velocities(tree, embedding.joints, v)
    fields: list[SX] = []
    for body, joint in zip(tree.bodies, joints, strict=True):
        above = constant(system.gravity) if body.parent == WORLD else fields[body.parent]
        fields.append(joint.transform.to_child(above))
    momenta, weights = [], []
    for body, motion, field in zip(tree.bodies, velocities, fields, strict=True):
        inertia = CompositeInertia.of(body.inertia)
        momenta.append(inertia.wrench(*motion))
        weights.append((cross(inertia.first, field), inertia.mass * field))
    carried, loads = (
        _summed(tree, embedding, [one for one, _ in pairs], [two for _, two in pairs])
        for pairs in (momenta, weights)
    )
    momentum, rate = SX(tree.nv, 1), SX(tree.nv, 1)
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        (w, u), (angular, linear), (moment, force) = velocities[i], carried[i], loads[i]
        momentum[body.v] = joint.angular.T @ angular + joint.linear.T @ linear
        moment = moment - cross(w, angular) - cross(u, linear)
        force = force - cross(w, linear)
        rate[body.v] = joint.angular.T @ moment + joint.linear.T @ force
    return ca.densify(momentum + rotor_inertia(tree) @ v), ca.densify(rate)


def _summed(
    tree: Tree, embedding: Embedding, moments: list[SX], forces: list[SX]
) -> list[tuple[SX, SX]]:
    """The sums of every body and of all that it carries."""
    total_wrench(tree, embedding.joints, moments, forces)
    return list(zip(moments, forces, strict=True))


@program("q", output="position")
def center_of_mass(system: System, q: SX, z: SX) -> SX:
    """Centre of mass (3, 1)."""
    return _center(system, system.embedding(q, z).joints)


@program("q v", output="velocity")
def center_of_mass_velocity(system: System, q: SX, z: SX, v: SX) -> SX:
    """Velocity (3, 1) of the centre of mass."""
    embedding = system.embedding(q, z)
    _, force = _momentum(system, embedding.joints, embedding.velocity(v))
    return force / system.mass


@program("q", output="jacobian", matrix=True)
def center_of_mass_jacobian(system: System, q: SX, z: SX) -> SX:
    """Jacobian (3, nv) of the centre of mass."""
    embedding = system.embedding(q, z)
    return ca.densify(_columns(system, embedding.joints)[:3, :] @ embedding.matrix) / system.mass


@program("q v", output="momentum")
def centroidal_momentum(system: System, q: SX, z: SX, v: SX) -> SX:
    """Linear momentum, and angular momentum about the centre of mass (6, 1)."""
    embedding = system.embedding(q, z)
    moment, force = _momentum(system, embedding.joints, embedding.velocity(v))
    return ca.vertcat(force, moment - cross(_center(system, embedding.joints), force))


@program("q v a", output="rate")
def centroidal_momentum_rate(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Rate of the centroidal momentum (6, 1): force and moment about the centre of mass, less
    those of gravity."""
    embedding = system.embedding(q, z)
    still = 0 * system.gravity
    motions = forward_pass(system.tree, embedding.joints, *embedding.motion(v, a), still)
    wrenches = inertial_wrenches(system.tree, motions, None)
    moment, force = total_wrench(system.tree, embedding.joints, *wrenches)
    return ca.vertcat(force, moment - cross(_center(system, embedding.joints), force))


@program("q", output="matrix", matrix=True)
def centroidal_momentum_matrix(system: System, q: SX, z: SX) -> SX:
    """The centroidal momentum (6, nv) per velocity coordinate."""
    embedding = system.embedding(q, z)
    columns = _columns(system, embedding.joints)
    linear, angular = columns[:3, :], columns[3:, :]
    angular = angular - skew(_center(system, embedding.joints)) @ linear
    return ca.densify(ca.vertcat(linear, angular) @ embedding.matrix)


def _center(system: System, joints: Sequence[JointMotion]) -> SX:
    """Centre of mass (3, 1)."""
    total = SX.zeros(3)
    for body, (rotation, origin) in zip(
        system.tree.bodies, body_poses(system.tree, joints), strict=True
    ):
        total += rotation @ constant(body.inertia.first) + body.inertia.mass * origin
    return total / system.mass


def _momentum(system: System, joints: Sequence[JointMotion], velocity: SX) -> tuple[SX, SX]:
    """Angular momentum about the world's origin, and linear momentum (3, 1)."""
    momenta = [
        CompositeInertia.of(body.inertia).wrench(*motion)
        for body, motion in zip(
            system.tree.bodies, body_velocities(system.tree, joints, velocity), strict=True
        )
    ]
    moments, forces = ([pair[k] for pair in momenta] for k in range(2))
    return total_wrench(system.tree, joints, moments, forces)


def _columns(system: System, joints: Sequence[JointMotion]) -> SX:
    """Linear momentum, and angular momentum about the world's origin (6, nv_tree)."""
    result = SX.zeros(6, system.tree.nv)
    inertias = composite_inertias(system.tree, joints)
    poses = body_poses(system.tree, joints)
    for body, joint, inertia, (rotation, origin) in zip(
        system.tree.bodies, joints, inertias, poses, strict=True
    ):
        moments, forces = inertia.wrench(joint.angular, joint.linear)
        forces = rotation @ forces
        result[:3, body.v] = forces
        result[3:, body.v] = rotation @ moments + skew(origin) @ forces
    return result
