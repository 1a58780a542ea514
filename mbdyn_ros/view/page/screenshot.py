"""Pictures of the scene of a page, still or moving, by a browser without a window; and the scene
itself in a file."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, writing
from ...model.model import Array
from .page import PANEL

if TYPE_CHECKING:
    import viser

    from .page import Page

WINDOWLESS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names of browsers that run without a window."""

NO_SCREEN = (
    "--headless=new", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--hide-scrollbars", "--disable-gpu-compositing", "--disable-dev-shm-usage",
)  # fmt: skip
"""WebGL without a graphics card, no more of OpenGL than that, as it draws slowly there, and none of
the shared memory of which containers have little."""

SOON_ENOUGH = 120.0
"""Seconds in which a browser must have come and drawn."""

STANDS_STILL = 0.5, 0.25
"""How long a scene stays as it is until it counts as drawn: seconds, and share of the time that it
took to come, which says how busy the machine is."""

MOST_PIXELS = 4096
"""Pixels of a side."""

WHITE = 255

FRAME_RATE = 20.0
"""Pictures of a second of an animation."""

MOST_FRAMES = 400
"""Of an animation, which holds all of them in memory."""

QUALITY = 60
"""Of a WebP, of 100; it is packed as well as it can be, which takes seconds."""


def save_screenshot(
    page: Page, camera: Callable[[float], tuple[Array, Array]], path: str | os.PathLike[str],
    size: tuple[int, int], duration: float | None = None,
    show: Callable[[float], None] | None = None,
) -> None:  # fmt: skip
    """Write the scene of a page as PNG, or its motion as GIF or WebP.

    Parameters
    ----------
    camera : its position and turn (w, x, y, z), by width over height of the picture.
    size : width and height, pixels.
    duration, show : of an animation, s, and what moves the scene to a share of it, 0 to 1.

    Raises
    ------
    InputError
        No browser is on the PATH, it does not draw, the animation has too many pictures, or the
        file cannot be written.
    """
    import imageio.v3 as images

    width, height = size
    if not (0 < width <= MOST_PIXELS and 0 < height <= MOST_PIXELS):
        raise InputError(f"--size {width} {height}: sides have 1 to {MOST_PIXELS} pixels")
    count = _frames(path, duration)
    seen = camera(width / height)
    with _browser(page.url, size) as process:
        pixels = _drawn(page.server, process, seen, size)
        if show is not None:
            frames = []
            for k in range(count):
                show(k / (count - 1))
                frames.append(_rendered(page.server, seen, size, SOON_ENOUGH))
    file = Path(path)
    with writing(path):
        if show is None:
            images.imwrite(file, pixels, extension=".png")
        else:
            kind = file.suffix.lower()
            packed: dict[str, Any] = {"quality": QUALITY, "method": 6} if kind == ".webp" else {}
            images.imwrite(
                file, np.stack(frames), extension=kind, loop=0, duration=1000 / FRAME_RATE, **packed
            )


def save_scene(
    page: Page, path: str | os.PathLike[str], duration: float | None = None,
    show: Callable[[float], None] | None = None,
) -> None:  # fmt: skip
    """Write the scene of a page, or its motion, as one HTML file that needs no server.

    `duration` and `show` are those of `save_screenshot`.

    Raises
    ------
    InputError
        The animation has too many pictures, or the file cannot be written.
    """
    count, recorder = _frames(path, duration), page.server.get_scene_serializer()
    if show is not None:
        for k in range(count):
            show(k / (count - 1))
            recorder.insert_sleep(1 / FRAME_RATE)
    with writing(path):
        Path(path).write_text(recorder.as_html(), encoding="utf-8")


def _frames(path: str | os.PathLike[str], duration: float | None) -> int:
    """Number of pictures of a motion; none of a scene at rest."""
    count = 0 if duration is None else max(round(duration * FRAME_RATE), 2)
    if count > MOST_FRAMES:
        raise InputError(
            f"{path}: a motion of {duration:g} s has {count} pictures, and an animation at most "
            f"{MOST_FRAMES}, {MOST_FRAMES / FRAME_RATE:g} s; record a shorter one"
        )
    return count


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
def _browser(url: str, size: tuple[int, int]) -> Iterator[subprocess.Popen[bytes]]:
    """A browser that shows a page meanwhile; the panels stand next to a scene of that size."""
    # Its children write into its folder for a while after it has ended.
    with tempfile.TemporaryDirectory(
        prefix="mbdyn_browser_", ignore_cleanup_errors=True
    ) as profile:
        command = [
            find_browser(), *NO_SCREEN, f"--user-data-dir={profile}",
            f"--window-size={size[0] + 2 * PANEL},{size[1]}", url,
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # it does not start as root with it
        quiet: Any = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def _drawn(
    server: viser.ViserServer, process: subprocess.Popen[bytes], camera: tuple[Array, Array],
    size: tuple[int, int],
) -> Any:  # fmt: skip
    """The scene as pixels (height, width, 3), once it stays as it is: meshes come late."""
    browser = find_browser()
    start = time.monotonic()
    end = start + SOON_ENOUGH
    complaint = "it did not open the page"
    before: Any = None
    came = since = start
    while (now := time.monotonic()) < end:
        if process.poll() is not None:
            raise InputError(f"the browser {browser} ended with {process.returncode}")
        # A page whose connection breaks comes back as another client.
        if server.get_clients():
            try:
                drawn = _rendered(server, camera, size, end - now)
            except (TimeoutError, RuntimeError) as error:
                complaint = f"it does not draw: {error}"
            else:
                complaint = "the scene does not come to rest"
                now = time.monotonic()
                if before is None:
                    came = now
                if before is None or not np.array_equal(before, drawn) or np.ptp(drawn) == 0:
                    before, since = drawn, now
                elif now - since >= max(STANDS_STILL[0], STANDS_STILL[1] * (came - start)):
                    return drawn
        time.sleep(0.1)
    raise InputError(f"no picture by the browser {browser} in {SOON_ENOUGH:g} s: {complaint}")


def _rendered(
    server: viser.ViserServer, camera: tuple[Array, Array], size: tuple[int, int], timeout: float
) -> Any:
    """The scene as it is now, on white."""
    client = next(iter(server.get_clients().values()))
    drawn = client.get_render(
        size[1], size[0], position=camera[0], wxyz=camera[1], fov=server.initial_camera.fov,
        transport_format="png", timeout=timeout,
    )  # fmt: skip
    opacity = drawn[..., 3:] / WHITE
    return (drawn[..., :3] * opacity + WHITE * (1 - opacity)).round().astype(np.uint8)
