"""Links of an SDF, their inertias and shapes, and the spanning tree of its joints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ....errors import ModelError
from ...closing_types import CLOSING_TYPES
from ...model import ACTING, Inertia, Joint, Link, Pose
from ...shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Geometry, Mesh, Sphere, Visual
from ..xml_source import Remarks, local_name
from .frames import SdfFrames
from .joints import SdfJoint
from .scope import SdfScope, number, numbers_of, pose_of, text_of, vector

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


DEFORMABLE = "deformable_properties"
"""Drake's element of a link that is not a rigid body."""

BY_DEFAULT = "has no <inertial>; SDF gives it 1 kg and moments of 1 kg m^2"
MOMENTS = ("ixx", "iyy", "izz")
PRODUCTS = ("ixy", "ixz", "iyz")


def read_link(scope: SdfScope, element: Element, frames: SdfFrames, remarks: Remarks) -> Link:
    """Read one link; a missing mass is 1 kg and missing moments are 1 kg m^2, as in SDF."""
    document = scope.document
    name = scope.full(document.read_name(element))
    if any(local_name(one) == DEFORMABLE for one in element):
        raise document.error(element, "bodies that deform are not computed; remove it")
    collisions = tuple(
        Collision(shape, pose, one.sourceline, problem, one.get("name", ""))
        for one in element.iterchildren("collision")
        for shape, pose, problem in [_shape(scope, one, name, frames)]
    )
    visuals = tuple(
        Visual(shape, pose, one.sourceline, problem, one.get("name", ""), _color(scope, one))
        for one in element.iterchildren("visual")
        for shape, pose, problem in [_shape(scope, one, name, frames)]
    )
    inertia = _inertia(scope, element, remarks)
    return Link(name, inertia, element.sourceline, collisions, visuals)


def _inertia(scope: SdfScope, link: Element, remarks: Remarks) -> Inertia:
    document = scope.document
    inertial = document.child(link, "inertial")
    if inertial is None:
        if not scope.is_static:
            remarks.add(link, BY_DEFAULT)
        return Inertia(1.0, np.zeros(3), np.eye(3))
    if inertial.get("auto", "false").lower() in ("true", "1"):
        raise document.error(
            inertial, 'auto="true" is not computed here; write its mass, pose and moments'
        )
    pose = pose_of(document, document.child(inertial, "pose"))
    mass = number(document, inertial, "mass", 1.0)
    if mass < 0.0:
        raise document.error(inertial, f"its mass {mass:g} is negative; correct it")
    inertia = document.child(inertial, "inertia")
    ixx, iyy, izz = (number(document, inertia, key, 1.0) for key in MOMENTS)
    ixy, ixz, iyz = (number(document, inertia, key, 0.0) for key in PRODUCTS)
    moments = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    turned = pose.rotation @ moments @ pose.rotation.T
    return Inertia(mass, pose.translation, (turned + turned.T) / 2)


def _shape(
    scope: SdfScope, element: Element, link: str, frames: SdfFrames
) -> tuple[Geometry | None, Pose, str]:
    """A shape, its place in the link, and why it cannot be read."""
    document = scope.document
    try:
        placed = document.child(element, "pose")
        pose = pose_of(document, placed)
        if placed is not None and placed.get("relative_to"):
            given = frames.frame(scope, placed, placed.get("relative_to", ""))
            pose = frames.between(link, given) @ pose
        return _geometry(scope, element), pose, ""
    except ModelError as error:
        return None, Pose(), str(error)


def _geometry(scope: SdfScope, element: Element) -> Geometry:
    document = scope.document
    geometry = document.child(element, "geometry")
    shapes = [] if geometry is None else list(geometry)
    if len(shapes) != 1:
        raise document.error(element, f"a geometry has one shape, this one has {len(shapes)}")
    (shape,) = shapes
    if shape.tag == "box":
        return Box(vector(document, shape, "size", (1.0, 1.0, 1.0)))
    if shape.tag == "sphere":
        return Sphere(number(document, shape, "radius", 1.0))
    if shape.tag == "ellipsoid":
        return Ellipsoid(vector(document, shape, "radii", (1.0, 1.0, 1.0)))
    if shape.tag in ("cylinder", "capsule"):
        kind = Cylinder if shape.tag == "cylinder" else Capsule
        radius = number(document, shape, "radius", 1.0 if kind is Cylinder else 0.5)
        return kind(radius, number(document, shape, "length", 1.0))
    if shape.tag == "mesh":
        file = text_of(document, shape, "uri")
        if file and scope.placed_by is not None and "://" not in file:
            file = str(Path(document.name).parent / file)  # next to the included file
        if file:
            return Mesh(file, vector(document, shape, "scale", (1.0, 1.0, 1.0)))
    raise document.error(element, f"<{shape.tag}> is not supported as a shape")


def _color(scope: SdfScope, element: Element) -> tuple[float, ...] | None:
    """The diffuse colour of a visual; None where it has none that can be read."""
    diffuse = element.find("material/diffuse")
    try:
        found = [] if diffuse is None else numbers_of(scope.document, diffuse, (3, 4))
    except ModelError:
        return None
    return (*found, 1.0)[:4] if found else None


def spanning_tree(
    root: str, joints: Sequence[SdfJoint], needed: Collection[str]
) -> tuple[list[SdfJoint], list[SdfJoint], set[str]]:
    """Part the joints that the root reaches into those of a tree and those that close loops.

    Joints keep their direction where they can; others are turned round. Of the joints to one link
    those that must keep a position are kept before others.

    Returns
    -------
    kept, cut : in the order of `joints`; the kept ones lead away from the root.
    reached : the links.
    """
    first = sorted(joints, key=lambda one: not keeps_position(one.joint, needed))
    reached, kept = {root}, {}
    while True:
        found = next((one for one in first if _leads_on(one, reached)), None)
        if found is None:
            back = next((one for one in first if _leads_on(inverse(one), reached)), None)
            if back is None:
                break
            found = inverse(back)
        kept[found.joint.name] = found
        reached.add(found.joint.child)
    tree = [kept[one.joint.name] for one in joints if one.joint.name in kept]
    cut = [one for one in joints if one.joint.name not in kept and one.joint.parent in reached]
    return tree, cut, reached


def rigid_bodies(tree: Sequence[SdfJoint]) -> dict[str, str]:
    """The body of every link, called by its first link; `tree` leads outwards."""
    body: dict[str, str] = {}
    waiting = list(tree)
    children = {one.joint.child for one in tree}
    for one in tree:
        if one.joint.parent not in children:
            body[one.joint.parent] = one.joint.parent
    while waiting:
        ready = [one for one in waiting if one.joint.parent in body]
        for one in ready:
            body[one.joint.child] = one.joint.child if one.joint.nv else body[one.joint.parent]
        waiting = [one for one in waiting if one.joint.child not in body]
    return body


def keeps_position(joint: Joint, needed: Collection[str]) -> bool:
    """Whether a joint must have a position of its own, even where it closes a loop."""
    acting = any(getattr(joint, name) for name in ACTING)
    return joint.name in needed or joint.type not in CLOSING_TYPES or acting


def inverse(one: SdfJoint) -> SdfJoint:
    """The same joint from its child to its parent."""
    joint = one.joint
    turned = replace(
        joint, parent=joint.child, child=joint.parent, origin=one.end.inverse(), axis=-joint.axis
    )
    return SdfJoint(turned, joint.origin.inverse())


def _leads_on(one: SdfJoint, reached: Collection[str]) -> bool:
    return one.joint.parent in reached and one.joint.child not in reached
