"""How tables are stored: in blocks of columns.

Where numbers are single, vectors lie along the columns of a table: a block of as many columns as a
vector has lanes is stored row by row, and zeros fill the last block up. Where every number is a
vector itself, a block is one column. One text serves both. Of matrices side by side the first
blocks come first, then the second ones: as if they stood one above the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..ir import Lane, Table

LANES = (8, 4, 2)
"""How many numbers a vector may have; the C compiler decides."""

LAYOUT = """
/* Blocks of columns, and where a number stands in a table. */
#define BLOCKS1(columns) (((columns) + LANES - 1) / LANES)
#define BLOCKSv(columns) (columns)
#define PLACE1(rows, row, column) (((column) / LANES * (rows) + (row)) * LANES + (column) % LANES)
#define PLACEv(rows, row, column) ((column) * (rows) + (row))
#if LANES == 8
#define EVERY(x) {x, x, x, x, x, x, x, x}
#elif LANES == 4
#define EVERY(x) {x, x, x, x}
#else
#define EVERY(x) {x, x}
#endif
#define ONCE1(x) (x)
#define ONCEv(x) EVERY(x)
"""


def blocks(table: Table, lane: Lane) -> str:
    """C of the number of blocks of every matrix of a table."""
    return f"BLOCKS{lane}({max(table.widths)})"


def size(table: Table, lane: Lane) -> str:
    """C of how many numbers a table has room for."""
    return f"{blocks(table, lane)} * {table.height} * WIDTH{lane}"


def places(table: Table, lane: Lane) -> list[str]:
    """C of where the nonzeros of a table stand in it, column by column."""
    before = np.cumsum([0, *table.widths])
    result = []
    for column, row in np.argwhere(table.filled.T).tolist():
        matrix = int(np.searchsorted(before, column, side="right")) - 1
        inside = column - int(before[matrix])
        result.append(f"PLACE{lane}({table.height}, {matrix * table.rows + row}, {inside})")
    return result


def integers(most: int) -> str:
    """The shortest C type of whole numbers up to `most`."""
    if most < 1 << 8:
        return "unsigned char"
    return "unsigned short" if most < 1 << 16 else "unsigned"


LARGE = 1 << 13
"""Numbers from which on an array goes not on the stack: half a megabyte where they are vectors."""


def storage(count: int) -> str:
    """C before the declaration of an array of so many numbers."""
    return "static _Thread_local " if count >= LARGE else ""


def block_columns(lane: Lane) -> tuple[int, ...]:
    """How many columns a block may have."""
    return LANES if lane is Lane.SINGLE else (1,)


def by_lanes(text: Callable[[int], str]) -> str:
    """C that depends on how many numbers a vector has."""
    first, second, third = (text(lanes) for lanes in LANES)
    return f"#if LANES == 8\n{first}#elif LANES == 4\n{second}#else\n{third}#endif\n"


def numbers(name: str, lane: Lane, listed: Callable[[int], Sequence[int]]) -> tuple[str, str]:
    """C type and C of a constant array, whose numbers depend on how many columns a block has."""
    alternatives = {count: listed(count) for count in block_columns(lane)}
    integer = integers(max(max(one, default=0) for one in alternatives.values()))

    def text(count: int) -> str:
        listed = ", ".join(map(str, alternatives[count]))
        return f"static const {integer} {name}[] = {{{listed}}};\n"

    return integer, by_lanes(text) if lane is Lane.SINGLE else text(1)
