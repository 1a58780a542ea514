"""The joints of a side-car file: types, drives and springs that the URDF lacks."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import yaml

from ...errors import ModelError, suggestion
from ..joints import JOINT_TYPES, JointType, joint_type
from ..model import ACTING, Array, Joint, Limits, Model
from .acting import refusal
from .placement import X_AXIS, normalized
from .structure import check_mimics
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
