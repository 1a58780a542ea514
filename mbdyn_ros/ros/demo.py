"""`make demo`: real nodes compute torques for a UR5, a Panda and a crane, and simulate them.

Three processes a robot on a DDS domain of their own: `inverse_dynamics_server` answers a client
here, `torque_feedforward` turns a trajectory into torques, `simulator` moves by them. The crane
has closed loops: the efforts of its cylinders are those that the trajectory service filled in.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.table import Table

from ..errors import MbdynError
from ..robot import load
from .children import Children
from .demo_plot import draw
from .demo_run import (
    CALLS,
    POINTS,
    DemoClient,
    DemoError,
    Outcome,
    judge,
    pd_share,
    trajectory_message,
)
from .demo_run import path as tool_path
from .node.interfaces import srv
from .robot_files import find_urdf

ROBOTS = {
    "ur5": (
        "ur5_robot",
        [0.0, -1.57, 1.57, -1.57, -1.57, 0.0],
        [1.6, -0.6, 0.4, -2.6, -0.4, 2.2],
    ),
    "panda": (
        "panda",
        [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.02],
        [1.2, 0.5, -0.8, -1.2, 0.9, 2.4, -0.4, 0.02],
    ),
    "manipulator": (
        "manipulator",
        [-0.15, 0.02, 0.0, -0.1],
        [0.25, 0.16, -0.1, 0.1],
    ),
}
"""File, and where the motion starts and ends (rad, m)."""

PRIORITY = {"realtime_priority": 20}
"""Linux grants it to some users; the nodes go on without it."""

RATE = 1000.0
"""Hz, of the simulator."""

DELAY = 0.002
"""s that efforts take to the simulator, and hold there."""

PD_FREQUENCY = 8.0
"""rad/s of a small PD: it takes out what sampling and delays of the torques leave."""


def run_robot(name: str, context: rclpy.Context, domain: int) -> Outcome:
    """Start the nodes of one robot, use them, end them."""
    file, home, goal = ROBOTS[name]
    path = find_urdf(file)
    environment = {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOCALHOST_ONLY": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with Children(environment) as children:
        children.start("inverse_dynamics_server", name, {"urdf": path})
        settings = {"initial_positions": home, "start_paused": True}
        children.start("simulator", name, {"urdf": path, **PRIORITY, **settings})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the nodes log them
            robot = load(path)
        inertia = np.diag(robot.mass_matrix(np.array(home)))
        gains = PD_FREQUENCY**2 * inertia, 2 * PD_FREQUENCY * inertia
        loops = bool(robot.model.loops)
        parameters = {
            "urdf": path,
            **PRIORITY,
            "reference_timeout": 2.0,
            "rate": 1000.0 if loops else 500.0,
            "feedforward": "reference" if loops else "inverse_dynamics",
            "lead": DELAY,
            "kp": gains[0].tolist(),
            "kd": gains[1].tolist(),
        }
        children.start("torque_feedforward", name, parameters, ["~/commands:=simulator/commands"])
        client = DemoClient(robot, name, children.dead, context=context)
        outcome = Outcome(name, loops=loops)
        try:
            client.wait_for_nodes(25.0)
            client.ask(outcome, np.random.default_rng(1))
            ends = np.array(home), np.array(goal)
            filled = client.ask_trajectory(outcome, trajectory_message(robot, *ends))
            start = client.drive(filled)
            judge(robot, client, outcome, start, *ends)
            if loops:
                outcome.path = tool_path(robot, client, start, *ends)
                shares = pd_share(robot, client, start, ends, gains)
                outcome.pd_share, outcome.pd_shares = shares
                client.start_again("none")
                start = client.drive(filled)
                outcome.path_without = tool_path(robot, client, start, *ends)
        finally:
            client.destroy_node()
        bad = children.stop()
    if bad:
        raise DemoError("; ".join(bad))
    return outcome


def table(outcomes: list[Outcome]) -> Table:
    """What was asked and what came back, a column for each robot."""
    result = Table(title="mbdyn_ros over ROS 2", title_justify="left")
    result.add_column("asked")
    result.add_column("came back")
    for outcome in outcomes:
        result.add_column(outcome.name, justify="right")
    rows = [
        (f"{CALLS} random states, inverse dynamics service", "largest relative error",
         [f"{one.service_error:.1e}" for one in outcomes]),
        ("", "median time, ms", [f"{one.service_ms:.2f}" for one in outcomes]),
        (f"a trajectory of {POINTS} points, trajectory service", "largest relative error",
         [f"{one.trajectory_error:.1e}" for one in outcomes]),
        ("", "median time, ms", [f"{one.trajectory_ms:.1f}" for one in outcomes]),
        ("the simulator, driven by torque_feedforward", "joint states received",
         [str(one.received) for one in outcomes]),
        ("", "rate held, Hz (1000 wanted)", [f"{one.rate:.1f}" for one in outcomes]),
        ("", "longest gap, ms", [f"{one.worst_gap_ms:.1f}" for one in outcomes]),
        ("", "tracking error, rad or m", [f"{one.tracking_error:.4f}" for one in outcomes]),
        ("the tool on its way, by the service's efforts and a small PD", "error rms, max, mm",
         [f"{one.path.rms_mm:.2f}, {one.path.max_mm:.2f}" if one.loops else ""
          for one in outcomes]),
        ("", "share of the PD in the effort, by power",
         [f"{one.pd_share:.2%}" if one.loops else "" for one in outcomes]),
        ("", "by joint (rms), %",
         [", ".join(f"{100 * share:.2f}" for share in one.pd_shares) for one in outcomes]),
        ("the same PD without feed-forward", "error rms, max, mm",
         [f"{one.path_without.rms_mm:.0f}, {one.path_without.max_mm:.0f}" if one.loops else ""
          for one in outcomes]),
        ("energy balance, at the highest energy", "work of the efforts, J",
         [f"{one.work:.4f}" for one in outcomes]),
        ("", "friction loss, J", [f"{one.loss:.4f}" for one in outcomes]),
        ("", "change of energy, J", [f"{one.energy_change:.4f}" for one in outcomes]),
        ("", "largest imbalance, relative", [f"{one.imbalance:.1e}" for one in outcomes]),
    ]  # fmt: skip
    for asked, back, cells in rows:
        result.add_row(asked, back, *cells)
    return result


def check(outcome: Outcome) -> str:
    """Refuse results that are not right. Return what a slow machine kept from being checked."""
    limits = [
        (outcome.service_error, 1e-12, "of error in the inverse dynamics service"),
        (outcome.trajectory_error, 1e-12, "of error in the trajectory service"),
    ]
    busy = outcome.rate < 0.95 * RATE
    if not busy:
        limits += [
            (outcome.tracking_error, 0.1, "rad or m of tracking error"),
            (outcome.imbalance, 0.02, "of the energy is unaccounted for"),
            (outcome.path.rms_mm, 20.0, "mm of path error"),
            (outcome.pd_share, 0.05, "of the effort came from the PD"),
        ]
    for value, limit, what in limits:
        if not value <= limit:
            raise DemoError(f"{outcome.name}: {value:.3g} {what} (allowed: {limit:g})")
    if busy:
        return f"{outcome.name}: machine too busy: rate held {outcome.rate:.0f} Hz of {RATE:g}"
    return ""


def main(args: list[str] | None = None) -> int:
    """Run the demonstration; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m mbdyn_ros.ros.demo", description=__doc__)
    parser.add_argument("--plot", type=Path, default=Path("mbdyn_demo.png"), help="file to write")
    parser.add_argument("--domain", type=int, default=random.randint(1, 100), help="ROS_DOMAIN_ID")
    parser.add_argument("--robots", nargs="+", choices=list(ROBOTS), default=list(ROBOTS))
    options = parser.parse_args(args)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # KeyboardInterrupt: ends the nodes too
    # Before the context: DDS reads it from the environment.
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    console = Console(width=max(100, Console().width) if not sys.stdout.isatty() else None)
    if srv is None:
        print("demo: mbdyn_ros_interfaces is not built; run make demo", file=sys.stderr)
        return 1
    context = rclpy.Context()
    rclpy.init(
        context=context,
        domain_id=options.domain,
        signal_handler_options=SignalHandlerOptions.NO,
    )
    began = time.perf_counter()
    outcomes: list[Outcome] = []
    try:
        for name in options.robots:
            console.print(f"{name}: three nodes on ROS_DOMAIN_ID {options.domain} ...")
            outcomes.append(run_robot(name, context, options.domain))
        console.print(table(outcomes))
        for outcome in outcomes:
            busy = check(outcome)
            if busy:
                console.print(f"{busy}; the motion is not judged")
        draw(outcomes, options.plot)
    except (DemoError, MbdynError) as error:
        print(f"demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo interrupted", file=sys.stderr)
        return 130
    finally:
        rclpy.shutdown(context=context)
    console.print(f"done in {time.perf_counter() - began:.0f} s; plot: {options.plot.resolve()}")
    console.print(LIVE, markup=False)
    return 0


LIVE = """\
To look at it live:
  full ROS 2:  ros2 launch mbdyn_ros simulate.launch.py robot:=/path/to/robot.urdf   (opens RViz)
  Foxglove or Lichtblick: run foxglove_bridge beside it, connect to ws://localhost:8765, add a
  3D panel with the URDF from topic /robot_description"""


if __name__ == "__main__":
    sys.exit(main())
