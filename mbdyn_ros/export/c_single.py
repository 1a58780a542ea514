"""Exported C in single precision: `float`, constants with an f, and the functions of float."""

from __future__ import annotations

import math
import re

import numpy as np

from ..compiler.printers.operations import OPERATIONS
from ..compiler.table import Lane

FUNCTIONS = sorted(
    {
        name
        for forms in OPERATIONS.values()
        for name in re.findall(r"[a-z]\w+(?=\()", forms[Lane.C99])
    }
)
"""Functions of math.h that stand in exported C."""

TOKENS = re.compile(
    r"(?P<text>/\*.*?\*/|\"(?:\\.|[^\"\\])*\")"
    rf"|\b(?P<function>{'|'.join(FUNCTIONS)})(?=\()"
    r"|\b(?P<word>double|DBL_MAX)\b"
    r"|(?<![\w.])(?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)",
    re.DOTALL,
)
"""Comments and strings, which stay; calls, types and constants, which do not."""

WORDS = {"double": "float", "DBL_MAX": "FLT_MAX"}


def in_single_precision(code: str) -> str:
    """C of `double` as C of `float`; comments and strings stay.

    Examples
    --------
    >>> in_single_precision("double a0 = 0.04 * sin(q[2]); /* 0.04 m */")
    'float a0 = 0.04f * sinf(q[2]); /* 0.04 m */'
    """
    return TOKENS.sub(_translated, code)


def _translated(token: re.Match[str]) -> str:
    if token["function"]:
        return f"{token['function']}f"
    if token["word"]:
        return WORDS[token["word"]]
    if token["number"]:
        return _constant(float(token["number"]), token["number"])
    return token[0]


def _constant(value: float, text: str) -> str:
    """A constant of float, which is 0 where it is below all that float has."""
    with np.errstate(over="ignore", under="ignore"):
        nearest = float(np.float32(value))
    if math.isinf(nearest):
        return "(float)INFINITY"
    return "0.0f" if nearest == 0 else f"{text}f"
