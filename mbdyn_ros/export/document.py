"""Documents with formulas, in text, Markdown, LaTeX and HTML: headings, lists, tables, equations.

Words with a dollar are formulas already, in LaTeX between dollars, and are written as they stand;
browsers set them as MathML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..names import in_html, in_latex, in_markdown, in_text

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""A header, and rows. The first columns that have no header are words, the others numbers."""

FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
"""LaTeX (graphicx) before a group that is made narrower where it is wider than the page."""

PORTRAIT, LANDSCAPE = "margin=2cm", "margin=1.5cm,landscape"
"""Papers of LaTeX."""


@dataclass(frozen=True)
class DocumentFormat:
    """How a document is written: each function gives lines of it.

    start : with a title. heading, lines, table : of sections, lists and tables. formulas : of
    equations "left &= right" of amsmath, each on lines of its own; of texts as they are. typeset :
    whether formulas are LaTeX. end : last lines.
    """

    start: Callable[[str], list[str]]
    heading: Callable[[str], list[str]]
    lines: Callable[[Sequence[str]], list[str]]
    table: Callable[[Table], list[str]]
    formulas: Callable[[Sequence[str]], list[str]]
    typeset: bool = True
    end: tuple[str, ...] = ()


def word_columns(header: Sequence[str]) -> int:
    """How many of the first columns of a table are words."""
    return next((k for k, one in enumerate(header) if one), len(header))


def preamble(paper: str, packages: str, *settings: str) -> str:
    """The begin of a document of LaTeX. packages : besides amsmath, each after a comma."""
    return "\n".join([
        r"\documentclass[fleqn]{article}", rf"\usepackage[{paper}]{{geometry}}",
        rf"\usepackage{{amsmath{packages}}}", *settings, r"\begin{document}",
    ])  # fmt: skip


def latex_start(title: str, paper: str = PORTRAIT, packages: str = "") -> list[str]:
    """A preamble and a title."""
    begin = preamble(paper, packages, r"\allowdisplaybreaks")
    return [begin, rf"\section*{{{in_latex(title)}}}"]


def _text_table(table: Table) -> list[str]:
    header, rows = table
    texts = [[in_text(one) for one in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join(
            one.ljust(width) if k < word_columns(header) else one.rjust(width)
            for k, (one, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]


def _markdown_table(table: Table) -> list[str]:
    header, rows = table
    words = word_columns(header)
    rule = "|" + "---|" * words + "---:|" * (len(header) - words)
    lines = ["| " + " | ".join(row) + " |" for row in (header, *rows)]
    return ["", lines[0], rule, *lines[1:]]


def _latex_table(table: Table) -> list[str]:
    header, rows = table
    words = word_columns(header)

    def line(cells: Sequence[str]) -> str:
        return " & ".join(_unless_formula(one, in_latex) for one in cells) + r" \\"

    return [
        rf"\par\noindent{FITTED}{{%",
        rf"\begin{{tabular}}{{{'l' * words}{'r' * (len(header) - words)}}}",
        r"\toprule", line(header), r"\midrule", *map(line, rows), r"\bottomrule",
        r"\end{tabular}}",
    ]  # fmt: skip


def _unless_formula(words: str, shown: Callable[[str], str]) -> str:
    return words if "$" in words else shown(words)


def _in_environment(name: str, formula: str) -> str:
    return f"\\begin{{{name}}}\n{formula}\n\\end{{{name}}}"


TEXT = DocumentFormat(
    start=lambda title: [in_text(title), ""],
    heading=lambda title: ["", in_text(title)],
    lines=lambda lines: [in_text(one) for one in lines],
    table=_text_table,
    formulas=list,
    typeset=False,
)

MARKDOWN = DocumentFormat(
    start=lambda title: [f"# {in_markdown(title)}", ""],
    heading=lambda title: ["", f"## {title}"],
    lines=lambda lines: [f"- {_unless_formula(one, in_markdown)}" for one in lines],
    table=_markdown_table,
    formulas=lambda formulas: [
        line for one in formulas for line in ("", f"$$\n{_in_environment('aligned', one)}\n$$")
    ],
)

LATEX = DocumentFormat(
    start=latex_start,
    heading=lambda title: [rf"\subsection*{{{title}}}"],
    lines=lambda lines: [
        r"\begin{itemize}",
        *(rf"\item {_unless_formula(one, in_latex)}" for one in lines),
        r"\end{itemize}",
    ],
    table=_latex_table,
    formulas=lambda formulas: [_in_environment("align*", one) for one in formulas],
    end=(r"\end{document}",),
)


def mathml(latex: str, display: bool = False) -> str:
    """The MathML of a formula in LaTeX, on a line of its own where `display`.

    Examples
    --------
    >>> mathml(r"m_{\\text{lower\\_rod}}").partition(">")[2]
    '<mrow><msub><mi>m</mi><mrow><mtext>lower_rod</mtext></mrow></msub></mrow></math>'
    """
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block" if display else "inline")
    return made.replace(r"\_", "_")  # which it leaves in words


def _html_words(text: str) -> str:
    """HTML of words, with formulas between dollars."""
    parts = text.split("$")
    if len(parts) % 2 == 0:  # no formula: a name with a dollar
        return in_html(text)
    return "".join(mathml(one) if k % 2 else in_html(one) for k, one in enumerate(parts))


def _html_table(content: Table) -> list[str]:
    """A table in HTML."""
    header, rows = content
    lines = ["".join(f"<th>{_html_words(one)}</th>" for one in header)]
    lines += ["".join(f"<td>{_html_words(one)}</td>" for one in row) for row in rows]
    return ["<table>", *(f"<tr>{one}</tr>" for one in lines), "</table>"]


HTML = replace(
    LATEX,
    start=lambda title: [f"<h3>{_html_words(title)}</h3>"],
    heading=lambda title: [f"<h4>{_html_words(title)}</h4>"],
    lines=lambda lines: ["<ul>", *(f"<li>{_html_words(one)}</li>" for one in lines), "</ul>"],
    table=_html_table,
    formulas=lambda formulas: [
        mathml(one, display=True) for one in LATEX.formulas(formulas)
    ],
    end=(),
)
