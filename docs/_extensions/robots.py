"""The zoo: a block `{robots}` shows every robot in the box, with its picture and what it is."""

from __future__ import annotations

import re

import mbdyn_ros
from mbdyn_ros.cli.examples import describe
from mbdyn_ros.model.read.installed import ALSO, own_robots

BLOCK = re.compile(r"^```\{robots\}\n```$", re.MULTILINE)


def filled(text: str) -> str:
    """A page's Markdown with the table of robots."""
    return BLOCK.sub(lambda _: table(), text)


def names() -> list[str]:
    """Every robot once, by the name that users type."""
    return sorted({*own_robots()} - {*ALSO.values()})


def table() -> str:
    """A row a robot: its picture, and what it is."""
    rows = [f"| ![](zoo/{name}.png) | {words(name)} |" for name in names()]
    return "\n".join(["|  | robot |", "| --- | --- |", *rows])


def words(name: str) -> str:
    """The machine, its joints, loops and freedoms, and its mass."""
    facts = describe(own_robots()[name])
    robot = mbdyn_ros.example(name)
    loops = len(robot.model.loops)
    counts = [
        counted(int(str(facts["joints"])), "joint"),
        *[counted(loops, "loop")] * bool(loops),
        counted(robot.nv, "freedom"),
        f"{float(str(facts['mass'])):.4g} kg",
    ]
    about = str(facts["is"])
    return f"**{name}**: {about[:1].lower()}{about[1:]}. {', '.join(counts)}"


def counted(number: int, noun: str) -> str:
    """A number and its noun."""
    return f"{number} {noun}{'s' * (number != 1)}"
