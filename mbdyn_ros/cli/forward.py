"""mbdyn fd: accelerations that efforts cause."""

from __future__ import annotations

import click

from ..recording.write import TABLES, check_target
from .robot_options import RobotOptions, robot_options
from .series import AT_HOME, load_options, read_wrenches, state_option
from .states import gather, show


@click.command()
@click.argument("urdf")
@state_option("position", "rad or m", AT_HOME)
@state_option("velocity", "rad/s or m/s")
@state_option("effort", "N m or N")
@click.option(
    "--trajectory", metavar="FILE",
    help="CSV or JSON with columns position/<joint>, velocity/<joint>, effort/<joint>, and time "
    "if there is one: what `mbdyn simulate --output` writes.",
)
@load_options
@click.option("--output", metavar="FILE", help="Write states and accelerations as .csv or .json.")
@robot_options
def fd(
    urdf: str,
    position: str | None,
    velocity: str | None,
    effort: str | None,
    trajectory: str | None,
    wrench: tuple[str, ...],
    no_friction: bool,
    output: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Forward dynamics: the accelerations that efforts cause.

    VALUES are name=value,... pairs, a JSON list in the robot's order, or a CSV or JSON file with
    many states, as for `mbdyn id`. A robot with a link that moves no mass is refused: its
    accelerations are not determined.

    \b
    Examples:
      mbdyn fd ur5.urdf --effort shoulder_pan_joint=10
      mbdyn fd ur5.urdf --position '[0, -1, 1, 0, 0.5, 0]' --no-friction --json
      mbdyn fd ur5.urdf --trajectory run.csv --output accelerations.csv
    """
    robot = options.read(urdf)
    robot.require_mass("forward dynamics")
    if output is not None:
        check_target(output, TABLES)
    states = gather(
        robot, {"position": position, "velocity": velocity, "effort": effort}, trajectory
    )
    q, v, drive = (one.numbers for one in states.values())
    acceleration = robot.forward_dynamics(q, v, drive, read_wrenches(wrench), not no_friction)
    show(robot, states, "acceleration", acceleration, as_json, output)
