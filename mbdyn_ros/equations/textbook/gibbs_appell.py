"""The equations of motion of a tree by the recursive Gibbs-Appell method (Shafei 2018).

A. M. and H. R. Shafei, "Dynamic modeling of tree-type robotic systems by combining 3x3 rotation
and 4x4 transformation matrices": I(Theta) Thetadd = Re(Theta, Thetad) (25), from the derivatives
by the accelerations of the Gibbs function (13, 14)

    S = sum_i Tr{T''_i B1_i T''_i^T} + 1/2 w'_i . B2_i w'_i + w'_i . (w_i x B2_i w_i),

with T_i the pose (4, 4) of body i in the world (1), w_i its angular velocity in its own axes.
T''_i and w'_i are split into what accelerations cause (s) and what velocities leave (v) (27, 28).

From the paper's planar rods to bodies and joints in space:

- E_p A_i (3) is the transform of joint i, any placement before any motion (4, 5).
- U_1 = dA/dq = A D and U_2 = A D^2 (7, 8), with D = [skew(S_w) S_v; 0 0] for a column of the
  motion subspace: turn, slide, or one of the six of a floating base, whose accelerations in its
  own axes are quasi-accelerations; it stands for X_1, X_2 and U_3 (10-12).
- B1 (15) holds the mass at the centre and B2 (16) the moments about the centre.

Where the paper slips: (13) and (41) lack the term of w x B2 w, which is zero only in a plane.

Our copy of the paper loses accents, transposes and indices, or its print does: (7, 8, 23) have q'
for q'' or q, (13) r' for r''; ^iR_{k+1} in (32) is ^kR_{k+1}, as in step 3; (14-18) and steps 5
and 7 lack transposes; step 6 has i for j in E_j A_{j+1}.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...model.inertia import RigidInertia
from ...model.model import Array
from ...prepare.clusters import path_from
from ...prepare.tree import WORLD, Tree
from ...program.elimination import solve_ltl
from ..algebra.spatial import SX, JointMotion, constant, cross
from ..formulation import Study, formulation
from ..tree.gibbs_motion import GibbsMotion, body_motions, compound, partials
from ..tree.newton_euler import acting, rotor_inertia


def gibbs_appell(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    effort: SX,
    gravity: Array,
    wrenches: SX | None = None,
) -> tuple[SX, SX]:
    """Inertia matrix I (nv, nv) and right-hand side Re (nv, 1) of the tree coordinates (25).

    Parameters
    ----------
    tree : the bodies.
    joints : motion of each body's joint, at its position.
    v, effort : tree velocities and the efforts tau of the joints (nv, 1).
    gravity : (3,), m/s^2, in the world.
    wrenches : (6, number of bodies) force and torque from outside on every body, about its
        frame's origin in its axes; none if None.
    """
    motions = body_motions(tree, joints, v, SX.zeros(tree.nv))
    inertia, right = SX(tree.nv, tree.nv), SX(effort)
    seen: set[int] = set()
    for branch in branches(tree):
        real = set(branch) - seen
        seen |= real
        _add_branch_inertia(inertia, tree, joints, motions, branch, real)
        _add_branch_right(right, tree, joints, motions, branch, real, gravity, wrenches)
    return inertia + rotor_inertia(tree), right


def inverse_dynamics(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    a: SX,
    gravity: Array,
    wrenches: SX | None = None,
) -> SX:
    """Efforts (nv, 1) of the tree coordinates at a motion: tau = I a - Re at tau = 0."""
    rest = SX.zeros(tree.nv)
    inertia, right = gibbs_appell(tree, joints, v, rest, gravity, wrenches)
    return inertia @ a - right


def forward_dynamics(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    effort: SX,
    gravity: Array,
    wrenches: SX | None = None,
) -> SX:
    """Accelerations (nv, 1) of the tree coordinates under efforts."""
    return solve_ltl(*gibbs_appell(tree, joints, v, effort, gravity, wrenches))


def gibbs_function(tree: Tree, joints: Sequence[JointMotion], v: SX, a: SX) -> SX:
    """The Gibbs function S (14), its part without accelerations left out where it is B2's."""
    total = ca.dot(acting(tree, "armature"), a**2) / 2
    for body, motion in zip(tree.bodies, body_motions(tree, joints, v, a), strict=True):
        b1, b2 = integrals(body.inertia)
        total += ca.dot(motion.acceleration @ b1, motion.acceleration)
        total += ca.dot(motion.w_rate, b2 @ motion.w_rate) / 2
        total += ca.dot(motion.w_rate, cross(motion.w, b2 @ motion.w))
    return total


def branches(tree: Tree) -> list[list[int]]:
    """The chains of bodies from the root to each end; a shared body is in several (section 2)."""
    ends = (i for i in range(len(tree.bodies)) if not tree.children(i))
    return [list(path_from(tree, WORLD, end)) for end in ends]


def integrals(inertia: RigidInertia) -> tuple[SX, SX]:
    """B1 (4, 4) = 1/2 m r r^T with r = [c; 1] (15), and B2 (3, 3) about the centre (16)."""
    c = inertia.center
    r = np.append(c, 1.0)
    about_center = inertia.second - inertia.mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    return constant(inertia.mass / 2 * np.outer(r, r)), constant(about_center)


def _add_branch_inertia(
    inertia: SX,
    tree: Tree,
    joints: Sequence[JointMotion],
    motions: Sequence[GibbsMotion],
    branch: list[int],
    real: set[int],
) -> None:
    """Steps 6 and 7: add a branch's inertia matrix, of its real bodies (I, II, 36-40)."""
    F, P = SX(4, 4), SX(3, 3)  # F_kk and Pi_kk
    for position in reversed(range(len(branch))):
        k = branch[position]
        if k in real:
            b1, b2 = integrals(tree.bodies[k].inertia)
            F, P = F + b1, P + b2
        Fjk, turned = F, P @ joints[k].angular  # jF_k, and jPi_k x_k
        columns_k = partials(joints[k], motions[k].T)
        for j in reversed(branch[: position + 1]):
            block = joints[j].angular.T @ turned
            for row, U in enumerate(partials(joints[j], motions[j].T)):
                for column, V in enumerate(columns_k):
                    block[row, column] += 2 * ca.dot(U @ Fjk, V)  # 2 Tr{U F V^T}
            target, source = tree.bodies[j].v, tree.bodies[k].v
            inertia[target, source] += block
            if j != k:
                inertia[source, target] += block.T
            Fjk, turned = compound(joints[j]) @ Fjk, joints[j].transform.to_parent(turned)
        F = compound(joints[k]) @ F @ compound(joints[k]).T
        P = joints[k].transform.matrix_to_parent(P)


def _add_branch_right(
    right: SX,
    tree: Tree,
    joints: Sequence[JointMotion],
    motions: Sequence[GibbsMotion],
    branch: list[int],
    real: set[int],
    gravity: Array,
    wrenches: SX | None,
) -> None:
    """Steps 4 and 5: add a branch's right-hand side, of its real bodies (41, 42).

    A force f on an origin adds -1/2 [0; 1] (R f)^T to Q, for then -2 Tr{U Q} is its power.
    """
    p, Q, chi = SX.zeros(4), SX.zeros(4, 4), SX.zeros(3)
    g, origin = constant(np.append(gravity, 0.0)), constant([0.0, 0.0, 0.0, 1.0])
    for j in reversed(branch):
        body, motion = tree.bodies[j], motions[j]
        if j in real:
            b1, b2 = integrals(body.inertia)
            p += 2 * b1[:, 3]  # c (20)
            Q += b1 @ motion.acceleration.T
            chi += b2 @ motion.w_rate + cross(motion.w, b2 @ motion.w)  # t
            if wrenches is not None:
                Q -= origin @ (motion.T @ ca.vertcat(wrenches[:3, j], 0)).T / 2
                chi -= wrenches[3:, j]
        block = -(joints[j].angular.T @ chi)
        for row, U in enumerate(partials(joints[j], motion.T)):
            block[row] += ca.dot(g, U @ p) - 2 * ca.dot(U, Q.T)  # g^T U p - 2 Tr{U Q}
        right[body.v] += block
        G = compound(joints[j])
        p, Q, chi = G @ p, G @ Q, joints[j].transform.to_parent(chi)


@formulation("inverse_dynamics", "Gibbs-Appell", applies=Study.is_shallow_tree)
def _efforts(study: Study) -> SX:
    rows = list(study.system.coordinates.effort)
    tree, velocity = study.system.tree, study.velocity
    return inverse_dynamics(tree, study.joints, velocity, study.acceleration, study.gravity)[rows]


@formulation("equations of motion", "Gibbs-Appell", applies=Study.is_shallow_tree)
def _equations(study: Study) -> SX:
    tree, velocity = study.system.tree, study.velocity
    return ca.horzcat(*gibbs_appell(tree, study.joints, velocity, study.driving, study.gravity))


@formulation("mass_matrix", "Gibbs-Appell", applies=Study.is_shallow_tree)
def _inertia(study: Study) -> SX:
    return _equations(study)[:, :-1]
