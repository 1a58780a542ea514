"""Several robots and bodies in one simulator, which come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from ros_rig import Rig, rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from mbdyn_ros import World, example, load
from mbdyn_ros.errors import InputError, ModelError
from mbdyn_ros.motion.free_bodies import FreeBody
from mbdyn_ros.ros.node.description import LATCHED
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.ros.show.viewer import Viewer
from mbdyn_ros.view.page.page import Address, Page

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

G, RATE = 9.81, 100.0
LIFT = """<robot name="lift"><link name="rail"/><link name="plate"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="up" type="prismatic"><parent link="rail"/><child link="plate"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="99" velocity="99"/></joint></robot>"""


@pytest.fixture
def world_file(tmp_path: Any) -> str:
    """Two lifts, a ball above one of them, and a floor."""
    (tmp_path / "lift.urdf").write_text(LIFT)
    path = tmp_path / "world.yaml"
    path.write_text("""
members:
  - {name: left, robot: lift.urdf, xyz: [0, 0, 1]}
  - {name: right, robot: lift.urdf, xyz: [2, 0, 1]}
  - {name: ball, shape: sphere, radius: 0.1, mass: 1, xyz: [0, 0, 1.2], rpy: [0, 0, 1.5]}
  - {name: post, shape: box, size: [0.1, 0.1, 0.1], xyz: [5, 0, 0.05]}
surfaces: [{name: floor, type: plane, restitution: 0, friction: 0.5}]
links: {restitution: 0, friction: 0.5}
""")
    return str(path)


def test_two_robots_and_a_ball(rig: Rig, world_file: str) -> None:
    """One lift carries the ball by an effort of its own, the other falls on the floor."""
    node = rig.add(Simulator, world=world_file, rate=RATE)
    efforts = rig.publisher(Float64MultiArray, "simulator/left/commands")
    states = rig.listen(JointState, "joint_states")
    poses = rig.listen(Odometry, "simulator/ball/odometry")
    descriptions = rig.listen(String, "robot_description", LATCHED)

    def carried() -> bool:
        efforts.publish(Float64MultiArray(data=[3 * G]))
        return bool(node.session.motion.time > 0.8 and poses and states and descriptions)

    rig.wait(carried)
    state = states[-1]
    assert state.name == ["left_up", "right_up"] and state.header.frame_id == "world"
    assert state.effort[0] == pytest.approx(3 * G) and state.effort[1] == 0
    assert state.position[1] == pytest.approx(-0.9, abs=1e-6)  # on the floor
    assert state.velocity[0] == pytest.approx(poses[-1].twist.twist.linear.z, abs=0.5)
    assert poses[-1].header.frame_id == "world" and poses[-1].child_frame_id == "ball"
    assert abs(poses[-1].pose.pose.orientation.z) == pytest.approx(0.6816, abs=1e-3)
    whole = load(descriptions[-1].data)
    assert set(World.load(world_file).robot.links) == set(whole.links)


def test_what_cannot_be_a_world(rig: Rig, world_file: str) -> None:
    with pytest.raises(InputError, match="leave robot_description and urdf empty"):
        rig.add(Simulator, world=world_file, urdf="x.urdf")
    with pytest.raises(InputError, match="parameter environment is that of one robot"):
        rig.add(Simulator, world=world_file, environment="surfaces: []", remap=[("__node", "a")])
    with pytest.raises(ModelError, match="parameter world: .*nowhere.yaml"):
        rig.add(Simulator, world="nowhere.yaml", remap=[("__node", "b")])


def test_the_viewer_shows_where_bodies_are(rig: Rig, world_file: str) -> None:
    """A ball that rests on its lift is drawn where its odometry says, in the world."""
    page = Page("ROS", Address(port=0))
    try:
        viewer = Viewer(page, None, context=rig.context)
        rig.executor.add_node(viewer)
        node = rig.add(Simulator, world=world_file, rate=RATE, start_paused=True)
        body = FreeBody.of(node.session.robot, "ball")
        assert body is not None
        q = node.session.motion.q.copy()
        body.place(q, np.array([0.5, -0.7, 2.0, 0.0, 0.6, 0.0, 0.8]))
        np.testing.assert_allclose(body.pose(q), [0.5, -0.7, 2.0, 0.0, 0.6, 0.0, 0.8], atol=1e-15)
        np.testing.assert_allclose(node.session.robot.frame_pose(q, "ball")[:3, 3], [0.5, -0.7, 2])
        node.session.set_state(q, node.session.motion.v)

        def drawn() -> bool:
            viewer.draw(0.0, False)
            handle = page.server.scene.get_handle_by_name(page.scene.path("ball"))
            return handle is not None and np.allclose(handle.position, [0.5, -0.7, 2.0])

        rig.wait(drawn)
        handle = page.server.scene.get_handle_by_name(page.scene.path("ball"))
        np.testing.assert_allclose(np.abs(handle.wxyz), [0.8, 0.0, 0.6, 0.0], atol=1e-9)
        rig.wait(lambda: viewer.draw(0.0, False) or "not published" not in page.words.content)
        rig.executor.remove_node(viewer)
        viewer.destroy_node()
    finally:
        page.close()


def test_gravity_changes_for_all(rig: Rig, world_file: str) -> None:
    node = rig.add(Simulator, world=world_file, rate=RATE)
    before = node.session
    assert rig.set(node, gravity=[0.0, 0.0, -1.0]) == ""
    rig.wait(lambda: node.session is not before)
    assert node.session.robot.gravity.tolist() == [0.0, 0.0, -1.0]
    assert node.world.robot is node.session.robot and list(node.session.members) == [
        "left", "right", "ball", "post",
    ]  # fmt: skip


@pytest.mark.long
def test_an_excavator_and_a_pipe(rig: Rig) -> None:
    """Its loops stay closed under an effort on one cylinder, and a pipe falls next to it."""
    members = (
        "members: [{name: digger, robot: excavator, xyz: [0, 0, 2]}, {name: pipe, "
        "shape: capsule, radius: 0.1, length: 1, mass: 20, xyz: [9, 0, 0.5], rpy: [0, 1.5708, 0]}]"
        "\nsurfaces: [{name: floor, type: plane, restitution: 0, friction: 0.6}]\n"
    )
    node = rig.add(Simulator, world=members, rate=200.0)
    states = rig.listen(JointState, "joint_states")
    poses = rig.listen(Odometry, "simulator/pipe/odometry")
    efforts = rig.publisher(Float64MultiArray, "simulator/digger/commands")
    joints = node.session.driven["digger"]

    def lies() -> bool:
        efforts.publish(Float64MultiArray(data=[100.0 * (k == 0) for k in range(len(joints))]))
        moved = states and dict(zip(states[-1].name, states[-1].effort, strict=True))[joints[0]]
        return bool(moved and poses and poses[-1].pose.pose.position.z < 0.1 + 1e-6)

    rig.wait(lies)  # and the first commands have come
    assert poses[-1].pose.pose.position.z == pytest.approx(0.1, abs=1e-6)
    state, whole = states[-1], example("excavator")  # commands age meanwhile
    assert state.name == [f"digger_{name}" for name in whole.joint_names]
    found = dict(zip(state.name, state.effort, strict=True))
    assert found[joints[0]] == 100.0 and node.fault == ""
    q = [state.position[whole.joint_names.index(one)] for one in whole.independent_joints]
    np.testing.assert_allclose(whole.joint_state(q)[0], state.position, atol=1e-9)


def test_a_lift_with_a_given_motion(rig: Rig) -> None:
    """It carries a ball up in its time, its joints are published, and a reset begins again."""
    members = (
        "members:\n  - {name: lift, shape: box, size: [1, 1, 0.2], motion: {law: waypoints, "
        "times: [0, 0.3], positions: [0, 0.05]}}\n"
        "  - {name: load, shape: sphere, radius: 0.1, mass: 1, xyz: [0, 0, 0.2]}\n"
    )
    node = rig.add(Simulator, world=members, rate=RATE)
    states = rig.listen(JointState, "joint_states")

    def positions() -> dict[str, float]:
        return dict(zip(states[-1].name, states[-1].position, strict=True))

    rig.wait(lambda: states and positions()["lift_time"] > 0.35)
    assert positions()["lift_motion_1"] == pytest.approx(0.05)
    assert node.session.motion.q[3] == pytest.approx(0.05, abs=1e-6)
    node.session.reset()
    assert node.session.motion.v[0] == 1.0 and node.fault == ""
