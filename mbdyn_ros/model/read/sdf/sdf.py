"""An SDF read into a `Model`: a model, or a world with all models in it.

A `gearbox` becomes a coupling; elements that the dynamics does not use are reported by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...model import Combination, Joint, Link, Loop, Model, Pose
from ...pose import COMPOSED, snap, snapped
from ..closures import HeldJoint
from ..couplings import couple_joints
from ..placement import placed_joint
from ..source_text import Source
from ..structure import check_closures, check_mimics, check_unique, inertia_warnings
from ..xml_source import Remarks, XmlSource, local_name, written_name
from .frames import SdfFrames
from .joints import GEARBOX, SdfJoint, axis_of, end_of, read_joint
from .links import keeps_position, read_link, rigid_bodies, spanning_tree
from .scope import MODEL_FRAME, WORLD, SdfScope, number, scopes, vector

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


GRAVITY = (0.0, 0.0, -9.8)
"""Gravity of a world that gives none, m/s^2, as SDF has it."""


def read_sdf(source: Source) -> Model:
    """Read an SDF.

    Parameters
    ----------
    source : a path, or the XML text.

    Raises
    ------
    ModelError
        What cannot be read: file, line and element are named; a file that is included and not
        there, with the one that includes it.

    Notes
    -----
    - Links and joints of inner models have names such as `arm::upper`.
    - The parents of a link beyond the first close loops, as in SDF; a joint that closes none (a
      screw) or has a position that others need keeps it and is held at its end.
    - What no joint holds to the world, and is not static, is free: alone it is the root of a
      floating base, in its model's frame; else it hangs from the world by a floating joint, whose
      position is counted from that in the file.
    - A joint between links that other joints hold together is left out.
    - `universal` and `revolute2` are two revolute joints, `joint/first` and `joint/second`; a
      `gearbox` couples the joints of its two links.
    """
    document = XmlSource(source)
    outermost = _outermost(document)
    every = list(scopes(document, outermost))
    frames = SdfFrames(every)
    parts = _Parts(document)
    for scope in every:
        parts.read(scope, frames)
    remarks = [remark for one in parts.remarks.values() for remark in one.warnings()]
    warnings = [*remarks, *parts.warnings()]
    gravity = None
    if outermost.tag == WORLD:
        x, y, z = vector(document, outermost, "gravity", GRAVITY)
        gravity = (x, y, z)
    model = parts.model(frames, every[0], Model(
        name=outermost.get("name") or "robot", root="", links=(), joints=(), source=document.name,
        gravity=gravity, unused=dict(parts.forces + parts.others),
    ))  # fmt: skip
    warnings += inertia_warnings(document.name, model.links)
    return replace(model, warnings=tuple(warnings))


def _outermost(document: XmlSource) -> Element:
    """The world, else the model of a file."""
    found = [one for one in document.root if one.tag in ("world", "model")]
    if len(found) != 1:
        raise document.error(
            document.root, f"has {len(found)} models and worlds; there must be exactly one"
        )
    return found[0]


@dataclass
class _Parts:
    """Links, joints and all else of every model."""

    document: XmlSource
    links: list[Link] = field(default_factory=list)
    joints: list[SdfJoint] = field(default_factory=list)
    gears: list[Combination] = field(default_factory=list)
    static: list[str] = field(default_factory=list)
    remarks: dict[str, Remarks] = field(default_factory=dict)
    forces: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)

    def read(self, scope: SdfScope, frames: SdfFrames) -> None:
        """Add one model without those in it."""
        _refuse_constraints(scope)
        remarks = self.remarks.setdefault(scope.document.name, Remarks(scope.document))
        for element in scope.element.iterchildren("link"):
            self.links.append(read_link(scope, element, frames, remarks))
            if scope.is_static:
                self.static.append(self.links[-1].name)
        for element in scope.element.iterchildren("joint"):
            joints, between = read_joint(scope, element, frames, remarks)
            self.joints += joints
            self.links += between
        for element in scope.element.iterchildren("joint"):
            if element.get("type") == GEARBOX:
                self.gears.append(read_gearbox(scope, element, frames, self.joints))
        forces, others = unused_elements(scope)
        self.forces += forces
        self.others += others

    def warnings(self) -> list[str]:
        """The notice of what acts on the motion and is not used."""
        if not self.forces:
            return []
        listed = ", ".join(f"{what} ({count})" for what, count in self.forces.items())
        return [f"{self.document.name}: acts on the motion and is not used: {listed}"]

    def model(self, frames: SdfFrames, outer: SdfScope, model: Model) -> Model:
        """`model` with a tree of all links, and the loops that are left."""
        source = self.document.name
        check_unique(source, self.links, "link")
        check_unique(source, [one.joint for one in self.joints], "joint")
        needed = {name for gear in self.gears for name, _ in gear.factors}
        for one in self.joints:
            if one.joint.mimic is not None:
                needed |= {one.joint.name, one.joint.mimic.joint}
        root, is_free, more = self._root(frames, outer)
        tree, cut, reached = spanning_tree(root, [*more, *self.joints], needed)
        links = [one for one in self.links if one.name in reached]
        if scenery := len(self.links) - len(links):
            model = replace(model, unused={**model.unused, "link of a static model": scenery})
        if root not in {link.name for link in links}:
            links.insert(0, Link(root))
        joints: list[Joint] = []
        for one in tree:
            made, between = placed_joint(one.joint, one.end)
            joints += made
            links += between
        held = [
            HeldJoint(_tidied(one.joint), snapped(one.end.inverse()))
            for one in cut
            if one.joint.nv and keeps_position(one.joint, needed)
        ]
        names = {one.name for one in held}
        bodies = rigid_bodies(tree)
        loops = [
            _loop(one)
            for one in cut
            if one.joint.name not in names
            if bodies[one.joint.parent] != bodies[one.joint.child]
        ]
        model = replace(
            model,
            root=root,
            floating_base=is_free,
            links=(*links, *(one.link for one in held)),
            joints=(*joints, *(one.joint for one in held)),
            loops=(*loops, *(one.loop for one in held)),
            couplings=tuple(self.gears),
        )
        check_unique(source, model.joints, "joint")
        check_mimics(source, model.joints)
        closings: list[Loop | Combination] = [*loops, *self.gears]
        closings += [one.written_loop for one in held]
        placed = [(f'{source}:{one.line}: <joint name="{one.name}">', one) for one in closings]
        check_closures(model.links, model.joints, placed)
        gears = [(place, one) for place, one in placed if isinstance(one, Combination)]
        return couple_joints(model, gears)

    def _root(self, frames: SdfFrames, outer: SdfScope) -> tuple[str, bool, list[SdfJoint]]:
        """The root, whether it is free, and joints that hang from it what nothing else holds.

        Static links that nothing touches are not part of a robot that is free.
        """
        fixed = [
            SdfJoint(Joint(f"{name}/fixed", "fixed", WORLD, name, frames.pose(name)))
            for name in self.static
        ]
        _, _, reached = spanning_tree(WORLD, [*fixed, *self.joints], ())
        grounded = reached - {WORLD, *self.static}
        tops = []
        for link in _roots_first(self.links, self.joints):
            if link not in reached:
                tops.append(link)
                reached |= spanning_tree(link, self.joints, ())[2]
        if grounded or len(tops) != 1:
            free = [
                SdfJoint(Joint(f"{top}/free", "floating", WORLD, top, frames.pose(top)))
                for top in tops
            ]
            return WORLD, False, [*fixed, *free]
        at = frames.pose(outer.frame).inverse() @ frames.pose(tops[0])
        if np.allclose(at.matrix(), np.eye(4), rtol=0.0, atol=1e-14):
            return tops[0], True, []
        stand = Joint(f"{MODEL_FRAME}/fixed", "fixed", MODEL_FRAME, tops[0], at)
        return MODEL_FRAME, True, [SdfJoint(stand)]


def _refuse_constraints(scope: SdfScope) -> None:
    """Refuse what Drake adds to SDF that makes another machine of it."""
    for element in scope.element:
        name = written_name(element)
        if name.endswith("_constraint") or name == "drake:joint":
            raise scope.document.error(
                element,
                "is not read, and the machine would be another one without it; write it as a "
                "<joint> of SDF, which closes a loop where its child has another parent",
            )


def _roots_first(links: Iterable[Link], joints: Iterable[SdfJoint]) -> list[str]:
    """The names of the links, those without a parent before others."""
    children = {one.joint.child for one in joints}
    return sorted((link.name for link in links), key=lambda name: name in children)


def _loop(one: SdfJoint) -> Loop:
    """The loop that a cut joint is."""
    joint = _tidied(one.joint)
    return Loop(
        joint.name, joint.type, joint.parent, joint.child, joint.origin,
        snapped(one.end.inverse()), joint.axis, joint.line,
    )  # fmt: skip


def _tidied(joint: Joint) -> Joint:
    axis = snap(joint.axis, within=COMPOSED)
    return replace(joint, origin=snapped(Pose() @ joint.origin), axis=axis)


ALONG_HINGE = 1e-6
"""Sine of the largest angle between a gearbox's axis and that of its hinge."""


def read_gearbox(
    scope: SdfScope, element: Element, frames: SdfFrames, joints: Sequence[SdfJoint]
) -> Combination:
    """theta_2 = -ratio theta_1, the turns of child and parent from the reference body.

    Raises
    ------
    ModelError
        There is no hinge between the reference body and an end, or its axis is another one.
    """
    document = scope.document
    name = scope.full(document.read_name(element))
    ratio = number(document, element, "gearbox_ratio", 1.0)
    if ratio == 0.0:
        raise document.error(element, "its <gearbox_ratio> is 0 and would hold the child still")
    body = end_of(scope, element, "gearbox_reference_body", frames)
    factors = []
    for role, tag, weight in (("parent", "axis", ratio), ("child", "axis2", 1.0)):
        link = end_of(scope, element, role, frames)
        axis = frames.pose(frames.joint(name)).rotation @ axis_of(scope, element, tag, frames, name)
        hinge, sign = _hinge(body, link, joints)
        if hinge is None:
            raise document.error(
                element,
                f'no hinge joins its reference body "{body}" to its {role} "{link}"; a gearbox '
                "couples two hinges on one body",
            )
        turned = frames.pose(hinge.joint.parent) @ hinge.joint.origin
        along = float(turned.rotation @ hinge.joint.axis @ axis)
        if np.sqrt(max(0.0, 1.0 - along * along)) > ALONG_HINGE:
            raise document.error(
                element, f'its <{tag}> is not parallel to the axis of joint "{hinge.joint.name}"'
            )
        factors.append((hinge.joint.name, weight * sign * float(np.sign(along))))
    return Combination(name, tuple(factors), 0.0, element.sourceline)


def _hinge(body: str, link: str, joints: Sequence[SdfJoint]) -> tuple[SdfJoint | None, float]:
    """The hinge between two links, and 1 where it turns the second, -1 where the first."""
    for one in joints:
        if one.joint.type in ("revolute", "continuous"):
            if (one.joint.parent, one.joint.child) == (body, link):
                return one, 1.0
            if (one.joint.parent, one.joint.child) == (link, body):
                return one, -1.0
    return None, 0.0


PLACED = {"pose"}
READ = {
    "world": {"model", "include", "frame", "joint", "gravity", "name"},
    "model": {"link", "joint", "frame", "model", "include", "static", *PLACED},
    "link": {"inertial", "collision", "visual", *PLACED},
    "frame": PLACED,
    "inertial": {"mass", "inertia", *PLACED},
    "joint": {
        "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "gearbox_ratio",
        "gearbox_reference_body", "rotor_inertia", "gear_ratio", "mimic", *PLACED,
    },
    "axis": {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"},
    "dynamics": {"damping", "friction", "spring_stiffness", "spring_reference"},
    "limit": {"lower", "upper", "velocity", "effort"},
}  # fmt: skip
READ["axis2"] = READ["axis"]
"""The elements that are read, by the element around them."""

FORCES = ("fluid_added_mass", "linear_bushing_rpy", "velocity_decay", "wind")
"""Elements that act on the motion; so does a link's <gravity>false</gravity>."""


def unused_elements(scope: SdfScope) -> tuple[Counter[str], Counter[str]]:
    """The elements of a model or world, without inner models: those that act, and all others."""
    forces: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for element in _unread(scope.element):
        tag, owner = local_name(element), element.getparent()
        text = (element.text or "").strip().lower()
        if tag == "gravity":
            if text in ("false", "0"):
                forces["link without gravity"] += 1
        elif tag in FORCES:
            if len(element) or text not in ("", "0", "0.0", "false"):
                forces[tag] += 1
        elif owner is not None:
            others[f"{owner.tag}/{tag}" if owner.tag in ("axis", "limit", "joint") else tag] += 1
    return forces, others


def _unread(element: Element) -> list[Element]:
    read = READ.get(str(element.tag), set())
    found = []
    for child in element:
        if local_name(child) not in read:
            found.append(child)
        elif child.tag in READ and child.tag not in ("model", "include"):
            found += _unread(child)
    return found
