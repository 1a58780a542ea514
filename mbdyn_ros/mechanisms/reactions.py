"""Forces in the joints and pins of a mechanism, and on its ground, for any of its designs.

The shaking force and moment are what the inertia of the parts does to the ground.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..equations.algebra.spatial import SX, constant
from ..equations.tree.newton_euler import forward_pass, inertial_wrenches, joint_wrenches
from ..prepare.tree import WORLD
from ..program.declaration import program
from .layout import GearMesh
from .parametric import PLANE_ROWS, ParametricSystem

TURN_ROW = 5
"""The moment across the plane, in a force and moment."""


@program("q v a", output="reactions", matrix=True, internal=True, loaded=True)
def reactions(
    system: ParametricSystem,
    q: SX,
    z: SX,
    v: SX,
    a: SX,
    wrenches: SX | None = None,
    friction: bool = True,
) -> SX:
    """Force and moment of every joint and pin (m, 3): fx, fy (N), moment (N m).

    Joints in the order of the parts: of the parent on the part, about the part's origin, the
    drive's effort included. Then the pins: of the first part on the second; then the
    meshes: of the driver on the driven. In the axes of the ground.

    wrenches : (6, parts), what acts on the parts besides.
    """
    closed, embedding = system.denoc(q, v)
    velocity, acceleration = embedding.motion(v, a)
    _, multipliers = closed.inverse_dynamics(acceleration, wrenches)
    poses = closed.denoc.poses
    rows = embedding.rows(system.pinned, velocity)
    outside = SX.zeros(6, len(system.tree.bodies)) if wrenches is None else wrenches + 0
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
    meshes = [
        _tooth_force(system, poses, mesh, moment, outside)
        for mesh, moment in zip(
            system.mechanism.layout().meshes,
            ca.vertsplit(multipliers[PLANE_ROWS * len(pins) :]),
            strict=False,  # none, of gears that pins hold
        )
    ]
    joints = []
    motions = forward_pass(system.tree, embedding.joints, velocity, acceleration, system.gravity)
    transmitted = joint_wrenches(system.tree, embedding.joints, motions, outside)
    for (moment, force), (rotation, _) in zip(transmitted, poses, strict=True):
        push = rotation @ force
        joints.append(ca.horzcat(push[0], push[1], moment[2]))
    return ca.vertcat(*joints, *pins, *meshes)


def _tooth_force(
    system: ParametricSystem, poses: Any, mesh: GearMesh, moment: SX, outside: SX
) -> SX:
    """The force of the driver of a mesh on the driven (1, 3), added to what acts from outside.

    It acts at the pitch point, across the line between the axles. moment : about the axle of
    the driven, N m. Wheels on one axle share a couple alone.
    """
    order = system.mechanism.layout().order
    bodies = [order.get(name, WORLD) for name, _ in mesh.factors]
    driven, driver, carrier = bodies
    ends = [poses[carrier if one == WORLD else one][1] for one in (driver, driven)]
    apart = ends[1] - ends[0]
    if apart.is_zero():
        for body, (_, factor) in zip(bodies, mesh.factors, strict=True):
            if body != WORLD:
                outside[TURN_ROW, body] += factor * moment
        return ca.horzcat(0, 0, moment)
    lean = moment * (mesh.ratio - 1) / ca.sumsqr(apart)
    force = lean * ca.vertcat(-apart[1], apart[0], 0)
    point = ends[0] + apart * (mesh.ratio / (mesh.ratio - 1))
    for body, sign in ((driven, 1), (driver, -1)):
        if body != WORLD:
            rotation, origin = poses[body]
            push = sign * (rotation.T @ force)
            arm = rotation.T @ (point - origin)
            outside[:, body] += ca.vertcat(push, ca.cross(arm, push))
    return ca.horzcat(force[0], force[1], 0)


@program("q v a", output="shaking", matrix=True, internal=True)
def shaking(system: ParametricSystem, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Shaking force fx, fy (N) and moment (N m) about the origin (3, 1), in the ground's axes.

    They are -d/dt of the linear and of the angular momentum of all parts.
    """
    closed, embedding = system.denoc(q, v)
    motions = forward_pass(system.tree, embedding.joints, *embedding.motion(v, a), np.zeros(3))
    moments, forces = inertial_wrenches(system.tree, motions, None)
    total = SX.zeros(3, 1)
    for moment, force, (rotation, origin) in zip(moments, forces, closed.denoc.poses, strict=True):
        push = rotation @ force
        turning = (rotation @ moment)[2] + origin[0] * push[1] - origin[1] * push[0]
        total -= ca.vertcat(push[0], push[1], turning)
    return total
