"""mbdyn id: efforts that a motion asks for."""

from __future__ import annotations

import click

from ..recording.write import TABLES, check_target
from .robot_options import RobotOptions, robot_options
from .series import AT_HOME, load_options, read_wrenches, state_option
from .states import gather, show


@click.command(name="id")
@click.argument("urdf")
@state_option("position", "rad or m", AT_HOME)
@state_option("velocity", "rad/s or m/s")
@state_option("acceleration", "rad/s^2 or m/s^2")
@click.option(
    "--trajectory", metavar="FILE",
    help="CSV or JSON with columns position/<joint>, velocity/<joint>, acceleration/<joint>, and "
    "time if there is one: what `mbdyn simulate --output` writes.",
)
@load_options
@click.option("--output", metavar="FILE", help="Write states and efforts as .csv or .json.")
@robot_options
def id_(
    urdf: str,
    position: str | None,
    velocity: str | None,
    acceleration: str | None,
    trajectory: str | None,
    wrench: tuple[str, ...],
    no_friction: bool,
    output: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Inverse dynamics: the efforts that cause a motion.

    VALUES are name=value,... pairs, a JSON list in the robot's order, or a CSV or JSON file with
    many states: columns position/<joint> (or plain joint names), one row a state. Many states
    give many efforts: as CSV on standard output, or in the file named by --output.

    \b
    Examples:
      mbdyn id ur5.urdf --position elbow_joint=1.2 --acceleration shoulder_pan_joint=0.5
      mbdyn id ur5.urdf --position '[0, -1, 1, 0, 0.5, 0]' --wrench tool0=0,0,-20,0,0,0
      mbdyn id ur5.urdf --trajectory run.csv --output efforts.csv
    """
    robot = options.read(urdf)
    if output is not None:
        check_target(output, TABLES)
    given = {"position": position, "velocity": velocity, "acceleration": acceleration}
    states = gather(robot, given, trajectory)
    q, v, a = (one.numbers for one in states.values())
    effort = robot.inverse_dynamics(q, v, a, read_wrenches(wrench), not no_friction)
    show(robot, states, "effort", effort, as_json, output)
