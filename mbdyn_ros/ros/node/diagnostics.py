"""Diagnostics of a node, at 1 Hz on /diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from ...errors import MbdynError
from .rate_loop import LoopReport
from .refusals import in_words, one_line
from .steady_timer import steady_timer


@dataclass
class Health:
    """The condition of a node: errors, warnings and values.

    hardware : what it is about, in words that no other robot has.
    """

    hardware: str = ""
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)

    def add_loop(self, report: LoopReport, wanted: float, remark: str) -> None:
        """Rate and times of a loop; deadlines missed often are worth a warning."""
        self.values.update(
            {
                "rate (Hz)": f"{report.rate:.1f}",
                "wanted rate (Hz)": f"{wanted:g}",
                "mean compute time (us)": f"{1e6 * report.mean_compute:.1f}",
                "worst compute time (us)": f"{1e6 * report.worst_compute:.1f}",
                "worst overrun (us)": f"{1e6 * report.worst_overrun:.1f}",
                "missed deadlines": report.missed,
            }
        )
        if remark:
            self.warnings.append(remark)
        if report.rate < 0.95 * wanted:
            self.warnings.append(f"runs at {report.rate:.0f} Hz instead of {wanted:g}")


    def of_one_sender(self, what: str, names: Sequence[str]) -> None:
        """Name the nodes that something came from; several are worth a warning."""
        self.values[f"{what} from"] = ", ".join(names) or "nobody"
        if len(names) > 1:
            self.warnings.append(f"{what} come from several nodes: {', '.join(names)}")


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
