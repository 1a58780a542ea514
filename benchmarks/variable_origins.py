"""What variable lengths cost: bound calls of robots with variable origins against the folded ones.

    python -m benchmarks.variable_origins

Calls of all robots in turn, each at a new q; minima of many rounds, as ratios to the folded robot.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import mbdyn_ros
from mbdyn_ros.compiler.kernel import Bound

ROUNDS, CALLS = 100, 300
"""Rounds, of which the quickest counts, and calls in each."""

ARM = mbdyn_ros.example("ur5").joint_names
PINS = [
    f"{pin}/{end}/{axis}"
    for pin in ("lift_pin", "tilt_pin")
    for end in ("predecessor", "successor")
    for axis in "xz"
]
CASES = {
    "ur5": {
        "one number of a joint": ["elbow_joint/z"],
        "the elbow's origin": ["elbow_joint/origin"],
        "the first wrist's origin": ["wrist_1_joint/origin"],
        "all x, y, z": [f"{joint}/{axis}" for joint in ARM for axis in "xyz"],
        "all origins": [f"{joint}/origin" for joint in ARM],
    },
    "crane": {"pins of the cylinders": PINS},
}
"""What is variable of a robot, by name."""


def bound_in_motion(robot: mbdyn_ros.Robot, program: str) -> Bound:
    """A bound call of a program, near home."""
    random = np.random.default_rng(0)
    bound = robot.bind(program)
    bound.q[:] = robot.home_position + 0.1 * random.normal(size=robot.nq)
    bound.v[:] = random.normal(size=robot.nv)
    return bound


def quickest(calls: list[Bound]) -> list[float]:
    """Time of a call (ns) of each, without that of the loop."""
    best = [np.inf] * (len(calls) + 1)
    for _ in range(ROUNDS):
        for k, call in enumerate([*calls, None]):
            q = calls[min(k, len(calls) - 1)].q
            start = time.perf_counter()
            for _ in range(CALLS):
                q[0] += 1e-7
                if call is not None:
                    call()
            best[k] = min(best[k], (time.perf_counter() - start) / CALLS)
    return [1e9 * (one - best[-1]) for one in best[:-1]]


def main() -> None:
    """Print a line for each robot, program and what is variable."""
    warnings.simplefilter("ignore")
    for name, cases in CASES.items():
        robots = [mbdyn_ros.example(name, variable=one) for one in ([], *cases.values())]
        for program in ("inverse_dynamics", "forward_dynamics"):
            folded, *others = quickest([bound_in_motion(robot, program) for robot in robots])
            print(f"{name} {program}: folded {folded:.0f} ns")
            for case, taken in zip(cases, others, strict=True):
                print(f"  {taken / folded:6.3f}  {case}")


if __name__ == "__main__":
    main()
