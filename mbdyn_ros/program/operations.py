"""Cost of a program, in operations by kind."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import SX

COST = {"multiplications": 1, "additions": 1, "divisions": 5, "functions": 20}
"""Rough relative cost of the kinds of operations, for choosing between formulations."""

COUNTED_KINDS = {
    "multiplications": (ca.OP_MUL, ca.OP_SQ),
    "additions": (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE),
    "divisions": (ca.OP_DIV, ca.OP_INV),
    "functions": (ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_SIGN),
}
"""The operations that count; a doubling is an addition, a change of sign is none."""


def count_operations(function: ca.Function) -> dict[str, int]:
    """Count the operations of a program by kind."""
    counts = dict.fromkeys(COUNTED_KINDS, 0)
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        for kind, operations in COUNTED_KINDS.items():
            counts[kind] += operation in operations
    return counts


def operations_of(inputs: Sequence[SX], result: SX) -> dict[str, int]:
    """Count the operations of an expression over its inputs by kind."""
    return count_operations(ca.Function("count", list(inputs), [result], {"cse": True}))


def cheapest(inputs: Sequence[SX], results: Sequence[SX]) -> SX:
    """The expression with the fewest operations, weighted by `COST`."""

    def cost(result: SX) -> int:
        return sum(COST[kind] * n for kind, n in operations_of(inputs, result).items())

    return min(results, key=cost) if len(results) > 1 else results[0]
