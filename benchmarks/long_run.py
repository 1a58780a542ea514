"""Memory of a simulation that lasts: a pendulum that bounces between two walls, a million steps.

    python benchmarks/long_run.py [--steps 1000000] [--json]

With `times` and `on_event` nothing is kept but what was asked for.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, Surface

MAX_STEP = 1e-3
PENDULUM = """<robot name="pendulum"><link name="world"/><link name="rod">
  <inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0"
  ixz="0" iyz="0"/></inertial></link><joint name="pin" type="continuous"><axis xyz="0 1 0"/>
  <parent link="world"/><child link="rod"/></joint></robot>"""


def resident() -> float:
    """Memory (MiB) of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def measure(steps: int) -> dict[str, Any]:
    """Memory at eleven points of the run, and its energy."""
    robot = mbdyn_ros.load(PENDULUM)
    walls = Environment(
        [
            Surface.plane((-x, 0, 0), (x, 0, 0), name=f"{x}", restitution=1.0, friction=0.0)
            for x in (-0.2, 0.2)
        ]
    )
    count, impacts, memory = 0, 0, []
    share = max(1, steps // 10)

    def progress(now: float) -> None:
        nonlocal count
        if count % share == 0:
            memory.append(resident())
        count += 1

    def on_event(event: mbdyn_ros.Impact | mbdyn_ros.Transition) -> None:
        nonlocal impacts
        impacts += isinstance(event, mbdyn_ros.Impact)

    duration = steps * MAX_STEP
    began = time.perf_counter()
    trajectory = mbdyn_ros.simulate(
        robot, [0.0], [3.0], duration, times=np.linspace(0, duration, 11), max_step=MAX_STEP,
        environment=walls, progress=progress, on_event=on_event,
    )  # fmt: skip
    return {
        "steps": trajectory.steps,
        "impacts": impacts,
        "memory_mib": memory,
        "imbalance": float(np.abs(trajectory.imbalance).max()),
        "wall_time": time.perf_counter() - began,
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    result = measure(arguments.steps)
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(
        f"{result['steps']} steps, {result['impacts']} impacts in {result['wall_time']:.0f} s; "
        f"energy {result['imbalance']:.1e} J\nmemory (MiB) at every tenth: "
        + " ".join(f"{one:.1f}" for one in result["memory_mib"])
    )


if __name__ == "__main__":
    main()
