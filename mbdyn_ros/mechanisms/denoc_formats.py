"""How the equations of a mechanism are set: as text, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..export.polynomial import Polynomial
from ..export.polynomial_text import latex_lines, plain_sum
from ..names import in_latex, in_markdown, in_text
from .denoc_equations import Symbol

PREAMBLE = r"""\documentclass[fleqn]{article}
\usepackage[margin=1.5cm,landscape]{geometry}
\usepackage{amsmath,booktabs,graphicx}
\allowdisplaybreaks
\begin{document}"""

GREEK = {"phi": r"\varphi", "w": r"\omega", "xd": r"\dot x"}
"""Letters of symbols in LaTeX, where they are others than in text."""

MATRICES = {"N_l": "N_l", "N_d": "N_d", "N_rate": r"\dot N", "tau_g": r"\tau_g",
            "J_rate": r"\dot J"}  # fmt: skip
"""Names of matrices in LaTeX, where they are others than in text."""

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""A header, and rows."""

@dataclass(frozen=True)
class Format:
    """How a document is written: each function gives lines of it.

    formula : of a left side and a polynomial. name : a symbol. matrix : the name of a matrix.
    """

    start: Callable[[str], list[str]]
    heading: Callable[[str], list[str]]
    lines: Callable[[Sequence[str]], list[str]]
    table: Callable[[Table], list[str]]
    formulas: Callable[[Sequence[tuple[str, str, Polynomial]], Sequence[Symbol]], list[str]]
    symbol: Callable[[Symbol], str]
    matrix: Callable[[str], str]
    equation: int
    end: tuple[str, ...] = ()


# -- text ------------------------------------------------------------------------------------------


def _plain(one: Symbol) -> str:
    return f"{one.letter}_{one.index}" if one.index else one.letter


def plain_names(symbols: Sequence[Symbol]) -> list[tuple[str, str]]:
    """Names of the symbols in formulas as Python reads them."""
    return [
        (f"c_{one.index}", f"s_{one.index}") if one.angle else (_plain(one), _plain(one))
        for one in symbols
    ]


def _plain_formulas(
    elements: Sequence[tuple[str, str, Polynomial]], symbols: Sequence[Symbol]
) -> list[str]:
    names = plain_names(symbols)
    return [f"{left} = {plain_sum(one, names)}" for left, _, one in elements]


def _words(header: Sequence[str]) -> int:
    """How many of the first columns are words; they have no header."""
    return next((k for k, one in enumerate(header) if one), len(header))


def _plain_table(table: Table) -> list[str]:
    header, rows = table
    texts = [[in_text(one) for one in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join(
            one.ljust(width) if k < _words(header) else one.rjust(width)
            for k, (one, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]


TEXT = Format(
    start=lambda title: [in_text(title), ""],
    heading=lambda title: ["", in_text(title)],
    lines=lambda lines: [in_text(one) for one in lines],
    table=_plain_table,
    formulas=_plain_formulas,
    symbol=_plain,
    matrix=str,
    equation=0,
)

# -- Markdown and LaTeX ----------------------------------------------------------------------------


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


def _latex_formulas(
    elements: Sequence[tuple[str, str, Polynomial]], symbols: Sequence[Symbol]
) -> list[str]:
    names = [
        _turn(one) if one.angle else (_letter(one), _letter(one)) for one in symbols
    ]
    found = []
    for _, left, polynomial in elements:
        body = " \\\\\n&\\quad ".join(latex_lines(polynomial, names))
        found.append(f"{left} &= {body or '0'}")
    return found


def _markdown_table(table: Table) -> list[str]:
    header, rows = table
    lines = ["", "| " + " | ".join(header) + " |", "|" + "---|" * _words(header)
             + "---:|" * (len(header) - _words(header))]  # fmt: skip
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]


def _latex_table(table: Table) -> list[str]:
    header, rows = table

    def line(cells: Sequence[str]) -> str:
        return " & ".join(one if "$" in one else in_latex(one) for one in cells) + r" \\"

    columns = "l" * _words(header) + "r" * (len(header) - _words(header))
    return [
        r"\par\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(header), r"\midrule",
        *(line(row) for row in rows), r"\bottomrule", r"\end{tabular}}",
    ]  # fmt: skip


def _latex_items(lines: Sequence[str]) -> list[str]:
    items = (one if "$" in one else in_latex(one) for one in lines)
    return [r"\begin{itemize}", *(rf"\item {one}" for one in items), r"\end{itemize}"]


MARKDOWN = Format(
    start=lambda title: [f"# {in_markdown(title)}", ""],
    heading=lambda title: ["", f"## {title}"],
    lines=lambda lines: [f"- {one if '$' in one else in_markdown(one)}" for one in lines],
    table=_markdown_table,
    formulas=lambda elements, symbols: [
        part
        for one in _latex_formulas(elements, symbols)
        for part in ("", f"$$\n\\begin{{aligned}}\n{one}\n\\end{{aligned}}\n$$")
    ],
    symbol=_set,
    matrix=lambda name: f"${MATRICES.get(name, name)}$",
    equation=1,
)

LATEX = Format(
    start=lambda title: [PREAMBLE, rf"\section*{{{in_latex(title)}}}"],
    heading=lambda title: [rf"\subsection*{{{title}}}"],
    lines=_latex_items,
    table=_latex_table,
    formulas=lambda elements, symbols: [
        f"\\begin{{align*}}\n{one}\n\\end{{align*}}" for one in _latex_formulas(elements, symbols)
    ],
    symbol=_set,
    matrix=lambda name: f"${MATRICES.get(name, name)}$",
    equation=1,
    end=(r"\end{document}",),
)

FORMATS = {"text": TEXT, "markdown": MARKDOWN, "latex": LATEX}
"""How the equations can be written."""
