"""Forces from outside on links: against forward dynamics, closed forms and Pinocchio's terms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from robot_text import body_text, joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.simulation.sensors import Imu

URDF = Path(__file__).resolve().parents[2] / "urdf"
STONE = body_text("stone", moments=(0.1, 0.15, 0.2))
START = [0.0, 0, 0, 0, 0, 0, 1]


def test_a_stone_is_carried_and_then_dropped() -> None:
    """Its weight upwards for 0.5 s; the link's axes are the world's."""
    robot = mbdyn_ros.load(STONE, floating_base=True)

    def hand(t: float) -> dict[str, list[float]]:
        return {"stone": [1.0, 0, 2 * 9.81, 0, 0, 0]} if t < 0.5 else {}

    trajectory = mbdyn_ros.simulate(robot, START, np.zeros(6), 1.0, wrenches=hand, max_step=0.01)
    assert trajectory.q[-1, 2] == pytest.approx(-9.81 / 2 * 0.25, abs=1e-5)
    assert trajectory.q[-1, 0] == pytest.approx(0.5 / 2 * 0.25 + 0.25 * 0.5, abs=1e-5)
    np.testing.assert_allclose(trajectory.effort, 0, atol=1e-12)
    assert np.abs(trajectory.imbalance).max() < 1e-5


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["boom", "four_bar", "tree_robot"])
def test_accelerations_are_those_of_forward_dynamics(name: str) -> None:
    robot = mbdyn_ros.load(URDF / f"{name}.urdf")
    random = np.random.default_rng(1)
    q = robot.system.home[list(robot.system.coordinates.q)]
    link = robot.model.joints[-1].child
    wrench = {link: random.normal(size=6)}
    effort = random.normal(size=len(robot.effort_labels))
    trajectory = mbdyn_ros.simulate(
        robot, q, np.zeros(robot.nv), 0.0, effort, wrenches=wrench, joint_limits=False
    )
    wanted = robot.forward_dynamics(q, np.zeros(robot.nv), effort, wrench, friction=False)
    np.testing.assert_allclose(trajectory.a[0], wanted, atol=1e-8 * (1 + np.abs(wanted).max()))
    np.testing.assert_allclose(trajectory.effort[0], effort, atol=1e-9)


@pytest.mark.sparse(first=1)
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_stepper_feels_them_as_simulate_does(damping: float) -> None:
    """On two links that turn, to the fourth order of the step; then nothing pushes any more."""
    parts = [link(name, 2, (0.1, 0.15, 0.2), "0.1 0 0.2") for name in ("upper", "lower")]
    loss = f'<dynamics damping="{damping}"/>'
    parts.append(joint("a", "world", "upper", "0 1 0", "0 0 0.3", more=loss))
    parts.append(joint("b", "upper", "lower", "1 0 0", "0 0 0.3", more=loss))
    robot = mbdyn_ros.load(robot_text(*parts))
    q, v = np.array([0.3, -0.5]), np.array([1.0, 2.0])
    wrenches = {"upper": [1.0, 2, -3, 0.1, 0.2, 0.3], "lower": [0, -4.0, 2, 0, 1, 0]}
    exact = mbdyn_ros.simulate(robot, q, v, 0.2, wrenches=wrenches, times=[0.2])
    free = mbdyn_ros.simulate(robot, q, v, 0.2, times=[0.2])
    stepper = mbdyn_ros.Stepper(robot, 1e-3, method="rk4")
    for given, wanted in (({}, free), (wrenches, exact), ({}, free)):
        stepper.wrenches = given
        assert list(stepper.wrenches) == list(given)
        stepper.set_state(q, v)
        stepper.advance(200)
        np.testing.assert_allclose(stepper.q, wanted.q[-1], atol=1e-10)
        np.testing.assert_allclose(stepper.v, wanted.v[-1], atol=1e-9)


@pytest.mark.long
def test_a_push_against_friction() -> None:
    """A block of 2 kg on a floor with mu 0.5: 9 N leave it, 11 N take it along by 0.595 m/s^2."""
    robot = mbdyn_ros.load(STONE, floating_base=True)
    floor = mbdyn_ros.Surface.plane((0, 0, -0.1), restitution=0.0, friction=0.5, name="floor")
    feet = [("stone", (x, y, -0.1)) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    stepper = mbdyn_ros.Stepper(robot, 1e-3, mbdyn_ros.Environment([floor], feet))
    for force, wanted in ((9.0, 0.0), (11.0, 0.2 * (11 / 2 - 0.5 * 9.81))):
        stepper.set_state(START, np.zeros(6))
        stepper.wrenches = {"stone": np.array([force, 0, 0, 0, -0.1 * force, 0])}  # at its foot
        stepper.advance(200)
        assert stepper.v[0] == pytest.approx(wanted, abs=1e-4)
        assert sum(one.force[2] for one in stepper.contacts) == pytest.approx(2 * 9.81, rel=1e-4)


def test_from_the_command_line() -> None:
    command = ["simulate", "-", "--floating-base", "--duration", "1", "--json"]
    lifted = CliRunner().invoke(
        main, [*command, "--wrench", "stone=0,0,19.62,0,0,0.2"], input=STONE
    )
    end = json.loads(lifted.stdout)
    assert end["position"]["floating_base/z"] == pytest.approx(0, abs=1e-10)
    assert end["velocity"]["floating_base/wz"] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("wrenches", "words"),
    [
        ({"ston": np.zeros(6)}, "'ston'"),
        ({"stone": [1.0, 2.0]}, "the wrench on stone has shape"),
        ({"stone": np.zeros((2, 6))}, "many rows"),
        (7, "must map link names"),
    ],
)
def test_wrenches_that_are_none(wrenches: object, words: str) -> None:
    robot = mbdyn_ros.load(STONE, floating_base=True)
    with pytest.raises(InputError, match=words):
        mbdyn_ros.simulate(robot, START, np.zeros(6), 1.0, wrenches=wrenches)  # type: ignore[arg-type]
    stepper = mbdyn_ros.Stepper(robot, 1e-3)
    with pytest.raises(InputError, match=words):
        stepper.wrenches = wrenches  # type: ignore[assignment]


def test_an_imu_falls_rests_and_turns() -> None:
    robot = mbdyn_ros.load(STONE, floating_base=True)
    imu = Imu(robot, "stone")
    at_rest = imu.read(0.0, np.array(START), np.zeros(6))
    np.testing.assert_allclose(at_rest.acceleration, [0, 0, 9.81])
    fallen = imu.read(0.1, np.array(START), np.array([0, 0, -0.981, 0, 0, 0]))
    np.testing.assert_allclose(fallen.acceleration, 0, atol=1e-12)
    upright = np.array([0, 0, 0, np.sqrt(0.5), 0, 0, np.sqrt(0.5)])  # its y axis points up
    turned = imu.read(0.0, upright, np.array([0, 0, 0, 0.1, 0.2, 0.3]))
    np.testing.assert_allclose(turned.acceleration, [0, 9.81, 0], atol=1e-12)
    np.testing.assert_allclose(turned.turning, [0.1, 0.2, 0.3], atol=1e-12)
    np.testing.assert_allclose(np.abs(turned.orientation), upright[3:], atol=1e-12)
    with pytest.raises(InputError, match="'ston'"):
        Imu(robot, "ston")


def test_an_imu_on_an_arm_feels_its_turn() -> None:
    """v^2/r towards the pin, and the impact that stops it."""
    arm = link("arm", 0) + joint("pin", "world", "arm", "0 0 1")
    hand = link("hand") + joint("wrist", "arm", "hand", at="0.5 0 0", kind="fixed")
    robot = mbdyn_ros.load(robot_text(arm, hand))
    imu = Imu(robot, "hand")
    for k in range(3):
        reading = imu.read(1e-4 * k, np.array([2e-4 * k]), np.array([2.0]))
    np.testing.assert_allclose(reading.acceleration, [-2.0, 0, 9.81], atol=1e-3)
