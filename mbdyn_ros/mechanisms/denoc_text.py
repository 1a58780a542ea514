"""The equations of a mechanism as a document, in text, Markdown or LaTeX.

It has the cut, the symbols, the matrices, lambda and the torque.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..array import Array
from ..export.document import (
    LANDSCAPE,
    LATEX,
    MARKDOWN,
    TEXT,
    DocumentFormat,
    Table,
    latex_start,
)
from ..export.polynomial import Polynomial, equation, plain_sum
from ..names import in_latex
from .denoc_equations import DenocEquations, Matrix, Symbol

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


def written(equations: DenocEquations, form: str | DocumentFormat = "text") -> str:
    """The whole document: cut, symbols, matrices with formulas and numbers, lambda, tau.

    form : "text", "markdown" or "latex", or a format of one's own.
    """
    how = FORMATS[form] if isinstance(form, str) else form
    layout = equations.mechanism.layout()
    lines = how.start(f"{equations.mechanism.title} by DeNOC, cut at {_cut_at(equations)}")
    lines += how.lines([
        *(f"subsystem {_roman(k)}: {', '.join(one)}"
          for k, one in enumerate(equations.subsystems, start=1)),
        *(pair[how.typeset] for pair in EQUATIONS),
        *(f"lambda at {cut.name}: {'force across and moment' if cut.slides else 'force'} of the "
          f"{cut.first} on the {cut.second}" for cut in equations.cuts),
        *(f"lambda at {mesh.name}: moment on the {mesh.driven} about its axle"
          for mesh in layout.meshes),
        *(f"lambda at {cam.name}: {'force along the slide' if cam.arm is None else 'moment'} of "
          f"the {cam.cam} on the {cam.follower}; J has s' of its law"
          for cam in layout.cams),
        *([f"0 here, and left out of the formulas: {', '.join(equations.zeros)}"]
          if equations.zeros else []),
    ])  # fmt: skip
    lines += how.heading("symbols")
    lines += _given(equations, how)
    for name, matrix in equations.matrices.items():
        lines += how.heading(f"{_shown_matrix(how, name)}: {matrix.meaning}")
        if any(element.coefficients for row in matrix.formulas for element in row):
            lines += how.table(_numbers(matrix))
        else:
            size = f"{len(matrix.rows)} x {len(matrix.columns)}"
            lines += how.lines([f"0 in every position, {size}"])
        lines += _formulas(how, _elements(name, matrix), equations.symbols)
    lines += how.heading("inverse dynamics")
    lines += how.lines(list(_solution(equations)))
    determinants = [
        (f"D{k + 1}", f"D_{{{k + 1}}}", one)
        for k in range(len(equations.steps))
        if (one := equations.determinant(k)) is not None
    ]
    lines += _formulas(how, determinants, equations.symbols)
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
    lines += how.heading("forward dynamics: A x = B, (22), (23)")
    lines += how.lines(
        ["A = [I J^T; J 0], x = [thdd; -lambda], B = [tau + tau_g - C thd; -J_rate thd]"]
    )
    A, x, B = equations.bordered
    names = *equations.joints, *(f"-lambda {one}" for one in equations.multiplier_names)
    heads = ("", *(f"A {k}" for k in range(1, len(x) + 1)), "x", "B")
    lines += how.table((heads, _numbered(names, np.column_stack([A, x, B]))))
    return "\n".join([*lines, *how.end]) + "\n"


def _cut_at(equations: DenocEquations) -> str:
    """The joints, meshes and cams that lambda stands for."""
    layout = equations.mechanism.layout()
    kinds = (equations.cuts, layout.meshes, layout.cams)
    return " and ".join(one.name for kind in kinds for one in kind)


SHEET = (
    ("N_l", "the levers from the parent's centre of mass to the body's, each in a block "
     "B = [1 0; -lever x 1  1] (14); 1 on the diagonal"),
    ("N_d", "what a unit of its joint's rate gives a body: [1; e x d] of a turn, [0; e] of a "
     "slide (14)"),
    ("N", "N_l N_d (10)"),
    ("I", "N^T M N (18), with M = diag(I_i, m_i, m_i)"),
    ("C", "N^T M N_rate (18); in the plane N^T W M N is 0"),
    ("tau_g", "N^T [0; 0; -m_i g] (17), and the effort of a spring on a cam's follower"),
    ("J", "the velocity of the second part at the cut less that of the first, by the rates (21); "
     "of a cam -s' by its rate, and 1 by that of its follower"),
)  # fmt: skip
"""Questions of a worksheet, one after the other: a matrix, and how it is found."""

BLANK = "....."


def worksheet(equations: DenocEquations, form: str = "markdown") -> str:
    """Questions that lead through one position, with matrices to fill in; then the answers.

    form : "text", "markdown" or "latex".
    """
    how = FORMATS[form]
    lines = how.start(f"Worksheet: {equations.mechanism.title} by DeNOC, at one position")
    lines += how.heading("given")
    lines += _given(equations, how)
    lines += how.lines([
        f"accelerations of the joints: {_named(equations.joints, equations.thdd)}",
        f"cut at {_cut_at(equations)}; subsystems: "
        + "; ".join(", ".join(one) for one in equations.subsystems),
    ])  # fmt: skip
    answers: list[tuple[str, list[str]]] = []
    for k, (name, task) in enumerate(SHEET, start=1):
        matrix = equations.matrices[name]
        title = f"{k}. {_shown_matrix(how, name)}"
        lines += how.heading(title)
        lines += how.lines([task])
        header, numbers = _numbers(matrix)
        blanks = [(row[0], *("0" if cell == "0" else BLANK for cell in row[1:])) for row in numbers]
        lines += how.table((header, blanks))
        answers.append((title, how.table((header, numbers))))
    lines += how.heading(f"{len(SHEET) + 1}. lambda and tau")
    lines += how.lines([
        *_solution(equations),
        "at last check: A x = B (22) with x = [thdd; -lambda], row by row",
    ])  # fmt: skip
    found = (
        *zip(equations.multiplier_names, equations.multipliers, strict=True),
        *zip(equations.joints, equations.tau, strict=True),
    )
    lines += how.table((("", "value"), [(name, BLANK) for name, _ in found]))
    solved = how.table((("", "value"), [(name, _number(value)) for name, value in found]))
    answers.append(("lambda and tau", solved))
    lines += how.heading("answers")
    for title, table in answers:
        lines += [*how.heading(title), *table]
    return "\n".join([*lines, *how.end]) + "\n"


def _given(equations: DenocEquations, how: DocumentFormat) -> list[str]:
    """The table of the symbols."""
    symbols = equations.symbols
    rows = [(_shown(how, one), one.meaning, _number(one.value), one.unit) for one in symbols]
    return how.table((("", "", "value", ""), rows))


def _named(names: Sequence[str], values: Array) -> str:
    pairs = zip(names, values.tolist(), strict=True)
    return ", ".join(f"{name} {_number(value)}" for name, value in pairs)


def formulas_of(equations: DenocEquations) -> dict[str, Any]:
    """All formulas as Python reads them: of each matrix, row by row; `symbols` names them all."""
    names = plain_names(equations.symbols)
    found: dict[str, Any] = {"symbols": [_plain(one) for one in equations.symbols]}
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
    letter = MATRICES.get(name, name)
    letter = f"({letter})" if "_" in letter else letter
    for i, row in enumerate(matrix.formulas, start=1):
        for j, element in enumerate(row, start=1):
            twice = name in SYMMETRIC and i > j
            if not twice and any(any(monomial) for monomial in element.coefficients):
                yield f"{name}[{i},{j}]", f"{letter}_{{{i},{j}}}", element


def _numbers(matrix: Matrix) -> Table:
    """The values of a matrix, rows and columns numbered and named."""
    header = ("", *(f"{k} {one}" for k, one in enumerate(matrix.columns, start=1)))
    return header, _numbered(matrix.rows, matrix.values)


def _numbered(names: Sequence[str], values: Array) -> list[tuple[str, ...]]:
    """Rows of values, numbered and named."""
    rows = enumerate(zip(names, values.tolist(), strict=True), start=1)
    return [(f"{k} {name}", *map(_number, row)) for k, (name, row) in rows]


def _number(value: float) -> str:
    return f"{value + 0.0:.6g}"


def _roman(k: int) -> str:
    return "I" * k if k < 4 else str(k)


GREEK = {"phi": r"\varphi", "w": r"\omega", "xd": r"\dot x"}
"""Letters of symbols in LaTeX, where they are others than in text."""

MATRICES = {"N_l": "N_l", "N_d": "N_d", "N_rate": r"\dot N", "tau_g": r"\tau_g",
            "J_rate": r"\dot J"}  # fmt: skip
"""Names of matrices in LaTeX, where they are others than in text."""

def _plain(one: Symbol) -> str:
    return f"{one.letter}_{one.index}" if one.index else one.letter


def plain_names(symbols: Sequence[Symbol]) -> list[tuple[str, str]]:
    """Names of the symbols in formulas as Python reads them."""
    return [
        (f"c_{one.index}", f"s_{one.index}") if one.angle else (_plain(one), _plain(one))
        for one in symbols
    ]


def _letter(one: Symbol) -> str:
    letter = GREEK.get(one.letter, one.letter)
    if len(letter) > 1 and not letter.startswith("\\"):
        letter = rf"\text{{{in_latex(letter)}}}"
    return letter + (rf"_{{\text{{{in_latex(one.index)}}}}}" if one.index else "")


def _set(one: Symbol) -> str:
    """A symbol in LaTeX, an angle with what stands for its cosine and sine."""
    if not one.angle:
        return f"${_letter(one)}$"
    cosine, sine = _turn(one)
    angle = _letter(one)
    return rf"${angle}$; ${cosine} = \cos {angle}$, ${sine} = \sin {angle}$"


def _turn(one: Symbol) -> tuple[str, str]:
    index = rf"_{{\text{{{in_latex(one.index)}}}}}"
    return f"c{index}", f"s{index}"


def _shown(how: DocumentFormat, one: Symbol) -> str:
    return _set(one) if how.typeset else _plain(one)


def _shown_matrix(how: DocumentFormat, name: str) -> str:
    return f"${MATRICES.get(name, name)}$" if how.typeset else name


def _formulas(
    how: DocumentFormat, elements: Iterable[tuple[str, str, Polynomial]], symbols: Sequence[Symbol]
) -> list[str]:
    """Equations: a left side in text and in LaTeX, and a polynomial."""
    if not how.typeset:
        names = plain_names(symbols)
        return how.formulas([f"{left} = {plain_sum(one, names)}" for left, _, one in elements])
    names = [_turn(one) if one.angle else (_letter(one), _letter(one)) for one in symbols]
    return how.formulas([equation(left, one, names) for _, left, one in elements])


def _start(title: str) -> list[str]:
    return latex_start(title, LANDSCAPE, ",booktabs,graphicx")


FORMATS = {"text": TEXT, "markdown": MARKDOWN, "latex": replace(LATEX, start=_start)}
"""How the equations can be written."""
