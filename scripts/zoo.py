"""Write docs/zoo.md's first table, and a picture of every robot in the box into docs/zoo/.

    python scripts/zoo.py [--pictures]

Pictures need Chromium and the extra `page`, and take minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import mbdyn_ros
from mbdyn_ros.cli.examples import describe
from mbdyn_ros.model.read.installed import ALSO, own_robots

ROOT = Path(__file__).resolve().parent.parent
PAGE, PICTURES = ROOT / "docs" / "zoo.md", ROOT / "docs" / "zoo"
TABLE = re.compile(r"(?<=\n\n)\|  \| robot \|\n.*?(?=\n\n)", re.DOTALL)
"""What the page has of it."""

SIZE = 400, 300
"""Pixels."""

COLORS = 64
"""Of a picture: flat shapes on white need no more."""

POSES = {
    "tree_robot": "q1=0.5,q2=0.6,q3=-0.9,q4=0.8,q5=-1.2,q6=0.9,q7=0.7,q8=-0.8,q9=-0.9,q10=0.7",
    "ur5": "shoulder_lift_joint=-1.2,elbow_joint=1.4,wrist_1_joint=-0.2,wrist_2_joint=1.5",
}
"""Of robots that are stretched out at home: rad."""


def names() -> list[str]:
    """Every robot once, by the name that users type."""
    return sorted({*own_robots()} - {*ALSO.values()})


def table() -> str:
    """A row a robot, in Markdown: its picture, and what it is."""
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


def picture(name: str) -> None:
    """Write the picture of a robot."""
    from PIL import Image

    file = PICTURES / f"{name}.png"
    command = [sys.executable, "-m", "mbdyn_ros", "view", name, "--screenshot", str(file)]
    pose = ["--position", POSES[name]] if name in POSES else []
    subprocess.run([*command, *pose, "--size", *map(str, SIZE)], check=True)
    Image.open(file).quantize(COLORS).save(file, optimize=True)


if __name__ == "__main__":
    text = PAGE.read_text()
    assert TABLE.search(text), f"{PAGE} has no table of robots"
    PAGE.write_text(TABLE.sub(lambda _: table(), text))
    if "--pictures" in sys.argv:
        PICTURES.mkdir(exist_ok=True)
        for one in names():
            picture(one)
