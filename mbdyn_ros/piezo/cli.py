"""mbdyn piezo: a piezo robot goes round a circle, pulse by pulse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..cli.belonging import given, require_belonging
from ..cli.options import (
    AT_HOME,
    WRITTEN_AS,
    RobotOptions,
    complete_robot,
    robot_options,
    state_option,
)
from ..cli.printing import print_json, print_table, progress_bar
from ..errors import InputError, writing
from ..robot.export import PRECISIONS
from .torque_text import TORQUE_FORMATS

if TYPE_CHECKING:
    from ..export.closed_form import ClosedForm
    from . import PiezoMotion, RotorDrive, SlippingMotion

SETTLE = 0.5
"""s after the end of the path, in which the joints finish their motion."""

SAMPLES_PER_CYCLE = 8
"""Samples of the motion in each cycle of the controller."""

USED_BY = {
    "digits": ("--equations",),
    "output": ("--equations",),
    "precision": ("--codegen",),
    "ring_up": ("--holding",),
    "ring_down": ("--holding",),
    "drive": ("--holding",),
}
"""By the name of an option, the option with which it means something."""

OF_THE_MOTION = (
    "position", "radius", "duration", "gain", "rate", "holding", "plot", "pulses",
)  # fmt: skip
"""Options that neither --codegen nor --equations use."""


@click.command()
@click.argument("robot_file", metavar="ROBOT", shell_complete=complete_robot)
@click.option("--link", default="gripper", show_default=True, help="Link that carries the rotor.")
@state_option("position", "rad or m", AT_HOME)
@click.option("--radius", default=0.008, show_default=True, help="Of the circle, m.")
@click.option("--duration", default=6.0, show_default=True, help="Duration of the circle, s.")
@click.option("--rotor-mass", default=0.002, show_default=True, help="Unbalance, kg.")
@click.option("--rotor-radius", default=0.005, show_default=True, help="Of the unbalance, m.")
@click.option("--rotor-speed", default=1000.0, show_default=True, help="rad/s.")
@click.option("--gain", default=50.0, show_default=True, help="Of the position feedback, 1/s.")
@click.option("--rate", default=1000.0, show_default=True, help="Cycles of control, Hz.")
@click.option(
    "--holding", type=float, help="Contacts slip beyond this friction, N m or N.  [default: never]"
)
@click.option(
    "--ring-up",
    default=0.0,
    show_default=True,
    help="Time constant of transducers that begin to vibrate, s; with --holding.",
)
@click.option("--ring-down", default=0.0, show_default=True, help="Of those that cease to, s.")
@click.option(
    "--drive",
    metavar="STALL,NO_LOAD[,INERTIA]",
    help="The rotor as a body, its motor's torque at rest (N m), speed without load "
    "(rad/s) and inertia (kg m^2); with --holding.",
)
@click.option("--plot", metavar="FILE", help="Plot the motion as .png, .svg or .pdf.")
@click.option("--pulses", metavar="FILE", help="Plot the torques over one turn of the rotor.")
@click.option(
    "--codegen",
    metavar="FOLDER",
    help="Write C99 instead: dynamics, rotor torques, pulse windows, controller.",
)
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default="double",
    show_default=True,
    help="Of the C of --codegen; single for processors without doubles.",
)
@click.option(
    "--equations",
    type=click.Choice(list(TORQUE_FORMATS)),
    is_flag=False,
    flag_value="text",
    help="Formulas instead: torques, pulse windows, controller.",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 17),
    help="Digits of the numbers in --equations.  [default: all]",
)
@click.option("-o", "--output", metavar="FILE", help="File for --equations: .txt, .md or .tex.")
@robot_options
def piezo(
    robot_file: str,
    link: str,
    position: str | None,
    radius: float,
    duration: float,
    rotor_mass: float,
    rotor_radius: float,
    rotor_speed: float,
    gain: float,
    rate: float,
    holding: float | None,
    ring_up: float,
    ring_down: float,
    drive: str | None,
    plot: str | None,
    pulses: str | None,
    codegen: str | None,
    precision: str,
    equations: str | None,
    digits: int | None,
    output: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Move a piezo robot round a circle by an unbalanced rotor, and judge the motion.

    Joints whose transducers are off are held; a controller switches each on for the part of the
    rotor's turn in which the force drives it in the wanted direction.

    \b
    Examples:
      mbdyn piezo piezo_robot --position tilt_3=0.8,tilt_4=-0.5,swing_5=0.6
      mbdyn piezo piezo_robot --position '[0, 0.3, 0.8, -0.5, 0.6, 0]' --plot run.png
      mbdyn piezo piezo_robot --codegen piezo_c
      mbdyn piezo piezo_robot --equations --digits 4
    """
    import numpy as np

    from ..cli.series import read_values
    from ..view.figure import check_picture
    from . import (
        Contact,
        PiezoMotion,
        PulseController,
        Rotor,
        SlippingMotion,
        circle,
        follow,
        generate_c,
    )
    from .torque_text import torque_formulas

    typed = given(click.get_current_context())
    instead = [typed[one] for one in ("codegen", "equations") if one in typed]
    if len(instead) > 1:
        raise click.UsageError("give --codegen or --equations, not both")
    require_belonging(USED_BY, typed)
    simulated = [typed[one] for one in OF_THE_MOTION if one in typed]
    if instead and simulated:
        raise click.UsageError(f"{', '.join(simulated)}: {instead[0]} moves nothing; leave it out")
    for target in (plot, pulses):
        if target is not None:
            check_picture(target)
    robot = options.read(robot_file)
    if not 1.0 <= rate <= 1e5:
        raise InputError(f"--rate is {rate}; give 1 to 100000 Hz")
    rotor = Rotor(rotor_mass, rotor_radius, rotor_speed)
    if equations is not None:
        _show_formulas(torque_formulas(robot, rotor, link), equations, digits, output, as_json)
        return
    if codegen is not None:
        written = generate_c(robot, codegen, rotor, link, precision)
        files = [str(one) for one in written.files]
        if as_json:
            print_json({"files": files, "functions": list(written.functions)})
        for file in () if as_json else files:
            click.echo(f"wrote {file}")
        return
    start = read_values(robot, "position", position).numbers
    if start.ndim != 1:
        raise InputError("--position: give one position, not a table of many")
    control = PulseController(robot, rotor, link, min(gain, rate))
    motion: PiezoMotion | SlippingMotion = PiezoMotion(robot, rotor, link)
    if holding is not None:
        contact = Contact(holding, ring_up, ring_down)
        motion = SlippingMotion(robot, rotor, link, contact, _drive(drive))
    motion.set_state(start)
    path = circle(robot, link, start, radius, duration)
    samples = SAMPLES_PER_CYCLE if plot else 1
    with progress_bar("simulating", duration + SETTLE) as progress:
        run = follow(control, motion, path, duration + SETTLE, rate, samples, progress)
    least = 1e-3 * rotor.amplitude * radius
    document = {
        "pulses": len(run.pulses),
        "gap_rms": float(np.sqrt(np.mean(run.gap**2))),
        "gap_max": float(run.gap.max()),
        "gap_end": float(run.gap[-1]),
        "torque_error": run.torque_error(least),
        "joints": {
            name: {
                "pulses": sum(pulse.joint == name for pulse in run.pulses),
                "way": float(np.abs(np.diff(run.q[:, k])).sum()),
                "share_on": sum(p.off - p.on for p in run.pulses if p.joint == name)
                / (run.angle[-1] or 1.0),
            }
            for k, name in enumerate(robot.velocity_labels)
        },
        "held": control.unable(),
        "files": [file for file in (plot, pulses) if file is not None],
    }
    if plot is not None or pulses is not None:
        from ..view.figure import save_figure
        from .plots import plot_pulses, plot_run

        if plot is not None:
            save_figure(plot_run(robot, run), plot)
        if pulses is not None:
            middle, velocity = path.at(duration / 3)
            save_figure(plot_pulses(robot, control.pulses(middle, middle, velocity)), pulses)
    if as_json:
        print_json(document)
        return
    print_table(
        f"{robot.model.name}: round a circle of {1e3 * radius:g} mm in {duration:g} s",
        ("joint", "pulses", "travel, rad or m", "transducer on, % of the time"),
        [
            (name, str(one["pulses"]), f"{one['way']:.4f}", f"{100 * one['share_on']:.2f}")
            for name, one in document["joints"].items()  # type: ignore[attr-defined]
        ],
    )
    if control.unable():
        click.echo(
            f"held by gravity, as the rotor cannot move them there: {', '.join(control.unable())}"
        )
    click.echo(
        f"{link}: {1e3 * document['gap_rms']:.4f} mm from its path (rms), "  # type: ignore[operator]
        f"{1e3 * run.gap.max():.4f} mm at most, {1e3 * run.gap[-1]:.5f} mm at the end"
    )
    click.echo(
        f"mean torque over a turn: at most {100 * run.torque_error(least):.3f} % off the request"
    )


def _drive(text: str | None) -> RotorDrive | None:
    """The motor of --drive."""
    from . import RotorDrive

    if text is None:
        return None
    try:
        numbers = [float(one) for one in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3):
        raise InputError(f"--drive {text}: give STALL,NO_LOAD or STALL,NO_LOAD,INERTIA")
    return RotorDrive(*numbers)


def _show_formulas(
    form: ClosedForm, kind: str, digits: int | None, output: str | None, as_json: bool
) -> None:
    """Print or write what the microprocessor evaluates."""
    from ..export.closed_form_text import to_elements
    from ..recording.write import check_target

    target = None if output is None else check_target(output, tuple(WRITTEN_AS))
    kind = kind if target is None else WRITTEN_AS[target.suffix.lower()]
    text = TORQUE_FORMATS[kind](form, digits)
    if target is not None:
        with writing(target):
            target.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"joints": list(form.joints), "elements": to_elements(form, digits)})
    else:
        click.echo(text if output is None else f"wrote {output}", nl=output is not None)
