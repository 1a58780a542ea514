"""Tables of numbers, and what a value in them is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from ..program.stages import Mask


class Lane(Enum):
    """Type of a value: one number, a vector of as many as the processor takes, or one in C99."""

    SINGLE = "1"
    VECTOR = "v"
    C99 = ""

    @property
    def real(self) -> str:
        """The C type of a value."""
        return f"real{self.value}" if self.value else "double"

    def __str__(self) -> str:
        """The ending of C functions for such values."""
        return self.value


@dataclass(frozen=True, eq=False)
class Table:
    """Matrices of numbers, side by side.

    name : in C and in listings. rows : of each matrix. widths : columns of each.
    filled : (rows, all columns), False for zeros by structure, which are never read.
    plain : whether the numbers are contiguous, as inputs and results are; else they are
        in blocks of columns, see `printers.lines`.
    lower : whether only the lower triangle is ever read.
    """

    name: str
    rows: int
    widths: tuple[int, ...]
    filled: Mask
    plain: bool = False
    lower: bool = False

    @staticmethod
    def dense(name: str, rows: int, columns: int, plain: bool = True) -> Table:
        """One matrix without zeros."""
        return Table(name, rows, (columns,), np.ones((rows, columns), dtype=bool), plain)

    @property
    def table(self) -> Table:
        """The table itself; a `Column` gives the one that it is of."""
        return self

    @property
    def columns(self) -> int:
        """Columns of all matrices."""
        return sum(self.widths)

    @property
    def size(self) -> int:
        """Numbers of all matrices, zeros by structure too."""
        return self.rows * self.columns

    @property
    def height(self) -> int:
        """Rows of all matrices, as if they stood one above the other."""
        return self.rows * len(self.widths)


@dataclass(frozen=True)
class Column:
    """The column of a table that a `Map` is at: its rows one after the other."""

    table: Table

    plain = True

    @property
    def name(self) -> str:
        """In listings."""
        return f"{self.table.name}[:, b]"


Array = Table | Column
"""Memory that a block reads and writes."""
