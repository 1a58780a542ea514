"""Write docs/ros_reference.md: what the nodes declare, read from the nodes themselves.

    python scripts/ros_reference.py

Each node is started to see what it makes with types of packages that ROS 2 brings and the wheels do
not; these are stood in for by their names.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from mbdyn_ros.executables import NODES
from mbdyn_ros.ros.node.managed_node import ManagedNode
from mbdyn_ros.ros.node.parameters import DOUBLES, Spec
from mbdyn_ros.ros.node.robot_node import RobotNode

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ros_reference.md"
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
BASE: dict[str, dict[str, Any]] = {
    "piezo_controller": {"urdf": str(ROOT / "urdf" / "piezo_robot.yaml")},
    "piezo_simulator": {"urdf": str(ROOT / "urdf" / "piezo_robot.yaml")},
}
"""What nodes are given first; all others `ROBOT` as `robot_description`."""

MORE = {"simulator": {"floating_base": True}}
"""What gives a node more of them."""

HEAD = """# ROS reference

Parameters, messages and services, read from the nodes by `python scripts/ros_reference.py`.
[The ROS 2 nodes](ros.md) has their topics and services; those with types of packages that may not
be installed are here. Units are SI.

A parameter with \\* is read only once the node runs. The type is that of the default; a type in its
place means an empty array. `ros2 param describe /simulator rate` prints the range of a number.

Every node publishes `/diagnostics` (`diagnostic_msgs/DiagnosticArray`, reliable, depth 1). Managed
nodes have the services and the topic of the ROS 2 lifecycle.
"""

INTERFACES = """## Messages and services
Of `mbdyn_ros_interfaces`. In all of them:

- `name` has the joints of the arrays after it, in the caller's order; empty: the robot's order.
- Positions are in rad or m, velocities in rad/s or m/s. An array of rates that is empty is zeros.
- Efforts are those that the actuators apply, N m or N, positive along the joint's axis.
- Where `success` is false nothing was computed or changed; `message` names what is at fault.
- `joint_state` has all movable joints; the effort of a passive one is 0.
"""

SHARED = 2
"""Number of nodes from which on a parameter that they share is listed once."""

COMMON = 3
"""Number of definitions from which on a comment that they share is left to `INTERFACES`."""


WRAPPED = "```{code-block} text\n:class: wrapped\n\n"
"""What a block of long lines begins with."""


@dataclass(frozen=True, order=True)
class Entity:
    """A topic, service, client or action of a node: `way` is in or out of a topic."""

    kind: str
    name: str
    way: str
    type: str


class _StandIn(ModuleType):
    """A package of messages that is not there: every type by its name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        body = {"__module__": self.__name__, "Request": object, "Result": object}
        return type(name, (), body)


def type_of(kind: Any) -> str:
    """The name of a type as ROS writes it, without msg, srv and action."""
    return f"{kind.__module__.partition('.')[0]}/{kind.__name__}"


@contextmanager
def stand_ins(found: list[Entity]) -> Iterator[None]:
    """Let nodes find all packages of `FOREIGN`, and note what they make with their types."""

    def noting(make: Any, kind: str, way: str) -> Any:
        def create(node: Any, type_: Any, name: str, *rest: Any, **options: Any) -> Any:
            if not isinstance(type_, type) or not type_.__module__.startswith(packages):
                return make(node, type_, name, *rest, **options)
            shown_name = shown(node, node.resolve_topic_name(name))
            found.append(Entity(kind, shown_name, way, type_of(type_)))
            return mock.MagicMock()

        return create

    packages = tuple({name.partition(".")[0] for name in FOREIGN})
    modules = {name: _StandIn(name) for name in (*packages, *FOREIGN)}
    transforms = "mbdyn_ros.ros.messages.base_pose.TFMessage"
    actions = [
        f"mbdyn_ros.ros.nodes.{one}.ActionServer"
        for one in ("trajectory_action", "standard_services")
    ]
    with (
        mock.patch.dict(sys.modules, modules),
        mock.patch.object(Node, "create_service", noting(Node.create_service, "service", "")),
        mock.patch.object(
            Node, "create_subscription", noting(Node.create_subscription, "topic", "in")
        ),
        mock.patch.object(Node, "create_client", noting(Node.create_client, "client", "")),
        mock.patch.object(Node, "create_publisher", noting(Node.create_publisher, "topic", "out")),
        mock.patch(actions[0], noting(None, "action", "")),
        mock.patch(actions[1], noting(None, "action", "")),
        mock.patch(transforms, modules["tf2_msgs.msg"].TFMessage),
    ):
        yield


def shown(node: Node, name: str) -> str:
    """A resolved name as it is written in the node."""
    own = f"/{NAMESPACE}/{node.get_name()}/"
    if name.startswith(own):
        return f"~/{name.removeprefix(own)}"
    return name.removeprefix(f"/{NAMESPACE}/")


def optional(kind: type[RobotNode]) -> list[Entity]:
    """All of a node with types of packages that may not be installed."""
    context = rclpy.Context()
    rclpy.init(context=context)
    found: list[Entity] = []
    given = BASE.get(kind.NAME, {"robot_description": ROBOT}) | MORE.get(kind.NAME, {})
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    try:
        with stand_ins(found):
            node: Any = kind(context=context, parameter_overrides=overrides, namespace=NAMESPACE)
        node.stop()
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    return sorted(set(found))


def default(spec: Spec) -> str:
    """The default as YAML writes it; of an empty array its type."""
    if spec.is_list:
        return "double[]" if spec.default == DOUBLES else "string[]"
    value = spec.default
    words = f'"{value}"' if isinstance(value, str) else str(value)
    return f"`{words.lower() if isinstance(value, bool) else words}`"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of Markdown, or nothing where there are no rows."""
    if not rows:
        return ""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n\n"


def row(spec: Spec) -> tuple[str, ...]:
    """A parameter as a row of a table."""
    description = spec.description.replace("<", "&lt;")
    return f"`{spec.name}`{'*' * spec.read_only}", default(spec), description


HEADINGS = "parameter", "default", "what it sets"


def section(kind: type[RobotNode], of_all: Sequence[Any], of_several: Sequence[Any]) -> str:
    """The part of a node, with its own parameters in full and the names of shared ones."""
    managed = "A managed node. " if issubclass(kind, ManagedNode) else ""
    text = f"## {kind.NAME}\n{managed}[What it does](ros.md#{kind.NAME}).\n\n"
    found = optional(kind)
    for package in dict.fromkeys(one.type.partition("/")[0] for one in found):
        names = ", ".join(
            f"{one.kind} `{one.name}`" for one in found if one.type.startswith(f"{package}/")
        )
        text += f"- With `{package}`: {names}.\n"
    text += "\n" * bool(found)
    parameters = [row(spec) for spec in kind.PARAMETERS]
    text += table(HEADINGS, [one for one in parameters if one not in (*of_all, *of_several)])
    names = ", ".join(one[0].strip("*") for one in parameters if one in of_several)
    return text + (f"[Shared](#parameters-of-several-nodes): {names}.\n\n" if names else "")


def interfaces() -> str:
    """The files of mbdyn_ros_interfaces, without what they all say and without empty lines."""
    paths = [path for folder in ("msg", "srv")
             for path in sorted((ROOT / "mbdyn_ros_interfaces" / folder).iterdir())]  # fmt: skip
    texts = [path.read_text().strip() for path in paths]
    uses = Counter(line for text in texts for line in set(text.splitlines()) if line[:1] == "#")
    parts = [INTERFACES]
    for path, text in zip(paths, texts, strict=True):
        lines = [line for line in text.splitlines() if line and uses[line] < COMMON]
        parts.append(f"### {path.stem}\n{WRAPPED}" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


def node_classes() -> list[type[RobotNode]]:
    """The class of every node."""
    found = []
    for module in NODES.values():
        (kind,) = (
            one for one in vars(import_module(f"mbdyn_ros{module}")).values()
            if isinstance(one, type) and issubclass(one, RobotNode)
            and one.__module__ == f"mbdyn_ros{module}"
        )  # fmt: skip
        found.append(kind)
    return found


def page() -> str:
    """The whole page."""
    kinds = node_classes()
    uses = Counter(row(spec) for kind in kinds for spec in kind.PARAMETERS)
    of_all = [one for one, count in uses.items() if count == len(kinds)]
    shared: dict[str, tuple[str, ...]] = {}
    for one, count in uses.items():
        if SHARED <= count < len(kinds):
            shared.setdefault(one[0].strip("*"), one)
    of_several = list(shared.values())
    parts = [section(kind, of_all, of_several) for kind in kinds]
    common = f"## Parameters of all nodes\n{table(HEADINGS, of_all)}"
    more = f"## Parameters of several nodes\n{table(HEADINGS, of_several)}"
    return "\n".join([HEAD, common, more, *parts, interfaces()])


if __name__ == "__main__":
    PAGE.write_text(page())
