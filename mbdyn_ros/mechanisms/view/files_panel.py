"""Files on a mechanism's page: another kind, a drawing, a motion or a torque."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...names import in_markdown
from ...view.page.page import Page
from .. import Mechanism
from ..crank_motion import from_table
from ..forward import law_from_table
from ..registry import DRAWING_ENDS, MECHANISMS, kind_of
from .design_sliders import DriveSliders


class FilesPanel:
    """The folder in which kinds and files are chosen; what is refused is said in a notification.

    Parameters
    ----------
    driving : takes motions and torques. show : shows another mechanism on the page.
    draw : lets a linkage be drawn, from nothing or, where its argument is true, from this one.
    """

    def __init__(
        self, page: Page, mechanism: Mechanism, driving: DriveSliders,
        show: Callable[[Mechanism], None], draw: Callable[[bool], None],
    ) -> None:  # fmt: skip
        self._page = page
        inputs = mechanism.inputs
        columns = ", ".join(f"QUANTITY/{name}" for name in inputs)
        kinds = tuple(dict.fromkeys((mechanism.name, *MECHANISMS)))
        with page.gui.add_folder("Files", expand_by_default=False):
            kind: Any = page.gui.add_dropdown("mechanism", kinds, initial_value=mechanism.name)
            kind.on_update(partial(self._try, lambda: show(kind_of(str(kind.value))())))
            for label, start in (("Draw a linkage", False), ("Drag the points of this one", True)):
                page.gui.add_button(label).on_click(partial(self._try, partial(draw, start)))
            self._add(
                "Open a drawing", ",".join(DRAWING_ENDS), "YAML: points, links, ground, inputs",
                lambda path: show(kind_of(str(path))()),
            )  # fmt: skip
            self._add(
                "Motion", ".csv,.json", f"time, {columns.replace('QUANTITY', 'position')}",
                lambda path: driving.take_motion(from_table(path, inputs)),
            )  # fmt: skip
            self._add(
                "Torque", ".csv,.json", f"time, {columns.replace('QUANTITY', 'effort')}",
                lambda path: driving.take_torque(*law_from_table(path, inputs)),
            )  # fmt: skip

    def _add(self, label: str, ends: str, hint: str, take: Callable[[Path], None]) -> None:
        """A button that takes a file."""
        button: Any = self._page.gui.add_upload_button(label, mime_type=ends, hint=hint)

        def taken(event: Any) -> None:
            with tempfile.TemporaryDirectory(prefix="mbdyn_ros-") as folder:
                path = Path(folder) / Path(button.value.name).name
                path.write_bytes(button.value.content)
                self._try(partial(take, path), event, f"{folder}/")

        button.on_upload(taken)

    def _try(self, action: Callable[[], None], event: Any, folder: str = "") -> None:
        """Do what a browser asks for, which does not know the folder of a file that it sent."""
        if event.client is None:
            return
        try:
            action()
        except InputError as error:
            words = in_markdown(str(error).replace(folder, "") if folder else str(error))
            event.client.add_notification("Refused", words, color="red")
            return
        self._page.changed(event)
