"""Positions of loops without closed form, for programs that the interpreter runs."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..dynamics.continuation import follow
from ..dynamics.linkage import newton_step
from ..dynamics.system import System


def home_positions(system: System) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """Tree coordinates and home positions of the joints of the loops without closed form.

    Two lists of (coordinate, position), of the independent and of the dependent joints.
    """
    chosen = []
    for part in ("independent", "dependent"):
        rows = [
            system.tree.bodies[linkage.cluster.tied[k]].q.start
            for linkage in system.walked
            for k in getattr(linkage, part)
        ]
        chosen.append([(row, float(system.home[row])) for row in rows])
    return chosen[0], chosen[1]


class Walker(ca.Callback):
    """Dependent positions z of a system's loops as a CasADi function of q, for the interpreter."""

    def __init__(self, system: System) -> None:
        super().__init__()
        self._system = system
        ys, zs = home_positions(system)
        order = list(system.coordinates.q)
        self._places = [order.index(row) for row, _ in ys]
        self._home = np.array([y for _, y in ys]), np.array([z for _, z in zs])
        self._last = self._home
        self._steps = [newton_step(system.tree, linkage) for linkage in system.walked]
        self.construct("walker", {})

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        """q (nq, 1)."""
        return ca.Sparsity.dense(self._system.coordinates.nq, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        """z (nz, 1)."""
        return ca.Sparsity.dense(self._system.nz, 1)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        """Walk every loop from home or from where it last was; NaN where it cannot close."""
        y = np.array(arg[0]).ravel()[self._places]
        z = np.full(self._system.nz, np.nan)
        iy = iz = 0
        for step, linkage in zip(self._steps, self._system.walked, strict=True):
            here = slice(iy, iy + len(linkage.independent))
            there = slice(iz, iz + len(linkage.dependent))
            iy, iz = here.stop, there.stop
            starts = [self._last, self._home]
            if len(linkage.independent) > 1:  # what was asked before must not decide the branch
                starts.reverse()
            for start_y, start_z in starts:
                walk = follow(step, (start_y[here], start_z[there]), y[here])
                if walk.arrived:
                    z[there] = walk.dependent
                    break
        if np.isfinite(z).all():
            self._last = y, z
        return [ca.DM(z)]
