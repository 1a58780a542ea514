"""mbdyn inspect: what was understood of a robot."""

from __future__ import annotations

import click

from .options import RobotOptions, robot_argument, robot_options
from .printing import print_json


@click.command()
@robot_argument
@click.option(
    "--graph",
    metavar="FILE",
    help="Draw links, joints, loops and clusters as .svg or .png.",
)
@robot_options
def inspect(source: str, graph: str | None, options: RobotOptions, as_json: bool) -> None:
    """Show what was understood of a robot.

    Shows the tree of links with their masses, the joints with range, limits, damping and dry
    friction, the mobility, which joints are independent, dependent and actuated, links without
    mass, and warnings about what looks wrong; of closed loops and couplings their constraints,
    how many are redundant, and how the dependent positions are found.

    \b
    Examples:
      mbdyn inspect panda
      mbdyn inspect excavator --graph excavator.svg
      mbdyn inspect --floating-base quadruped
      mbdyn inspect ur5 --home elbow_joint=1.2 --gravity 0 0 -1.62
      mbdyn inspect panda --json | jq .moving_mass
    """
    from ..view.figure import check_picture

    if graph is not None:
        check_picture(graph, (".svg", ".png"))
    robot = options.read(source, quiet=True)
    report = robot.report()
    if graph is not None:
        from ..view.graph import save_graph

        save_graph(robot, graph)
    if as_json:
        print_json(report.to_dict())
        for text in report.warnings:
            click.echo(f"Warning: {text}", err=True)
    else:
        click.echo(str(report))
        if graph is not None:
            click.echo(f"wrote {graph}")
