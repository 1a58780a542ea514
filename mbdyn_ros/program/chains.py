"""Sums along a tree over columns that belong to its bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from casadi import SX

NO_COLUMN = -1
"""No column."""


@dataclass(frozen=True)
class Chains:
    """The columns of bodies, each behind another: they form chains that part where bodies do.

    before : which column every column is behind, `NO_COLUMN` for none.
    bodies : the columns of every body, one behind the other; bodies behind those that carry them.
    """

    before: tuple[int, ...]
    bodies: tuple[range, ...]

    @staticmethod
    def of(bodies: Sequence[slice], parents: Sequence[int]) -> Chains:
        """The chains of bodies with these columns and parents, a number below 0 for none."""
        ranges = tuple(range(columns.start, columns.stop) for columns in bodies)
        before = [NO_COLUMN] * sum(len(columns) for columns in ranges)
        for columns, parent in zip(ranges, parents, strict=True):
            for k in columns:
                if k > columns.start:
                    before[k] = k - 1
                elif parent >= 0:
                    before[k] = ranges[parent].stop - 1
        return Chains(tuple(before), ranges)

    @property
    def ascending(self) -> bool:
        """Whether every column has a higher number than the one that it is behind."""
        return all(before < k for k, before in enumerate(self.before))

    def whole(self, backward: bool) -> tuple[int, ...]:
        """For every column the one of its body whose sum goes over all columns of the body."""
        ends = {k: body[0] if backward else body[-1] for body in self.bodies for k in body}
        return tuple(ends[k] for k in range(len(self.before)))

    def sums(self, table: SX, backward: bool) -> list[SX]:
        """The sum for every column: over the bodies from the root to its own, or, backward, over
        its own and all that it carries. Columns of one body have the same sum."""
        columns = [table[:, k] for k in range(len(self.before))]
        order = [k for body in self.bodies for k in body]
        for k in reversed(order) if backward else order:
            before = self.before[k]
            if before != NO_COLUMN:
                target, other = (before, k) if backward else (k, before)
                columns[target] = columns[target] + columns[other]
        return [columns[k] for k in self.whole(backward)]
