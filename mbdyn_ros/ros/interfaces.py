"""The service types of mbdyn_ros_interfaces, where that package is built."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

srv: Any
try:
    import mbdyn_ros_interfaces.srv as srv
except ImportError:
    srv = None


def service_types(node: Node, what: str) -> Any:
    """The module with the service types; None, and one line in the log, where it is not built."""
    if srv is None:
        node.get_logger().warning(
            f"the package mbdyn_ros_interfaces is not built: {what}. "
            "Build it: colcon build --base-paths . mbdyn_ros_interfaces (or make test), "
            "and source install/setup.bash"
        )
    return srv
