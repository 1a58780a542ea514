"""The ROS reference of the book has what the nodes declare, also where ROS is not installed."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mbdyn_ros_interfaces.srv")

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from mbdyn_ros.executables import NODES
from mbdyn_ros.ros.node.robot_node import RobotNode
from mbdyn_ros.ros.nodes.simulator import Simulator

DOCS = Path(__file__).resolve().parents[2] / "docs"
NAMESPACE = "some"
FOREIGN = (
    "tf2_msgs.msg", "control_msgs.action", "simulation_interfaces.srv", "simulation_interfaces.msg",
    "simulation_interfaces.action", "controller_manager_msgs.msg", "controller_manager_msgs.srv",
)  # fmt: skip
MASS = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial>"""
ROBOT = f"""<robot name="robot"><link name="base">{MASS}</link><link name="LINK">{MASS}</link>
<joint name="JOINT" type="continuous"><axis xyz="0 1 0"/><parent link="base"/>
<child link="LINK"/></joint></robot>"""


def reference() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "_extensions" / "ros_reference.py"))


def test_every_parameter_is_in_the_page() -> None:
    """In the table of its node, or in one of those that nodes share."""
    page = reference()["filled"]((DOCS / "ros_reference.md").read_text())
    sections = {text.partition("\n")[0]: text for text in page.split("\n## ")[1:]}
    assert "{parameters}" not in page and "{interfaces}" not in page
    assert "{controller}" not in page and "| `lead` | `0.0` | s, from the instant" in page
    assert "float64[] effort" in sections["Messages and services"]
    for name, module in NODES.items():
        for kind in vars(import_module(f"mbdyn_ros{module}")).values():
            if getattr(kind, "NAME", None) != name or kind.__module__ != f"mbdyn_ros{module}":
                continue
            for spec in kind.PARAMETERS:
                row = f"| {spec.description.replace('<', '&lt;')} |"
                places = (sections[f"Parameters of {them} nodes"] for them in ("all", "several"))
                text = "".join([sections[name], *places])
                assert row in text and f"`{spec.name}`" in sections[name] + text, spec.name


def test_the_page_needs_no_ros() -> None:
    """Its tables are the same with stand-ins for the packages of ROS."""
    pytest.importorskip("sphinx")
    program = """import ros_reference
ros_reference.find_spec = lambda name: None
print(ros_reference.declared())
import sys
assert "rclpy" not in sys.modules"""
    command = [sys.executable, "-c", program]
    run = subprocess.run(
        command, cwd=DOCS / "_extensions", capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == str(reference()["declared"]()), run.stderr


class _StandIn(ModuleType):
    """A package of messages that is not there: every type by its name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        body = {"__module__": self.__name__, "Request": object, "Result": object}
        return type(name, (), body)


@contextmanager
def stand_ins(found: set[str]) -> Iterator[None]:
    """Let nodes find all packages of `FOREIGN`, and note the names of what they make with them."""

    def noting(make: Any) -> Any:
        def create(node: Any, type_: Any, name: str, *rest: Any, **options: Any) -> Any:
            if not isinstance(type_, type) or not type_.__module__.startswith(packages):
                return make(node, type_, name, *rest, **options)
            found.add(node.resolve_topic_name(name))
            return mock.MagicMock()

        return create

    packages = tuple({name.partition(".")[0] for name in FOREIGN})
    modules = {name: _StandIn(name) for name in (*packages, *FOREIGN)}
    makers = "create_service", "create_subscription", "create_client", "create_publisher"
    patches = [mock.patch.object(Node, one, noting(getattr(Node, one))) for one in makers]
    patches += [
        mock.patch(f"mbdyn_ros.ros.nodes.{one}.ActionServer", noting(None))
        for one in ("trajectory_action", "standard_services")
    ]
    with (
        mock.patch.dict(sys.modules, modules),
        mock.patch(
            "mbdyn_ros.ros.messages.base_pose.TFMessage", modules["tf2_msgs.msg"].TFMessage
        ),
        patches[0], patches[1], patches[2], patches[3], patches[4], patches[5],
    ):  # fmt: skip
        yield


def test_what_needs_other_packages_is_explained(compiled: None) -> None:
    """In ros.md or ros2_control.md: the simulator's services, actions and topics."""
    kind: type[RobotNode] = Simulator
    context = rclpy.Context()
    rclpy.init(context=context)
    found: set[str] = set()
    given = {"robot_description": ROBOT, "floating_base": True}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    try:
        with stand_ins(found):
            node: Any = kind(context=context, parameter_overrides=overrides, namespace=NAMESPACE)
        node.stop()
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    names = {name.rpartition("/")[2] for name in found}
    assert {"follow_joint_trajectory", "activity", "tf", "spawn_entity"} <= names
    pages = "".join((DOCS / f"{page}.md").read_text() for page in ("ros", "ros2_control"))
    assert not [name for name in names if f"{name}`" not in pages]
