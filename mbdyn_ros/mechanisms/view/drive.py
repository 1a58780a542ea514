"""How the cranks of a mechanism on a page are driven: by a law of motion, or by torques."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...view.page.stroke import CLEARANCE, STROKE_POINTS, Stroke
from .. import CrankMotion, Mechanism
from ..crank_motion import cycloid, trapezoid
from ..forward import StoppedMotionError, move

CONSTANT, TRAPEZOID, CYCLOID, FREE, GIVEN = (
    "constant speed", "trapezoid", "cycloid", "free, by torque", "from a file"
)  # fmt: skip
LAWS = (CONSTANT, TRAPEZOID, CYCLOID, FREE)
"""Laws of motion that every page offers; GIVEN where there is a motion from a file."""

FREE_RTOL = 1e-7
"""Relative tolerance of free motions: finer than any picture, within a slider's patience."""


@dataclass(frozen=True)
class CrankDrive:
    """The motion of the inputs; one number of each input.

    speeds : rad/s, of `law` "constant speed", the highest of a trapezoid, and where a free motion
        begins. starts : rad.
    acceleration : rad/s^2, of a trapezoid. duration : s, of a cycloid and of a free motion.
    torques : N m, of a free motion. given : the motion from a file.
    """

    speeds: tuple[float, ...]
    starts: tuple[float, ...]
    law: str = CONSTANT
    acceleration: float = 100.0
    duration: float = 2.0
    torques: tuple[float, ...] = ()
    given: CrankMotion | None = None


@dataclass(frozen=True)
class Driven:
    """A motion of the inputs. swings : (lower, upper) rad, the toggles it swings between, if so.
    stopped : why it ends early, if so. over_angle : whether charts go over the crank's angle."""

    motion: CrankMotion
    swings: tuple[float, float] | None = None
    stopped: str = ""
    over_angle: bool = False


def driven(mechanism: Mechanism, drive: CrankDrive) -> Driven:
    """The motion of a mechanism's inputs.

    Raises
    ------
    InputError
        It cannot be assembled at the start, or a toggle stops it at once.
    """
    if drive.law == GIVEN and drive.given is not None:
        return Driven(drive.given)
    if drive.law == FREE:
        return _free(mechanism, drive)
    swings = None
    if len(mechanism.inputs) == 1:
        lower, upper = mechanism.range
        if math.isfinite(lower):
            swings = lower, upper
    if drive.law == CONSTANT:
        if swings:
            return Driven(_swing(*swings, drive.speeds[0]), swings)
        return Driven(_turn(drive), over_angle=True)
    start, turn = drive.starts[0], 2 * math.pi
    if swings:
        margin = CLEARANCE * (swings[1] - swings[0])
        start, turn = swings[0] + margin, swings[1] - swings[0] - 2 * margin
    points = STROKE_POINTS + 1
    if drive.law == TRAPEZOID:
        motion = trapezoid(drive.speeds[0], drive.acceleration, start, turn, points)
    else:
        motion = cycloid(drive.duration, start, turn, points)
    return Driven(_shared(motion, drive), swings)


def _free(mechanism: Mechanism, drive: CrankDrive) -> Driven:
    """Forward dynamics."""
    times = np.linspace(0.0, drive.duration, STROKE_POINTS + 1)
    try:
        motion = move(
            mechanism, drive.starts, drive.speeds, drive.duration, drive.torques,
            rtol=FREE_RTOL, times=times,
        )  # fmt: skip
    except StoppedMotionError as error:
        if len(error.motion) < 2:
            raise mechanism.refusal(f"it stops at once: {error}") from None
        return Driven(error.motion, stopped=str(error))
    return Driven(motion)


def _turn(drive: CrankDrive) -> CrankMotion:
    """All at constant speed, until the first has turned fully."""
    period = 2 * math.pi / max(abs(drive.speeds[0]), 1e-9)
    return _motion(
        [
            Stroke(start, start + speed * period, period, turns=True)
            for speed, start in zip(drive.speeds, drive.starts, strict=True)
        ]
    )


def _swing(lower: float, upper: float, speed: float) -> CrankMotion:
    """There and back as a cosine whose largest speed is `speed`."""
    margin = CLEARANCE * (upper - lower)
    low, high = lower + margin, upper - margin
    return _motion([Stroke(low, high, math.pi * (high - low) / max(abs(speed), 1e-9))])


def _shared(motion: CrankMotion, drive: CrankDrive) -> CrankMotion:
    """The motion of the first input for all, each from its start and by its share of speed."""
    shares = np.array(drive.speeds) / drive.speeds[0]
    q = np.array(drive.starts) + shares * (motion.q - motion.q[0])
    q[:, 0] = motion.q[:, 0]
    return replace(motion, q=q, v=shares * motion.v, a=shares * motion.a)


def _motion(strokes: Sequence[Stroke]) -> CrankMotion:
    """The motion of inputs that all take the same time."""
    time = strokes[0].times
    q, v, a = np.stack([one.at(time) for one in strokes], axis=-1)
    return CrankMotion(time, q, v, a)
