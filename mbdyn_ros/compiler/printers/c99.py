"""Plain C99 of functions of scalars: one statement an operation, for any compiler and processor."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..block import Lane, StraightBlock
from ..from_casadi import function_lines
from .lines import LinePrinter, indented


def c99_body(function: ca.Function, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """The body of a C function that computes all results.

    Parameters
    ----------
    function : of scalars (SX), without calls.
    inputs, outputs : C names of the arrays; an element is read or written by its place among
        the nonzeros. Results are written while inputs are still read: arrays must not overlap.
    """
    block = StraightBlock.of(function_lines(function), (), (), Lane.C99)
    lines = block.lines
    used = {line.place[0] for line in lines if line.code == ca.OP_INPUT}
    unused = [f"(void){name};" for i, name in enumerate(inputs) if i not in used]
    return indented([*unused, *_C99Printer(block, inputs, outputs).statements(block.order)])


class _C99Printer(LinePrinter):
    """Variables are used again once their value has been read for the last time: without an
    optimizing compiler, each of them costs a function eight bytes of stack."""

    def __init__(self, block: StraightBlock, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        super().__init__(block, names={"arg": inputs, "res": outputs})
        self._last = {i: k for k in block.order for i in block.lines[k].reads}
        self._variables: dict[int, int] = {}
        self._free: list[int] = []
        self._declared = 0

    def assigned(self, k: int, operands: Sequence[str], result: str) -> str:
        """Line k; the variables of operands that nobody else reads are free again."""
        for i in dict.fromkeys(self._block.lines[k].reads):
            if self._last[i] == k and i in self._variables:
                self._free.append(self._variables[i])
        return super().assigned(k, operands, result)

    def declared(self, k: int) -> str:
        """A variable that is free, or a new one."""
        if self._free:
            self._variables[k] = self._free.pop()
            return self.name(k)
        self._variables[k] = self._declared
        self._declared += 1
        return f"double {self.name(k)}"

    def name(self, k: int) -> str:
        """The variable of line k."""
        return f"a{self._variables[k]}"
