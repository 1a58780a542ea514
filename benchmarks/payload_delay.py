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
import rclpy
from geometry_msgs.msg import Inertia, Vector3, WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rich.console import Console
from rich.table import Table
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from examples.children import Children
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.ros.node.interfaces import srv

LINK, WRIST, SHOULDER = "tool0", "wrist_3_joint", "shoulder_lift_joint"
JOINTS = ("shoulder_pan_joint", SHOULDER, "elbow_joint", "wrist_1_joint", "wrist_2_joint", WRIST)
MASSES = (0.5, 5.0)
"""kg, in turn: stretched out and level, 40 N m at the shoulder and 44 N at the wrist apart."""

PATIENCE = 20.0
"""s, until a node is there, or answers."""


class Client:
    """Calls and listens; an executor of its own turns in `until`."""

    def __init__(self, context: rclpy.Context) -> None:
        self.node: Node = rclpy.create_node("payload_delay", namespace="bench", context=context)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)

    def until(self, ready: Callable[[], bool], what: str) -> None:
        """Turn the executor until that."""
        end = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > end:
                sys.exit(f"payload_delay: {what} in {PATIENCE:g} s")
            self._executor.spin_once(timeout_sec=0.1)

    def turn(self, seconds: float) -> None:
        """Turn the executor for a while."""
        end = time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            self._executor.spin_once(timeout_sec=rest)

    def client(self, kind: Any, service: str) -> Any:
        """A client that has found its service."""
        client: Any = self.node.create_client(kind, service)
        self.until(client.service_is_ready, f"no service {service}")
        return client


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
        """Tell the payloads by the middle between what was learnt."""
        self._middle = (min(self._learnt) + max(self._learnt)) / 2
        if max(self._learnt) - min(self._learnt) < 10.0:
            sys.exit("payload_delay: no payload changes what the node says")


def delays(client: Client, node: str, calls: int, torques: Torques) -> dict[str, list[float]]:
    """Times (ms) from a call to its answer, and to the first torque that has the mass."""
    service = client.client(srv.SetPayload, f"{node}/set_payload")

    def put(mass: float) -> tuple[float, float]:
        payload = Inertia(m=mass, com=Vector3(z=0.1), ixx=0.01, iyy=0.01, izz=0.01)
        begin = time.perf_counter()
        future = service.call_async(srv.SetPayload.Request(link=LINK, payload=payload))
        client.until(future.done, "no answer")
        if not future.result().success:
            sys.exit(f"payload_delay: {future.result().message}")
        return begin, time.perf_counter()

    for mass in (MASSES[0], MASSES[1], MASSES[0]):
        put(mass)
        client.turn(0.5)
        torques.learn()
    torques.settle()
    client.turn(0.2)
    found: dict[str, list[float]] = {"answer": [], "torque": []}
    for k in range(calls):
        is_heavy = k % 2 == 0
        begin, answered = put(MASSES[is_heavy])
        client.until(partial(torques.has, is_heavy), "no torque has it")
        found["answer"].append(1e3 * (answered - begin))
        found["torque"].append(1e3 * (torques.since - begin))
        client.turn(random.uniform(0.02, 0.03))  # to no phase of its loop
    return found


def feedforward(client: Client, calls: int) -> dict[str, list[float]]:
    """Of the node torque_feedforward, that holds the arm."""
    torques, node = Torques(), client.node
    publisher = node.create_publisher(JointTrajectory, "torque_feedforward/reference", 10)
    node.create_subscription(
        Float64MultiArray, "torque_feedforward/commands",
        lambda message: torques.take(abs(message.data[1])), 10,
    )  # fmt: skip
    client.until(lambda: publisher.get_subscription_count() > 0, "no torque_feedforward")
    point = JointTrajectoryPoint(positions=[0.0] * 6)
    publisher.publish(JointTrajectory(joint_names=JOINTS, points=[point]))
    client.turn(0.5)
    return delays(client, "torque_feedforward", calls, torques)


def server(client: Client, calls: int) -> dict[str, list[float]]:
    """Of the node inverse_dynamics_server, that is asked without pause."""
    torques = Torques()
    name = "inverse_dynamics_server/inverse_dynamics"
    service = client.client(srv.InverseDynamics, name)
    request = srv.InverseDynamics.Request(position=[0.0] * 6)

    def ask(future: Any = None) -> None:
        if future is not None:
            torques.take(abs(future.result().effort[1]))
        service.call_async(request).add_done_callback(ask)

    ask()
    return delays(client, "inverse_dynamics_server", calls, torques)


def simulator(client: Client, calls: int) -> dict[str, list[float]]:
    """Of the node simulator, by a sensor in the wrist of the arm, which sinks slowly."""
    torques = Torques()

    def take(message: WrenchStamped) -> None:
        force = message.wrench.force
        torques.take(float(np.linalg.norm([force.x, force.y, force.z])))

    client.node.create_subscription(WrenchStamped, f"simulator/force_torque/{WRIST}", take, 10)
    return delays(client, "simulator", calls, torques)


DAMPED = "{" + ", ".join(f"{joint}: {{damping: 1000.0}}" for joint in JOINTS) + "}"

NODES: dict[str, tuple[Callable[[Client, int], dict[str, list[float]]], dict[str, object]]] = {
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
    domain = int(os.environ.get("ROS_DOMAIN_ID") or random.randint(1, 100))
    environment = {
        "ROS_DOMAIN_ID": str(domain), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"
    }  # fmt: skip
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    table = Table(title=f"{options.calls} calls of ~/set_payload, ms", title_justify="left")
    for heading in ("node", "first", "median", "9 of 10", "p99", "longest"):
        table.add_column(heading)
    try:
        for name in options.nodes:
            measure, more = NODES[name]
            variable = [LINK, "friction"] if "joint_dynamics" in more else [LINK]
            parameters = {"urdf": find_robot("ur5"), "variable": variable, **more}
            with Children(environment) as children:
                children.start(name, "bench", parameters)
                client = Client(context)
                for what, times in measure(client, options.calls).items():
                    shares = np.percentile(times, [50, 90, 99, 100])
                    table.add_row(name, what, *(f"{share:.2f}" for share in shares))
                client.node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    Console().print(table, f"load averages {load} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
