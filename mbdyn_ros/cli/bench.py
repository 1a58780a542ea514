"""mbdyn bench: how long the calls take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..bench.benchmark import PROGRAMS
from ..errors import InputError
from .options import RobotOptions, complete_robot, robot_options, shareable_urdf
from .printing import print_json, print_table, progress_bar

if TYPE_CHECKING:
    from ..bench.benchmark import Benchmark


@click.command()
@click.argument(
    "sources", metavar="ROBOT...", nargs=-1, required=True, shell_complete=complete_robot
)
@click.option(
    "--program",
    "programs",
    multiple=True,
    metavar="NAME",
    help=f"What to time; may be repeated.  [default: {', '.join(PROGRAMS)}]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Timed blocks of each call; the fastest one counts.",
)
@robot_options
def bench(
    sources: tuple[str, ...],
    programs: tuple[str, ...],
    rounds: int,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Time the calls, and Pinocchio's where it is installed.

    Calls take turns in one process, and each time is the minimum of many blocks. "bind" is the
    compiled program through robot.bind, "plain" the method with its checks. Inverse and forward
    dynamics also run over 10000 states at once, on all processors, Pinocchio's pool as well; their
    times are those of one state. Pinocchio's answers are compared with ours.

    \b
    Examples:
      mbdyn bench ur5 panda
      mbdyn bench --floating-base quadruped --json
    """
    from ..bench.benchmark import benchmark
    from ..program.program import offered
    from ..robot import Robot

    known = [name for name in offered() if hasattr(Robot, name)]
    for name in programs:
        if name not in known:
            raise InputError(f"--program: there is no {name!r}; there are {', '.join(known)}")
    results = []
    for place, source in enumerate(sources, 1):
        if source == "-":
            raise InputError("bench cannot read standard input (-); give files or names of robots")
        described = options.described(source)
        robot, text = options.read(described), shareable_urdf(described)
        words = f"timing {robot.model.name} ({place} of {len(sources)})"
        with progress_bar(words, 1.0) as progress:
            results.append(benchmark(robot, text or None, programs or PROGRAMS, rounds, progress))
    if as_json:
        print_json([result.to_dict() for result in results])
        return
    for result in results:
        _print(result)


def _print(result: Benchmark) -> None:
    rows = []
    for timing in result.timings:
        times = [timing.bind, timing.plain, timing.pinocchio]
        cells = ["-" if one is None else f"{one:.3f}" for one in times]
        ratios = (timing.bind_ratio, timing.plain_ratio)
        cells += ["-" if one is None else f"{one:.2f}" for one in ratios]
        many = "" if timing.states == 1 else f", {timing.states} states"
        rows.append((timing.program + many, *cells))
    header = ("program", "bind us", "plain us", "pinocchio us", "bind / pin", "plain / pin")
    print_table(f"{result.robot}, nv {result.nv}", header, rows)
    if not result.compiled:
        click.echo("No C compiler was found: the interpreter was timed.")
    if result.note:
        click.echo(result.note)
    if result.pinocchio_nv not in (None, result.nv):
        click.echo(
            f"Pinocchio has nv {result.pinocchio_nv}: mimic joints are left free in its model."
        )
