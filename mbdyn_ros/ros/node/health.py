"""The condition of a node, as its diagnostics report it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .loops import LoopReport


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
        self.values[f"{what} from"] = ", ".join(names) or "none"
        if len(names) > 1:
            self.warnings.append(f"{what} come from several nodes: {', '.join(names)}")
