"""DeNOC with loops: cut open, held together by Lagrange multipliers.

Equations (19) to (23) of the paper that `denoc` follows. Cutting joints until no loop is left
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

from ...errors import ModelError
from ...model.model import Array
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX
from ..formulation import Study, formulation
from ..loops.embedding import Embedding
from ..loops.linkage import solve_rows
from ..system import System
from .denoc import Denoc


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
