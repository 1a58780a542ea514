"""A joint with other numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...errors import InputError
from ..model import ACTING, Joint, Model, Pose
from ..pose import roll_pitch_yaw
from ..read.structure import refusal
from ..split_joints import whole_joints
from .parts import direction, placed_at, require, split_where_named

BOUNDS = ("lower", "upper", "velocity", "effort")


def with_joint(
    model: Model,
    name: str,
    *,
    xyz: Sequence[float] | None = None,
    rpy: Sequence[float] | None = None,
    axis: Sequence[float] | None = None,
    **numbers: float,
) -> Model:
    """The robot with other numbers of a joint; those that are not given stay.

    Parameters
    ----------
    xyz, rpy : pose of the joint in its parent (m, rad). axis : its direction there.
    numbers : lower, upper (rad or m), velocity, effort: its limits, infinite for none; damping,
        friction, armature, spring_stiffness, spring_reference: what acts on its coordinates.

    Raises
    ------
    InputError
        There is no such joint or number, or the joint cannot have it.
    """
    model = whole_joints(model)
    joint = model.joint(require(model, "joint", name, model._joints))
    what = f"{model.source}: joint {name!r}"
    for key, value in numbers.items():
        if key not in (*BOUNDS, *ACTING):
            raise InputError(f"{what} has no {key!r}; there are {', '.join((*BOUNDS, *ACTING))}")
        if not joint.nv:
            raise InputError(f"{what} is fixed, and has no {key}")
        _check(what, key, value, joint)
    changes: dict[str, Any] = {key: float(numbers[key]) for key in ACTING if key in numbers}
    if bounds := {key: float(numbers[key]) for key in BOUNDS if key in numbers}:
        changes["limits"] = limits = replace(joint.limits, **bounds)
        if limits.lower > limits.upper:
            raise InputError(f"{what}: lower {limits.lower:g} is above upper {limits.upper:g}")
    if axis is not None:
        if not joint.kind.has_axis:
            raise InputError(f"{what} is {joint.type}, and has no axis")
        changes["axis"] = direction(model.source, "axis", axis)
    if xyz is not None or rpy is not None:
        changes["origin"] = _origin(model.source, joint, xyz, rpy)
    joints = (replace(one, **changes) if one is joint else one for one in model.joints)
    return split_where_named(replace(model, joints=tuple(joints)))


def _origin(
    source: str, joint: Joint, xyz: Sequence[float] | None, rpy: Sequence[float] | None
) -> Pose:
    here = joint.origin
    there = placed_at(
        source,
        here.translation.tolist() if xyz is None else xyz,
        roll_pitch_yaw(here.rotation) if rpy is None else rpy,
    )
    return there if rpy is not None else replace(here, translation=there.translation)


def _check(what: str, key: str, value: object, joint: Joint) -> None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or (key in ACTING and math.isinf(number)):
        raise InputError(f"{what}: {key} is a number, not {value!r}")
    if problem := refusal(key, number, f"{key}={number:g}"):
        raise InputError(f"{what}: {problem}")
    if key in BOUNDS and joint.nv != 1:
        raise InputError(f"{what} is {joint.type}, and limits are of joints of one coordinate")
    if key in ("lower", "upper") and joint.kind.is_endless:
        raise InputError(
            f"{what} is {joint.type}, and has no ends; change its type to revolute in the file"
        )
    if key in ("velocity", "effort") and number <= 0:
        raise InputError(f"{what}: {key}={number:g} would hold it still; give one above 0")
