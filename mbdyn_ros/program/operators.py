"""Operators of CasADi's expressions (SX) that go straight to their operation.

CasADi's own `+`, `-`, `*` and `/` try the signatures of every type it has (float, DM, SX, MX), and
ask each operand for its shape several times: 20 to 40 us, where the operation itself takes 2. With
an expression or a number on the other side, nothing has to be tried. Everything else is left to
CasADi, and the results are the same expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

OPERATIONS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}

Operator = Callable[[ca.SX, Any], Any]


def _direct(operation: int, searching: Operator, reflected: bool) -> Operator:
    """An operator that does what CasADi's own, `searching`, does."""
    binary = ca.SX.binary

    def operator(self: ca.SX, other: Any) -> Any:
        if not isinstance(other, (ca.SX, float, int)):
            return searching(self, other)
        return binary(operation, other, self) if reflected else binary(operation, self, other)

    return operator


def use_direct_operators() -> None:
    """Give them to all expressions of this process."""
    for name, operation in OPERATIONS.items():
        for method in (f"__{name}__", f"__r{name}__"):
            searching = getattr(ca.SX, method)
            setattr(ca.SX, method, _direct(operation, searching, method.startswith("__r")))
