"""A closed form as text, Markdown, LaTeX and SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import InputError
from ..names import in_latex, in_markdown, in_markdown_code, in_text
from .closed_form import ClosedForm, Element
from .polynomial import Monomial, Polynomial

LINE = 64
"""Width of a line of a formula on paper, roughly in digits."""

EQUATION = r"P = H(q)\,\ddot q + \dot q^T C(q)\,\dot q + g(q)"

PREAMBLE = r"""\documentclass[fleqn]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
\begin{document}
"""


def to_text(form: ClosedForm, digits: int | None = None) -> str:
    """One element a line, as Python reads it; all digits of the numbers unless so many are given.

    Cosines and sines are named C1, S1, ..., positions of slides q1, ..., elements H11, C123, g1
    (H1_10 where there are ten joints or more).
    """
    lines = [f"# {in_text(form.robot)}: P = H(q) qdd + qd^T C(q) qd + g(q)"]
    for k, (joint, angle) in enumerate(zip(form.joints, form.angles, strict=True), start=1):
        turn = f"C{k} = cos(q{k}), S{k} = sin(q{k}), " if angle else ""
        lines.append(f"# {turn}q{k}: {in_text(joint)}, {'rad' if angle else 'm'}")
    lines += [f"# {line}" for line in _remarks(form)]
    lines += [f"{name} = {formula}" for name, formula in to_elements(form, digits).items()]
    return "\n".join(lines) + "\n"


def to_elements(form: ClosedForm, digits: int | None = None) -> dict[str, str]:
    """The formula of every element by its name, as in the text."""
    return {
        _name(form, element): _sum(
            [
                _plain_term(form, value, monomial, digits)
                for monomial, value in element.polynomial.coefficients.items()
            ]
        )
        for element in form.elements
    }


def to_markdown(form: ClosedForm, digits: int | None = None) -> str:
    """Headings, and formulas between double dollars."""
    lines = [f"# {in_markdown(form.robot)}", "", f"$${EQUATION}$$", ""]
    lines += [f"- {line}" for line in (*_legend(form, in_markdown_code), *_remarks(form))]
    for matrix in "HCg":
        lines += ["", f"## {matrix}"]
        elements = [element for element in form.elements if element.matrix == matrix]
        for formula in _formulas(form, elements, "aligned", digits):
            lines += ["", f"$$\n{formula}\n$$"]
        lines += [part for zeros in _zeros(elements) for part in ("", zeros)]
    return "\n".join(lines) + "\n"


def to_latex(form: ClosedForm, digits: int | None = None) -> str:
    """A document with amsmath."""
    lines = [f"{PREAMBLE}\\section*{{{in_latex(form.robot)}}}", f"\\[{EQUATION}\\]"]
    remarks = (*_legend(form, in_latex), *(in_latex(line) for line in _remarks(form)))
    lines += ["\\begin{itemize}", *(f"\\item {line}" for line in remarks), "\\end{itemize}"]
    lines += [*_formulas(form, form.elements, "align*", digits), *_zeros(form.elements)]
    return "\n".join([*lines, "\\end{document}"]) + "\n"


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
    functions = {"C": sympy.cos, "S": sympy.sin, "q": lambda symbol: symbol}
    found = {}
    for element in form.elements:
        terms = []
        for monomial, value in element.polynomial.coefficients.items():
            term = sympy.Float(value)
            for letter, k, power in _factors(form, monomial):
                term *= functions[letter](q[k - 1]) ** power
            terms.append(term)
        found[_name(form, element)] = sympy.Add(*terms)
    return found


FORMATS: dict[str, Callable[[ClosedForm, int | None], str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "latex": to_latex,
}
"""How a closed form can be written."""


def _legend(form: ClosedForm, shown: Callable[[str], str]) -> Iterable[str]:
    """Meanings of the symbols, in LaTeX; `shown` sets the name of a joint."""
    for k, (joint, angle) in enumerate(zip(form.joints, form.angles, strict=True), start=1):
        turn = rf"$C_{{{k}}} = \cos q_{{{k}}}$, $S_{{{k}}} = \sin q_{{{k}}}$, " if angle else ""
        name = shown(joint)
        yield f"{turn}$q_{{{k}}}$: {name}, {'rad' if angle else 'm'}"


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


def _number(value: float, digits: int | None) -> str:
    return repr(value) if digits is None else f"{value:.{digits}g}"


def _sum(terms: list[str]) -> str:
    """Terms with their signs, one behind the other."""
    joined = " ".join(
        (f"- {term[1:]}" if term.startswith("-") else f"+ {term}") if k else term
        for k, term in enumerate(terms)
    )
    return joined or "0"


def _factors(form: ClosedForm, monomial: Monomial) -> Iterator[tuple[str, int, int]]:
    """The factors of a term: C, S or q, the number of its joint from 1, and the power."""
    for k, (angle, code) in enumerate(zip(form.angles, monomial, strict=True), start=1):
        power, sine = divmod(code, 2)
        if power:
            yield "C" if angle else "q", k, power
        if sine:
            yield "S", k, 1


def _plain_term(form: ClosedForm, value: float, monomial: Monomial, digits: int | None) -> str:
    factors = [_number(value, digits)]
    for letter, k, power in _factors(form, monomial):
        factors.append(f"{letter}{k}" + (f"**{power}" if power > 1 else ""))
    return "*".join(factors)


def _formulas(
    form: ClosedForm, elements: Iterable[Element], environment: str, digits: int | None
) -> Iterator[str]:
    """The formulas of the elements that are not zero, each in an environment of amsmath."""
    for element in elements:
        if element.polynomial.coefficients:
            body = " \\\\\n&\\quad ".join(_lines(form, element.polynomial, digits))
            formula = f"{_symbol(element)} &= {body}"
            yield f"\\begin{{{environment}}}\n{formula}\n\\end{{{environment}}}"


def _zeros(elements: Iterable[Element]) -> list[str]:
    """A line that names the elements that are zero, where there are any."""
    zeros = [f"${_symbol(one)}$" for one in elements if not one.polynomial.coefficients]
    return [f"Zero: {', '.join(zeros)}."] if zeros else []


def _lines(form: ClosedForm, polynomial: Polynomial, digits: int | None) -> list[str]:
    """The terms of a formula in LaTeX, as many in a line as it holds."""
    lines: list[str] = []
    width = LINE
    for monomial, value in polynomial.coefficients.items():
        term = _set_term(form, value, monomial, digits)
        wide = len(_number(value, digits)) + 2 * len(list(_factors(form, monomial)))
        if lines and not term.startswith("-"):
            term = f"+{term}"
        if width + wide > LINE:
            lines.append(term)
            width = wide
        else:
            lines[-1] += f" {term}"
            width += wide
    return lines


def _set_term(form: ClosedForm, value: float, monomial: Monomial, digits: int | None) -> str:
    mantissa, _, exponent = _number(value, digits).partition("e")
    factors = [mantissa + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")]
    for letter, k, power in _factors(form, monomial):
        factors.append(f"{letter}_{{{k}}}" + (f"^{{{power}}}" if power > 1 else ""))
    return r"\,".join(factors)


def _symbol(element: Element) -> str:
    separator = "," if max(element.indices) > 9 else ""
    return f"{element.matrix}_{{{separator.join(map(str, element.indices))}}}"
