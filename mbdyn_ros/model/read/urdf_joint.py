"""A `<joint>` of a URDF."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...number import LARGEST
from ..joints.types import JointType, joint_type
from ..model import ACTING, Joint, Limits, Mimic
from .structure import judge
from .xml_source import X_AXIS, Remarks, XmlSource, local_name, read_axis, read_pose

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def read_joint(document: XmlSource, element: Element, remarks: Remarks) -> Joint:
    """Read one joint; what it joins to is not looked at."""
    name = document.read_name(element)
    kind = _read_type(document, element)
    if kind.has_axis and document.child(element, "axis") is None:
        remarks.add(
            element,
            'has no <axis>; x is taken, (1, 0, 0), as by the rules of URDF; write <axis xyz="1 0 '
            '0"/> if that is meant',
        )
    dynamics = document.child(element, "dynamics")
    acting: dict[str, Any] = {}
    if dynamics is not None and kind.nv:
        acting = _read_dynamics(document, element, dynamics, remarks)
    return Joint(
        name=name,
        type=kind.name,
        parent=read_end(document, element, "parent"),
        child=read_end(document, element, "child"),
        origin=read_pose(document, element),
        axis=read_axis(document, element) if kind.has_axis else X_AXIS,
        limits=_read_limits(document, element, kind, remarks),
        mimic=_read_mimic(document, element, kind, remarks),
        line=element.sourceline,
        numbers=read_numbers(document, element, kind),
        **acting,
    )


def _read_type(document: XmlSource, joint: Element) -> JointType:
    try:
        return joint_type(joint.get("type"))
    except ModelError as error:
        raise document.error(joint, str(error)) from None


def read_numbers(document: XmlSource, joint: Element, kind: JointType) -> dict[str, float]:
    """Numbers that the type needs besides an axis: attributes of an element named as the type.

    Drake writes the pitch of a screw as metres per turn, in an element of its own.
    """
    element = document.child(joint, kind.name)
    per_turn = next((one for one in joint if local_name(one) == "screw_thread_pitch"), None)
    if kind.numbers and element is None and per_turn is not None:
        return {"pitch": document.number(per_turn, "value") / (2 * math.pi)}
    for number in kind.numbers:
        if element is None or number.name not in element.keys():
            raise document.error(
                joint if element is None else element,
                f'has no {number.name}; add <{kind.name} {number.name}="..."/> with the '
                f"{number.meaning}",
            )
    return {number.name: document.number(element, number.name) for number in kind.numbers}


def read_end(document: XmlSource, joint: Element, role: str) -> str:
    """The link that an element names as its parent, child, predecessor or successor."""
    end = document.child(joint, role)
    link = None if end is None else end.get("link")
    if not link:
        raise document.error(
            joint if end is None else end, f'names no {role}; add <{role} link="..."/>'
        )
    return str(link)


def _read_limits(document: XmlSource, joint: Element, kind: JointType, remarks: Remarks) -> Limits:
    limit = document.child(joint, "limit")
    if limit is None or not kind.nv:
        return Limits()
    if kind.nv > 1:
        if written := [key for key in ("lower", "upper", "velocity", "effort") if limit.get(key)]:
            remarks.add(
                limit,
                f"{', '.join(written)} not used: a {kind.name} joint has {kind.nv} coordinates, "
                "and limits hold for joints of one; split it into such joints where they matter",
            )
        return Limits()
    unlimited = []
    lower, upper = -math.inf, math.inf
    if not kind.is_endless and {"lower", "upper"} & set(limit.keys()):
        lower = _unbounded(document.number(limit, "lower", 0.0, infinite=True))
        upper = _unbounded(document.number(limit, "upper", 0.0, infinite=True))
        if lower > upper or lower == math.inf or upper == -math.inf:
            raise document.error(
                limit,
                f"lower={lower:g} is above upper={upper:g} (one that is missing counts as 0); "
                "exchange them, or leave both out if they mean that there is no limit",
            )
        if lower == upper == 0.0:
            unlimited += ["lower", "upper"]
            lower, upper = -math.inf, math.inf
    bounds = {}
    for key in ("velocity", "effort"):
        bounds[key] = _unbounded(document.number(limit, key, math.inf, infinite=True))
        if bounds[key] <= 0.0:
            unlimited.append(key)
            bounds[key] = math.inf
    if unlimited:
        given = " ".join(f'{key}="{limit.get(key, "0")}"' for key in unlimited)
        remarks.add(limit, f"{given} would hold the joint still; taken as no limit")
    return Limits(lower, upper, bounds["velocity"], bounds["effort"])


def _unbounded(bound: float) -> float:
    """A bound; infinite where it is the number that `write.urdf` has for inf, which others want."""
    return math.copysign(math.inf, bound) if abs(bound) == LARGEST else bound


def read_dampings(document: XmlSource, joint: Element) -> tuple[float, ...]:
    """The damping of each coordinate of a planar joint (x, y, theta), as Drake writes it.

    Empty where one number is given for all.
    """
    dynamics = document.child(joint, "dynamics")
    if joint.get("type") != "planar" or dynamics is None:
        return ()
    several = len(dynamics.get("damping", "").split()) > 1
    return document.vector(dynamics, "damping", (0.0, 0.0, 0.0)) if several else ()


def _read_dynamics(
    document: XmlSource, joint: Element, dynamics: Element, remarks: Remarks
) -> dict[str, float]:
    """The numbers that act on each coordinate of a joint, by their names in `Joint`.

    Of several dampings the least, where one is negative.
    """
    numbers = {}
    if dampings := read_dampings(document, joint):
        numbers["damping"] = min(dampings)
    for name in ACTING:
        if name not in numbers:
            numbers[name] = document.number(dynamics, name, 0.0)
    refused, doubts = judge(numbers, {name: f'{name}="{dynamics.get(name)}"' for name in numbers})
    if refused:
        raise document.error(dynamics, refused)
    for problem in doubts:
        remarks.add(dynamics, problem)
    return numbers


def _read_mimic(
    document: XmlSource, joint: Element, kind: JointType, remarks: Remarks
) -> Mimic | None:
    mimic = document.child(joint, "mimic")
    if mimic is None:
        return None
    if not kind.nv:
        remarks.add(mimic, "a fixed joint mimics nothing; not used")
        return None
    target = mimic.get("joint")
    if not target:
        raise document.error(mimic, 'names no joint; add joint="..."')
    return Mimic(
        str(target),
        document.number(mimic, "multiplier", 1.0),
        document.number(mimic, "offset", 0.0),
    )
