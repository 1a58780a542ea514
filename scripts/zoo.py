"""Draw every robot in the box for docs/zoo.md, into docs/zoo/.

    python scripts/zoo.py [ROBOT ...]

Needs Chromium and the extra `view`, and takes minutes.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "zoo"

SIZE = 400, 300
"""Pixels."""

COLORS = 64
"""Of a picture: flat shapes on white need no more."""

POSES = {
    "tree_robot": "q1=0.5,q2=0.6,q3=-0.9,q4=0.8,q5=-1.2,q6=0.9,q7=0.7,q8=-0.8,q9=-0.9,q10=0.7",
    "ur5": "shoulder_lift_joint=-1.2,elbow_joint=1.4,wrist_1_joint=-0.2,wrist_2_joint=1.5",
}
"""Of robots that are stretched out at home: rad."""


def picture(name: str) -> None:
    """Write the picture of a robot."""
    from PIL import Image

    file = PICTURES / f"{name}.png"
    command = [sys.executable, "-m", "mbdyn_ros", "view", name, "--screenshot", str(file)]
    pose = ["--position", POSES[name]] if name in POSES else []
    subprocess.run([*command, *pose, "--size", *map(str, SIZE)], check=True)
    Image.open(file).quantize(COLORS).save(file, optimize=True)


if __name__ == "__main__":
    names = runpy.run_path(str(ROOT / "docs" / "_extensions" / "robots.py"))["names"]
    PICTURES.mkdir(exist_ok=True)
    for one in sys.argv[1:] or names():
        picture(one)
