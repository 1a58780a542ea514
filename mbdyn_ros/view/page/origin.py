"""The web pages that may open the connection of ours.

A browser lets any page connect to any port of this machine, and says in the header Origin whose
page it is. Without a look at it, a foreign page that is open beside ours reads the whole scene.
"""

from __future__ import annotations

import http
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

LOG = logging.getLogger("mbdyn_ros.view.connections")
"""Reports of the server on its connections. A browser that connects in advance and goes away
without a request is no error."""
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
