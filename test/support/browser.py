"""A real headless Chromium before our pages; tests skip, with the reason, where there is none."""

from __future__ import annotations

import contextlib
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mbdyn_ros.view.page.page import Page
from mbdyn_ros.view.page.screenshot import WINDOWLESS

CHROMIUM = next(filter(None, map(shutil.which, WINDOWLESS)), None)
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
"""WebGL without a graphics card."""

FLAT = "--disable-gpu-compositing"
"""All but WebGL is drawn without OpenGL: the processor does that in a third of the time."""

TRACK = "contains(@class, 'mantine-Slider-trackContainer')"

BENIGN = ("THREE.Clock",)
"""Warnings of viser's own libraries, not errors."""


def require_chromium() -> None:
    """Skip the test where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH: sudo apt install chromium")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Chromium, by Playwright; skips the test where it is missing."""
    require_chromium()
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, FLAT, "--no-sandbox"]
        )
        try:
            yield chromium
        finally:
            chromium.close()


class Tab:
    """A tab that shows a page, and what its console said.

    `shows`: what is there once it is drawn.
    `errors`: console errors, and exceptions of its scripts.
    """

    def __init__(
        self, chromium: Any, url: str, width: int = 1000, shows: str = ".uplot canvas"
    ) -> None:
        self.errors: list[str] = []
        self.tab = chromium.new_page(viewport={"width": width, "height": 600})
        self.tab.set_default_timeout(120e3)  # ms: drawn without a graphics card, under load
        self.tab.on("console", self._listen)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.goto(url)
        self.tab.wait_for_selector(shows, state="attached")

    def _listen(self, message: Any) -> None:
        if message.type == "error" and not any(word in message.text for word in BENIGN):
            self.errors.append(message.text)

    def curve(self, chart: int = 0, line: int = 1) -> list[float]:
        """The numbers of a line of a chart, counted from 1, as it is drawn."""
        charts = "Object.values(window.__viserTestpoints.uplots)"
        drawn: list[float] = self.tab.evaluate(f"Array.from({charts}[{chart}].chart.data[{line}])")
        return drawn

    def ends(self) -> list[float]:
        """The largest x that every chart shows."""
        largest: list[float] = self.tab.evaluate(
            "() => Object.values(window.__viserTestpoints.uplots).map(({chart}) =>"
            " chart.scales.x.max)"
        )
        return largest

    def lacks(self) -> list[str]:
        """What charts have no numbers at their axes: nothing of them would be seen."""
        missing: list[str] = self.tab.evaluate(
            """() => Object.values(window.__viserTestpoints.uplots).flatMap(({chart}) =>
            ["x", "y"].filter(axis => !Number.isFinite(chart.scales[axis].max))
            .map(axis => axis + " of " + chart.axes[1].label))"""
        )
        return missing

    def scene(self) -> bytes:
        """The picture between the panels."""
        clip = {"x": 360, "y": 200, "width": 280, "height": 300}
        return bytes(self.tab.screenshot(clip=clip))

    def text(self) -> str:
        """All words on the page."""
        return str(self.tab.evaluate("document.body.innerText"))

    def typeset(self) -> int:
        """The number of formulas on the page."""
        return int(self.tab.evaluate("document.querySelectorAll('math').length"))

    def field(self, label: str) -> Any:
        """The control of a label: a field for text, a checkbox."""
        name = self.tab.locator("label", has_text=re.compile(f"^{re.escape(label)}$"))
        return name.locator("xpath=following::input[1]")

    def pixel(self, camera: Any, at: complex) -> tuple[float, float]:
        """Where a point x + i y of the upright plane is seen, in the window."""
        box = self.tab.locator("canvas[data-engine]").bounding_box()
        self.until(
            lambda: abs(camera.aspect - box["width"] / box["height"]) < 0.01, "the camera", 60
        )
        eye = np.array(camera.position)
        forwards = (camera.look_at - eye) / np.linalg.norm(camera.look_at - eye)
        right = np.cross(forwards, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        seen = np.array([at.real, 0.0, at.imag]) - eye
        far = np.tan(camera.fov / 2) * (seen @ forwards)
        across, up = seen @ right / far / camera.aspect, seen @ np.cross(right, forwards) / far
        x, y = box["width"] * (1 + across) / 2, box["height"] * (1 - up) / 2
        return float(box["x"] + x), float(box["y"] + y)

    def drag(self, label: str, share: float) -> None:
        """Put a slider at a share of its range."""
        self.tab.mouse.click(*self.place(label, share))

    def place(self, label: str, share: float) -> tuple[float, float]:
        """Position in the window of a slider at a share of its range."""
        name = self.tab.locator("label", has_text=re.compile(f"^{re.escape(label)}$"))
        track = name.locator(f"xpath=ancestor::*[.//*[{TRACK}]][1]//*[{TRACK}]")
        track.scroll_into_view_if_needed()
        box = track.bounding_box()
        return box["x"] + share * box["width"], box["y"] + box["height"] / 2

    def until(self, changed: Callable[[], bool], what: str, seconds: float = 8.0) -> None:
        """Wait until something is so."""
        for _ in range(int(seconds / 0.05)):
            if changed():
                return
            self.tab.wait_for_timeout(50)
        raise AssertionError(f"{what} within {seconds:g} s")


def running(shown: Any) -> contextlib.AbstractContextManager[None]:
    """A page that is served meanwhile, the same to all browsers."""
    return served(shown.page, lambda: shown.page.run(shown.draw))


@contextlib.contextmanager
def served(page: Page, run: Callable[[], None]) -> Iterator[None]:
    """A page that is served meanwhile; `run` ends when the page does."""
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        page.end()
        thread.join(10)
        page.close()
    assert not thread.is_alive()
