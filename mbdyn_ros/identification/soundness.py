"""Faults of a recording, by joint and with the number that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..array import Array
from ..errors import InputError, listed
from ..recording.conditioning import LIVELY, Motion, clipped
from ..recording.measured import Recording
from ..robot import Robot
from ..units import position_unit
from .linear_form import LinearForm

LEAST_MOTION = 0.02
"""Range (rad; m of slides: a tenth of it) that a joint must move through."""

WRONG_SIGN = -0.3
"""Gain of a joint's efforts over the description's from which their sign is wrong."""

CLEAR_GAIN = 0.05
"""Gain of efforts over the described ones that is more than chance."""

COMPUTED = 1e-3
"""Relative error of the description below which efforts look computed by it."""

DRAG, DRAG_ALONE = 0.1, 0.2
"""Friction (share of an effort's deviation) that says which sign efforts have; and that of efforts
which hardly depend on the described ones."""

BOTH_WAYS = 0.1
"""Share of rows in which a joint must move either way, so that its friction can be determined."""

QUARTERS, ROWS_FOR_ZEROS = (np.pi / 2, -np.pi / 2, np.pi), 150
"""Turns (rad) by which zeros may be off, and rows that are looked at."""

LEFT_BY_ZEROS, LEFT_BY_ONE = 0.7, 0.9
"""Share of the misfit that all turns must leave at most, and one of them."""

UNLIKE = 2.0
"""Gain of a joint's efforts over the description's, or its inverse, from which it is said."""

CERTAIN = 0.3
"""Share of a joint's effort that its described efforts and friction must explain to say so."""


def require_moving(robot: Robot, motions: Sequence[Motion]) -> None:
    """Refuse recordings in which a joint is at rest, by its range."""
    q = np.concatenate([one.q for one in motions])
    still = []
    for label, column in zip(robot.position_labels, q.T, strict=True):
        unit = position_unit(robot.model, label)
        least = LEAST_MOTION * (0.1 if unit == "m" else 1.0)
        if np.ptp(column) < least:
            still.append(f"{label} ({np.ptp(column):.2g} {unit}, at least {least:g})")
    if still:
        raise InputError(
            f"{robot.model.source}: the recordings hardly move {listed(still)}: nothing of it can "
            "be determined. Move it, or lock it (mbdyn edit ROBOT --lock JOINT)"
        )


def require_agreeing(robot: Robot, form: LinearForm) -> None:
    """Refuse efforts of the wrong sign: against the description and with friction that drives."""
    wrong = []
    for k, label in enumerate(robot.effort_labels):
        gain, drag, explained = gain_of(form, k)
        driven = drag < -(DRAG if abs(gain) > CLEAR_GAIN else DRAG_ALONE) and gain < -WRONG_SIGN
        if explained > CERTAIN and (driven or abs(drag) < DRAG and gain < WRONG_SIGN):
            wrong.append(f"{label} (its efforts are {gain:.2f} times those of the description, and "
                         f"its friction drives it by {-drag:.2f} of them)")  # fmt: skip
    if wrong:
        raise InputError(
            f"{robot.model.source}: efforts of the wrong sign: {listed(wrong)}. Turn them: --gain "
            + ",".join(f"{one.split(' ')[0]}=-1" for one in wrong)
            + (other_zeros(robot, form) or ", unless joints count from other zeros (--zero) or the "
               "other way")
        )


def other_zeros(robot: Robot, form: LinearForm) -> str:
    """Words on zeros of joints, off by quarters of a turn, by which described efforts fit better.

    Joints are turned one by one while that takes most of what the description leaves.
    """
    turning = [k for k, label in enumerate(robot.position_labels)
               if position_unit(robot.model, label) == "rad"]  # fmt: skip
    motion = form.rows[0].motion
    few = slice(None, None, max(1, len(motion.time) // ROWS_FOR_ZEROS))
    q, v, a, effort = (x[few] for x in (motion.q, motion.v, motion.a, motion.effort))
    if robot.system.linkages or q.shape != effort.shape:
        return ""

    def left(zeros: Array) -> float:
        off = effort - robot.inverse_dynamics(q + zeros, v, a, friction=False)
        shares = []
        for k, column in enumerate(off.T):
            drive = np.column_stack([np.ones(len(q)), v[:, k], np.sign(v[:, k]), a[:, k]])
            rest = column - drive @ np.linalg.lstsq(drive, column, rcond=None)[0]
            shares.append(min(float(np.var(rest) / max(np.var(effort[:, k]), 1e-300)), 1.0))
        return float(np.mean(shares))

    zeros = np.zeros(q.shape[1])
    first = best = left(zeros)
    for _ in turning:
        tried = [zeros + turn * np.eye(len(zeros))[k] for k in turning for turn in QUARTERS]
        scores = [left(one) for one in tried]
        if min(scores) > LEFT_BY_ONE * best:
            break
        best, zeros = min(scores), tried[int(np.argmin(scores))]
    if best > LEFT_BY_ZEROS * first:
        return ""
    pairs = [f"{robot.position_labels[k]}={zeros[k]:.4f}" for k in np.flatnonzero(zeros)]
    return (f". With other zeros, --zero {','.join(pairs)}, the described efforts leave "
            f"{best / first:.0%} of the present error")  # fmt: skip


def unlike(robot: Robot, form: LinearForm) -> Iterator[str]:
    """Efforts that are of another size than the description's, in words."""
    for k, label in enumerate(robot.effort_labels):
        gain, _, explained = gain_of(form, k)
        if gain and explained > CERTAIN and not 1 / UNLIKE < gain < UNLIKE:
            yield (f"efforts of {label} are {gain:.2f} times those of the description: another "
                   "robot, a load, other units, or a description without its masses")  # fmt: skip


def gain_of(form: LinearForm, k: int) -> tuple[float, float, float]:
    """Of an effort: its gain over the described ones, dry friction (share of its deviation), and
    the share of its variance that both explain."""
    described, effort, dry = [], [], []
    shaft = form.shafts[0][k]
    for one in form.rows:
        moving = one.moving[:, k] > 0
        described.append((one.known + one.regressor @ form.base.standard)[moving, k])
        effort.append(one.motion.effort[moving, k])
        top = form.tops[shaft.name]
        dry.append(np.column_stack([one.drives(shaft, term, top)[moving, k]
                                    for term in ("Coulomb", "viscous", "armature")]))  # fmt: skip
    x, y = np.concatenate(described), np.concatenate(effort)
    spread, own = float(np.std(y)), float(np.std(x))
    friction = np.concatenate(dry)
    ahead = float((friction[:, 0] > 0).mean()) if len(y) else 0.0
    if not spread or min(ahead, 1 - ahead) < BOTH_WAYS:
        return 1.0, 0.0, 0.0
    columns = np.column_stack([np.ones_like(x), friction, x])
    sizes = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    found = np.linalg.lstsq(columns / sizes, y, rcond=1e-9)[0] / sizes
    explained = 1 - float(np.var(y - columns @ found)) / spread**2
    drag = float(found[1] + found[2] * np.sqrt(np.mean(friction[:, 1] ** 2))) / spread
    gain = float(found[-1]) if own > 0.05 * spread else 0.0
    return gain, drag, explained


def doubts(robot: Robot, recordings: Sequence[Recording]) -> Iterator[str]:
    """Efforts that are clipped or held, in words."""
    effort = np.concatenate([one.effort for one in recordings])
    at_bound = clipped(effort)
    changes = np.concatenate([np.diff(one.effort, axis=0) != 0 for one in recordings])
    for k, label in enumerate(robot.effort_labels):
        if at_bound[:, k].any():
            yield (f"efforts of {label} stay at {np.abs(effort[at_bound[:, k], k]).max():.4g} in "
                   f"{at_bound[:, k].mean():.0%} of the samples: they are clipped there, and left "
                   "out")  # fmt: skip
        elif changes[:, k].mean() < LIVELY:
            yield (f"efforts of {label} change in {changes[:, k].mean():.1%} of the samples only: "
                   "they are set-points, or of a slower sensor")  # fmt: skip
