"""mbdyn convert: a trajectory converted to other joints of the same loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import DeadPointError, InputError, unknown
from .options import RobotOptions, robot_argument, robot_options
from .printing import print_json

if TYPE_CHECKING:
    from ..model.model import Array
    from ..motion import ConvertedTrajectory
    from ..recording.table import Table
    from ..robot import Robot

QUANTITIES = ("position", "velocity", "acceleration", "effort")


@click.command()
@robot_argument
@click.argument("trajectory", metavar="FILE")
@click.option(
    "--to",
    default="actuators",
    show_default=True,
    metavar="actuators|joints|NAME,...",
    help="Joints of the answer: those that are driven, all, or these.",
)
@click.option("--output", metavar="FILE", help="Write the trajectory as .csv or .json.")
@robot_options
def convert(
    source: str,
    trajectory: str,
    to: str,
    output: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Convert a trajectory to other joints: booms and jibs to their cylinders, and back.

    FILE is CSV, JSON or a bag, with columns position/<joint> (or plain joint names) of any joints
    that determine all others; velocity/<joint>, acceleration/<joint> and effort/<joint> are
    converted where it has them: efforts do the same work. A limit that is passed, in the joints
    given or in those of the answer, is named at the end, and the exit status is 1.

    \b
    Examples:
      mbdyn simulate boom --duration 0.05 --output run.csv
      mbdyn convert boom run.csv --to boom_joint --output plan.csv
      mbdyn convert boom plan.csv --output cylinder.csv
      mbdyn convert boom plan.csv --to joints --json
    """
    from ..motion import convert_trajectory
    from ..recording.read import read_table
    from ..recording.table import csv_lines, to_json
    from ..recording.write import TABLES, check_target, write_table

    if output is not None:
        check_target(output, TABLES)
    robot = options.read(source)
    table = read_table(trajectory)
    joints = table_joints(robot, table, trajectory)
    converted = [table_rows(robot, table, one, joints, trajectory) for one in QUANTITIES]
    position, velocity, acceleration, effort = converted
    assert position is not None
    wanted = {"actuators": robot.actuated_joints, "joints": robot.joint_names}.get(
        to, tuple(name.strip() for name in to.split(","))
    )
    for name in wanted:
        if name not in robot.joint_names:
            raise InputError(f"--to: {unknown('joint', name, robot.joint_names)}")
    try:
        found = convert_trajectory(robot, joints, position, velocity, acceleration, effort, wanted)
    except (InputError, DeadPointError) as error:
        raise type(error)(f"{trajectory}: {error}") from None
    answer = _table(found, table.get("time"))
    if output is not None:
        write_table(answer, output)
    if as_json:
        violation = None if found.violation is None else vars(found.violation)
        print_json({"robot": robot.model.name, **to_json(answer), "violation": violation})
    elif output is not None:
        click.echo(f"{output}: {len(found.position)} points of {', '.join(found.joints)}")
    else:
        for line in csv_lines(answer):
            click.echo(line, nl=False)
    if found.violation is not None:
        raise InputError(f"{trajectory}: {found.violation}")


def table_joints(robot: Robot, table: Table, source: str) -> list[str]:
    """The joints whose positions a table has; `position` is made of plain names where need be."""
    blocks = robot.system.coordinates.joint_blocks
    joint_of = {label: name for name, block in blocks.items() for label in block.labels()[0]}
    if "position" not in table:
        table["position"] = {name: table.pop(name)[""] for name in [*table] if name in joint_of}
    unknown = [label for label in table["position"] if label not in joint_of]
    if unknown or not table["position"]:
        has = f"of {unknown[0]!r}, which is not a joint" if unknown else "of no joint"
        raise InputError(f"{source}: has position {has}; the robot has {', '.join(joint_of)}")
    return list(dict.fromkeys(joint_of[label] for label in table["position"]))


def table_rows(
    robot: Robot, table: Table, quantity: str, joints: list[str], source: str
) -> Array | None:
    """Numbers (N, k) of a quantity of the joints; None where a table has none of them.

    Joints without an effort have none.
    """
    import numpy as np

    blocks = robot.system.coordinates.joint_blocks
    labels = [one for name in joints for one in blocks[name].labels()[quantity != "position"]]
    columns = table.get(quantity, {})
    given = [label for label in labels if label in columns]
    if not given:
        return None
    missing = [label for label in labels if label not in columns]
    if missing and quantity != "effort":
        raise InputError(f"{source}: has {quantity}/{given[0]}, but no {quantity}/{missing[0]}")
    none = np.zeros(len(columns[given[0]]))
    return np.column_stack([columns.get(label, none) for label in labels])


def _table(found: ConvertedTrajectory, time: dict[str, Array] | None) -> Table:
    """The columns of a converted trajectory."""
    table: dict[str, Any] = {} if time is None else {"time": time}
    for quantity in QUANTITIES:
        numbers = getattr(found, quantity)
        if numbers is not None:
            table[quantity] = dict(zip(found.labels, numbers.T, strict=True))
    return table
