"""The report says what was understood of a robot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from corpus import readable_urdf_files, urdf_file
from robot_text import EMPTY, joint, link, robot_text

import mbdyn_ros

ROOT = Path(__file__).resolve().parents[2]
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
    words = "panda_joint3", "→ panda_leftfinger", "0 .. 0.04 m", "mobility", "couplings     1"
    for word in words:
        assert word in text
    assert "panda_finger_joint2 - panda_finger_joint1 = 0" in text
    assert "├─" in text and "└─ panda_finger_joint2 (prismatic)" in text


def test_floating_base_and_warnings() -> None:
    text = robot_text(link("a"), link("b", 0), joint("j", "a", "b"), base="")
    report = mbdyn_ros.load(text, floating_base=True, gravity=(0, 0, -1.62)).report()
    assert report.floating_base and report.mobility == 7 and report.nq == 8
    assert report.massless_links == ("b",)
    assert "moves freely" in str(report) and "-1.62" in str(report)
    assert any("'b'" in line for line in report.warnings)
    assert "warning: " in str(report)
    assert report.joints[0].lower is None


def test_robot_without_joints() -> None:
    report = mbdyn_ros.load(EMPTY).report()
    assert report.mobility == 0 and report.moving_mass == 0
    assert "stone" in str(report)


@pytest.mark.parametrize("path", readable_urdf_files()[::6], ids=lambda path: path.stem)
def test_is_json_ready(path: object) -> None:
    report = mbdyn_ros.load(path).report()  # type: ignore[arg-type]
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert document["mobility"] == report.nv
    assert len(str(report).splitlines()) > report.links


def own(name: str, **options: object) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ROOT / "urdf" / f"{name}.urdf", **options)  # type: ignore[arg-type]


def test_manipulator() -> None:
    """Two cylinder triangles: planar loops in space, five rows of rank two each."""
    robot = own("manipulator")
    report = robot.report()
    assert (report.closed_loops, report.mobility, len(report.joints)) == (2, 4, 8)
    assert (report.rows, report.rank, report.redundant) == (10, 4, 6)
    lift, tilt = report.clusters
    assert lift.constraints == ("lift_pin",) and tilt.constraints == ("tilt_pin",)
    assert lift.links == ("boom", "lift_barrel", "lift_rod")
    assert lift.joints == ("boom_joint", "lift_barrel_joint", "lift_rod_joint")
    assert lift.independent == ("lift_rod_joint",)
    assert lift.dependent == ("boom_joint", "lift_barrel_joint")
    assert (lift.rows, lift.rank, lift.redundant, lift.mobility) == (5, 2, 3, 1)
    assert lift.positions == "closed form"
    assert report.loops[0].joints == ("lift_barrel_joint", "lift_rod_joint", "boom_joint")
    assert report.closure_gap < 1e-12 and max(lift.gap, tilt.gap) == report.closure_gap
    assert report.home == robot.home and report.independent_by == "description"
    text = str(report)
    for word in ("10: 4 independent, 6 redundant", "lift_rod ↔ boom", "dependent", "⇢ jib"):
        assert word in text
    lines = text.splitlines()
    assert len(lines) < 50 and max(map(len, lines)) < 110, "one screen"


def test_says_who_chose() -> None:
    text = re.sub(r' independent="\w+"', "", (ROOT / "urdf" / "four_bar.urdf").read_text())
    assert mbdyn_ros.load(text).report().independent_by == "chosen"
    driven = mbdyn_ros.load(text, mechanism="{actuated: [rocker_joint]}").report()
    assert driven.independent_by == "actuated" and driven.independent == ("rocker_joint",)
    assert driven.joints[0].independent is False and driven.joints[2].actuated
    assert mbdyn_ros.load(urdf_file("ur5_robot.urdf")).report().independent_by == "all"


def test_how_positions_are_found() -> None:
    """A gear is linear, a planar four-bar has a closed form, a ball joint in space none."""
    spatial = """<robot name="rssr"><link name="ground"/>{links}
      <joint name="crank" type="continuous"><parent link="ground"/><child link="a"/>
        <axis xyz="0 1 0"/></joint>
      <joint name="u1" type="continuous"><parent link="a"/><child link="x"/>
        <origin xyz="0 0 0.15"/><axis xyz="0 0 1"/></joint>
      <joint name="u2" type="continuous"><parent link="x"/><child link="b"/>
        <axis xyz="0 1 0"/></joint>
      <joint name="rocker" type="continuous"><parent link="ground"/><child link="c"/>
        <origin xyz="0.6 0.2 0"/><axis xyz="0.2 1 0"/></joint>
      <loop name="ball" type="spherical"><predecessor link="b"><origin xyz="0.65 0 0"/>
        </predecessor><successor link="c"><origin xyz="0 0 0.35"/></successor></loop></robot>"""
    link = """<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
      ixz="0" iyz="0"/></inertial></link>"""
    report = mbdyn_ros.load(spatial.format(links="".join(map(link.format, "axbc")))).report()
    (cluster,) = report.clusters
    assert cluster.positions == "Newton's method"
    assert (cluster.rows, cluster.rank, cluster.redundant, cluster.mobility) == (3, 3, 0, 1)
    gripper = mbdyn_ros.load(urdf_file("panda.urdf")).report()
    assert gripper.clusters[0].positions == "linear" and gripper.clusters[0].rank == 1
    assert gripper.independent_by == "description"
    assert own("four_bar").report().clusters[0].positions == "closed form"
