"""How well a model's efforts agree with measured ones, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..recording.conditioning import Motion
from ..robot import Robot
from .evidence import correlations
from .linear_form import Rows


@dataclass(frozen=True, eq=False)
class Verdict:
    """Measured efforts against predicted ones.

    Attributes
    ----------
    joints : labels of the efforts.
    rows : how many.
    relative, described : |measured - predicted| over |measured|, over all efforts at all rows that
        move; the same of the description alone.
    at_all_rows : of all, where friction at rest holds whatever is within its bound.
    raw : `at_all_rows` of efforts that are not filtered.
    rms, nrmse : by joint, of the residual, and over the range of its effort; NaN of one that no row
        moves.
    explained : by joint, the share of its effort's variance that is predicted.
    correlation : by joint, of a residual with the one before.
    time, q, v, measured, predicted : (N, ...) for plots.
    """

    joints: tuple[str, ...]
    rows: int
    relative: float
    described: float
    at_all_rows: float
    raw: float
    rms: Array
    nrmse: Array
    explained: Array
    correlation: Array
    time: Array
    q: Array
    v: Array
    measured: Array
    predicted: Array

    @property
    def residual(self) -> Array:
        """Measured less predicted efforts (N, n)."""
        result: Array = self.measured - self.predicted
        return result


def judged(robot: Robot, rows: Sequence[Rows], predicted: Sequence[Array], dry: Array) -> Verdict:
    """The verdict on efforts that were predicted; dry : (efforts,) friction that holds at rest."""
    motion = [one.motion for one in rows]
    measured, raw = (
        np.concatenate([getattr(one, name) for one in motion]) for name in ("effort", "raw_effort")
    )
    guess, moving = np.concatenate(predicted), np.concatenate([one.moving for one in rows]) > 0
    described = np.concatenate([
        robot.inverse_dynamics(one.q, one.v, one.a) for one in motion
    ])  # fmt: skip
    left = measured - guess
    beyond = np.where(moving, left, np.sign(left) * np.maximum(np.abs(left) - dry, 0.0))
    counts = np.where(moving.any(axis=0), moving.sum(axis=0), np.nan)
    rms = np.sqrt((left**2 * moving).sum(axis=0) / counts)
    mean = (measured * moving).sum(axis=0) / counts
    spread = np.sqrt(((measured - mean) ** 2 * moving).sum(axis=0) / counts)
    span = np.array([
        float(np.ptp(column[one])) if one.any() else 0.0
        for column, one in zip(measured.T, moving.T, strict=True)
    ])  # fmt: skip
    return Verdict(
        robot.effort_labels, len(measured), _relative(left[moving], measured[moving]),
        _relative((measured - described)[moving], measured[moving]), _relative(beyond, measured),
        _relative(raw - measured + beyond, raw), rms, rms / np.maximum(span, 1e-300),
        1 - (rms / np.maximum(spread, 1e-300)) ** 2,
        np.mean([correlations(one, 2)[1] for one in _by_motion(left, motion)], axis=0),
        _time(motion), np.concatenate([one.q for one in motion]),
        np.concatenate([one.v for one in motion]), measured, guess,
    )  # fmt: skip


def _relative(left: Array, whole: Array) -> float:
    return float(np.linalg.norm(left) / max(float(np.linalg.norm(whole)), 1e-300))


def _by_motion(rows: Array, motions: Sequence[Motion]) -> list[Array]:
    ends = np.cumsum([len(one.time) for one in motions])[:-1]
    return np.split(rows, ends)


def _time(motions: Sequence[Motion]) -> Array:
    """Times (N,) of motions one after the other."""
    found, start = [], 0.0
    for one in motions:
        found.append(one.time - one.time[0] + start)
        start = float(found[-1][-1]) + 1.0
    return np.concatenate(found)
