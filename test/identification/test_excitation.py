"""Motions that excite inertias: within the limits, from rest to rest, better than a drawn one."""

from __future__ import annotations

import numpy as np
import pytest
from planar_robots import own

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.identification import excitation

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["boom", "four_bar"])
def test_limits_are_kept(name: str) -> None:
    robot = mbdyn_ros.example(name)
    found = excitation(robot, duration=6.0, rate=100.0)
    low, high = robot.position_limits
    assert (low <= found.q.min(axis=0)).all() and (found.q.max(axis=0) <= high).all()
    assert (np.abs(found.v) <= robot.velocity_limits).all()
    assert (np.abs(found.effort) <= robot.effort_limits).all()
    assert np.abs(found.v[[0, -1]]).max() < 1e-9 and np.abs(found.a[[0, -1]]).max() < 1e-9
    rate = np.gradient(found.q, found.time, axis=0)
    np.testing.assert_allclose(rate[5:-5], found.v[5:-5], atol=0.01 * np.abs(found.v).max())
    columns = list(robot.base_parameters().independent)
    rows = robot.regressor(found.q, found.v, found.a)[..., columns]
    flat = rows.reshape(-1, rows.shape[-1])
    condition = np.linalg.cond(flat / np.linalg.norm(flat, axis=0))
    assert condition == pytest.approx(found.condition, rel=0.5)


POST = """<robot name="turntable"><link name="base"/>
<link name="post"><collision><origin xyz="0.5 0.4 0"/><geometry><sphere radius="0.1"/></geometry>
</collision></link>
<joint name="stand" type="fixed"><parent link="base"/><child link="post"/></joint>
<link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.4 0 0" rpy="0 1.5708 0"/><geometry><{shape}/></geometry></collision>
</link><joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
<axis xyz="0 0 1"/><limit lower="-1.5" upper="1.5" velocity="3" effort="100"/></joint></robot>"""


@pytest.mark.parametrize(
    "shape", ['capsule radius="0.05" length="0.6"', 'cylinder radius="0.05" length="0.7"']
)
def test_shapes_of_links_stay_apart(shape: str) -> None:
    """A post at 0.67 rad is met from 0.4 rad on."""
    found = excitation(mbdyn_ros.load(POST.format(shape=shape)), duration=4.0, rate=50.0)
    assert found.watched == 1 and 0.1 < np.ptp(found.q) and found.q.max() < 0.45


def test_refusals() -> None:
    robot = mbdyn_ros.example("boom")
    with pytest.raises(InputError, match="a motion of -1 s at 200 Hz must have 10 to"):
        excitation(robot, duration=-1)
    weak = robot.with_joint("rod_joint", effort=10.0)
    with pytest.raises(InputError, match="rod_joint takes .* at home and at rest, and its limit"):
        excitation(weak, duration=6)


def test_loops_close_at_every_row_of_a_motion() -> None:
    """A slider that leads goes beyond its reach for a moment, unless every row is looked at."""
    slider = own("slider_crank", "slider_joint", "crank_joint")
    designed = excitation(slider, 10.0, 200.0)
    assert np.isfinite(designed.effort).all() and np.ptp(designed.q) > 0.05
