"""The compiled programs of a kind of mechanism, shared by all its designs."""

from __future__ import annotations

import threading

from ..compiler.bound import Bound
from ..compiler.kernel import Kernel
from ..compiler.loading import load_kernel
from ..compiler.program import Variant
from ..model.model import Array
from .mechanism import Mechanism
from .parametric import parametric_system

_kernels: dict[tuple[type[Mechanism], str], Kernel] = {}
_compiling = threading.Lock()


def kernel(kind: type[Mechanism], name: str) -> Kernel:
    """A program of a kind of mechanism, compiled when first asked for.

    Its inputs are those of the `Robot` method of that name, then "parameters": what
    `Mechanism.vector` gives.
    """
    with _compiling:
        if (kind, name) not in _kernels:
            _kernels[kind, name] = load_kernel(parametric_system(kind), Variant(name))
        return _kernels[kind, name]


def run(mechanism: Mechanism, name: str, *arguments: Array) -> Array:
    """A program over N states (N, n) of one mechanism, or of N designs (`Mechanism.designs`)."""
    return kernel(type(mechanism), name).batch([*arguments, mechanism.vector()], len(arguments[0]))


def bound(mechanism: Mechanism, name: str) -> Bound:
    """A program tied to arrays, with the numbers of one mechanism filled in."""
    result = Bound(kernel(type(mechanism), name))
    result.parameters[:] = mechanism.vector()
    return result
