"""C of single lines of a block, one statement each, and how the tables are stored that they read.

Where numbers are single, vectors lie along the columns of a table: a block of as many columns as a
vector has lanes is stored row by row, and zeros fill the last block up. Where every number is a
vector itself, a block is one column. Of matrices side by side the first blocks come first, then the
second ones: as if they stood one above the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..block import TURNS, Lane, StraightBlock, Table
from .operations import OPERATIONS, number, operands_of_call

Places = Mapping[tuple[str, int], Sequence[str]]
"""C of the places of the numbers of ("arg", i) or ("res", i), where these are not contiguous."""

EXACT = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV)
"""Operations that a vector has with a single number."""


class LinePrinter:
    """The C of a block's lines; line k makes the variable ak.

    places : of the numbers in arrays that are not plain.
    names : of arrays, by side; "arg" and "res" are the arrays of all where there are none.
    """

    def __init__(
        self,
        block: StraightBlock,
        places: Places | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._block, self._lines, self._lane = block, block.lines, block.lane
        self._places, self._names = places or {}, names or {}

    def angles(self, sine: str, cosine: str) -> Iterator[str]:
        """The sines and cosines of the early angles, into two arrays."""
        lane, early = self._lane, self._block.early
        if early:
            listed = ", ".join(map(self._operand, early))
            yield f"{lane.real} angle[{self.room}] = {{{listed}}};"
            yield f"sines_cosines{lane}({len(early)}, angle, {sine}, {cosine});"

    @property
    def room(self) -> str:
        """Elements of an array of the early angles, in C."""
        count = len(self._block.early)
        return f"{count} + LANES" if self._lane is Lane.SINGLE else f"{count}"

    def statements(self, numbers: Iterable[int]) -> list[str]:
        """Lines by their numbers, one after the other."""
        result = []
        for k in numbers:
            line = self._lines[k]
            if line.code in TURNS and self._lane is not Lane.C99:
                result += self._late_angle(line.reads[0])
            elif line.code == ca.OP_INPUT:
                given = self._element("arg", *line.place)
                result.append(f"{self.declared(k)} = {given};")
            else:
                target = self._element("res", *line.place) if line.code == ca.OP_OUTPUT else ""
                result.append(self.assigned(k, [self._operand(i) for i in line.reads], target))
        return result

    def _element(self, side: str, array: int, element: int) -> str:
        places = self._places.get((side, array))
        name = self._names[side][array] if self._names else f"{side}[{array}]"
        return f"{name}[{element if places is None else places[element]}]"

    def declared(self, k: int) -> str:
        """The variable of line k where it is made."""
        return f"const {self._lane.real} {self.name(k)}"

    def name(self, k: int) -> str:
        """The variable of line k."""
        return f"a{k}"

    def assigned(self, k: int, operands: Sequence[str], result: str) -> str:
        """Line k on these operands; it goes to `result` where it is an output."""
        lane, line = self._lane, self._lines[k]
        if line.code not in EXACT and lane is not Lane.C99:
            operands = [
                f"all{lane}({text})" if self._lines[i].code == ca.OP_CONST else text
                for i, text in zip(line.reads, operands, strict=True)
            ]
        if line.code == ca.OP_OUTPUT:
            return f"{result} = {operands[0]};"
        given = [*operands, *operands_of_call(line)]
        return f"{self.declared(k)} = {OPERATIONS[line.code][lane].format(*given)};"

    def _late_angle(self, angle: int) -> list[str]:
        lane = self._lane
        names = {ca.OP_SIN: f"s{angle}", ca.OP_COS: f"c{angle}"}
        lines = [
            f"{lane.real} s{angle}, c{angle};",
            f"sine_cosine{lane}({self._operand(angle)}, &s{angle}, &c{angle});",
        ]
        for k in self._block.turns[angle]:
            lines.append(f"const {lane.real} a{k} = {names[self._lines[k].code]};")
        return lines

    def _operand(self, k: int) -> str:
        line = self._lines[k]
        return number(line.value) if line.code == ca.OP_CONST else self.name(k)


def indented(statements: Iterable[str]) -> str:
    """Statements as the lines of a function's body."""
    return "".join(f"  {statement}\n" for statement in statements)


@dataclass(frozen=True)
class TableLayout:
    """The places of numbers in tables.

    lane : what a number is. lanes : float64 in a vector.
    """

    lane: Lane
    lanes: int

    @property
    def width(self) -> int:
        """Columns of a block."""
        return self.lanes if self.lane is Lane.SINGLE else 1

    def blocks(self, columns: int) -> int:
        """The number of blocks for a number of columns."""
        return -(-columns // self.width)

    def size(self, table: Table) -> int:
        """How many numbers a table has room for."""
        return self.blocks(max(table.widths)) * table.height * self.width

    def place(self, rows: int, row: int, column: int) -> int:
        """The place of a number; PLACE in C."""
        block, inside = divmod(column, self.width)
        return (block * rows + row) * self.width + inside

    def places(self, table: Table) -> list[int]:
        """The places of a table's nonzeros, column by column."""
        before = np.cumsum([0, *table.widths])
        result = []
        for column, row in np.argwhere(table.filled.T).tolist():
            matrix = int(np.searchsorted(before, column, side="right")) - 1
            inside = column - int(before[matrix])
            result.append(self.place(table.height, matrix * table.rows + row, inside))
        return result


MOST_ON_STACK = 1 << 13
"""Numbers from which on an array goes not on the stack: half a megabyte where they are vectors."""


def storage(count: int) -> str:
    """C before the declaration of an array of that size."""
    return "static _Thread_local " if count >= MOST_ON_STACK else ""


def whole_numbers(name: str, listed: Sequence[int]) -> tuple[str, str]:
    """C of a constant array of whole numbers: their type, the shortest that serves, and itself."""
    most = max(listed, default=0)
    kind = "unsigned char" if most < 1 << 8 else "unsigned short" if most < 1 << 16 else "unsigned"
    return kind, f"static const {kind} {name}[] = {{{', '.join(map(str, listed))}}};\n"
