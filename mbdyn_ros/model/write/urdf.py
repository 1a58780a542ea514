"""A model written as URDF+, so that reading the text gives the model again.

Actuators and elements of other programs are written as they were read.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree

from ...number import LARGEST
from ..actuators import TYPES, ElectricDrive
from ..model import ACTING, Combination, Coupling, Inertia, Joint, Limits, Link, Loop, Model, Pose
from ..motion_law import LAWS, MotionLaw
from ..pose import roll_pitch_yaw
from ..read.description import FORMATS, outermost, read_description
from ..read.source_text import TEXT, NamedText
from ..read.transmissions import ROTORS
from ..shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Mesh, Sphere, Visual
from ..split_joints import whole_joints
from .elements import element, moved_reference, number, numbers, xml_text

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


BOUNDED = ("revolute", "prismatic")
"""Types of joints for which URDF wants a `<limit>`."""

Reference = Callable[[str], str]
"""From the name of a file to that which is written."""


def urdf_of(description: NamedText) -> str:
    """The URDF of what was read: its own text, or of another format what that says as URDF+."""
    if outermost(description.text) in FORMATS.keys() - {"robot"}:
        return urdf_text(read_description(description))
    return description.text


def urdf_text(model: Model, folder: str | os.PathLike[str] | None = None) -> str:
    """The text of a URDF+ file.

    folder : where it will lie, so that relative names of meshes lead to the same files.

    Notes
    -----
    `read_urdf` gives the model again: numbers have all their digits, and rotations the shortest
    angles that give them to the last bit, or to 1e-15. Choices and actuators, for which URDF+ has
    no words, are written as elements of ours (`read.urdf_choices`). A bound that there is not is
    written as 1e+100 where other readers insist on one. Comments, and unknown attributes,
    are not kept.

    Examples
    --------
    >>> from mbdyn_ros.model import read_urdf
    >>> print(urdf_text(read_urdf('<robot name="a&amp;b"><link name="stone"/></robot>')))
    <?xml version="1.0"?>
    <robot name="a&amp;b">
      <link name="stone"/>
    </robot>
    <BLANKLINE>
    """
    source = None if model.source == TEXT else Path(model.source).parent
    target = source if folder is None else Path(folder)
    model = whole_joints(model)
    robot = etree.Element("robot", name=model.name)

    def reference(file: str) -> str:
        return moved_reference(file, source, target)

    marked = _marks(model)
    rotors = {one.joint for one in model.actuators if isinstance(one, ElectricDrive)}
    for link in model.links:
        _write_link(robot, link, reference)
    for joint in model.joints:
        _write_joint(robot, joint, marked, joint.name in rotors)
    for loop in model.loops:
        _write_loop(robot, loop)
    for coupling in model.couplings:
        _write_coupling(robot, coupling)
    _write_choices(robot, model, marked)
    write_actuators(robot, model)
    write_foreign(robot, model)
    return xml_text(robot)


def _write_link(robot: Element, link: Link, reference: Reference) -> None:
    one = element(robot, "link", name=link.name)
    if link.inertia is not None:
        _write_inertia(one, link.inertia)
    for visual in link.visuals:
        if visual.geometry is not None:
            _write_material(_write_shape(one, "visual", visual, reference), visual, reference)
    for collision in link.collisions:
        if collision.geometry is not None:
            _write_shape(one, "collision", collision, reference)


def _write_inertia(link: Element, inertia: Inertia) -> None:
    inertial = element(link, "inertial")
    if inertia.center.any():
        element(inertial, "origin", xyz=numbers(inertia.center))
    element(inertial, "mass", value=number(inertia.mass))
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = map(number, inertia.moments[np.triu_indices(3)])
    element(inertial, "inertia", **dict(zip(keys, values, strict=True)))


def write_origin(parent: Element, pose: Pose) -> None:
    """The `<origin>` of an element, unless it is the identity."""
    angles = roll_pitch_yaw(pose.rotation)
    places = {}
    if pose.translation.any():
        places["xyz"] = numbers(pose.translation)
    if any(angles):
        places["rpy"] = numbers(angles)
    if places:
        element(parent, "origin", **places)


def _write_shape(link: Element, tag: str, shape: Collision, reference: Reference) -> Element:
    one = element(link, tag, **({"name": shape.name} if shape.name else {}))
    write_origin(one, shape.origin)
    geometry = element(one, "geometry")
    match shape.geometry:
        case Box(size):
            element(geometry, "box", size=numbers(size))
        case Cylinder(radius, length):
            tag = "capsule" if isinstance(shape.geometry, Capsule) else "cylinder"
            element(geometry, tag, radius=number(radius), length=number(length))
        case Sphere(radius):
            element(geometry, "sphere", radius=number(radius))
        case Ellipsoid(half_axes):
            element(geometry, "ellipsoid", radii=numbers(half_axes))
        case Mesh(file, scale):
            mesh = element(geometry, "mesh", filename=reference(file))
            if scale != (1.0, 1.0, 1.0):
                mesh.set("scale", numbers(scale))
    return one


def _write_material(one: Element, visual: Visual, reference: Reference) -> None:
    if visual.color is None and not visual.texture and not visual.material:
        return
    material = element(one, "material", name=visual.material)
    if visual.color is not None:
        element(material, "color", rgba=numbers(visual.color))
    if visual.texture:
        element(material, "texture", filename=reference(visual.texture))


def _write_joint(robot: Element, joint: Joint, marked: dict[str, bool], has_drive: bool) -> None:
    one = element(robot, "joint", name=joint.name, type=joint.type)
    if joint.name in marked:
        one.set("independent", "true" if marked[joint.name] else "false")
    write_origin(one, joint.origin)
    element(one, "parent", link=joint.parent)
    element(one, "child", link=joint.child)
    if joint.kind.has_axis:
        element(one, "axis", xyz=numbers(joint.axis))
    if joint.numbers:
        element(one, joint.type, **{key: number(value) for key, value in joint.numbers.items()})
    if joint.nv == 1:
        _write_limits(one, joint.limits, joint.type in BOUNDED)
    acting = {name: number(value) for name in ACTING if (value := getattr(joint, name))}
    if has_drive:  # or a reader would take its rotor's for one that is not there
        acting["armature"] = number(joint.armature)
    if acting:  # of which other readers want damping or friction
        element(one, "dynamics", **{"damping": number(joint.damping), **acting})
    if joint.mimic is not None:
        follow = joint.mimic
        element(
            one, "mimic", joint=follow.joint, multiplier=number(follow.multiplier),
            offset=number(follow.offset),
        )  # fmt: skip


def _write_limits(joint: Element, limits: Limits, needed: bool) -> None:
    """All four bounds where any is needed: a missing one is 0 to other readers."""
    bounds = {
        "lower": limits.lower, "upper": limits.upper, "effort": limits.effort,
        "velocity": limits.velocity,
    }  # fmt: skip
    if not needed:
        for keys in (("lower", "upper"), ("effort", "velocity")):
            if not any(math.isfinite(bounds[key]) for key in keys):
                bounds = {key: bound for key, bound in bounds.items() if key not in keys}
    if bounds:
        texts = {
            key: number(math.copysign(LARGEST, one) if math.isinf(one) else one)
            for key, one in bounds.items()
        }
        element(joint, "limit", **texts)


def _write_loop(robot: Element, loop: Loop) -> None:
    one = element(robot, "loop", name=loop.name, type=loop.type)
    ends = (("predecessor", loop.predecessor_frame), ("successor", loop.successor_frame))
    for role, frame in ends:
        write_origin(element(one, role, link=getattr(loop, role)), frame)
    if loop.closing.has_axis:
        element(one, "axis", xyz=numbers(loop.axis))


def _write_coupling(robot: Element, coupling: Coupling | Combination) -> None:
    one = element(robot, "coupling", name=coupling.name)
    if isinstance(coupling, Coupling):
        element(one, "predecessor", link=coupling.predecessor)
        element(one, "successor", link=coupling.successor)
        element(one, "ratio", value=number(coupling.ratio))
        return
    powers = dict(coupling.powers)
    for name, factor in coupling.factors:
        joint = element(one, "joint", name=name, factor=number(factor))
        if name in powers:
            joint.set("powers", numbers(powers[name]))
        laws = [law for one, law in coupling.laws if one == name]
        if laws:
            joint.set("laws", "; ".join(map(_law_text, laws)))
    if coupling.offset:
        one.set("offset", number(coupling.offset))


def _law_text(law: MotionLaw) -> str:
    (name,) = (name for name, kind in LAWS.items() if isinstance(law, kind))
    return f"{name} {numbers(dataclasses.astuple(law))}"


def _marks(model: Model) -> dict[str, bool]:
    """The `independent` marks of joints; empty where URDF+ has none that say what is chosen."""
    if model.independent is None:
        return {}
    movable = [joint.name for joint in model.joints if joint.nv]
    if [name for name in movable if name in model.independent] != list(model.independent):
        return {}
    return {name: name in model.independent for name in movable}


def _write_choices(robot: Element, model: Model, marked: dict[str, bool]) -> None:
    lists = {"independent": None if marked else model.independent, "actuated": model.actuated}
    for key, names in lists.items():
        if names:
            chosen = element(robot, key)
            for name in names:
                element(chosen, "joint", name=name)
    for called, positions in [("", model.home), *model.homes.items()]:
        if positions:
            home = element(robot, "home", **({"name": called} if called else {}))
            for name, position in positions.items():
                element(home, "joint", name=name, position=number(position))
    if model.gravity is not None:
        element(robot, "gravity", xyz=numbers(model.gravity))
    if model.floating_base:
        element(robot, "floating_base")


def unreadable_shapes(model: Model) -> list[str]:
    """Words about shapes that were not understood when they were read, and so are not written."""
    return [
        f'link "{link.name}": {what} that could not be read is left out ({shape.problem})'
        for link in model.links
        for what, shapes in (("a <visual>", link.visuals), ("a <collision>", link.collisions))
        for shape in shapes
        if shape.geometry is None
    ]


def write_actuators(robot: Element, model: Model) -> None:
    """An `<actuator>` for each; numbers that are the default are left out."""
    words = {kind: word for word, kind in TYPES.items()}
    for one in model.actuators:
        _write(element(robot, "actuator", name=one.name, type=words[type(one)]), one)


def _write(parent: Element, record: Any) -> None:
    """The settings of a record as attributes, and the records in it as elements."""
    for one in dataclasses.fields(record):
        value = getattr(record, one.name)
        if one.name == "line" or value == _default(one):
            continue
        if dataclasses.is_dataclass(value):
            _write(element(parent, one.name), value)
        else:
            parent.set(one.name, value if isinstance(value, str) else number(value))


def _default(one: dataclasses.Field[Any]) -> Any:
    """The value of a field that is not given; MISSING where there is none."""
    if one.default_factory is not dataclasses.MISSING:
        return one.default_factory()
    return one.default


def write_foreign(robot: Element, model: Model) -> None:
    """Elements for other programs, in their places; and drives that no element has named yet."""
    owners = {(one.tag, one.get("name")): one for one in robot}
    said: set[str] = set()
    for foreign in model.foreign:
        one = foreign.element()
        for transmission in one.iter("transmission"):
            _drop_idle_rotors(transmission, model)
        owners.get((foreign.owner, foreign.name), robot).append(one)
        if one.tag in ("transmission", "ros2_control"):
            said |= {name for what, name in foreign.names() if what == "joint"}
    single = {one.joints[0]: one for one in model.transmissions if len(one.joints) == 1}
    for name in dict.fromkeys([*_unsaid(model, said), *single]):
        if name not in said:
            gear = single.get(name)
            called = gear.name if gear is not None else f"{name}_drive"
            transmission = element(robot, "transmission", name=called)
            element(transmission, "type").text = "transmission_interface/SimpleTransmission"
            element(transmission, "joint", name=name)
            if gear is not None:
                motor = element(transmission, "actuator", name=gear.motors[0])
                element(motor, "mechanicalReduction").text = number(float(gear.rates[0, 0]))


def _unsaid(model: Model, said: set[str]) -> tuple[str, ...]:
    """Driven joints without an actuator, in the same order."""
    moved = [one.joint for one in model.actuators if one.joint not in said]
    others = tuple(name for name in model.driven if name not in moved)
    return others if (*others, *moved) == model.driven else model.driven


def _drop_idle_rotors(transmission: Element, model: Model) -> None:
    """Leave out rotors of joints that have no armature any more: a reader would add it again."""
    joints = [one.get("name") for one in transmission.iterchildren("joint")]
    if not any(joint.armature for joint in model.joints if joint.name in joints):
        for rotor in [one for one in transmission.iter(*ROTORS)]:
            rotor.getparent().remove(rotor)
