"""Pages of others cannot open the connection of ours."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from mbdyn_ros.view.page.page import Address, Page, is_own


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    page = Page("origins", Address(port=0))
    yield page
    page.close()


def asked(page: Page, origin: str | None) -> bool:
    import viser

    port = page.server.get_port()
    kind = Subprotocol(f"viser-v{viser.__version__}")
    try:
        with connect(
            f"ws://127.0.0.1:{port}",
            origin=None if origin is None else Origin(origin.format(port=port)),
            subprotocols=[kind],
        ) as client:
            return len(client.recv(timeout=10)) > 0
    except InvalidStatus as refusal:
        assert refusal.response.status_code == 403
        return False


def test_only_our_own_page_gets_the_scene(page: Page) -> None:
    assert asked(page, "http://127.0.0.1:{port}")
    assert asked(page, None), "a program is not a page"
    for foreign in ("http://evil.example", "http://127.0.0.1:1", "null", "https://localhost"):
        assert not asked(page, foreign), foreign


def test_files_are_for_our_own_names_alone(page: Page) -> None:
    port = page.server.get_port()
    address = f"http://127.0.0.1:{port}/"
    assert urllib.request.urlopen(address).status == 200
    led_here = urllib.request.Request(address, headers={"Host": f"evil.example:{port}"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(led_here)


@pytest.mark.parametrize(
    ("origin", "host", "local", "own"),
    [
        ("http://robot.lan:8080", "robot.lan:8080", False, True),
        ("http://evil.example", "robot.lan:8080", False, False),
        ("http://evil.example:8080", "evil.example:8080", True, False),
        ("http://[::1]:8080", "[::1]:8080", True, True),
        (None, "robot.lan:8080", False, True),
    ],
)
def test_origins(origin: str | None, host: str, local: bool, own: bool) -> None:
    assert is_own(origin, host, local) is own


def test_a_browser_that_connects_in_advance_leaves_no_traceback(
    page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    address = ("127.0.0.1", page.server.get_port())
    for sent in (b"", b"GET / HT"):
        with socket.create_connection(address) as early:
            early.sendall(sent)
    assert asked(page, None), "the connections before it have been answered"
    time.sleep(0.2)
    assert not caplog.records
