"""mbdyn simulate: motion in time, into a table, a bag or a plot."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InputError, SimulationError
from ..integration.methods import ADAPTIVE, described
from ..number import to_floats
from .options import (
    AT_HOME,
    STEPS_AS,
    RobotOptions,
    robot_argument,
    robot_options,
    shareable_urdf,
    state_option,
    world_option,
    wrench_option,
)
from .printing import print_json, progress_bar

if TYPE_CHECKING:
    from ..model.model import Array
    from ..robot import Robot
    from ..simulation import Environment
    from ..simulation.effort import EffortFunction

BAG_RATE = 100.0
"""Samples per second of a bag, by default."""

DRAWN = 2000
"""Samples of a plot alone: lines between steps would be polygons, and jumps slopes."""

MOST_SECONDS = 1e9
"""s that a simulation may last, some 30 years; more would never end."""

MOST_SAMPLES = 1e8
"""Samples of an output; more would not fit into memory."""


@click.command()
@robot_argument
@click.option("--duration", type=float, required=True, help="Seconds.")
@state_option("position", "rad or m, at the start", AT_HOME)
@state_option("velocity", "rad/s or m/s, at the start")
@state_option(
    "effort",
    "N m or N: constant",
    " Or a file with a column time: linear between its rows, the first and last held outside.",
)
@wrench_option
@click.option(
    "--hold",
    metavar="KP,KD",
    help="Springs (N m/rad or N/m) and dampers (N m s/rad or N s/m) hold the actuated joints "
    "where they start.",
)
@click.option(
    "--environment",
    "walls",
    metavar="FILE",
    help="YAML with walls that the robot hits (docs/impacts.md). One with a floating base is "
    "placed above them where it would start inside.",
)
@click.option(
    "--joint-limits/--no-joint-limits",
    "limited",
    default=True,
    show_default=True,
    help="Whether the position limits of the description are stops.",
)
@click.option(
    "--through-change-points",
    "through",
    is_flag=True,
    help="Continue by inertia where a loop can move in more than one way; otherwise stop there.",
)
@click.option("--rtol", type=float, default=1e-10, show_default=True, help="Relative tolerance.")
@click.option("--atol", type=float, default=1e-12, show_default=True, help="Absolute tolerance.")
@click.option(
    "--method",
    type=click.Choice(list(ADAPTIVE)),
    default=next(iter(ADAPTIVE)),
    show_default=True,
    help=described(ADAPTIVE),
)
@click.option(
    "--rate",
    type=float,
    help="Samples per second of the output.  [default: every step; in a bag 100; of a plot alone "
    "2000 in all]",
)
@click.option(
    "--output",
    metavar="FILE",
    help="Write the motion as .csv, .json or .mcap (one file, for Foxglove or `ros2 bag play`); a "
    "name without an end makes a rosbag2 folder.",
)
@click.option("--plot", metavar="FILE", help="Plot the motion as .png, .svg or .pdf.")
@click.option(
    "--explain",
    type=STEPS_AS,
    help="Instead of the summary, print the Jacobians, the bordered matrix and its solution for "
    "every impact, to be redone by hand.",
)
@world_option
@robot_options
def simulate(
    source: str,
    as_world: bool,
    duration: float,
    position: str | None,
    velocity: str | None,
    effort: str | None,
    wrench: tuple[str, ...],
    hold: str | None,
    walls: str | None,
    limited: bool,
    through: bool,
    rtol: float,
    atol: float,
    method: str,
    rate: float | None,
    output: str | None,
    plot: str | None,
    explain: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Simulate the motion of a robot.

    The steps adapt to the tolerances; dry friction sticks and slides at exact instants. At the
    end is the energy balance: the drift is the energy that no work explains, relative to the
    largest energy that moved. With walls, the forces of the contacts at the end are listed.

    \b
    Examples:
      mbdyn simulate ur5 --duration 5 --position elbow_joint=1.2 --plot fall.png
      mbdyn simulate ur5 --duration 5 --effort elbow_joint=10 --rate 500 --output run.csv
      mbdyn simulate boom --duration 1 --no-joint-limits --json
      echo 'surfaces: [{name: floor, type: plane, friction: 0.8, restitution: 0}]' > floor.yaml
      mbdyn simulate quadruped --floating-base --environment floor.yaml --hold 60,2 --duration 1
      mbdyn simulate tree_robot --environment floor.yaml --duration 0.5 --explain text
      mbdyn simulate ur5 --duration 5 --output run.mcap    # ros2 bag play run.mcap
    """
    from ..recording.write import BAGS, check_target, impact_records, write
    from ..simulation import StoppedSimulationError
    from ..simulation import simulate as run
    from ..simulation.contact.contacts import lifted
    from ..simulation.contact.environment import with_stops
    from ..view.figure import check_picture
    from .series import read_values, read_wrenches
    from .simulation_summary import held_at_the_end, print_summary, summarize, touching

    if output is not None:
        check_target(output)
    if plot is not None:
        check_picture(plot)
    if explain is not None and as_json:
        raise InputError("--json and --explain cannot be used together")
    if duration > MOST_SECONDS:
        raise InputError(f"--duration is {duration:g} s; give {MOST_SECONDS:g} s at most")
    environment: Environment | None
    if as_world:
        if walls is not None:
            raise click.UsageError("--environment is in the file of the --world")
        world, described = options.world(source)
        robot, environment = world.robot, world.environment
    else:
        described = options.described(source)
        robot = options.read(described)
        environment = None if walls is None else walls_of(robot, walls)
    start = [read_values(robot, *one) for one in (("position", position), ("velocity", velocity))]
    for name, one in zip(("position", "velocity"), start, strict=True):
        if one.many and len(one.numbers) > 1:
            raise InputError(f"--{name}: {len(one.numbers)} states given; one starts a simulation")
    q0, v0 = (one.numbers.reshape(-1) for one in start)
    if velocity is None:
        v0 = robot.home_velocity
    if limited:
        environment = with_stops(robot, q0, environment)
    if environment is not None:
        q0, words = lifted(robot, q0, environment)
        if words:
            click.echo(words, err=True)
    drive, longest = effort_of(robot, effort)
    if hold is not None:
        drive = held(robot, q0, drive, hold)
    if rate is None and output is None and plot is not None and duration > 0:
        rate = DRAWN / duration
    times = _sample_times(duration, rate, output)
    began = time.perf_counter()
    stopped = None
    try:
        with progress_bar("simulating", duration) as progress:
            trajectory = run(
                robot, q0, v0, duration, drive, rtol, atol, environment,
                times=times, max_step=longest, progress=progress, method=method,
                joint_limits=False,  # they are stops of the environment
                wrenches=read_wrenches(wrench),
                through_change_points=through,
            )  # fmt: skip
    except StoppedSimulationError as error:
        trajectory, stopped = error.trajectory, error
    wall = time.perf_counter() - began
    if len(trajectory):
        if output is not None:
            description = shareable_urdf(described)
            if not description and Path(output).suffix.lower() in BAGS:
                click.echo(
                    f"Warning: {output} has no /robot_description: {source} is not a URDF", err=True
                )
            write(robot, trajectory, output, description, environment)
        if plot is not None:
            from ..view.plots import save_plot

            save_plot(robot.model, trajectory, plot)
    files = [file for file in (output, plot) if file is not None]
    if stopped is not None:
        kept = f" The motion up to there is in {', '.join(files)}." if files else ""
        raise SimulationError(f"{stopped}.{kept}") from stopped
    if explain is not None:
        from ..robot.steps import WRITERS
        from ..simulation.contact.impact_steps import impact_steps

        if environment is None:
            raise InputError("--explain is for impacts; give --environment")
        steps = [impact_steps(robot, environment, one) for one in trajectory.impacts]
        click.echo(WRITERS[explain](steps) if steps else "No impacts.")
        return
    summary = summarize(robot, trajectory, wall)
    walled = as_world or walls is not None
    if environment is not None and (walled or trajectory.impacts):
        summary["impacts"] = impact_records(robot, environment, trajectory.impacts)
    if environment is not None and walled:
        summary["contacts"] = held_at_the_end(trajectory)
        summary["touching"] = touching(robot, environment, trajectory)
    summary["files"] = files
    if as_json:
        print_json(summary)
    else:
        print_summary(robot, trajectory, summary)


def walls_of(robot: Robot, path: str) -> Environment:
    """The walls of a file, refused where they do not fit the robot."""
    from ..simulation import read_environment

    environment = read_environment(path)
    try:
        environment.contact_points(robot)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return environment


def effort_of(
    robot: Robot, text: str | None
) -> tuple[Array | Callable[[float, Array, Array], Array], float]:
    """The efforts of the joints over time, and the longest step (s) that overlooks none."""
    import numpy as np

    from ..recording.table import linear
    from .series import read_values

    series = read_values(robot, "effort", text)
    if not series.many:
        return series.numbers, np.inf
    if series.time is None:
        raise InputError(f"{text}: has several rows of efforts but no column time")
    at, values = series.time, series.numbers
    if not len(at) or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
        raise InputError(f"{text}: column time must be finite and increase from row to row")
    if len(at) == 1:
        return values[0], np.inf
    return linear(at, values), float(np.median(np.diff(at)))


def _sample_times(duration: float, rate: float | None, output: str | None) -> Array | None:
    import numpy as np

    from ..recording.write import BAGS

    if rate is None and output is not None and Path(output).suffix.lower() in BAGS:
        rate = BAG_RATE
    if rate is None:
        return None
    if not 0 < rate < np.inf or not 0 <= duration < np.inf:
        raise InputError(f"--rate {rate:g}, --duration {duration:g}: both must be positive, finite")
    count = duration * rate * (1 + 1e-12)
    if count > MOST_SAMPLES:
        raise InputError(f"--rate {rate:g} over {duration:g} s makes {count:.1g} samples: too many")
    times = np.arange(int(count) + 1) / rate
    return np.minimum(times, duration)


def held(robot: Robot, q0: Array, effort: Array | EffortFunction, text: str) -> EffortFunction:
    """Efforts with kp (q0 - q) - kd v added at every actuated joint of one freedom.

    Parameters
    ----------
    text : "kp,kd": N m/rad and N m s/rad, or N/m and N s/m.

    Raises
    ------
    InputError
        It is not two numbers, 0 or more, or there is no such joint.
    """
    import numpy as np

    from ..simulation.effort import effort_function

    given = to_floats(text) or []
    if len(given) != 2 or not all(0 <= gain < np.inf for gain in given):
        raise InputError(
            f"--hold: {text!r} is not kp,kd: two numbers, 0 or more, such as 60,2 (N m/rad and "
            "N m s/rad)"
        )
    kp, kd = given
    at = [
        (robot.effort_labels.index(name), robot.position_labels.index(name),
         robot.velocity_labels.index(name))
        for name in robot.actuated_joints
        if name in robot.effort_labels and name in robot.position_labels
    ]  # fmt: skip
    if not at:
        raise InputError(
            f"--hold: {robot.model.source} has no actuated joint of one freedom among its "
            "independent ones; make the actuated joints independent, or leave it out"
        )
    motors, places, speeds = (np.array(column) for column in zip(*at, strict=True))
    start, drive = q0[places], effort_function(robot, effort)

    def spring(t: float, q: Array, v: Array) -> Array:
        result = drive(t, q, v).copy()
        result[motors] += kp * (start - q[places]) - kd * v[speeds]
        return result

    return spring
