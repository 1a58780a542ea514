"""`mbdyn view --ros`: what a simulator publishes is shown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("viser")

from ros_rig import ARM, Rig, rig
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from mbdyn_ros.ros.node.description import LATCHED
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.ros.show.viewer import MarkerScene, Viewer
from mbdyn_ros.view.page.page import Address, Page

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")


@pytest.mark.alone
def test_the_viewer_follows_a_simulator(rig: Rig) -> None:
    page = Page("ROS", Address(port=0))
    try:
        viewer = Viewer(page, None, context=rig.context)
        rig.executor.add_node(viewer)
        rig.add(Simulator, robot_description=ARM, rate=100.0, start_paused=True,
                initial_positions=[0.3, -0.7, 0.02], marker_rate=10.0)  # fmt: skip
        latched = rig.client.create_publisher(String, "robot_description", LATCHED)

        def shows(condition: Callable[[], bool]) -> Callable[[], bool]:
            def drawn() -> bool:
                viewer.draw(0.0, False)
                return condition()

            return drawn

        assert "Waiting for the URDF" in viewer._page.words.content
        latched.publish(String(data="<robot"))
        rig.wait(shows(lambda: "Refused" in viewer._page.words.content))
        latched.publish(String(data=ARM))
        rig.wait(shows(lambda: "4 joints on" in viewer._page.words.content))
        scene = page.server.scene
        assert viewer._shown is not None
        upper = scene.get_handle_by_name(page.scene.path("upper"))
        thumb = scene.get_handle_by_name(page.scene.path("thumb"))
        assert upper is not None and thumb is not None
        half = 0.3 / 2
        rig.wait(shows(lambda: np.allclose(upper.wxyz, [np.cos(half), 0, np.sin(half), 0])))
        assert np.allclose(thumb.position, [0.5, 0, -0.04]), "it mimics the finger, twice as far"
        mass = f"{page.scene.path('upper')}/marker__simulator_markers_mass_0"
        rig.wait(shows(lambda: scene.get_handle_by_name(mass) is not None))
        gone = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
        viewer._mark("/simulator/markers", gone)
        viewer._markers.show("/simulator/markers", gone)
        assert scene.get_handle_by_name(mass) is None
        rig.executor.remove_node(viewer)
        viewer.destroy_node()
    finally:
        page.close()


def test_a_marker_goes_from_link_to_link() -> None:
    """Under the frame that its message names; a quaternion of zeros is not a rotation."""
    page = Page("markers", Address(port=0))
    try:
        for link in ("upper", "lower"):
            page.scene.hang(link)
        markers = MarkerScene(page.scene, ["upper", "lower"])
        ball = Marker(ns="mass", id=3, type=Marker.SPHERE)
        ball.scale.x = ball.scale.y = ball.scale.z = 0.2
        ball.pose.orientation.w, ball.pose.position.z = 0.0, 0.5
        for link, other in (("upper", "lower"), ("lower", "upper")):
            ball.header.frame_id = f"/{link}"
            markers.show("a", MarkerArray(markers=[ball]))
            find = page.server.scene.get_handle_by_name
            node = find(f"{page.scene.path(link)}/marker_a_mass_3")
            assert node is not None and node.position.tolist() == [0, 0, 0.5]
            assert node.wxyz.tolist() == [1, 0, 0, 0]
            assert find(f"{page.scene.path(other)}/marker_a_mass_3") is None
    finally:
        page.close()
