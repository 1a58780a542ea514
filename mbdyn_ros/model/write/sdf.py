"""A model written as SDF, for Gazebo and Drake."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from ..model import Array, Inertia, Joint, Link, Loop, Model, Pose
from ..pose import across
from ..read.source_text import TEXT
from ..roll_pitch_yaw import roll_pitch_yaw
from ..shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Mesh, Sphere, Visual
from .elements import element, moved_reference, number, numbers, xml_text
from .mjcf_inertias import LEAST, least
from .sdf_counting import (
    apart_at_zero,
    counted_from_home,
    with_own_names,
    with_single_closings,
    with_single_mimics,
)

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
