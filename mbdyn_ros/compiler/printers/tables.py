"""How tables are stored: in blocks of columns.

Where numbers are single, vectors lie along the columns of a table: a block of as many columns as a
vector has lanes is stored row by row, and zeros fill the last block up. Where every number is a
vector itself, a block is one column. Of matrices side by side the first blocks come first, then the
second ones: as if they stood one above the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..table import Lane, Table


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
