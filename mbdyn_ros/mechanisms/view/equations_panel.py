"""The equations of the mechanism on its page, at the instant that is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import InputError
from ...export.document import HTML, DocumentFormat
from ...names import in_html
from ...view.page.page import Page
from ..denoc_equations import denoc_equations
from ..denoc_text import written
from .run import DesignRun

CLOSING = "closing pins"
"""The cut that is taken by default."""

WIDE = ".mantine-Modal-content{flex-basis:min(92vw,1100px)!important}"
"""Tables need more than the width of viser's windows."""

SCROLLED = "overflow:auto;max-height:70vh;font-size:12px;line-height:1.4"


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
            for one in run.mechanism.layout().connections
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
