"""The report says what was understood of a robot."""

from __future__ import annotations

import json

import pytest
from corpus import readable_urdf_files, urdf_file

import mbdyn_ros

pytestmark = pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")


def test_panda() -> None:
    robot = mbdyn_ros.load(urdf_file("panda.urdf"))
    report = robot.report()
    assert (report.links, report.moving_bodies, report.fixed_joints) == (13, 9, 3)
    assert (report.mobility, report.nq, report.closed_loops) == (8, 8, 0)
    assert report.dependent == ("panda_finger_joint2",)
    assert report.actuated == report.independent
    inertias = [link.inertia for link in robot.model.links if link.name != robot.model.root]
    assert report.moving_mass == pytest.approx(sum(one.mass for one in inertias if one))
    finger = report.joints[-1]
    assert finger.mimic is not None and finger.mimic.joint == "panda_finger_joint1"
    assert (finger.lower, finger.upper, finger.max_effort) == (0.0, 0.04, 100.0)
    text = str(report)
    for word in ("panda_joint3", "panda_hand → panda_leftfinger", "0 .. 0.04 m", "mobility"):
        assert word in text
    assert "├─" in text and "└─ panda_finger_joint2 (prismatic)" in text


def test_floating_base_and_warnings() -> None:
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
      izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"/><joint name="j"
      type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    report = mbdyn_ros.load(text, floating_base=True, gravity=(0, 0, -1.62)).report()
    assert report.floating_base and report.mobility == 7 and report.nq == 8
    assert report.massless_links == ("b",)
    assert "moves freely" in str(report) and "-1.62" in str(report)
    assert any("'b'" in line for line in report.warnings)
    assert "warning: " in str(report)
    assert report.joints[0].lower is None


def test_robot_without_joints() -> None:
    report = mbdyn_ros.load('<robot name="stone"><link name="rock"/></robot>').report()
    assert report.mobility == 0 and report.moving_mass == 0
    assert "rock" in str(report)


@pytest.mark.parametrize("path", readable_urdf_files()[::6], ids=lambda path: path.stem)
def test_is_json_ready(path: object) -> None:
    report = mbdyn_ros.load(path).report()  # type: ignore[arg-type]
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert document["mobility"] == report.nv
    assert len(str(report).splitlines()) > report.links
