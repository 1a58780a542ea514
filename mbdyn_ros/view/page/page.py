"""A page in the browser: a 3-D scene and a panel beside it, served from this process by viser.

Whoever draws does so in one thread, which waits in `Page.run`: what the browser sends only wakes
it, so that a slider that is dragged is followed as fast as drawing goes, and never faster.
"""

from __future__ import annotations

import contextlib
import errno
import io
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ..scene.scene import Scene
from .origin import own_pages_only
from .style import add_style

if TYPE_CHECKING:
    import viser

LOCALHOST = "127.0.0.1"
PORT = 8080
FRAMES = 30.0
"""Pictures per second while something plays."""

AMBIENT = 2.0
"""Light from everywhere, so that no side is black."""

PANEL = 350
"""Width of the panels beside the scene, pixels."""

NARROW = 0.75
"""Width over height of a scene between panels, up to which all of it is seen."""

SHEET = 0.5
"""Share of a narrow window that the controls cover."""

NEEDED = ("viser", "plotly")


@dataclass(frozen=True)
class Address:
    """The address of a page; port 0 takes any free one."""

    host: str = LOCALHOST
    port: int = PORT


class Page:
    """A page that others fill: words and controls on the right, a scene, charts on the left.

    Parameters
    ----------
    title : shown above the panel.

    Attributes
    ----------
    server : of viser; its `gui` is filled by others. scene : so is this.
    playing : whether time goes on.
    words : the Markdown above all controls.

    Raises
    ------
    InputError
        What serves pages is not installed, or the port is taken.
    """

    def __init__(self, title: str, address: Address) -> None:
        require_page()
        import viser

        port = _free_port(address)
        with _silence(), own_pages_only(address.host):
            self.server: viser.ViserServer = viser.ViserServer(
                address.host, port, label=title, verbose=False
            )
        if self.server.get_port() != port:  # somebody was faster
            self.close()
            raise _taken(address)
        self.playing = False
        self._wake, self._ended = threading.Event(), threading.Event()
        self.server.gui.configure_theme(
            control_width="large", show_logo=False, show_share_button=False,
            brand_color=(31, 87, 140),
        )  # fmt: skip
        self.server.gui.main_panel.dock_right()
        self.server.gui.main_panel.set_width(PANEL)
        space = self.server.scene
        space.configure_default_lights(cast_shadow=False)
        space.configure_environment_map(hdri=None)  # seconds of work without a graphics card
        space.add_light_ambient("/daylight", intensity=AMBIENT)
        self.scene = Scene(self.server)
        add_style(self.server.gui)
        self.server.on_client_connect(self._fit_narrow)
        self.words = self.server.gui.add_markdown("")

    @property
    def url(self) -> str:
        """The address to open in the browser."""
        host = self.server.get_host()
        name = "localhost" if host in (LOCALHOST, "0.0.0.0") else host
        return f"http://{name}:{self.server.get_port()}"

    def say(self, *paragraphs: str) -> None:
        """Let the words above all controls be these paragraphs of Markdown."""
        content = "\n\n".join(paragraphs)
        if self.words.content != content:
            self.words.content = content

    @contextlib.contextmanager
    def charts(self, title: str) -> Iterator[None]:
        """Put what is added meanwhile into a panel on the left.

        It is docked before it is filled: taken from one place to another, the browser would draw
        its charts twice, and Plotly fails at one that is taken away while it is laid out.
        """
        panel = self.server.gui.add_panel()
        panel.dock_left()
        panel.set_width(PANEL)
        with panel.add_tab(title):
            yield

    def changed(self, event: Any) -> None:
        """Draw soon, unless it was us: the callback of all that changes the picture."""
        if getattr(event, "client_id", None) is not None:
            self._wake.set()

    def run(self, draw: Callable[[float, bool], None]) -> None:
        """Call draw(seconds played since the last call, whether woken) until `end` is called."""
        self._wake.set()
        before = time.monotonic()
        while not self._ended.is_set():
            woken = self._wake.wait(1 / FRAMES if self.playing else None)
            self._wake.clear()
            now = time.monotonic()
            draw(now - before if self.playing else 0.0, woken)
            self.server.flush()
            before = now
            rest = 1 / FRAMES - (time.monotonic() - now)
            if self.playing and not woken and rest > 0:
                self._wake.wait(rest)

    def _fit_narrow(self, client: viser.ClientHandle) -> None:
        start, camera = self.server.initial_camera, client.camera
        look_at, position = np.array(start.look_at), np.array(start.position)
        if camera.aspect < 1:  # a telephone
            aim, eye = narrow_view(look_at, position, start.fov, camera.aspect)
            with client.atomic():
                camera.position, camera.look_at = eye, aim
            return
        fitted = threading.Event()

        def between_panels(now: viser.CameraHandle) -> None:
            """Stand back once the panels beside the scene leave little of it."""
            if now.aspect < NARROW and not fitted.is_set():
                fitted.set()
                with client.atomic():
                    now.position = look_at + (position - look_at) * (NARROW / now.aspect)
                    now.look_at = look_at

        camera.on_update(between_panels)

    def end(self) -> None:
        """Let `run` return."""
        self._ended.set()
        self._wake.set()

    def close(self) -> None:
        """Serve no more."""
        with _silence():
            self.server.stop()


def narrow_view(look_at: Array, position: Array, fov: float, aspect: float) -> tuple[Array, Array]:
    """Where to look from where so that a window higher than wide shows all, above the controls.

    Examples
    --------
    >>> aim, eye = narrow_view(np.zeros(3), np.array([0.0, -2.0, 0.0]), 2 * math.atan(0.5), 0.5)
    >>> aim.round(12).tolist(), eye.round(12).tolist()
    ([0.0, 0.0, -1.0], [0.0, -4.0, -1.0])
    """
    offset = (position - look_at) / aspect
    drop = np.array([0.0, 0.0, SHEET * float(np.linalg.norm(offset)) * math.tan(fov / 2)])
    return look_at - drop, look_at + offset - drop


def require_page() -> None:
    """Raise InputError, with the command that helps, where a page cannot be served."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            f"a page needs {' and '.join(missing)}: pip install 'mbdyn_ros[page]' (or "
            f"pip install {' '.join(missing)})"
        )


def _free_port(address: Address) -> int:
    """The port, checked to be free."""
    if not 0 <= address.port <= 65535:
        raise InputError(f"port {address.port} does not exist; give one from 1024 to 65535")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except PermissionError:
            raise InputError(
                f"port {address.port} is for root only; give one from 1024 to 65535"
            ) from None
        except socket.gaierror:
            raise InputError(f"{address.host!r} is no address of this machine") from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _taken(address) from None
            raise InputError(f"{address.host}:{address.port}: {error.strerror}") from None
        port: int = probe.getsockname()[1]
        return port


def _taken(address: Address) -> InputError:
    return InputError(
        f"port {address.port} of {address.host} is in use by another program, perhaps another "
        "page; end it, or give another port (0: any free one)"
    )


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Standard output is ours: viser announces itself there."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
