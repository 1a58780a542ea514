"""Pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Tab, browser, running

import mbdyn_ros

pytest.importorskip("viser")

from mbdyn_ros.view.page import Address, Page  # noqa: E402
from mbdyn_ros.view.robot_page import RobotPage  # noqa: E402
from mbdyn_ros.view.visuals import read_visuals  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
BOOM = ROOT / "urdf" / "boom.urdf"
ANY_PORT = Address(port=0)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


def test_a_robot_moves_with_its_slider(chromium: Any) -> None:
    """Its loop closes; what it cannot reach is explained; it plays."""
    robot = mbdyn_ros.load(BOOM)
    page = Page("boom", ANY_PORT)
    shown = RobotPage(page, robot, read_visuals(BOOM), BOOM.parent)
    with running(shown):
        one = Tab(chromium, page.url)
        one.until(lambda: "boom_joint" in one.text(), "dependent joints are listed")
        one.until(lambda: len(set(one.scene())) > 1, "a picture")
        before, curve = one.scene(), one.curve(1)
        one.drag("rod_joint", 0.85)
        one.until(lambda: one.scene() != before, "the boom moves")
        angle = robot.joint_state(shown.sliders.q)[0][0]
        one.until(lambda: f"{angle:.4f} rad" in one.text(), "the loop is closed")
        one.drag("Period", 0.9)
        one.until(lambda: one.curve(0) != curve, "the chart follows")
        before = one.scene()
        one.tab.get_by_role("button", name="Play").click()
        one.until(lambda: one.scene() != before, "it plays")
        one.tab.get_by_role("button", name="Pause").click()
        assert one.errors == []
        one.tab.close()
