"""Home, closed anew where lengths of its loops change."""

from __future__ import annotations

import numpy as np

from ..array import Array
from ..equations.entries import Entries
from ..equations.system import System
from ..errors import InputError
from ..program.continuation import reshape
from ..program.symbols import serialized


def require_closed(entries: Entries, values: Array, source: str) -> None:
    """Raise `InputError`, by row, where loops of closed form are open at home with parameters
    (p,) or (N, p)."""
    if loops := entries.loops_open_at_home(values):
        raise InputError(
            f"{source}: with these lengths loop {loops[0]} cannot be closed where home has its "
            "independent joints, or is at a singularity there. Change less, or give a home "
            "(with_home) at which it closes"
        )


@serialized
def homes_closed(system: System, before: Array, after: Array, source: str) -> Array:
    """Home (n,) or (N, n) of the loops without closed form, on the branch of the described one.

    before : (p,) parameters at which the system's home is closed. after : (p,) or (N, p).

    Raises
    ------
    InputError
        A loop cannot be closed, or its branch ends on the way, by name and row.
    """
    closing, rows = system.closing, np.atleast_2d(after)
    y, z = np.split(closing.home.copy(), [closing.ny])
    found = np.tile(z, (len(rows), 1))
    iy = iz = 0
    for linkage, loop, (ny, nz) in zip(
        system.numerical_linkages, system.numerical_loops, closing.counts, strict=True
    ):
        here, there = slice(iy, iy + ny), slice(iz, iz + nz)
        iy, iz = here.stop, there.stop
        found[:, there], share = reshape(loop, (y[here], z[there]), before, rows)
        for k in np.flatnonzero(share < 1.0)[:1].tolist():
            which = f" of row {k}" if after.ndim > 1 else ""
            _refuse(f"{source}: ", which, linkage.cluster.name, float(share[k]))
    homes = np.concatenate([np.tile(y, (len(rows), 1)), found], axis=1)
    return homes.reshape(*after.shape[:-1], -1)


def _refuse(where: str, which: str, name: str, share: float) -> None:
    if not share:
        raise InputError(
            f"{where}with the lengths{which} loop {name!r} cannot be closed: some of its "
            "joints cannot move in the direction in which they part, as where a loop that "
            "lies in a plane is taken out of it"
        )
    raise InputError(
        f"{where}the lengths{which} leave the branch of home: loop {name!r} stays closed "
        f"on it up to {100 * share:.3g} % of the change, with its independent joints at "
        "home. Change less, or give a home (with_home) from which the loop closes with "
        "these lengths"
    )
