"""The equations of a mechanism as a document: cut, symbols, matrices, lambda and torque."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..export.polynomial import Polynomial
from ..export.polynomial_text import plain_sum
from .denoc_equations import DenocEquations, Matrix
from .denoc_formats import FORMATS, MATRICES, TEXT, Table, plain_names

SYMMETRIC = ("M", "I")
"""Symmetric matrices, of whose elements one of two is written."""

EQUATIONS = (
    ("N = N_l N_d, I = N^T M N, C = N^T (M N_rate + W M N)",
     r"$N = N_l N_d$, $I = N^T M N$, $C = N^T (M \dot N + W M N)$"),
    ("I thdd + C thd = tau + tau_g + J^T lambda",
     r"$I\,\ddot\theta + C\,\dot\theta = \tau + \tau_g + J^T\lambda$"),
    ("J thdd + J_rate thd = 0", r"$J\,\ddot\theta + \dot J\,\dot\theta = 0$"),
)  # fmt: skip
"""The equations that tie the matrices together, in text and in LaTeX."""


def written(equations: DenocEquations, form: str = "text") -> str:
    """The whole document: cut, symbols, matrices with formulas and numbers, lambda, tau.

    form : "text", "markdown" or "latex".
    """
    how = FORMATS[form]
    meshes = equations.mechanism.layout().meshes
    cut_at = [*(cut.name for cut in equations.cuts), *(mesh.name for mesh in meshes)]
    cuts = " and ".join(cut_at)
    lines = how.start(f"{equations.mechanism.title} by DeNOC, cut at {cuts}")
    lines += how.lines([
        *(f"subsystem {_roman(k)}: {', '.join(one)}"
          for k, one in enumerate(equations.subsystems, start=1)),
        *(pair[how.equation] for pair in EQUATIONS),
        *(f"lambda at {cut.name}: {'force across and moment' if cut.slides else 'force'} of the "
          f"{cut.first} on the {cut.second}" for cut in equations.cuts),
        *(f"lambda at {mesh.name}: moment on the {mesh.driven} about its axle" for mesh in meshes),
        *([f"0 here, and left out of the formulas: {', '.join(equations.zeros)}"]
          if equations.zeros else []),
    ])  # fmt: skip
    rows = [
        (how.symbol(one), one.meaning, _number(one.value), one.unit) for one in equations.symbols
    ]
    lines += how.heading("symbols")
    lines += how.table((("", "", "value", ""), rows))
    for name, matrix in equations.matrices.items():
        lines += how.heading(f"{how.matrix(name)}: {matrix.meaning}")
        if any(element.coefficients for row in matrix.formulas for element in row):
            lines += how.table(_numbers(matrix))
        else:
            size = f"{len(matrix.rows)} x {len(matrix.columns)}"
            lines += how.lines([f"0 in every position, {size}"])
        lines += how.formulas(list(_elements(name, matrix)), equations.symbols)
    lines += how.heading("inverse dynamics")
    lines += how.lines(list(_solution(equations)))
    determinants = [
        (f"D{k + 1}", f"D_{{{k + 1}}}", one)
        for k in range(len(equations.steps))
        if (one := equations.determinant(k)) is not None
    ]
    lines += how.formulas(determinants, equations.symbols)
    borne = equations.matrices["J"].values.T @ equations.multipliers
    columns = equations.thd, equations.thdd, equations.right_side, borne, equations.tau
    header = ("", "thd", "thdd", "I thdd + C thd - tau_g", "J^T lambda", "tau")
    rows = [
        (name, *map(_number, values))
        for name, *values in zip(equations.joints, *columns, strict=True)
    ]
    lines += how.table((header, rows))
    multipliers = zip(equations.multiplier_names, equations.multipliers, strict=True)
    results = [(f"lambda {name}", _number(value)) for name, value in multipliers]
    lines += how.table((("", "value"), results))
    return "\n".join([*lines, *how.end]) + "\n"


def formulas_of(equations: DenocEquations) -> dict[str, Any]:
    """All formulas as Python reads them: of each matrix, row by row; `symbols` names them all."""
    names = plain_names(equations.symbols)
    found: dict[str, Any] = {"symbols": [TEXT.symbol(one) for one in equations.symbols]}
    for name, matrix in equations.matrices.items():
        found[name] = [[plain_sum(one, names) for one in row] for row in matrix.formulas]
    return found


def _solution(equations: DenocEquations) -> Iterator[str]:
    """How lambda and tau are found, one step after the other."""
    for k, (passive, unknown) in enumerate(equations.steps, start=1):
        joints = ", ".join(equations.joints[row] for row in passive)
        found = ", ".join(equations.multiplier_names[row] for row in unknown)
        yield (
            f"step {k}: no effort acts in {joints}, so J^T lambda = I thdd + C thd - tau_g in "
            f"these rows gives lambda of {found}"
            + (f"; the determinant of J^T there is D{k}" if len(passive) <= 2 else "")
        )
    yield "then tau = I thdd + C thd - tau_g - J^T lambda in the rows of the driven joints"


def _elements(name: str, matrix: Matrix) -> Iterator[tuple[str, str, Polynomial]]:
    """The elements with a formula: not those that are 0 or 1 in every position, and one of two
    that are equal by symmetry."""
    for i, row in enumerate(matrix.formulas, start=1):
        for j, element in enumerate(row, start=1):
            twice = name in SYMMETRIC and i > j
            if not twice and any(any(monomial) for monomial in element.coefficients):
                letter = MATRICES.get(name, name)
                if "_" in letter:
                    latex = rf"({letter})_{{{i},{j}}}"
                else:
                    latex = rf"{letter}_{{{i},{j}}}"
                yield f"{name}[{i},{j}]", latex, element


def _numbers(matrix: Matrix) -> Table:
    """The values of a matrix, rows and columns numbered and named."""
    header = ("", *(f"{k} {one}" for k, one in enumerate(matrix.columns, start=1)))
    rows = [
        (f"{k} {name}", *map(_number, values))
        for k, (name, values) in enumerate(
            zip(matrix.rows, matrix.values.tolist(), strict=True), start=1
        )
    ]
    return header, rows


def _number(value: float) -> str:
    return f"{value + 0.0:.6g}"


def _roman(k: int) -> str:
    return "I" * k if k < 4 else str(k)
