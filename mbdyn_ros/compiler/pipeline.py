"""The way of a program to C: into the compiler's language, through a list of passes, and out.

`MBDYN_DUMP=roll,c` prints on stderr what the code is after these passes, and the C; `casadi` is the
code before the first, `all` means all of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace

import casadi as ca

from ..errors import InputError
from ..program.program import Program
from ..program.stages import Staged
from .dump import listing
from .from_casadi import function_code, staged_code
from .gcc import required_toolchain
from .ir import Code
from .options import STANDARD, Options
from .passes.angles import angles
from .passes.depth_first import depth_first
from .passes.direct import direct
from .passes.fuse import fuse
from .passes.overlap import overlap
from .passes.place import place
from .passes.reciprocals import reciprocals
from .passes.roll import roll
from .passes.split import split
from .passes.unroll import unroll
from .printers.code import code_text
from .table import Lane
from .verify import InvalidCode, verify

Pass = Callable[[Code, Options], Code]

PASSES: tuple[Pass, ...] = (
    fuse,  # maps over equally many columns are one loop
    direct,  # products go where they belong
    unroll,  # small eliminations are written line by line
    reciprocals,  # one division for all by the same number
    angles,  # sines and cosines in pairs, the early ones together
    roll,  # what a long block does again and again becomes loops
    overlap,  # a pass begins before the one before has ended
    depth_first,  # what is not loops: few values wait
    split,  # long blocks into several functions
    place,  # which hand values on in memory
)
"""In the order in which they run."""


def program_text(program: Program, name: str, lane: Lane, options: Options = STANDARD) -> str:
    """The C function `name(arg, res)` of a program."""
    if isinstance(program.equations, Staged) and not _is_short(program, options):
        return text(staged_code(program.equations, program.symbols, lane), name, options)
    return function_text(program.function, name, lane, options)


def _is_short(program: Program, options: Options) -> bool:
    """Whether a staged program is faster written out; nothing long is written out to see."""
    most = options.written_out
    return program.length <= 5 * most and program.function.n_instructions() <= most


def function_text(function: ca.Function, name: str, lane: Lane, options: Options = STANDARD) -> str:
    """The C function `name(arg, res)` of a function of scalars (SX), without calls."""
    return text(function_code(function, lane), name, options)


def text(code: Code, name: str, options: Options) -> str:
    """The C of code after all passes; where what they leave is wrong, the message names the pass.

    Raises
    ------
    InvalidCode
        A pass has left code that cannot be right.
    """
    wanted = _wanted()
    options = replace(options, lanes=options.lanes or required_toolchain().lanes)
    stages: dict[str, Code] = {}

    def left_by(stage: str, code: Code) -> Code:
        stages[stage] = code
        if stage in wanted:
            print(f"---- {name} after {stage}\n{listing(code)}", file=sys.stderr)
        return code

    code = left_by("casadi", code)
    for one in PASSES:
        code = left_by(one.__name__, one(code, options))
    try:
        verify(code, PASSES[-1].__name__)
    except InvalidCode:
        for stage, made in stages.items():  # the first that is wrong
            verify(made, stage)
    result = code_text(code, name, options.lanes)
    if "c" in wanted:
        print(f"---- {name} in C\n{result}", file=sys.stderr)
    return result


def _wanted() -> frozenset[str]:
    """Names of the passes that `MBDYN_DUMP` asks for."""
    known = {"casadi", *(one.__name__ for one in PASSES), "c"}
    named = {word.strip() for word in os.environ.get("MBDYN_DUMP", "").split(",")} - {""}
    if unknown := named - known - {"all"}:
        raise InputError(
            f"MBDYN_DUMP names {', '.join(sorted(unknown))}; there are all, casadi, "
            f"{', '.join(one.__name__ for one in PASSES)} and c"
        )
    return frozenset(known if "all" in named else named)
