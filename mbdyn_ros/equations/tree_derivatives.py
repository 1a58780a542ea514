"""Derivatives of a robot without constraints, in stages: its coordinates are those of the tree."""

from __future__ import annotations

import numpy as np

from ..program.stages import Staged, StageProduct, StageRows, Stages
from .algebra.spatial import SX
from .efforts import driving, joint_springs
from .system import System
from .tree.acting import joint_friction
from .tree.newton_euler_derivatives import MotionTables, TreeDerivatives


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
