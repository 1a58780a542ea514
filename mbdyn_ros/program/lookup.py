"""Numbers that expressions read from a table, at a place that they compute.

CasADi's expressions have no such operation, but they may call functions: one of a place alone,
which its interpreter runs and of which the compiler knows the numbers. Nothing is differentiated by
a place: what has derivatives has symbols for the numbers until it is differentiated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import casadi as ca
import numpy as np
from casadi import SX

from ..array import Array
from .symbols import serialized


@serialized
def lookup(numbers: Array) -> Callable[[SX], SX]:
    """Reads one of numbers (n,), n at least 2, by its place 0 to n - 1, a whole number."""
    name = "table_" + hashlib.sha256(numbers.tobytes()).hexdigest()[:16]
    last, place = len(numbers) - 1, ca.MX.sym("place")
    options = {"lookup_mode": ["exact"]}
    listed = ca.interpolant("numbers", "linear", [range(last + 1)], numbers, options)
    table = ca.Function(name, [place], [listed(place)], {"default_in": [last]})

    def read(at: SX) -> SX:
        value: SX = table.call([at], False, True)[0]
        return value

    return read


def numbers_of(table: ca.Function) -> Array:
    """The numbers of a table that an expression calls."""
    places = np.arange(1 + int(table.default_in(0)))
    return np.asarray(table(places[None, :]), dtype=np.float64).ravel()
