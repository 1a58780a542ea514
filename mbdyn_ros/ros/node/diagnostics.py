"""Diagnostics of a node, at 1 Hz on /diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from ...errors import MbdynError
from .health import Health
from .node_clock import steady_timer
from .refusals import in_words, one_line


class Diagnostics:
    """Publishes the `Health` that `examine` returns, once a second, under the node's full name."""

    def __init__(self, node: Node, examine: Callable[[], Health]) -> None:
        self._node, self._examine = node, examine
        self._name = node.get_fully_qualified_name().lstrip("/")
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._timer = steady_timer(node, 1.0, self._publish)

    def _publish(self) -> None:
        try:
            health = self._examine()
        except MbdynError as error:  # a state that has no energy any more, such as NaN
            health = Health(errors=[in_words(error)])
        status = DiagnosticStatus(name=self._name, hardware_id=health.hardware)
        if health.errors:
            status.level = DiagnosticStatus.ERROR
        elif health.warnings:
            status.level = DiagnosticStatus.WARN
        else:
            status.level = DiagnosticStatus.OK
        status.message = one_line("; ".join([*health.errors, *health.warnings])) or "ok"
        status.values = key_values(health.values)
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def key_values(values: Mapping[str, object]) -> list[KeyValue]:
    """Values as the message wants them, in one line each."""
    return [KeyValue(key=key, value=one_line(value)) for key, value in values.items()]
