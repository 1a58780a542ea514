"""DeNOC along the bodies: inverse and forward dynamics of trees in O(n) (Saha 1997, 1999).

Saha, "A decomposition of the manipulator inertia matrix" (1997), and the symbols of `denoc`: what
its N_l and N_d are as matrices are here steps from body to body. The single columns of N_d are p_i.

Inverse dynamics: twists and their rates from the base to the tips, wrenches back,

    t_i = B_ij t_j + p_i thd_i
    td_i = B_ij td_j + Bd_ij t_j + pd_i thd_i + p_i thdd_i,   pd_i = diag(w_i x 1, w_i x 1) p_i
    w_i = M_i td_i + W_i M_i t_i + sum_k B_ki^T w_k           over the children k
    tau_i = p_i^T w_i

Forward dynamics: Gaussian elimination of I from its last row on gives I = U D U^T, U upper
triangular with ones on its diagonal, whose elements have the form of I's own:

    I_ij = p_i^T B_ji^T M~_j p_j,         M~_i = M_i + sum_k B_ki^T M~_k B_ki        (composite)
    D_i = p_i^T psi_i,                    psi_i = M^_i p_i
    U_ij = p_i^T B_ji^T psi_j / D_j,      M^_i = M_i + sum_k B_ki^T M-_k B_ki
                                          M-_k = M^_k - psi_k psi_k^T / D_k          (articulated)

M^_i is the articulated-body inertia: the elimination takes out of what body i feels that which its
children's joints give way. With phi = tau + tau_g - C thd, U D U^T thdd = phi is solved without U,

    U D y = phi:      eta_i = sum_k B_ki^T (eta_k + psi_k y_k),   y_i = (phi_i - p_i^T eta_i) / D_i
    U^T thdd = y:     thdd_i = y_i - psi_i^T mu_i / D_i,          mu_i = B_ij (mu_j + p_j thdd_j)

Rotors in joints add their inertia to D_i. One division for each joint is all that is divided.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ...array import Array
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, JointMotion, constant, skew
from ..formulation import Study, formulation
from ..tree.acting import acting
from ..tree.kinematics import body_poses
from .denoc import centers_of, diagonal, joint_propagation, mass, twist_propagation


class RecursiveDenoc:
    """The steps from body to body of a tree whose joints have one freedom each.

    Parameters
    ----------
    joints : motion of each body's joint, at its position. v : thd (nv, 1).

    Attributes
    ----------
    p, M : of every body (6, 1), (6, 6). B : from its parent (6, 6).
    t, drift : twists, and td at thdd = 0 without that of the parent (6, 1).
    """

    def __init__(self, tree: Tree, joints: Sequence[JointMotion], v: SX) -> None:
        self.tree, self.v, poses = tree, v, body_poses(tree, joints)
        centers, self._rotors = centers_of(tree, poses), acting(tree, "armature")
        self.p = [joint_propagation(*one) for one in zip(joints, poses, centers, strict=True)]
        self.M = [mass(body, turned) for body, (turned, _) in zip(tree.bodies, poses, strict=True)]
        self.B, self.t, self.drift = list[SX](), list[SX](), list[SX]()
        for i, body in enumerate(tree.bodies):
            j, rate = body.parent, v[body.v]
            at_base = j == WORLD
            base, t_j = (SX.zeros(3), SX.zeros(6)) if at_base else (centers[j], self.t[j])
            self.B.append(twist_propagation(centers[i] - base))
            self.t.append(self.B[i] @ t_j + self.p[i] * rate)
            spin, lever = skew(self.t[i][:3]), self.t[i][3:] - t_j[3:]
            turning = ca.vertcat(SX.zeros(3), -skew(lever) @ t_j[:3])
            self.drift.append(turning + diagonal([spin, spin]) @ (self.p[i] * rate))

    def inverse_dynamics(self, a: SX, gravity: Array | SX) -> SX:
        """tau (nv, 1) at accelerations thdd; gravity is an acceleration of the base against it."""
        bodies, w, rates = self.tree.bodies, list[SX](), list[SX]()
        rest = ca.vertcat(SX.zeros(3), -constant(gravity))
        for i, body in enumerate(bodies):
            before = rest if body.parent == WORLD else rates[body.parent]
            rates.append(self.B[i] @ before + self.drift[i] + self.p[i] * a[body.v])
            turned = skew(self.t[i][:3]) @ (self.M[i] @ self.t[i])[:3]
            w.append(self.M[i] @ rates[i] + ca.vertcat(turned, SX.zeros(3)))
        tau = SX(len(bodies), 1)
        for i, body in reversed(list(enumerate(bodies))):
            tau[body.v] = self.p[i].T @ w[i] + self._rotors[body.v] * a[body.v]
            if body.parent != WORLD:
                w[body.parent] += self.B[i].T @ w[i]
        return ca.densify(tau)

    def decomposition(self) -> tuple[list[SX], list[SX]]:
        """psi_i (6, 1) and D_i of I = U D U^T."""
        articulated, psi = list(self.M), [SX.zeros(6) for _ in self.M]
        D = [SX(0) for _ in self.M]
        for i, body in reversed(list(enumerate(self.tree.bodies))):
            psi[i] = articulated[i] @ self.p[i]
            D[i] = self.p[i].T @ psi[i] + self._rotors[body.v]
            if body.parent != WORLD:
                left = articulated[i] - psi[i] @ (psi[i] / D[i]).T
                articulated[body.parent] += self.B[i].T @ left @ self.B[i]
        return psi, D

    def forward_dynamics(self, tau: SX, gravity: Array | SX) -> SX:
        """thdd (nv, 1) under efforts tau (nv, 1)."""
        bodies, (psi, D) = self.tree.bodies, self.decomposition()
        phi = tau - self.inverse_dynamics(SX.zeros(len(bodies)), gravity)
        eta, y = [SX.zeros(6) for _ in bodies], [SX(0) for _ in bodies]
        for i, body in reversed(list(enumerate(bodies))):
            y[i] = (phi[body.v] - self.p[i].T @ eta[i]) / D[i]
            if body.parent != WORLD:
                eta[body.parent] += self.B[i].T @ (eta[i] + psi[i] * y[i])
        result, moved = SX(len(bodies), 1), list[SX]()
        for i, body in enumerate(bodies):
            mu = SX.zeros(6) if body.parent == WORLD else self.B[i] @ moved[body.parent]
            result[body.v] = a = y[i] - psi[i].T @ mu / D[i]
            moved.append(mu + self.p[i] * a)
        return ca.densify(result)


def has_single_freedoms(study: Study) -> bool:
    """Whether it is a tree of joints of one freedom each."""
    system = study.system
    return not system.linkages and all(body.motion.nv == 1 for body in system.tree.bodies)


@formulation("inverse_dynamics", "recursive DeNOC", applies=has_single_freedoms)
def _efforts(study: Study) -> SX:
    recursion = RecursiveDenoc(study.system.tree, study.joints, study.velocity)
    efforts = recursion.inverse_dynamics(study.acceleration, study.gravity)
    return efforts[list(study.system.coordinates.effort)]


@formulation("forward_dynamics", "recursive DeNOC, U D U^T", applies=has_single_freedoms)
def _accelerations(study: Study) -> SX:
    recursion = RecursiveDenoc(study.system.tree, study.joints, study.velocity)
    accelerations = recursion.forward_dynamics(study.driving, study.gravity)
    return accelerations[list(study.system.coordinates.v)]
