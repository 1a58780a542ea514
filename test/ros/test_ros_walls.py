"""The simulator among walls: impacts, markers, and what cannot start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from ros_rig import Rig, rig, srv
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from mbdyn_ros import Environment, Surface
from mbdyn_ros.errors import InputError, ModelError
from mbdyn_ros.ros.node.description import LATCHED
from mbdyn_ros.ros.node.interfaces import msg
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.ros.show.markers import wall_markers
from mbdyn_ros.simulation import CurvedRod

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

BALL = """<robot name="ball"><link name="base"/><link name="ball"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="ball"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="99" velocity="99"/></joint></robot>"""
WALLS = """surfaces:
  - {name: floor, type: plane, restitution: 0.5, friction: 0}
  - {name: dome, type: sphere, radius: 8, center: [0, 0, 1], restitution: 1, friction: 0}
  - {name: tube, type: cylinder, radius: 3, axis: [1, 0, 0], restitution: 1, friction: 0}
  - {name: shaft, type: elliptic_cylinder, semi_axes: [4, 2], restitution: 1, friction: 0}
  - {name: room, type: box, size: [20, 20, 20], restitution: 1, friction: 0}
points: [{link: ball}]"""
FALL = math.sqrt(2 * 0.2 / 9.81)


def simulate(rig: Rig, **parameters: Any) -> Any:
    given = {"robot_description": BALL, "environment": WALLS, "initial_positions": [0.2]}
    return rig.add(Simulator, **{**given, **parameters})


def test_balls_and_curved_rods_are_shown_on_their_links() -> None:
    """As wide as they are, along the arc from end to end, without gaps between pieces."""
    rod = CurvedRod("rod", (0, 0, 0), (0.5, 0, 0.1), (1, 0, 0), radius=0.02)
    given = Environment([Surface.plane()], points=[rod, ("ball", (0.1, 0, 0), 0.05)])
    markers = wall_markers(given, "world").markers
    assert len({one.id for one in markers}) == len(markers)
    *pieces, ball = [one for one in markers if one.ns in ("curved_rods", "balls")]
    places = np.array([(at.x, at.y, at.z) for one in pieces for at in one.points])
    assert {(one.header.frame_id, one.scale.x) for one in pieces} == {("rod", 0.04)}
    assert places[[0, -1]] == pytest.approx(np.array([[0, 0, 0], [1, 0, 0]]), abs=1e-12)
    assert places[1:-1:2] == pytest.approx(places[2::2], abs=1e-12)
    bend = (0.25 + 0.01) / 0.2
    assert np.hypot(places[:, 0] - 0.5, places[:, 2] - 0.1 + bend) == pytest.approx(bend)
    assert (ball.header.frame_id, ball.scale.z, ball.pose.position.x) == ("ball", 0.1, 0.1)


def test_an_impact_is_reported_and_shown(rig: Rig) -> None:
    node = simulate(rig, start_paused=True, publish_clock=True)
    impacts = rig.listen(msg.Impact, "simulator/impacts")
    arrows = rig.listen(MarkerArray, "simulator/impulses")
    walls = rig.listen(MarkerArray, "simulator/walls", LATCHED)
    rig.wait(lambda: walls and node.count_subscribers("/simulator/impacts") > 0)
    rig.wait(lambda: node.count_subscribers("/simulator/impulses") > 0)
    shown = [(marker.ns, marker.type, marker.text) for marker in walls[0].markers]
    assert [one for one in shown if one[0] == "walls"] == [
        ("walls", Marker.CUBE, "floor"),
        ("walls", Marker.SPHERE, "dome"),
        ("walls", Marker.CYLINDER, "tube"),
        ("walls", Marker.CYLINDER, "shaft"),
        ("walls", Marker.CUBE, "room"),
    ]
    assert rig.call(SetBool, "simulator/pause", data=False).success
    rig.wait(lambda: len(impacts) > 3)
    first = impacts[0]
    assert first.time == pytest.approx(FALL, abs=1e-9)
    assert first.header.stamp.nanosec == pytest.approx(FALL * 1e9, abs=10)
    (hit,) = first.contacts
    assert (first.header.frame_id, hit.link, hit.surface) == ("base", "ball", "floor")
    assert hit.force == pytest.approx(2 * 1.5 * 9.81 * FALL, rel=1e-9)
    assert hit.normal_velocity_before == pytest.approx(-9.81 * FALL, rel=1e-9)
    assert hit.normal_velocity_after == pytest.approx(0.5 * 9.81 * FALL, rel=1e-9)
    assert (hit.point.x, hit.friction.x, hit.angle_of_attack, hit.sticks) == (0, 0, 0, False)
    assert first.energy_before - first.energy_after == pytest.approx(0.75 * 2 * 9.81 * 0.2)
    assert (hit.normal.z, hit.position.z) == pytest.approx((1, 0), abs=1e-9)
    rig.wait(lambda: any(m.ns == "impulse" for array in arrows for m in array.markers))
    rig.wait(lambda: "energy" in arrows[-1].markers[-1].text)
    rig.wait(lambda: node.session.motion.time > 0.8)
    values = node.health().values
    assert float(values["lost in impacts and at walls (J)"]) == pytest.approx(3.924, rel=1e-6)
    assert float(values["energy (J)"]) == pytest.approx(0, abs=1e-9)  # it rests
    assert rig.call(Trigger, "simulator/reset").success
    assert node.session.motion.lost < 3.9


def test_a_sensor_in_a_joint_and_contacts_at_rest(rig: Rig) -> None:
    """A ball that lies on the floor and is pushed along it: its guide holds it, the floor bears."""
    sensor = {"force_torque_joints": ["lift"], "initial_positions": [0.0]}
    node = simulate(rig, **sensor)
    readings = rig.listen(WrenchStamped, "simulator/force_torque/lift")
    push = rig.publisher(WrenchStamped, "simulator/wrench")
    message = WrenchStamped()
    message.header.frame_id, message.wrench.force.x = "ball", 5.0

    def held() -> bool:
        push.publish(message)
        return bool(readings) and readings[-1].wrench.force.x != 0.0

    rig.wait(held)
    wrench = readings[-1].wrench
    assert readings[-1].header.frame_id == "ball"
    assert (wrench.force.x, wrench.force.z) == pytest.approx((-5.0, 0.0), abs=1e-6)
    assert abs(node.session.motion.q[0]) < 1e-6
    contacts = rig.listen(msg.Contacts, "simulator/contacts")
    rig.wait(lambda: contacts)
    (held,) = contacts[-1].contacts
    assert (contacts[-1].header.frame_id, held.link, held.surface) == ("base", "ball", "floor")
    assert (held.force, held.friction.x, held.normal.z) == pytest.approx((19.62, 0, 1), abs=1e-6)
    assert held.position.z == pytest.approx(0, abs=1e-6) and math.isnan(held.angle_of_attack)
    with pytest.raises(InputError, match="parameter force_torque_joints: .*no joint 'lft'"):
        free = {"environment": "", "joint_limits": False, "remap": [("__node", "other")]}
        simulate(rig, force_torque_joints=["lft"], **free)


def test_a_start_inside_a_wall_waits(rig: Rig) -> None:
    node = simulate(rig, initial_positions=[-0.5])
    words = "point 0 (0, 0, 0) of link 'ball' on surface 'floor' starts inside the wall"
    assert words in node.fault and words in node.health().errors[0]
    response = rig.call(Trigger, "simulator/reset")
    assert not response.success and words in response.message
    response = rig.call(srv.SetState, "simulator/set_state", name=["lift"], position=[-0.1])
    assert not response.success and "(0, 0, -0.1)" in response.message
    assert node.session.motion.time == 0.0
    assert rig.call(srv.SetState, "simulator/set_state", name=["lift"], position=[0.3]).success
    rig.wait(lambda: node.session.motion.time > 0.05)
    response = rig.call(srv.SetState, "simulator/set_state", name=["lift"], position=[-1.0])
    assert not response.success and node.fault == ""
    assert node.session.motion.q[0] > -1e-6  # it goes on from where it was


def test_a_floating_base_lands(rig: Rig) -> None:
    """Its pose and its impacts are reported in the world."""
    block = BALL.split("<joint")[0].replace('<link name="base"/>', "") + "</robot>"
    node = simulate(
        rig, robot_description=block, floating_base=True, initial_joints=["floating_base"],
        initial_positions=[0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0], start_paused=True,
    )  # fmt: skip
    impacts = rig.listen(msg.Impact, "simulator/impacts")
    poses = rig.listen(Odometry, "simulator/odometry")
    rig.wait(lambda: node.count_subscribers("/simulator/impacts") > 0)
    rig.wait(lambda: poses and poses[-1].pose.pose.position.z == 0.2)
    assert rig.call(SetBool, "simulator/pause", data=False).success
    rig.wait(lambda: impacts)
    assert (impacts[0].header.frame_id, impacts[0].contacts[0].link) == ("world", "ball")
    rig.wait(lambda: abs(poses[-1].pose.pose.position.z) < 1e-6)
    assert poses[-1].header.frame_id == "world" and poses[-1].child_frame_id == "ball"


def test_gravity_changes_among_walls(rig: Rig) -> None:
    node = simulate(rig)
    rig.wait(lambda: node.session.motion.time > 0.7)
    lost = node.session.motion.lost
    assert lost == pytest.approx(3.924, rel=1e-6)
    assert rig.set(node, gravity=[0.0, 0.0, 3.0]) == ""
    rig.wait(lambda: node.session.motion.q[0] > 0.01)
    assert node.session.motion.lost == pytest.approx(lost)


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (WALLS.replace("0.5", "2"), "surface 'floor': restitution is 2"),
        (WALLS.replace("link: ball", "link: foot"), "there is no link 'foot'"),
        (WALLS.replace("link: ball", "link: base"), "link 'base' cannot move"),
        ("no_such_file.yaml", "no_such_file.yaml: no such file"),
    ],
)
def test_bad_walls_end_the_node(rig: Rig, environment: str, words: str) -> None:
    with pytest.raises(ModelError, match="parameter environment: ") as caught:
        simulate(rig, environment=environment)
    assert words in str(caught.value)
