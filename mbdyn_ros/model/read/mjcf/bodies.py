"""The bodies of an MJCF: links, their shapes, and the joints that connect them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...model import Inertia, Joint, Limits, Link, Pose
from ...pose import COMPOSED, snap
from ...shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Geometry, Mesh, Sphere, Visual
from ..placement import placed_joint
from ..structure import judge
from .compiled import Compiled, ElementNames
from .equalities import active_holds, is_mocap, pose_of

FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's types of joints."""

Z = (0.0, 0.0, 1.0)


@dataclass
class Bodies:
    """Links and joints; `root` is the first, and `is_free` whether it moves freely."""

    root: str
    is_free: bool = False
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_bodies(
    compiled: Compiled,
    names: ElementNames,
    efforts: Mapping[int, float],
    starts: Mapping[int, Pose] | None = None,
) -> Bodies:
    """The bodies of a MJCF.

    Parameters
    ----------
    efforts : limits of the efforts at joints, by their number.
    starts : where free joints count from, by their number; with them the world is the root.

    Notes
    -----
    Where all that is in the world is one free body with what hangs from it, that is the root and
    its base floats. Else the root is the world. Mocap bodies are not part of the robot.
    """
    model = compiled.model
    bodies = [k for k in range(1, model.nbody) if not is_mocap(model, k)]
    tops = [k for k in bodies if not model.body_parentid[k]]
    alone = len(tops) == 1 and _is_free(model, tops[0])
    alone = alone and not any(0 in hold.bodies for hold in active_holds(compiled))
    alone = alone and starts is None
    result = Bodies(names.bodies[tops[0] if alone else 0], alone)
    if not alone:
        result.links.append(Link(result.root))
    for body in bodies:
        name = names.bodies[body]
        line = names.line("body", name)
        shapes = read_collisions(compiled, body), read_visuals(compiled, body)
        result.links.append(Link(name, _inertia(model, body), line, *shapes))
        if not (alone and body == tops[0]):
            _join(compiled, names, efforts, starts or {}, body, result)
    _add_sites(compiled, names, result)
    return result


def _join(
    compiled: Compiled,
    names: ElementNames,
    efforts: Mapping[int, float],
    starts: Mapping[int, Pose],
    body: int,
    result: Bodies,
) -> None:
    """Hang a body from its parent: its joints move it one after the other, about their places."""
    model = compiled.model
    name, parent = names.bodies[body], names.bodies[model.body_parentid[body]]
    at = pose_of(model.body_pos[body], model.body_quat[body])
    first, count = model.body_jntadr[body], model.body_jntnum[body]
    if not count:
        result.joints.append(Joint(f"{name}/fixed", "fixed", parent, name, at))
    for k in range(first, first + count):
        place = Pose(translation=model.jnt_pos[k])
        child = name if k == first + count - 1 else f"{names.joints[k]}/moved"
        if model.jnt_type[k] == FREE:
            at, place = starts.get(k, Pose()), Pose()  # its position is that in the world
        joint = _joint(compiled, names, efforts, k, parent, child, at @ place, result)
        if child != name:
            result.links.append(Link(child))
            result.joints.append(joint)
            parent, at = child, place.inverse()
            continue
        joints, between = placed_joint(joint, place.inverse())
        result.joints += joints
        result.links += between


def _joint(
    compiled: Compiled, names: ElementNames, efforts: Mapping[int, float], k: int, parent: str,
    child: str, origin: Pose, result: Bodies,
) -> Joint:  # fmt: skip
    model = compiled.model
    dof, kind = model.jnt_dofadr[k], model.jnt_type[k]
    limits, axis = Limits(), np.array(Z)
    if kind in (SLIDE, HINGE):
        lower, upper = model.jnt_range[k].tolist() if model.jnt_limited[k] else (-np.inf, np.inf)
        limits = Limits(lower, upper, effort=efforts.get(k, np.inf))
        axis = snap(model.jnt_axis[k] / np.linalg.norm(model.jnt_axis[k]), within=COMPOSED)
    name = names.joints[k]
    acting = {
        "damping": float(model.dof_damping[dof]),
        "friction": float(model.dof_frictionloss[dof]),
        "armature": float(model.dof_armature[dof]),
        "spring_stiffness": float(model.jnt_stiffness[k]) if kind in (SLIDE, HINGE) else 0.0,
    }
    refused, doubts = judge(acting)
    if refused:
        raise compiled.error(f'<joint> "{name}"', refused)
    result.warnings += [f'{compiled.name}: <joint> "{name}": {one}' for one in doubts]
    joint = Joint(
        name,
        _type(model, k),
        parent,
        child,
        origin,
        axis,
        limits,
        damping=acting["damping"],
        friction=acting["friction"],
        armature=acting["armature"],
        line=names.line("joint", name),
    )
    if kind not in (SLIDE, HINGE):
        return joint
    place = model.jnt_qposadr[k]
    if stiffness := acting["spring_stiffness"]:
        slack = float(model.qpos_spring[place])
        joint = replace(joint, spring_stiffness=stiffness, spring_reference=slack)
    if reference := model.qpos0[place]:  # its position where the body is as written
        joint = replace(joint, origin=origin @ joint.pose(np.array([-reference])))
    return joint


def _type(model: Any, k: int) -> str:
    if model.jnt_type[k] == HINGE:
        return "revolute" if model.jnt_limited[k] else "continuous"
    return {FREE: "floating", BALL: "spherical", SLIDE: "prismatic"}[model.jnt_type[k]]


def _inertia(model: Any, body: int) -> Inertia | None:
    mass = float(model.body_mass[body])
    if mass == 0.0 and not model.body_inertia[body].any():
        return None
    at = pose_of(model.body_ipos[body], model.body_iquat[body])
    moments = at.rotation @ np.diag(model.body_inertia[body]) @ at.rotation.T
    return Inertia(mass, at.translation, (moments + moments.T) / 2)


def _add_sites(compiled: Compiled, names: ElementNames, result: Bodies) -> None:
    """The sites that have names: links without mass, fixed where they are."""
    model = compiled.model
    taken = {link.name for link in result.links} | {""}
    fixed = {joint.name for joint in result.joints}
    for k in range(model.nsite):
        name, body = compiled.name_of("SITE", k), names.bodies[model.site_bodyid[k]]
        if body not in taken or not name:
            continue  # of a mocap body
        while name in taken or f"{name}/fixed" in fixed:
            name += "/site"
        taken.add(name)
        fixed.add(f"{name}/fixed")
        result.links.append(Link(name))
        at = pose_of(model.site_pos[k], model.site_quat[k])
        result.joints.append(Joint(f"{name}/fixed", "fixed", body, name, at))


def _is_free(model: Any, body: int) -> bool:
    return bool(model.body_jntnum[body] == 1 and model.jnt_type[model.body_jntadr[body]] == FREE)


SEEN = 3
"""Groups below this one are those that MuJoCo shows by default."""


def read_collisions(compiled: Compiled, body: int) -> tuple[Collision, ...]:
    """The shapes with which a body collides; what cannot be read matters only to who asks.

    The world's planes are none of them.
    """
    model, plane = compiled.model, compiled.mujoco.mjtGeom.mjGEOM_PLANE
    paired = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}
    return tuple(
        Collision(shape, origin, problem=problem, name=compiled.name_of("GEOM", k))
        for k in _shapes(model, body)
        if model.geom_contype[k] or model.geom_conaffinity[k] or k in paired
        if body or model.geom_type[k] != plane
        for shape, origin, problem in [_shape(compiled, k)]
    )


def read_visuals(compiled: Compiled, body: int) -> tuple[Visual, ...]:
    """The shapes of a body that are seen."""
    model = compiled.model
    return tuple(
        Visual(
            shape, origin, problem=problem, name=compiled.name_of("GEOM", k),
            color=tuple(model.geom_rgba[k].tolist()),
        )
        for k in _shapes(model, body)
        if model.geom_group[k] < SEEN
        for shape, origin, problem in [_shape(compiled, k)]
    )  # fmt: skip


def _shapes(model: Any, body: int) -> range:
    """The numbers of a body's shapes."""
    return range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])


def _shape(compiled: Compiled, k: int) -> tuple[Geometry | None, Pose, str]:
    """A shape, its place in the body, and why it cannot be read."""
    model, kinds = compiled.model, compiled.mujoco.mjtGeom
    origin = pose_of(model.geom_pos[k], model.geom_quat[k])
    kind, (a, b, c) = model.geom_type[k], model.geom_size[k].tolist()
    shape: Geometry | None = None
    if k in compiled.meshes:
        mesh = compiled.meshes[k]
        if kind == kinds.mjGEOM_MESH:  # MuJoCo has moved it to its principal axes
            data = model.geom_dataid[k]
            origin = origin @ pose_of(model.mesh_pos[data], model.mesh_quat[data]).inverse()
        if mesh is not None:
            shape = Mesh(mesh.file, mesh.scale)
    elif kind == kinds.mjGEOM_SPHERE:
        shape = Sphere(a)
    elif kind == kinds.mjGEOM_ELLIPSOID:
        shape = Ellipsoid((a, b, c))
    elif kind == kinds.mjGEOM_CAPSULE:
        shape = Capsule(a, 2 * b)
    elif kind == kinds.mjGEOM_CYLINDER:
        shape = Cylinder(a, 2 * b)
    elif kind == kinds.mjGEOM_BOX:
        shape = Box((2 * a, 2 * b, 2 * c))
    problem = ""
    if shape is None:
        name = compiled.name_of("GEOM", k) or f"number {k}"
        word = compiled.mujoco.mjtGeom(int(kind)).name.removeprefix("mjGEOM_").lower()
        word = "mesh or height field" if k in compiled.meshes else word  # a ball stands for it
        problem = (
            f'{compiled.name}: <geom> "{name}": a {word} of this kind is not supported as a shape'
        )
    return shape, origin, problem
