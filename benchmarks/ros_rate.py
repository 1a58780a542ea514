"""How well the nodes keep time, in real processes over DDS.

The simulator of a UR5 runs at 1000 Hz while this process counts its joint states; then the
inverse dynamics service answers call after call; then piezo_controller moves the simulated piezo
robot at 1000 Hz.

    python -m benchmarks.ros_rate --seconds 60
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rich.console import Console
from rich.table import Table
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from examples.children import Children
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.ros.node.inbox import Inbox
from mbdyn_ros.ros.node.interfaces import srv

RATE = 1000.0
"""Hz"""

PIEZO_HOME = np.array([0.0, 0.3, 0.8, -0.5, 0.6, 0.0])
"""rad"""


def cpu_seconds(process: int) -> float:
    """Time a process and its threads have computed."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_rate(node: Node, process: int, seconds: float) -> dict[str, tuple[str, str]]:
    """Rate and periods by the stamps of the joint states, and the simulator's share of a core."""
    inbox = Inbox(node, JointState, "joint_states", QoSProfile(depth=5000))
    end = time.monotonic() + 20
    while not any(True for _ in inbox):
        if time.monotonic() > end:
            sys.exit("ros_rate: no joint states")
        time.sleep(0.05)
    time.sleep(2)
    for _ in inbox:
        pass
    stamps, cpu, begin = [], cpu_seconds(process), time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        time.sleep(0.02)
        stamps += [one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec for one in inbox]
    share = (cpu_seconds(process) - cpu) / elapsed
    periods = 1e3 * np.diff(stamps)
    rate = 1e3 * len(periods) / periods.sum()
    return {
        "joint states received": (str(len(stamps)), ""),
        "rate, Hz": (f"{rate:.1f}", f"{RATE:g}"),
        "median period, ms": (f"{np.median(periods):.3f}", "1"),
        "p99 period, ms": (f"{np.percentile(periods, 99):.3f}", ""),
        "longest period, ms": (f"{periods.max():.2f}", ""),
        "simulator, share of a core": (f"{100 * share:.1f} %", "< 30 %"),
    }


def measure_service(node: Node, calls: int) -> dict[str, tuple[str, str]]:
    """Round trips of the inverse dynamics service."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    client = node.create_client(srv.InverseDynamics, "inverse_dynamics_server/inverse_dynamics")
    if not client.wait_for_service(timeout_sec=20):
        sys.exit("ros_rate: no inverse dynamics service")
    request = srv.InverseDynamics.Request(position=[0.1] * 6, velocity=[0.2] * 6)
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        future = client.call_async(request)
        executor.spin_until_future_complete(future, timeout_sec=5)
        assert future.result().success
        times.append(1e3 * (time.perf_counter() - start))
    return {
        "service calls": (str(calls), ""),
        "median time, ms": (f"{np.median(times):.2f}", "< 3"),
        "p99 time, ms": (f"{np.percentile(times, 99):.2f}", ""),
    }


def piezo_motion(seconds: float) -> JointTrajectory:
    """A motion to and fro of all joints but the last, which the rotor cannot move."""
    message = JointTrajectory()
    for k in range(int(seconds) + 1):
        swing = 0.05 * np.array([1, -1, 1, 1, -1, 0]) * np.sin(0.5 * np.pi * k)
        point = JointTrajectoryPoint(positions=(PIEZO_HOME + swing).tolist())
        point.time_from_start.sec = k
        message.points.append(point)
    return message


def measure_controller(
    node: Node, processes: dict[str, int], seconds: float
) -> dict[str, tuple[str, str]]:
    """What piezo_controller and piezo_simulator say in the diagnostics, and their shares."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    heard: dict[str, list[dict[str, str]]] = {name: [] for name in processes}

    def take(message: DiagnosticArray) -> None:
        for status in message.status:
            name = status.name.removeprefix("bench/")
            if name in heard:
                heard[name].append({one.key: one.value for one in status.values})

    node.create_subscription(DiagnosticArray, "/diagnostics", take, 10)
    reference = node.create_publisher(JointTrajectory, "piezo_controller/reference", 10)

    def spin(until: Callable[[], bool], limit: float) -> None:
        end = time.monotonic() + limit
        while not until():
            if time.monotonic() > end:
                sys.exit("ros_rate: the piezo nodes do not start")
            executor.spin_once(timeout_sec=0.1)

    spin(lambda: all(heard.values()) and reference.get_subscription_count() > 0, 60)
    reference.publish(piezo_motion(seconds + 10))
    begin = time.perf_counter()
    spin(lambda: time.perf_counter() - begin > 2.5, 10)
    for list_ in heard.values():
        list_.clear()
    cpu, begin = {name: cpu_seconds(one) for name, one in processes.items()}, time.perf_counter()
    spin(lambda: time.perf_counter() - begin > seconds, seconds + 10)
    elapsed = time.perf_counter() - begin
    rows: dict[str, tuple[str, str]] = {}
    for name, process in processes.items():
        share = (cpu_seconds(process) - cpu[name]) / elapsed
        late = max(float(one["worst overrun (us)"]) for one in heard[name]) / 1e3
        rate = np.mean([float(one["rate (Hz)"]) for one in heard[name]])
        wanted = name == "piezo_controller"
        rows |= {
            f"{name}, rate, Hz": (f"{rate:.1f}", f"{RATE:g}"),
            f"{name}, share of a core": (f"{100 * share:.1f} %", "< 35 %" if wanted else ""),
            f"{name}, latest deadline, ms": (f"{late:.2f}", "< 5" if wanted else ""),
        }
    errors = [float(one["largest error of a mean torque (%)"]) for one in heard["piezo_simulator"]]
    pulses = sum(int(one["pulses"]) for one in heard["piezo_simulator"])
    return rows | {
        "pulses": (str(pulses), ""),
        "largest error of a mean torque, %": (f"{max(errors):.3f}", "< 1"),
    }


def main() -> None:
    """Run both measurements and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of simulation")
    parser.add_argument("--calls", type=int, default=500, help="of the service")
    parser.add_argument("--priority", type=int, default=0, help="SCHED_FIFO, of the loops")
    options = parser.parse_args()
    domain = random.randint(1, 100)
    environment = {
        "ROS_DOMAIN_ID": str(domain), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"
    }  # fmt: skip
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    parameters = {
        "urdf": find_robot("ur5"), "rate": RATE, "realtime_priority": options.priority
    }  # fmt: skip
    rows: dict[str, tuple[str, str]] = {}
    try:
        with Children(environment) as children:
            process = children.start("simulator", "bench", parameters)
            node = rclpy.create_node("ros_rate", namespace="bench", context=context)
            rows |= measure_rate(node, process, options.seconds)
            node.destroy_node()
        with Children(environment) as children:
            children.start("inverse_dynamics_server", "bench", {"urdf": find_robot("ur5")})
            node = rclpy.create_node("ros_rate", namespace="bench", context=context)
            rows |= measure_service(node, options.calls)
            node.destroy_node()
        with Children(environment) as children:
            piezo = {**parameters, "urdf": find_robot("piezo_robot")}
            pulses = ["~/pulses:=piezo_controller/pulses"]
            start = {"initial_positions": PIEZO_HOME.tolist()}
            processes = {
                "piezo_simulator": children.start(
                    "piezo_simulator", "bench", {**piezo, **start}, pulses
                ),
                "piezo_controller": children.start("piezo_controller", "bench", piezo),
            }
            node = rclpy.create_node("ros_rate", namespace="bench", context=context)
            rows |= measure_controller(node, processes, options.seconds)
            node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    table = Table(title=f"UR5 and piezo robot, {options.seconds:g} s", title_justify="left")
    for heading in ("", "measured", "wanted"):
        table.add_column(heading)
    for name, (value, wanted) in rows.items():
        table.add_row(name, value, wanted)
    Console().print(table)


if __name__ == "__main__":
    main()
