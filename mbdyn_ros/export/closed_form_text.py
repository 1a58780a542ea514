"""A closed form as text, Markdown, LaTeX and SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import InputError
from ..names import in_latex, in_markdown_code, in_text
from .closed_form import ClosedForm, Element, SymbolicNumber
from .document import LATEX, MARKDOWN
from .polynomial import equation, factors, plain_sum

EQUATION = r"P = H(q)\,\ddot q + \dot q^T C(q)\,\dot q + g(q)"

def to_text(form: ClosedForm, digits: int | None = None) -> str:
    """One element a line, as Python reads it; all digits unless a number is given.

    Cosines and sines are named C1, S1, ..., positions of slides q1, ..., elements H11, C123, g1
    (H1_10 where there are ten joints or more).
    """
    lines = [f"# {in_text(form.robot)}: P = H(q) qdd + qd^T C(q) qd + g(q)"]
    lines += [*plain_legend(form)]
    lines += [
        f"# {one.letter}_{one.index} = {one.value:.9g} {one.unit}: {in_text(one.meaning)}"
        for one in form.numbers
    ]
    lines += [f"# {line}" for line in _remarks(form)]
    lines += [f"{name} = {formula}" for name, formula in to_elements(form, digits).items()]
    return "\n".join(lines) + "\n"


def plain_legend(form: ClosedForm) -> Iterator[str]:
    """Meanings of the joints' symbols, as comments."""
    for k, (joint, angle) in enumerate(zip(form.joints, form.angles, strict=True), start=1):
        turn = f"C{k} = cos(q{k}), S{k} = sin(q{k}), " if angle else ""
        yield f"# {turn}q{k}: {in_text(joint)}, {'rad' if angle else 'm'}"


def to_elements(form: ClosedForm, digits: int | None = None) -> dict[str, str]:
    """The formula of every element by its name, as in the text."""
    names = plain_names(form)
    return {
        _name(form, element): plain_sum(element.polynomial, names, digits)
        for element in form.elements
    }


def to_markdown(form: ClosedForm, digits: int | None = None) -> str:
    """Headings, and formulas between double dollars."""
    lines = [*MARKDOWN.start(form.robot), f"$${EQUATION}$$", ""]
    lines += MARKDOWN.lines([*legend(form, in_markdown_code), *_remarks(form)])
    for matrix in "HCg":
        lines += MARKDOWN.heading(matrix)
        elements = [element for element in form.elements if element.matrix == matrix]
        lines += MARKDOWN.formulas(set_formulas(form, elements, digits))
        lines += [part for zeros in zeros_line(elements) for part in ("", zeros)]
    return "\n".join(lines) + "\n"


def to_latex(form: ClosedForm, digits: int | None = None) -> str:
    """A document with amsmath."""
    lines = [*LATEX.start(form.robot), f"\\[{EQUATION}\\]"]
    lines += LATEX.lines([*legend(form, in_latex), *_remarks(form)])
    lines += LATEX.formulas(set_formulas(form, form.elements, digits)) + zeros_line(form.elements)
    return "\n".join([*lines, *LATEX.end]) + "\n"


def to_sympy(form: ClosedForm) -> dict[str, Any]:
    """Every element as a SymPy expression of the symbols q1, q2, ..., by its name in the text.

    Raises
    ------
    InputError
        SymPy is not installed.
    """
    try:
        import sympy
    except ImportError:
        raise InputError("SymPy is not installed: pip install mbdyn_ros[symbolic]") from None
    q = sympy.symbols([f"q{k + 1}" for k in range(len(form.joints))], real=True)
    names = [
        (sympy.cos(one), sympy.sin(one)) if angle else (one, one)
        for one, angle in zip(q, form.angles, strict=True)
    ]
    symbols = [sympy.Symbol(f"{one.letter}_{one.index}", real=True) for one in form.numbers]
    names += [(one, one) for one in symbols]
    found = {}
    for element in form.elements:
        terms = []
        for monomial, value in element.polynomial.coefficients.items():
            term = sympy.Float(value)
            for factor, power in factors(monomial, names):
                term *= factor**power
            terms.append(term)
        found[_name(form, element)] = sympy.Add(*terms)
    return found


FORMATS: dict[str, Callable[[ClosedForm, int | None], str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "latex": to_latex,
}
"""How a closed form can be written."""


def legend(form: ClosedForm, shown: Callable[[str], str]) -> Iterable[str]:
    """Meanings of the symbols, in LaTeX; `shown` sets the name of a joint."""
    for k, (joint, angle) in enumerate(zip(form.joints, form.angles, strict=True), start=1):
        turn = rf"$C_{{{k}}} = \cos q_{{{k}}}$, $S_{{{k}}} = \sin q_{{{k}}}$, " if angle else ""
        name = shown(joint)
        yield f"{turn}$q_{{{k}}}$: {name}, {'rad' if angle else 'm'}"
    for one in form.numbers:
        yield f"${_letter(one)} = {one.value:.6g}$ {shown(one.unit)}: {shown(one.meaning)}"


def _remarks(form: ClosedForm) -> Iterable[str]:
    """Remarks for the reader: units, gravity, symmetry, the count of zeros."""
    gravity = " ".join(f"{x:g}" for x in form.gravity)
    yield f"efforts P in N m and N, gravity {gravity} m/s^2"
    yield "H is symmetric, and C in its last two indices: only one of two equal elements is listed"
    count, zeros = len(form.elements), form.zeros
    yield f"{count} elements, {zeros} of them zero ({zeros / max(count, 1):.1%})"


def _name(form: ClosedForm, element: Element) -> str:
    """An element in the text; with ten joints or more its indices must stand apart."""
    separator = "" if len(form.joints) < 10 else "_"
    return element.matrix + separator.join(map(str, element.indices))


def plain_names(form: ClosedForm) -> list[tuple[str, str]]:
    """Names of all variables as Python reads them."""
    others = [f"{one.letter}_{one.index}" for one in form.numbers]
    return _names(form, "C{0}", "S{0}", "q{0}") + [(one, one) for one in others]


def latex_names(form: ClosedForm) -> list[tuple[str, str]]:
    """Names of all variables in LaTeX."""
    others = [_letter(one) for one in form.numbers]
    return _names(form, "C_{{{0}}}", "S_{{{0}}}", "q_{{{0}}}") + [(one, one) for one in others]


def _letter(one: SymbolicNumber) -> str:
    """A number's symbol in LaTeX: m_{3}, l_{x,4}, I_{xx,5}."""
    letter, axes = one.letter[0], one.letter[1:]
    return f"{letter}_{{{axes + ',' if axes else ''}{one.index}}}"


def _names(form: ClosedForm, *patterns: str) -> list[tuple[str, str]]:
    """Names of the variables, by patterns for cosines, sines and slides that take a number."""
    cosine, sine, slide = patterns
    return [
        (cosine.format(k), sine.format(k)) if angle else (slide.format(k), slide.format(k))
        for k, angle in enumerate(form.angles, start=1)
    ]


def set_formulas(form: ClosedForm, elements: Iterable[Element], digits: int | None) -> list[str]:
    """The formulas of the elements that are not zero, as equations of amsmath."""
    return [
        equation(_symbol(element), element.polynomial, latex_names(form), digits)
        for element in elements
        if element.polynomial.coefficients
    ]


def zeros_line(elements: Iterable[Element]) -> list[str]:
    """A line that names the elements that are zero, where there are any."""
    zeros = [f"${_symbol(one)}$" for one in elements if not one.polynomial.coefficients]
    return [f"Zero: {', '.join(zeros)}."] if zeros else []


def _symbol(element: Element) -> str:
    separator = "," if max(element.indices) > 9 else ""
    return f"{element.matrix}_{{{separator.join(map(str, element.indices))}}}"
