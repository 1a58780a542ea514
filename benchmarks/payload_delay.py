"""How soon a payload that is set while nodes run is in what they say, in real processes over DDS.

This process calls `~/set_payload` of a UR5's nodes, time after time with another mass, and waits
for the first torque that has it: of torque_feedforward at 500 Hz, of inverse_dynamics_server by
its service, of the simulator at 1000 Hz by a force-torque sensor in its wrist.

    python -m benchmarks.payload_delay --calls 200
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import numpy as np
from geometry_msgs.msg import Inertia, Vector3, WrenchStamped
from rich.console import Console
from rich.table import Table
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmarks.peer import Peer, private_domain
from examples.children import Children
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.ros.node.interfaces import srv

LINK, WRIST, SHOULDER = "tool0", "wrist_3_joint", "shoulder_lift_joint"
JOINTS = ("shoulder_pan_joint", SHOULDER, "elbow_joint", "wrist_1_joint", "wrist_2_joint", WRIST)
MASSES = (0.5, 5.0)
"""kg, in turn: stretched out and level, 40 N m at the shoulder and 44 N at the wrist apart."""


class Torques:
    """What a node says: whether the payload in it is the heavy one, and since when (s)."""

    def __init__(self) -> None:
        self._middle, self._last = np.inf, 0.0
        self._learnt: list[float] = []
        self.is_heavy = False
        self.since = 0.0

    def take(self, load: float) -> None:
        """Hear of a torque or a force."""
        now = time.perf_counter()
        self._last = load
        if (load > self._middle) != self.is_heavy:
            self.is_heavy, self.since = not self.is_heavy, now

    def has(self, is_heavy: bool) -> bool:
        """Whether what was heard last is that of the heavy payload, or of the other."""
        return self.is_heavy == is_heavy

    def learn(self) -> None:
        """What was heard last is that of the payload that is carried now."""
        self._learnt.append(self._last)

    def settle(self) -> None:
        """Separate the payloads by the middle between the learnt values."""
        self._middle = (min(self._learnt) + max(self._learnt)) / 2
        if max(self._learnt) - min(self._learnt) < 10.0:
            sys.exit("payload_delay: no payload changes what the node says")


def delays(peer: Peer, node: str, calls: int, torques: Torques) -> dict[str, list[float]]:
    """Times (ms) from a call to its answer, and to the first torque that has the mass."""
    service = peer.client(srv.SetPayload, f"{node}/set_payload")

    def put(mass: float) -> tuple[float, float]:
        payload = Inertia(m=mass, com=Vector3(z=0.1), ixx=0.01, iyy=0.01, izz=0.01)
        begin = time.perf_counter()
        future = service.call_async(srv.SetPayload.Request(link=LINK, payload=payload))
        peer.until(future.done, "no answer")
        if not future.result().success:
            sys.exit(f"payload_delay: {future.result().message}")
        return begin, time.perf_counter()

    for mass in (MASSES[0], MASSES[1], MASSES[0]):
        put(mass)
        peer.turn(0.5)
        torques.learn()
    torques.settle()
    peer.turn(0.2)
    found: dict[str, list[float]] = {"answer": [], "torque": []}
    for k in range(calls):
        is_heavy = k % 2 == 0
        begin, answered = put(MASSES[is_heavy])
        peer.until(partial(torques.has, is_heavy), "no torque has it")
        found["answer"].append(1e3 * (answered - begin))
        found["torque"].append(1e3 * (torques.since - begin))
        peer.turn(random.uniform(0.02, 0.03))  # to no phase of its loop
    return found


def feedforward(peer: Peer, calls: int) -> dict[str, list[float]]:
    """Of the node torque_feedforward, that holds the arm."""
    torques, node = Torques(), peer.node
    publisher = node.create_publisher(JointTrajectory, "torque_feedforward/reference", 10)
    node.create_subscription(
        Float64MultiArray, "torque_feedforward/commands",
        lambda message: torques.take(abs(message.data[1])), 10,
    )  # fmt: skip
    peer.until(lambda: publisher.get_subscription_count() > 0, "no torque_feedforward")
    point = JointTrajectoryPoint(positions=[0.0] * 6)
    publisher.publish(JointTrajectory(joint_names=JOINTS, points=[point]))
    peer.turn(0.5)
    return delays(peer, "torque_feedforward", calls, torques)


def server(peer: Peer, calls: int) -> dict[str, list[float]]:
    """Of the node inverse_dynamics_server, that is asked without pause."""
    torques = Torques()
    name = "inverse_dynamics_server/inverse_dynamics"
    service = peer.client(srv.InverseDynamics, name)
    request = srv.InverseDynamics.Request(position=[0.0] * 6)

    def ask(future: Any = None) -> None:
        if future is not None:
            torques.take(abs(future.result().effort[1]))
        service.call_async(request).add_done_callback(ask)

    ask()
    return delays(peer, "inverse_dynamics_server", calls, torques)


def simulator(peer: Peer, calls: int) -> dict[str, list[float]]:
    """Of the node simulator, by a sensor in the wrist of the arm, which sinks slowly."""
    torques = Torques()

    def take(message: WrenchStamped) -> None:
        force = message.wrench.force
        torques.take(float(np.linalg.norm([force.x, force.y, force.z])))

    peer.node.create_subscription(WrenchStamped, f"simulator/force_torque/{WRIST}", take, 10)
    return delays(peer, "simulator", calls, torques)


DAMPED = "{" + ", ".join(f"{joint}: {{damping: 1000.0}}" for joint in JOINTS) + "}"

NODES: dict[str, tuple[Callable[[Peer, int], dict[str, list[float]]], dict[str, object]]] = {
    "torque_feedforward": (
        feedforward,
        {"reference_timeout": 0.0, "start_tolerance": 0.0, "following_tolerance": 0.0},
    ),
    "inverse_dynamics_server": (server, {}),
    "simulator": (
        simulator,
        {
            "force_torque_joints": [WRIST], "joint_dynamics": DAMPED, "joint_limits": False,
            "publish_rate": 250.0,
        },  # fmt: skip
    ),
}
"""How each is measured, and its parameters."""


def main() -> None:
    """Measure one node after the other and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--nodes", nargs="+", choices=NODES, default=list(NODES))
    options = parser.parse_args()
    table = Table(title=f"{options.calls} calls of ~/set_payload, ms", title_justify="left")
    for heading in ("node", "first", "median", "9 of 10", "p99", "longest"):
        table.add_column(heading)
    with private_domain() as (context, environment):
        for name in options.nodes:
            measure, more = NODES[name]
            variable = [LINK, "friction"] if "joint_dynamics" in more else [LINK]
            parameters = {"urdf": find_robot("ur5"), "variable": variable, **more}
            with Children(environment) as children:
                children.start(name, "bench", parameters)
                peer = Peer(context, "payload_delay")
                for what, times in measure(peer, options.calls).items():
                    shares = np.percentile(times, [50, 90, 99, 100])
                    table.add_row(name, what, *(f"{share:.2f}" for share in shares))
                peer.node.destroy_node()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    Console().print(table, f"load averages {load} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
