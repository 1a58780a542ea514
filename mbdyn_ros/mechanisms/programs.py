"""The compiled programs of a kind of mechanism, shared by all its designs."""

from __future__ import annotations

from ..array import Array
from ..compiler.bound import Bound
from ..compiler.kernel import Kernel
from ..compiler.loading import load_kernel
from ..locks import Lock
from ..program.declaration import Declaration
from ..program.program import Program
from .design import Design
from .parametric import parametric_system

_kernels: dict[tuple[type[Design], Declaration], Kernel] = {}
_loaded: dict[tuple[type[Design], Declaration], Kernel] = {}
_compiling = Lock()


def kernel(kind: type[Design], program: Declaration) -> Kernel:
    """A program of a kind of mechanism, compiled when first asked for.

    Its inputs are those of the program of a robot, then "parameters": what
    `Design.vector` gives.
    """
    with _compiling:
        if (kind, program) not in _kernels:
            _kernels[kind, program] = load_kernel(Program(program, parametric_system(kind)))
        return _kernels[kind, program]


def run(mechanism: Design, program: Declaration, *arguments: Array) -> Array:
    """A program over N states (N, n) of one mechanism, or of N designs (`Design.designs`)."""
    return kernel(type(mechanism), program).batch(
        [*arguments, mechanism.parameters(arguments[0])], len(arguments[0])
    )


def run_loaded(mechanism: Design, program: Declaration, *arguments: Array) -> Array:
    """A program whose last argument is what acts on the parts, (N, parts, 6)."""
    kind = type(mechanism)
    with _compiling:
        if (kind, program) not in _loaded:
            made = Program(program, parametric_system(kind), wrenches=True)
            _loaded[kind, program] = load_kernel(made)
    *states, loads = arguments
    inputs = [*states, loads, mechanism.parameters(states[0])]
    return _loaded[kind, program].batch(inputs, len(loads))


def bound(mechanism: Design, program: Declaration) -> Bound:
    """A program tied to arrays, with the numbers of one mechanism filled in; see `place`."""
    result = Bound(kernel(type(mechanism), program))
    numbers = mechanism.vector()
    result.parameters[: len(numbers)] = numbers
    return result


def place(program: Bound, mechanism: Design, q: Array) -> None:
    """Fill in the position (n,) of a bound program."""
    program.q[:] = q
    if mechanism.unknowns:
        program.parameters[-len(mechanism.unknowns) :] = mechanism.unknown_values(q)
