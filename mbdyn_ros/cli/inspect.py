"""mbdyn inspect: what was understood of a robot."""

from __future__ import annotations

import click

from .printing import print_json
from .robot_options import RobotOptions, robot_argument, robot_options


@click.command()
@robot_argument
@click.option(
    "--graph", metavar="FILE",
    help="Draw links, joints, loops and clusters as .svg or .png.",
)
@robot_options
def inspect(urdf: str, graph: str | None, options: RobotOptions, as_json: bool) -> None:
    """Say what was understood of a robot.

    Shows the tree of links with their masses, the joints with range, limits, damping and dry
    friction, the mobility, which joints are independent, dependent and actuated, links without
    mass, and warnings about what looks wrong; of closed loops and couplings their constraints,
    how many are redundant, and how the dependent positions are found.

    \b
    Examples:
      mbdyn inspect panda.urdf
      mbdyn inspect excavator.urdf --graph excavator.svg
      mbdyn inspect --floating-base solo12.urdf
      mbdyn inspect panda.urdf --json | jq .moving_mass
    """
    from ..recording.write import check_target

    if graph is not None:
        check_target(graph, (".svg", ".png"))
    robot = options.read(urdf, quiet=True)
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
