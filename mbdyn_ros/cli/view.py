"""mbdyn view: a robot in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from .robot_options import RobotOptions, robot_options
from .serving import announce, page_options, serving

if TYPE_CHECKING:
    from ..view.page.page import Address


@click.command()
@click.argument("urdf", required=False)
@click.option(
    "--ros", is_flag=True,
    help="Follow joint_states and markers of a running ROS system; without URDF the robot comes "
    "from the topic robot_description.",
)
@page_options
@robot_options
def view(
    urdf: str | None, ros: bool, port: int, host: str, browse: bool, options: RobotOptions,
    as_json: bool,
) -> None:  # fmt: skip
    """Show a robot in the browser, loops included, until Ctrl-C.

    A slider for each independent joint moves it; the loops are closed at each move, and a
    position that cannot be reached is explained. A joint can be played through its range:
    charts show the motion of all joints and the efforts it takes, against gravity alone.

    \b
    Examples:
      mbdyn view panda.urdf
      mbdyn view excavator.urdf --mechanism excavator.yaml --open
      mbdyn view --ros
      xacro ur.urdf.xacro name:=ur ur_type:=ur5e | mbdyn view - --port 8081
    """
    from ..view.page.page import Address, Page, require_page

    require_page()
    if ros:
        if options.mechanism or options.home or options.floating_base:
            raise click.UsageError(
                "--ros shows what is published: --mechanism, --home and --floating-base are of no "
                "use there"
            )
        _follow(urdf, Address(host, port), browse, as_json)
        return
    if urdf is None:
        raise click.UsageError("give a URDF, or --ros")
    from ..view.page.robot_page import RobotPage
    from ..view.scene.visuals import read_visuals

    description = options.described(urdf)
    visuals = read_visuals(description)
    robot = options.read(description)
    page = Page(robot.model.name, Address(host, port))
    with serving(page, browse):
        folder = None if urdf == "-" else Path(urdf).resolve().parent
        shown = RobotPage(page, robot, visuals, folder)
        announce(page.url, robot.model.name, as_json)
        page.run(shown.draw)


def _follow(urdf: str | None, address: Address, browse: bool, as_json: bool) -> None:
    try:
        from ..ros.show.viewer import view as follow
    except ImportError as error:
        raise InputError(
            f"--ros needs ROS 2 ({error}); source its setup file first, such as "
            "/opt/ros/jazzy/setup.sh"
        ) from None
    from ..view.page.page import Page

    page = Page("ROS", address)
    with serving(page, browse):
        follow(page, urdf, lambda: announce(page.url, "the ROS system", as_json))
