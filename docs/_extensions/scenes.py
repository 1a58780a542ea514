"""The directive `scene`: a robot in 3-D that moves and is turned by the mouse, without a server.

`mbdyn view` writes it, one file a robot, when the book is built.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "_scenes"

MOTION = "import sys; from pathlib import Path; from examples.animations import ANIMATIONS; "
MOTION += "ANIMATIONS[sys.argv[1]](Path(sys.argv[2]))"
"""Writes the motion of a robot that is animated in the book."""


class Scene(SphinxDirective):
    """The scene of a robot of `examples.animations`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the frame that shows it."""
        name = self.arguments[0]
        self.env.metadata[self.env.docname]["scene"] = name
        title = f"{name} in 3-D: drag to turn, scroll to come nearer"
        frame = f'<iframe class="scene" src="{FOLDER}/{name}.html" title="{title}" loading="lazy">'
        return [nodes.raw("", f"{frame}</iframe>", format="html")]


def write(app: Any, failure: Exception | None) -> None:
    """Write the scenes that pages have."""
    if failure is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for name in {one["scene"] for one in app.env.metadata.values() if "scene" in one}:
        with tempfile.TemporaryDirectory() as place:
            motion = str(Path(place) / "motion.csv")
            subprocess.run([sys.executable, "-c", MOTION, name, motion], check=True, cwd=ROOT)
            view = [sys.executable, "-m", "mbdyn_ros", "view", name, "--trajectory", motion]
            file = str(folder / f"{name}.html")
            subprocess.run([*view, "--screenshot", file], check=True, stdout=subprocess.DEVNULL)


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("scene", Scene)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
