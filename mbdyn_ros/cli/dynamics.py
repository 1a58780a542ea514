"""mbdyn id and mbdyn fd: efforts that a motion asks for, and accelerations that efforts cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .options import (
    AT_HOME,
    STEPS_AS,
    RobotOptions,
    load_options,
    robot_argument,
    robot_options,
    state_option,
)

if TYPE_CHECKING:
    from ..model.model import Array
    from ..robot import Robot
    from .states import States

F = TypeVar("F", bound=Callable[..., Any])


def states_options(given: str, unit: str, result: str) -> Callable[[F], F]:
    """The options of a verb that computes `result` of positions, velocities and `given`."""
    trajectory = click.option(
        "--trajectory", metavar="FILE",
        help=f"CSV or JSON with columns position/<joint>, velocity/<joint>, {given}/<joint>, and "
        "time if there is one: what `mbdyn simulate --output` writes. Or a bag with joint states.",
    )  # fmt: skip
    differentiate = click.option(
        "--differentiate", is_flag=True,
        help="Take velocities and accelerations that the trajectory lacks from smoothing splines "
        "through its positions.",
    )  # fmt: skip
    plot = click.option(
        "--plot",
        metavar="FILE",
        help=f"Plot the {result} of many states as .png, .svg or .pdf.",
    )
    output = click.option(
        "--output", metavar="FILE", help=f"Write states and {result} as .csv or .json."
    )
    explain = click.option(
        "--explain", type=STEPS_AS,
        help="Of a crane of joints and cylinders, print each step of the parallel-serial paper at "
        "one state, with its numbers, to be redone by hand.",
    )  # fmt: skip

    def decorate(function: F) -> F:
        for option in (
            robot_options,
            explain,
            plot,
            output,
            load_options,
            differentiate,
            trajectory,
            state_option(given, unit),
            state_option("velocity", "rad/s or m/s"),
            state_option("position", "rad or m", AT_HOME),
            robot_argument,
        ):
            function = option(function)
        return function

    return decorate


@click.command(name="id")
@states_options("acceleration", "rad/s^2 or m/s^2", "efforts")
def id_(source: str, options: RobotOptions, **others: Any) -> None:
    """Inverse dynamics: the efforts that cause a motion.

    VALUES are name=value,... pairs, a JSON list in the robot's order, or a CSV or JSON file with
    many states: columns position/<joint> (or plain joint names), one row a state. Many states
    give many efforts: as CSV on standard output, or in the file named by --output.

    \b
    Examples:
      mbdyn id ur5 --position elbow_joint=1.2 --acceleration shoulder_pan_joint=0.5
      mbdyn id ur5 --position '[0, -1, 1, 0, 0.5, 0]' --wrench tool0=0,0,-20,0,0,0
      mbdyn simulate ur5 --duration 0.2 --output run.csv
      mbdyn id ur5 --trajectory run.csv --output efforts.csv --plot efforts.png
      mbdyn id boom --position 0.1 --acceleration 0.5 --explain text
    """
    _check_files(**others)
    robot = options.read(source)
    _answer(robot, robot.inverse_dynamics, "acceleration", "effort", **others)


@click.command()
@states_options("effort", "N m or N", "accelerations")
def fd(source: str, options: RobotOptions, **others: Any) -> None:
    """Forward dynamics: the accelerations that efforts cause.

    VALUES are name=value,... pairs, a JSON list in the robot's order, or a CSV or JSON file with
    many states, as for `mbdyn id`. A robot with a link that moves no mass is refused: its
    accelerations are not determined.

    \b
    Examples:
      mbdyn fd ur5 --effort shoulder_pan_joint=10
      mbdyn fd ur5 --position '[0, -1, 1, 0, 0.5, 0]' --no-friction --json
      mbdyn simulate ur5 --duration 0.2 --output run.csv
      mbdyn fd ur5 --trajectory run.csv --output accelerations.csv
      mbdyn fd crane --effort lift_rod_joint=9000 --explain latex
    """
    _check_files(**others)
    robot = options.read(source)
    robot.require_mass("forward dynamics")
    _answer(robot, robot.forward_dynamics, "effort", "acceleration", **others)


def _check_files(output: str | None, plot: str | None, **_: Any) -> None:
    """Refuse, before the work is done, files that could not be written after it."""
    from ..recording.write import TABLES, check_target
    from ..view.figure import check_picture

    if output is not None:
        check_target(output, TABLES)
    if plot is not None:
        check_picture(plot)


def _answer(
    robot: Robot,
    dynamics: Callable[..., Any],
    given: str,
    wanted: str,
    trajectory: str | None,
    differentiate: bool,
    wrench: tuple[str, ...],
    no_friction: bool,
    output: str | None,
    plot: str | None,
    explain: str | None,
    as_json: bool,
    **values: str | None,
) -> None:
    """Show what the dynamics of a robot give for `given`; `values` are the options of states."""
    from ..errors import InputError
    from ..robot.module_steps import module_steps
    from ..robot.steps import WRITERS
    from .series import read_wrenches
    from .states import gather, print_state, rounding_noise, show

    texts = {quantity: values[quantity] for quantity in ("position", "velocity", given)}
    if differentiate and trajectory is None:
        raise click.UsageError("--differentiate goes with --trajectory")
    states = gather(robot, texts, trajectory, differentiate)
    wrenches = read_wrenches(wrench)
    _warn_of_limits(robot, robot.position_labels, states["position"].numbers)

    def answer(*numbers: Array, friction: bool = False) -> Array:
        effect: Array = dynamics(*numbers, wrenches, friction)
        return effect

    numbers = [series.numbers for series in states.values()]
    if explain is not None:
        others = {"--json": as_json, "--wrench": bool(wrench)}
        for option in (name for name, one in others.items() if one):
            raise InputError(f"{option} and --explain cannot be used together")
        if any(one.ndim == 2 for one in numbers):
            raise InputError("--explain is for one state; give --position, not --trajectory")
        quantity = "a" if given == "acceleration" else given
        q, v, known = numbers
        keywords: Any = {quantity: known, "friction": not no_friction}
        steps = module_steps(robot, q, v, **keywords)
        click.echo(WRITERS[explain](steps))
    result = answer(*numbers, friction=not no_friction)
    joints = robot.system.coordinates.joint_labels
    dependent = [k for k, label in enumerate(joints) if label not in robot.position_labels]
    if dependent:
        positions = robot.joint_state(numbers[0])[0][..., dependent]
        _warn_of_limits(robot, [joints[k] for k in dependent], positions)
    if plot is not None:
        _plot(robot, states, wanted, result, plot)
    show(robot, states, wanted, result, as_json, output)
    if result.ndim == 1 and output is None and not (as_json or explain):
        print_state(robot, states, wanted, result, rounding_noise(answer, numbers))


def _warn_of_limits(robot: Robot, labels: Sequence[str], positions: Array) -> None:
    """Warn of the first position beyond its limit, as of degrees."""
    from ..motion import first_violation

    found = first_violation(robot, {"position": (labels, positions)})
    if found is not None:
        text = str(found) if positions.ndim == 2 else str(found).partition(": ")[2]
        click.echo(f"Warning: {text}", err=True)


def _plot(robot: Robot, states: States, quantity: str, result: Array, path: str) -> None:
    """Plot the result, with the limits of efforts that are near it."""
    from ..units import acceleration_unit, effort_unit
    from ..view.plots import save_result_plot
    from .series import labels_of

    labels = labels_of(robot, quantity)
    unit_of = effort_unit if quantity == "effort" else acceleration_unit
    times = [one.time for one in states.values() if one.time is not None]
    save_result_plot(
        path, robot.model.name, quantity, labels, [unit_of(robot.model, one) for one in labels],
        result, times[0] if times else None, robot.effort_limits if quantity == "effort" else None,
    )  # fmt: skip
