"""C of a whole program."""

from __future__ import annotations

from ..program.program import Program
from ..program.stages import Staged
from .staged_text import StagedText
from .straight_line import StraightLine

SHORT = 3000
"""Operations up to which a staged program is faster written out, with the robot's numbers folded
in, than by loops over tables."""


def program_text(program: Program, name: str, n: str) -> str:
    """The C function `name(arg, res)`; see `StraightLine` for n."""
    if isinstance(program.equations, Staged) and not _is_short(program):
        return StagedText(program.equations, list(program.symbols.values()), name, n).text()
    return StraightLine(program.function, name, n).text()


def _is_short(program: Program) -> bool:
    return program.length <= 5 * SHORT and program.function.n_instructions() <= SHORT
