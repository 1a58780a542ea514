"""mbdyn time: the fastest motion along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..number import name_values, once, to_float
from .convert import table_joints, table_rows
from .options import RobotOptions, robot_argument, robot_options
from .printing import number, print_json, print_table

if TYPE_CHECKING:
    from ..motion import EffortTrajectory, Pump, TimedPath
    from ..recording.table import Table
    from ..robot import Robot

FORM = "NUMBER|NAME=NUMBER,..."


@click.command()
@robot_argument
@click.argument("path", metavar="FILE")
@click.option("--velocity", metavar=FORM,
              help="rad/s or m/s, of all joints or some.  [default: described]")  # fmt: skip
@click.option("--acceleration", metavar=FORM, help="rad/s^2 or m/s^2.  [default: none]")
@click.option("--effort", metavar=FORM,
              help="N m or N, of actuated joints.  [default: the description's]")  # fmt: skip
@click.option("--power", metavar="NAME=NUMBER,...", help="W, of actuated joints.")
@click.option("--supply-power", type=float, metavar="NUMBER",
              help="W, of all actuators together.")  # fmt: skip
@click.option("--pump", multiple=True, metavar="FLOW:JOINT=BORE/RING,...",
              help="m^3/s of a pump, and the areas (m^2) that it fills as its cylinders go out and "
              "in; may be repeated.")  # fmt: skip
@click.option("--tool-speed", metavar="LINK=NUMBER,...", help="m/s, of a link's origin.")
@click.option("--tool-acceleration", metavar="LINK=NUMBER,...", help="m/s^2.")
@click.option("--joint-force", metavar="NAME=NUMBER,...",
              help="N that the bearing of a joint or a closed loop carries.")  # fmt: skip
@click.option("--joint-moment", metavar="NAME=NUMBER,...", help="N m.")
@click.option("--jerk", metavar=FORM,
              help="rad/s^3 or m/s^3, of independent joints; the motion is smoothed.")  # fmt: skip
@click.option("--blend", type=float, metavar="DISTANCE",
              help="Straight lines, corners rounded within this (rad or m); 0: with stops there.  "
              "[default: a spline through the points]")  # fmt: skip
@click.option("--rate", type=float, default=250.0, show_default=True,
              help="Hz, of the points written.")  # fmt: skip
@click.option("--plot", metavar="FILE", help="Plot what limits the motion (.png, .svg, .pdf).")
@click.option("--output", metavar="FILE", help="Write the motion as .csv or .json.")
@robot_options
def time(
    source: str, path: str, velocity: str | None, acceleration: str | None, effort: str | None,
    power: str | None, supply_power: float | None, pump: tuple[str, ...], tool_speed: str | None,
    tool_acceleration: str | None, joint_force: str | None, joint_moment: str | None,
    jerk: str | None, blend: float | None, rate: float, plot: str | None, output: str | None,
    options: RobotOptions, as_json: bool,
) -> None:  # fmt: skip
    """The fastest motion along a path, with the exact dynamics of the robot.

    FILE is CSV, JSON or a bag with waypoints: columns position/<joint> (or plain joint names) of
    any joints that determine all others. Efforts are those of the robot's dynamics, including
    loops, friction and load. For comparison, the durations by MoveIt's rule (accelerations lowered
    until efforts fit) and at constant speed are printed, and the active limits over time.

    \b
    Examples:
      mbdyn simulate boom --duration 0.2 --rate 10 --output path.csv
      mbdyn time boom path.csv --output motion.csv --plot limits.png
      mbdyn time boom path.csv --acceleration 2 --supply-power 5000
      mbdyn time boom path.csv --power rod_joint=3000 --tool-speed load=0.5
      mbdyn time boom path.csv --pump 1e-3:rod_joint=5e-3/3e-3
      mbdyn time boom path.csv --jerk 50 --json
    """
    from ..motion import MotionLimits, time_optimal
    from ..recording.read import read_table
    from ..recording.table import to_json
    from ..recording.write import TABLES, check_target, write_table
    from ..view.figure import check_picture

    if plot is not None:
        check_picture(plot)
    if output is not None:
        check_target(output, TABLES)
    if not 0 < rate < 1e6:
        raise InputError(f"--rate: {rate:g} Hz; it must be above 0 and below 1e6")
    limits = MotionLimits(
        velocity=_limits("--velocity", velocity),
        acceleration=_limits("--acceleration", acceleration),
        effort=_limits("--effort", effort),
        power=name_values(power or "", "--power"),
        supply_power=supply_power,
        pumps=[_pump(one) for one in pump],
        tool_speed=name_values(tool_speed or "", "--tool-speed"),
        tool_acceleration=name_values(tool_acceleration or "", "--tool-acceleration"),
        joint_force=name_values(joint_force or "", "--joint-force"),
        joint_moment=name_values(joint_moment or "", "--joint-moment"),
    )
    robot = options.read(source)
    table = read_table(path)
    joints = table_joints(robot, table, path)
    points = table_rows(robot, table, "position", joints, path)
    assert points is not None
    try:
        timed = time_optimal(
            robot, points, limits, joints=joints, blend=blend,
            jerk=None if jerk is None else _limits("--jerk", jerk),
        )  # fmt: skip
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    made = timed.trajectory(rate)
    if plot is not None:
        from ..view.plots import save_timing_plot

        save_timing_plot(timed, plot, f"{robot.model.name}: {timed.duration:.4g} s")
    if output is not None:
        write_table(_table(robot, made), output)
    if as_json:
        print_json({"robot": robot.model.name, **_document(timed), **to_json(_table(robot, made))})
        return
    _print(robot, timed)
    if output is not None:
        click.echo(f"wrote {output}: {len(made.time)} points")


def _limits(option: str, text: str | None) -> Any:
    if text is None:
        return {}
    one = to_float(text.strip())
    return name_values(text, option) if one is None else one


def _pump(text: str) -> Pump:
    from ..motion import Pump
    flow, _, cylinders = text.partition(":")
    pairs = [one.partition("=") for one in cylinders.split(",")]
    areas = [
        (name.strip(), tuple(to_float(area.strip()) for area in both.split("/")))
        for name, _, both in pairs
    ]
    if to_float(flow) is None or any(
        not name or len(two) != 2 or None in two for name, two in areas
    ):
        raise InputError(
            f"--pump: {text!r} is not of the form FLOW:JOINT=BORE/RING,..., as in "
            "1e-3:rod_joint=5e-3/3e-3 (m^3/s and m^2)"
        )
    return Pump(to_float(flow), once("--pump", areas))  # type: ignore[arg-type]


def _table(robot: Robot, made: EffortTrajectory) -> Table:
    quantities = (
        ("position", robot.position_labels, made.position),
        ("velocity", robot.velocity_labels, made.velocity),
        ("acceleration", robot.velocity_labels, made.acceleration),
        ("effort", robot.effort_labels, made.effort),
    )
    return {"time": {"": made.time}} | {
        name: dict(zip(labels, numbers.T, strict=True))
        for name, labels, numbers in quantities
        if numbers is not None
    }


def _document(timed: TimedPath) -> dict[str, Any]:
    return {
        "duration": timed.duration,
        "least_duration": timed.least_duration,
        **{name: duration for name, duration in _others(timed).items() if duration is not None},
        "excess": timed.excess,
        "limiting": [one._asdict() for one in timed.limiting()],
    }


def _others(timed: TimedPath) -> dict[str, float | None]:
    """Durations by other rules; None where a rule does not come to an end."""
    from ..motion.timed_path import constant_speed, lowered_limits

    try:
        lowered = lowered_limits(timed)
    except InputError:
        lowered = None
    return {"lowered_limits": lowered, "constant_speed": constant_speed(timed)}


def _print(robot: Robot, timed: TimedPath) -> None:
    print_table(
        f"{robot.model.name}: {timed.duration:.5g} s",
        ("limit", "from (s)", "to (s)", "used"),
        [
            (one.limit, number(one.start), number(one.end), f"{100 * one.used:.1f} %")
            for one in timed.limiting()
        ],
    )
    if timed.duration > timed.least_duration:
        click.echo(
            f"limits of jerk cost {timed.duration - timed.least_duration:.3g} s of "
            f"{timed.least_duration:.5g} s"
        )
    words = {
        "lowered_limits": "by lowered accelerations",
        "constant_speed": "at constant speed, from jump to jump",
    }
    for name, duration in _others(timed).items():
        if duration is not None:
            click.echo(f"{words[name]}: {duration:.5g} s")
