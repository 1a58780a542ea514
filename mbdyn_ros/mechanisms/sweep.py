"""Thousands of designs in one batch: what a prescribed motion asks of each of them.

A sweep runs a grid of designs. A Pareto front holds those that are best for two goals at once:
SciPy's differential evolution looks for the least of the larger of two weighted qualities
(Chebyshev), for several weights; the front is what no design met during the search beats in both.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..array import Array, NoNumbers, as_numbers
from ..compiler.kernel import Kernel
from ..equations.programs import inverse_dynamics
from ..errors import InputError, unknown
from .analysis import mean_square
from .crank_motion import CrankMotion
from .design import unit_of
from .mechanism import Mechanism
from .parametric import kernel
from .reactions import shaking
from .toggles import MARGIN_ROUNDING, along, deepest, dips

if TYPE_CHECKING:
    from distributed import Client


CHUNK = 2048
"""Designs that run through the motion together: their numbers stay in the cache."""

FEW_DESIGNS = 256
"""Designs that go through all instants of a motion in one call."""

DESIGNS_PER_TASK = 16 * CHUNK
"""Designs of one task on a cluster."""

MOST_DESIGNS = 10_000_000
"""Designs in one sweep: their numbers fill gigabytes."""

QUANTITIES = {
    "peak_torque": "largest driving torque (N m)",
    "rms_torque": "effective driving torque (N m)",
    "transmission": "worst transmission angle (deg from 0 or 180)",
}
"""Quantities of every design, with their units."""

Progress = Callable[[int], None]


def unit_in(words: str) -> str:
    """The unit in brackets of a quantity's words.

    >>> unit_in(QUANTITIES["transmission"])
    'deg'
    """
    return words.partition("(")[2].partition(" from")[0].rstrip(")")


@dataclass(frozen=True, eq=False)
class Sweep:
    """The quantities of a grid of designs.

    settings : swept values by setting; each is an axis of the grid, in order.
    values : array of the grid's shape of every quantity; NaN where a design cannot go through
        the whole motion.
    """

    mechanism: Mechanism
    settings: Mapping[str, Array]
    values: Mapping[str, Array]

    def best(self, quantity: str = "peak_torque") -> tuple[dict[str, float], float]:
        """Settings and value of the best design: least torque, or largest transmission angle."""
        values = self.values[quantity]
        if np.isnan(values).all():
            raise self.mechanism.refusal(
                "no design of the sweep can go through the whole motion; widen the settings or "
                "shorten the motion"
            )
        best = np.nanargmax(values) if quantity == "transmission" else np.nanargmin(values)
        place = np.unravel_index(best, values.shape)
        chosen = zip(self.settings.items(), place, strict=True)
        return {name: float(axis[k]) for (name, axis), k in chosen}, float(values[place])

    def best_in_words(self, quantity: str = "peak_torque") -> str:
        """The best design with units, and whether it lies where a setting begins or ends."""
        chosen, value = self.best(quantity)
        unit = unit_in(QUANTITIES[quantity])
        settings = ", ".join(
            f"{name} = {one:.4g} {unit_of(name)}".rstrip() for name, one in chosen.items()
        )
        edges = [
            name for name, axis in self.settings.items()
            if len(axis) > 1 and chosen[name] in (axis[0], axis[-1])
        ]  # fmt: skip
        more = f"; {' and '.join(edges)} may go further" if edges else ""
        return f"{value:.4g} {unit} at {settings}{more}"

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Which designs can go through the whole motion."""
        return np.isfinite(self.values["peak_torque"])

    @property
    def lost(self) -> int:
        """The number of designs that cannot."""
        return self.closed.size - int(self.closed.sum())


def require_few(designs: int) -> None:
    """Refuse, by an InputError, a number of designs that fills the memory."""
    if designs > MOST_DESIGNS:
        raise InputError(
            f"{designs:,} designs at once; give at most {MOST_DESIGNS:,} or sweep in parts"
        )


def sweep(
    mechanism: Mechanism,
    settings: Mapping[str, Sequence[float] | Array],
    motion: CrankMotion,
    progress: Progress | None = None,
    client: Client | None = None,
) -> Sweep:
    """Run every design of a grid through a motion.

    Parameters
    ----------
    settings : values by setting; the grid holds all their combinations.
    progress : called with the number of designs done since the last call.
    client : of a Dask cluster: its workers take the designs in tasks, a lost worker's again.

    Raises
    ------
    InputError
        No such setting, or a value that it cannot have.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar, constant_speed
    >>> lengths = np.linspace(0.2, 0.5, 31)
    >>> turn = constant_speed(10.0, points=72)
    >>> result = sweep(FourBar(), {"coupler_length": lengths, "ground": lengths}, turn)
    >>> result.values["peak_torque"].shape, int(result.closed.sum())
    ((31, 31), ...)
    """
    if not settings:
        raise InputError("a sweep needs at least one setting with its values")
    try:
        axes = {name: np.atleast_1d(as_numbers(one)) for name, one in settings.items()}
    except NoNumbers as error:
        raise InputError(f"the values of a sweep must be numbers: {error}") from None
    count = math.prod(len(one) for one in axes.values())
    require_few(count)
    grid = np.meshgrid(*axes.values(), indexing="ij")
    designs = mechanism.designs(
        **{name: one.ravel() for name, one in zip(axes, grid, strict=True)}
    ).vector()
    designs = np.atleast_2d(designs)
    kind, parts = type(mechanism), _parts(len(designs), DESIGNS_PER_TASK if client else CHUNK)
    quantities = np.empty((len(designs), len(QUANTITIES)))
    for part, values in _evaluated(kind, designs, motion, parts, client):
        quantities[part] = values
        if progress is not None:
            progress(len(values))
    shape = grid[0].shape
    columns = zip(QUANTITIES, quantities.T, strict=True)
    return Sweep(mechanism, axes, {name: column.reshape(shape) for name, column in columns})


def _parts(count: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def evaluate(kind: type[Mechanism], designs: Array, motion: CrankMotion) -> Array:
    """The quantities (N, quantities) of designs (N, p), each a row of a mechanism's numbers."""
    program = kernel(kind, inverse_dynamics)
    ahead = np.arange(-1.0, len(motion) + 1)  # a point more on both sides, see `dips`
    pieces = []
    for part in _parts(len(designs), CHUNK):
        rows = np.ascontiguousarray(designs[part])
        columns = _columns_of(kind, rows)
        torque = _of_designs(program, columns, rows, motion)
        margins = _margins(columns, along(motion.q, ahead), len(rows))
        shut = _between(kind, rows, motion, margins)
        torque[:, shut] = np.nan
        worst = margins[1:-1].min(axis=0)
        angle = np.degrees(np.arcsin(np.sqrt(np.clip(worst, 0.0, 1.0))))
        peak = np.abs(torque).max(axis=(0, 2))  # NaN stays
        angle[np.isnan(peak)] = np.nan
        square = mean_square(torque, motion.time).sum(axis=1)
        pieces.append(np.stack([peak, np.sqrt(square), angle], axis=1))
    return np.concatenate(pieces)


def _of_designs(program: Kernel, designs: Mechanism, rows: Array, motion: CrankMotion) -> Array:
    """Results (K, N, ...) of a program at the K instants of a motion, of N designs.

    designs : those of the rows (N, p) of numbers. Few go in one call, many instant by instant,
    so that their numbers stay in the cache.
    """
    count, states = len(rows), (motion.q, motion.v, motion.a)
    if count > FEW_DESIGNS:
        return np.array([
            program.batch([*one, designs.parameters(one[0]) if designs.unknowns else rows], count)
            for one in zip(*states, strict=True)
        ])  # fmt: skip
    given = designs.parameters(motion.q[:, None]) if designs.unknowns else rows
    given = np.broadcast_to(given, (len(motion), count, given.shape[-1]))
    inputs = [np.repeat(one, count, axis=0) for one in states]
    flat = given.reshape(-1, given.shape[-1])
    found = program.batch([*inputs, flat], len(motion) * count)
    return found.reshape(len(motion), count, *found.shape[1:])


def _margins(designs: Mechanism, q: Array, count: int) -> Array:
    """The least margins (K, N) of N designs at positions (K, n)."""
    if count <= FEW_DESIGNS:
        return designs.margin(q[:, None])
    return np.array([designs.margin(one) for one in q])


def _columns_of(kind: type[Mechanism], rows: Array) -> Mechanism:
    """The mechanisms of rows (N, p) of numbers, in one."""
    return kind.of_numbers(dict(zip(kind().numbers(), rows.T, strict=True)))


def _between(kind: type[Mechanism], rows: Array, motion: CrankMotion, margins: Array) -> Any:
    """Which designs (N,) come to a toggle during the motion, at a point of it or between two."""
    shut: NDArray[np.bool_] = np.any(margins[1:-1] < -MARGIN_ROUNDING, axis=0)
    low, which = dips(margins)
    low, which = low[~shut[which]], which[~shut[which]]
    if len(low):
        suspects = _columns_of(kind, rows[which])

        def margin(t: Array) -> Array:
            return suspects.margin(along(motion.q, t))

        _, least = deepest(margin, low, len(motion) - 1)
        shut[which[least < -MARGIN_ROUNDING]] = True
    return shut


def _evaluated(
    kind: type[Mechanism],
    designs: Array,
    motion: CrankMotion,
    parts: Sequence[slice],
    client: Client | None,
) -> Iterator[tuple[slice, Array]]:
    """Parts as they are done: in threads, or on a Dask cluster."""
    if client is None:
        kernel(kind, inverse_dynamics)  # compile once, before the threads
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = pool.map(lambda part: evaluate(kind, designs[part], motion), parts)
            yield from zip(parts, done, strict=True)
        return
    from distributed import as_completed

    tasks = {
        client.submit(evaluate, kind, designs[part], motion, pure=False): part for part in parts
    }
    for task in as_completed(list(tasks)):
        yield tasks[task], task.result()


@contextmanager
def connect(address: str | None) -> Iterator[Any]:
    """A client of the scheduler at `address`, or of workers on this machine.

    Raises
    ------
    InputError
        Dask is not installed, or nothing answers at the address.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(
            "Dask is not installed; `pip install 'mbdyn_ros[dask]'` brings it"
        ) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if address is None:
        with LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client
        return
    try:
        client = Client(address, timeout="3s")
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client


GOALS = QUANTITIES | {
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
        program, designs = kernel(kind, shaking), _columns_of(kind, rows)
        loads = _of_designs(program, designs, rows, motion)[..., 0]
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
