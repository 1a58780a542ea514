"""Lagrange-Euler dynamics of serial robots: the method of Uicker and Kahn.

After Kulvietis, Bansevicius, Cepulkauskas and Kulvietiene, "Computer algebra for solving dynamics
problems of piezoelectric robots with large number of joints"; numbers in brackets are its
equations. The pose of link j in the world is the homogeneous (4, 4)

    W_j = A_0^1 A_1^2 ... A_{j-1}^j                                         (8), (9)

and joint i moves it by a constant E_i in its own frame, dA_{i-1}^i/dq_i = A_{i-1}^i E_i, with
E_i = [skew(axis) 0; 0 0] (revolute) or [0 axis; 0 0] (prismatic), so that for k <= l <= j

    dW_j/dq_k        = W_k E_k (A_k^{k+1} ... A_{j-1}^j)
    d2W_j/dq_k dq_l  = W_k E_k (A_k^{k+1} ... A_{l-1}^l) E_l (A_l^{l+1} ... A_{j-1}^j)

With the pseudo-inertia J_j = integral of r r^T dm, r = (x, y, z, 1) in the link's frame,

    P = H(q) qdd + qd^T C(q) qd + g(q)                                      (1), (2)
    H_ik  = sum_{j >= max(i, k)}    tr(dW_j/dq_i J_j (dW_j/dq_k)^T)         (7)
    C_ikl = sum_{j >= max(i, k, l)} tr(dW_j/dq_i J_j (d2W_j/dq_k dq_l)^T)
    g_i   = -sum_{j >= i} m_j g^T dW_j/dq_i r_j

C_ikl are Christoffel's symbols of the first kind: symmetric in k and l, and Hdot - 2 C qd is skew.

Where the paper slips: (11) gives the vector from one link's origin to the next as
(a, d sin(alpha), d cos(alpha)): that is in the axes of the moving link k, whereas the column of (9)
that goes with the rotation (10) is in those of link k - 1: (a cos(q), a sin(q), d).

In our copy of the paper (7) sums over k, dW_k/dq_k has no transpose and H_ij no second index; the
sum is over the links j that both joints carry, as in (1). The identity of (9) is the number 1.

Any frames serve that move with the links; those of the `Tree` are on the joints' axes, so that
the matrices hold few numbers. `model/read/dh_table.py` reads the frames of Denavit and Hartenberg.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...errors import InputError
from ...model.inertia import RigidInertia
from ...model.model import Array
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, JointMotion, constant, symmetric
from ..formulation import Study, formulation
from ..tree.gibbs_motion import compound, generator
from ..tree.newton_euler import rotor_inertia

KINDS = ("revolute", "prismatic")

MOST_JOINTS = 12
"""Joints up to which the form, of cost n^4, is written down to be counted."""


class LagrangeEuler:
    """The equations of motion of a serial robot in closed form.

    Parameters
    ----------
    tree : one chain of revolute and prismatic joints.
    joints : motion of each body's joint, at its position.
    gravity : (3,), m/s^2, in the world.

    Attributes
    ----------
    W : homogeneous matrix (4, 4) of every body in the world, from the root outwards.
    H : mass matrix (n, n).
    C : n matrices (n, n), the array C_ikl of centrifugal (k = l) and Coriolis coefficients;
        rows and columns follow the tree coordinates, as do those of `H`.
    g : efforts (n, 1) that hold the robot at rest.

    Raises
    ------
    InputError
        The robot branches, or has a joint that is neither revolute nor prismatic.

    Examples
    --------
    >>> from mbdyn_ros.equations.algebra.spatial import joint_motion
    >>> from mbdyn_ros.model import read_urdf
    >>> from mbdyn_ros.prepare.tree import build_tree
    >>> tree = build_tree(read_urdf('''<robot name="pendulum"><link name="world"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    ...     <inertia ixx="0" iyy="0.25" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
    ...   <joint name="hinge" type="continuous"><axis xyz="0 -1 0"/>
    ...     <parent link="world"/><child link="rod"/></joint></robot>'''))
    >>> form = LagrangeEuler(tree, [joint_motion(tree.bodies[0], SX(0))], [0, 0, -9.81])
    >>> form.H, form.g
    (SX(0.75), SX(9.81))
    """

    def __init__(
        self, tree: Tree, joints: Sequence[JointMotion], gravity: Sequence[float] | Array
    ) -> None:
        require_serial(tree)
        self.tree = tree
        self._rows = [body.v.start for body in tree.bodies]
        n = tree.nv
        self.W: list[SX] = []
        self.H, self.g = SX(n, n), SX(n, 1)
        self.C = tuple(SX(n, n) for _ in range(n))
        weight = SX(ca.vertcat(constant(np.asarray(gravity)), SX(1, 1)))
        whole = SX.eye(4)
        first: list[SX] = []
        second: dict[tuple[int, int], SX] = {}
        for j, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
            step = ca.sparsify(compound(joint))  # A_{j-1}^j
            moving = ca.sparsify(generator(joint.angular, joint.linear))  # E_j
            whole = ca.mtimes(whole, step)
            first = [derivative @ step for derivative in first]
            second = {pair: derivative @ step for pair, derivative in second.items()}
            first.append(whole @ moving)
            second.update({(k, j): first[k] @ moving for k in range(j + 1)})
            self.W.append(whole)
            self._add_link(body.inertia, first, second, weight)
        self.H = self.H + rotor_inertia(tree)

    def _add_link(
        self,
        inertia: RigidInertia,
        first: list[SX],
        second: dict[tuple[int, int], SX],
        weight: SX,
    ) -> None:
        """Add the terms of one link to H, C and g."""
        pseudo = pseudo_inertia(inertia)
        momenta = [derivative @ pseudo for derivative in first]
        # tr(A B^T) of matrices is the scalar product of their elements
        left = ca.horzcat(*(ca.vec(matrix) for matrix in momenta)).T
        masses = symmetric(left @ ca.horzcat(*(ca.vec(matrix) for matrix in first)))
        curves = left @ ca.horzcat(*(ca.vec(matrix) for matrix in second.values()))
        for i, momentum in enumerate(momenta):
            row = self._rows[i]
            self.g[row] -= ca.dot(weight, momentum[:, 3])
            for k in range(len(first)):
                self.H[row, self._rows[k]] += masses[i, k]
            for column, (k, l) in enumerate(second):  # noqa: E741
                coefficient = curves[i, column]
                self.C[row][self._rows[k], self._rows[l]] += coefficient
                if k != l:
                    self.C[row][self._rows[l], self._rows[k]] += coefficient

    def coriolis_matrix(self, v: SX) -> SX:
        """C qd (n, n): the matrix of sum_l C_ikl qd_l. Times qd it gives the Coriolis efforts."""
        return ca.vertcat(*((matrix @ v).T for matrix in self.C)) if self.C else SX(0, 0)

    def coriolis_vector(self, v: SX) -> SX:
        """Centrifugal and Coriolis efforts qd^T C qd (n, 1)."""
        return ca.vertcat(*(v.T @ matrix @ v for matrix in self.C)) if self.C else SX(0, 1)

    def efforts(self, v: SX, a: SX) -> SX:
        """P (n, 1), N m or N, of eqs (1), (2): inverse dynamics without friction."""
        return ca.densify(self.H @ a + self.coriolis_vector(v) + self.g)


def pseudo_inertia(inertia: RigidInertia) -> SX:
    """J_j (4, 4): second and first moments of mass about the origin, and the mass."""
    whole = np.empty((4, 4))
    whole[:3, :3] = np.trace(inertia.second) / 2 * np.eye(3) - inertia.second
    whole[:3, 3] = whole[3, :3] = inertia.first
    whole[3, 3] = inertia.mass
    return ca.sparsify(constant(whole))


def require_serial(tree: Tree) -> None:
    """Refuse robots that are not one chain of revolute and prismatic joints.

    Raises
    ------
    InputError
        The message names the joint, or the links that branch.
    """
    for index, body in enumerate(tree.bodies):
        if body.kind not in KINDS:
            raise InputError(
                f"the Lagrange-Euler form needs revolute or prismatic joints; joint "
                f"{body.joint!r} is {body.kind}. Use newton_euler or composite_body."
            )
        if body.parent != index - 1:
            one = tree.bodies[index]
            other = next(b for b in tree.bodies[:index] if b.parent == body.parent)
            start = "the world" if body.parent == WORLD else repr(tree.bodies[body.parent].name)
            raise InputError(
                f"the Lagrange-Euler form needs one chain of joints, but links {other.name!r} "
                f"and {one.name!r} both start at {start}. Use newton_euler or composite_body."
            )


def is_short_chain(study: Study) -> bool:
    """Whether the robot is one chain of few revolute and prismatic joints."""
    try:
        require_serial(study.system.tree)
    except InputError:
        return False
    return not study.system.linkages and 0 < study.system.tree.nv <= MOST_JOINTS


def _form(study: Study) -> LagrangeEuler:
    return LagrangeEuler(study.system.regrouped, study.joints, study.gravity)


@formulation("inverse_dynamics", "Lagrange-Euler", applies=is_short_chain)
def _efforts(study: Study) -> SX:
    return _form(study).efforts(study.velocity, study.acceleration)


@formulation("mass_matrix", "Lagrange-Euler", applies=is_short_chain)
def _inertia(study: Study) -> SX:
    return _form(study).H
