"""Links that a `connect` or a `weld` of an MJCF holds together, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...joints.quaternion import rotation_rows
from ...model import Pose
from ..placement import tidy
from .compiled import Compiled


@dataclass(frozen=True)
class Hold:
    """An active `connect` or `weld` by its number: its two bodies, and its frames in them."""

    number: int
    is_weld: bool
    bodies: tuple[int, int]
    frames: tuple[Pose, Pose]


def active_holds(compiled: Compiled) -> Iterator[Hold]:
    """The holds that are active from the beginning, except those of mocap bodies.

    Bodies that are one without them are held by none.
    """
    for hold in _holds(compiled):
        if compiled.model.eq_active0[hold.number] and not _led(compiled.model, hold):
            if not _is_idle(compiled.model, hold):
                yield hold


def idle_holds(compiled: Compiled) -> int:
    """How many holds there are of bodies that are one without them."""
    return sum(_is_idle(compiled.model, hold) for hold in _holds(compiled))


def _is_idle(model: Any, hold: Hold) -> bool:
    one, other = (model.body_weldid[body] for body in hold.bodies)
    return bool(one == other)


def led_holds(compiled: Compiled) -> int:
    """How many holds there are of mocap bodies."""
    return sum(_led(compiled.model, hold) for hold in _holds(compiled))


def is_mocap(model: Any, body: int) -> bool:
    """Whether a body is led by motion capture, or is carried by one that is."""
    return bool(model.body_mocapid[model.body_rootid[body]] >= 0)


def _led(model: Any, hold: Hold) -> bool:
    return any(is_mocap(model, body) for body in hold.bodies)


def _holds(compiled: Compiled) -> Iterator[Hold]:
    model, kinds = compiled.model, compiled.mujoco.mjtEq
    for k in range(model.neq):
        if int(model.eq_type[k]) not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            continue
        is_weld = bool(model.eq_type[k] == kinds.mjEQ_WELD)
        one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if model.eq_objtype[k] == compiled.mujoco.mjtObj.mjOBJ_SITE:
            first, second = (
                pose_of(model.site_pos[site], model.site_quat[site]) for site in (one, other)
            )
            bodies = int(model.site_bodyid[one]), int(model.site_bodyid[other])
            yield Hold(k, is_weld, bodies, (first, second))
            continue
        data = model.eq_data[k]
        if is_weld:  # the place in the second body comes first
            frames = pose_of(data[3:6], data[6:10]), Pose(translation=data[:3])
        else:
            frames = Pose(translation=data[:3]), Pose(translation=data[3:6])
        yield Hold(k, is_weld, (one, other), frames)


def pose_of(position: Any, quaternion: Any) -> Pose:
    """The pose of a position (3,) and a quaternion (w, x, y, z) of any length."""
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return Pose(tidy(np.array(rotation_rows(x, y, z, w))), np.array(position))
