"""A page in the browser: a 3-D scene and a panel next to it, served from this process by viser.

Whoever draws does so in one thread, which waits in `Page.run`: messages from the browser only wake
it, so that a slider that is dragged is followed as fast as drawing goes, and never faster.

A browser lets any page connect to any port of this machine, and says in the header Origin whose
page it is. Unless that is checked, a foreign page that is open at the same time reads the whole
scene.
"""

from __future__ import annotations

import contextlib
import errno
import http
import io
import logging
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import urlsplit

from ...errors import InputError
from ...model.model import Array
from ..scene.camera import Camera, View
from ..scene.scene import Scene

if TYPE_CHECKING:
    import viser


LOCALHOST = "127.0.0.1"
PORT = 8080
FRAMES = 30.0
"""Pictures per second while something plays."""

AMBIENT = 2.0
"""Light from everywhere, so that no side is black."""

PANEL = 350
"""Width of the panels next to the scene, pixels."""

Draw = Callable[[float, bool], None]
"""Draws a page: seconds played since the last call, and whether it was woken."""

Fill = Callable[["Page"], Draw]
"""Puts onto an empty page what is on it, and gives what draws it."""

NEEDED = ("viser", "plotly", "latex2mathml")


@dataclass(frozen=True)
class Address:
    """The address of a page; port 0 takes any free one."""

    host: str = LOCALHOST
    port: int = PORT


class Page:
    """A page that others fill: words and controls on the right, a scene, charts on the left.

    All browsers see and move the same; see `run_each` for a page of each.

    Parameters
    ----------
    title : shown above the panel.

    Attributes
    ----------
    server : of viser. host : the server, or the one browser that has this page.
    gui : controls of the host, filled by others. scene : so is this.
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
        if self.server.get_port() != port:  # another process was faster
            self.close()
            raise _taken(address)
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
        self._furnish(self.server)

    def _furnish(self, host: viser.ViserServer | viser.ClientHandle) -> None:
        self.host, self.gui, self.scene = host, host.gui, Scene(host.scene)
        self.playing = False
        self._wake, self._ended = threading.Event(), threading.Event()
        self._camera: Camera | None = None
        self._fill: Fill | None = None
        self._head()

    def _head(self) -> None:
        add_style(self.gui)
        self.words = self.gui.add_markdown("")

    @property
    def url(self) -> str:
        """The address to open in the browser."""
        host = self.server.get_host()
        name = "localhost" if host in (LOCALHOST, "0.0.0.0") else host
        return f"http://{name}:{self.server.get_port()}"

    def say(self, *paragraphs: str) -> None:
        """Let the words above all controls be these paragraphs of Markdown."""
        renew(self.words, content="\n\n".join(paragraphs))

    @contextlib.contextmanager
    def charts(self, title: str) -> Iterator[viser.GuiTabHandle]:
        """Put what is added meanwhile into a panel on the left, which it gives.

        It is docked before it is filled: taken from one place to another, the browser would draw
        its charts twice, and Plotly fails at one that is taken away while it is laid out.
        """
        panel = self.gui.add_panel()
        panel.dock_left()
        panel.set_width(PANEL)
        with panel.add_tab(title) as tab:
            yield tab

    def changed(self, event: Any) -> None:
        """Draw soon, unless it was us: the callback of all that changes the picture."""
        if getattr(event, "client_id", None) is not None:
            self._wake.set()

    def look(self, low: Array, high: Array, view: View) -> None:
        """Let the box from `low` to `high` (3,), m, be seen: from `view` at first; later the camera
        goes along."""
        if self._camera is None:
            self._camera = Camera(self.host, low, high, view)
        else:
            self._camera.follow(low, high)

    def refill(self, fill: Fill) -> None:
        """Soon show something else instead of all that is on the page."""
        self._fill = fill
        self._wake.set()

    def run(self, draw: Draw) -> None:
        """Draw until `end` is called."""
        self._wake.set()
        before = time.monotonic()
        while not self._ended.is_set():
            woken = self._wake.wait(1 / FRAMES if self.playing else None)
            self._wake.clear()
            if self._fill is not None:
                fill, self._fill, self.playing = self._fill, None, False
                self.gui.reset()
                self.scene.clear()
                self._head()
                draw = fill(self)
                woken = True
            now = time.monotonic()
            draw(now - before if self.playing else 0.0, woken)
            self.host.flush()
            before = now
            rest = 1 / FRAMES - (time.monotonic() - now)
            if self.playing and not woken and rest > 0:
                self._wake.wait(rest)

    def run_each(self, fill: Fill) -> None:
        """Give every browser a page of its own until `end` is called; a thread draws each."""
        drawn: dict[int, tuple[BrowserPage, threading.Thread]] = {}
        # A browser that goes away is drawn for until it is known to have gone.
        warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)

        async def come(client: viser.ClientHandle) -> None:
            page = BrowserPage(self, client)
            thread = threading.Thread(target=lambda: page.run(fill(page)))
            drawn[client.client_id] = page, thread
            thread.start()

        async def go(client: viser.ClientHandle) -> None:
            drawn.pop(client.client_id)[0].end()

        self.server.on_client_connect(come)
        self.server.on_client_disconnect(go)
        self._ended.wait()
        for page, thread in list(drawn.values()):
            page.end()
            thread.join()

    def end(self) -> None:
        """Let `run` return."""
        self._ended.set()
        self._wake.set()

    def close(self) -> None:
        """Serve no more."""
        with _silence():
            self.server.stop()


class BrowserPage(Page):
    """A page of one browser: no other sees its controls and its scene.

    Parameters
    ----------
    shared : the page that serves all browsers; nothing else is on it. client : the browser.
    """

    def __init__(self, shared: Page, client: viser.ClientHandle) -> None:
        self.server = shared.server
        self._furnish(client)


def renew(control: Any, **values: Any) -> None:
    """Set what is new of a control alone: a browser gets all that is set."""
    for name, value in values.items():
        if getattr(control, name) != value:
            setattr(control, name, value)


def require_page() -> None:
    """Raise InputError, with the command that helps, where a page cannot be served."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(
            f"a page needs {' and '.join(missing)}: pip install 'mbdyn_ros[view]' (or "
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
            raise InputError(f"{address.host!r} is not an address of this machine") from None
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


LOG = logging.getLogger("mbdyn_ros.view.connections")
"""Reports of the server on its connections. A browser that connects in advance and goes away
without a request is not an error."""
LOG.addFilter(lambda record: record.getMessage() != "opening handshake failed")

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_own(origin: str | None, host: str | None, local: bool) -> bool:
    """Whether a connection comes from our own page, or from no page at all.

    Parameters
    ----------
    origin, host : headers of the request.
    local : we listen to this machine alone, so that only its own names are ours: a foreign name
        that was made to lead here is as foreign as its page.

    Examples
    --------
    >>> is_own("http://localhost:8080", "localhost:8080", local=True)
    True
    >>> is_own("http://elsewhere.example", "localhost:8080", local=True)
    False
    """
    if origin is None:
        return not local or host is None or urlsplit(f"//{host}").hostname in LOOPBACK
    page = urlsplit(origin)
    return page.netloc == host and (not local or page.hostname in LOOPBACK)


@contextmanager
def own_pages_only(address: str) -> Iterator[None]:
    """Let the server that viser starts meanwhile refuse the pages of others; it has no setting."""
    import websockets.asyncio.server as server

    refusing = partial(_serve, server.serve, address in LOOPBACK)
    with patch.object(server, "serve", refusing):
        yield


def _serve(
    serve: Callable[..., Any], local: bool, *arguments: Any, process_request: Any, **settings: Any
) -> Any:
    def reviewed(connection: Any, request: Any) -> Any:
        if is_own(request.headers.get("Origin"), request.headers.get("Host"), local):
            return process_request(connection, request)
        return connection.respond(http.HTTPStatus.FORBIDDEN, "not the page of this server\n")

    return serve(*arguments, process_request=reviewed, **{"logger": LOG} | settings)


STYLE = """<style>
/* The number next to a slider: room for a sign and six digits. */
.mantine-Slider-root ~ .mantine-NumberInput-root { width: 4.1rem !important; flex-shrink: 0; }
/* The ends of a slider stand below its track, not in the next box. */
.mantine-Slider-markLabel { white-space: nowrap; }
.mantine-Slider-markWrapper:first-child .mantine-Slider-markLabel {
  transform: translate(0, 0.05rem) !important; }
.mantine-Slider-markWrapper:last-child .mantine-Slider-markLabel {
  transform: translate(-100%, 0.05rem) !important; }
table { border-collapse: collapse; font-size: 0.7rem; width: 100%; }
th { font-weight: 500; opacity: 0.6; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
td { font-variant-numeric: tabular-nums; padding: 0.05rem 0.15rem; white-space: nowrap; }
td:first-child { min-width: 8.5em; overflow-wrap: anywhere; white-space: normal; }
/* A chart's legend shows lines as they are drawn, and leaves out what needs no name. */
.uplot .u-legend { margin: 0 0 0.3rem !important; text-align: left; width: 100%; }
.uplot .u-legend .u-marker { border-width: 2px 0 0 !important; height: 0 !important;
  width: 1.6em !important; }
.uplot .dot .u-marker { border-top-style: dotted !important; }
.uplot .dash .u-marker, .uplot .longdash .u-marker { border-top-style: dashed !important; }
.uplot .longdash .u-marker { width: 2.6em !important; }
.uplot .unlisted { display: none !important; }
/* Without a mouse over it there is no number to show: names alone. */
.uplot:not(:hover) .u-series:first-child, .uplot:not(:hover) .u-value { display: none !important; }
.uplot:not(:hover) .u-series th::after { content: none !important; }
/* On a phone the controls are a sheet as wide as the window, and the scene stands above it. */
@media (max-width: 36em) {
  .mantine-Paper-root[style*="width: 20em"] { max-height: 50% !important; width: 100% !important; }
  .mantine-Paper-root[style*="width: 20em"] div[style*="width: 20em"] { width: 100% !important; }
  .mantine-Paper-root[style*="width: 20em"] .mantine-ScrollArea-content { min-width: 0 !important;
    max-width: 100vw; }
}
</style>"""


def add_style(gui: viser.GuiApi) -> None:
    """Let the controls that follow have our look."""
    gui.add_html(STYLE)
