"""A Play button, and where the motion that it plays stands."""

from __future__ import annotations

import time

from .page import Page

MARKS = 8.0
"""Times a second that charts, sliders and numbers follow what plays."""


class PagePlayback:
    """A motion that is repeated while the button is down.

    Attributes
    ----------
    share : of its period that has passed, 0 to 1.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.share = self._marked = 0.0
        self._button = page.server.gui.add_button("Play")
        self._button.on_click(self._toggle)

    def advance(self, seconds: float, period: float) -> None:
        """Go on by some seconds of a motion that takes `period` seconds."""
        self.share = (self.share + seconds / period) % 1.0

    def due(self) -> bool:
        """Whether what follows slowly should follow now; then not again for a while."""
        now = time.monotonic()
        if now - self._marked < 1 / MARKS:
            return False
        self._marked = now
        return True

    def _toggle(self, event: object) -> None:
        self._page.playing = not self._page.playing
        self._button.label = "Pause" if self._page.playing else "Play"
        self._page.changed(event)
