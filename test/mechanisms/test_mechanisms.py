"""Parametric mechanisms: one program for all designs, against the robot of each design."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from random_designs import WITH_URDF, Array, random_design, states

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.mechanisms import MECHANISMS, FourBar, Link, Mechanism


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", WITH_URDF)
def test_the_program_of_all_designs_is_that_of_each_robot(name: str) -> None:
    random = np.random.default_rng(4)
    mechanism = random_design(MECHANISMS[name], random)
    q, v, a = states(mechanism, random)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = mechanism.robot()
    tau = mechanism.inverse_dynamics(q, v, a)
    reached = 0
    for k in range(len(q)):
        if _connected(mechanism, q[k]):
            expected = robot.inverse_dynamics(q[k], v[k], a[k])
            assert tau[k] == pytest.approx(expected, rel=1e-10, abs=1e-10)
            reached += 1
    assert reached
    back = mechanism.forward_dynamics(q, v, tau)
    assert np.abs(back - a).max() < 1e-9 * np.abs(a).max()


def _connected(mechanism: Mechanism, q: Array) -> bool:
    """Whether the straight way from home to q stays clear of toggles."""
    way = np.linspace(0, 1, 50)[:, None]
    path = mechanism.home + way * (q - mechanism.home)
    return bool((mechanism.margin(path) > 1e-3).all())


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", WITH_URDF)
def test_urdf_and_table_count_joints_alike(name: str) -> None:
    random = np.random.default_rng(8)
    mechanism = random_design(MECHANISMS[name], random)
    robot = mechanism.robot()
    q, v, a = states(mechanism, random, 8)
    position, velocity, acceleration = mechanism.joint_state(q, v, a)
    order = [robot.joint_names.index(one) for one in mechanism.joint_names]
    for k in (k for k in range(len(q)) if _connected(mechanism, q[k])):
        state = [one[order] for one in robot.joint_state(q[k], v[k], a[k])]
        away = state[0] - position[k]
        slides = [part.slides for part in mechanism.layout().parts]
        whole = np.where(slides, 0.0, np.round(away / (2 * np.pi)))
        assert away == pytest.approx(2 * np.pi * whole, abs=1e-10)
        assert state[1] == pytest.approx(velocity[k], rel=1e-9, abs=1e-9)
        assert state[2] == pytest.approx(acceleration[k], rel=1e-9, abs=1e-8)


@pytest.mark.sparse
@pytest.mark.parametrize("name", WITH_URDF)
def test_urdf_is_read_back(name: str) -> None:
    mechanism = MECHANISMS[name]()
    robot = mbdyn_ros.load(mechanism.urdf())
    assert robot.independent_joints == tuple(f"{one}_joint" for one in mechanism.inputs)
    assert robot.joint_names == mechanism.joint_names


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ground": 0.9}, r"the ground \(0.9 m\) is longer than the other three together"),
        ({"ground": -0.3}, "ground is -0.3 m; give a length above zero"),
        ({"coupler_mass": 0}, "coupler_mass is 0 kg; give a mass above zero"),
        ({"coupler_mass": -1}, "coupler_mass is -1 kg"),
        ({"rocker_inertia": -1e-3}, "rocker_inertia is -0.001 .*; it cannot be negative"),
        ({"crank_length": 0}, "give a length above zero"),
        ({"crank_length": float("nan")}, "give a finite number"),
        ({"branch": 2}, "the two assembly branches are 1 and -1"),
        ({"copler_mass": 1}, 'did you mean "coupler_mass"'),
        ({"ground": "long"}, "ground is 'long'; give a number"),
    ],
)
def test_what_no_mechanism_is(settings: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        FourBar().replaced(**settings)


def test_a_toggle_on_the_way_is_said_with_its_angle() -> None:
    rocker = FourBar(ground=0.35, crank=Link(0.3), coupler=Link(0.1), rocker=Link(0.2))
    # ahead coupler and rocker are stretched, |D| = 0.3; behind folded, |D| = 0.1
    cosines = [(0.35**2 + 0.3**2 - d**2) / (2 * 0.35 * 0.3) for d in (0.3, 0.1)]
    limits = np.degrees(np.arccos(cosines))
    with pytest.raises(InputError, match=f"-{limits[0]:.6g} to -{limits[1]:.6g} deg"):
        rocker.inverse_dynamics([[0.0]], [1.0], [0.0])
