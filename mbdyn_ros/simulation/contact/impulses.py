"""Impulses of contacts, stops and dry friction of joints as one problem, solved in compiled code.

w = A f + b with A = S M^-1 S^T: each constraint is a set in which its impulse lies, and the law
that w obeys there (`compiler/runtime/contact/cones.hpp`). The same conditions on accelerations
determine which resting contacts stick, slide or separate. An impact is Newton's law on that
(`newtons_law.hpp`; Shafei and Shafei 2018, equations 44 to 47).
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...array import Array
from ...compiler.gcc import CompilationError
from ...compiler.runtime.library import events, structure
from ...errors import ContactError, SimulationError

UNSETTLED = 1e-7
"""Share of the velocities by which redundant contacts with friction may miss their laws."""

SETTLED = 1e-11
"""Share of the velocities by which contacts may miss their laws, else."""

ASYMMETRY = 1e-12
"""Share of the largest number by which a symmetric matrix may differ from its transpose."""

Cones = structure("contact/cones.hpp", "Cones")


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where the unknowns of k contacts stand: the normal, and the first of two tangents.

    tangent : (k,), -1 where the contact has no cone of friction (none, or it slides already).
    friction : (k,) mu.
    bound : (b,) of the last b unknowns, which are impulses of dry friction in joints: each within
        [-bound, bound], and at a bound only against the velocity there.
    """

    normal: NDArray[np.intp]
    tangent: NDArray[np.intp]
    friction: Array
    bound: Array = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def dry(bound: Array) -> Blocks:
        """Dry friction of joints alone."""
        none = np.zeros(0, dtype=np.intp)
        return Blocks(none, none, np.zeros(0), bound)


@functools.cache
def solver() -> ctypes.CDLL:
    """The compiled solver.

    Raises
    ------
    SimulationError
        There is no C++ compiler.
    """
    try:
        return events()
    except CompilationError as error:
        raise SimulationError(f"contacts and dry friction need compiled code: {error}") from error


class Problem:
    """The unknowns f (m,) of w = A f + b, as the compiled solver reads them.

    Parameters
    ----------
    matrix : A (m, m), semidefinite. It is not symmetric where contacts slide in given directions.
    """

    def __init__(self, matrix: Array, free: Array, blocks: Blocks) -> None:
        m = len(free)
        apart, size = (np.abs(one).max(initial=0.0) for one in (matrix - matrix.T, matrix))
        root = np.empty(m * m if apart <= ASYMMETRY * size else 0)
        self.f, self.free = np.zeros(m), np.array(free, dtype=np.float64)
        arrays = blocks.normal, blocks.tangent, blocks.friction, blocks.bound, matrix, self.free
        room = np.zeros(solver().room_of_impulses(m, m))
        self._arrays = [np.ascontiguousarray(one) for one in (*arrays, room, root)]
        *places, at_room, at_root = (one.ctypes.data for one in self._arrays)
        counts = m, len(blocks.normal), len(blocks.bound), m
        self._cones = Cones(*counts, *places, None, at_room, at_root if root.size else None)
        self.address = ctypes.addressof(self._cones)


def contact_impulses(
    matrix: Array, free: Array, blocks: Blocks, guess: Array | None = None
) -> Array:
    """Impulses f (m,) with friction, w = A f + b; redundant contacts share them evenly.

    Parameters
    ----------
    matrix, free : see `Problem`.
    guess : (m,) where to start, such as the impulses of the last step.

    Raises
    ------
    ContactError
        They do not settle.
    """
    problem = Problem(matrix, free, blocks)
    if guess is not None:
        problem.f[:] = guess
    missed = solver().solve_impulses(problem.address, SETTLED, problem.f.ctypes.data)
    _require_settled(missed, free, blocks)
    return problem.f


def impact_impulses(matrix: Array, before: Array, e: Array, blocks: Blocks) -> tuple[Array, Array]:
    """Impulses (m,) of an impact, and the restitution (k,) that was used.

    It is less than e where friction jams, or where friction and Newton's law would gain energy.

    Parameters
    ----------
    before : velocities (m,) of all rows.
    """
    problem, used = Problem(matrix, before, blocks), np.array(e, dtype=np.float64)
    velocity, law = np.ascontiguousarray(before), UNSETTLED * float(np.abs(before).max(initial=0))
    places = [one.ctypes.data for one in (problem.free, velocity, used)]
    missed = solver().impact_impulses(problem.address, *places, SETTLED, law, problem.f.ctypes.data)
    _require_settled(missed, before, blocks)
    return problem.f, used


def _require_settled(missed: float, free: Array, blocks: Blocks) -> None:
    size = float(np.abs(free).max(initial=0.0))
    if missed > UNSETTLED * size:
        raise ContactError(
            f"friction: the impulses of {len(blocks.normal)} contacts and {len(blocks.bound)} "
            f"joints do not settle (by {missed / size:.1g} of the velocities)"
        )
