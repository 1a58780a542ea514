"""Forces in the joints and pins of a mechanism, for any of its designs."""

from __future__ import annotations

import casadi as ca

from ..equations.algebra.spatial import SX, constant
from ..equations.tree.newton_euler import joint_wrenches, outward
from ..model.tree import WORLD
from ..program.declaration import program
from .parametric import PLANE_ROWS, ParametricSystem


@program("q v a", output="reactions", matrix=True, internal=True)
def reactions(system: ParametricSystem, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Force and moment of every joint and pin (m, 3): fx, fy (N), moment (N m).

    Joints in the order of the parts: of the parent on the part, about the part's origin, the
    drive's effort included. Then the pins: of the first part on the second. In the axes of
    the ground.
    """
    closed, embedding = system.denoc(q, v)
    velocity, acceleration = embedding.motion(v, a)
    _, multipliers = closed.inverse_dynamics(acceleration)
    poses = closed.denoc.poses
    rows = embedding.rows(system.pinned, velocity)
    outside = SX.zeros(6, len(system.tree.bodies))
    pins = []
    for k, closure in enumerate(system.pinned.cluster.closures):
        count = PLANE_ROWS
        force = rows.wrenches[k][:3, :count] @ multipliers[k * count : (k + 1) * count]
        first, second = closure.predecessor, closure.successor
        if first != WORLD:
            force = poses[first][0] @ force
        for body, sign, frame in (
            (first, -1, closure.predecessor_frame),
            (second, 1, closure.successor_frame),
        ):
            if body != WORLD:
                push = sign * (poses[body][0].T @ force)
                turning = ca.cross(constant(frame.translation), push)
                outside[:, body] += ca.vertcat(push, turning)
        pins.append(ca.horzcat(force[0], force[1], 0))
    joints = []
    motions = outward(system.tree, embedding.joints, velocity, acceleration, system.gravity)
    transmitted = joint_wrenches(system.tree, embedding.joints, motions, outside)
    for (moment, force), (rotation, _) in zip(transmitted, poses, strict=True):
        push = rotation @ force
        joints.append(ca.horzcat(push[0], push[1], moment[2]))
    return ca.vertcat(*joints, *pins)
