"""Joints locked: they become fixed, and joints that they determine are locked with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.polynomial.polynomial import polyval

from ...errors import InputError
from ..closing_types import Rotation, Translation
from ..model import (
    Array,
    Combination,
    Coupling,
    Joint,
    Loop,
    Model,
    Pose,
    carrying_joints,
    factors_of,
)
from ..pose import across
from ..split_joints import joints_of_parts, split_joints
from .parts import keep_choices, keep_foreign, names_of, require, still_unused

AGREED = 1e-6
"""Gap (m, rad or sine) up to which locked joints agree with each other and with loops."""

Positions = Mapping[str, float | Sequence[float]]


def locked(model: Model, positions: Positions) -> Model:
    """The robot with joints fixed where they are.

    Parameters
    ----------
    positions : rad or m by joint name; as many as the joint has, where it has several.

    Returns
    -------
    The model, its locked joints `fixed`, all links still there. Locked as well are joints that
    mimic them or that they mimic, and those that a coupling leaves nothing else. Loops and
    couplings between locked joints are dropped, since they hold.

    Raises
    ------
    InputError
        A joint is unknown or fixed; a position is not a number; two contradict a mimic or a
        coupling, or leave a loop open: the message names them, and by how much.

    Examples
    --------
    >>> from mbdyn_ros.model import read_urdf
    >>> from mbdyn_ros.model.examples import PENDULUM
    >>> locked(read_urdf(PENDULUM), {"hinge": 0.5}).joint("hinge").type
    'fixed'
    """
    model = split_joints(model, joints_of_parts(model, positions))
    fixed = _Locks(model)
    for name, position in positions.items():
        joint = model.joint(require(model, "joint", name, [one.name for one in model.joints]))
        fixed.add(joint, checked_position(model.source, joint, position))
    couplings = fixed.follow()
    still = {name: _fixed(model.joint(name), q) for name, q in fixed.at.items()}
    result = replace(
        model,
        joints=tuple(still.get(joint.name, joint) for joint in model.joints),
        couplings=tuple(couplings),
    )
    gone = {part for name in still for part in names_of(model.joint(name))}
    foreign, words = keep_foreign(model, (), still)
    return replace(
        keep_choices(result, gone),
        loops=tuple(loop for loop in model.loops if _moves(result, loop)),
        foreign=foreign,
        unused=still_unused(model, foreign),
        warnings=(*model.warnings, *fixed.beyond_limits(), *words),
    )


def checked_position(source: str, joint: Joint, position: object) -> Array:
    """The positions (nq,) of a joint that is to be locked.

    Raises
    ------
    InputError
        It cannot be locked, or not there.
    """
    what = f"{source}: joint {joint.name!r}"
    if not joint.nv:
        raise InputError(f"{what} is fixed already; leave it out")
    try:
        values = np.atleast_1d(np.asarray(position, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.shape != (joint.nq,) or not np.isfinite(values).all():
        raise InputError(
            f"{what} has {joint.nq} position{'s' * (joint.nq > 1)}, and is locked at finite "
            f"numbers; got {position!r}"
        )
    if joint.type in ("floating", "spherical") and abs(np.linalg.norm(values[-4:]) - 1) > AGREED:
        raise InputError(f"{what}: the quaternion {values[-4:].tolist()} has not the length 1")
    return values


def _fixed(joint: Joint, q: Array) -> Joint:
    """The joint as a fixed one in its present position."""
    there = joint.origin @ joint.pose(q)
    return Joint(joint.name, "fixed", joint.parent, joint.child, there, line=joint.line)


class _Locks:
    """Joints that are locked, and what follows from them.

    at : positions (nq,) by joint name.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.at: dict[str, Array] = {}

    def add(self, joint: Joint, q: Array, why: str = "") -> bool:
        """Lock a joint, and say whether it was free. `why`: words on what determines it."""
        if joint.name not in self.at:
            self.at[joint.name] = q
            return True
        there = self.at[joint.name]
        if np.abs(there - q).max() > AGREED:
            raise InputError(
                f"{self._model.source}: joint {joint.name!r} cannot be locked at "
                f"{_text(there)}: {why} it at {_text(q)}; lock it there, or leave it out"
            )
        return False

    def follow(self) -> list[Coupling | Combination]:
        """Lock what mimics and couplings determine; return couplings that still tie joints."""
        while True:
            before = len(self.at)
            for joint in self._model.joints:
                if joint.mimic is not None:
                    self._mimic(joint)
            rest = [self._coupling(one) for one in self._model.couplings]
            if len(self.at) == before:
                return [one for one in rest if one is not None]

    def _mimic(self, joint: Joint) -> None:
        follow = joint.mimic
        assert follow is not None
        leader, why = self._model.joint(follow.joint), f"the mimic of {joint.name!r} puts"
        if leader.name in self.at:
            self.add(joint, follow.multiplier * self.at[leader.name] + follow.offset, why)
        elif joint.name in self.at:
            apart = self.at[joint.name] - follow.offset
            if follow.multiplier:
                self.add(leader, apart / follow.multiplier, why)
            elif abs(apart[0]) > AGREED:
                raise InputError(
                    f"{self._model.source}: joint {joint.name!r} cannot be locked at "
                    f"{_text(self.at[joint.name])}: its mimic holds it at {follow.offset:g}"
                )

    def _coupling(self, coupling: Coupling | Combination) -> Coupling | Combination | None:
        """A coupling of the joints that still move; None where it says no more."""
        factors = dict(factors_of(self._model, coupling))
        still = {name: factor for name, factor in factors.items() if name in self.at}
        if not still:
            return coupling
        rest, powers = 0.0, dict[str, tuple[float, ...]]()
        if isinstance(coupling, Combination):
            if coupling.laws:
                raise InputError(
                    f"{self._model.source}: {', '.join(still)} cannot be locked: "
                    f"{coupling.name!r} gives its motion; leave that body out"
                )
            rest, powers = coupling.offset, dict(coupling.powers)
        for name, factor in still.items():
            terms = (0.0, factor, *powers.pop(name, ()))
            rest -= float(polyval(float(self.at[name][0]), terms))
        moving = {name: factor for name, factor in factors.items() if name not in still}
        if len(moving) == 1:
            ((name, factor),) = moving.items()
            if powers:
                raise InputError(
                    f"{self._model.source}: the coupling {coupling.name!r} has powers of joint "
                    f"{name!r}, which then has several possible positions; lock {name!r} too"
                )
            self.add(self._model.joint(name), np.array([rest / factor]))
            return None
        if not moving and abs(rest) > AGREED * max(map(abs, factors.values())):
            raise InputError(
                f"{self._model.source}: the coupling {coupling.name!r} does not allow "
                f"{', '.join(f'{name} = {_text(self.at[name])}' for name in still)}: the "
                f"error is {rest:.3g}; leave one of them out, and it follows"
            )
        if not moving:
            return None
        left = tuple(powers.items())
        return Combination(coupling.name, tuple(moving.items()), rest, coupling.line, left)

    def beyond_limits(self) -> list[str]:
        """Words about joints that are locked beyond their limits."""
        words = []
        for name, q in self.at.items():
            limits = self._model.joint(name).limits
            if len(q) == 1 and not limits.lower - AGREED <= q[0] <= limits.upper + AGREED:
                words.append(
                    f"{self._model.source}: joint {name!r} is locked at {_text(q)}, beyond its "
                    f"limits {limits.lower:g} to {limits.upper:g}"
                )
        return words


def _moves(model: Model, loop: Loop) -> bool:
    """Whether anything between the ends of a loop moves.

    Raises
    ------
    InputError
        Nothing does, and the loop is open.
    """
    first, second = (carrying_joints(model, link) for link in (loop.predecessor, loop.successor))
    if set(first) ^ set(second):
        return True
    one = _carried(model, loop.predecessor, first) @ loop.predecessor_frame
    other = _carried(model, loop.successor, second) @ loop.successor_frame
    metres, radians = closing_gap(loop, one.inverse() @ other)
    if max(metres, radians) > AGREED:
        raise InputError(
            f"{model.source}: the locked joints leave the loop {loop.name!r} open by "
            f"{metres:.3g} m and {radians:.3g} rad; leave one of its joints out, and it follows"
        )
    return False


def _carried(model: Model, link: str, moving: Sequence[str]) -> Pose:
    """Pose of a link in the nearest one above it that these joints move, or in the root."""
    pose = Pose()
    while (joint := model.joint_to(link)) is not None and joint.name not in moving:
        pose, link = joint.origin @ pose, joint.parent
    return pose


def closing_gap(loop: Loop, apart: Pose) -> tuple[float, float]:
    """How far (m, rad) a loop is open, with its successor's frame `apart` in its predecessor's."""
    axis, offset, rotation = loop.axis, apart.translation, apart.rotation
    along = float(offset @ axis)
    slide, turn = loop.closing.slide, loop.closing.turn
    metres = {
        Translation.NOWHERE: float(np.linalg.norm(offset)),
        Translation.ALONG: float(np.linalg.norm(offset - along * axis)),
        Translation.ACROSS: abs(along),
    }[slide]
    if turn is Rotation.NOWHERE:
        radians = float(np.linalg.norm(rotation - np.eye(3))) / np.sqrt(2)
    elif turn is Rotation.ABOUT:
        radians = float(np.linalg.norm(rotation @ axis - axis))
    elif turn is Rotation.BEND:
        first, second = across(axis)
        radians = abs(float(first @ rotation @ second))
    else:
        radians = 0.0
    return metres, radians


def _text(q: Array) -> str:
    return f"{q[0]:.9g}" if len(q) == 1 else str(q.tolist())
