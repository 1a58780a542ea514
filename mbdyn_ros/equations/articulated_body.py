"""Forward dynamics by articulated bodies, over clusters (Featherstone 2008, ch. 7; Jain 2012).

A cluster is a body with its joint, or the bodies that closed loops tie together; inside it
qd = G yd and qdd = G ydd + g. Body b of a cluster moves as

    (alpha, a)_b = X_b (alpha, a)_hub + J_b ydd + zeta_b

where the hub is the body that carries the cluster. Assembling the wrenches I_b (alpha, a)_b + p_b
of its bodies at the hub gives, with U = sum X_b^T I_b J_b and D = sum J_b^T I_b J_b,

    ydd = D^-1 (u - U^T (alpha, a)_hub),   I_hub = sum X_b^T I_b X_b - U D^-1 U^T:

one scalar division for a cluster with one degree of freedom. Written on classical accelerations
of the bodies' origins, so that velocity enters through w alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..model.clusters import Cluster
from ..model.model import Array
from ..model.tree import WORLD, Tree
from ..program.elimination import solve_ltl
from .algebra.spatial import SX, Transform, constant, cross, skew, symmetric
from .loops.embedding import Embedding
from .tree.composite_body import CompositeInertia
from .tree.newton_euler import euler_moment, skew_square


@dataclass
class ArticulatedInertia:
    """Blocks of I^A: n = angular alpha + mixed a, f = mixed^T alpha + linear a; (3, 3) each."""

    angular: SX
    mixed: SX
    linear: SX

    @staticmethod
    def of(inertia: CompositeInertia | ArticulatedInertia) -> ArticulatedInertia:
        """That of a rigid composite of bodies, or the articulated one itself."""
        if isinstance(inertia, ArticulatedInertia):
            return inertia
        return ArticulatedInertia(
            inertia.second, skew(inertia.first), inertia.mass * ca.densify(SX.eye(3))
        )

    def inward(self, transform: Transform) -> ArticulatedInertia:
        """The same about the parent's origin in the parent's axes."""
        linear = transform.inward_symmetric(self.linear)
        mixed = transform.inward_matrix(self.mixed)
        p = skew(transform.shift)
        lever = p @ linear
        product = (mixed + 0.5 * lever) @ p
        angular = transform.inward_symmetric(self.angular) - product - product.T
        return ArticulatedInertia(symmetric(angular), mixed + lever, linear)

    def wrench(self, alpha: SX, a: SX) -> tuple[SX, SX]:
        """Moments and forces (3, n) of the accelerations (3, n), (3, n)."""
        return self.angular @ alpha + self.mixed @ a, self.mixed.T @ alpha + self.linear @ a

    def less(self, moments: SX, forces: SX, quotient: SX) -> ArticulatedInertia:
        """I - U D^-1 U^T, with U in two halves (3, n) and D^-1 U^T (n, 6)."""
        return ArticulatedInertia(
            symmetric(self.angular - moments @ quotient[:, :3]),
            self.mixed - moments @ quotient[:, 3:],
            symmetric(self.linear - forces @ quotient[:, 3:]),
        )


Inertia = CompositeInertia | ArticulatedInertia


def _sum(one: Inertia, other: Inertia) -> Inertia:
    """The inertia of two bodies that move as one."""
    if isinstance(one, CompositeInertia) and isinstance(other, CompositeInertia):
        return one + other
    a, b = ArticulatedInertia.of(one), ArticulatedInertia.of(other)
    return ArticulatedInertia(a.angular + b.angular, a.mixed + b.mixed, a.linear + b.linear)


@dataclass
class _Solved:
    """What the outward pass needs of a cluster: ydd = free - response (alpha, a)_hub."""

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
) -> SX:
    """Accelerations (nv, 1) of the tree coordinates.

    Parameters
    ----------
    tree, clusters : the bodies and how constraints group them.
    embedding : the joints' motion in the independent coordinates.
    v, efforts : velocities and efforts (nv, 1) of the tree's joints.
    gravity, wrenches : as for `newton_euler`.
    """
    joints, drift = embedding.joints, embedding.drift(v)
    w: list[SX] = []
    zetas: list[tuple[SX, SX]] = []
    biases: list[tuple[SX, SX]] = []
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        turning, sliding = joint.angular @ v[body.v], joint.linear @ v[body.v]
        carried, swing = SX.zeros(3), SX.zeros(3)
        if body.parent != WORLD:
            carried = joint.transform.outward(w[body.parent])
            swing = joint.transform.outward(skew_square(w[body.parent]) @ joint.transform.shift)
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
        solved.append(_assemble(tree, cluster, embedding, inertias, biases, zetas, efforts))

    result = SX(tree.nv, 1)
    spins: dict[int, SX] = {WORLD: SX.zeros(3)}
    accelerations: dict[int, SX] = {WORLD: constant(-gravity)}
    for cluster, known in zip(clusters, reversed(solved), strict=True):
        hub = tree.bodies[cluster.bodies[0]].parent
        spin, acceleration = spins[hub], accelerations[hub]
        if known.single:
            spin, acceleration = _carry(joints[cluster.bodies[0]].transform, spin, acceleration)
        ydd = known.free - known.response[:, :3] @ spin - known.response[:, 3:] @ acceleration
        whole = known.embedding @ ydd
        for k, row in enumerate(known.rows):
            result[row] = whole[k]
        for i in cluster.bodies:
            body, joint = tree.bodies[i], joints[i]
            spin, acceleration = _carry(
                joint.transform, spins[body.parent], accelerations[body.parent]
            )
            a = result[body.v]
            spins[i] = spin + zetas[i][0] + joint.angular @ a
            accelerations[i] = acceleration + zetas[i][1] + joint.linear @ a
    return result + drift


def _carry(transform: Transform, spin: SX, acceleration: SX) -> tuple[SX, SX]:
    """Acceleration that a body gets from its parent's."""
    lifted = acceleration + cross(spin, transform.shift)
    return transform.outward(spin), transform.outward(lifted)


def _assemble(
    tree: Tree,
    cluster: Cluster,
    embedding: Embedding,
    inertias: list[Inertia],
    biases: list[tuple[SX, SX]],
    zetas: list[tuple[SX, SX]],
    efforts: SX,
) -> _Solved:
    """Solve a cluster for its accelerations, and add its articulated inertia to the hub's."""
    joints, members = embedding.joints, set(cluster.bodies)
    rows = [row for i in cluster.bodies for row in range(*_range(tree.bodies[i].v))]
    columns = [k for k, row in enumerate(embedding.independent.v) if row in rows]
    block = embedding.matrix[rows, columns]
    tops = [i for i in cluster.bodies if tree.bodies[i].parent not in members]
    hub, single = tree.bodies[tops[0]].parent, len(tops) == 1

    shares: dict[int, tuple[SX, SX]] = {}  # J_b
    drifts: dict[int, tuple[SX, SX]] = {}  # zeta_b
    for i in cluster.bodies:
        body, joint = tree.bodies[i], joints[i]
        own = embedding.matrix[list(range(*_range(body.v))), columns]
        spin, slide = joint.angular @ own, joint.linear @ own
        zeta = zetas[i]
        if body.parent in members:
            angular, linear = shares[body.parent]
            carried = [
                _carry(joint.transform, angular[:, k], linear[:, k]) for k in range(len(columns))
            ]
            spin = spin + ca.horzcat(*(one for one, _ in carried))
            slide = slide + ca.horzcat(*(one for _, one in carried))
            before = _carry(joint.transform, *drifts[body.parent])
            zeta = (zeta[0] + before[0], zeta[1] + before[1])
        shares[i], drifts[i] = (spin, slide), zeta

    size = len(columns)
    d, bias = SX.zeros(size, size), SX.zeros(size)
    total: dict[int, tuple[SX, SX]] = {}  # sum of X^T I J
    load: dict[int, tuple[SX, SX]] = {}  # sum of X^T (p + I zeta)
    locked = {i: inertias[i] for i in cluster.bodies}
    for i in reversed(cluster.bodies):
        body, joint = tree.bodies[i], joints[i]
        unit = inertias[i].wrench(*shares[i])
        rest = inertias[i].wrench(*drifts[i])
        total[i] = _plus(unit, total.get(i))
        load[i] = _plus(_plus(biases[i], rest), load.get(i))
        own = embedding.matrix[list(range(*_range(body.v))), columns].T
        d += own @ (joint.angular.T @ total[i][0] + joint.linear.T @ total[i][1])
        bias += own @ (joint.angular.T @ load[i][0] + joint.linear.T @ load[i][1])
        if body.parent in members:
            carrier = body.parent
            total[carrier] = _plus(_inward(joint.transform, total[i]), total.get(carrier))
            load[carrier] = _plus(_inward(joint.transform, load[i]), load.get(carrier))
            locked[carrier] = _sum(locked[carrier], locked[i].inward(joint.transform))

    if single:
        top = tops[0]
        inertia, u, p = locked[top], total[top], load[top]
    else:
        first, *others = tops
        inertia = locked[first].inward(joints[first].transform)
        u = _inward(joints[first].transform, total[first])
        p = _inward(joints[first].transform, load[first])
        for i in others:
            inertia = _sum(inertia, locked[i].inward(joints[i].transform))
            u = _plus(u, _inward(joints[i].transform, total[i]))
            p = _plus(p, _inward(joints[i].transform, load[i]))
    right = ca.horzcat(ca.densify(block.T @ efforts[rows]) - bias, u[0].T, u[1].T)
    d = symmetric(d)
    quotient = solve_ltl(d, right)
    free, response = quotient[:, 0], quotient[:, 1:]
    if hub != WORLD:
        share = ArticulatedInertia.of(inertia).less(*u, response)
        wrench = (p[0] + u[0] @ free, p[1] + u[1] @ free)
        if single:
            share = share.inward(joints[tops[0]].transform)
            wrench = _inward(joints[tops[0]].transform, wrench)
        inertias[hub] = _sum(inertias[hub], share)
        biases[hub] = _plus(biases[hub], wrench)
    return _Solved(rows, block, free, response, single)


def _range(one: slice) -> tuple[int, int]:
    return one.start, one.stop


def _plus(one: tuple[SX, SX], other: tuple[SX, SX] | None) -> tuple[SX, SX]:
    return one if other is None else (one[0] + other[0], one[1] + other[1])


def _inward(transform: Transform, wrench: tuple[SX, SX]) -> tuple[SX, SX]:
    """Moments and forces (3, n), moved to the parent."""
    columns = [
        transform.inward_wrench(wrench[0][:, k], wrench[1][:, k]) for k in range(wrench[0].shape[1])
    ]
    return ca.horzcat(*(moment for moment, _ in columns)), ca.horzcat(*(f for _, f in columns))
