"""What one cycle of the piezo controller costs, and how fast the simulated robot moves.

    python benchmarks/piezo.py
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import mbdyn_ros
from mbdyn_ros.bench.benchmark import Call, time_calls
from mbdyn_ros.piezo import PiezoMotion, PulseController, Rotor, circle, follow, pulse_windows

ROBOT = Path(__file__).resolve().parents[1] / "urdf" / "piezo_robot.yaml"
HOME = np.array([0.0, 0.3, 0.8, -0.5, 0.6, 0.0])

CYCLE = """
control.q[:] = q; control.wanted_q[:] = wanted; control.wanted_v[:] = rate
control.cycle()
control.mean_torque, control.on, control.off
"""


def main() -> None:
    """Time the cycle, run the circle, print both."""
    robot, rotor = mbdyn_ros.load(ROBOT), Rotor(0.002, 0.005, 1000.0)
    control = PulseController(robot, rotor, "gripper")
    names = {
        "control": control, "q": HOME, "wanted": HOME + 0.002, "rate": np.full(6, 0.1),
        "robot": robot, "rotor": rotor, "torque": np.full(6, 0.02), "pulse_windows": pulse_windows,
    }  # fmt: skip
    times = time_calls(
        {
            "cycle": Call(CYCLE, names),
            "checked": Call("control.pulses(q, wanted, rate)", names),
            "windows": Call("pulse_windows(robot, q, rotor, torque, 'gripper')", names),
        }
    )
    motion = PiezoMotion(robot, rotor, "gripper", step=0.25)
    motion.set_state(HOME)
    path = circle(robot, "gripper", HOME, 0.008, 6.0)
    begin = time.perf_counter()
    run = follow(control, motion, path, 6.5)
    spent = time.perf_counter() - begin
    table = Table(title="The paper's piezo robot", title_justify="left")
    for heading in ("", "measured", "wanted"):
        table.add_column(heading)
    gap = 1e3 * run.gap
    for row in (
        ("a cycle: state in, torques and pulses out, us", f"{1e6 * times['cycle']:.2f}", "< 10"),
        ("the same with checked arrays, us", f"{1e6 * times['checked']:.1f}", ""),
        ("pulse_windows(...), us", f"{1e6 * times['windows']:.1f}", ""),
        ("simulated seconds a second, with control", f"{run.time[-1] / spent:.1f}", "> 1"),
        ("circle of 8 mm: gap at most, mm", f"{gap.max():.3f}", ""),
        ("gap at the end, mm", f"{gap[-1]:.5f}", "< 0.1"),
        ("error of a mean torque over a turn, %", f"{100 * run.torque_error(1e-4):.3f}", "< 1"),
    ):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
