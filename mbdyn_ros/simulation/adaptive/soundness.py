"""Soundness of a step across a change point: even, balanced, and of one mode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array import Array
from ...integration.gauss import GaussStep
from ..trajectory import Trajectory
from .motion import Motion
from .part import Instant
from .side import NoCrossingError, Side

UNEVEN = 1e-8
"""Share of the motion in the step that its polynomials may miss."""

UNBALANCED = 1e-8
"""Share of the energy that moved which the step may leave unexplained."""


def require_free_motion(near: Side, far: Side, place: Array, y: Array) -> None:
    """Refuse motions in which something sticks or leans; set the mode beyond the point."""
    touching = near.motion.touching
    if near.motion.dynamics.drifts or (touching is not None and len(touching.resting)):
        raise NoCrossingError("a joint sticks, or something rests on a wall or a stop there")
    far.go(place)
    far.motion.start(0.0, y.copy())
    if far.motion.take_impacts() or far.motion.dynamics.drifts:
        raise NoCrossingError("a wall or a stop is hit, or a joint comes to rest there")


def require_one_mode(motions: Sequence[Motion], step: GaussStep, states: Array) -> None:
    """Refuse steps in which joints come to rest or points pass into walls."""
    for motion, t, y in zip(motions, step.times.tolist(), states, strict=True):
        if motion.dynamics.switching and motion.violated(t, y):
            raise NoCrossingError("a joint comes to rest there")
        if motion.touching is not None:
            gaps, _, _ = motion.touching.contacts.distances(*motion.split(y))
            if not (gaps >= 0).all():
                raise NoCrossingError("a wall or a stop is hit there")


def require_even(
    step: GaussStep, initial: Array, end: Array, slopes: Array, nodes: Trajectory
) -> float:
    """Share of the motion that polynomials miss; refuse what is not one smooth motion."""
    if not nodes.joint_velocity[0] @ nodes.joint_velocity[-1] > 0:
        raise NoCrossingError("the motion turns back beside it, and both ways are as good")
    length = float(step.times[-1] - step.times[0])
    moved = max(float(np.abs(end - initial).max()), length * float(np.abs(slopes).max()))
    rough = length * float(step.roughness(slopes).max())
    if not rough <= UNEVEN * moved:
        raise NoCrossingError("the accelerations on both sides do not go on in one another")
    positions = nodes.joint_position
    if not step.roughness(positions).max() <= 100 * UNEVEN * np.ptp(positions, axis=0).max():
        raise NoCrossingError("no way beyond it continues the motion smoothly")
    return rough / moved


def require_balance(near: Motion, far: Motion, start: Instant, end: Array) -> float:
    """Share of the energy that moved which a step leaves unexplained; refuse too much of it."""
    kinetic, potential = near.energy(start.y)
    kinetic_end, potential_end = far.energy(end)
    work, loss = far.work(end).tolist()
    gap = abs(kinetic_end + potential_end - kinetic - potential - work + loss)
    moved = max(kinetic, kinetic_end, abs(potential_end - potential), abs(work), loss)
    if not gap <= UNBALANCED * moved:
        raise NoCrossingError(f"a step across it leaves {gap:.2g} J of {moved:.2g} J unexplained")
    return gap / moved
