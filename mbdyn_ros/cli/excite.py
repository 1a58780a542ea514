"""mbdyn excite: a motion that excites a robot's inertias."""

from __future__ import annotations

import click

from .options import RobotOptions, robot_argument, robot_options
from .printing import number, print_json, print_table


@click.command()
@robot_argument
@click.option("--duration", type=float, default=20.0, show_default=True, help="Of the motion, s.")
@click.option("--rate", type=float, default=200.0, show_default=True, help="Rows a second.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--output", metavar="FILE", help="Write the motion and its efforts: .csv or .json; "
              ".yaml: the motion as a trajectory_msgs/JointTrajectory.")
@robot_options
def excite(
    source: str, duration: float, rate: float, seed: int, output: str | None,
    options: RobotOptions, as_json: bool,
) -> None:  # fmt: skip
    """A motion within the robot's limits that excites its inertias, for `mbdyn identify`.

    A Fourier series of every independent joint (or cylinder), from rest to rest, within the limits
    of positions, velocities and efforts; of many draws, the one that determines the base parameters
    best. Links that are apart at home do not collide in it. Other obstacles are unknown: watch the
    motion (mbdyn view) before a machine performs it.

    \b
    Examples:
      mbdyn excite boom --duration 10 --json
      mbdyn excite boom --output motion.csv
      mbdyn excite boom --duration 5 --output motion.yaml
      mbdyn identify boom motion.csv
    """
    from ..identification.excitation import excitation
    from ..recording.table import Table
    from ..recording.write import TABLES, check_target, write_joint_trajectory, write_table

    target = None if output is None else check_target(output, (*TABLES, ".yaml"))
    robot = options.read(source)
    found = excitation(robot, duration, rate, seed)
    labelled = {
        "position": (robot.position_labels, found.q), "velocity": (robot.velocity_labels, found.v),
        "acceleration": (robot.velocity_labels, found.a),
        "effort": (robot.effort_labels, found.effort),
    }  # fmt: skip
    table: Table = {"time": {"": found.time}}
    for quantity, (labels, rows) in labelled.items():
        table[quantity] = dict(zip(labels, rows.T, strict=True))
    if target is not None and target.suffix.lower() == ".yaml":
        write_joint_trajectory(robot.velocity_labels, table, target)
    elif target is not None:
        write_table(table, target)
    ranges = {
        quantity: {label: [float(one.min()), float(one.max())] for label, one in columns.items()}
        for quantity, columns in table.items()
    }
    if as_json:
        print_json({"robot": robot.model.name, "duration": duration, "rows": len(found.time),
                    "watched": found.watched,
                    "condition": found.condition, "ranges": ranges, "output": output})  # fmt: skip
        return
    print_table(
        f"{robot.model.name}: {duration:g} s, condition {found.condition:.3g}",
        ("quantity", "coordinate", "least", "most"),
        [(quantity, label, number(low), number(high))
         for quantity, columns in ranges.items() if quantity != "time"
         for label, (low, high) in columns.items()],
    )  # fmt: skip
    if found.watched:
        click.echo(f"{found.watched} pairs of shapes of links stay apart")
    if target is not None:
        click.echo(f"wrote {target}: {len(found.time)} rows")
