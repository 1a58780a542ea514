"""`make demo`: real nodes compute torques for a UR5, a Panda and a crane, and simulate them.

Three processes a robot on a DDS domain of their own: `inverse_dynamics_server` answers a client
here, `torque_feedforward` turns a trajectory into torques, `simulator` moves by them. The crane
has closed loops: the efforts of its cylinders are those that the trajectory service filled in. In
its second chapter it is planned in angles of boom and jib, converted, and moved by its cylinders'
forces and by their positions.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import rclpy
from rich.console import Console

from examples.children import Children
from examples.demonstration import PRIORITY, DemoError, arguments, environment, run
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.robot import load
from mbdyn_ros.ros.node.interfaces import srv

from .angles import run_angles
from .client import DemoClient
from .judge import judge, pd_share, tool_path
from .motion import trajectory_message
from .outcome import Outcome
from .plot import draw
from .table import angles_table, check, check_angles, table

ROBOTS = {
    "ur5": (
        "ur5_robot",
        [0.0, -1.57, 1.57, -1.57, -1.57, 0.0],
        [1.6, -0.6, 0.4, -2.6, -0.4, 1.8],
    ),
    "panda": (
        "panda",
        [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785],
        [1.2, -1.3, -0.8, -1.2, 0.9, 1.0, -0.4],
    ),
    "manipulator": (
        "manipulator",
        [-0.15, 0.02, 0.0, -0.1],
        [0.25, 0.16, -0.1, 0.1],
    ),
}
"""File, and where the motion starts and ends (rad, m).

The Panda stays away from a stretched arm: there the axes of its joints 1 and 3 are parallel, the
inertia between them is small, and a PD of fixed gains shakes at the delays of a busy machine.
"""

DELAY = 0.001
"""s that efforts take to the simulator, and hold there."""

PD_FREQUENCY = 8.0
"""rad/s of a small PD: it takes out what sampling and delays of the torques leave."""


def run_robot(name: str, context: rclpy.Context, domain: int) -> Outcome:
    """Start the nodes of one robot, use them, end them."""
    file, home, goal = ROBOTS[name]
    path = find_robot(file)
    with Children(environment(domain)) as children:
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
            client.wait_for_nodes()
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


def main(args: list[str] | None = None) -> int:
    """Run the demonstration; return the exit code."""
    parser = arguments("examples.torques", __doc__)
    parser.add_argument("--plot", type=Path, default=Path("mbdyn_demo.png"), help="file to write")
    parser.add_argument("--robots", nargs="+", choices=list(ROBOTS), default=list(ROBOTS))
    options = parser.parse_args(args)
    if srv is None:
        print("demo: mbdyn_ros_interfaces is not built; run make demo", file=sys.stderr)
        return 1
    console = Console(width=max(100, Console().width) if not sys.stdout.isatty() else None)

    def demonstrate(context: rclpy.Context) -> None:
        began = time.perf_counter()
        outcomes: list[Outcome] = []
        for name in options.robots:
            console.print(f"{name}: three nodes on ROS_DOMAIN_ID {options.domain} ...")
            outcomes.append(run_robot(name, context, options.domain))
        console.print(table(outcomes))
        if "manipulator" in options.robots:
            console.print("manipulator: planned in angles, moved by its cylinders ...")
            planned = run_angles(context, options.domain, DELAY, PD_FREQUENCY)
            console.print(angles_table(planned))
        for outcome in outcomes:
            busy = check(outcome)
            if outcome.loops and not busy:
                busy = check_angles(planned)
            if busy:
                console.print(f"{busy}; the motion is not judged")
        draw(outcomes, options.plot)
        took = time.perf_counter() - began
        console.print(f"done in {took:.0f} s; plot: {options.plot.resolve()}")
        console.print(LIVE, markup=False)

    return run(demonstrate, options.domain)


LIVE = """\
To look at it live:
  full ROS 2:  ros2 launch mbdyn_ros simulate.launch.py robot:=/path/to/robot.urdf   (opens RViz)
  Foxglove or Lichtblick: run foxglove_bridge next to it, connect to ws://localhost:8765, add a
  3D panel with the URDF from topic /robot_description"""


if __name__ == "__main__":
    sys.exit(main())
