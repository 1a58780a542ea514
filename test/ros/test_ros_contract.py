"""The nodes have the topics and services that docs/ros.md explains, and no others.

Their parameters are in docs/ros_reference.md; `test_ros_reference_page.py` looks for them.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from interpreting import compiling

pytest.importorskip("rclpy")

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from ros_rig import ARM, Rig, rig

from mbdyn_ros.piezo.ros.piezo_controller import PiezoController
from mbdyn_ros.piezo.ros.piezo_simulator import PiezoSimulator
from mbdyn_ros.ros.node.managed_node import ManagedNode
from mbdyn_ros.ros.node.robot_node import RobotNode
from mbdyn_ros.ros.nodes.computed_torque import ComputedTorque
from mbdyn_ros.ros.nodes.effort_observer import EffortObserver
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer
from mbdyn_ros.ros.nodes.loop_state_publisher import LoopStatePublisher
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.ros.nodes.torque_feedforward import TorqueFeedforward
from mbdyn_ros.ros.nodes.trajectory_converter import TrajectoryConverter

__all__ = ["rig"]

ROOT = Path(__file__).resolve().parents[2]

NODES = (
    InverseDynamicsServer, Simulator, TorqueFeedforward, ComputedTorque, LoopStatePublisher,
    EffortObserver, TrajectoryConverter, PiezoController, PiezoSimulator,
)  # fmt: skip

WALLS = """surfaces: [{name: room, type: box, size: [20, 20, 20], restitution: 1, friction: 0}]
points: [{link: lower}]"""

USUAL = "depth 10"
"""The quality of service of entries that have none."""

NAMED = {"reliable, transient local, depth 1": "latched", "best effort, depth 5": "sensor"}
"""Short names of qualities of service."""

OF_ALL_NODES = ("/diagnostics", "/parameter_events", "/rosout")
OF_RCLPY = ("rcl_interfaces", "type_description_interfaces", "lifecycle_msgs")
WHERE_INSTALLED = (
    "simulation_interfaces", "control_msgs", "action_msgs", "controller_manager_msgs",
)  # fmt: skip


def entries(node: type[RobotNode]) -> list[tuple[str, str, str, str]]:
    """Name, direction, type and quality of service of what the lists of a node's section have.

    Those of all managed nodes are in one section; services may have the types of their names.
    """
    sections = (ROOT / "docs" / "ros.md").read_text().split("\n## ")
    titles = [node.NAME, *["Managed nodes"] * issubclass(node, ManagedNode)]
    text = "".join(one for one in sections if one.partition("\n")[0] in titles)
    entry = r"^- `([^`]+)` \((in|out|service), `([^`]+)`(?:, ([\w ]+))?\): ."
    found: list[tuple[str, str, str, str]] = re.findall(entry, text, re.MULTILINE)
    services = []
    if "services have the types of their names" in text:
        for line in re.findall(r"^- (?!`[^`]+` \().*", text, re.MULTILINE):
            services += re.findall(r"`(~/\w+)`", line)
    if any(spec.name == "variable" for spec in node.PARAMETERS):
        services.append("~/set_payload")
    for name in services:
        kind = "".join(word.capitalize() for word in name.removeprefix("~/").split("_"))
        found.append((name, "service", f"mbdyn_ros_interfaces/{kind}", ""))
    return found


def qos(entity: Any) -> str:
    """A quality of service in the words of the documentation."""
    profile = entity.qos_profile
    best = profile.reliability == ReliabilityPolicy.BEST_EFFORT
    late = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    words = ["best effort" if best else "reliable", *["transient local"] * late]
    full = ", ".join([*words, f"depth {profile.depth}"])
    return NAMED.get(full, full).removeprefix("reliable, ")


def of_type(kind: Any) -> str:
    return f"{kind.__module__.split('.')[0]}/{kind.__name__}"


@pytest.mark.sparse
@pytest.mark.parametrize("kind", NODES)
def test_topics_and_services(rig: Rig, kind: type[RobotNode]) -> None:
    given: dict[str, Any] = {"robot_description": ARM}
    if kind.NAME.startswith("piezo"):
        given = {"urdf": str(ROOT / "urdf" / "piezo_robot.yaml")}
    if kind is Simulator:
        given |= {"environment": WALLS, "publish_clock": True}
        given |= {"imu_links": ["lower"], "force_torque_joints": ["elbow"]}
    with compiling() if kind is Simulator else nullcontext():  # steps are compiled
        node = rig.add(kind, **given)

    def resolved(name: str) -> str:
        name = name.replace("LINK", "lower").replace("JOINT", "elbow")
        return node.resolve_topic_name(name)

    topics = {
        (resolved(name), way, type_, quality or USUAL)
        for name, way, type_, quality in entries(kind)
        if way != "service"
    }
    found = {
        (one.topic_name, way, of_type(one.msg_type), qos(one))
        for way, entities in (("in", node.subscriptions), ("out", node.publishers))
        for one in entities
        if one.topic_name not in OF_ALL_NODES
        and of_type(one.msg_type).split("/")[0] not in WHERE_INSTALLED
    }
    assert found <= topics
    assert {one[0] for one in topics - found} <= {resolved("~/odometry"), "/tf"}
    services = {
        (resolved(name), type_) for name, way, type_, _ in entries(kind) if way == "service"
    }
    assert services == {
        (node.resolve_service_name(one.srv_name), of_type(one.srv_type))
        for one in node.services
        if of_type(one.srv_type).split("/")[0] not in (*OF_RCLPY, *WHERE_INSTALLED)
    }
    # All of them at once, as `ros2 param dump` asks: one without a value would silence the others.
    names = rig.call(ListParameters, f"{kind.NAME}/list_parameters").result.names
    assert {spec.name for spec in kind.PARAMETERS} <= set(names)
    values = rig.call(GetParameters, f"{kind.NAME}/get_parameters", names=names).values
    assert len(values) == len(names)
    assert ParameterType.PARAMETER_NOT_SET not in [value.type for value in values]
