"""Cylinders on planes: they roll on their rims, and stand on their ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface

RADIUS, MASS, SLOPE = 0.3, 2.0, 0.2


def drum(length: float) -> mbdyn_ros.Robot:
    across = MASS * (3 * RADIUS**2 + length**2) / 12
    return mbdyn_ros.load(
        f"""<robot name="drum"><link name="drum"><inertial><mass value="{MASS}"/>
        <inertia ixx="{across}" iyy="{across}" izz="{MASS * RADIUS**2 / 2}" ixy="0" ixz="0"
        iyz="0"/></inertial><collision><geometry><cylinder radius="{RADIUS}" length="{length}"/>
        </geometry></collision></link></robot>""",
        floating_base=True,
    )


def floor(friction: float, slope: float = 0.0) -> Environment:
    normal = [np.sin(slope), 0, np.cos(slope)]
    return Environment([Surface.plane((0, 0, 0), normal, 0.0, friction, name="floor")])


def test_a_cylinder_rolls_down_an_incline() -> None:
    """By 2/3 g sin(slope) t^2 / 2, on both of its rims; it stands on its end where it is put so."""
    robot, hill = drum(0.5), floor(0.5, SLOPE)
    assert len(hill.contact_points(robot)) == 18
    assert str(hill.contact_points(robot)[-1]).endswith("rim of radius 0.3 of link 'drum'")
    up, down = hill.surfaces[0].shape.axes[:, 2], np.array([np.cos(SLOPE), 0, -np.sin(SLOPE)])
    start = np.r_[RADIUS * up, Rotation.from_euler("x", 90, degrees=True).as_quat()]
    way = 0.5 * 2 / 3 * 9.81 * np.sin(SLOPE)
    stepper = Stepper(robot, 1e-3, hill)
    stepper.set_state(start, np.zeros(6))
    stepper.advance(800)
    # of second order: 5e-6 in steps of 1 ms, a quarter in half of them
    assert down @ stepper.q[:3] == pytest.approx(way * 0.8**2, rel=1e-5)
    assert up @ stepper.q[:3] == pytest.approx(RADIUS, abs=1e-9)
    assert len(stepper.contacts) == 2 and all(one.sticks for one in stepper.contacts)
    for contact in stepper.contacts:
        assert contact.place @ up == pytest.approx(0, abs=1e-9)
        assert contact.place @ down == pytest.approx(way * 0.8**2, rel=1e-5)
    standing = np.r_[0.25 * up, Rotation.from_euler("y", SLOPE).as_quat()]
    stepper.set_state(standing, np.zeros(6))
    stepper.advance(200)
    np.testing.assert_allclose(stepper.q, standing, atol=1e-9)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("friction", [0.0, 5.0])
def test_a_coin_keeps_its_energy_on_its_rim(friction: float) -> None:
    """It rolls, or slides without friction, tilted by 50 degrees; its rim stays on the floor."""
    robot, tilt = drum(0.02), np.radians(50)
    high = RADIUS * np.sin(tilt) + 0.01 * np.cos(tilt)
    turn = Rotation.from_euler("x", tilt)
    spin = np.array([0.5, 0.3, 4.0])
    lever = np.array([0, 0.01 * np.sin(tilt) - RADIUS * np.cos(tilt), -high])
    start = np.r_[0, 0, high, turn.as_quat()]
    v = np.r_[turn.inv().apply(-np.cross(turn.apply(spin), lever)), spin]
    trajectory = mbdyn_ros.simulate(
        robot, start, v, 0.15, environment=floor(friction), times=[0, 0.1, 0.15]
    )
    assert np.abs(trajectory.imbalance).max() < 1e-9
    assert trajectory.work[-1, 1] == pytest.approx(0, abs=1e-9)
    for q in trajectory.q:
        axis = Rotation.from_quat(q[3:]).apply([0, 0, 1])
        assert q[2] == pytest.approx(
            RADIUS * np.hypot(axis[0], axis[1]) + 0.01 * abs(axis[2]), abs=1e-9
        )
