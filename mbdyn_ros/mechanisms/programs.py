"""The compiled programs of a kind of mechanism, shared by all its designs."""

from __future__ import annotations

import threading

from ..compiler.kernel import Bound, Kernel, load_kernel
from ..compiler.program import Variant
from ..model.model import Array
from .design import Design
from .parametric import parametric_system

_kernels: dict[tuple[type[Design], str], Kernel] = {}
_compiling = threading.Lock()


def kernel(kind: type[Design], name: str) -> Kernel:
    """A program of a kind of mechanism, compiled when first asked for.

    Its inputs are those of the `Robot` method of that name, then "parameters": what
    `Design.vector` gives.
    """
    with _compiling:
        if (kind, name) not in _kernels:
            _kernels[kind, name] = load_kernel(parametric_system(kind), Variant(name))
        return _kernels[kind, name]


def run(mechanism: Design, name: str, *arguments: Array) -> Array:
    """A program over N states (N, n) of one mechanism, or of N designs (`Design.designs`)."""
    return kernel(type(mechanism), name).batch([*arguments, mechanism.vector()], len(arguments[0]))


def bound(mechanism: Design, name: str) -> Bound:
    """A program tied to arrays, with the numbers of one mechanism filled in."""
    result = Bound(kernel(type(mechanism), name))
    result.parameters[:] = mechanism.vector()
    return result
