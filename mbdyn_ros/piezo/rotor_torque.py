"""Generalized torques of a rotating force: Kulvietis et al. (2011), eqs (4) and (5).

From the link that carries the rotor inwards, body by body, in the axes of body i:

    F_i = A_i^{i+1} F_{i+1},   M_i = A_i^{i+1} M_{i+1} + h_{i,i+1} x F_i
    Q_i = M_i . z_i  (revolute)   or   F_i . z_i  (prismatic)

where h_{i,i+1} leads from the origin of body i to that of body i + 1. The paper has h_{i,i-1} and
crosses it with F_{i+1}: the arm and the force must be in the same axes, so F_i is meant. It is
J^T F without J. The torques are linear in the force, so they are worked out for its two
components at once: Q_i(wt) = X_i cos(wt) + Y_i sin(wt).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..equations.algebra.spatial import SX, JointMotion, constant, cross
from ..prepare.tree import WORLD, Tree


def rotor_torques(tree: Tree, joints: Sequence[JointMotion], link: str) -> SX:
    """X and Y (nv_tree, 2) of a force of 1 N that turns about the z axis of a link."""
    efforts = SX.zeros(tree.nv, 2)
    at, pose = tree.frames[link]
    arm = constant(pose.translation)
    for column in range(2):
        index = at
        force = constant(pose.rotation[:, column])
        moment = cross(arm, force)
        while index != WORLD:
            body, joint = tree.bodies[index], joints[index]
            efforts[body.v, column] = joint.angular.T @ moment + joint.linear.T @ force
            moment, force = joint.transform.wrench_to_parent(moment, force)
            index = body.parent
    return efforts


def levers(tree: Tree, q: SX, link: str) -> SX:
    """The largest torque that 1 N could give each tree coordinate (nv_tree, 1): m, 1 of slides.

    Parameters
    ----------
    q : tree positions; the displacement of a slide makes the levers longer.
    """
    reach = SX(float(ca.norm_2(constant(tree.frames[link][1].translation))))
    for body in tree.bodies:
        reach += float(ca.norm_2(constant(body.placement.translation)))
        if body.motion.slides:
            reach += ca.fabs(q[body.q])
    result = SX.ones(tree.nv, 1) * reach
    for body in tree.bodies:
        if body.motion.slides:
            result[body.v] = 1
    return result
