"""Forward dynamics by articulated bodies, over clusters (Featherstone 2008, ch. 7; Jain 2012).

A cluster is a body with its joint, or the bodies that closed loops tie together; inside it
qd = G yd and qdd = G ydd + g. Body b of a cluster moves as

    (alpha, a)_b = X_b (alpha, a)_hub + J_b ydd + zeta_b

where the hub is the body that carries the cluster. Assembling the wrenches I_b (alpha, a)_b + p_b
of its bodies at the hub gives, with U = sum X_b^T I_b J_b and D = sum J_b^T I_b J_b,

    ydd = D^-1 (u - U^T (alpha, a)_hub),   I_hub = sum X_b^T I_b X_b - U D^-1 U^T:

one scalar division for a cluster with one degree of freedom. Rotors add G^T J G to D and J g to
the efforts. Written on classical accelerations of the bodies' origins, so that velocity enters
through w alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import casadi as ca

from ..model.model import Array
from ..prepare.clusters import Cluster
from ..prepare.tree import WORLD, Tree
from ..program.elimination import solve_ltl
from .algebra.spatial import SX, Transform, by_columns, constant, cross, skew, symmetric
from .loops.embedding import Embedding
from .tree.composite_body import CompositeInertia
from .tree.newton_euler import euler_moment, rotor_inertia, skew_square


@dataclass
class ArticulatedInertia:
    """Blocks of I^A: n = angular alpha + mixed a, f = mixed^T alpha + linear a; (3, 3) each."""

    angular: SX
    mixed: SX
    linear: SX

    @staticmethod
    def of(inertia: CompositeInertia | ArticulatedInertia) -> ArticulatedInertia:
        """The blocks of a rigid composite of bodies, or of an articulated one as they are."""
        if isinstance(inertia, ArticulatedInertia):
            return inertia
        return ArticulatedInertia(
            inertia.second, skew(inertia.first), inertia.mass * ca.densify(SX.eye(3))
        )

    def to_parent(self, transform: Transform) -> ArticulatedInertia:
        """The inertia about the parent's origin in the parent's axes."""
        linear = transform.symmetric_to_parent(self.linear)
        mixed = transform.matrix_to_parent(self.mixed)
        p = skew(transform.shift)
        lever = p @ linear
        product = (mixed + 0.5 * lever) @ p
        angular = transform.symmetric_to_parent(self.angular) - product - product.T
        return ArticulatedInertia(symmetric(angular), mixed + lever, linear)

    def wrench(self, alpha: SX, a: SX) -> Pair:
        """Moments and forces (3, n) of the accelerations (3, n), (3, n)."""
        return self.angular @ alpha + self.mixed @ a, self.mixed.T @ alpha + self.linear @ a

    def less(self, moments: SX, forces: SX, quotient: SX) -> ArticulatedInertia:
        """I - U D^-1 U^T, with U in two halves (3, n) and D^-1 U^T (n, 6)."""
        return ArticulatedInertia(
            symmetric(self.angular - moments @ quotient[:, :3]),
            self.mixed - moments @ quotient[:, 3:],
            symmetric(self.linear - forces @ quotient[:, 3:]),
        )


    def freed(self, turns: Sequence[int], slides: Sequence[int]) -> ArticulatedInertia:
        """The same without what moves freely along these axes, exactly."""
        kept = [ca.DM.eye(3), ca.DM.eye(3)]
        for one, axes in zip(kept, (turns, slides), strict=True):
            for axis in axes:
                one[axis, axis] = 0
        turn, slide = (ca.SX(ca.sparsify(one)) for one in kept)
        return ArticulatedInertia(
            turn @ self.angular @ turn, turn @ self.mixed @ slide, slide @ self.linear @ slide
        )


Inertia = CompositeInertia | ArticulatedInertia

Pair = tuple[SX, SX]
"""Angular and linear part of motions, or moments and forces; (3, n) each."""


def _sum(one: Inertia, other: Inertia) -> Inertia:
    """The inertia of two bodies that move as one."""
    if isinstance(one, CompositeInertia) and isinstance(other, CompositeInertia):
        return one + other
    a, b = ArticulatedInertia.of(one), ArticulatedInertia.of(other)
    return ArticulatedInertia(a.angular + b.angular, a.mixed + b.mixed, a.linear + b.linear)


@dataclass
class _Solved:
    """A cluster solved for its accelerations: ydd = free - response (alpha, a)_hub."""

    rows: list[int]
    embedding: SX
    free: SX
    response: SX
    single: bool


def articulated_body(
    tree: Tree,
    clusters: Sequence[Cluster],
    embedding: Embedding,
    v: SX,
    efforts: SX,
    gravity: Array,
    wrenches: SX | None = None,
    resistance: SX | None = None,
) -> SX:
    """Accelerations (nv, 1) of the tree coordinates.

    Parameters
    ----------
    tree, clusters : the bodies and how constraints group them.
    embedding : the joints' motion in the independent coordinates.
    v, efforts : velocities and efforts (nv, 1) of the tree's joints.
    gravity, wrenches : as for `newton_euler`.
    resistance : (nv, nv) diagonal, of what resists the accelerations G ydd besides the rotors.
    """
    joints, drift = embedding.joints, embedding.drift(v)
    rotors = rotor_inertia(tree)
    efforts = efforts - rotors @ drift
    if resistance is not None:
        rotors = rotors + resistance
    w: list[SX] = []
    zetas: list[Pair] = []
    biases: list[Pair] = []
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        turning, sliding = joint.angular @ v[body.v], joint.linear @ v[body.v]
        carried, swing = SX.zeros(3), SX.zeros(3)
        if body.parent != WORLD:
            carried = joint.transform.to_child(w[body.parent])
            swing = joint.transform.to_child(skew_square(w[body.parent]) @ joint.transform.shift)
        w.append(carried + turning)
        spin = cross(carried, turning) + joint.angular @ drift[body.v]
        slide = swing + cross(2 * carried + turning, sliding) + joint.linear @ drift[body.v]
        zetas.append((spin, slide))
        tensor = skew_square(w[i])
        moment = euler_moment(body.inertia, w[i], tensor)
        force = tensor @ constant(body.inertia.first)
        if wrenches is not None:
            moment, force = moment - wrenches[3:, i], force - wrenches[:3, i]
        biases.append((moment, force))

    inertias: list[Inertia] = [CompositeInertia.of(body.inertia) for body in tree.bodies]
    solved: list[_Solved] = []
    for cluster in reversed(clusters):
        solved.append(_assemble(tree, cluster, embedding, inertias, biases, zetas, efforts, rotors))

    result = SX(tree.nv, 1)
    motions: dict[int, Pair] = {WORLD: (SX.zeros(3), constant(-gravity))}
    for cluster, known in zip(clusters, reversed(solved), strict=True):
        first = cluster.bodies[0]
        hub = motions[tree.bodies[first].parent]
        spin, acceleration = joints[first].transform.forward_motion(*hub) if known.single else hub
        ydd = known.free - known.response[:, :3] @ spin - known.response[:, 3:] @ acceleration
        result[known.rows] = known.embedding @ ydd
        for i in cluster.bodies:
            body, joint = tree.bodies[i], joints[i]
            given = _plus(joint.transform.forward_motion(*motions[body.parent]), zetas[i])
            a = result[body.v]
            motions[i] = _plus(given, (joint.angular @ a, joint.linear @ a))
    return result + drift


def _assemble(
    tree: Tree,
    cluster: Cluster,
    embedding: Embedding,
    inertias: list[Inertia],
    biases: list[Pair],
    zetas: list[Pair],
    efforts: SX,
    rotors: SX,
) -> _Solved:
    """Solve a cluster for its accelerations, and add its articulated inertia to the hub's.

    Tables of motions and wrenches have a column for each acceleration of ydd, alone and with
    everything else at rest (J_b), and a last one for what is left at ydd = 0 (zeta_b).
    """
    joints, members = embedding.joints, set(cluster.bodies)
    rows_of = {i: range(tree.bodies[i].v.start, tree.bodies[i].v.stop) for i in cluster.bodies}
    rows = [row for i in cluster.bodies for row in rows_of[i]]
    columns = [k for k, row in enumerate(embedding.independent.v) if row in rows]
    shares = {i: embedding.matrix[list(rows_of[i]), columns] for i in cluster.bodies}
    block, n = embedding.matrix[rows, columns], len(columns)
    tops = [i for i in cluster.bodies if tree.bodies[i].parent not in members]
    hub, single = tree.bodies[tops[0]].parent, len(tops) == 1

    motions: dict[int, Pair] = {}
    wrenches: dict[int, Pair] = {}
    for i in cluster.bodies:
        joint, parent, (spin, slide) = joints[i], tree.bodies[i].parent, zetas[i]
        motion = (
            ca.horzcat(joint.angular @ shares[i], spin),
            ca.horzcat(joint.linear @ shares[i], slide),
        )
        if parent in members:
            motion = _plus(motion, by_columns(joint.transform.forward_motion, *motions[parent]))
        motions[i] = motion
        moments, forces = inertias[i].wrench(*motion)
        moments[:, n], forces[:, n] = _plus(biases[i], (moments[:, n], forces[:, n]))
        wrenches[i] = moments, forces

    work = SX.zeros(n, n + 1)
    work[:, :n] = work[:, :n] + block.T @ rotors[rows, rows] @ block
    carried: dict[int, Pair] = {}
    for i in reversed(cluster.bodies):
        joint, parent = joints[i], tree.bodies[i].parent
        if i in carried:
            wrenches[i] = _plus(wrenches[i], carried[i])
        moments, forces = wrenches[i]
        work += shares[i].T @ (joint.angular.T @ moments + joint.linear.T @ forces)
        if parent in members:
            moved = by_columns(joint.transform.wrench_to_parent, moments, forces)
            carried[parent] = _plus(moved, carried[parent]) if parent in carried else moved
            inertias[parent] = _sum(inertias[parent], inertias[i].to_parent(joint.transform))

    inertia, (moments, forces) = inertias[tops[0]], wrenches[tops[0]]
    if not single:
        steps = {i: joints[i].transform for i in tops}
        inertia = reduce(_sum, (inertias[i].to_parent(step) for i, step in steps.items()))
        at_hub = (by_columns(step.wrench_to_parent, *wrenches[i]) for i, step in steps.items())
        moments, forces = reduce(_plus, at_hub)
    u = moments[:, :n], forces[:, :n]
    right = ca.densify(block.T @ efforts[rows]) - work[:, n]
    quotient = solve_ltl(symmetric(work[:, :n]), ca.horzcat(right, u[0].T, u[1].T))
    free, response = quotient[:, 0], quotient[:, 1:]
    if hub != WORLD:
        share = ArticulatedInertia.of(inertia).less(*u, response)
        if len(cluster.bodies) == 1 and rotors[rows, rows].is_zero():
            angular, linear = (one[:, :n] for one in motions[tops[0]])
            turns, slides = _axes(angular), _axes(linear)
            if len(turns) + len(slides) == n:  # the inertia of what the joint leaves free
                share = share.freed(turns, slides)
        wrench = moments[:, n] + u[0] @ free, forces[:, n] + u[1] @ free
        if single:
            step = joints[tops[0]].transform
            share, wrench = share.to_parent(step), step.wrench_to_parent(*wrench)
        inertias[hub] = _sum(inertias[hub], share)
        biases[hub] = _plus(biases[hub], wrench)
    return _Solved(rows, block, free, response, single)


def _axes(motions: SX) -> list[int]:
    """The axes along which columns (3, n) of motions are that are nothing else."""
    alone = [ca.sparsify(motions[:, k]) for k in range(motions.shape[1])]
    return [one.sparsity().row()[0] for one in alone if one.nnz() == 1]


def _plus(one: Pair, other: Pair) -> Pair:
    return one[0] + other[0], one[1] + other[1]
