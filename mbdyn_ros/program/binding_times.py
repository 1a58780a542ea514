"""A function of inputs that are known early and of others that come late, as two functions.

What depends on the early ones alone is computed once, and kept for whatever comes late: the binding
times of Jones, Gomard, Sestoft, *Partial Evaluation and Automatic Program Generation* (1993).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX


@dataclass(frozen=True, eq=False)
class _Value:
    """Result of an operation; `late` where it depends on late inputs."""

    expression: SX
    late: bool


def split_by_time(early: SX, late: SX, result: SX) -> tuple[SX, ca.Function]:
    """An expression (n, 1) of symbols, in two steps.

    Returns
    -------
    What is to be kept (k, 1), an expression of `early` alone; and the function of that and of
    `late` whose value is the result.
    """
    whole = ca.Function("whole", [early, late], [ca.densify(result)], {"cse": True})
    given = SX.sym("early", early.shape[0]), SX.sym("late", late.shape[0])
    made: dict[int, _Value] = {}  # by element of CasADi's memory
    kept: dict[_Value, SX] = {}
    found = SX.zeros(*result.shape)

    def at_last(value: _Value) -> SX:
        """The value as an expression of what is kept and of late inputs."""
        if value.late or value.expression.is_constant():
            return value.expression
        return kept.setdefault(value, SX.sym("kept"))

    for k in range(whole.n_instructions()):
        code, reads = whole.instruction_id(k), whole.instruction_input(k)
        if code == ca.OP_OUTPUT:
            found[whole.instruction_output(k)[1]] = at_last(made[reads[0]])
            continue
        if code == ca.OP_CONST:
            value = _Value(SX(whole.instruction_constant(k)), False)
        elif code == ca.OP_INPUT:
            value = _Value(given[reads[0]][reads[1]], bool(reads[0]))
        else:
            operands = [made[one] for one in reads]
            after = any(one.late for one in operands)
            parts = [at_last(one) if after else one.expression for one in operands]
            apply = SX.unary if len(parts) == 1 else SX.binary
            value = _Value(apply(code, *parts), after)
        made[whole.instruction_output(k)[0]] = value
    first = ca.vertcat(SX(0, 1), *(value.expression for value in kept))
    symbols = ca.vertcat(SX(0, 1), *kept.values())
    return ca.substitute(first, given[0], early), ca.Function("last", [symbols, given[1]], [found])
