"""The joints and actuators of a side-car file, or of a URDF with the same settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any, Protocol

import numpy as np
import yaml

from ...errors import ModelError, suggestion
from ..actuators import TYPES, Actuator, ElectricDrive, HydraulicCylinder, Slide, Valve
from ..joints.types import JOINT_TYPES, JointType, joint_type
from ..model import ACTING, Array, Joint, Limits, Model
from ..pose import normalized
from .structure import check_mimics, refusal
from .xml_source import X_AXIS
from .yaml_source import YamlSource

NUMBERS = tuple(number.name for one in JOINT_TYPES.values() for number in one.numbers)
"""Numbers that some types need besides an axis."""

KEYS = ("name", "type", "axis", *NUMBERS, *ACTING)


def retyped(document: YamlSource, nodes: list[yaml.Node], model: Model) -> Model:
    """The model with some joints of other types; where they are and what they join stays.

    Each record names a joint, its type and its axis if these are others than in the URDF, the
    numbers that the type needs, and those that act on its coordinates. Limits stay where the
    joint still has one freedom of the same unit.
    """
    joints = {joint.name: joint for joint in model.joints}
    seen: set[str] = set()
    for node in nodes:
        values = document.mapping(node, "a joint", KEYS)
        if "name" not in values:
            raise document.error(node, "this joint has no name; name one of the robot")
        name = document.text(values["name"], "the name of a joint")
        if name not in joints:
            raise document.error(
                values["name"],
                f'"{name}" is not a joint of this robot{suggestion(name, joints)}; '
                "correct the name",
            )
        if name in seen:
            raise document.error(node, f'joint "{name}" is given twice; keep one')
        seen.add(name)
        joints[name] = _read_joint(document, node, values, joints[name])
    check_mimics(document.name, tuple(joints.values()))
    return dataclasses.replace(model, joints=tuple(joints.values()))


def read_axis(
    document: YamlSource, values: dict[str, yaml.Node], what: str, default: Array
) -> Array:
    """The unit vector (3,) along the `axis` of a record; `default` where it is missing."""
    if "axis" not in values:
        return default
    unit = normalized(document.vector(values["axis"], what))
    if unit is None:
        raise document.error(values["axis"], f"{what} has no direction; give one such as [0, 0, 1]")
    return np.array(unit)


def read_numbers(
    document: YamlSource, node: yaml.Node, values: dict[str, yaml.Node], kind: JointType, what: str
) -> dict[str, float]:
    """The numbers that a type of joint needs besides an axis; `what` begins messages."""
    numbers = {}
    for number in kind.numbers:
        if number.name not in values:
            raise document.error(
                node, f"{what}has no {number.name}; add {number.name}: the {number.meaning}"
            )
        numbers[number.name] = document.number(values[number.name], f"{what}its {number.name}")
    return numbers


def _read_joint(
    document: YamlSource, node: yaml.Node, values: dict[str, yaml.Node], joint: Joint
) -> Joint:
    what = f'joint "{joint.name}": '
    acting = _read_acting(document, values, what)
    if acting and not {"type", "axis", *NUMBERS} & set(values):
        return dataclasses.replace(joint, **acting)
    given = document.text(values["type"], f"{what}its type") if "type" in values else None
    try:
        kind = joint_type(given, what)
    except ModelError as error:
        raise document.error(values.get("type", node), str(error)) from None
    if not kind.nv:
        raise document.error(
            node, f"{what}a side-car file cannot hold a joint still; write it as fixed in the URDF"
        )
    axis = X_AXIS
    if kind.has_axis:
        axis = read_axis(document, values, f"{what}its axis", joint.axis)
    numbers = read_numbers(document, node, values, kind, what)
    same = kind.nv == 1 and kind.velocities == joint.kind.velocities
    return dataclasses.replace(
        joint,
        type=kind.name,
        axis=axis,
        numbers=numbers,
        limits=joint.limits if same else Limits(),
        **acting,
    )


def _read_acting(document: YamlSource, values: dict[str, yaml.Node], what: str) -> dict[str, Any]:
    """The numbers that act on the coordinates of a joint, as far as a record gives them."""
    acting = {}
    for name in ACTING:
        if name in values:
            acting[name] = number = document.number(values[name], f"{what}its {name}")
            if problem := refusal(name, number, f"{name}: {number:g}"):
                raise document.error(values[name], f"{what}{problem}")
    return acting


PARTS: dict[str, type[Any]] = {"valve": Valve, "friction": Slide}
"""Settings that are records themselves."""

MAY_BE_ZERO = {
    "extension", "rod", "air", "leakage", "bandwidth", "inductance", "rotor_inertia", "dry",
    "static", "viscous", "tank",
}  # fmt: skip
"""Numbers that need not be positive."""


class Records(Protocol):
    """A document that contains records, whose nodes are its own: `YamlSource`, `XmlRecords`."""

    def mapping(self, node: Any, what: str, known: Collection[str] | None = None) -> dict[str, Any]:
        """The nodes of a record by key; one given twice or not `known` is refused."""

    def text(self, node: Any, what: str) -> str:
        """The text of a node."""

    def number(self, node: Any, what: str) -> float:
        """The finite number in a node."""

    def line(self, node: Any) -> int:
        """The line in which a node begins."""

    def error(self, node: Any, problem: str) -> ModelError:
        """The error to raise for a node."""


def read_actuators(
    document: Records, nodes: Iterable[Any], model: Model, written: Collection[str] = ()
) -> Model:
    """The model with its actuators, and their rotors as armature of joints that have none.

    written : names of joints whose armature is in the file, 0 or not, and stays.
    """
    found: list[Actuator] = []
    joints = {joint.name: joint for joint in model.joints}
    for node in nodes:
        one = _read(document, node)
        values = document.mapping(node, "an actuator")
        what = f'actuator "{one.name}": '
        if one.name in {other.name for other in found}:
            raise document.error(values["name"], f"{what}the name is taken; rename one")
        if one.joint not in joints:
            raise document.error(
                values["joint"],
                f'{what}"{one.joint}" is not a joint of this robot{suggestion(one.joint, joints)}',
            )
        taken = next((other for other in found if other.joint == one.joint), None)
        if taken is not None:
            raise document.error(
                values["joint"], f'{what}actuator "{taken.name}" moves that joint already'
            )
        joint = joints[one.joint]
        unit = "m" if isinstance(one, HydraulicCylinder) or one.lead else "rad"
        if joint.nv != 1 or joint.kind.velocities[0].unit != unit:
            raise document.error(
                values["joint"],
                f'{what}joint "{one.joint}" is {joint.type}; it takes one that '
                f"{'slides' if unit == 'm' else 'turns'}",
            )
        rotor = one.armature if isinstance(one, ElectricDrive) else 0.0
        if rotor and not joint.armature and one.joint not in written:
            joints[one.joint] = dataclasses.replace(joint, armature=rotor)
        found.append(one)
    if not found:
        return model
    return dataclasses.replace(
        model,
        joints=tuple(joints[joint.name] for joint in model.joints),
        driven=tuple(dict.fromkeys([*model.driven, *(one.joint for one in found)])),
        actuators=tuple(found),
    )


def _read(document: Records, node: Any) -> Actuator:
    values = document.mapping(node, "an actuator")
    if "type" not in values:
        raise document.error(node, f"this actuator has no type; give {' or '.join(TYPES)}")
    kind = document.text(values["type"], "the type of an actuator")
    if kind not in TYPES:
        raise document.error(
            values["type"],
            f'there is no actuator "{kind}"{suggestion(kind, TYPES)}; there are {", ".join(TYPES)}',
        )
    name = document.text(values["name"], "the name of an actuator") if "name" in values else "?"
    one: Actuator = _record(document, node, TYPES[kind], f'actuator "{name}"', {"type"})
    what = f'actuator "{name}": '
    if isinstance(one, HydraulicCylinder):
        if one.rod >= one.bore:
            raise document.error(node, f"{what}its rod ({one.rod:g} m) fills its bore "
                                 f"({one.bore:g} m); give diameters")  # fmt: skip
        if not one.tank < one.supply:
            raise document.error(node, f"{what}its tank ({one.tank:g} Pa) is not below its supply "
                                 f"({one.supply:g} Pa)")  # fmt: skip
        if one.air >= 1.0:
            raise document.error(node, f"{what}air is a share of the oil, not {one.air:g}")
    elif bool(one.lead) == bool(one.reduction):
        raise document.error(node, f"{what}give either its lead (m a turn) or its reduction")
    return one


def _record(
    document: Records, node: Any, kind: type[Any], what: str, more: Collection[str] = ()
) -> Any:
    """A dataclass of the settings in a mapping."""
    fields = {one.name: one for one in dataclasses.fields(kind) if one.name != "line"}
    values = document.mapping(node, what, (*more, *fields))
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key in more:
            continue
        if key in PARTS:
            given[key] = _record(document, value, PARTS[key], f"{key} of {what}")
        elif key in ("name", "joint"):
            given[key] = document.text(value, f"{key} of {what}")
        else:
            number = given[key] = document.number(value, f"{what}: its {key}")
            least = "not negative" if key in MAY_BE_ZERO else "above 0"
            if key == "reduction":
                least = "not 0"
            if {"not negative": number < 0, "above 0": number <= 0, "not 0": number == 0}[least]:
                raise document.error(value, f"{what}: its {key} is {number:g}; it must be {least}")
    for key, one in fields.items():
        missing = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        if missing and key not in given:
            raise document.error(node, f"{what} has no {key}; add it")
    if "line" in {one.name for one in dataclasses.fields(kind)}:
        given["line"] = document.line(node)
    return kind(**given)
