"""A model written as MJCF, for MuJoCo."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from ..model import BASE_JOINT, Array, Joint, Limits, Link, Model, Pose
from ..read.shape import find_mesh
from ..read.source_text import TEXT
from ..shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Mesh, Sphere, Visual
from .elements import element, number, numbers, quaternion, xml_text
from .mjcf_closures import ClosingBody, Closings, write_equalities
from .mjcf_inertias import Inertias, write_inertial

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


WIDE = 1e10
"""The open end of a range that is bounded on one side."""

WORLD = "world"
"""The name of the frame of MuJoCo's world; no body of its own has it."""

Positions = Mapping[str, Array]


@dataclass
class _Writer:
    """A file being written, with words about all that it cannot say.

    qpos : numbers of the joints at home, in MuJoCo's order.
    """

    model: Model
    home: Positions
    shapes: Shapes
    inertias: Inertias
    closings: Closings
    omitted: list[str]
    qpos: list[float] = field(default_factory=list)


def mjcf_text(
    model: Model, home: Positions, actuated: tuple[str, ...], folder: str | os.PathLike[str]
) -> tuple[str, list[str]]:
    """The text of an MJCF, and a list of what is missing in it.

    Parameters
    ----------
    model : its joints whole. home : positions (nq,) of every joint that moves, the loops closed.
    actuated : joints that get a motor. folder : where the file will lie.

    Notes
    -----
    Joints and links keep their names; joints of several coordinates become several joints of one
    body, called by their parts. A loop becomes `connect` (spherical), `weld` (fixed) or two
    `connect` on its axis (revolute); any other becomes a joint to a body that carries a share of
    the successor's mass and is welded to the rest of it, so that nothing is added. All these
    constraints are soft in MuJoCo, as are those of mimics and couplings.
    """
    omitted: list[str] = []
    source = None if model.source == TEXT else Path(model.source).parent
    root = etree.Element("mujoco", model=model.name)
    element(
        root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false",
        fitaabb="false",
    )  # fmt: skip
    if model.gravity is not None:  # else MuJoCo's own, which is the same
        element(root, "option", gravity=numbers(model.gravity))
    defaults = element(root, "default")
    for name, group, touches in (("visual", "2", "0"), ("collision", "3", "1")):
        element(
            element(defaults, "default", **{"class": name}), "geom", group=group,
            contype=touches, conaffinity=touches,
        )  # fmt: skip
    shapes = Shapes(element(root, "asset"), source, Path(folder), omitted)
    closings = Closings(model, home, omitted)
    inertias = Inertias(model, closings.shares(), omitted)
    writer = _Writer(model, home, shapes, inertias, closings, omitted)
    _write_root(writer, element(root, "worldbody"))
    write_equalities(root, model, closings, omitted)
    _write_motors(root, model, actuated, omitted)
    _write_homes(root, writer)
    _tell_others(model, omitted)
    for empty in [one for one in root if not len(one) and not one.attrib]:
        root.remove(empty)
    return xml_text(root), omitted


def write_place(body: Element, pose: Pose) -> None:
    """The place of an element in the one around it, unless it is the same."""
    if pose.translation.any():
        body.set("pos", numbers(pose.translation))
    if (pose.rotation != np.eye(3)).any():
        body.set("quat", numbers(quaternion(pose.rotation)))


def _write_root(writer: _Writer, world: Element) -> None:
    model = writer.model
    body = world
    if model.floating_base or model.root != WORLD:
        name = f"{WORLD}_link" if model.root == WORLD else model.root
        if name != model.root:
            writer.omitted.append(f'the name "{WORLD}" of the root link, here called "{name}"')
        body = element(world, "body", name=name)
    if model.floating_base:
        element(body, "freejoint", name=BASE_JOINT)
        writer.qpos += [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    pending: list[tuple[Element, Link, Joint | None]] = [(body, model.link(model.root), None)]
    children: dict[str, list[Joint]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint)
    # joints are numbered in the order of the text: what is in a body before the next body
    while pending:
        body, link, moved_by = pending.pop()
        if moved_by is not None:
            _write_joints(writer, body, moved_by)
        _fill(writer, body, link)
        for closing in writer.closings.bodies_on(link.name):
            _write_closing(writer, body, closing)
        here: list[tuple[Element, Link, Joint | None]] = []
        for joint in children.get(link.name, ()):
            inner = element(body, "body", name=joint.child)
            write_place(inner, joint.origin)
            here.append((inner, model.link(joint.child), joint))
        pending += reversed(here)


def _fill(writer: _Writer, body: Element, link: Link) -> None:
    if body.tag == "body" and (inertia := writer.inertias.of(link.name)) is not None:
        write_inertial(body, inertia)
    for name, pose in writer.closings.sites_on(link.name):
        write_place(element(body, "site", name=name), pose)
    writer.shapes.write(body, link)


def _write_joints(writer: _Writer, body: Element, joint: Joint) -> None:
    for name, kind, axis in steps_of(joint):
        one = element(body, "joint", name=name, type=kind)
        if kind != "ball":
            one.set("axis", numbers(axis))
        if joint.nv == 1 and kind in ("hinge", "slide") and name == joint.name:
            _write_range(one, joint.limits)
        acting = {
            "damping": joint.damping, "frictionloss": joint.friction, "armature": joint.armature,
            "stiffness": joint.spring_stiffness, "springref": joint.spring_reference,
        }  # fmt: skip
        for key, value in acting.items():
            if value and not (kind == "ball" and key == "springref"):
                one.set(key, number(value))
    writer.qpos += _qpos(joint, writer.home[joint.name]) if joint.nv else []


def steps_of(joint: Joint) -> list[tuple[str, str, Array]]:
    """Name, type in MuJoCo and axis of each of the joints that a joint becomes."""
    if joint.type == "screw":  # an equality couples the displacement along the axis to the angle
        return [(joint.name, "hinge", joint.axis), (f"{joint.name}/way", "slide", joint.axis)]
    if joint.type == "spherical":
        return [(joint.name, "ball", joint.axis)]
    if joint.type == "floating":
        slides = [(f"{joint.name}/{key}", "slide", np.eye(3)[k]) for k, key in enumerate("xyz")]
        return [*slides, (joint.name, "ball", joint.axis)]
    return [
        (f"{joint.name}/{name}" if name else joint.name,
         "slide" if motion.slides else "hinge", axis)
        for name, motion, axis in joint.motions()
    ]  # fmt: skip


def _qpos(joint: Joint, q: Array) -> list[float]:
    """MuJoCo's numbers of a joint at its positions (nq,)."""
    if joint.type == "screw":
        return [float(q[0]), float(q[0]) * joint.numbers["pitch"]]
    numbers_of = [float(x) for x in q]
    if joint.type in ("spherical", "floating"):  # the scalar comes first in MuJoCo
        return [*numbers_of[:-4], numbers_of[-1], *numbers_of[-4:-1]]
    return numbers_of


def _write_range(one: Element, limits: Limits) -> None:
    if math.isfinite(limits.lower) or math.isfinite(limits.upper):
        bounds = max(limits.lower, -WIDE), min(limits.upper, WIDE)
        one.set("range", numbers(bounds))


def _write_closing(writer: _Writer, body: Element, closing: ClosingBody) -> None:
    """The body at the end of a closing joint that is welded to the successor."""
    inner = element(body, "body", name=closing.name)
    write_place(inner, closing.pose)
    for name, kind, axis in closing.steps:
        element(inner, "joint", name=name, type=kind, axis=numbers(axis))
    writer.qpos += closing.home
    write_inertial(inner, closing.inertia)
    element(inner, "site", name=closing.site)


def _write_motors(
    root: Element, model: Model, actuated: tuple[str, ...], omitted: list[str]
) -> None:
    motors = element(root, "actuator")
    known = {joint.name: joint for joint in model.joints}
    written = {name for joint in model.joints if joint.nv for name, _, _ in steps_of(joint)}
    for name in actuated:
        joint = known.get(name)
        if joint is None and name not in written:  # an angle of what is one ball in MuJoCo
            omitted.append(
                f'the motor of "{name}": in MuJoCo its joint is a ball, whose angles are not joints'
            )
            continue
        if joint is None or joint.nv == 1:  # None: the part of one
            one = element(motors, "motor", name=name, joint=name)
            if joint is not None and math.isfinite(joint.limits.effort):
                one.set("ctrlrange", numbers((-joint.limits.effort, joint.limits.effort)))
            continue
        for step, kind, _ in steps_of(joint):
            if kind != "ball":
                element(motors, "motor", name=step, joint=step)
                continue
            for gear, mark in zip(np.eye(3, 6), ("wx", "wy", "wz"), strict=True):
                element(motors, "motor", name=f"{step}/{mark}", joint=step, gear=numbers(gear))


def _write_homes(root: Element, writer: _Writer) -> None:
    if writer.qpos:
        element(element(root, "keyframe"), "key", name="home", qpos=numbers(writer.qpos))


def _tell_others(model: Model, omitted: list[str]) -> None:
    """Words about the rest that the file does not say."""
    fast = [one.name for one in model.joints if math.isfinite(one.limits.velocity)]
    if fast:
        omitted.append(f"velocity limits of {len(fast)} joints ({fast[0]}, ...)")
    if model.homes:
        omitted.append(f"homes by name: {', '.join(model.homes)}")
    tags = list(dict.fromkeys(one.tag for one in model.foreign))
    if tags:
        omitted.append(f"elements for other programs: {', '.join(f'<{tag}>' for tag in tags)}")
    if model.loops or model.couplings or any(one.mimic for one in model.joints):
        omitted.append("that loops, couplings and mimics are exact: MuJoCo's constraints are soft")


READABLE = (".stl", ".obj", ".msh")
"""Meshes that MuJoCo reads."""


class Shapes:
    """Geoms, and the meshes that they need.

    Parameters
    ----------
    assets : the element that takes the meshes. source : the folder of the description.
    folder : where the file will lie.
    """

    def __init__(
        self, assets: Element, source: Path | None, folder: Path, omitted: list[str]
    ) -> None:
        self._assets, self._source, self._folder = assets, source, folder
        self._meshes: dict[Mesh, str | None] = {}
        self._omitted = omitted

    def write(self, body: Element, link: Link) -> None:
        """The geoms of a link."""
        for kind, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in shapes:
                form = self._form(shape, f'{kind} of link "{link.name}"')
                if form is None:
                    continue
                geom = element(body, "geom", **{"class": kind}, **form)
                if isinstance(shape, Visual) and shape.color is not None:
                    geom.set("rgba", numbers(shape.color))
                if shape.origin.translation.any():
                    geom.set("pos", numbers(shape.origin.translation))
                if (shape.origin.rotation != np.eye(3)).any():
                    geom.set("quat", numbers(quaternion(shape.origin.rotation)))

    def _form(self, shape: Collision, what: str) -> dict[str, str] | None:
        """The type and the size of a shape; None, and words, where MuJoCo has none like it."""
        match shape.geometry:
            case Box(size) if min(size) > 0:
                return {"type": "box", "size": numbers(edge / 2 for edge in size)}
            case Cylinder(radius, length) if min(radius, length) > 0:
                kind = "capsule" if isinstance(shape.geometry, Capsule) else "cylinder"
                return {"type": kind, "size": numbers((radius, length / 2))}
            case Sphere(radius) if radius > 0:
                return {"type": "sphere", "size": numbers((radius,))}
            case Ellipsoid(half_axes) if min(half_axes) > 0:
                return {"type": "ellipsoid", "size": numbers(half_axes)}
            case Mesh():
                name = self._mesh(shape.geometry)
                return None if name is None else {"type": "mesh", "mesh": name}
        self._omitted.append(f"{what}: a shape without extent, or one that could not be read")
        return None

    def _mesh(self, mesh: Mesh) -> str | None:
        """The name of a mesh among the assets; None where MuJoCo cannot read it."""
        if mesh not in self._meshes:
            name = None
            path = find_mesh(mesh.file, self._source)
            problem = _problem(path)
            if path is None or problem:
                self._omitted.append(f"mesh {mesh.file}: {problem}")
            else:
                name = f"{path.stem}_{len(self._meshes)}"
                one = element(
                    self._assets, "mesh", name=name, file=path.resolve().as_posix(),
                    inertia="shell",
                )  # fmt: skip
                if mesh.scale != (1.0, 1.0, 1.0):
                    one.set("scale", numbers(mesh.scale))
            self._meshes[mesh] = name
        return self._meshes[mesh]


def _problem(path: Path | None) -> str:
    """Words about a mesh that MuJoCo cannot read; empty where it can."""
    if path is None:
        return "is not found"
    if path.suffix.lower() not in READABLE:
        return f"MuJoCo reads {', '.join(READABLE)} only"
    if path.suffix.lower() == ".stl":
        with path.open("rb") as file:
            head = file.read(84)
        count = int.from_bytes(head[80:84], "little")
        if path.stat().st_size != 84 + 50 * count:
            return "is not a binary STL, the only kind that MuJoCo reads"
    return ""
