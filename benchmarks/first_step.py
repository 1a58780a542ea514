"""What the first step of a robot among walls costs: processor time with an empty cache.

    python -m benchmarks.first_step [names ...]

Every robot is loaded, traced and compiled in a process of its own and takes one step above a floor
(`field` above a height field). Of each: seconds of the processor, compilers included, and how many
of them the library of steps takes, which all robots of a machine share.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

FILES = {
    "solo12": "solo12.urdf", "panda": "panda.urdf", "go2": "go2.urdf",
    "talos": "talos_reduced.urdf", "tiago": "tiago.urdf", "centauro": "centauro.urdf",
}  # fmt: skip
"""Robots of example-robot-data."""

NAMES = (*FILES, "field", "rope")

FIRST_STEP = """
import resource, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import mbdyn_ros
from benchmarks.contact_scenes import rope
from benchmarks.first_step import FILES
from benchmarks.race.robots import robot_file
from mbdyn_ros import Environment, Stepper, Surface
from mbdyn_ros.compiler.runtime.library import stepping
from mbdyn_ros.simulation.contact.height_field import height_field

def spent():
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)

name, start = sys.argv[1], spent()
stepping()
library = spent() - start
floor = Surface.plane(friction=0.8, name="floor")
if name == "rope":
    robot = rope().robot
elif name == "field":
    source = mbdyn_ros.example("quadruped").model.source
    robot = mbdyn_ros.load(source, floating_base=True)
    heights = 0.1 * np.random.default_rng(0).random((5, 5))
    floor = height_field(heights, 2.0, (-4, -4, 0), name="field")
else:
    robot = mbdyn_ros.load(robot_file(FILES[name]), floating_base=name != "panda")
stepper = Stepper(robot, 1e-3, Environment([floor]))
q = robot.home_position
if robot.nq > robot.nv:
    q[2] = 2.0
stepper.set_state(q, np.zeros(robot.nv))
stepper.advance(1)
print(spent() - start, library)
"""


def first_step(name: str) -> tuple[float, float]:
    """Seconds of the processor for the first step, and of these for the library of steps."""
    with tempfile.TemporaryDirectory(prefix="mbdyn-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-c", FIRST_STEP, name],
            env={**os.environ, "XDG_CACHE_HOME": folder},
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    whole, library = map(float, done.stdout.split())
    return whole, library


def main() -> None:
    """Time the robots that are named, or all."""
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            raise SystemExit(f"no robot is called {name!r}; there are {', '.join(NAMES)}")
        whole, library = first_step(name)
        print(f"{name:10} {whole:6.1f} s, of which the library of steps {library:.1f}", flush=True)


if __name__ == "__main__":
    main()
