"""Transmissions of URDF (`<transmission>`) and of ros2_control, and the rotors of their motors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...number import LARGEST, to_finite, to_float
from ..actuators import Transmission, differential, four_bar, simple
from ..model import Joint
from ..pose import Array
from .xml_source import Remarks, XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

PAIRS: dict[str, Callable[[Array, Array], Array]] = {
    "DifferentialTransmission": differential,
    "FourBarLinkageTransmission": four_bar,
}
"""Transmissions of two motors and two joints."""

SIMPLE = "SimpleTransmission"
REDUCTIONS = "mechanicalReduction", "mechanical_reduction", "gear_ratio"
ROTORS = "motorInertia", "rotorInertia", "rotor_inertia"
"""Words for the reduction, and for the inertia of a motor's rotor."""

NO_COUPLING = 1e-12
"""Share of the armature by which rotors of a pair may tie its joints."""


def read_transmissions(
    document: XmlSource, joints: Sequence[Joint], remarks: Remarks
) -> tuple[tuple[Transmission, ...], tuple[Joint, ...]]:
    """The transmissions of joints with one coordinate, and the joints with their rotors.

    An `armature` that a joint has already stays. What is not understood is remarked, as are
    transmissions of which a joint is not there; a reduction of 0 is refused.
    """
    by_name = {joint.name: joint for joint in joints if joint.nv == 1}
    found, armature = [], dict.fromkeys(by_name, 0.0)
    places = [*document.root.iterchildren("transmission")]
    for control in document.root.iter("ros2_control"):
        places += control.iterchildren("transmission")
    for element in places:
        one = _read(document, element, by_name, remarks)
        if one is None:
            continue
        found.append(one)
        for name, more in _rotors(document, element, one, remarks).items():
            given = by_name[name].armature
            if given and abs(given - armature[name] - more) > NO_COUPLING * given:
                remarks.add(
                    element,
                    f"its rotor gives joint {name!r} the armature {more:g}, and <dynamics "
                    f'armature="{given:g}"/> is written there: that is taken',
                )
            armature[name] += more
    reflected = tuple(
        replace(joint, armature=armature[joint.name])
        if armature.get(joint.name) and not joint.armature
        else joint
        for joint in joints
    )
    return tuple(found), reflected


def _read(
    document: XmlSource, element: Element, joints: Collection[str], remarks: Remarks
) -> Transmission | None:
    kind = _kind(element)
    driven, motors = (_in_order(element, tag) for tag in ("joint", "actuator"))
    names = tuple(str(one.get("name")) for one in driven)
    count = 2 if kind in PAIRS else 1
    if kind not in (*PAIRS, SIMPLE, ""):
        remarks.add(element, f"a {kind} is not understood: its motors are left out")
        return None
    if len(driven) != count or len(motors) != count and (motors or count > 1):
        if _tagged(element, (*REDUCTIONS, *ROTORS)):
            remarks.add(
                element,
                f"a {kind or SIMPLE} has as many <joint> as <actuator>, {count}; this one has "
                f"{len(driven)} and {len(motors)}, and is not used",
            )
        return None
    if not set(names) <= set(joints):
        return None
    own = [str(one.get("name") or f"{element.get('name')}/{k}") for k, one in enumerate(motors)]
    called = tuple(own) or (f"{names[0]}/motor",)
    if count == 1:
        rates = simple(_reduction(document, element, None if _tagged(element, ROTORS) else remarks))
    else:
        of_motors, of_joints = (
            np.array([_reduction(document, one) for one in those]) for those in (motors, driven)
        )
        rates = PAIRS[kind](of_motors, of_joints)
    name = element.get("name") or names[0]
    return Transmission(str(name), called, names, rates, element.sourceline)


def _kind(element: Element) -> str:
    """The type without its prefix: transmission_interface/SimpleTransmission."""
    text = element.findtext("type") or element.findtext("plugin") or element.get("type", "")
    return str(text).replace("::", "/").rpartition("/")[2].strip()


def _in_order(element: Element, tag: str) -> list[Element]:
    """Joints or actuators by their roles (joint1, joint2), else as they are written."""
    found = list(element.iterchildren(tag))
    roles = [one.get("role") or one.findtext("role") or "" for one in found]
    return [one for _, one in sorted(zip(roles, found, strict=True), key=lambda pair: pair[0])]


def _tagged(element: Element, tags: Sequence[str]) -> list[Element]:
    """Elements of these names inside, without their prefixes."""
    return [one for one in element.iter("*") if _local(one) in tags]


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def _reduction(document: XmlSource, element: Element, remarks: Remarks | None = None) -> float:
    """The product of all reductions in an element; 1 where there is none.

    A word in place of a number, as templates have it, is a remark where no motion depends on it.
    """
    product = 1.0
    for one in _tagged(element, REDUCTIONS):
        word = (one.text or "").strip()
        if remarks and word.isidentifier() and to_float(word) is None:
            remarks.add(one, f'"{word}" is not a number; the reduction is taken as 1')
            continue
        value = _number(document, one)
        if value == 0.0:
            raise document.error(
                one, "the reduction is 0: the motor would not move. Give motor over joint speed"
            )
        product *= value
    return product


def _number(document: XmlSource, element: Element) -> float:
    text = (element.text or "").strip() or element.get("value", "")
    value = to_finite(text)
    if value is None:
        raise document.error(element, f'"{text}" is not a finite number (below {LARGEST:g})')
    return value


def _rotors(
    document: XmlSource, element: Element, one: Transmission, remarks: Remarks
) -> dict[str, float]:
    """The armature of each joint by the rotors of the motors."""
    motors = _in_order(element, "actuator") if len(one.motors) > 1 else [element]
    rotors = np.zeros(len(one.motors))
    for k, motor in enumerate(motors):
        for rotor in _tagged(motor, ROTORS):
            rotors[k] = _number(document, rotor)
            if rotors[k] < 0.0:
                raise document.error(rotor, f"{rotors[k]:g} is negative; no rotor has that inertia")
    whole = one.reflected(rotors)
    coupling = whole - np.diag(np.diag(whole))
    if np.abs(coupling).max(initial=0.0) > NO_COUPLING * np.abs(whole).max(initial=0.0):
        remarks.add(
            element,
            "its rotors tie the accelerations of its joints, which is left out, and so are they: "
            "they are links of their own with that inertia, coupled to the joints",
        )
        return {}
    return {name: float(whole[k, k]) for k, name in enumerate(one.joints) if whole[k, k]}
