"""mbdyn edit: a robot changed, and written as a file of any format that we write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from ..number import to_float
from .belonging import given, require_belonging
from .options import RobotOptions, robot_argument, robot_file, robot_options
from .printing import print_json

if TYPE_CHECKING:
    from ..robot import Robot

USED_BY = {
    **dict.fromkeys(("at", "xyz", "rpy", "prefix"), ("--attach",)),
    "mass": ("--scale",),
}
"""By the name of an option, the option with which it means something."""


@click.command()
@robot_argument
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="The file: .urdf (URDF+), .xml (MJCF, for MuJoCo) or .sdf.",
)
@click.option("--attach", metavar="ROBOT", help="A tool or a second robot to fasten.")
@click.option("--at", metavar="LINK", help="The link to which it is fastened.")
@click.option("--xyz", nargs=3, type=float, metavar="X Y Z", help="Position of its root there, m.")
@click.option("--rpy", nargs=3, type=float, metavar="R P Y", help="How it is turned there, rad.")
@click.option("--prefix", default="", metavar="TEXT", help="Begins all its names.")
@click.option(
    "--remove",
    multiple=True,
    metavar="NAME",
    help="A link with what hangs on it, a loop or a coupling; may be repeated.",
)
@click.option(
    "--lock",
    multiple=True,
    metavar="JOINT[=VALUE],...",
    help="Joints to fix, at positions (rad or m) or at home; may be repeated.",
)
@click.option(
    "--joint",
    "joints",
    multiple=True,
    metavar="JOINT:KEY=VALUE,...",
    help="Other numbers of a joint: lower, upper, velocity, effort, damping, friction, "
    "armature, spring_stiffness, spring_reference; may be repeated.",
)
@click.option("--scale", type=float, metavar="FACTOR", help="Of all lengths.")
@click.option(
    "--mass",
    type=float,
    metavar="FACTOR",
    help="Of all masses, with --scale.  [default: the cube of its factor]",
)
@click.option(
    "--mirror",
    nargs=3,
    type=float,
    metavar="X Y Z",
    help="The normal of the plane in which to mirror, in the root link's axes.",
)
@click.option("--rename-joint", multiple=True, metavar="OLD=NEW", help="May be repeated.")
@click.option("--rename-link", multiple=True, metavar="OLD=NEW", help="May be repeated.")
@click.option("--name", metavar="TEXT", help="Another name of the robot.")
@robot_options
def edit(
    source: str,
    output: str,
    attach: str | None,
    at: str | None,
    xyz: tuple[float, float, float] | None,
    rpy: tuple[float, float, float] | None,
    prefix: str,
    remove: tuple[str, ...],
    lock: tuple[str, ...],
    joints: tuple[str, ...],
    scale: float | None,
    mass: float | None,
    mirror: tuple[float, float, float] | None,
    rename_joint: tuple[str, ...],
    rename_link: tuple[str, ...],
    name: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Change a robot and write it as a file; without a change, convert it.

    Loops, mimics, choices and home are adapted to each change, and incomplete changes are refused.
    Changes are made in the order of the options below. The URDF+ file reads back as the same
    robot; a warning lists what other formats cannot express.

    \b
    Examples:
      mbdyn edit ur5 --lock elbow_joint=0.3,wrist_3_joint -o reduced.urdf
      mbdyn edit ur5 --attach gripper --at tool0 --prefix hand_ -o both.urdf
      mbdyn edit ur5 --joint elbow_joint:damping=2,effort=100 -o damped.urdf
      mbdyn edit excavator --scale 0.1 -o model.urdf
      mbdyn edit crane -o crane.xml
      mbdyn edit panda --mirror 0 1 0 --name left_arm -o left_arm.urdf
    """
    from ..recording.write import check_target
    from ..robot.saving import WRITERS

    require_belonging(USED_BY, given(click.get_current_context()))
    target = check_target(output, tuple(WRITERS))
    if source != "-" and Path(source).exists() and target.exists() and target.samefile(source):
        raise InputError(f"{target} is the robot's own file; choose another output")
    if attach is not None and at is None:
        raise click.UsageError("--attach: name the link it is fastened to: --at LINK")
    robot = options.read(source)
    if attach is not None:
        zero = (0.0, 0.0, 0.0)
        robot = robot.attached(robot_file(attach), str(at), xyz or zero, rpy or zero, prefix)
    if remove:
        robot = robot.without(*remove)
    if lock:
        robot = robot.locked(_locks(robot, lock))
    for text in joints:
        robot = _with_numbers(robot, text)
    if scale is not None:
        robot = robot.scaled(scale, mass)
    if mirror is not None:
        robot = robot.mirrored(mirror)
    if rename_joint or rename_link or name:
        robot = robot.renamed(
            _pairs(rename_joint, "--rename-joint"), _pairs(rename_link, "--rename-link"), name=name
        )
    saved = WRITERS[target.suffix.lower()](robot, target)
    if as_json:
        print_json(
            {
                "robot": robot.model.name,
                "output": str(saved.path),
                "joints": list(robot.joint_names),
                "independent": list(robot.independent_joints),
                "omitted": list(saved.omitted),
            }
        )
        return
    click.echo(f"wrote {saved.path}: {robot!r}")
    for text in saved.omitted:
        click.echo(f"Warning: not written: {text}", err=True)


def _locks(robot: Robot, texts: Iterable[str]) -> dict[str, float]:
    """Positions of joints that are to be locked; home if none is given."""
    found: dict[str, float] = {}
    for text in ",".join(texts).split(","):
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name:
            continue
        if name in found:
            raise InputError(f"--lock: {name!r} is given twice")
        if equals:
            found[name] = _number("--lock", text, value)
        elif name in robot.home:
            found[name] = robot.home[name]
        else:
            robot.locked([name])  # says why it has no place at home
    return found


def _with_numbers(robot: Robot, text: str) -> Robot:
    name, colon, rest = text.rpartition(":")
    if not colon:
        raise InputError(f"--joint: {text!r} is not JOINT:KEY=VALUE,...")
    changes = _pairs(rest.split(","), "--joint")
    return robot.with_joint(
        name, **{key: _number("--joint", text, value) for key, value in changes.items()}
    )


def _pairs(texts: Iterable[str], what: str) -> Mapping[str, str]:
    """Texts by name, of NAME=TEXT."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            form = "OLD=NEW" if "rename" in what else "KEY=VALUE"
            raise InputError(f"{what}: {text!r} is not {form}")
        if name in found:
            raise InputError(f"{what}: {name!r} is given twice")
        found[name] = value
    return found


def _number(what: str, text: str, value: str) -> float:
    number = to_float(value)
    if number is None:
        raise InputError(f"{what}: {text!r}: {value!r} is not a number")
    return number
