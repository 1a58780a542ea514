"""Friction in the joints of a mechanism: the forces in the joints make it, and it changes them.

A pin of radius r turns against r mu |F|, F the force in it, and against d w; a slide against
mu |N|, N its force across the slide, and d v. All forces are affine in the friction T = (T_1, ...,
T_m) of the joints, so that of every instant

    T_i = -sign(w_i) mu_i r_i |F_i(T)| - d_i w_i,    F(T) = F(0) + A T

is a fixed point; it is solved by Newton's method to rounding. Joints at rest have no dry friction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, suggestion
from ..model.model import Array
from .cut_open import PartConnection, connections
from .layout import GROUND, GearMesh, turned
from .mechanism import Mechanism
from .pose import MechanismPose
from .programs import run
from .reactions import reactions

FRICTION_ITERATIONS = 30
"""Newton's iterations; a few suffice."""

FRICTION_SETTLED = 1e-12
"""Change of friction, as a share of the largest, below which it is accepted."""


@dataclass(frozen=True)
class Friction:
    """The friction of a joint.

    coefficient : of dry friction. radius : m, of a pin; slides need none.
    damping : N m s/rad of a pin, N s/m of a slide.

    Raises
    ------
    InputError
        A number is negative or none.
    """

    coefficient: float = 0.0
    radius: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0):
                raise InputError(f"friction: {name} is {value}; give a number from 0 on")


@dataclass(frozen=True, eq=False)
class FrictionForces:
    """A motion with friction, by joint and pin.

    reactions : (N, 3), as `Analysis.reactions`, friction in them. friction : (N,) moment (N m) of
    a pin, force (N) of a slide, on the second part. power : (N,) W, lost in all of them.
    """

    reactions: Mapping[str, Array]
    friction: Mapping[str, Array]
    power: Array
    torque: Array


def friction_forces(
    mechanism: Mechanism,
    motion: tuple[Array, Array, Array],
    pose: MechanismPose,
    rates: Array,
    friction: Friction | Mapping[str, Friction],
) -> FrictionForces:
    """The forces of a motion with friction in the joints.

    Parameters
    ----------
    motion : q, v, a (N, n) of the inputs. pose : there. rates : (N, joints) of all joints.
    friction : of every joint and pin, or by their names; others have none.

    Raises
    ------
    InputError
        There is no such joint, or the joints lock: no finite force moves them against their
        friction.
    """
    layout = mechanism.layout()
    if layout.gears:
        raise mechanism.refusal("the share of its pins' forces is undetermined, and so is friction")
    joints = connections(layout)
    by_name = _by_name(mechanism, joints, friction)
    count = len(motion[0])
    free = _reactions(mechanism, motion, np.zeros((count, len(layout.parts), 6)))
    slopes = np.stack(
        [_reactions(mechanism, motion, np.broadcast_to(_unit(mechanism, one),
                    (count, len(layout.parts), 6))) - free for one in joints],
        axis=-1,
    )  # fmt: skip
    speeds, directions = _relative(mechanism, joints, pose, rates)
    dry = np.array([by_name[one.name].coefficient * (1 if one.slides else by_name[one.name].radius)
                    for one in joints])  # fmt: skip
    viscous = np.array([by_name[one.name].damping for one in joints]) * speeds
    m = len(joints)
    force, change = free[:, :m, :2], slopes[:, :m, :2]
    across = np.stack([-directions.imag, directions.real], axis=-1)  # of slides, else zero
    sliding = np.array([one.slides for one in joints])

    def loads(found: Array) -> tuple[Array, Array]:
        """|F| or |N| (N, m), and its derivatives (N, m, m)."""
        here = force + np.einsum("njxk,nk->njx", change, found)
        size = np.where(sliding, np.einsum("njx,njx->nj", here, across), 1.0)
        norm = np.where(sliding, np.abs(size), np.hypot(here[..., 0], here[..., 1]))
        direction = here / np.where(norm > 0, norm, 1.0)[..., None]
        direction = np.where(sliding[:, None], np.sign(size)[..., None] * across, direction)
        return norm, np.einsum("njx,njxk->njk", direction, change)

    against = np.sign(speeds) * dry
    found = -viscous
    for _ in range(FRICTION_ITERATIONS):
        load, slope = loads(found)
        gap = found + against * load + viscous
        step = np.linalg.solve(np.eye(m) + against[..., None] * slope, gap[..., None])[..., 0]
        found = found - step
        if np.abs(step).max() <= FRICTION_SETTLED * max(np.abs(found).max(), 1e-300):
            break
    else:
        raise mechanism.refusal(
            "the joints lock: no finite force moves them against their friction; give it a "
            "smaller coefficient or radius"
        )
    whole = free + np.einsum("njxk,nk->njx", slopes, found)
    drives = [layout.order[name] for name in mechanism.inputs]
    torque = whole[:, drives, 2].copy()
    whole[:, :m, 2] += np.where(sliding, 0.0, found)
    whole[:, :m, 0] += np.where(sliding, directions.real * found, 0.0)
    whole[:, :m, 1] += np.where(sliding, directions.imag * found, 0.0)
    between: tuple[PartConnection | GearMesh, ...] = (*joints, *layout.meshes)
    return FrictionForces(
        {one.name: whole[:, k] for k, one in enumerate(between)},
        {one.name: found[:, k] for k, one in enumerate(joints)},
        -(found * speeds).sum(axis=1),
        torque,
    )


def _by_name(
    mechanism: Mechanism,
    joints: tuple[PartConnection, ...],
    friction: Friction | Mapping[str, Friction],
) -> dict[str, Friction]:
    names = [one.name for one in joints]
    if isinstance(friction, Friction):
        return dict.fromkeys(names, friction)
    for name in friction:
        if name not in names:
            raise mechanism.refusal(
                f"friction: there is no joint {name!r}{suggestion(name, names)}; there are "
                f"{', '.join(names)}"
            )
    return {name: friction.get(name, Friction()) for name in names}


def _reactions(mechanism: Mechanism, motion: tuple[Array, Array, Array], loads: Array) -> Array:
    """Reactions (N, m, 3) under what acts on the parts (N, parts, 6)."""
    return run(mechanism, reactions, *motion, np.ascontiguousarray(loads))


def _unit(mechanism: Mechanism, joint: PartConnection) -> Array:
    """Friction 1 of a joint, as it acts on the parts (parts, 6), in their axes."""
    order = mechanism.layout().order
    result = np.zeros((len(order), 6))
    for name, sign in ((joint.second, 1.0), (joint.first, -1.0)):
        if name == GROUND:
            continue
        if not joint.slides:
            result[order[name], 5] += sign
            continue
        direction = (0.0, 1.0) if joint.across and name == joint.first else (1.0, 0.0)
        x, y = joint.place_on(name)
        result[order[name], :2] += sign * np.array(direction)
        result[order[name], 5] += sign * (x * direction[1] - y * direction[0])
    return result


def _relative(
    mechanism: Mechanism, joints: tuple[PartConnection, ...], pose: MechanismPose, rates: Array
) -> tuple[Array, Array]:
    """Speeds (N, m) of the joints, of the second part in the first; directions of slides."""
    layout = mechanism.layout()
    spins, order = turned(layout, rates, rate=True), layout.order
    speeds, directions = [], []
    for one in joints:
        if one.slides:
            speeds.append(rates[:, order[one.second]])
            directions.append(pose.directions[one.second])
        else:
            speeds.append(spins[one.second] - spins[one.first])
            directions.append(np.zeros(len(rates), dtype=complex))
    return np.stack(speeds, axis=-1), np.stack(directions, axis=-1)
