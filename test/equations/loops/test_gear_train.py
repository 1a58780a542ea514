"""Mimic joints in trains: who leads, where the others stand, and how loading grows."""

from __future__ import annotations

import time

import numpy as np
import pytest
from robot_text import joint, link

import mbdyn_ros
from mbdyn_ros import ModelError


def fingers(*mimics: tuple[str, float, float] | None, more: str = "") -> str:
    """Hinges j0, j1, ... side by side; each may follow another, with a ratio and an offset."""
    parts = ['<robot name="hand"><link name="l0"/>']
    for k, mimic in enumerate(mimics):
        follow = ""
        if mimic is not None:
            leader, ratio, offset = mimic
            follow = f'<mimic joint="{leader}" multiplier="{ratio!r}" offset="{offset!r}"/>'
        ends = f"j{k}", "l0", f"l{k + 1}"
        parts += [link(f"l{k + 1}"), joint(*ends, "0 0 1", more=follow)]
    return "".join(parts) + more + "</robot>"


HAND = fingers(("j2", 2.0, 0.1), ("j0", -0.5, 0.2), None, ("j2", 3.0, 0.0), None, ("j4", 1.0, -1.0))


@pytest.mark.usefixtures("interpreted")
def test_followers_stand_where_their_leaders_put_them() -> None:
    robot = mbdyn_ros.load(HAND, home={"j2": 0.3})
    assert robot.independent_joints == ("j2", "j4") and robot.home["j0"] == pytest.approx(0.7)
    positions, velocities, _ = robot.joint_state([0.3, 0.4], [1.0, 2.0])
    np.testing.assert_allclose(positions, [0.7, -0.15, 0.3, 0.9, 0.4, -0.6], atol=1e-15)
    np.testing.assert_allclose(velocities, [2.0, -1.0, 1.0, 3.0, 2.0, 2.0], atol=1e-15)


@pytest.mark.usefixtures("interpreted")
def test_a_follower_may_be_independent() -> None:
    robot = mbdyn_ros.load(HAND, "\nindependent: [j5, j1]\n")
    assert robot.independent_joints == ("j5", "j1")
    positions, _, _ = robot.joint_state([-0.6, -0.15])
    np.testing.assert_allclose(positions, [0.7, -0.15, 0.3, 0.9, 0.4, -0.6], atol=1e-15)
    with pytest.raises(ModelError, match=r"none of its joints \(j4, j5\) is independent"):
        mbdyn_ros.load(HAND, "\nindependent: [j0, j1]\n")


@pytest.mark.usefixtures("interpreted")
def test_rings_and_fixed_followers_go_the_general_way() -> None:
    def ring(ratio: float) -> str:
        coupling = (
            '<coupling name="more"><predecessor link="l2"/><successor link="l3"/>'
            f'<ratio value="{ratio}"/></coupling>'
        )
        return fingers(None, ("j0", 2.0, 0.0), ("j1", 0.5, 0.0), more=coupling)

    assert mbdyn_ros.load(ring(0.5)).independent_joints == ("j0",)
    with pytest.raises(ModelError, match="no mobility"):
        mbdyn_ros.load(ring(0.4))
    still = mbdyn_ros.load(fingers(None, ("j0", 0.0, 0.25)))
    assert still.independent_joints == ("j0",)
    assert still.joint_state([1.0])[0].tolist() == [1.0, 0.25]


@pytest.mark.long
def test_loading_grows_linearly() -> None:
    """A joint that follows costs no more than any other."""

    def cpu(count: int) -> float:
        text = fingers(None, *((f"j{k}", 1.0, 0.0) for k in range(count)))
        start = time.process_time()
        mbdyn_ros.load(text)
        return time.process_time() - start

    cpu(10)
    few = min(cpu(150) for _ in range(3))
    assert cpu(900) < 6 * 2.5 * few
