"""The equations of the mechanism on its page, at the instant that is shown.

Our LaTeX is set by browsers themselves, as MathML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...errors import InputError
from ...export.document import LATEX, DocumentFormat, Table
from ...names import in_html
from ...view.page.page import Page
from ..cut_open import connections
from ..denoc_equations import denoc_equations
from ..denoc_text import written
from .run import DesignRun

CLOSING = "closing pins"
"""The cut that is taken by default."""

WIDE = ".mantine-Modal-content{flex-basis:min(92vw,1100px)!important}"
"""Tables need more than the width of viser's windows."""

SCROLLED = "overflow:auto;max-height:70vh;font-size:12px;line-height:1.4"


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


HTML = replace(
    LATEX,
    start=lambda title: [f"<h3>{sentence(title)}</h3>"],
    heading=lambda title: [f"<h4>{sentence(title)}</h4>"],
    lines=lambda lines: ["<ul>", *(f"<li>{sentence(one)}</li>" for one in lines), "</ul>"],
    table=table,
    formulas=lambda formulas: [
        formula(one, display=True) for one in LATEX.formulas(formulas)
    ],
    end=(),
)
"""How `denoc_text.written` writes for a browser."""


class EquationsPanel:
    """Where the user chooses a cut, and reads or downloads DeNOC's equations.

    Parameters
    ----------
    run_shown : gives the run on the page, and the place of the present in it.
    send : gives a file to the browser that asked for it: event, name, content.
    """

    def __init__(
        self,
        page: Page,
        run_shown: Callable[[], tuple[DesignRun, int]],
        send: Callable[[Any, str, bytes], None],
    ) -> None:
        self._page, self._run_shown, self._send = page, run_shown, send
        run, _ = run_shown()
        passive = [
            one.name
            for one in connections(run.mechanism.layout())
            if one.second not in run.mechanism.inputs
        ]
        gui = page.gui
        with gui.add_folder("Equations", expand_by_default=False):
            self._cut = gui.add_dropdown("cut", (CLOSING, *passive), initial_value=CLOSING)
            gui.add_button("Show", hint="DeNOC's matrices, here and now").on_click(self._show)
            gui.add_button("LaTeX").on_click(self._download)

    def text(self, form: str | DocumentFormat = HTML) -> str:
        """The equations at the present instant, or why there are none."""
        run, row = self._run_shown()
        motion = run.motion
        cut = [] if self._cut.value == CLOSING else [str(self._cut.value)]
        found = denoc_equations(run.mechanism, motion.q[row], motion.v[row], motion.a[row], cut)
        return written(found, form)

    def _show(self, event: Any) -> None:
        if event.client is None:
            return
        try:
            text = self.text()
        except InputError as error:
            text = f"<p>{in_html(error)}</p>"
        gui = event.client.gui
        modal = gui.add_modal("Equations")
        with modal:
            gui.add_html(f'<style>{WIDE}</style><div style="{SCROLLED}">{text}</div>')
            gui.add_button("Close").on_click(lambda _: modal.close())

    def _download(self, event: Any) -> None:
        run, _ = self._run_shown()
        self._send(event, f"{run.mechanism.name}.tex", self.text("latex").encode())
