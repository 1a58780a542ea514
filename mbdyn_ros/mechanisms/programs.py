"""The compiled programs of a kind of mechanism, shared by all its designs."""

from __future__ import annotations

from ..array import Array
from ..compiler.bound import Bound
from ..compiler.kernel import Kernel
from ..compiler.loading import load_kernel
from ..compiler.options import STANDARD
from ..locks import Lock
from ..program.declaration import Declaration
from ..program.program import Program
from .design import Design
from .parametric import parametric_system

_kernels: dict[tuple[type[Design], Declaration, bool, bool], Kernel] = {}
_compiling = Lock()


def kernel(kind: type[Design], program: Declaration, wrenches: bool = False) -> Kernel:
    """A program of a kind of mechanism, compiled when first asked for.

    Its inputs are those of the program of a robot, then "parameters": what
    `Design.vector` gives.
    """
    key = kind, program, wrenches, STANDARD.interpreted
    with _compiling:
        if key not in _kernels:
            made = Program(program, parametric_system(kind), wrenches=wrenches)
            _kernels[key] = load_kernel(made)
        return _kernels[key]


def run(mechanism: Design, program: Declaration, *arguments: Array) -> Array:
    """A program over N states (N, n) of one mechanism, or of N designs (`Design.designs`).

    arguments : those of the program; behind them what acts on the parts, (N, parts, 6), if at all.
    """
    loaded = len(arguments) > len(program.inputs)
    return kernel(type(mechanism), program, loaded).batch(
        [*arguments, mechanism.parameters(arguments[0])], len(arguments[0])
    )


def bound(mechanism: Design, program: Declaration) -> Bound:
    """A program bound to arrays, with the numbers of one mechanism filled in; see `place`."""
    result = Bound(kernel(type(mechanism), program))
    numbers = mechanism.vector()
    result.parameters[: len(numbers)] = numbers
    return result


def place(program: Bound, mechanism: Design, q: Array) -> None:
    """Fill in the position (n,) of a bound program."""
    program.q[:] = q
    if mechanism.unknowns:
        program.parameters[-len(mechanism.unknowns) :] = mechanism.unknown_values(q)
