"""Plain C99 of a CasADi function of scalars: one statement an operation, nothing else needed.

For any compiler and processor; `straight_line` writes for the vector types of GCC and Clang.
"""

from __future__ import annotations

import casadi as ca

OPERATIONS = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2.0 * {0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_SIGN: "{0} < 0.0 ? -1.0 : ({0} > 0.0 ? 1.0 : {0})",
    ca.OP_LT: "{0} < {1} ? 1.0 : 0.0",
    ca.OP_LE: "{0} <= {1} ? 1.0 : 0.0",
    ca.OP_EQ: "{0} == {1} ? 1.0 : 0.0",
    ca.OP_NE: "{0} != {1} ? 1.0 : 0.0",
    ca.OP_NOT: "{0} != 0.0 ? 0.0 : 1.0",
    ca.OP_AND: "{0} != 0.0 && {1} != 0.0 ? 1.0 : 0.0",
    ca.OP_OR: "{0} != 0.0 || {1} != 0.0 ? 1.0 : 0.0",
    ca.OP_IF_ELSE_ZERO: "{0} != 0.0 ? {1} : 0.0",
    **{
        code: f"{name}({{0}})"
        for code, name in {
            ca.OP_SQRT: "sqrt", ca.OP_FABS: "fabs", ca.OP_SIN: "sin", ca.OP_COS: "cos",
            ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan",
            ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil", ca.OP_EXP: "exp", ca.OP_LOG: "log",
        }.items()
    },
    **{
        code: f"{name}({{0}}, {{1}})"
        for code, name in {
            ca.OP_ATAN2: "atan2", ca.OP_COPYSIGN: "copysign", ca.OP_FMIN: "fmin",
            ca.OP_FMAX: "fmax", ca.OP_FMOD: "fmod", ca.OP_HYPOT: "hypot", ca.OP_POW: "pow",
            ca.OP_CONSTPOW: "pow",
        }.items()
    },
}  # fmt: skip


def statements(function: ca.Function, inputs: list[str], outputs: list[str]) -> str:
    """The body of a C function that computes all results.

    Parameters
    ----------
    function : of scalars (SX), without calls.
    inputs, outputs : C names of the arrays; an element is read or written by its place among
        the nonzeros. Results are written while inputs are still read: arrays must not overlap.
    """
    lines: list[str] = []
    used: set[int] = set()
    declared: set[int] = set()
    held: dict[int, str] = {}
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        reads, writes = function.instruction_input(k), function.instruction_output(k)
        if code == ca.OP_OUTPUT:
            array, element = writes
            lines.append(f"{outputs[array]}[{element}] = {held[reads[0]]};")
            continue
        (slot,) = writes
        if code == ca.OP_CONST:
            text = number(function.instruction_constant(k))
            held[slot] = f"({text})" if text.startswith("-") else text
            continue
        if code == ca.OP_INPUT:
            array, element = reads
            used.add(array)
            value = f"{inputs[array]}[{element}]"
        else:
            value = OPERATIONS[code].format(*(held[i] for i in reads))
        held[slot] = f"a{slot}"
        lines.append(f"{'' if slot in declared else 'double '}a{slot} = {value};")
        declared.add(slot)
    unused = [f"(void){name};" for k, name in enumerate(inputs) if k not in used]
    return "".join(f"  {line}\n" for line in [*unused, *lines])


SPECIAL = {"inf": "(double)INFINITY", "-inf": "-(double)INFINITY", "nan": "(double)NAN"}


def number(value: float) -> str:
    """A number as C writes it, all digits kept."""
    text = repr(float(value))
    return SPECIAL.get(text, text)
