"""SI units of a robot's coordinates."""

from __future__ import annotations

from .model.joints.types import joint_type
from .model.model import BASE_JOINT, Model


def _unit(model: Model, label: str) -> str:
    """The unit of a coordinate, m for m/s; `label` as in a robot's positions or velocities."""
    kinds = {joint.name: joint.kind for joint in model.joints}
    kinds[BASE_JOINT] = joint_type("floating")
    name, _, part = (label, "", "") if label in kinds else label.rpartition("/")
    parts = (*kinds[name].positions, *kinds[name].velocities)
    return next(one.unit for one in parts if one.name == part)


def position_unit(model: Model, label: str) -> str:
    """Unit of a position coordinate: m, rad, or nothing for the numbers of a quaternion."""
    return _unit(model, label)


def velocity_unit(model: Model, label: str) -> str:
    """Unit of a velocity coordinate: m/s or rad/s."""
    return f"{_unit(model, label)}/s"


def acceleration_unit(model: Model, label: str) -> str:
    """Unit of an acceleration: m/s^2 or rad/s^2."""
    return velocity_unit(model, label) + "^2"


def effort_unit(model: Model, label: str) -> str:
    """Unit of an effort: N or N m."""
    return "N" if _unit(model, label) == "m" else "N m"


def joint_unit(name: str) -> str:
    """Unit of the range of a joint type: m or rad; nothing where it has both kinds or none."""
    units = {part.unit for part in joint_type(name).velocities}
    return units.pop() if len(units) == 1 else ""
