"""mbdyn examples: the robots in the box, and where their files are."""

from __future__ import annotations

import re
from pathlib import Path

import click

from .printing import print_json, print_table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def examples(as_json: bool) -> None:
    """List the robots in the box; every verb takes their names for a file.

    \b
    Examples:
      mbdyn examples
      mbdyn inspect crane
      cp "$(mbdyn examples --json | jq -r .excavator.path)" my_excavator.urdf
    """
    from ..model.read.installed import ALSO, installed_robots, own_robots

    names = {path: other for other, name in ALSO.items() for path in [own_robots()[name]]}
    rows = {
        names.get(path, name): describe(path)
        for name, path in sorted(own_robots().items())
        if name not in ALSO
    }
    if as_json:
        print_json(rows)
        return
    header = ("name", "the machine", "joints", "loops", "mass, kg")
    print_table(
        "Robots in the box",
        header,
        [
            (name, str(row["is"]), str(row["joints"]), str(row["loops"]), f"{row['mass']:g}")
            for name, row in sorted(rows.items())
        ],
        2,
    )
    others = len(installed_robots()) - len(own_robots())
    click.echo(
        f"\n{others} more by name, from the package example-robot-data, each with its own licence "
        "next to it" if others else "\nMany more by name: pip install example-robot-data"
    )  # fmt: skip


def describe(path: Path) -> dict[str, str | int | float]:
    """Numbers of a robot, and the first sentence of its file."""
    from ..model.read.description import read_description

    model = read_description(path)
    words = re.sub(r"\s#\s|\s+", " ", re.split(r"<!--|\A#", path.read_text(), maxsplit=1)[1])
    return {
        "is": re.split(r"[.:;,(] | \(| with the | of \"", words.strip(), maxsplit=1)[0],
        "path": str(path),
        "joints": sum(joint.nv > 0 for joint in model.joints),
        "loops": len(model.loops),
        "mass": round(sum(link.inertia.mass for link in model.links if link.inertia), 6),
    }
