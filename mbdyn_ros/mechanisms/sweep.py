"""Thousands of designs in one batch: what a prescribed motion asks of each of them."""

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

from ..arguments import checked_numbers
from ..array import Array
from ..compiler.kernel import Kernel
from ..equations.programs import inverse_dynamics
from ..errors import InputError
from .analysis import mean_square
from .crank_motion import CrankMotion
from .design import unit_of
from .mechanism import Mechanism
from .parametric import kernel
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
    axes = {
        name: np.atleast_1d(checked_numbers("the values of a sweep", one))
        for name, one in settings.items()
    }
    count = math.prod(len(one) for one in axes.values())
    require_few(count)
    grid = np.meshgrid(*axes.values(), indexing="ij")
    designs = mechanism.designs(
        **{name: one.ravel() for name, one in zip(axes, grid, strict=True)}
    ).vector()
    designs = np.atleast_2d(designs)
    kind, parts = type(mechanism), _parts(len(designs), DESIGNS_PER_TASK if client else CHUNK)
    if client is None:
        kernel(kind, inverse_dynamics)  # compile once, before the threads
    pool = client.get_executor(pure=False) if client else ThreadPoolExecutor(os.cpu_count())
    done = []
    with pool:
        for task in [pool.submit(evaluate, kind, designs[part], motion) for part in parts]:
            done.append(task.result())
            if progress is not None:
                progress(len(done[-1]))
    shape = grid[0].shape
    columns = zip(QUANTITIES, np.concatenate(done).T, strict=True)
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
        columns = columns_of(kind, rows)
        torque = of_designs(program, columns, rows, motion)
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


def of_designs(program: Kernel, designs: Mechanism, rows: Array, motion: CrankMotion) -> Array:
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


def columns_of(kind: type[Mechanism], rows: Array) -> Mechanism:
    """The mechanisms of rows (N, p) of numbers, in one."""
    return kind.of_numbers(dict(zip(kind().numbers(), rows.T, strict=True)))


def _between(kind: type[Mechanism], rows: Array, motion: CrankMotion, margins: Array) -> Any:
    """Which designs (N,) come to a toggle during the motion, at a point of it or between two."""
    shut: NDArray[np.bool_] = np.any(margins[1:-1] < -MARGIN_ROUNDING, axis=0)
    low, which = dips(margins)
    low, which = low[~shut[which]], which[~shut[which]]
    if len(low):
        suspects = columns_of(kind, rows[which])

        def margin(t: Array) -> Array:
            return suspects.margin(along(motion.q, t))

        _, least = deepest(margin, low, len(motion) - 1)
        shut[which[least < -MARGIN_ROUNDING]] = True
    return shut


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
