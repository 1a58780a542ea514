"""The unknowns that a program leaves to whoever runs it: positions of loops without closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from ..array import Array
from .continuation import LoopFunctions


@dataclass(frozen=True, eq=False)
class Closing:
    """How to find z, the dependent positions of loops without closed form, at given inputs q.

    Every loop is walked from home to its independent positions (`continuation.reach`).

    counts : numbers of independent and of dependent positions of every loop, in the order of z.
    places : where in q the independent positions stand, loop by loop.
    home : (ny + nz,) closed configuration to start from: all independent positions, then z.
    equations : traces the equations of every loop.
    terms : traces what all programs need of the loops, as a function of q and z: a column, which
        may stand behind z.
    """

    counts: tuple[tuple[int, int], ...]
    places: tuple[int, ...]
    home: Array
    equations: Callable[[], Sequence[LoopFunctions]]
    terms: Callable[[], ca.Function]

    @property
    def ny(self) -> int:
        """Number of independent positions of all these loops."""
        return sum(ny for ny, _ in self.counts)

    @property
    def nz(self) -> int:
        """Number of dependent positions; 0 where every loop has a closed form."""
        return sum(nz for _, nz in self.counts)
