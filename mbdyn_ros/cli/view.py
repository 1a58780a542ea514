"""mbdyn view: a robot in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from .common import RobotOptions, robot_options, urdf_text
from .page import announce, page_options, serving


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
