"""SI units of a robot's coordinates."""

from __future__ import annotations

from .model.model import Model


def _slides(model: Model, label: str) -> bool:
    """Whether a coordinate is a length; `label` as in a robot's position or velocity labels."""
    name, _, part = label.partition("/")
    if part:
        return part in ("x", "y", "z", "vx", "vy", "vz")
    return model.joint(name).type == "prismatic"


def position_unit(model: Model, label: str) -> str:
    """Unit of a position coordinate: m, rad, or nothing for the numbers of a quaternion."""
    if label.rpartition("/")[2] in ("qx", "qy", "qz", "qw"):
        return ""
    return "m" if _slides(model, label) else "rad"


def velocity_unit(model: Model, label: str) -> str:
    """Unit of a velocity coordinate: m/s or rad/s."""
    return "m/s" if _slides(model, label) else "rad/s"


def acceleration_unit(model: Model, label: str) -> str:
    """Unit of an acceleration: m/s^2 or rad/s^2."""
    return velocity_unit(model, label) + "^2"


def effort_unit(model: Model, label: str) -> str:
    """Unit of an effort: N or N m."""
    return "N" if _slides(model, label) else "N m"


def joint_unit(joint_type: str) -> str:
    """Unit of a joint's range: m or rad; nothing where the joint has both kinds or none."""
    return {"prismatic": "m", "revolute": "rad", "continuous": "rad"}.get(joint_type, "")
