"""Steps of a computation as numbers to be redone, written as text, Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..export.document import FITTED, LANDSCAPE, LATEX, preamble
from ..names import in_latex, in_markdown

DIGITS = 7
"""Significant digits: one more than an instrument's, so that redone steps agree in six."""

ZERO_IN_PRINT = 1e-14
"""Share of the largest number of a unit in the same steps that is written as 0."""

SYMBOLS = {
    "xd": r"\dot x", "xdd": r"\ddot x", "J_rate": r"\dot J", "J_1_rate": r"\dot J_1",
    "mu": r"\mu", "beta": r"\beta", "beta_0": r"\beta_0", "Vd": r"\dot V",
    "Vd_B": r"\dot V_B", "phi_y": r"\varphi_y", "F*_r": r"F^*_r", "p-": "p^-", "p+": "p^+",
    "theta": r"\theta", "thd-": r"\dot\theta^-", "thd+": r"\dot\theta^+", "alpha": r"\alpha",
}  # fmt: skip
"""Symbols in LaTeX, where they are others than in text."""


@dataclass(frozen=True)
class Quantity:
    """A number, vector or matrix of a step: `equation` is its number in the paper.

    value : (rows, columns). body : whose it is; empty where it is the whole's.
    """

    equation: str
    symbol: str
    meaning: str
    unit: str
    value: Array
    body: str = ""


@dataclass(frozen=True)
class Steps:
    """The steps of one part of it: a module of a machine, an impact."""

    title: str
    quantities: tuple[Quantity, ...]

    def __getitem__(self, symbol: str) -> Array:
        """The value of the first quantity with that symbol."""
        return next(one.value for one in self.quantities if one.symbol == symbol)

    def printed(self, quantity: Quantity) -> list[list[str]]:
        """The elements of one of them as text, by rows.

        0 is what is rounding compared with the largest number that has one of its units: an effort
        may be the small difference of large wrenches.
        """
        units = {*quantity.unit.split(", ")} - {""}
        alike = [one.value for one in self.quantities if units & {*one.unit.split(", ")}]
        largest = max(np.abs(one).max(initial=0.0) for one in (quantity.value, *alike))
        return [
            [f"{one:.{DIGITS}g}" if abs(one) > ZERO_IN_PRINT * largest else "0" for one in row]
            for row in quantity.value.tolist()
        ]


def to_text(steps: Sequence[Steps]) -> str:
    """The steps as lines of text."""
    lines: list[str] = []
    for module in steps:
        lines += [module.title, "=" * len(module.title)]
        for one in module.quantities:
            unit = f", {one.unit}" if one.unit else ""
            head = f"{one.equation:5}{f'{one.symbol} {one.body}'.strip():8} "
            tail = f"{one.meaning}{unit}"
            rows = module.printed(one)
            if one.value.size == 1:
                lines.append(f"{head}= {rows[0][0]:<14} {tail}")
            else:
                lines.append(f"{head}: {tail}")
                if one.value.shape[1] == 1:
                    rows = [[row[0] for row in rows]]
                lines += ["     " + " ".join(f"{text:>13}" for text in row) for row in rows]
        lines.append("")
    return "\n".join(lines)


def to_markdown(steps: Sequence[Steps]) -> str:
    """The steps as Markdown with formulas between dollar signs."""
    lines: list[str] = []
    for module in steps:
        lines += [f"## {in_markdown(module.title)}", ""]
        for one in module.quantities:
            unit = f", {one.unit}" if one.unit else ""
            whose = f"{in_markdown(one.body)}: " if one.body else ""
            lines += [f"- {f'{one.equation} {whose}{one.meaning}{unit}'.strip()}:", ""]
            lines += [f"  $${_formula(one, module.printed(one))}$$", ""]
    return "\n".join(lines)


def to_latex(steps: Sequence[Steps]) -> str:
    """The steps as a document of LaTeX."""
    shapes = [one.value.shape for module in steps for one in module.quantities]
    columns = max(map(max, shapes), default=10)  # of amsmath ten, unless it is asked for more
    lines = [
        preamble(
            LANDSCAPE, ",graphicx", rf"\setcounter{{MaxMatrixCols}}{{{columns}}}",
            r"\setlength{\parindent}{0pt}",
        )
    ]  # fmt: skip
    for module in steps:
        lines.append(rf"\section*{{{in_latex(module.title)}}}")
        for one in module.quantities:
            unit = f", {in_latex(one.unit)}" if one.unit else ""
            whose = f"{in_latex(one.body)}: " if one.body else ""
            formula = _formula(one, module.printed(one))
            lines += [f"{one.equation} {whose}{in_latex(one.meaning)}{unit}:".strip(), ""]
            lines += [rf"{FITTED}{{\qquad$\displaystyle {formula}$}}", "", r"\smallskip"]
    return "\n".join([*lines, *LATEX.end, ""])


WRITERS: dict[str, Callable[[Sequence[Steps]], str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "latex": to_latex,
}
"""The formats in which steps are written."""


def _formula(one: Quantity, rows: list[list[str]]) -> str:
    """A quantity and its printed numbers in LaTeX."""
    name = SYMBOLS.get(one.symbol, one.symbol)
    if one.value.size == 1:
        return f"{name} = {_scientific(rows[0][0])}"
    end = "^T" if one.value.shape[1] == 1 else ""
    rows = rows if not end else [[row[0] for row in rows]]
    body = r" \\ ".join(" & ".join(map(_scientific, row)) for row in rows)
    return rf"{name} = \begin{{bmatrix}} {body} \end{{bmatrix}}{end}"


def _scientific(number: str) -> str:
    """A number in LaTeX."""
    digits, _, exponent = number.partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits
