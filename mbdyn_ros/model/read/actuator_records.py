"""The actuators of a description: the same settings in a side-car file and in a URDF."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any, Protocol

from ...errors import ModelError, suggestion
from ..actuators import TYPES, Actuator, ElectricDrive, HydraulicCylinder, Slide, Valve
from ..model import Model

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
