"""Tendons of a MJCF whose length is a sum of joint positions."""

from __future__ import annotations

from typing import Any

JOINT_WRAP = 1
"""MuJoCo's mark of a joint in a tendon."""


def length_factors(model: Any, tendon: int) -> list[tuple[int, float]] | None:
    """Joints and what their positions are multiplied by; None of a tendon that runs over sites."""
    first = model.tendon_adr[tendon]
    wraps = range(first, first + model.tendon_num[tendon])
    if any(model.wrap_type[k] != JOINT_WRAP for k in wraps):
        return None
    return [(int(model.wrap_objid[k]), float(model.wrap_prm[k])) for k in wraps]
