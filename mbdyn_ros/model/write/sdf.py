"""A model written as SDF, for Gazebo and Drake, its joints as SDF counts them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from ..closing_types import Translation
from ..model import Array, Combination, Inertia, Joint, Link, Loop, Mimic, Model, Pose, factors_of
from ..pose import across, roll_pitch_yaw, rotation_onto
from ..read.source_text import TEXT
from ..shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Mesh, Sphere, Visual
from ..split_joints import parts, split_joints
from .elements import element, moved_reference, number, numbers, xml_text
from .mjcf_closures import link_pose
from .mjcf_inertias import LEAST, least

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

VERSION = "1.11"
"""The first one with `<mimic>`."""

TYPES = {"spherical": "ball"}
"""Types of joints that are called otherwise."""

WORLD = "world"


def sdf_text(
    model: Model, home: Mapping[str, Array], folder: str | os.PathLike[str]
) -> tuple[str, list[str]]:
    """The text of an SDF, and a list of what is missing in it.

    Parameters
    ----------
    model : its joints whole. home : positions (nq,) of every joint that moves, the loops closed.
    folder : where the file will lie.

    Notes
    -----
    A loop is a joint to a link that has a parent already. In SDF all joints are at 0 as the file
    is, and loops are closed there: where they are closed elsewhere, joints count from home.
    """
    omitted: list[str] = []
    model = with_single_mimics(counted_from_home(model, home, omitted), omitted)
    model = with_own_names(with_single_closings(model, omitted), omitted)
    source = None if model.source == TEXT else Path(model.source).parent
    sdf = etree.Element("sdf", version=VERSION)
    one = element(sdf, "model", name=model.name)
    fixed = not model.floating_base
    for link in model.links:
        if not (fixed and link.name == model.root == WORLD):
            _write_link(one, model, link, source, Path(folder), omitted)
    if fixed and model.root != WORLD:
        _write_joint(one, Joint(f"{model.root}_fixed", "fixed", WORLD, model.root), "__model__")
    for joint in model.joints:
        _write_joint(one, joint, "__model__" if joint.parent == WORLD and fixed else joint.parent)
    for loop in model.loops:
        _write_loop(one, model, loop)
    _tell_others(model, omitted)
    return xml_text(sdf), omitted


def _text(parent: Element, tag: str, text: str) -> Element:
    one = element(parent, tag)
    one.text = text
    return one


def _write_pose(parent: Element, pose: Pose, relative_to: str = "") -> None:
    angles = roll_pitch_yaw(pose.rotation)
    if relative_to or pose.translation.any() or any(angles):
        one = _text(parent, "pose", numbers((*pose.translation, *angles)))
        if relative_to:
            one.set("relative_to", relative_to)


def _write_link(
    parent: Element, model: Model, link: Link, source: Path | None, folder: Path,
    omitted: list[str],
) -> None:  # fmt: skip
    one = element(parent, "link", name=link.name)
    joint = model.joint_to(link.name)
    if joint is not None:
        _write_pose(one, Pose(), joint.name)
    _write_inertia(one, _sound(link, omitted))
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        names: set[str] = set()
        for k, shape in enumerate(shapes):
            if shape.geometry is None:
                omitted.append(f'a <{tag}> of link "{link.name}" that could not be read')
                continue
            name = shape.name if shape.name and shape.name not in names else f"{tag}_{k}"
            names.add(name)
            _write_shape(element(one, tag, name=name), shape, source, folder)


def _sound(link: Link, omitted: list[str]) -> Inertia:
    """The inertia of a link as SDF takes it: some mass, and moments that a body can have."""
    given = link.inertia or Inertia()
    taken = least(given)
    if taken is not given and np.abs(taken.moments - given.moments).max() > 2 * LEAST:
        omitted.append(
            f'the inertia of link "{link.name}", which no body can have: SDF does not accept it'
        )
    return taken


def _write_inertia(link: Element, inertia: Inertia) -> None:
    one = element(link, "inertial")
    _write_pose(one, Pose(np.eye(3), inertia.center))
    _text(one, "mass", number(inertia.mass))
    moments = element(one, "inertia")
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    for key, value in zip(keys, inertia.moments[np.triu_indices(3)], strict=True):
        _text(moments, key, number(value))


def _write_shape(one: Element, shape: Collision, source: Path | None, folder: Path) -> None:
    _write_pose(one, shape.origin)
    geometry = element(one, "geometry")
    match shape.geometry:
        case Box(size):
            _text(element(geometry, "box"), "size", numbers(size))
        case Cylinder(radius, length):
            tag = "capsule" if isinstance(shape.geometry, Capsule) else "cylinder"
            form = element(geometry, tag)
            _text(form, "radius", number(radius))
            _text(form, "length", number(length))
        case Sphere(radius):
            _text(element(geometry, "sphere"), "radius", number(radius))
        case Ellipsoid(half_axes):
            _text(element(geometry, "ellipsoid"), "radii", numbers(half_axes))
        case Mesh(file, scale):
            form = element(geometry, "mesh")
            _text(form, "uri", moved_reference(file, source, folder))
            if scale != (1.0, 1.0, 1.0):
                _text(form, "scale", numbers(scale))
    if isinstance(shape, Visual) and shape.color is not None:
        material = element(one, "material")
        _text(material, "ambient", numbers(shape.color))
        _text(material, "diffuse", numbers(shape.color))


def _write_joint(parent: Element, joint: Joint, placed_in: str) -> None:
    one = element(parent, "joint", name=joint.name, type=TYPES.get(joint.type, joint.type))
    _write_pose(one, joint.origin, placed_in)
    _text(one, "parent", joint.parent)
    _text(one, "child", joint.child)
    if joint.type == "screw":
        _text(one, "screw_thread_pitch", number(2 * math.pi * joint.numbers["pitch"]))
    axes = [axis for _, _, axis in joint.motions()] if joint.kind.has_axis else []
    for tag, axis in zip(("axis", "axis2"), axes, strict=False):
        _write_axis(element(one, tag), joint, axis)


def _write_axis(one: Element, joint: Joint, axis: Array) -> None:
    _text(one, "xyz", numbers(axis))
    if joint.mimic is not None:
        mimic = element(one, "mimic", joint=joint.mimic.joint, axis="axis")
        _text(mimic, "multiplier", number(joint.mimic.multiplier))
        _text(mimic, "offset", number(joint.mimic.offset))
        _text(mimic, "reference", "0")
    bounds = {key: getattr(joint.limits, key) for key in ("lower", "upper", "effort", "velocity")}
    finite = {key: bound for key, bound in bounds.items() if math.isfinite(bound)}
    if finite:
        limit = element(one, "limit")
        for key, bound in finite.items():
            _text(limit, key, number(bound))
    keys = ("damping", "friction", "spring_reference", "spring_stiffness")
    acting = {key: getattr(joint, key) for key in keys}
    if any(acting.values()):
        dynamics = element(one, "dynamics")
        for key, value in acting.items():
            _text(dynamics, key, number(value))


def _write_loop(parent: Element, model: Model, loop: Loop) -> None:
    """A closing joint as a second parent of its successor."""
    kind, axes = loop.type, [loop.axis] if loop.closing.has_axis else []
    if kind == "universal":
        first, second = across(loop.axis)
        axes = [first, apart_at_zero(model, loop).rotation @ second]
    if kind == "revolute":
        kind = "continuous"
    one = element(parent, "joint", name=loop.name, type=TYPES.get(kind, kind))
    in_world = loop.predecessor == model.root == WORLD and not model.floating_base
    _write_pose(one, loop.predecessor_frame, "__model__" if in_world else loop.predecessor)
    _text(one, "parent", loop.predecessor)
    _text(one, "child", loop.successor)
    for tag, axis in zip(("axis", "axis2"), axes, strict=False):
        _text(element(one, tag), "xyz", numbers(axis))


def _tell_others(model: Model, omitted: list[str]) -> None:
    """Words about the rest that the file does not say."""
    if model.gravity is not None:
        omitted.append(f"gravity, which is a world's: {numbers(model.gravity)}")
    rotors = [joint.name for joint in model.joints if joint.armature]
    if rotors:
        omitted.append(f"the armature of {', '.join(rotors)}")
    if model.independent or model.actuated or model.driven:
        omitted.append("which joints are independent and which have drives")
    if model.home or model.homes:
        omitted.append("home")
    tags = list(dict.fromkeys(one.tag for one in model.foreign))
    if tags:
        omitted.append(f"elements for other programs: {', '.join(f'<{tag}>' for tag in tags)}")


LOST_COUPLING = "the coupling "
"""First words of the note on a coupling that SDF cannot express."""


def counted_from_home(model: Model, home: Mapping[str, Array], omitted: list[str]) -> Model:
    """The model in joints that SDF has; at 0 where its loops are closed.

    home : positions (nq,) of every joint that moves, the loops closed.
    """
    moved = {
        joint.name
        for joint in model.joints
        if joint.nv and np.abs(home[joint.name] - joint.kind.neutral()).max() > 0
    }
    shifts = bool(model.loops and moved)
    several = ("planar", "floating", "universal") if shifts else ("planar", "floating")
    split = [joint for joint in model.joints if joint.type in several]
    if split:
        omitted.append(
            f"joints of several coordinates ({', '.join(joint.name for joint in split)}): each is "
            "several joints, with links of hardly any mass between"
        )
        home = {**home, **{name: x for joint in split for name, x in _parts(joint, home).items()}}
        model = split_joints(model, {joint.name for joint in split})
    if not shifts:
        return model
    omitted.append(
        "positions as they count here: in SDF loops are closed where all joints are 0, so that "
        "joints count from home"
    )
    return replace(
        model,
        joints=tuple(_counted(joint, home) if joint.nv else joint for joint in model.joints),
        couplings=tuple(
            replace(one, offset=one.offset - sum(factor * home[name][0] for name, factor in
                                                 one.factors))
            if isinstance(one, Combination) else one
            for one in model.couplings
        ),
    )  # fmt: skip


def _parts(joint: Joint, home: Mapping[str, Array]) -> dict[str, Array]:
    """Positions of the parts of a joint, by name."""
    q = home[joint.name]
    if joint.type == "floating":
        q = np.array([*q[:3], *roll_pitch_yaw(joint.pose(q).rotation)[::-1]])
    return {name: q[k : k + 1] for k, name in enumerate(parts(joint))}


def _counted(joint: Joint, home: Mapping[str, Array]) -> Joint:
    """The joint with its home position as 0."""
    q = home[joint.name]
    origin = joint.origin @ joint.pose(q)
    if joint.nv > 1:
        return replace(joint, origin=origin)
    x, mimic = float(q[0]), joint.mimic
    if mimic is not None:
        there = float(home[mimic.joint][0])
        mimic = replace(mimic, offset=mimic.multiplier * there + mimic.offset - x)
    limits = replace(joint.limits, lower=joint.limits.lower - x, upper=joint.limits.upper - x)
    reference = joint.spring_reference - x if joint.spring_stiffness else 0.0
    return replace(joint, origin=origin, limits=limits, mimic=mimic, spring_reference=reference)


def with_single_mimics(model: Model, omitted: list[str]) -> Model:
    """The model with its couplings as mimics of joints that have none; others are reported."""
    joints = {joint.name: joint for joint in model.joints}
    for coupling in model.couplings:
        offset = coupling.offset if isinstance(coupling, Combination) else 0.0
        factors = factors_of(model, coupling)
        curved = isinstance(coupling, Combination) and coupling.followers
        if len(factors) == 2 and not curved:
            (one, first), (two, second) = factors
            ways = [(one, two, first, second), (two, one, second, first)]
            free = [way for way in ways if joints[way[0]].mimic is None
                    and not _follows(joints, way[1], way[0])]  # fmt: skip
            if free:
                follower, leader, own, other = free[0]
                mimic = Mimic(leader, -other / own, offset / own)
                joints[follower] = replace(joints[follower], mimic=mimic)
                continue
        coupled = ", ".join(name for name, _ in factors)
        omitted.append(f'{LOST_COUPLING}"{coupling.name}" of {coupled}')
    return replace(model, joints=tuple(joints.values()), couplings=())


def _follows(joints: Mapping[str, Joint], name: str, leader: str) -> bool:
    """Whether a joint mimics another one, through others too."""
    mimic = joints[name].mimic
    while mimic is not None:
        if mimic.joint == leader:
            return True
        mimic = joints[mimic.joint].mimic
    return False


def apart_at_zero(model: Model, loop: Loop) -> Pose:
    """The successor's loop frame in the predecessor's, with all joints at 0."""
    zero = {joint.name: np.array(joint.kind.neutral()) for joint in model.joints if joint.nv}
    one = link_pose(model, zero, loop.predecessor) @ loop.predecessor_frame
    return one.inverse() @ link_pose(model, zero, loop.successor) @ loop.successor_frame


def with_single_closings(model: Model, omitted: list[str]) -> Model:
    """The model with closing joints of several ways as joints in a row, a hinge the last."""
    links, joints, loops = list(model.links), list(model.joints), []
    for loop in model.loops:
        slide = loop.closing.slide
        if slide is Translation.NOWHERE or loop.type == "prismatic":
            loops.append(loop)
            continue
        omitted.append(
            f'the loop "{loop.name}" as one joint: it is {loop.type}, and becomes several, with '
            "links of hardly any mass between"
        )
        plane = rotation_onto(loop.axis)
        ways = [loop.axis] if slide is Translation.ALONG else [plane[:, 0], plane[:, 1]]
        link = loop.predecessor
        there = Pose(np.eye(3), apart_at_zero(model, loop).translation)
        origin = loop.predecessor_frame @ there
        for k, way in enumerate(ways):
            name = f"{loop.name}/way{k}"
            joints.append(Joint(name, "prismatic", link, f"{name}/link", origin, way))
            links.append(Link(f"{name}/link"))
            link, origin = f"{name}/link", Pose()
        loops.append(replace(loop, type="revolute", predecessor=link, predecessor_frame=origin))
    return replace(model, links=tuple(links), joints=tuple(joints), loops=tuple(loops))


def with_own_names(model: Model, omitted: list[str]) -> Model:
    """The model with other names of joints and loops that are called like a link, or a joint."""
    taken = {link.name for link in model.links}
    new: dict[str, str] = {}
    own: list[Joint | Loop] = [*model.joints, *model.loops]
    for one in own:
        name = one.name
        while name in taken:
            name += "_joint" if isinstance(one, Joint) else "_loop"
        taken.add(name)
        if name != one.name:
            omitted.append(f'the name "{one.name}" of a joint, which a link has: it is "{name}"')
        new.setdefault(one.name, name)
    joints = (
        replace(
            joint,
            name=new[joint.name],
            mimic=joint.mimic and replace(joint.mimic, joint=new[joint.mimic.joint]),
        )
        for joint in model.joints
    )
    loops = (replace(loop, name=new[loop.name]) for loop in model.loops)
    return replace(model, joints=tuple(joints), loops=tuple(loops))
