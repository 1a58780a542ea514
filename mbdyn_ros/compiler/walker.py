"""Positions of loops without closed form, for programs that the interpreter runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np

from ..array import Array
from ..program.closing import Closing
from ..program.continuation import reach


class Walker(ca.Callback):
    """Dependent positions z of loops as a CasADi function of q, for the interpreter.

    nq : numbers in q.
    home : see `Closing.home`; the walks start there, also when its numbers are changed.
    """

    def __init__(self, closing: Closing, nq: int, home: Array) -> None:
        super().__init__()
        self._closing, self._nq, self._home = closing, nq, home
        self._own = threading.local()
        self._loops = closing.equations()
        self.construct("walker", {})

    @contextlib.contextmanager
    def starting_at(self, home: Array) -> Iterator[None]:
        """Let walks in this thread start at another home meanwhile."""
        self._own.home = home[: len(self._home)]
        try:
            yield
        finally:
            del self._own.home

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        """q (nq, 1)."""
        return ca.Sparsity.dense(self._nq, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        """z (nz, 1)."""
        return ca.Sparsity.dense(self._closing.nz, 1)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        """Walk every loop from home; NaN where it cannot close."""
        y = np.array(arg[0]).ravel()[list(self._closing.places)]
        home_y, home_z = np.split(getattr(self._own, "home", self._home), [len(y)])
        z = np.full(self._closing.nz, np.nan)
        iy = iz = 0
        for loop, (ny, nz) in zip(self._loops, self._closing.counts, strict=True):
            here, there = slice(iy, iy + ny), slice(iz, iz + nz)
            iy, iz = here.stop, there.stop
            walk = reach(loop, (home_y[here], home_z[there]), y[here])
            if walk.arrived:
                z[there] = walk.dependent
        return [ca.DM(z)]
