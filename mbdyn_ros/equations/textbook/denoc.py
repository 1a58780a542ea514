"""DeNOC: decoupled natural orthogonal complements, by matrices, along the bodies, and with loops.

After Kumar, Vantmuri, Chittawadigi and Saha, "Dynamic analyses of four-bar mechanism in
MechAnalyzer software"; numbers in brackets are its equations. Everything is in
world axes, every twist at a centre of mass C_i.

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

`Denoc` keeps the matrices whole, to be looked at; `RecursiveDenoc` goes along the bodies, and
`newton_euler` and `composite_body` give the same at less cost.

In our copy of the paper: N_l in (10) is (6n, 6n), lower *block* triangular, and N_d is (6n, n).
The r and d of (12) have other indices than those of (14); what counts is c_i - c_j. (16) refers
to (6), not (9). N^T w in (18) is the whole right side of (17), gravity included. Elsewhere the
left side of (6) is written M td + W M E t, with E = diag(1, 0) and W = diag(w x 1, w x 1); the
zeros of W in (4) do the work of that E.

Along the bodies, in O(n), after Saha, "A decomposition of the manipulator inertia matrix" (1997),
and in the same symbols: what N_l and N_d are as matrices are here steps from body to body. The
single columns of N_d are p_i.

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

Loops, equations (19) to (23), in `ClosedDenoc`. Cutting joints until no loop is left
leaves subsystems, trees on the ground, coupled by the velocity constraints

    J thd = 0,  in two subsystems J = [J_I  -J_II]     (21)

What the cut joints bear, lambda, is the force of the predecessor of each loop on its successor.
For all subsystems together (19) and (20) are

    I thdd + C thd = tau + tau_g + J^T lambda

Inverse dynamics: passive joints have tau = 0, so the equations of a subsystem that is passive
enough give its multipliers; put into the next subsystem these are forces like any other, and in
the end the actuated joints' equations give their torques. Forward dynamics: with Jd thd known,

    A x = B,  A = [I J^T; J 0],  x = [thdd; -lambda],  B = [tau + tau_g - C thd; -Jd thd]   (22)
    x = A^-1 B                                                                              (23)

Any cut will do: other cuts mean other subsystems and multipliers, but the same torque.

Where the paper slips: of J_II printed below (20), the element in row 1, column 2 must be
-l_3 sin(th_3 + th_4): it is the velocity of the pin in x. lambda has as many elements as J has
rows, two in the plane. A is symmetric, but not positive definite: it has as many negative
eigenvalues as J has rows, and is regular only where these are independent. (In space a planar loop
has redundant rows; they have been left out of J.) lambda of (22) is minus that of (19) and (20).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...array import Array
from ...errors import ModelError
from ...prepare.clusters import path_from
from ...prepare.tree import WORLD, Body, Tree
from ..algebra.spatial import SX, JointMotion, congruence, constant, cross, skew, symmetric
from ..formulation import Study, formulation
from ..loops.embedding import Embedding
from ..loops.linkage import solve_rows
from ..system import System
from ..tree.kinematics import body_poses
from ..tree.newton_euler import acting, rotor_inertia

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
def _recursive_efforts(study: Study) -> SX:
    recursion = RecursiveDenoc(study.system.tree, study.joints, study.velocity)
    efforts = recursion.inverse_dynamics(study.acceleration, study.gravity)
    return efforts[list(study.system.coordinates.effort)]


@formulation("forward_dynamics", "recursive DeNOC, U D U^T", applies=has_single_freedoms)
def _recursive_accelerations(study: Study) -> SX:
    recursion = RecursiveDenoc(study.system.tree, study.joints, study.velocity)
    accelerations = recursion.forward_dynamics(study.driving, study.gravity)
    return accelerations[list(study.system.coordinates.v)]


@dataclass(frozen=True)
class Subsystem:
    """Bodies of one tree on the ground that remains of the cut robot, and their coordinates."""

    bodies: tuple[int, ...]
    coordinates: tuple[int, ...]


class ClosedDenoc:
    """The equations of a robot with loops, at a closed configuration.

    Parameters
    ----------
    denoc : the matrices of the cut-open tree.
    J, J_rate : matrix (m, nv_tree) of equation (21), and Jd thd (m, 1).
    actuated : places of the actuated joints among the velocities of the tree.
    gravity : (3,) m/s^2.

    Attributes
    ----------
    subsystems : what the cuts leave.
    """

    def __init__(
        self, denoc: Denoc, J: SX, J_rate: SX, actuated: Sequence[int], gravity: Array | SX
    ) -> None:
        self.denoc, self.J, self.J_rate = denoc, J, J_rate
        self.actuated, self.gravity = tuple(actuated), gravity
        self.subsystems = find_subsystems(denoc.tree)

    @classmethod
    def of(cls, system: System, embedding: Embedding, v: SX) -> ClosedDenoc:
        """Those of a robot, cut where its description closes its loops.

        Parameters
        ----------
        system : the robot; its kept constraint rows are those of J.
        embedding : its joints, at positions where the loops are closed.
        v : thd, velocities of all tree joints (nv_tree, 1).
        """
        denoc = Denoc(system.tree, embedding.joints, v)
        rows = _constraints(system, embedding, v)
        return cls(denoc, *rows, system.coordinates.effort, system.gravity)

    def inverse_dynamics(self, a: SX, wrenches: SX | None = None) -> tuple[SX, SX]:
        """Efforts of the actuated joints, in their order, and lambda (m, 1).

        Parameters
        ----------
        a : thdd, accelerations of all tree joints (nv_tree, 1), obeying the constraints.
        wrenches : from outside on the bodies (6, n), as to `newton_euler`.

        Raises
        ------
        ModelError
            There are not as many actuated joints as degrees of freedom.
        """
        actuated, nv = self.actuated, self.denoc.tree.nv
        passive = set(range(nv)) - set(actuated)
        count = self.J.shape[0]
        if len(passive) != count or len(set(actuated)) != len(actuated):
            raise ModelError(
                f"DeNOC finds one torque for each degree of freedom, but {len(actuated)} "
                f"coordinates are actuated and the mobility is {nv - count}: "
                "name as many actuated joints, or use Robot.inverse_dynamics, whose torques are "
                "those of least norm"
            )
        missing = self.denoc.inverse_dynamics(a, self.gravity, wrenches)
        multipliers = SX.zeros(count)
        for equations, unknown in self.solution_order():
            known = self.J[:, equations].T @ multipliers
            block = ca.densify(self.J[unknown, equations].T)
            multipliers[unknown] = solve_rows(block, (missing[equations] - known))
        efforts = missing - self.J.T @ multipliers
        return ca.densify(efforts)[list(actuated)], multipliers

    def solution_order(self) -> list[tuple[list[int], list[int]]]:
        """Which passive joints' equations give which multipliers, one step after the other.

        A step takes the first subsystem with as many passive joints as unknown multipliers. Where
        there is none, the subsystems left hang together and are solved as one.
        """
        actuated = set(self.actuated)
        unknown = set(range(self.J.shape[0]))
        waiting = [
            [row for row in subsystem.coordinates if row not in actuated]
            for subsystem in self.subsystems
        ]
        steps = []
        while unknown:
            for passive in waiting:
                touching = [row for row in sorted(unknown) if self._touches(row, passive)]
                if touching and len(touching) == len(passive):
                    break
            else:
                passive, touching = sorted(sum(waiting, [])), sorted(unknown)
            steps.append((passive, touching))
            unknown -= set(touching)
            waiting = [one for one in waiting if not set(one) & set(passive)]
        return steps

    def _touches(self, row: int, coordinates: list[int]) -> bool:
        return any(not self.J[row, column].is_zero() for column in coordinates)

    @property
    def bordered_matrix(self) -> SX:
        """A of equation (22)."""
        count = self.J.shape[0]
        return ca.blockcat([[self.denoc.generalized_inertia, self.J.T], [self.J, SX(count, count)]])

    def forward_dynamics(self, tau: SX, wrenches: SX | None = None) -> tuple[SX, SX]:
        """Accelerations (nv_tree, 1) of all tree joints and lambda (m, 1), by equation (23).

        Parameters
        ----------
        tau : efforts (nv_tree, 1) in all tree joints; zero in passive ones without friction.
        wrenches : from outside on the bodies (6, n), as to `newton_euler`.
        """
        rest = SX.zeros(self.denoc.tree.nv)
        bias = self.denoc.inverse_dynamics(rest, self.gravity, wrenches)
        right = ca.vertcat(tau - bias, -self.J_rate)
        A = self.bordered_matrix
        x = solve_rows(A, right)
        x = x + solve_rows(A, right - A @ x)  # A mixes kg m^2 with m: one step of refinement
        return x[: self.denoc.tree.nv], -x[self.denoc.tree.nv :]


def find_subsystems(tree: Tree) -> list[Subsystem]:
    """The trees on the ground, each with the bodies that hang on one joint of the ground."""
    root: list[int] = []
    for i, body in enumerate(tree.bodies):
        root.append(i if body.parent == WORLD else root[body.parent])
    result = []
    for first in sorted(set(root)):
        bodies = tuple(i for i, one in enumerate(root) if one == first)
        coordinates = (range(tree.bodies[i].v.start, tree.bodies[i].v.stop) for i in bodies)
        result.append(Subsystem(bodies, tuple(row for rows in coordinates for row in rows)))
    return result


def _constraints(system: System, embedding: Embedding, v: SX) -> tuple[SX, SX]:
    """J and Jd thd of all cuts and gears, independent rows only."""
    blocks, rates = [SX(0, system.tree.nv)], [SX(0, 1)]
    for linkage in system.linkages:
        rows, kept = embedding.rows(linkage, v), list(linkage.rows)
        block = SX(len(kept), system.tree.nv)
        block[:, list(linkage.coordinates)] = rows.matrix[kept, :]
        blocks.append(block)
        rates.append(rows.drift[kept])
    return ca.vertcat(*blocks), ca.densify(ca.vertcat(*rates))


@formulation("inverse_dynamics", "DeNOC", applies=Study.is_shallow)
def _efforts(study: Study) -> SX:
    denoc = ClosedDenoc.of(study.system, study.embedding, study.velocity)
    return ca.vertcat(*denoc.inverse_dynamics(study.acceleration))


@formulation("mass_matrix", "DeNOC", applies=Study.is_shallow)
def _inertia(study: Study) -> SX:
    return Denoc(study.system.tree, study.joints, study.velocity).generalized_inertia
