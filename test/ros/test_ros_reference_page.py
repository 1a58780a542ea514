"""docs/ros_reference.md says what the nodes declare, word for word."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mbdyn_ros_interfaces.srv")

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_nodes_declare(compiled: None) -> None:
    """Where it is not: python scripts/ros_reference.py."""
    written = runpy.run_path(str(ROOT / "scripts" / "ros_reference.py"))
    reported, there = written["page"]().splitlines(), written["PAGE"].read_text().splitlines()
    for number, (line, other) in enumerate(zip(reported, there, strict=False), 1):
        assert line == other, f"line {number}"
    assert len(reported) == len(there) > 500
    for kind in ("joint_dynamics", "follow_joint_trajectory", "/tf", "float64[] effort"):
        assert any(kind in line for line in there), kind
