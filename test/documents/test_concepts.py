"""The figure of clusters and G shows the crane as it is, and the page reads it correctly."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

ROOT = Path(__file__).resolve().parents[2]


def test_the_figure_is_of_today() -> None:
    """Where it is not: python scripts/clusters.py."""
    drawn = runpy.run_path(str(ROOT / "scripts/clusters.py"))
    assert drawn["FIGURE"].read_text() == drawn["figure"]()


def test_numbers_of_the_page() -> None:
    """The boom's velocity for 1 m/s of its cylinder, and its lever arm, by its torque too."""
    page = (ROOT / "docs/concepts.md").read_text().replace("\n   ", " ")
    crane = mbdyn_ros.example("crane")
    home, names = crane.home_position, list(crane.joint_names)
    velocity = crane.joint_state(home, [0, 1, 0, 0])[1][names.index("boom_joint")]
    assert f"the boom turns at {velocity:.2f} rad/s" in page
    assert f"1/{velocity:.2f} = {1 / velocity:.2f} m" in page
    angle = crane.with_independent(
        ["slew_joint", "boom_joint", "tilt_rod_joint", "telescope_joint"], crane.home
    )
    moment = angle.gravity_vector(angle.home_position)[1]
    assert moment == pytest.approx(crane.gravity_vector(home)[1] / velocity, rel=1e-9)
