"""Times of a cycle of the observer, in Python and C++: python -m benchmarks.observer [ROBOT...]

Each is the least of many, the two orders of Python turn by turn; with steps of time that change, as
stamps have them, the filter is made anew at every cycle.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mbdyn_ros
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.control import Observer
from mbdyn_ros.equations.momentum import momentum_balance
from mbdyn_ros.export.headers import INCLUDE

ROUNDS, CYCLES = 50, 200
PROGRAM = Path(__file__).parent.parent / "test" / "support" / "cpp" / "observer.cpp"


def in_python(robot: mbdyn_ros.Robot) -> dict[str, float]:
    """Microseconds a cycle by variant, and of the program alone."""
    regular = 2.0**-10 * np.arange(1, CYCLES + 1)
    uneven = np.cumsum(np.random.default_rng(0).uniform(5e-4, 1.5e-3, CYCLES))
    balance = Bound(robot.calls.kernel(momentum_balance))
    made = {
        "first": (Observer(robot, variant="first"), regular.tolist()),
        "second": (Observer(robot), regular.tolist()),
        "second, uneven steps": (Observer(robot), uneven.tolist()),
    }
    least = dict.fromkeys([*made, "program"], np.inf)
    for _ in range(ROUNDS):
        for name, (observer, times) in made.items():
            observer.restart()
            begin = time.perf_counter()
            for now in times:
                observer.cycle(now)
            least[name] = min(least[name], (time.perf_counter() - begin) / CYCLES * 1e6)
        begin = time.perf_counter()
        for _ in range(CYCLES):
            balance()
        least["program"] = min(least["program"], (time.perf_counter() - begin) / CYCLES * 1e6)
    return least


def in_cpp(robot: mbdyn_ros.Robot, folder: Path) -> float:
    """Microseconds a cycle of observer.hpp, second order."""
    written = robot.generate_cpp(folder, links=[])
    name = written.files[0].stem
    library, program = folder / "model.so", folder / "observer"
    common = ["-O2", "-I", str(folder)]
    subprocess.run(["gcc", *common, "-fPIC", "-shared", "-DMBDYN_ROS_LIBRARY",
                    folder / f"{name}.c", folder / f"{name}_model.c", "-o", library, "-lm"],
                   check=True)  # fmt: skip
    subprocess.run(["g++", "-std=c++17", *common, "-I", INCLUDE, PROGRAM, "-o", program, "-ldl"],
                   check=True)  # fmt: skip
    n = len(robot.effort_labels)
    sample = np.concatenate([[0.0], robot.home_position, np.full(robot.nv, 0.1), np.zeros(n)])
    done = subprocess.run([program, library, "2", "0", "0.01", "time"], input=sample.tobytes(),
                          capture_output=True, check=True)  # fmt: skip
    return float(done.stdout) / 1000


if __name__ == "__main__":
    for robot_name in sys.argv[1:] or ["ur5", "panda", "crane", "excavator"]:
        machine = mbdyn_ros.example(robot_name)
        parts = ", ".join(f"{key} {value:.2f}" for key, value in in_python(machine).items())
        with tempfile.TemporaryDirectory() as place:
            print(f"{robot_name}: {parts}; C++ {in_cpp(machine, Path(place)):.2f} us")
