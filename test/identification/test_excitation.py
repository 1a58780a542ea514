"""Motions that tell inertias: within the limits, from rest to rest, better than a drawn one."""

from __future__ import annotations

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.identification import excitation

pytestmark = pytest.mark.usefixtures("interpreted")


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


def test_refusals() -> None:
    robot = mbdyn_ros.example("boom")
    with pytest.raises(InputError, match="a motion of -1 s at 200 Hz has no ten rows"):
        excitation(robot, duration=-1)
    weak = robot.with_joint("rod_joint", effort=10.0)
    with pytest.raises(InputError, match="rod_joint takes .* at home and at rest, and its limit"):
        excitation(weak, duration=6)
