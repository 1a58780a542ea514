"""The C of every operation on numbers: for one, for a vector of them, and in plain C99."""

from __future__ import annotations

import math

import casadi as ca

from ..block import Lane, Numbers, Operation


def _library(name: str, given: str = "({0})") -> tuple[str, str]:
    """A function left to the C library, number by number; see runtime/elementary.h."""
    return f"each_{name}{{n}}{given}", f"{name}{given}"


def _both(text: str) -> tuple[str, str]:
    return text, text


_FORMS = {
    ca.OP_ASSIGN: _both("{0}"),
    ca.OP_NEG: _both("-{0}"),
    ca.OP_ADD: _both("{0} + {1}"),
    ca.OP_SUB: _both("{0} - {1}"),
    ca.OP_MUL: _both("{0} * {1}"),
    ca.OP_DIV: _both("{0} / {1}"),
    ca.OP_SQ: _both("{0} * {0}"),
    ca.OP_TWICE: _both("2. * {0}"),
    ca.OP_INV: _both("1. / {0}"),
    ca.OP_SQRT: ("root{n}({0})", "sqrt({0})"),
    ca.OP_FABS: ("magnitude{n}({0})", "fabs({0})"),
    ca.OP_SIGN: ("sign{n}({0})", "{0} < 0. ? -1. : ({0} > 0. ? 1. : {0})"),
    ca.OP_NOT: ("truth{n}(is{n}({0} == 0))", "{0} != 0. ? 0. : 1."),
    ca.OP_LT: ("truth{n}(is{n}({0} < {1}))", "{0} < {1} ? 1. : 0."),
    ca.OP_LE: ("truth{n}(is{n}({0} <= {1}))", "{0} <= {1} ? 1. : 0."),
    ca.OP_EQ: ("truth{n}(is{n}({0} == {1}))", "{0} == {1} ? 1. : 0."),
    ca.OP_NE: ("truth{n}(is{n}({0} != {1}))", "{0} != {1} ? 1. : 0."),
    ca.OP_AND: (
        "truth{n}(is{n}({0} != 0) & is{n}({1} != 0))",
        "{0} != 0. && {1} != 0. ? 1. : 0.",
    ),
    ca.OP_OR: (
        "truth{n}(is{n}({0} != 0) | is{n}({1} != 0))",
        "{0} != 0. || {1} != 0. ? 1. : 0.",
    ),
    ca.OP_IF_ELSE_ZERO: ("select{n}(is{n}({0} != 0), {1}, all{n}(0.))", "{0} != 0. ? {1} : 0."),
    ca.OP_FMIN: ("least{n}({0}, {1})", "fmin({0}, {1})"),
    ca.OP_FMAX: ("greatest{n}({0}, {1})", "fmax({0}, {1})"),
    ca.OP_COPYSIGN: ("with_sign{n}({0}, {1})", "copysign({0}, {1})"),
    ca.OP_ATAN2: ("arctangent2{n}({0}, {1})", "atan2({0}, {1})"),
    ca.OP_SIN: ("", "sin({0})"),  # compiled programs take both of an angle at once
    ca.OP_COS: ("", "cos({0})"),
    ca.OP_EXP: _library("exp"),
    ca.OP_LOG: _library("log"),
    ca.OP_TAN: _library("tan"),
    ca.OP_ASIN: _library("asin"),
    ca.OP_ACOS: _library("acos"),
    ca.OP_ATAN: _library("atan"),
    ca.OP_SINH: _library("sinh"),
    ca.OP_COSH: _library("cosh"),
    ca.OP_TANH: _library("tanh"),
    ca.OP_FLOOR: _library("floor"),
    ca.OP_CEIL: _library("ceil"),
    ca.OP_POW: _library("pow", "({0}, {1})"),
    ca.OP_CONSTPOW: _library("pow", "({0}, {1})"),
    ca.OP_FMOD: _library("fmod", "({0}, {1})"),
    ca.OP_HYPOT: _library("hypot", "({0}, {1})"),
    ca.OP_CALL: ("number_at{n}({1}, {2}, {0})", "{1}[(int)fmin(fmax({0}, 0.), {2})]"),
}

OPERATIONS = {
    code: {
        Lane.SINGLE: compiled.replace("{n}", "1"),
        Lane.VECTOR: compiled.replace("{n}", "v"),
        Lane.C99: plain,
    }
    for code, (compiled, plain) in _FORMS.items()
}
"""C by operation and lane; {0} and {1} stand for the operands, of a call for the place, the name of
the numbers, and their last place."""


def operands_of_call(line: Operation) -> list[str]:
    """The operands of a call besides the place: the array and its last place; none of others."""
    return [line.called.name, str(len(line.called.values) - 1)] if line.called else []


def numbers_text(numbers: Numbers) -> str:
    """The C array of numbers that lines take by their places."""
    listed = ",\n".join(map(number, numbers.values))
    return f"static const double {numbers.name}[] = {{\n{listed}}};\n"


def number(value: float) -> str:
    """A constant in C, every digit kept."""
    if math.isfinite(value):
        text = repr(float(value))
    else:
        text = "(double)NAN" if math.isnan(value) else f"{'-' * (value < 0)}(double)INFINITY"
    return f"({text})" if text.startswith("-") else text
