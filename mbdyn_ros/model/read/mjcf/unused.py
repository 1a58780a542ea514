"""Elements of a MJCF with which nothing here computes: those that act on the motion, and others."""

from __future__ import annotations

import numpy as np

from .actuators import Actuators
from .compiled import Compiled
from .holding import led_holds

BALL = 1
"""MuJoCo's mark of a ball joint; that of a free one is 0."""


def unused_forces(compiled: Compiled, actuators: Actuators) -> dict[str, int]:
    """Elements that act on the motion, and how often they are there."""
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
    return {what: int(count) for what, count in counts.items() if count}


def unused_elements(compiled: Compiled) -> dict[str, int]:
    """All others."""
    model = compiled.model
    counts = {
        "inactive equality": np.count_nonzero(model.eq_active0 == 0),
        "mocap body": model.nmocap,
        "contact exclude": model.nexclude,
        "contact pair": model.npair,
        "geom of the world": np.count_nonzero(model.geom_bodyid == 0),
        "tendon": model.ntendon,
        "sensor": model.nsensor,
        "camera": model.ncam,
        "light": model.nlight,
    }
    return {what: int(count) for what, count in counts.items() if count}
