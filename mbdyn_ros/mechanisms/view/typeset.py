"""Equations for a browser: our LaTeX as MathML, which browsers set themselves."""

from __future__ import annotations

from collections.abc import Sequence

from ...names import in_html
from ..denoc_text import LATEX, Format, Table


def formula(latex: str, display: bool = False) -> str:
    """The MathML of a formula in LaTeX, on a line of its own where `display`.

    Examples
    --------
    >>> formula(r"m_{\\text{lower\\_rod}}").partition(">")[2]
    '<mrow><msub><mi>m</mi><mrow><mtext>lower_rod</mtext></mrow></msub></mrow></math>'
    """
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block" if display else "inline")
    return made.replace(r"\_", "_")  # which it leaves in words


def sentence(text: str) -> str:
    """HTML of words, with formulas between dollars."""
    parts = text.split("$")
    if len(parts) % 2 == 0:  # no formula: a name with a dollar
        return in_html(text)
    return "".join(formula(one) if k % 2 else in_html(one) for k, one in enumerate(parts))


def matrix(rows: Sequence[Sequence[str]]) -> str:
    """The LaTeX of a matrix of numbers or formulas."""
    lines = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{bmatrix}} {lines} \end{{bmatrix}}"


def table(content: Table) -> list[str]:
    """A table in HTML."""
    header, rows = content
    lines = ["".join(f"<th>{sentence(one)}</th>" for one in header)]
    lines += ["".join(f"<td>{sentence(one)}</td>" for one in row) for row in rows]
    return ["<table>", *(f"<tr>{one}</tr>" for one in lines), "</table>"]


HTML = Format(
    start=lambda title: [f"<h3>{sentence(title)}</h3>"],
    heading=lambda title: [f"<h4>{sentence(title)}</h4>"],
    lines=lambda lines: ["<ul>", *(f"<li>{sentence(one)}</li>" for one in lines), "</ul>"],
    table=table,
    formulas=lambda elements, symbols: [
        formula(one, display=True) for one in LATEX.formulas(elements, symbols)
    ],
    symbol=LATEX.symbol,
    matrix=LATEX.matrix,
    equation=LATEX.equation,
)
"""How `denoc_text.written` writes for a browser."""
