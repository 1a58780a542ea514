"""mbdyn codegen: the equations as C code, or as formulas that one can read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import writing
from ..export.closed_form_text import FORMATS
from ..robot.export import PRECISIONS
from .options import WRITTEN_AS, RobotOptions, robot_argument, robot_options
from .printing import print_json

if TYPE_CHECKING:
    from ..export.c_export import Exported
    from ..robot import Robot

READABLE_TERMS, TERM_SIZE = 100_000, 100
"""Terms of a closed form beyond which its text takes minutes, and characters of each."""


@click.command()
@robot_argument
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Folder for C code; a file .fmu for a unit of FMI 3.0; file (.txt, .md, .tex) for "
    "formulas, or a folder.",
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="LINK",
    help="A link whose Jacobian is wanted; may be repeated.  [default: every end]",
)
@click.option(
    "--cpp",
    "in_cpp",
    is_flag=True,
    help="A C++17 class around the C, as a CMake package; loops follow their motion.",
)
@click.option(
    "--variable",
    multiple=True,
    metavar="NAME",
    help="A link whose inertia is an argument in C, or gravity, friction, armature or "
    "springs; may be repeated.",
)
@click.option(
    "--control-link",
    metavar="LINK",
    default="",
    help="With --cpp: the link that the control law cartesian_impedance is about.",
)
@click.option(
    "--imu",
    "imu_links",
    multiple=True,
    metavar="LINK",
    help="With --cpp: a link with an inertial measurement unit; may be repeated.",
)
@click.option(
    "--force-torque",
    "force_torque_joints",
    multiple=True,
    metavar="JOINT",
    help="With --cpp: a joint with a force-torque sensor; may be repeated.",
)
@click.option(
    "--felt-link",
    "felt_links",
    multiple=True,
    metavar="LINK",
    help="With --cpp: a link at which external wrenches are felt; may be repeated.",
)
@click.option(
    "--closed-form",
    "formulas",
    is_flag=True,
    help="Formulas of every element of H, C and g; into a folder as C code.",
)
@click.option(
    "--symbols",
    metavar="KINDS",
    default="",
    help="Numbers that stay symbols in them: masses,centres,moments,lengths.",
)
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default="double",
    show_default=True,
    help="Of the C code; single for processors without doubles.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(FORMATS)),
    help="Of formulas on standard output.  [default: text]",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 17),
    help="Digits of the numbers in formulas.  [default: all]",
)
@robot_options
def codegen(
    source: str,
    output: str | None,
    links: tuple[str, ...],
    in_cpp: bool,
    variable: tuple[str, ...],
    control_link: str,
    imu_links: tuple[str, ...],
    force_torque_joints: tuple[str, ...],
    felt_links: tuple[str, ...],
    formulas: bool,
    symbols: str,
    precision: str,
    kind: str | None,
    digits: int | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Write the equations as C99 that needs no library, or as formulas.

    The folder gets a header with units and order of the joints, the code, a test program with
    recorded values, a CMake project, and a Python module that calls the compiled library: inverse
    and forward dynamics, mass matrix, gravity, Jacobians. Files of other origin are not
    overwritten.

    With --cpp: a C++17 class with constants, control laws and an example of a 1 kHz loop, in a
    CMake package, and a library that other programs open at run time.

    Into a file that ends with .fmu: a unit of FMI 3.0 for other simulators, for model exchange and
    co-simulation.

    With --closed-form: P = H(q) qdd + qd^T C(q) qd + g(q), every element a polynomial in
    C1 = cos(q1), S1 = sin(q1), ..., and how many are zero; into a folder these closed forms too,
    as C functions along with the others.

    \b
    Examples:
      mbdyn codegen ur5 -o ur5_c && cmake -S ur5_c -B build && cmake --build build
      mbdyn codegen panda -o panda_c --link panda_link8 --precision single
      mbdyn codegen ur5 --cpp --variable tool0 -o my_robot
      mbdyn codegen crane -o crane.fmu    # for Simulink, Dymola, OpenModelica, FMPy
      mbdyn codegen piezo_robot --closed-form --digits 4
      mbdyn codegen piezo_robot --closed-form -o dynamics.tex
      mbdyn codegen piezo_robot --closed-form --symbols masses,lengths
      mbdyn codegen piezo_robot --closed-form -o piezo_c
    """
    from ..export.closed_form_program import closed_form_programs
    from ..model.read.source_text import NamedText

    if formulas and (in_cpp or variable):
        raise click.UsageError("--cpp and --variable do not go with --closed-form")
    in_c = output is not None and not Path(output).suffix
    kept = tuple(one.strip() for one in symbols.split(",") if one.strip())
    if kept and not formulas:
        raise click.UsageError("--symbols goes with --closed-form")
    if formulas and not in_c:
        if links:
            raise click.UsageError("--link goes with C code, not with --closed-form")
        if precision != "double":
            raise click.UsageError("--precision goes with C code, not with formulas")
        _write_formulas(options.read(source), output, kind, digits, kept, as_json)
        return
    if kind is not None or digits is not None:
        raise click.UsageError("--format and --digits go with --closed-form")
    if output is None:
        raise click.UsageError("name a folder for the C code: -o FOLDER")
    only_in_cpp = {
        "--control-link": control_link,
        "--imu": imu_links,
        "--force-torque": force_torque_joints,
        "--felt-link": felt_links,
    }
    for name, given in only_in_cpp.items():
        if given and not in_cpp:
            raise click.UsageError(f"{name} goes with --cpp")
    if in_cpp and precision != "double":
        raise click.UsageError("--precision goes with C code, not with --cpp")
    if in_cpp:
        description = options.described(source)
        robot = options.read(description)
        text = description.text if isinstance(description, NamedText) else None
        written = robot.generate_cpp(
            output,
            links or None,
            variable,
            text,
            control_link,
            imu_links,
            force_torque_joints,
            felt_links,
        )
        _say(robot, written, as_json)
        return
    robot = options.read(source)
    if Path(output).suffix.lower() == ".fmu":
        for name, given in (("--link", links), ("--variable", variable)):
            if given:
                raise click.UsageError(f"{name} goes with C code, not with a unit of FMI")
        _say(robot, robot.generate_fmu(output), as_json)
        return
    more = closed_form_programs(robot.system, robot.model.source, kept) if formulas else ()
    written = robot.generate_c(output, links or None, variable, more, precision)
    _say(robot, written, as_json)


def _say(robot: Robot, written: Exported, as_json: bool) -> None:
    """Print what was written."""
    if as_json:
        print_json(
            {
                "robot": robot.model.name,
                "files": [str(file) for file in written.files],
                "functions": list(written.functions),
                "omitted": list(written.omitted),
            }
        )
        return
    for file in written.files:
        click.echo(f"wrote {file}")
    for text in written.omitted:
        click.echo(f"Warning: no {text}", err=True)


def _write_formulas(
    robot: Robot,
    output: str | None,
    kind: str | None,
    digits: int | None,
    symbols: tuple[str, ...],
    as_json: bool,
) -> None:
    from ..export.closed_form_text import to_elements
    from ..recording.write import check_target

    target: Path | None = None
    if output is not None:
        target = check_target(output, tuple(WRITTEN_AS))
        asked = WRITTEN_AS[target.suffix.lower()]
        if kind not in (None, asked):
            raise click.UsageError(f"--format {kind} does not fit {output}")
        kind = asked
    form = robot.closed_form(symbols)
    if form.terms > READABLE_TERMS:
        click.echo(
            f"Warning: the closed form has {form.terms:,} terms, about "
            f"{form.terms * TERM_SIZE / 1e6:.0f} MB as text, which takes minutes. To compute with "
            f"the equations, write C by the recursions: mbdyn codegen {robot.model.name} -o FOLDER",
            err=True,
        )
    text = FORMATS[kind or "text"](form, digits)
    if target is not None:
        with writing(target):
            target.write_text(text, encoding="utf-8")
    if as_json:
        document = {
            "robot": robot.model.name,
            "joints": list(form.joints),
            "count": len(form.elements),
            "zeros": form.zeros,
            "elements": to_elements(form, digits),
        }
        print_json(document if output is None else {**document, "output": output})
    elif target is None:
        click.echo(text, nl=False)
    else:
        click.echo(f"wrote {target}: {len(form.elements)} elements, {form.zeros} of them zero")
