"""mbdyn view: a robot in the browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .belonging import given, require_belonging
from .options import (
    AT_HOME,
    RobotOptions,
    complete_robot,
    robot_options,
    state_option,
    world_option,
)
from .serving import announce, announce_file, page_options, serving

if TYPE_CHECKING:
    from ..model.model import Array
    from ..model.read.source_text import Source
    from ..motion.free_bodies import FreeBody
    from ..recording.table import Table
    from ..robot import Robot
    from ..simulation import Environment
    from ..view.page.motion import RobotMotion
    from ..view.page.page import Address, Page
    from ..view.page.robot_page import RobotPage

SHOWN = ("masses", "center", "frames", "collision", "forces")
"""Names of the checkboxes that may be set from the start; `view.page.robot_page` has them."""


@click.command()
@click.argument("source", metavar="[ROBOT]", required=False, shell_complete=complete_robot)
@click.option(
    "--ros",
    is_flag=True,
    help="Follow joint_states and markers of a running ROS system; without ROBOT it comes "
    "from the topic robot_description.",
)
@state_option("position", "rad or m, where it is first shown", AT_HOME)
@click.option(
    "--trajectory",
    metavar="FILE",
    help="A motion to play: CSV or JSON with columns time, position/<joint> and what else there is "
    "(what `mbdyn simulate --output` writes), or a bag with joint states.",
)
@click.option(
    "--environment",
    "walls",
    metavar="FILE",
    help="YAML with walls, curved rods and balls to show as well (docs/impacts.md).",
)
@click.option(
    "--variable",
    multiple=True,
    metavar="NAME",
    help="A length or angle with a slider: JOINT/x, LOOP/successor/z, or JOINT/origin for six.  "
    "[repeatable]",
)
@click.option(
    "--show",
    "shown",
    multiple=True,
    type=click.Choice(SHOWN),
    help="Show this too from the start.  [repeatable]",
)
@click.option(
    "--screenshot",
    metavar="FILE",
    help="Write a picture of the scene as .png, the motion of --trajectory as .gif or .webp, or "
    "either as an .html to turn by the mouse, and end; all but .html need Chromium, but no screen.",
)
@click.option(
    "--size",
    nargs=2,
    type=int,
    default=(1400, 900),
    show_default=True,
    metavar="WIDTH HEIGHT",
    help="Of the screenshot, pixels.",
)
@page_options
@world_option
@robot_options
def view(
    source: str | None, ros: bool, as_world: bool, port: int, host: str, browse: bool,
    options: RobotOptions, as_json: bool, screenshot: str | None, size: tuple[int, int],
    variable: tuple[str, ...], walls: str | None,
    **robot_shown: Any,
) -> None:  # fmt: skip
    """Show a robot in the browser, loops included, until Ctrl-C.

    A slider for each independent joint moves it; the loops are closed at each move, and a
    position that cannot be reached is explained. A joint can be played through its range, and
    so can a recorded motion: charts show the motion of all joints and the efforts it takes,
    against gravity alone.

    \b
    Examples:
      mbdyn view panda
      mbdyn view excavator --open
      mbdyn view boom --variable barrel_joint/x --variable rod_pin/successor/z
      mbdyn simulate panda --duration 1 --output run.csv
      mbdyn view panda --trajectory run.csv
      mbdyn view crane --position slew_joint=0.5 --show forces --screenshot crane.png
      mbdyn view panda --trajectory run.csv --screenshot run.webp --size 600 400
      mbdyn view panda --trajectory run.csv --screenshot run.html
      echo 'surfaces: [{name: floor, type: plane}]' > floor.yaml
      mbdyn view tree_robot --environment floor.yaml
      mbdyn view --ros
      cat robot.urdf | mbdyn view - --port 8081
    """
    from ..recording.write import check_target
    from ..view.page.page import Address, Page, require_page
    from ..view.scene.shown_walls import wall_items
    from .simulate import walls_of

    typed = given(click.get_current_context())
    require_belonging({"size": ("--screenshot",)}, typed)
    served = [typed[one] for one in ("port", "host", "browse") if one in typed]
    if screenshot is not None and served:
        raise click.UsageError(
            f"{', '.join(served)}: a --screenshot is written without a page to open; leave it out"
        )
    require_page()
    if ros:
        if (
            options.mechanism
            or options.home
            or options.floating_base
            or as_world
            or any([screenshot, variable, walls, *robot_shown.values()])
        ):
            raise click.UsageError(
                "--ros shows published states; it cannot be used with --mechanism, --home, "
                "--floating-base, --position, --trajectory, --environment, --variable, --show or "
                "--screenshot"
            )
        _follow(source, Address(host, port), browse, as_json)
        return
    if source is None:
        raise click.UsageError("give a robot, or --ros")
    if screenshot is not None:
        check_target(screenshot, (".png", ".gif", ".webp", ".html"))
        moving = screenshot.lower().endswith((".gif", ".webp"))
        if moving and robot_shown["trajectory"] is None:
            raise click.UsageError(
                f"--screenshot {screenshot} is an animation; give its motion as --trajectory FILE"
            )
        port = 0
    environment: Environment | None
    if as_world:
        if walls is not None:
            raise click.UsageError("--environment is in the file of the --world")
        world, described = options.world(source)
        robot = world.varied(variable, world.robot.gravity.tolist()).robot
        environment = world.environment
    else:
        described = options.described(source)
        robot = options.read(described, variable=variable)
        environment = None if walls is None else walls_of(robot, walls)
    page = Page(robot.model.name, Address(host, port))
    with serving(page, browse):
        folder = None if source == "-" else Path(source).resolve().parent
        shown = _robot_page(page, robot, described, folder, **robot_shown)
        if environment is not None:
            page.scene.draw(item for _, item in wall_items(environment))
        if screenshot is None:
            announce(page.url, robot.model.name, as_json)
            page.run(shown.draw)
            return
        from ..view.page.screenshot import save_scene, save_screenshot

        shown.draw(0.0, True)
        motion = None if screenshot.lower().endswith(".png") else shown.recording
        played: tuple[Any, ...] = ()
        if motion is not None:
            played = motion.period, partial(shown.show, motion)
        if screenshot.lower().endswith(".html"):
            save_scene(page, screenshot, *played)
        elif motion is None:
            save_screenshot(page, shown.framed, screenshot, size)
        else:
            framed = partial(shown.framed_in_motion, motion)
            save_screenshot(page, framed, screenshot, size, *played)
        announce_file(screenshot, robot.model.name, as_json)


def _robot_page(
    page: Page, robot: Robot, description: Source, folder: Path | None, position: str | None,
    trajectory: str | None, shown: tuple[str, ...],
) -> RobotPage:  # fmt: skip
    from ..view.page.robot_page import RobotPage
    from ..view.scene.visuals import read_visuals
    from .series import read_values

    recording = None
    if trajectory is not None:
        recording = read_motion(robot, trajectory)
    q = None
    if position is not None:
        series = read_values(robot, "position", position)
        if recording is not None or series.many:
            raise click.UsageError(
                "--position takes one state and cannot be used with --trajectory"
            )
        q = series.numbers
    return RobotPage(page, robot, read_visuals(description), folder, q, recording, shown)


def _follow(source: str | None, address: Address, browse: bool, as_json: bool) -> None:
    try:
        from ..ros.show.viewer import view as follow
    except ImportError as error:
        from ..extras import without_ros

        raise InputError(f"--ros: {without_ros(error)}") from None
    from ..view.page.page import Page

    page = Page("ROS", address)
    with serving(page, browse):
        follow(page, source, lambda: announce(page.url, "the ROS system", as_json))


def read_motion(robot: Robot, path: str) -> RobotMotion:
    """The motion in a CSV, JSON or MCAP file or a bag; rates that it lacks are zeros.

    Efforts are the file's, else those of inverse dynamics where it has accelerations.

    Raises
    ------
    InputError
        The file has no column time, or joints that do not fit the robot.
    """
    import numpy as np

    from ..motion.free_bodies import FreeBody
    from ..recording.read import read_table
    from ..view.page.motion import recorded
    from .series import from_table, labels_of

    free = FreeBody.every(robot)
    table = read_table(path, links=[one.link for one in free])
    for body in free:
        _place(robot, body, table, path)
    position = from_table(robot, "position", table, path)
    if position.time is None:
        raise InputError(f"{path}: a motion is played over time, and there is no column time")
    v, a = (_rate(robot, name, table, path) for name in ("velocity", "acceleration"))
    zeros = np.zeros((len(position.numbers), robot.nv))
    effort = None
    if "effort" in table and set(labels_of(robot, "effort")) <= table["effort"].keys():
        effort = from_table(robot, "effort", table, path).numbers
    return recorded(
        robot, position.time, position.numbers, zeros if v is None else v,
        zeros if a is None else a, effort,
    )  # fmt: skip


def _place(robot: Robot, body: FreeBody, table: Table, path: str) -> None:
    """Put what floats where a recording saw it; where none did it stays, as is said."""
    import numpy as np

    from ..recording.table import QUATERNION, XYZ

    labels = robot.position_labels[body.q]
    poses = table.get("pose", {})
    if f"{body.link}/x" in poses:
        names = [f"{body.link}/{axis}" for axis in (*XYZ, *QUATERNION)]
        columns = np.stack([poses[name] for name in names], axis=1)
        rows = np.tile(robot.home_position, (len(columns), 1))
        for row, pose in zip(rows, columns, strict=True):
            body.place(row, pose)
        table.setdefault("position", {}).update(zip(labels, rows[:, body.q].T, strict=True))
    elif not {*labels} & (table.get("position", {}).keys() | table.keys()):
        click.echo(f"Warning: {path}: has no pose of {body.link}, which stays at home", err=True)


def _rate(robot: Robot, quantity: str, table: Table, path: str) -> Array | None:
    """Velocities or accelerations of a file, None where it has them not of all coordinates."""
    from .series import from_table, labels_of

    if not set(labels_of(robot, quantity)) <= table.get(quantity, {}).keys():
        return None
    return from_table(robot, quantity, table, path).numbers
