"""A picture of the scene of a page, by a browser without a window."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError

if TYPE_CHECKING:
    import viser

    from .page import Page

WINDOWLESS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names of browsers that run without a window."""

NO_SCREEN = (
    "--headless=new", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--hide-scrollbars", "--disable-gpu-compositing",
)  # fmt: skip
"""WebGL without a graphics card, and no more of OpenGL than that: it draws slowly there."""

SOON_ENOUGH = 60.0
"""Seconds in which a browser must have come and drawn."""

MOST_PIXELS = 4096
"""Pixels of a side."""

WHITE = 255


def save_screenshot(page: Page, path: str | os.PathLike[str], size: tuple[int, int]) -> None:
    """Write the scene of a page as PNG.

    Parameters
    ----------
    size : width and height, pixels.

    Raises
    ------
    InputError
        No browser is on the PATH, it does not draw, or the file cannot be written.
    """
    import imageio.v3 as images

    width, height = size
    if not (0 < width <= MOST_PIXELS and 0 < height <= MOST_PIXELS):
        raise InputError(f"--size {width} {height}: sides have 1 to {MOST_PIXELS} pixels")
    with _browser(page.url, size):
        pixels = _drawn(_first_client(page.server), size)
    try:
        images.imwrite(Path(path), pixels, extension=".png")
    except OSError as error:
        raise InputError(f"{path}: the picture cannot be written: {error.strerror}") from None


def find_browser() -> str:
    """The command of a browser that runs without a window."""
    for name in WINDOWLESS:
        if found := shutil.which(name):
            return found
    raise InputError(
        f"a screenshot needs a browser, and none of {', '.join(WINDOWLESS)} is on the PATH: "
        "sudo apt install chromium"
    )


@contextlib.contextmanager
def _browser(url: str, size: tuple[int, int]) -> Iterator[None]:
    """A browser that shows a page meanwhile."""
    with tempfile.TemporaryDirectory(prefix="mbdyn_browser_") as profile:
        command = [
            find_browser(), *NO_SCREEN, f"--user-data-dir={profile}",
            f"--window-size={size[0]},{size[1]}", url,
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # it does not start as root with it
        quiet: Any = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:
            try:
                yield
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def _first_client(server: viser.ViserServer) -> Any:
    end = time.monotonic() + SOON_ENOUGH
    while time.monotonic() < end:
        clients = server.get_clients()
        if clients:
            return next(iter(clients.values()))
        time.sleep(0.05)
    raise InputError(f"the browser {find_browser()} did not open the page in {SOON_ENOUGH:g} s")


def _drawn(client: Any, size: tuple[int, int]) -> Any:
    """The scene as pixels (height, width, 3), once it is drawn twice alike: meshes come late."""
    end = time.monotonic() + SOON_ENOUGH
    before: Any = None
    while time.monotonic() < end:
        try:
            drawn = client.get_render(
                size[1], size[0], transport_format="png", timeout=end - time.monotonic()
            )
        except (TimeoutError, RuntimeError) as error:
            raise InputError(f"the browser {find_browser()} does not draw: {error}") from None
        if before is not None and np.array_equal(before, drawn) and np.ptp(drawn) > 0:
            return _on_white(drawn)
        before = drawn
        time.sleep(0.3)
    raise InputError(f"the scene did not come to rest in {SOON_ENOUGH:g} s")


def _on_white(drawn: Any) -> Any:
    opacity = drawn[..., 3:] / WHITE
    return (drawn[..., :3] * opacity + WHITE * (1 - opacity)).round().astype(np.uint8)
