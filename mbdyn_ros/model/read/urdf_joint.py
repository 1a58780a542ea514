"""A `<joint>` of a URDF."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...errors import suggestion
from ..model import JOINT_COORDINATES, Joint, Limits, Mimic
from .placement import X_AXIS, read_axis, read_pose
from .remarks import Remarks
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ONE_FREEDOM = ("revolute", "continuous", "prismatic")
AXISLESS = ("fixed", "floating")
ELSEWHERE = {
    "spherical": "three revolute joints that meet in a point, with links without inertia between",
    "ball": "three revolute joints that meet in a point, with links without inertia between",
    "universal": "two revolute joints that meet in a point, with a link without inertia between",
    "cylindrical": "a revolute and a prismatic joint along one axis, with a link between",
    "screw": "a revolute and a prismatic joint along one axis, the second a mimic of the first",
}


def read_joint(document: XmlSource, element: Element, remarks: Remarks) -> Joint:
    """Read one joint; what it joins to is not looked at."""
    name = document.read_name(element)
    kind = _read_type(document, element)
    damping, friction = 0.0, 0.0
    dynamics = document.child(element, "dynamics")
    if dynamics is not None and kind != "fixed":
        damping, friction = _read_dynamics(document, dynamics, remarks)
    return Joint(
        name=name,
        type=kind,
        parent=read_end(document, element, "parent"),
        child=read_end(document, element, "child"),
        origin=read_pose(document, element),
        axis=X_AXIS if kind in AXISLESS else read_axis(document, element),
        limits=_read_limits(document, element, kind, remarks),
        damping=damping,
        friction=friction,
        mimic=_read_mimic(document, element, kind, remarks),
        line=element.sourceline,
    )


def _read_type(document: XmlSource, joint: Element) -> str:
    kind = joint.get("type")
    if kind in JOINT_COORDINATES:
        return str(kind)
    known = f"the types of URDF are {', '.join(JOINT_COORDINATES)}"
    if kind is None:
        raise document.error(joint, f"has no type; {known}")
    if kind in ELSEWHERE:
        raise document.error(
            joint, f'type="{kind}" is not in URDF; write it as {ELSEWHERE[kind]}; {known}'
        )
    raise document.error(
        joint, f'type="{kind}" is unknown{suggestion(kind, JOINT_COORDINATES)}; {known}'
    )


def read_end(document: XmlSource, joint: Element, role: str) -> str:
    """The link that an element names as its parent, child, predecessor or successor."""
    end = document.child(joint, role)
    link = None if end is None else end.get("link")
    if not link:
        raise document.error(
            joint if end is None else end, f'names no {role}; add <{role} link="..."/>'
        )
    return str(link)


def _read_limits(document: XmlSource, joint: Element, kind: str, remarks: Remarks) -> Limits:
    limit = document.child(joint, "limit")
    if limit is None or kind not in ONE_FREEDOM:
        return Limits()
    unlimited = []
    lower, upper = -math.inf, math.inf
    if kind != "continuous" and {"lower", "upper"} & set(limit.keys()):
        lower = document.number(limit, "lower", 0.0, infinite=True)
        upper = document.number(limit, "upper", 0.0, infinite=True)
        if lower > upper or lower == math.inf or upper == -math.inf:
            raise document.error(
                limit,
                f"lower={lower:g} is above upper={upper:g} (one that is missing counts as 0); "
                "exchange or correct them",
            )
        if lower == upper == 0.0:
            unlimited += ["lower", "upper"]
            lower, upper = -math.inf, math.inf
    bounds = {}
    for key in ("velocity", "effort"):
        bounds[key] = document.number(limit, key, math.inf, infinite=True)
        if bounds[key] <= 0.0:
            unlimited.append(key)
            bounds[key] = math.inf
    if unlimited:
        given = " ".join(f'{key}="{limit.get(key, "0")}"' for key in unlimited)
        remarks.add(limit, f"{given} would hold the joint still; taken as no limit")
    return Limits(lower, upper, bounds["velocity"], bounds["effort"])


def _read_dynamics(document: XmlSource, dynamics: Element, remarks: Remarks) -> tuple[float, float]:
    damping = document.number(dynamics, "damping", 0.0)
    friction = document.number(dynamics, "friction", 0.0)
    if friction < 0.0:
        raise document.error(
            dynamics,
            f'friction="{dynamics.get("friction")}" is negative; friction opposes motion, '
            "give its magnitude",
        )
    if damping < 0.0:
        remarks.add(
            dynamics,
            f'damping="{dynamics.get("damping")}" is negative: it '
            "drives the joint; computed as it stands",
        )
    return damping, friction


def _read_mimic(document: XmlSource, joint: Element, kind: str, remarks: Remarks) -> Mimic | None:
    mimic = document.child(joint, "mimic")
    if mimic is None:
        return None
    if kind == "fixed":
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
