"""Forces in the joints of a mechanism and on its ground, and the friction that they make.

The shaking force and moment are what the inertia of the parts does to the ground.

Friction: a pin of radius r turns against r mu |F|, F the force in it, and against d w; a slide
against mu |N|, N its force across the slide, and d v. All forces are affine in the friction
T = (T_1, ..., T_m) of the joints, so that of every instant

    T_i = -sign(w_i) mu_i r_i |F_i(T)| - d_i w_i,    F(T) = F(0) + A T

is a fixed point; it is solved by Newton's method to rounding. Joints at rest have no dry friction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..equations.actuation import joint_springs
from ..equations.algebra.spatial import SX, constant
from ..equations.loops.embedding import Embedding
from ..equations.tree.newton_euler import (
    forward_pass,
    inertial_wrenches,
    joint_wrenches,
    total_wrench,
)
from ..errors import InputError, unknown
from ..model.model import Array
from ..prepare.tree import WORLD
from ..program.program import program
from .disk_cam import DiskCam
from .layout import GearMesh, MechanismLayout, PartConnection
from .mechanism import Mechanism
from .parametric import PLANE_ROWS, ParametricSystem, run
from .pose import MechanismPose

SLIDE_ROW, TURN_ROW = 0, 5
"""The force along x and the moment across the plane, in a force and moment."""


@program("q v a", output="reactions", matrix=True, internal=True)
def reactions(system: ParametricSystem, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Force and moment of every joint and pin (m, 3): fx, fy (N), moment (N m).

    Joints in the order of the parts: of the parent on the part, about the part's origin, the
    drive's effort included. Then the pins: of the first part on the second; then the
    meshes: of the driver on the driven, and the cams: on the followers. In the axes of the ground.
    """
    return _reactions(system, q, v, a, SX.zeros(len(system.mechanism.layout().connections)))


@program("q v a", output="response", matrix=True, internal=True)
def friction_response(system: ParametricSystem, q: SX, z: SX, v: SX, a: SX) -> SX:
    """The same, and next to it what friction 1 of each joint and pin adds to it (m, 3 (1 + k))."""
    friction = SX.sym("friction", len(system.mechanism.layout().connections))
    found = _reactions(system, q, v, a, friction)
    slopes = ca.horzsplit(ca.jacobian(ca.vec(found), friction))
    columns = [ca.reshape(one, found.shape) for one in slopes]
    return ca.densify(ca.horzcat(ca.substitute(found, friction, 0 * friction), *columns))


def _reactions(system: ParametricSystem, q: SX, v: SX, a: SX, friction: SX) -> SX:
    """See `reactions`, under friction (k, 1) of the joints and pins: moment (N m) of a pin, force
    (N) of a slide, on its second part."""
    closed, embedding = system.denoc(q, v)
    velocity, acceleration = embedding.motion(v, a)
    layout = system.mechanism.layout()
    outside, poses = SX.zeros(6, len(system.tree.bodies)), closed.denoc.poses
    for joint, effort in zip(layout.connections, ca.vertsplit(friction), strict=True):
        bodies = [layout.order.get(name, WORLD) for name in (joint.second, joint.first)]
        rotation, origin = poses[bodies[0]]
        rub, moment = (rotation[:, 0] * effort, 0) if joint.slides else (SX.zeros(3), effort)
        _press(poses, origin, rub, bodies, outside, moment)
    springs = ca.vertsplit(joint_springs(system, embedding))
    for cam in layout.cams:
        body = layout.order[cam.follower]
        outside[TURN_ROW if cam.arm is not None else SLIDE_ROW, body] -= springs[body]
    _, multipliers = closed.inverse_dynamics(acceleration, outside + 0)
    rows = embedding.rows(system.pinned, velocity)
    pins = []
    for k, pin in enumerate(system.pinned.cluster.closures):
        held = slice(PLANE_ROWS * k, PLANE_ROWS * (k + 1))
        force = rows.wrenches[k][:3, :PLANE_ROWS] @ multipliers[held]
        if pin.predecessor != WORLD:
            force = poses[pin.predecessor][0] @ force
        rotation, origin = poses[pin.successor]
        place = origin + rotation @ constant(pin.successor_frame.translation)
        pins.append(_press(poses, place, force, (pin.successor, pin.predecessor), outside))
    others = iter(ca.vertsplit(multipliers[PLANE_ROWS * len(pins) :]))
    meshes = [
        _tooth_force(system, poses, mesh, moment, outside)
        for mesh, moment in zip(layout.meshes, others, strict=False)  # none, of gears pins hold
    ]
    meshes += [
        _cam_force(embedding, layout, cam, poses, effort, outside)
        for cam, effort in zip(layout.cams, others, strict=True)
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
    return _press(poses, point, force, (driven, driver), outside)


def _press(
    poses: Any, point: SX, force: SX, bodies: Sequence[int], outside: SX, moment: SX | int = 0
) -> SX:
    """A force at a point, and a moment, on the first of two bodies, from the second: (1, 3), added
    to both."""
    for body, sign in zip(bodies, (1, -1), strict=True):
        if body != WORLD:
            rotation, origin = poses[body]
            push = sign * (rotation.T @ force)
            arm = rotation.T @ (point - origin)
            outside[:, body] += ca.vertcat(push, ca.cross(arm, push))
            outside[TURN_ROW, body] += sign * moment
    return ca.horzcat(force[0], force[1], moment)


def _cam_force(
    embedding: Embedding, layout: MechanismLayout, cam: DiskCam, poses: Any, effort: SX, outside: SX
) -> SX:
    """The force of a cam on its follower (1, 3), added to what acts from outside.

    It acts along the normal of the pitch curve in the roller's centre, or along the slide of a
    flat face. effort : of the contact in the follower's joint, N or N m.
    """
    driver, driven = layout.order[cam.cam], layout.order[cam.follower]
    shaft, own = (embedding.matrix[body, :] for body in (driver, driven))
    shaft_column = next(k for k in range(shaft.shape[1]) if not shaft[k].is_zero())
    slope = own[shaft_column] / shaft[shaft_column]
    (_, axle), (rotation, origin) = poses[driver], poses[driven]
    if cam.arm is None:
        at, lever = origin, rotation[:, 0]
    else:
        arm = rotation @ ca.vertcat(cam.arm, 0, 0)
        at, lever = origin + arm, ca.vertcat(-arm[1], arm[0], 0)
    towards = ca.vertcat(-lever[1], lever[0], 0) * slope
    if cam.flat:
        at, normal = axle - towards, lever
    else:
        normal = at - axle + towards
    force = normal * (effort / ca.dot(normal, lever))
    return _press(poses, at, force, (driven, driver), outside)


@program("q v a", output="shaking", matrix=True, internal=True)
def shaking(system: ParametricSystem, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Shaking force fx, fy (N) and moment (N m) about the origin (3, 1), in the ground's axes.

    They are -d/dt of the linear and of the angular momentum of all parts.
    """
    embedding = system.embedding(q, z)
    motions = forward_pass(system.tree, embedding.joints, *embedding.motion(v, a), np.zeros(3))
    wrenches = inertial_wrenches(system.tree, motions, None)
    moment, force = total_wrench(system.tree, embedding.joints, *wrenches)
    return -ca.vertcat(force[0], force[1], moment[2])


FRICTION_ITERATIONS = 30
"""Newton's iterations; a few suffice."""

FRICTION_SETTLED = 1e-12
"""Change of friction, as a share of the largest, below which it is accepted."""

JOINT_AT_REST = 1e-14
"""Speed of a joint, as a share of the largest, that is rounding: its joint is at rest."""


@dataclass(frozen=True)
class Friction:
    """The friction of a joint.

    coefficient : of dry friction. radius : m, of a pin; slides need none.
    damping : N m s/rad of a pin, N s/m of a slide.

    Raises
    ------
    InputError
        A number is negative or none.
    """

    coefficient: float = 0.0
    radius: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0):
                raise InputError(f"friction: {name} is {value}; give a number from 0 on")


@dataclass(frozen=True, eq=False)
class FrictionForces:
    """A motion with friction, by joint and pin.

    reactions : (N, 3), as `Analysis.reactions`, friction in them. friction : (N,) moment (N m) of
    a pin, force (N) of a slide, on the second part. power : (N,) W, lost in all of them.
    """

    reactions: Mapping[str, Array]
    friction: Mapping[str, Array]
    power: Array
    torque: Array


def friction_forces(
    mechanism: Mechanism,
    motion: tuple[Array, Array, Array],
    pose: MechanismPose,
    friction: Friction | Mapping[str, Friction],
) -> FrictionForces:
    """The forces of a motion with friction in the joints.

    Parameters
    ----------
    motion : q, v, a (N, n) of the inputs. pose : there.
    friction : of every joint and pin, or by their names; others have none.

    Raises
    ------
    InputError
        There is no such joint, or the joints lock: no finite force moves them against their
        friction.
    """
    layout = mechanism.layout()
    if layout.gears:
        raise mechanism.refusal("the share of its pins' forces is undetermined, and so is friction")
    joints = layout.connections
    by_name, m = _by_name(mechanism, joints, friction), len(joints)
    response = run(mechanism, friction_response, *motion)
    response = response.reshape(*response.shape[:2], 1 + m, 3).swapaxes(2, 3)
    free, slopes = response[..., 0], response[..., 1:]
    drives = [layout.order[name] for name in mechanism.inputs]
    speeds = -np.einsum("nik,ni->nk", slopes[:, drives, 2], motion[1])  # the power that it takes
    speeds[np.abs(speeds) < JOINT_AT_REST * np.abs(speeds).max(axis=1, keepdims=True)] = 0.0
    sliding = np.array([one.slides for one in joints])
    directions = np.stack([pose.directions[one.second] for one in joints], axis=-1) * sliding
    dry = np.array([by_name[one.name].coefficient * (1 if one.slides else by_name[one.name].radius)
                    for one in joints])  # fmt: skip
    viscous = np.array([by_name[one.name].damping for one in joints]) * speeds
    force, change = free[:, :m, :2], slopes[:, :m, :2]
    along = np.stack([directions.real, directions.imag, 0 * speeds + ~sliding], axis=-1)
    across = np.stack([-directions.imag, directions.real], axis=-1)  # of slides, else zero

    def loads(found: Array) -> tuple[Array, Array]:
        """|F| or |N| (N, m), and its derivatives (N, m, m)."""
        here = force + np.einsum("njxk,nk->njx", change, found)
        size = np.where(sliding, np.einsum("njx,njx->nj", here, across), 1.0)
        norm = np.where(sliding, np.abs(size), np.hypot(here[..., 0], here[..., 1]))
        direction = here / np.where(norm > 0, norm, 1.0)[..., None]
        direction = np.where(sliding[:, None], np.sign(size)[..., None] * across, direction)
        return norm, np.einsum("njx,njxk->njk", direction, change)

    against = np.sign(speeds) * dry
    found = -viscous
    for _ in range(FRICTION_ITERATIONS):
        load, slope = loads(found)
        gap = found + against * load + viscous
        step = np.linalg.solve(np.eye(m) + against[..., None] * slope, gap[..., None])[..., 0]
        found = found - step
        if np.abs(step).max() <= FRICTION_SETTLED * max(np.abs(found).max(), 1e-300):
            break
    else:
        raise mechanism.refusal(
            "the joints lock: no finite force moves them against their friction; give it a "
            "smaller coefficient or radius"
        )
    whole = free + np.einsum("njxk,nk->njx", slopes, found)
    torque = whole[:, drives, 2].copy()
    whole[:, :m] += along * found[..., None]
    return FrictionForces(
        {one.name: whole[:, k] for k, one in enumerate(layout.force_carriers)},
        {one.name: found[:, k] for k, one in enumerate(joints)},
        -(found * speeds).sum(axis=1),
        torque,
    )


def _by_name(
    mechanism: Mechanism,
    joints: tuple[PartConnection, ...],
    friction: Friction | Mapping[str, Friction],
) -> dict[str, Friction]:
    names = [one.name for one in joints]
    if isinstance(friction, Friction):
        return dict.fromkeys(names, friction)
    for name in friction:
        if name not in names:
            raise mechanism.refusal(f"friction: {unknown('joint', name, names)}")
    return {name: friction.get(name, Friction()) for name in names}
