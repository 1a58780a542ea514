"""Contacts that are held on flat walls or as stops: their rows and forces, in compiled code."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from numpy.typing import NDArray

from ...array import Array
from ...compiler.runtime.structures import structure
from ...equations.contact.rims import ON_END
from ..contact.contacts import Contacts
from ..contact.impulses import solver
from ..contact.rows import Assembly, stacked
from .resting import LEANING_SPEED, Resting, least

SIZE, ADDRESS = ctypes.c_size_t, ctypes.c_void_p

READ = "transforms", "linear", "angular", "turn_drift", "stop_rows", "stop_drift"
"""Parts of a `ContactLayout`, in the order of C."""


Held = structure("contact/held.hpp", "held")


class HeldRows:
    """The contacts of one mode, in arrays that C fills; the next call overwrites them.

    Parameters
    ----------
    table : of the contacts, see `Contacts.flat_table`.

    Attributes
    ----------
    assembly : the rows. along : (k, 2) velocities along the walls.
    """

    def __init__(
        self,
        contacts: Contacts,
        held: Resting,
        table: tuple[NDArray[np.int64], Array],
    ) -> None:
        self.held, self._state, layout = held, contacts.state, contacts.layout
        blocks = stacked(held.sticks, contacts.friction[held.contacts])
        k, m, nv = len(held), len(held) + 2 * int(held.sticks.sum()), layout.stop_rows.shape[1]
        rows, columns, drift = np.zeros((m, nv)), np.zeros((m, nv)), np.zeros(m)
        self.assembly, self.along = Assembly(rows, columns, drift, blocks), np.zeros((k, 2))
        self._mass, self._answers, self._a = np.zeros((nv, nv)), np.zeros((m, nv)), np.zeros(nv)
        self._matrix, self._factors = np.zeros((m, m)), np.zeros((m, m))
        self._force, self._load = np.zeros(m), np.zeros(3 * nv)[:nv]  # the rest is room
        modes = held.sticks.astype(np.int64), held.slides.astype(np.int64)
        self._kept = table, modes
        arrays = [*(getattr(layout, name) for name in READ), *table, held.directions, *modes]
        results = [rows, columns, drift, self.along, self._mass, self._answers, self._matrix]
        results += [self._factors, self._force, self._load]
        before, after = ([one.ctypes.data for one in some] for some in (arrays, results))
        self._struct = Held(nv, k, *before, LEANING_SPEED, ON_END, *after)
        library, own = solver(), ctypes.byref(self._struct)
        v, a = (ADDRESS(one.ctypes.data) for one in (self._state.v, self._a))
        self._fill = functools.partial(library.held_rows, own, v)
        self._solve = functools.partial(library.held_forces, own, SIZE(m), a)

    def at(self, q: Array, v: Array) -> Assembly:
        """The rows at a state."""
        self._state.q[:], self._state.v[:] = q, v
        self._state()
        self._fill()
        return self.assembly

    def forces(self, mass: Array, a: Array) -> tuple[Array, Array, Array]:
        """Accelerations (nv,) with the contacts held, forces (m,), and their load (nv,).

        Parameters
        ----------
        mass : (nv, nv). a : (nv,) without contacts, at the state of `at`.
        """
        self._mass[:], self._a[:] = mass, a
        if self._solve():
            return self._a, self._force, self._load
        laws = self.assembly
        force = least(self._matrix, -(laws.rows @ a + laws.drift))
        return a + force @ self._answers, force, force @ laws.columns
