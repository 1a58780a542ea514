"""mbdyn inspect: what was understood of a robot."""

from __future__ import annotations

import click

from .common import RobotOptions, print_json, robot_options


@click.command()
@click.argument("urdf")
@robot_options
def inspect(urdf: str, options: RobotOptions, as_json: bool) -> None:
    """Say what was understood of a robot.

    Shows the tree of links with their masses, the joints with range, limits, damping and dry
    friction, the mobility, which joints are independent, dependent and actuated, links without
    mass, and warnings about what looks wrong.

    \b
    Examples:
      mbdyn inspect panda.urdf
      mbdyn inspect --floating-base solo12.urdf
      mbdyn inspect panda.urdf --json | jq .moving_mass
    """
    report = options.read(urdf, quiet=True).report()
    if as_json:
        print_json(report.to_dict())
        for text in report.warnings:
            click.echo(f"Warning: {text}", err=True)
    else:
        click.echo(str(report))
