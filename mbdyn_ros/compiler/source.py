"""C source of a program's library: its equations, and what it says about itself."""

from __future__ import annotations

from collections.abc import Sequence

from ..equations.system import System
from ..program.stages import Staged
from .c_loops import walk_source
from .line_text import each_functions
from .program import Program
from .program_text import program_text

HEADERS = '#include "program.h"\n'
"""What stands before equations: vectors, and their elementary functions."""

SCHEDULED = {"1": 5000, "v": 2000}
"""Operations of the longest straight lines that GCC shall order before it gives out registers: 10
to 30 % faster for numbers, 5 to 10 % for vectors; longer programs gain nothing, or lose."""

CORE = {"1": "alone", "v": "together"}
"""What `struct program` calls the equations of one state, and of a vector of them."""

DESCRIPTION = """
static const struct array inputs[] = {{{inputs}{{0}}}};
static const size_t quaternions[] = {{{quaternions}0}};
EXPORTED const struct program program = {{
  .input = inputs, .inputs = {n_in}, .rows = {rows}, .columns = {columns},
  .quaternion = quaternions, .quaternions = {n_quaternions},
  .close = {close}, .z = {nz}, .{core} = core, .operations = {operations},
}};
"""


def preamble(longest: int, n: str) -> str:
    """C that stands before programs of so many operations in straight lines."""
    order = '#pragma GCC optimize ("schedule-insns", "sched-pressure")\n'
    early = order if longest <= SCHEDULED[n] else ""
    return early + HEADERS + each_functions()


def c_source(system: System, program: Program, n: str = "1") -> str:
    """The C of a program's library.

    n : "1" for one state at a time, "v" for a vector of them.
    """
    walk = walk_source(system) if "z" in program.symbols else ""
    quaternions = system.coordinates.quaternions
    return library_text(program, n, walk, quaternions)


def library_text(program: Program, n: str, walk: str, quaternions: Sequence[int]) -> str:
    """The same from its parts.

    walk : C of `close_all`, where loops are to be closed.
    quaternions : where in the first input unit quaternions begin.
    """
    inputs = {name: one for name, one in program.symbols.items() if name != "z"}
    rows, columns = program.shape
    alone = n == "1" and isinstance(program.equations, Staged)
    return (
        preamble(0 if alone else program.length, n)
        + walk
        + program_text(program, "core", n)
        + DESCRIPTION.format(
            # an array of wrenches has a row for each body
            inputs="".join(
                f'{{"{name}", {one.shape[1]}, {one.shape[0]}}}, ' for name, one in inputs.items()
            ),
            n_in=len(inputs),
            rows=rows,
            columns=columns,
            quaternions="".join(f"{start}, " for start in quaternions),
            n_quaternions=len(quaternions),
            close="close_all" if walk else "NULL",
            nz=program.sizes.get("z", 0),
            core=CORE[n],
            operations=program.length,
        )
    )
