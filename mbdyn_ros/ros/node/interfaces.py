"""The services and messages of mbdyn_ros_interfaces, and of others, where they are built."""

from __future__ import annotations

import importlib
from typing import Any

from rclpy.node import Node

from ...errors import MbdynError

srv: Any
msg: Any
try:
    import mbdyn_ros_interfaces.msg as msg
    import mbdyn_ros_interfaces.srv as srv
except ImportError:
    msg = srv = None

NOT_BUILT = (
    "Build it: colcon build --base-paths . mbdyn_ros_interfaces (or make test), "
    "and source install/setup.bash"
)


def service_types(node: Node, what: str) -> Any:
    """The module with the service types; None, and one line in the log, where it is not built."""
    if srv is None:
        node.get_logger().warning(
            f"the package mbdyn_ros_interfaces is not built: {what}. {NOT_BUILT}"
        )
    return srv


def message_types(purpose: str) -> Any:
    """The module with the message types, or an error where it is not built."""
    if msg is None:
        raise MbdynError(f"{purpose} needs the package mbdyn_ros_interfaces. {NOT_BUILT}")
    return msg


def where_installed(module: str) -> Any:
    """A module of messages, services or actions of another package; None where it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
