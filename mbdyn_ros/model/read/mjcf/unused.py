"""Elements of a MJCF with which nothing here computes: those that act on the motion, and others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .actuators import Actuators
from .compiled import Compiled
from .holding import idle_holds, is_mocap, led_holds

FREE, BALL = 0, 1
"""MuJoCo's marks of free and of ball joints."""


NO_WAY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""The pose of a free body that has not moved."""

NAMES = 6
"""Names of elements that are told."""


def unused_forces(compiled: Compiled, actuators: Actuators, is_free: bool) -> dict[str, int]:
    """Elements that act on the motion, and how often they are there.

    is_free : whether the base is a free joint, on which nothing acts here.
    """
    model = compiled.model
    tendons = (
        model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss,
        model.tendon_armature, model.tendon_limited,
    )  # fmt: skip
    pulled = np.any([np.asarray(one, dtype=bool) for one in tendons], axis=0)
    springs = model.jnt_stiffness[model.jnt_type <= BALL]
    counts = {
        "spring of a ball or free joint": np.count_nonzero(springs),
        "tendon force": np.count_nonzero(pulled),
        "gravcomp": np.count_nonzero(model.body_gravcomp),
        "limit of a ball joint": np.count_nonzero(model.jnt_limited[model.jnt_type == BALL]),
        "actuator on no joint": actuators.elsewhere,
        "medium": int(bool(model.opt.density or model.opt.viscosity)),
        "magnetic field or wind": int(bool(model.opt.wind.any())),
        "plugin": model.nplugin,
        "equality of a mocap body": led_holds(compiled),
    }
    for name in ("stiffnesspoly", "dampingpoly"):  # of newer versions
        values = getattr(model, f"jnt_{name}", getattr(model, f"dof_{name}", np.zeros(0)))
        counts[name] = sum(bool(np.any(one)) for one in values)
    for name in ("armature", "damping"):
        values = getattr(model, f"actuator_{name}", np.zeros(0))
        counts[f"actuator {name}"] = np.count_nonzero(values)
    for name in ("armature", "damping", "frictionloss"):
        base = np.flatnonzero((model.jnt_type == FREE) & is_free)
        of_base = getattr(model, f"dof_{name}")[model.jnt_dofadr[base]]
        counts[f"{name} of the free base (write <freejoint/> if a default gave it)"] = (
            np.count_nonzero(of_base)
        )
    return {what: int(count) for what, count in counts.items() if count}


def unused_elements(compiled: Compiled) -> dict[str, int]:
    """All others."""
    model, moved = compiled.model, _placed_bodies(compiled)
    around = np.flatnonzero(model.geom_bodyid == 0).tolist()
    counts = {
        "inactive equality": np.count_nonzero(model.eq_active0 == 0),
        "equality of links that are one without it": idle_holds(compiled),
        "mocap body": model.nmocap,
        "contact exclude": model.nexclude,
        "contact pair": model.npair,
        _named(compiled, "GEOM", "geom of the world", around): len(around),
        _named(compiled, "BODY", "start or keyframe pose of a free body", moved): len(moved),
        "tendon": model.ntendon,
        "sensor": model.nsensor,
        "camera": model.ncam,
        "light": model.nlight,
    }
    return {what: int(count) for what, count in counts.items() if count}


def scenery_warnings(compiled: Compiled) -> list[str]:
    """That nothing holds the robot up where the file's world would."""
    model = compiled.model
    touches = (model.geom_contype | model.geom_conaffinity) != 0
    around = np.flatnonzero((model.geom_bodyid == 0) & touches).tolist()
    if not around:
        return []
    what = _named(compiled, "GEOM", "geoms of the world", around)
    return [
        f"{compiled.name}: {what} ({len(around)}) are no part of the robot, which passes through "
        "them; give walls to simulate and Stepper: environment=Environment([Surface.plane()])"
    ]


def _placed_bodies(compiled: Compiled) -> list[int]:
    """The free bodies that do not begin at the world's origin; home has them there."""
    model = compiled.model
    found = []
    for joint in np.flatnonzero(model.jnt_type == FREE):
        start, body = model.jnt_qposadr[joint], int(model.jnt_bodyid[joint])
        poses = np.vstack([model.qpos0, model.key_qpos])[:, start : start + 7]
        if not is_mocap(model, body) and (poses != NO_WAY).any():
            found.append(body)
    return found


def _named(compiled: Compiled, kind: str, what: str, numbers: Sequence[int]) -> str:
    """The words for what is counted, with names of the first."""
    names = [name for k in numbers[:NAMES] if (name := compiled.name_of(kind, int(k)))]
    if not names:
        return what
    return f"{what} ({', '.join(names)}{', ...' if len(numbers) > NAMES else ''})"
