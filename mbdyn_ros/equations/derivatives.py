"""Derivatives of a robot's dynamics by its independent coordinates, loops closed throughout.

With the tree's efforts tau(q_t, v_t, a_t), v_t = G v and a_t = G a + g, the reduced efforts
r = G^T tau change along the independent coordinates by

    dr/dq = d(G^T) tau/dq + G^T (tau_q G + tau_v dv_t/dq + H da_t/dq)
    dr/dv = G^T (tau_v G + H dg/dv),    dr/da = G^T H G,

tau_q, tau_v and H by the recursion of `newton_euler_derivatives`, the small expressions of the
loops by automatic differentiation. Forward dynamics follows from r(q, v, a) = G_act^T effort:

    H_r da = (d(G_act^T) effort/dq - dr/dq) dq - dr/dv dv + G_act^T deffort.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..program.elimination import Elimination
from ..program.program import program
from ..program.stages import Staged, StageProduct, StageRows, Stages
from .actuation import actuated, driving, joint_springs
from .algebra.spatial import SX
from .system import System
from .tree.newton_euler import acting, joint_friction
from .tree.newton_euler_derivatives import MotionTables, TreeDerivatives
from .tree.newton_euler_derivatives import inverse_dynamics_derivatives as tree_derivatives


class EffortDerivatives:
    """Efforts of the independent coordinates and of the actuators, and their derivatives.

    The arguments are those of `programs.inverse_dynamics`; all of them must be plain symbols.

    Attributes
    ----------
    independent, actuated : [efforts, by q, by v, by a], one row an effort, one column a velocity
        coordinate; of a floating base q changes by a shift and a turn in its own axes.
    """

    def __init__(
        self, system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None, friction: bool
    ) -> None:
        self._system, self._q, self._z = system, q, z
        self.embedding = embedding = system.embedding(q, z)
        matrix = embedding.matrix
        velocity, acceleration = embedding.motion(v, a)
        tree = tree_derivatives(
            system.regrouped, embedding.joints, velocity, acceleration, system.gravity, wrenches
        )
        efforts = tree.efforts + joint_springs(system, embedding)
        by_q, by_v = tree.by_q + ca.diag(acting(system.tree, "spring_stiffness")), tree.by_v
        if friction:
            efforts = efforts + joint_friction(system.tree, velocity)
            by_v = by_v + ca.diag(acting(system.tree, "damping"))
        turned = by_q @ matrix + by_v @ self._along_q(velocity)
        turned = turned + tree.by_a @ self._along_q(acceleration)
        driven = by_v @ matrix + tree.by_a @ ca.jacobian(acceleration, v)
        self.independent = [
            embedding.reduce(efforts),
            self._turning(embedding.reduce, efforts) + matrix.T @ turned,
            matrix.T @ driven,
            matrix.T @ tree.by_a @ matrix,
        ]

    @property
    def actuated(self) -> list[SX]:
        """Efforts of the actuators and their derivatives, see the class."""
        reduced, *by = self.independent

        def actuators(efforts: SX) -> SX:
            return actuated(self._system, self.embedding, efforts)

        none = SX(len(self._system.coordinates.effort), 0)

        def each(columns: SX) -> SX:
            return ca.horzcat(none, *(actuators(columns[:, k]) for k in range(columns.shape[1])))

        by_q, by_v, by_a = (each(columns) for columns in by)
        turning = self._turning(actuators, reduced)
        return [actuators(reduced), by_q + turning, by_v, by_a]

    def causes(self, effort: SX) -> SX:
        """The mass matrix times the derivatives of the accelerations by q, v and effort, side by
        side; `effort` causes the motion."""
        _, by_q, by_v, _ = self.independent
        by_effort = driving(self._system, self.embedding, SX.eye(effort.shape[0]))
        shifted = self._along_q(driving(self._system, self.embedding, effort)) - by_q
        return ca.horzcat(shifted, -by_v, by_effort)

    def _turning(self, projection: Callable[[SX], SX], efforts: SX) -> SX:
        """Derivative by q of a projection of constant efforts."""
        constant = SX.sym("efforts", efforts.shape)
        return ca.substitute(self._along_q(projection(constant)), constant, efforts)

    def _along_q(self, expression: SX) -> SX:
        """Derivative by q of an expression of the loops: no floating joint is in one."""
        coordinates, tree = self._system.coordinates, self._system.tree
        matrix, columns = self.embedding.matrix, {}
        for body in tree.bodies:
            if body.motion.nv == 1:
                columns[body.q.start] = body.v.start
        by_z = ca.jacobian(expression, self._z)
        by_q = ca.jacobian(expression, self._q)
        result = by_z @ matrix[[columns[row] for row in self._system.numerical_dependent_rows], :]
        for k, row in enumerate(coordinates.q):
            if row in columns:
                column = coordinates.v.index(columns[row])
                result[:, column] = result[:, column] + by_q[:, k]
        return result


@program(
    "q v a", output="derivatives", matrix=True, loaded=True, differentiated=True,
    needs="drives",
)  # fmt: skip
def inverse_dynamics_derivatives(
    system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
) -> SX | Staged:
    """Derivatives of the actuators' efforts by q, v and a, side by side: (efforts, 3 nv)."""
    if is_tree(system) and system.coordinates.effort == system.coordinates.v:
        return tree_effort_derivatives(system, q, z, v, a, wrenches, friction)
    derivatives = EffortDerivatives(system, q, z, v, a, wrenches, friction)
    return ca.densify(ca.horzcat(*derivatives.actuated[1:]))


@program(
    "q v effort", output="derivatives", matrix=True, loaded=True, differentiated=True,
    needs="mass",
)  # fmt: skip
def forward_dynamics_derivatives(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    effort: SX,
    wrenches: SX | None = None,
    friction: bool = True,
) -> SX | Staged:
    """Derivatives of the accelerations by q, v and effort, side by side: (nv, 2 nv + efforts)."""
    if is_tree(system):
        return tree_acceleration_derivatives(system, q, z, v, effort, wrenches, friction)
    a = SX.sym("a", v.shape)
    derivatives = EffortDerivatives(system, q, z, v, a, wrenches, friction)
    at_rest = ca.substitute(derivatives.independent[0], a, SX.zeros(*a.shape))
    elimination = Elimination.of(derivatives.independent[3])
    motion = elimination.solve(driving(system, derivatives.embedding, effort) - at_rest)
    causes = ca.densify(derivatives.causes(effort))
    causes = ca.substitute(causes, a, motion)
    if causes.is_empty():
        return causes
    stages = Stages()
    right = stages.written(causes)
    factors = stages.written(elimination.triangle)
    return Staged(stages, right, elimination, factors)


def is_tree(system: System) -> bool:
    """Whether the coordinates are those of the tree, in its order."""
    return not system.linkages and system.coordinates.v == tuple(range(system.tree.nv)) != ()


def tree_effort_derivatives(
    system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None, friction: bool
) -> Staged:
    """Derivatives of the efforts by q, v and a, side by side: (nv, 3 nv)."""
    stages = Stages()
    joints = system.embedding(q, z).joints
    tree = TreeDerivatives(stages, system.regrouped, joints, v, system.gravity, wrenches)
    by_q, by_v = _by_motion(tree, tree.motion(a), friction)
    return Staged(stages, stages.multiplied(by_q, by_v, tree.by_acceleration()))


def tree_acceleration_derivatives(
    system: System, q: SX, z: SX, v: SX, effort: SX, wrenches: SX | None, friction: bool
) -> Staged:
    """Derivatives of the accelerations by q, v and effort, side by side: (nv, 2 nv + efforts).

    From -H d(a) = d tau/dq dq + d tau/dv dv - G_act^T d(effort), at the motion that the efforts
    cause.
    """
    stages, embedding = Stages(), system.embedding(q, z)
    nv, actuated = system.tree.nv, system.coordinates.effort
    tree = TreeDerivatives(stages, system.regrouped, embedding.joints, v, system.gravity, wrenches)
    bias = tree.efforts(tree.motion(SX.zeros(nv))) + joint_springs(system, embedding)
    if friction:
        bias = bias + joint_friction(system.tree, v)
    lower = np.tri(nv, dtype=bool)
    elimination, factors = stages.factored(stages.multiplied(tree.by_acceleration(lower)))
    a = elimination.solve(bias - driving(system, embedding, effort))
    by_q, by_v = _by_motion(tree, tree.motion(a), friction)
    moves = np.eye(nv, dtype=bool)[:, list(actuated)]
    ones, minus = SX.ones(1, nv), -SX.ones(1, len(actuated))
    by_effort = StageProduct(_row(stages, ones), _row(stages, minus), moves)
    right = stages.multiplied(by_q, by_v, (by_effort,))
    return Staged(stages, right, elimination, factors)


def _by_motion(
    tree: TreeDerivatives, motion: MotionTables, friction: bool
) -> tuple[tuple[StageProduct, ...], tuple[StageProduct, ...]]:
    """Derivatives of the efforts by q and by v, with springs and, if wanted, damping."""
    by_q, by_v = tree.by_motion(motion)
    by_q = *by_q, *tree.diagonal("spring_stiffness")
    return by_q, (*by_v, *tree.diagonal("damping")) if friction else by_v


def _row(stages: Stages, numbers: SX) -> StageRows:
    return stages.written(numbers)[0:1]
