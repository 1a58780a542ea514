"""Wrenches in actuators, pins and base of the crane along the parallel-serial paper's sinusoids.

    python -m benchmarks.joint_wrenches --plot docs/joint_wrenches.png

Equations 13 to 18 and 65 of the paper (wrench in the frame of the actuator, and its force) and 37
(wrench in the base frame), of `robot.joint_wrenches`. Without `--plot` it prints the largest.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import mbdyn_ros
from benchmarks.parallel_serial import MOTIONS
from mbdyn_ros.model.model import Array

URDF = Path(__file__).resolve().parent.parent / "urdf"
MOTION = MOTIONS[1]


def wrenches(times: Array) -> tuple[mbdyn_ros.Robot, dict[str, Array]]:
    """The crane, and [force, moment] (N, 6) in every joint and closing pin at times (N,), s."""
    robot = mbdyn_ros.load(URDF / "manipulator.urdf")
    return robot, robot.joint_wrenches(*MOTION.at(times))


def along(robot: mbdyn_ros.Robot, found: dict[str, Array], joint: str) -> Array:
    """Force of an actuator along its axis (N,), N."""
    force: Array = found[joint][:, :3] @ robot.model.joint(joint).axis
    return force


def plot(target: str) -> None:
    """Forces of actuators, forces in pins, force and moment in the base."""
    from mbdyn_ros.view.figure import color_of, figure_of, legend_beside, save_figure, tidy

    times = np.linspace(0.0, 10.0, 1001)
    robot, found = wrenches(times)
    actuators = [one for one in robot.actuated_joints if one != "slew_joint"]
    bearings = [one for one in found if one not in robot.actuated_joints]
    panels: list[tuple[str, str, dict[str, Array]]] = [
        ("actuators along their axes, eqs (16), (18), (65)", "force (kN)",
         {one: along(robot, found, one) / 1e3 for one in actuators}),
        ("pins, resultants, eqs (13) to (15)", "force (kN)",
         {one: np.linalg.norm(found[one][:, :3], axis=1) / 1e3 for one in bearings}),
        ("base, in the slewing frame, eq. (37)", "force (kN)",
         {f"F{axis}": found["slew_joint"][:, k] / 1e3 for k, axis in enumerate("xyz")}),
        ("", "moment (kN m)",
         {f"M{axis}": found["slew_joint"][:, 3 + k] / 1e3 for k, axis in enumerate("xyz")}),
    ]  # fmt: skip
    figure = figure_of(4, size=(9, 2.4))
    for axis, (title, unit, curves) in zip(figure.subplots(len(panels), 1), panels, strict=True):
        for k, (name, values) in enumerate(curves.items()):
            axis.plot(times, values, color=color_of(k), label=name)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylabel(unit)
        axis.set_xlabel("time (s)")
        axis.set_xlim(0, 10)
        tidy(axis)
        legend_beside(axis)
    figure.suptitle("Forest crane along the paper's sinusoids: wrenches in its joints")
    save_figure(figure, target)


def main() -> None:
    """Print or plot."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot")
    options = parser.parse_args()
    if options.plot:
        plot(options.plot)
        return
    _, found = wrenches(np.linspace(0.0, 10.0, 1001))
    for name, one in found.items():
        force, moment = (np.linalg.norm(part, axis=1).max() for part in (one[:, :3], one[:, 3:]))
        print(f"{name:22} {force:10.1f} N {moment:10.1f} N m at most")


if __name__ == "__main__":
    main()
