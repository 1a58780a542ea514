"""The animations of the book that `mbdyn view` renders, one WebP a robot.

    python -m examples.animations docs [--only manipulator]

It needs Chromium and the extra `page`, and takes some minutes without a graphics card.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros import Environment, Surface
from mbdyn_ros.piezo import PiezoMotion, PulseController, Rotor, circle, follow
from mbdyn_ros.recording.write import write_table

SIZE = 560, 380
"""Pixels."""

RATE = 20.0
"""Instants of a second."""

CYLINDERS = "slew_joint", "lift_rod_joint", "reach_rod_joint", "curl_rod_joint"

DIG = np.array([
    [0.0, 0.00, -0.10, -0.12, -0.13], [1.0, 0.00, -0.22, -0.12, -0.12],
    [2.2, 0.00, -0.21, 0.02, -0.02], [3.2, 0.00, -0.12, 0.12, 0.13],
    [4.2, 0.35, 0.08, 0.10, 0.16], [5.1, 0.75, 0.15, -0.04, 0.10],
    [5.9, 0.75, 0.15, -0.12, -0.14], [6.9, 0.35, 0.02, -0.12, -0.14],
    [7.8, 0.00, -0.10, -0.12, -0.13],
])  # fmt: skip
"""Rows of time (s), slew (rad) and strokes of lift, reach and curl (m)."""


def dig(file: Path) -> None:
    """Write the motion of the excavator."""
    path = CubicSpline(DIG[:, 0], DIG[:, 1:], bc_type="periodic")
    time = np.arange(round(DIG[-1, 0] * RATE) + 1) / RATE
    write_table({"time": {"": time}, "position": dict(zip(CYLINDERS, path(time).T, strict=True))},
                file)  # fmt: skip


def drop(file: Path) -> None:
    """Write the fall of the quadruped, whose joints are held by springs."""
    robot = mbdyn_ros.example("quadruped", floating_base=True)
    q0 = robot.home_position.copy()
    q0[2] = 0.55
    walls = Environment([Surface.plane(restitution=0.3, friction=0.8)])
    held = robot.home_position[7:]

    def springs(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        effort = np.zeros(robot.nv)
        effort[6:] = 60 * (held - q[7:]) - 2 * v[6:]
        return effort

    time = np.arange(41) / RATE
    fall = mbdyn_ros.simulate(
        robot, q0, np.zeros(robot.nv), time[-1], springs, environment=walls, times=time
    )
    columns = dict(zip(robot.position_labels, fall.q.T, strict=True))
    write_table({"time": {"": fall.time}, "position": columns}, file)


SINUSOIDS = np.array([
    [0.0, 1.0, 0.1, 0.0], [0.01, 0.2, 0.15, 0.5], [0.0, 0.2, 0.2, 1.0], [0.0, 0.3, 0.12, 1.5],
])  # fmt: skip
"""Of slew, lift, tilt and telescope, as in benchmarks/parallel_serial.py: middle and amplitude (rad
or m), frequency (Hz), phase."""


def sway(file: Path) -> None:
    """Write the motion of the crane on the page of the parallel-serial paper."""
    time = np.arange(161) / RATE
    middle, amplitude, frequency, phase = SINUSOIDS.T
    path = middle + amplitude * np.sin(2 * np.pi * frequency * time[:, None] + phase)
    joints = mbdyn_ros.example("manipulator").independent_joints
    write_table({"time": {"": time}, "position": dict(zip(joints, path.T, strict=True))}, file)


def circling(file: Path) -> None:
    """Write the motion of the piezo robot whose gripper follows a circle of 25 mm in 6 s."""
    robot = mbdyn_ros.example("piezo_robot")
    rotor = Rotor(mass=0.002, radius=0.005, speed=1000.0)
    control = PulseController(robot, rotor, "gripper")
    motion = PiezoMotion(robot, rotor, "gripper")
    motion.set_state(np.array([0, 0.3, 0.8, -0.5, 0.6, 0]))
    run = follow(control, motion, circle(robot, "gripper", motion.q, 0.025, 6.0), 6.0)
    rows = np.searchsorted(run.time, np.arange(120) / RATE).clip(max=len(run.time) - 1)
    columns = dict(zip(robot.position_labels, run.q[rows].T, strict=True))
    write_table({"time": {"": run.time[rows]}, "position": columns}, file)


ANIMATIONS = {"excavator": dig, "quadruped": drop, "manipulator": sway, "piezo_robot": circling}
"""What writes the motion of each robot."""


def main() -> None:
    """Make them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--only", choices=ANIMATIONS, help="one of them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in [given.only] if given.only else ANIMATIONS:
            motion = Path(folder) / f"{name}.csv"
            ANIMATIONS[name](motion)
            picture = given.folder / f"{name}.webp"
            command = ["view", name, "--trajectory", str(motion), "--screenshot", str(picture)]
            floating = ["--floating-base"] if name == "quadruped" else []
            size = ["--size", *map(str, SIZE)]
            subprocess.run(
                [sys.executable, "-m", "mbdyn_ros", *command, *floating, *size], check=True
            )


if __name__ == "__main__":
    main()
