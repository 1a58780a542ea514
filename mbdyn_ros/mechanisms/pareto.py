"""Sweeps with an optimizer: the designs that are best for two goals at once, the Pareto front.

SciPy's differential evolution looks for the least of the larger of two weighted qualities
(Chebyshev), for several weights; the front is what no design met during the search beats in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, unknown
from ..model.model import Array
from .crank_motion import CrankMotion
from .mechanism import Mechanism
from .parametric import kernel
from .reactions import shaking
from .sweep import FEW_DESIGNS, QUANTITIES, columns_of, evaluate, of_designs

GOALS = {
    "peak_torque": QUANTITIES["peak_torque"],
    "rms_torque": QUANTITIES["rms_torque"],
    "transmission": QUANTITIES["transmission"],
    "shaking_force": "largest shaking force (N)",
    "shaking_moment": "largest shaking moment (N m)",
}
"""Qualities of designs, with their units; all are to be small but the transmission angle."""

DIRECTIONS = 7
"""Weights for which the optimizer runs."""

GENERATIONS, CROWD = 35, 8
"""Of each run; designs in a generation for each setting."""


@dataclass(frozen=True, eq=False)
class Front:
    """The designs of a Pareto front, from the best in the first goal to that in the second.

    settings : (k,) by name.
    values : (k,) by goal.
    tried : values (N, 2) of all designs that go through the motion.
    """

    mechanism: Mechanism
    goals: tuple[str, str]
    settings: Mapping[str, Array]
    values: Mapping[str, Array]
    tried: Array

    def __len__(self) -> int:
        return len(self.values[self.goals[0]])

    def design(self, k: int) -> Mechanism:
        """The k-th of them."""
        return self.mechanism.replaced(
            **{name: float(values[k]) for name, values in self.settings.items()}
        )


def pareto_front(
    mechanism: Mechanism,
    bounds: Mapping[str, tuple[float, float]],
    motion: CrankMotion,
    goals: Sequence[str] = ("peak_torque", "shaking_force"),
    seed: int = 0,
    directions: int = DIRECTIONS,
    generations: int = GENERATIONS,
) -> Front:
    """The designs within bounds that are best in two goals; the same at every call.

    Parameters
    ----------
    bounds : least and largest value by setting.
    motion : that every design must go through.
    goals : two of `GOALS`.

    Raises
    ------
    InputError
        No such goal or setting, bounds without room, or no design goes through the motion.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar, constant_speed
    >>> front = pareto_front(
    ...     FourBar(), {"coupler_length": (0.2, 0.45), "rocker_mass": (0.3, 1.0)},
    ...     constant_speed(20.0, points=37), directions=3, generations=5,
    ... )
    >>> bool(np.all(np.diff(front.values["shaking_force"]) < 0))
    True
    """
    from scipy.optimize import differential_evolution  # its import takes longer than ours

    pair = _pair(goals)
    names = list(bounds)
    limits = [_room(name, bounds[name]) for name in names]
    for ends in zip(*limits, strict=True):
        mechanism.designs(**dict(zip(names, map(np.asarray, ends), strict=True)))  # refuses names
    met: list[tuple[Array, Array]] = []

    def found(x: Array) -> Array:
        """Qualities (N, 2) of unknowns (n, N), each to be small."""
        values = qualities(mechanism, dict(zip(names, x, strict=True)), motion, pair)
        met.append((x.T.copy(), values))
        return values

    def least(x: Array, weights: Array) -> Array:
        values = found(x.reshape(len(names), -1))
        ranked: Array = np.nan_to_num((values / scale * weights).max(axis=1), nan=1e9)
        return ranked

    low, high = np.array(limits).T
    first = found(np.random.default_rng(seed).uniform(low, high, (FEW_DESIGNS, len(names))).T)
    if not np.isfinite(first).all(axis=1).any():
        raise mechanism.refusal(
            "no design within the bounds can go through the whole motion; widen the bounds or "
            "shorten the motion"
        )
    scale = np.nanmedian(np.abs(first), axis=0)
    for share in np.linspace(0.03, 0.97, directions):
        differential_evolution(
            least, limits, args=(np.array([share, 1 - share]),), vectorized=True,
            updating="deferred", seed=seed, maxiter=generations, popsize=CROWD, polish=False,
            tol=1e-8,
        )  # fmt: skip
    x, values = (np.concatenate(one) for one in zip(*met, strict=True))
    whole = np.isfinite(values).all(axis=1)
    x, values = x[whole], values[whole]
    best = _undominated(values)
    signs = np.array([-1.0 if goal == "transmission" else 1.0 for goal in pair])
    return Front(
        mechanism, pair, dict(zip(names, x[best].T, strict=True)),
        dict(zip(pair, (signs * values[best]).T, strict=True)), signs * values,
    )  # fmt: skip


def qualities(
    mechanism: Mechanism, settings: Mapping[str, Array], motion: CrankMotion, goals: Sequence[str]
) -> Array:
    """Qualities (N, goals) of designs, each to be small; NaN where a motion stops early."""
    rows = np.atleast_2d(mechanism.designs(**settings).vector())
    kind = type(mechanism)
    known = dict(zip(QUANTITIES, evaluate(kind, rows, motion).T, strict=True))
    if any(goal.startswith("shaking") for goal in goals):
        program, designs = kernel(kind, shaking), columns_of(kind, rows)
        loads = of_designs(program, designs, rows, motion)[..., 0]
        shut = np.isnan(known["peak_torque"])
        force = np.hypot(loads[..., 0], loads[..., 1]).max(axis=0)
        moment = np.abs(loads[..., 2]).max(axis=0)
        known["shaking_force"] = np.where(shut, np.nan, force)
        known["shaking_moment"] = np.where(shut, np.nan, moment)
    known["transmission"] = -known["transmission"]
    return np.stack([known[goal] for goal in goals], axis=1)


def _undominated(values: Array) -> Array:
    """Rows of values (N, 2) that no other beats in both, by rising first value."""
    order = np.lexsort((values[:, 1], values[:, 0]))
    second = values[order, 1]
    before = np.minimum.accumulate(np.append(np.inf, second[:-1]))
    return order[second < before]


def _pair(goals: Sequence[str]) -> tuple[str, str]:
    for goal in goals:
        if goal not in GOALS:
            raise InputError(unknown("goal", goal, GOALS))
    if len(goals) != 2 or goals[0] == goals[1]:
        raise InputError(f"a front has two goals, not {', '.join(goals)}")
    return goals[0], goals[1]


def _room(name: str, bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"{name}: bounds {low:g} to {high:g} leave no room; give a smaller first")
    return float(low), float(high)
