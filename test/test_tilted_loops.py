"""Angles written with few digits tilt the axis of a planar loop, which must not lock it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros

BOOM = (Path(__file__).parent.parent / "urdf" / "boom.urdf").read_text()


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
    with pytest.warns(mbdyn_ros.ModelWarning, match="misses the plane of its joints"):
        robot = mbdyn_ros.load(tilted(angle))
    state = np.array([0.05]), np.array([0.2]), np.array([0.3])
    np.testing.assert_allclose(
        robot.inverse_dynamics(*state), exact.inverse_dynamics(*state), rtol=1e-12
    )
    assert any("misses the plane" in warning for warning in robot.warnings)


def test_real_tilt_is_refused() -> None:
    with pytest.raises(mbdyn_ros.ModelError, match="cannot be closed"):
        mbdyn_ros.load(tilted(0.01))
