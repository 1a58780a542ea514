"""Worst cycles of control laws in C++, over ten million calls a mode.

    python -m benchmarks.control_cycle [--calls 10000000] [--mode computed_torque] [ROBOT ...]

Writes every robot as `mbdyn codegen --cpp` does, compiles it as its CMake package would, moves it
about home, a new state in every call, and times `ComputedTorque::update`: the mean, the median, two
quantiles and the worst by the clock, with how often the scheduler took the core away; and the worst
by own work: the same motion runs three times, and of every call the shortest counts. On a machine
with other work `chrt -f 20` before the command keeps most pauses out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import mbdyn_ros
from mbdyn_ros.export.headers import INCLUDE

HERE = Path(__file__).resolve().parent
SHARE = 0.4
"""Share of the way to the nearer limit, or of 1 rad or m, that joints move."""


def amplitude(robot: mbdyn_ros.Robot) -> np.ndarray:
    """Amplitudes (nq,) at which the loops close wherever the robot is on its motion."""
    low, high = robot.position_limits
    home = robot.home_position
    way = SHARE * np.minimum(1.0, np.minimum(high - home, home - low))
    shares = np.sin(np.linspace(0, 60, 500)[:, None] * (2.0 + 0.37 * np.arange(robot.nq)))
    while not np.isfinite(robot.gravity_vector(home + way * shares)).all():
        way = way / 2
    return way


def measure(robot: mbdyn_ros.Robot, calls: int, mode: str) -> str:
    """The table of one robot, of one mode or of all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prefix = robot.generate_cpp(folder, links=[]).files[0].stem
        library, program = folder / "model.so", folder / "control_cycle"
        for command in (
            ["cc", "-std=c99", "-O3", "-fPIC", "-shared", "-DMBDYN_ROS_LIBRARY", "-I", folder,
             folder / f"{prefix}.c", folder / f"{prefix}_model.c", "-o", library, "-lm"],
            ["c++", "-std=c++17", "-O2", "-I", INCLUDE, HERE / "control_cycle.cpp", "-o", program,
             "-ldl"],
        ):  # fmt: skip
            subprocess.run([str(one) for one in command], check=True)
        run = [str(program), str(library), str(calls), mode, *map(repr, amplitude(robot).tolist())]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Measure the robots named, or a UR5 and the crane."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--mode", default="all")
    parser.add_argument("robots", nargs="*")
    given = parser.parse_args()
    robots = [mbdyn_ros.load(path) for path in given.robots]
    robots = robots or [mbdyn_ros.example(one) for one in ("ur5", "manipulator")]
    print("ns a call                 mean   median    99.9%  99.999%   worst us     own us   away")
    for robot in robots:
        print(f"{robot.model.name}, load average {os.getloadavg()[0]:.1f}")
        print(measure(robot, given.calls, given.mode), end="", flush=True)


if __name__ == "__main__":
    main()
