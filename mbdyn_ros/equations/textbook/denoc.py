"""DeNOC: dynamics by the decoupled natural orthogonal complement matrices (Saha 1999).

After Kumar, Vantmuri, Chittawadigi and Saha, "Dynamic analyses of four-bar mechanism in
MechAnalyzer software"; numbers in brackets are its equations. `denoc_loops` has its loops,
equations (19) to (23). Everything is in world axes, every twist at a centre of mass C_i.

The Newton-Euler equations of a body on its own, with its moments I_i about C_i, are

    f_i = m_i cdd_i                                    (1)
    n_i = I_i wd_i + w_i x I_i w_i                     (2)
    M_i td_i + W_i M_i t_i = w_i                       (3)
    M_i = [I_i 0; 0 m_i 1],  W_i = [w_i x 1  0; 0 0]   (4)
    t_i = [w_i; cd_i],  w_i = [n_i; f_i]               (5)

and those of all n bodies, with M = diag(M_i), W = diag(W_i), t = [t_1; ...; t_n], (7), (8):

    M td + W M t = w                                   (6)

A body moves with its parent j, and by its joint, (11), (12):

    t_i = B_ij t_j + P_i thd_i,  B_ij = [1 0; -(c_i - c_j) x 1  1],  B_ij B_jk = B_ik

so that, the block B_ij of N_l standing wherever j carries i,

    t = N thd                                          (9)
    N = N_l N_d                                        (10), (13) to (15)

What the joints bear does no work on N thd, so it drops out of N^T times (6):

    N^T (M td + W M t) = N^T w                         (16)
    I thdd + C thd = tau + tau_g                       (17)
    I = N^T M N,  C = N^T (M Nd + W M N)               (18)

The matrices are kept whole, to be looked at; `denoc_recursive` goes along the bodies instead, and
`newton_euler` and `composite_body` give the same at less cost.

In our copy of the paper: N_l in (10) is (6n, 6n), lower *block* triangular, and N_d is (6n, n).
The r and d of (12) have other indices than those of (14); what counts is c_i - c_j. (16) refers
to (6), not (9). N^T w in (18) is the whole right side of (17), gravity included. Elsewhere the
left side of (6) is written M td + W M E t, with E = diag(1, 0) and W = diag(w x 1, w x 1); the
zeros of W in (4) do the work of that E.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...model.model import Array
from ...prepare.clusters import path_from
from ...prepare.tree import WORLD, Body, Tree
from ..algebra.spatial import SX, JointMotion, congruence, constant, cross, skew, symmetric
from ..tree.acting import rotor_inertia
from ..tree.kinematics import body_poses

Pose = tuple[SX, SX]
"""Rotation (3, 3) and origin (3, 1) of a body's frame in the world."""


class Denoc:
    """The matrices of the formulation for a tree at joint positions and velocities.

    Parameters
    ----------
    tree : the bodies; joints revolute, prismatic or floating, planar ones as `Tree` splits them.
    joints : motion of each body's joint, at its position.
    v : thd, tree velocities (nv, 1).

    Attributes
    ----------
    M, W : mass and angular velocities of the uncoupled bodies (6n, 6n), block diagonal.
    N_l : twist propagation (6n, 6n), lower block triangular.
    N_d : joint motion propagation (6n, nv), block diagonal; its columns are in the bodies' order.
    N_l_rate, N_d_rate : their derivatives in time.
    N, N_rate : natural orthogonal complement and its derivative (6n, nv), columns as `v`.
    t : twists (6n, 1), angular velocity before velocity of the centre of mass.
    centers : centre of mass of every body (3, 1).
    """

    def __init__(self, tree: Tree, joints: Sequence[JointMotion], v: SX) -> None:
        self.tree, self.joints, self.v = tree, tuple(joints), v
        self.poses = body_poses(tree, joints)
        self.centers = centers_of(tree, self.poses)
        order = [row for body in tree.bodies for row in range(body.v.start, body.v.stop)]
        columns = [order.index(row) for row in range(tree.nv)]

        self.N_l = self._twist_propagation()
        self.N_d = diagonal(
            [joint_propagation(joints[i], self.poses[i], self.centers[i]) for i in self._bodies]
        )
        self.N = (self.N_l @ self.N_d)[:, columns]  # (10)
        self.t = ca.densify(self.N @ v)  # (9)

        self.M = diagonal([mass(tree.bodies[i], self.poses[i][0]) for i in self._bodies])
        self.W = diagonal([ca.diagcat(skew(self._spin(i)), SX(3, 3)) for i in self._bodies])
        self.N_l_rate = self._twist_propagation_rate()
        # the columns of P_i are vectors that turn with body i
        turning = diagonal([ca.kron(SX.eye(2), skew(self._spin(i))) for i in self._bodies])
        self.N_d_rate = turning @ self.N_d
        self.N_rate = (self.N_l_rate @ self.N_d + self.N_l @ self.N_d_rate)[:, columns]

    @property
    def generalized_inertia(self) -> SX:
        """I (nv, nv) of equation (18)."""
        return self.N.T @ self.M @ self.N + rotor_inertia(self.tree)

    @property
    def convective_inertia(self) -> SX:
        """C (nv, nv) of equation (18); Id - 2 C is skew."""
        return self.N.T @ (self.M @ self.N_rate + self.W @ self.M @ self.N)

    def weight(self, gravity: Array | SX) -> SX:
        """Wrenches (6n, 1) of gravity (3,), m/s^2; tau_g is N^T times them."""
        masses = (body.inertia.mass for body in self.tree.bodies)
        return ca.vertcat(
            SX(0, 1), *(ca.vertcat(SX(3, 1), constant(mass * gravity)) for mass in masses)
        )

    def outside(self, wrenches: SX) -> SX:
        """Wrenches (6n, 1) at the centres of mass, of forces and torques (6, n) on the bodies.

        Given as to `newton_euler`: about every body's frame's origin, in its axes.
        """
        parts = []
        for i, (rotation, origin) in enumerate(self.poses):
            force, torque = rotation @ wrenches[:3, i], rotation @ wrenches[3:, i]
            parts += [torque + cross(origin - self.centers[i], force), force]
        return ca.vertcat(SX(0, 1), *parts)

    def inverse_dynamics(self, a: SX, gravity: Array | SX, wrenches: SX | None = None) -> SX:
        """tau (nv, 1) of the cut-open tree at accelerations thdd, by equation (16)."""
        t_rate = self.N @ a + self.N_rate @ self.v
        w = self.M @ t_rate + self.W @ self.M @ self.t - self.weight(gravity)
        if wrenches is not None:
            w = w - self.outside(wrenches)
        return ca.densify(self.N.T @ w + rotor_inertia(self.tree) @ a)

    @property
    def _bodies(self) -> range:
        return range(len(self.tree.bodies))

    def _spin(self, i: int) -> SX:
        """w_i."""
        return self.t[6 * i : 6 * i + 3]

    def _center_velocity(self, i: int) -> SX:
        """cd_i."""
        return self.t[6 * i + 3 : 6 * i + 6]

    def _twist_propagation(self) -> SX:
        """N_l of equation (14)."""
        result = SX.eye(6 * len(self._bodies))
        for i, j in carried(self.tree):
            shift = self.centers[i] - self.centers[j]
            result[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = twist_propagation(shift)
        return result

    def _twist_propagation_rate(self) -> SX:
        """The derivative of N_l: only the levers c_i - c_j change."""
        result = SX(6 * len(self._bodies), 6 * len(self._bodies))
        for i, j in carried(self.tree):
            rate = self._center_velocity(i) - self._center_velocity(j)
            result[6 * i + 3 : 6 * i + 6, 6 * j : 6 * j + 3] = -skew(rate)
        return result


def centers_of(tree: Tree, poses: Sequence[Pose]) -> list[SX]:
    """c_i, centres of mass (3, 1) of all bodies."""
    pairs = zip(tree.bodies, poses, strict=True)
    return [origin + turned @ constant(body.inertia.center) for body, (turned, origin) in pairs]


def mass(body: Body, rotation: SX) -> SX:
    """M_i of equation (4)."""
    moments = symmetric(congruence(rotation, central_moments(body)))
    return ca.diagcat(moments, body.inertia.mass * SX.eye(3))


def joint_propagation(joint: JointMotion, pose: Pose, center: SX) -> SX:
    """P_i: [e; e x d] of a revolute joint (14), [0; e] of a prismatic one.

    Six columns of a floating one. d leads from the joint's origin to C_i.
    """
    rotation, origin = pose
    angular, linear = rotation @ joint.angular, rotation @ joint.linear
    return ca.sparsify(ca.vertcat(angular, linear - skew(center - origin) @ angular))


def twist_propagation(shift: SX) -> SX:
    """B = [1 0; -shift x 1  1]: the twist of a rigid body at a point that is `shift` away."""
    result = SX.eye(6)
    result[3:, :3] = -skew(shift)
    return result


def carried(tree: Tree) -> list[tuple[int, int]]:
    """All pairs (i, j) of bodies where j carries i, be it through others."""
    count = len(tree.bodies)
    return [(i, j) for i in range(count) for j in path_from(tree, WORLD, i) if j != i]


def central_moments(body: Body) -> SX:
    """Moments of inertia (3, 3) about the centre of mass, in body axes."""
    center, mass = constant(body.inertia.center), body.inertia.mass
    parallel_axis = ca.dot(center, center) * constant(np.eye(3)) - center @ center.T
    return constant(body.inertia.second) - mass * parallel_axis


def diagonal(blocks: Sequence[SX]) -> SX:
    """The block diagonal matrix; (0, 0) of none."""
    return ca.diagcat(SX(0, 0), *blocks)
