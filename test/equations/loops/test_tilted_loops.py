"""Angles written with few digits tilt the axis of a planar loop, which must not lock it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from random_loops import draw

import mbdyn_ros
from mbdyn_ros.prepare.straight import set_straight
from mbdyn_ros.prepare.tree import build_tree

BOOM = (Path(__file__).parents[3] / "urdf" / "boom.urdf").read_text()


def tilted(angle: float) -> str:
    """The boom with the successor's loop frame turned about x by a little."""
    start = BOOM.index("<successor")
    end = BOOM.index("</successor>")
    successor = BOOM[start:end]
    assert 'rpy="' not in successor, "the test writes its own"
    turned = successor.replace("<origin ", f'<origin rpy="{angle} 0 0" ')
    assert turned != successor
    return BOOM[:start] + turned + BOOM[end:]


@pytest.mark.parametrize("angle", [3.7e-6, -1e-4, 1e-10])
def test_rounded_angle_is_set_straight_and_said(angle: float) -> None:
    exact = mbdyn_ros.load(BOOM)
    message = "the closing joint of loop 'rod_pin' misses its plane by"
    with pytest.warns(mbdyn_ros.ModelWarning, match=message):
        robot = mbdyn_ros.load(tilted(angle))
    state = np.array([0.05]), np.array([0.2]), np.array([0.3])
    np.testing.assert_allclose(
        robot.inverse_dynamics(*state), exact.inverse_dynamics(*state), rtol=1e-12
    )
    assert any(message in warning for warning in robot.warnings)


FOUR_BAR = (Path(__file__).parents[3] / "urdf" / "four_bar.urdf").read_text()


def tilted_joint(name: str, angle: float) -> str:
    """The four-bar with the axis of a joint turned out of the plane."""
    start = FOUR_BAR.index(f'<joint name="{name}"')
    end = FOUR_BAR.index("</joint>", start)
    axis = '<axis xyz="0 -1 0"/>' if '"0 -1 0"' in FOUR_BAR[start:end] else '<axis xyz="0 1 0"/>'
    assert axis in FOUR_BAR[start:end]
    turned = FOUR_BAR[start:end].replace(axis, axis.replace('"0 ', f'"{angle} '))
    return FOUR_BAR[:start] + turned + FOUR_BAR[end:]


@pytest.mark.sparse
@pytest.mark.parametrize("angle", [3.7e-6, -9e-5, 1e-9])
@pytest.mark.parametrize("name", ["crank_joint", "coupler_joint", "rocker_joint"])
def test_rounded_axis_of_a_joint_is_set_straight_and_said(name: str, angle: float) -> None:
    exact = mbdyn_ros.load(FOUR_BAR)
    message = f"loop 'coupler_pin' .* joint '{name}' misses its plane by {abs(angle):.2g} rad"
    with pytest.warns(mbdyn_ros.ModelWarning, match=message):
        robot = mbdyn_ros.load(tilted_joint(name, angle))
    assert sum("misses its plane" in text for text in robot.warnings) == 1
    state = np.array([0.3]), np.array([0.2]), np.array([0.1])
    np.testing.assert_allclose(
        robot.inverse_dynamics(*state), exact.inverse_dynamics(*state), rtol=1e-13
    )
    with pytest.raises(mbdyn_ros.ModelError, match="locks its joints|cannot be closed"):
        mbdyn_ros.load(tilted_joint(name, 5e-3))


@pytest.mark.parametrize("kind", ["spatial revolute", "spatial planar", "Watt"])
def test_other_loops_stay_as_they_are(kind: str) -> None:
    model = draw(kind, 0).load().model
    loops = {loop.name: 1e-3 for loop in model.loops}
    straight, tilts = set_straight(model, build_tree(model), loops)
    assert straight.joints == model.joints
    assert max((tilt.angle for tilt in tilts), default=0.0) < 1e-12


def sarrus() -> mbdyn_ros.Robot:
    """A plate on two legs of two arms (1 m) that fold in planes across each other: it rises."""

    def arm(name: str) -> str:
        return f"""<link name="{name}"><inertial><mass value="1"/>
          <inertia ixx="1" iyy="1" izz="1"/></inertial></link>"""

    def hinge(name: str, parent: str, child: str, axis: str, place: str) -> str:
        return f"""<joint name="{name}" type="continuous"><parent link="{parent}"/>
          <child link="{child}"/><origin {place}/><axis xyz="{axis}"/></joint>"""

    up = 'xyz="0 0 1"'
    return mbdyn_ros.load(
        '<robot name="sarrus"><link name="base"/>'
        + "".join(map(arm, ("a", "b", "plate", "c", "d")))
        + hinge("first", "base", "a", "0 1 0", 'xyz="0.5 0 0"')
        + hinge("second", "a", "b", "0 1 0", up)
        + hinge("third", "b", "plate", "0 1 0", up)
        + hinge("other", "base", "c", "1 0 0", 'xyz="0 0.5 0" rpy="0.6 0 0"')
        + hinge("another", "c", "d", "1 0 0", up)
        + """<loop name="last" type="revolute"><predecessor link="d"><origin xyz="0 0 1"/>
          </predecessor><successor link="plate"><origin xyz="-0.5 0.5 0"/></successor>
          <axis xyz="1 0 0"/></loop></robot>""",
        mechanism="{independent: [first], "
        "home: {first: 0.5, second: -1, third: 0.5, other: -0.1, another: -1}}",
    )


@pytest.mark.usefixtures("interpreted")
def test_hinges_across_others_are_in_no_plane() -> None:
    robot = sarrus()
    for angle in (0.5, 0.7):
        risen = np.eye(4)
        risen[[0, 2], 3] = 0.5, 2 * np.cos(angle)
        np.testing.assert_allclose(robot.frame_pose([angle], "plate"), risen, atol=1e-12)


@pytest.mark.long
def test_real_tilt_is_refused() -> None:
    with pytest.raises(mbdyn_ros.ModelError, match="cannot be closed"):
        mbdyn_ros.load(tilted(0.01))
