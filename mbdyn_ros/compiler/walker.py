"""Positions of loops without closed form, for programs that the interpreter runs."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..equations.loops.continuation import reach
from ..equations.loops.linkage import loop_functions
from ..equations.system import System
from ..model.model import Array


class Walker(ca.Callback):
    """Dependent positions z of a system's loops as a CasADi function of q, for the interpreter.

    home : see `System.walk_home`; the walks start there, also when its numbers are changed.
    """

    def __init__(self, system: System, home: Array) -> None:
        super().__init__()
        self._system, self._home = system, home
        order = list(system.coordinates.q)
        self._places = [order.index(row) for row in system.walk_rows]
        self._loops = [loop_functions(system.tree, linkage) for linkage in system.walked]
        self.construct("walker", {})

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        """q (nq, 1)."""
        return ca.Sparsity.dense(self._system.coordinates.nq, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        """z (nz, 1)."""
        return ca.Sparsity.dense(self._system.nz, 1)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        """Walk every loop from home; NaN where it cannot close."""
        y = np.array(arg[0]).ravel()[self._places]
        home_y, home_z = np.split(self._home, [len(y)])
        z = np.full(self._system.nz, np.nan)
        iy = iz = 0
        for loop, linkage in zip(self._loops, self._system.walked, strict=True):
            here = slice(iy, iy + len(linkage.independent))
            there = slice(iz, iz + len(linkage.dependent))
            iy, iz = here.stop, there.stop
            walk = reach(loop, (home_y[here], home_z[there]), y[here])
            if walk.arrived:
                z[there] = walk.dependent
        return [ca.DM(z)]
