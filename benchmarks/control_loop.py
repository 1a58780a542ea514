"""How well and how soon computed_torque controls a simulated robot, in real processes over DDS.

Tracking: every independent joint goes by a polynomial of degree 5, in two seconds; with nothing
carried, and with a payload of which the controller knows four fifths, all, or nothing.
Latency: from a joint state, published here, to the first command that has it.
Faults: from killing, stopping, ending or deactivating it to the simulator's last effort.

    python -m benchmarks.control_loop --robots ur5 crane --states 2000
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import numpy as np
from geometry_msgs.msg import Inertia, Vector3
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rich.console import Console
from rich.table import Table
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import mbdyn_ros
from benchmarks.peer import Peer, private_domain
from examples.children import Children
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.ros.node.inbox import Inbox
from mbdyn_ros.ros.node.interfaces import srv

LOST = 0.09
"""s after which a joint state got lost on its way; the node holds it fresh for 0.1."""

MOTION, AHEAD = 2.0, 0.5
"""s that a motion takes, and before which it is sent."""

GAINS = {"kp": [2500.0], "kd": [100.0]}
LOOSE = {"reference_timeout": 0.0, "longest_gap": 5.0, "jump_tolerance": 0.0}

ROBOTS: dict[str, dict[str, Any]] = {
    "ur5": {
        "start": [0.0, -1.2, 1.4, -0.6, 0.3, 0.0], "way": [0.8, 0.6, -0.9, 1.2, 0.7, 1.0],
        "link": "tool0", "mass": 5.0,
    },
    "crane": {"way": [0.6, 0.15, 0.1, 0.4], "link": "tool", "mass": 100.0},
}  # fmt: skip
"""Where each begins (home unless given), how far it goes (rad, m), and what it carries (kg)."""


def carry(peer: Peer, node: str, link: str, mass: float) -> None:
    """Fasten a body to a link of a node's robot."""
    moment = 0.002 * mass
    body = Inertia(m=mass, com=Vector3(z=0.05), ixx=moment, iyy=moment, izz=moment)
    answer = peer.call(srv.SetPayload, f"{node}/set_payload", link=link, payload=body)
    if not answer.success:
        sys.exit(f"control_loop: {answer.message}")


def quintic(part: np.ndarray) -> np.ndarray:
    """The share of the way, from rest to rest."""
    part = np.clip(part, 0, 1)
    return part**3 * (10 - part * (15 - 6 * part))


def tracking(peer: Peer, robot: mbdyn_ros.Robot, settings: dict[str, Any], table: Table) -> None:
    """Rows of the errors on the way there and back."""
    begin = np.array(settings.get("start", robot.home_position))
    ends = [begin, begin + settings["way"]]
    names = list(robot.velocity_labels)
    reference = peer.node.create_publisher(JointTrajectory, "computed_torque/reference", 10)
    peer.until(lambda: reference.get_subscription_count(), "no computed_torque")
    states = Inbox(peer.node, JointState, "joint_states", 1000)
    peer.until(lambda: list(states), "no joint states")

    def follow(k: int, start: float) -> JointTrajectory:
        message = JointTrajectory(joint_names=names)
        seconds = int(start)
        message.header.stamp.sec, message.header.stamp.nanosec = seconds, int(1e9 * (start % 1))
        for place, at in ((ends[k], 0), (ends[1 - k], int(MOTION))):
            point = JointTrajectoryPoint(positions=place.tolist())
            point.velocities = point.accelerations = [0.0] * len(names)
            point.time_from_start.sec = at
            message.points.append(point)
        return message

    point = JointTrajectoryPoint(positions=begin.tolist())
    hold = JointTrajectory(joint_names=names, points=[point])
    commands = Inbox(peer.node, Float64MultiArray, "simulator/commands", 10)

    def held() -> bool:
        reference.publish(hold)
        return any(any(one.data) for one in commands)

    peer.until(held, "no efforts")
    peer.call(SetBool, "simulator/pause", data=False)
    link, mass = settings["link"], settings["mass"]
    for k, (what, carried, known) in enumerate((
        ("nothing carried", 0.0, 0.0),
        (f"{mass:g} kg, {0.8 * mass:g} known", mass, 0.8 * mass),
        (f"{mass:g} kg, known", mass, mass),
        (f"{mass:g} kg, nothing known", mass, 0.0),
    )):  # fmt: skip
        carry(peer, "computed_torque", link, known)
        carry(peer, "simulator", link, carried)
        peer.turn(1.0)
        list(states)
        start = time.time() + AHEAD
        reference.publish(follow(k % 2, start))
        found: list[tuple[float, list[float]]] = []
        while time.time() < start + MOTION + 0.2:
            for one in states:
                stamp = one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec
                found.append((stamp - start, [one.position[one.name.index(n)] for n in names]))
            time.sleep(2e-3)
        times, q = np.array([t for t, _ in found]), np.array([x for _, x in found])
        share = quintic(times / MOTION)[:, None]
        wanted = ends[k % 2] + share * (ends[1 - k % 2] - ends[k % 2])
        moving = (times > 0) & (times < MOTION)
        error = 1e3 * (q - wanted)[moving]
        rms = " ".join(f"{one:.2g}" for one in np.sqrt((error**2).mean(axis=0)))
        table.add_row(what, rms, f"{np.abs(error).max():.2g}", f"{moving.sum() / MOTION:.0f}")
    peer.node.destroy_publisher(reference)


def latency(peer: Peer, robot: mbdyn_ros.Robot, count: int) -> np.ndarray:
    """Times (ms) from a joint state to the first command that has it."""
    states = peer.node.create_publisher(JointState, "joint_states", 10)
    commands = Inbox(peer.node, Float64MultiArray, "computed_torque/commands", 10)
    peer.until(lambda: states.get_subscription_count(), "no computed_torque")
    names, v = list(robot.velocity_labels), [0.0] * robot.nv
    places = [np.array(robot.home_position) + shift for shift in (0.0, 0.05)]
    efforts = [np.array(robot.inverse_dynamics(q, v, v)) for q in places]
    middle = (efforts[0] + efforts[1]) / 2
    k = int(np.abs(efforts[1] - efforts[0]).argmax())

    def answer(which: int) -> float:
        """ms from a state to a command that has it; infinite where it got lost on its way."""
        message = JointState(name=names, position=places[which].tolist(), velocity=v)
        message.header.stamp = peer.node.get_clock().now().to_msg()
        begin = time.perf_counter()
        states.publish(message)
        above = efforts[which][k] > middle[k]
        while not any(any(one.data) and (one.data[k] > middle[k]) == above for one in commands):
            if time.perf_counter() - begin > LOST:
                return np.inf
            time.sleep(2e-5)
        return 1e3 * (time.perf_counter() - begin)

    found = []
    for turn in range(count + 20):
        found.append(answer(turn % 2))
        time.sleep(random.uniform(2e-3, 5e-3))  # to no phase of the node's loop
    found = found[20:]
    if not np.isfinite(found).mean() > 0.9:
        sys.exit("control_loop: commands have no joint states")
    return np.array(found)


def faults(peer: Peer, start: Callable[[], int], table: Table) -> None:
    """Rows of the times to the first joint state without efforts."""
    states = Inbox(peer.node, JointState, "joint_states", 1000)

    def deactivate(number: int) -> None:
        client = peer.client(ChangeState, "computed_torque/change_state")
        request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
        nonlocal begin
        begin = time.perf_counter()
        client.call_async(request)

    begin = 0.0
    for what, act in (
        ("deactivate", deactivate),
        ("SIGTERM", lambda number: os.kill(number, signal.SIGTERM)),
        ("SIGSTOP", lambda number: os.kill(number, signal.SIGSTOP)),
        ("SIGKILL", lambda number: os.kill(number, signal.SIGKILL)),
    ):
        number = start()
        peer.until(lambda: any(any(one.effort) for one in states), "no efforts")
        peer.turn(1.0)
        list(states)
        begin = time.perf_counter()
        act(number)
        peer.until(lambda: any(not any(one.effort) for one in states), f"no zeros after {what}")
        table.add_row(what, f"{1e3 * (time.perf_counter() - begin):.0f}")
        if what == "deactivate":
            os.kill(number, signal.SIGTERM)
        if what == "SIGSTOP":
            os.kill(number, signal.SIGKILL)
        time.sleep(1.0)


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--states", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument(
        "--priority", type=int, default=0, help="SCHED_FIFO, where other work disturbs"
    )
    options = parser.parse_args()
    console, wires = Console(width=110), ["~/commands:=simulator/commands"]
    with private_domain() as (context, environment):
        for name in options.robots:
            settings, urdf = ROBOTS[name], find_robot(name)
            robot = mbdyn_ros.load(urdf)
            both = {
                "urdf": urdf, "variable": [settings["link"]], "realtime_priority": options.priority
            }  # fmt: skip
            control = {**both, **GAINS, **LOOSE, "rate": options.rate, "following_tolerance": 0.0}
            table = Table(title=f"{name}: errors of the independent joints, mrad or mm")
            for heading in ("", "rms", "worst", "states/s"):
                table.add_column(heading)
            with Children(environment) as children:
                place = list(settings.get("start", robot.home_position))
                simulated = {**both, "start_paused": True, "initial_positions": place,
                             "initial_joints": list(robot.velocity_labels)}  # fmt: skip
                children.start("simulator", "bench", simulated)
                followed = {**control, "mode": "computed_torque"}
                children.start("computed_torque", "bench", followed, wires)
                tracking(Peer(context, "control_loop"), robot, settings, table)
            console.print(table)
            with Children(environment) as children:
                children.start("computed_torque", "bench", control)
                times = latency(Peer(context, "control_loop"), robot, options.states)
            shares = np.percentile(times[np.isfinite(times)], [50, 90, 99, 99.9, 100])
            shown = ", ".join(f"{one:.2f}" for one in shares)
            lost = int((~np.isfinite(times)).sum())
            console.print(
                f"{name}: joint state to command, ms, median, p90, p99, p99.9, max: {shown}; "
                f"{lost} of {len(times)} lost"
            )
        table = Table(title=f"{name}: the simulator's efforts are zero after, ms")
        for heading in ("fault", "ms"):
            table.add_column(heading)
        with Children(environment) as children:
            children.start("simulator", "bench", both)
            faults(
                Peer(context, "control_loop"),
                lambda: children.start("computed_torque", "bench", control, wires),
                table,
            )
        console.print(table)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    console.print(f"load averages {load} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
