"""A URDF read into a `Model`."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np

from .inertia_check import inertia_warnings
from .model import JOINT_COORDINATES, Inertia, Joint, Limits, Link, Mimic, Model
from .placement import normalized, read_pose
from .structure import (
    check_ends,
    check_mimics,
    check_unique,
    find_root,
    quoted,
    suggestion,
)
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ONE_FREEDOM = ("revolute", "continuous", "prismatic")
ELSEWHERE = {
    "spherical": "three revolute joints that meet in a point, with links without inertia between",
    "ball": "three revolute joints that meet in a point, with links without inertia between",
    "universal": "two revolute joints that meet in a point, with a link without inertia between",
    "cylindrical": "a revolute and a prismatic joint along one axis, with a link between",
    "screw": "a revolute and a prismatic joint along one axis, the second a mimic of the first",
}
CLOSURES = ("loop", "coupling", "constraint", "loop_joint")


def read_urdf(source: str | os.PathLike[str]) -> Model:
    """Read a URDF.

    Parameters
    ----------
    source : str or os.PathLike
        A path, or the XML text (a str that holds a ``<``).

    Returns
    -------
    Model
        Links and joints in document order, SI units, rad. What looked wrong but can be computed
        is in `Model.warnings`.

    Raises
    ------
    ModelError
        What cannot be read, or is no tree of links; the message gives file, line, element,
        the value found and what to do.

    Examples
    --------
    >>> model = read_urdf('''<robot name="pendulum">
    ...   <link name="base"/>
    ...   <joint name="pin" type="continuous">
    ...     <parent link="base"/> <child link="arm"/> <axis xyz="0 3 0"/>
    ...   </joint>
    ...   <link name="arm">
    ...     <inertial> <origin xyz="0 0 -1"/> <mass value="2"/>
    ...       <inertia ixx="0.1" iyy="0.1" izz="0.01"/> </inertial>
    ...   </link>
    ... </robot>''')
    >>> model.root, model.joint("pin").axis, model.link("arm").inertia.mass
    ('base', array([0., 1., 0.]), 2.0)
    """
    document = XmlSource(source)
    robot = document.root
    if robot.tag != "robot":
        raise document.error(robot, "this is no URDF: the outermost element must be <robot>")
    _refuse_closures(document)
    warnings: list[str] = []
    links = tuple(_read_link(document, element) for element in robot.iterchildren("link"))
    joints = tuple(
        _read_joint(document, element, warnings) for element in robot.iterchildren("joint")
    )
    check_unique(document.name, links, "link")
    check_unique(document.name, joints, "joint")
    check_ends(document.name, links, joints)
    root = find_root(document.name, links, joints)
    check_mimics(document.name, joints)
    warnings += inertia_warnings(document.name, links)
    return Model(
        name=robot.get("name") or "robot",
        root=root,
        links=links,
        joints=joints,
        source=document.name,
        warnings=tuple(warnings),
    )


def _refuse_closures(document: XmlSource) -> None:
    for tag in CLOSURES:
        for element in document.root.iterchildren(tag):
            raise document.error(
                element,
                "closed loops and couplings are not supported in this version; remove it to "
                "compute the open tree (a different machine), or wait for a version that has them",
            )


def _read_name(document: XmlSource, element: Element) -> str:
    name = element.get("name")
    if not name:
        raise document.error(element, f"this {element.tag} has no name; give it one")
    return str(name)


def _read_link(document: XmlSource, element: Element) -> Link:
    return Link(_read_name(document, element), _read_inertia(document, element), element.sourceline)


def _read_inertia(document: XmlSource, link: Element) -> Inertia | None:
    """The inertia of a link, its moments turned from the inertial frame into link axes."""
    inertial = document.child(link, "inertial")
    if inertial is None:
        return None
    pose = read_pose(document, inertial)
    mass_element = document.child(inertial, "mass")
    if mass_element is None:
        raise document.error(
            inertial, 'has no <mass>; add <mass value="..."/> or remove the <inertial>'
        )
    mass = document.number(mass_element, "value")
    if mass < 0.0:
        raise document.error(
            mass_element, f'value="{mass_element.get("value")}" is a negative mass; correct it'
        )
    moments = np.zeros((3, 3))
    element = document.child(inertial, "inertia")
    if element is not None:
        ixx, iyy, izz = (document.number(element, key) for key in ("ixx", "iyy", "izz"))
        ixy, ixz, iyz = (document.number(element, key, 0.0) for key in ("ixy", "ixz", "iyz"))
        moments = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        turned = pose.rotation @ moments @ pose.rotation.T
        moments = (turned + turned.T) / 2
    return Inertia(mass, pose.translation, moments)


def _read_joint(document: XmlSource, element: Element, warnings: list[str]) -> Joint:
    name = _read_name(document, element)
    kind = _read_type(document, element)
    damping, friction = 0.0, 0.0
    dynamics = document.child(element, "dynamics")
    if dynamics is not None and kind != "fixed":
        damping, friction = _read_dynamics(document, dynamics, warnings)
    return Joint(
        name=name,
        type=kind,
        parent=_read_end(document, element, "parent"),
        child=_read_end(document, element, "child"),
        origin=read_pose(document, element),
        axis=_read_axis(document, element, kind),
        limits=_read_limits(document, element, kind, warnings),
        damping=damping,
        friction=friction,
        mimic=_read_mimic(document, element, kind, warnings),
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


def _read_end(document: XmlSource, joint: Element, role: str) -> str:
    end = document.child(joint, role)
    link = None if end is None else end.get("link")
    if not link:
        raise document.error(
            joint if end is None else end, f'names no {role}; add <{role} link="..."/>'
        )
    return str(link)


def _read_axis(document: XmlSource, joint: Element, kind: str) -> tuple[float, ...]:
    """The unit axis, (1, 0, 0) where it is missing; not looked at where the joint has none."""
    axis = document.child(joint, "axis")
    if axis is None or kind in ("fixed", "floating"):
        return (1.0, 0.0, 0.0)
    unit = normalized(document.vector(axis, "xyz", (1.0, 0.0, 0.0)))
    if unit is None:
        raise document.error(
            axis, f'xyz="{axis.get("xyz")}" has no direction; give one such as "0 0 1"'
        )
    return unit


def _read_limits(
    document: XmlSource, joint: Element, kind: str, warnings: list[str]
) -> Limits:
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
        warnings.append(
            f"{document.place(limit)}: {given} would hold the joint still; taken as no limit"
        )
    return Limits(lower, upper, bounds["velocity"], bounds["effort"])


def _read_dynamics(
    document: XmlSource, dynamics: Element, warnings: list[str]
) -> tuple[float, float]:
    damping = document.number(dynamics, "damping", 0.0)
    friction = document.number(dynamics, "friction", 0.0)
    if friction < 0.0:
        raise document.error(
            dynamics,
            f'friction="{dynamics.get("friction")}" is negative; friction opposes motion, '
            "give its magnitude",
        )
    if damping < 0.0:
        warnings.append(
            f'{document.place(dynamics)}: damping="{dynamics.get("damping")}" is negative: it '
            "drives the joint; computed as it stands"
        )
    return damping, friction


def _read_mimic(
    document: XmlSource, joint: Element, kind: str, warnings: list[str]
) -> Mimic | None:
    mimic = document.child(joint, "mimic")
    if mimic is None:
        return None
    if kind == "fixed":
        warnings.append(f"{document.place(mimic)}: a fixed joint mimics nothing; not used")
        return None
    target = mimic.get("joint")
    if not target:
        raise document.error(mimic, 'names no joint; add joint="..."')
    return Mimic(
        str(target),
        document.number(mimic, "multiplier", 1.0),
        document.number(mimic, "offset", 0.0),
    )
