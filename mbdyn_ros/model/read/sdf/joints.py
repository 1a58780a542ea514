"""The `<joint>` of an SDF, between the links to which its ends are attached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...model import Array, Joint, Limits, Link, Mimic, Pose
from ...pose import normalized
from ..structure import judge
from ..xml_source import Remarks, XmlSource, local_name
from .frames import SdfFrames
from .scope import MODEL_FRAME, SdfScope, number, numbers_of, text_of, truth, vector

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

SINGLE = {
    "fixed": "fixed", "ball": "spherical", "prismatic": "prismatic", "continuous": "continuous",
    "revolute": "revolute", "screw": "screw",
}  # fmt: skip
"""Types that are one joint here."""
DOUBLE = ("universal", "revolute2")
"""Types that are two revolute joints, about `axis` and about `axis2`."""
GEARBOX = "gearbox"
SMALLEST_AXIS = 1e-100
"""An axis whose every component is smaller has no direction."""


@dataclass(frozen=True)
class SdfJoint:
    """A joint whose child link is at `end` in the frame that it moves."""

    joint: Joint
    end: Pose = Pose()


def read_joint(
    scope: SdfScope, element: Element, frames: SdfFrames, remarks: Remarks
) -> tuple[list[SdfJoint], list[Link]]:
    """The joints that one stands for, and the links between; a gearbox stands for none."""
    document = scope.document
    name, kind = document.read_name(element), element.get("type", "")
    if kind == GEARBOX:
        return [], []
    if kind not in (*SINGLE, *DOUBLE):
        raise document.error(
            element,
            f'type="{kind}" is not a joint of SDF; '
            f"there are {', '.join((*SINGLE, *DOUBLE, GEARBOX))}",
        )
    name = scope.full(name)
    parent, child = (end_of(scope, element, role, frames) for role in ("parent", "child"))
    if parent == child:
        raise document.error(element, f'joins the link "{child}" to itself; give another end')
    origin = frames.between(parent, frames.joint(name))
    end = frames.between(frames.joint(name), child)
    if kind in SINGLE:
        joint = _joint(
            scope, element, frames, name, SINGLE[kind], (parent, child), "axis", origin, remarks
        )
        return [SdfJoint(joint, end)], []
    between = f"{name}/first"
    first = _joint(
        scope, element, frames, between, "revolute", (parent, between), "axis", origin, remarks
    )
    second = _joint(
        scope,
        element,
        frames,
        f"{name}/second",
        "revolute",
        (between, child),
        "axis2",
        Pose(),
        remarks,
    )
    return [SdfJoint(first), SdfJoint(second, end)], [Link(between, line=element.sourceline)]


def end_of(scope: SdfScope, element: Element, role: str, frames: SdfFrames) -> str:
    """The link to which a joint's parent or child, or a body it names, is attached."""
    name = text_of(scope.document, element, role)
    if not name:
        raise scope.document.error(element, f"names no {role}; add <{role}>...</{role}>")
    return frames.link(scope, element, name)


def axis_of(scope: SdfScope, element: Element, tag: str, frames: SdfFrames, joint: str) -> Array:
    """The unit vector (3,) along an axis, in the frame of the joint of that full name."""
    document = scope.document
    axis = document.child(element, tag)
    if axis is None:
        raise document.error(element, f"has no <{tag}>; add <{tag}><xyz>0 0 1</xyz></{tag}>")
    given_axis = vector(document, axis, "xyz", (0.0, 0.0, 1.0))
    unit = normalized(given_axis)
    if unit is None or max(map(abs, given_axis)) < SMALLEST_AXIS:
        raise document.error(axis, "its <xyz> has no direction; give one such as 0 0 1")
    xyz = document.child(axis, "xyz")
    given = "" if xyz is None else xyz.get("expressed_in", "")
    old = truth(document, axis, "use_parent_model_frame", scope.version < (1, 5))
    if old and scope.version < (1, 7):
        given = MODEL_FRAME
    if not given:
        return np.array(unit)
    frame = frames.frame(scope, axis, given)
    return frames.between(frames.joint(joint), frame).rotation @ np.array(unit)


def _joint(
    scope: SdfScope, element: Element, frames: SdfFrames, name: str, kind: str,
    ends: tuple[str, str], tag: str, origin: Pose, remarks: Remarks,
) -> Joint:  # fmt: skip
    document = scope.document
    parent, child = ends
    if kind in ("fixed", "spherical"):
        return Joint(name, kind, parent, child, origin, line=element.sourceline)
    whole = scope.full(document.read_name(element))
    direction = axis_of(scope, element, tag, frames, whole)
    axis = document.child(element, tag)
    limits = _limits(scope, axis)
    if kind == "revolute" and math.isinf(limits.lower) and math.isinf(limits.upper):
        kind = "continuous"
    if kind == "continuous":
        limits = Limits(velocity=limits.velocity, effort=limits.effort)
    assert axis is not None, "axis_of has found it"
    dynamics = document.child(axis, "dynamics")
    stiffness = number(document, dynamics, "spring_stiffness", 0.0)
    friction = number(document, dynamics, "friction", 0.0)
    damping = number(document, dynamics, "damping", 0.0)
    armature = _armature(document, element)
    acting = {
        "damping": damping, "friction": friction, "spring_stiffness": stiffness,
        "armature": armature,
    }  # fmt: skip
    refused, doubts = judge(acting)
    if refused:
        raise document.error(axis, refused)
    for one in doubts:
        remarks.add(axis, one)
    return Joint(
        name, kind, parent, child, origin, direction, limits,
        damping=damping,
        friction=friction,
        armature=armature,
        spring_stiffness=stiffness,
        spring_reference=number(document, dynamics, "spring_reference", 0.0) if stiffness else 0.0,
        mimic=_mimic(scope, element, axis),
        line=element.sourceline,
        numbers={"pitch": _pitch(scope, element)} if kind == "screw" else {},
    )  # fmt: skip


def _limits(scope: SdfScope, axis: Element | None) -> Limits:
    document = scope.document
    limit = None if axis is None else document.child(axis, "limit")
    lower = number(document, limit, "lower", -math.inf, infinite=True)
    upper = number(document, limit, "upper", math.inf, infinite=True)
    if limit is not None and lower > upper:
        raise document.error(limit, f"lower {lower:g} is above upper {upper:g}; exchange them")
    bounds = (number(document, limit, key, -1.0, infinite=True) for key in ("velocity", "effort"))
    velocity, effort = (one if one >= 0.0 else math.inf for one in bounds)
    return Limits(lower, upper, velocity, effort)


def _pitch(scope: SdfScope, element: Element) -> float:
    """The way of a screw, m/rad: right-handed by `screw_thread_pitch`, else rad/m left-handed."""
    document = scope.document
    if text_of(document, element, "screw_thread_pitch"):
        pitch = number(document, element, "screw_thread_pitch", 1.0)
        if pitch == 0.0:
            raise document.error(element, "its <screw_thread_pitch> is 0; give metres per turn")
        return pitch / (2 * math.pi)
    turns = number(document, element, "thread_pitch", 1.0)
    if turns == 0.0:
        raise document.error(element, "its <thread_pitch> is 0; give radians per metre")
    return -1.0 / turns


def _armature(document: XmlSource, joint: Element) -> float:
    """The inertia of a rotor, `drake:gear_ratio`^2 times that of `drake:rotor_inertia`."""
    rotor, gear = (_of_drake(joint, tag) for tag in ("rotor_inertia", "gear_ratio"))
    if rotor is None:
        return 0.0
    ratio = 1.0 if gear is None else (*numbers_of(document, gear, (1,)), 1.0)[0]
    return ratio**2 * (*numbers_of(document, rotor, (1,)), 0.0)[0]


def _of_drake(joint: Element, tag: str) -> Element | None:
    """The child of a joint that Drake adds to those of SDF."""
    return next((one for one in joint if local_name(one) == tag), None)


def _mimic(scope: SdfScope, joint: Element, axis: Element) -> Mimic | None:
    """follower = multiplier (leader - reference) + offset; Drake has these as attributes."""
    document = scope.document
    mimic = document.child(axis, "mimic")
    if mimic is None:
        mimic = _of_drake(joint, "mimic")
    if mimic is None:
        return None
    leader, which = mimic.get("joint"), mimic.get("axis", "axis")
    if not leader:
        raise document.error(mimic, 'names no joint; add joint="..."')
    multiplier, reference, offset = (
        document.number(mimic, name, number(document, mimic, name, default))
        for name, default in (("multiplier", 1.0), ("reference", 0.0), ("offset", 0.0))
    )
    offset -= multiplier * reference
    if which not in ("axis", "axis2"):
        raise document.error(mimic, f'axis="{which}" is neither axis nor axis2')
    return Mimic(_leader(scope, mimic, leader, which), multiplier, offset)


def _leader(scope: SdfScope, mimic: Element, name: str, which: str) -> str:
    """The joint here that turns about an axis of a joint of the file."""
    for other in scope.element.iterchildren("joint"):
        if other.get("name") == name and other.get("type") in DOUBLE:
            return scope.full(f"{name}/{'first' if which == 'axis' else 'second'}")
    return scope.full(name)
