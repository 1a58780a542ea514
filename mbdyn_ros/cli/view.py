"""mbdyn view: a robot in the browser."""

from __future__ import annotations

import contextlib
import signal
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from .common import RobotOptions, print_json, robot_options, urdf_text

F = TypeVar("F", bound=Callable[..., Any])


def page_options(function: F) -> F:
    """The options --port, --host and --open of verbs that serve a page."""
    for decorate in (
        click.option("--open", "browse", is_flag=True, help="Open the page in the browser."),
        click.option(
            "--host", default="127.0.0.1", show_default=True,
            help="Address to serve on; 0.0.0.0 shows the page to the whole network.",
        ),
        click.option(
            "--port", type=int, default=8080, show_default=True, help="0 takes any free one."
        ),
    ):  # fmt: skip
        function = decorate(function)
    return function


@click.command()
@click.argument("urdf")
@page_options
@robot_options
def view(
    urdf: str, port: int, host: str, browse: bool, options: RobotOptions, as_json: bool
) -> None:
    """Show a robot in the browser, loops included, until Ctrl-C.

    A slider for each independent joint moves it; the loops are closed at each move, and a
    position that cannot be reached is explained. A joint can be played through its range:
    charts show the motion of all joints and the efforts it takes, against gravity alone.

    \b
    Examples:
      mbdyn view panda.urdf
      mbdyn view excavator.urdf --mechanism excavator.yaml --open
      xacro ur.urdf.xacro name:=ur ur_type:=ur5e | mbdyn view - --port 8081
    """
    from ..view.page import Address, Page, require_page

    require_page()
    from ..view.robot_page import RobotPage
    from ..view.visuals import read_visuals

    text = urdf_text(urdf) if urdf == "-" else ""
    visuals = read_visuals(text or urdf)
    robot = options.read(text or urdf)
    page = Page(robot.model.name, Address(host, port))
    with serving(page, browse):
        shown = RobotPage(page, robot, visuals, None if text else Path(urdf).resolve().parent)
        announce(page.url, robot.model.name, as_json)
        shown.run()


def announce(url: str, name: str, as_json: bool) -> None:
    """Say where the page is."""
    if as_json:
        print_json({"url": url, "shows": name})
    else:
        click.echo(f"{name} is at {url}  (Ctrl-C ends)")


@contextlib.contextmanager
def serving(page: Any, browse: bool) -> Iterator[None]:
    """End the page in order on Ctrl-C and SIGTERM, and however else the block ends."""
    before = [signal.signal(one, lambda *_: page.end()) for one in ENDS]
    try:
        if browse:
            webbrowser.open(page.url)
        yield
    finally:
        for one, handler in zip(ENDS, before, strict=True):
            signal.signal(one, handler)
        page.close()


ENDS = (signal.SIGINT, signal.SIGTERM)
