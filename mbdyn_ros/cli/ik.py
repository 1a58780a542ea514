"""mbdyn ik: joints that bring a link to a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..errors import InputError
from .options import AT_HOME, RobotOptions, robot_argument, robot_options, state_option
from .printing import number, print_json, print_table

if TYPE_CHECKING:
    from ..robot import Robot
    from ..robot.inverse_kinematics import Reached

LARGEST_IN_A_POSE = 1e12
"""m or rad of a pose; squares of more overflow."""

Three = tuple[float, float, float]


@click.command()
@robot_argument
@click.argument("link")
@click.option("--xyz", nargs=3, type=float, metavar="X Y Z", required=True,
              help="Where it is to be in the world, m.")  # fmt: skip
@click.option("--rpy", nargs=3, type=float, metavar="R P Y",
              help="Its orientation, as in URDF, rad.  [default: any]")  # fmt: skip
@click.option("--point", nargs=3, type=float, metavar="X Y Z", default=(0.0, 0.0, 0.0),
              help="Point of the link, in its axes, that is to be there, m.")  # fmt: skip
@state_option("position", "rad or m, where the search begins", AT_HOME)
@robot_options
def ik(
    source: str,
    link: str,
    options: RobotOptions,
    xyz: Three,
    rpy: Three | None,
    point: Three,
    position: str | None,
    as_json: bool,
) -> None:
    """Inverse kinematics: joints that bring a link to a pose.

    The error is minimized within the position limits of all joints, including dependent joints of
    loops. The search starts at --position, then at random positions, the same each time. If the
    pose is out of reach, the nearest joints are printed, and the exit status is 1.

    \b
    Examples:
      mbdyn ik ur5 tool0 --xyz 0.4 0.2 0.5 --rpy 3.14159 0 0
      mbdyn ik crane tool --xyz 3.2 0.4 1.5 --json | jq .position
    """
    from ..model.edit.parts import placed_at
    from .series import read_values

    for option, numbers in (("--xyz", xyz), ("--rpy", rpy or ()), ("--point", point)):
        for one in numbers:
            if not abs(one) <= LARGEST_IN_A_POSE:
                raise InputError(f"{option}: {one:g} is not a number up to {LARGEST_IN_A_POSE:g}")
    robot = options.read(source)
    pose = placed_at("ik", xyz, rpy or (0.0, 0.0, 0.0)).matrix()
    start = read_values(robot, "position", position).numbers
    found = robot.inverse_kinematics(link, pose, point, rpy is None, start)
    if as_json:
        print_json(_document(robot, found))
    else:
        _print(robot, link, found)
    found.require()


def _document(robot: Robot, found: Reached) -> dict[str, object]:
    state = robot.joint_state(found.q)[0]
    return {
        "success": found.success,
        "position": dict(zip(robot.position_labels, found.q.tolist(), strict=True)),
        "position_error": found.position_error,
        "orientation_error": found.orientation_error,
        "joint_state": dict(
            zip(robot.system.coordinates.joint_labels, state.tolist(), strict=True)
        ),
    }


def _print(robot: Robot, link: str, found: Reached) -> None:
    import numpy as np

    low, high = robot.position_limits
    rows = [
        (name, *(number(float(one)) if np.isfinite(one) else "" for one in numbers))
        for name, *numbers in zip(robot.position_labels, found.q, low, high, strict=True)
    ]
    print_table(
        f"{robot.model.name}: {link} {'is there' if found.success else 'comes nearest'}",
        ("joint", "position", "lower", "upper"), rows,
    )  # fmt: skip
    click.echo(
        f"left: {found.position_error:.3g} m, {found.orientation_error:.3g} rad; "
        f"searched from {found.starts} position{'s' * (found.starts > 1)}"
    )
