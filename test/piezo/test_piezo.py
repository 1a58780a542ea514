"""The rotor's torques against J^T F, and the pulses against quadrature of what they let through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robot_text import joint, link, robot_text

pytest.importorskip("pinocchio")
from random_dh import RandomDh, dh_robots  # noqa: E402
from random_robots import Pair, RandomRobot, assert_close, explore, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.piezo import Rotor, generalized_torques, pulse_windows  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")

ROTOR = Rotor(0.002, 0.005, 300.0)
ARM = robot_text(
    link("rod"), link("hand"),
    joint("swing", "world", "rod", "0 0 1"),
    joint("twist", "rod", "hand", "0 0 1", "0.4 0.1 0"),
)  # fmt: skip


def expected(robot: mbdyn_ros.Robot, q: np.ndarray, angle: float, link: str) -> np.ndarray:
    """J^T F."""
    force = robot.frame_pose(q, link)[:3, :3] @ ROTOR.force(angle)
    return robot.jacobian(q, link)[:3].T @ force


@explore(10)
@given(robots(joints=8), st.booleans(), st.floats(-10, 10))
def test_two_step_recursion_is_the_jacobian_transposed(
    random_robot: RandomRobot, floating_base: bool, angle: float
) -> None:
    pair = Pair(random_robot, floating_base)
    q = pair.state()[0]
    for name in (random_robot.links[-1].name, random_robot.links[0].name):
        ours = generalized_torques(pair.robot, q, ROTOR, angle, name)
        assert_close(ours, expected(pair.robot, q, angle, name), 1e-12, ROTOR.amplitude)


@pytest.mark.parametrize("name", ["four_bar", "boom"])
def test_closed_loops(name: str) -> None:
    robot = mbdyn_ros.load(Path(__file__).parents[2] / "urdf" / f"{name}.urdf")
    q = np.array([robot.home[joint] for joint in robot.independent_joints])
    for moved in (one.name for one in robot.model.links):
        ours = generalized_torques(robot, q, ROTOR, 0.7, moved)
        assert_close(ours, expected(robot, q, 0.7, moved), 1e-12, ROTOR.amplitude)
    windows = pulse_windows(robot, q, ROTOR, np.full(robot.nv, 1e-6), robot.model.links[-1].name)
    assert windows.joints == robot.independent_joints


def test_batches() -> None:
    robot = mbdyn_ros.load(ARM)
    q = np.random.default_rng(0).uniform(-2, 2, (5, 2))
    angles = np.linspace(0, 6, 5)
    pairs = zip(q, angles, strict=True)
    rows = [generalized_torques(robot, row, ROTOR, angle, "hand") for row, angle in pairs]
    assert_close(generalized_torques(robot, q, ROTOR, angles, "hand"), rows, 1e-15)
    assert generalized_torques(robot, q, ROTOR, 0.1, "hand").shape == (5, 2)
    assert generalized_torques(robot, q[0], ROTOR, angles, "hand").shape == (5, 2)
    assert ROTOR.force(angles).shape == (5, 3)
    with pytest.raises(mbdyn_ros.InputError, match="different lengths: q 5, angle 3"):
        generalized_torques(robot, q, ROTOR, angles[:3], "hand")


def pulsed_mean(
    robot: mbdyn_ros.Robot, q: np.ndarray, on: float, off: float, joint: int, link: str
) -> float:
    """Mean over a turn of the torque that a window lets through, by Gauss' quadrature."""
    stop = off if off >= on else off + 2 * np.pi
    nodes, weights = np.polynomial.legendre.leggauss(24)
    angles = on + (stop - on) * (nodes + 1) / 2
    torques = generalized_torques(robot, q, ROTOR, angles, link)[:, joint]
    return float(weights @ torques * (stop - on) / 2 / (2 * np.pi))


@explore(10)
@given(dh_robots(joints=6), st.integers(0, 99))
def test_windows_give_what_they_say(table: RandomDh, seed: int) -> None:
    robot, random = table.robot(), np.random.default_rng(seed)
    link = f"link{robot.nv}"
    q = random.uniform(-2, 2, robot.nv)
    wanted = random.normal(size=robot.nv) * ROTOR.amplitude * 0.1
    windows = pulse_windows(robot, q, ROTOR, wanted, link)
    scale = ROTOR.amplitude
    for k, name in enumerate(windows.joints):
        on, off, mean = windows.on[k], windows.off[k], windows.mean_torque[k]
        assert 0 <= on < 2 * np.pi and 0 <= off < 2 * np.pi
        assert abs(pulsed_mean(robot, q, on, off, k, link) - mean) < 1e-12 * scale
        reach = windows.amplitude[k] / np.pi
        assert windows.saturated[k] == (abs(wanted[k]) > reach)
        assert mean == (np.copysign(reach, wanted[k]) if windows.saturated[k] else wanted[k])
        assert (name in windows.unmoved) == (windows.amplitude[k] == 0)


def test_saturation_zero_and_either_sign() -> None:
    robot = mbdyn_ros.load(ARM)
    q = [0.3, 0.5]
    most = pulse_windows(robot, q, ROTOR, [99.0, 0.0], "hand")
    reach = ROTOR.amplitude * np.hypot(0.4, 0.1) / np.pi
    assert most.mean_torque[0] == pytest.approx(reach, rel=1e-14) and most.saturated[0]
    assert (most.off[0] - most.on[0]) % (2 * np.pi) == pytest.approx(np.pi)
    least = pulse_windows(robot, q, ROTOR, [-99.0, 0.0], "hand")
    assert least.mean_torque[0] == -most.mean_torque[0]
    assert (least.on[0] - most.off[0]) % (2 * np.pi) == pytest.approx(0, abs=1e-12)
    none = pulse_windows(robot, q, ROTOR, [0.0, 0.0], "hand")
    assert none.on[0] == none.off[0] and none.mean_torque[0] == 0 and not none.saturated.any()


def test_a_joint_that_the_rotor_cannot_move_is_reported_by_name() -> None:
    robot = mbdyn_ros.load(ARM)
    for q in ([0.0, 0.0], [0.3, 1.1]):
        windows = pulse_windows(robot, q, ROTOR, [0.01, 0.01], "hand")
        assert windows.unmoved == ("twist",)  # the force meets its axis
        assert windows.saturated[1] and windows.mean_torque[1] == 0
        assert windows.on[1] == windows.off[1] == 0
    assert pulse_windows(robot, q, ROTOR, [0.0, 0.0], "world").unmoved == ("swing", "twist")


@pytest.mark.parametrize("name", ["mass", "radius", "speed"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "fast", None, [1.0], True, 1e-300])
def test_bad_rotor_is_refused_by_name(name: str, value: object) -> None:
    numbers: dict[str, object] = {"mass": 1e-3, "radius": 1e-3, "speed": 1e2, name: value}
    if value == 1e-300:
        numbers.update(mass=1e-300, radius=1e-300)
        name = "force"
    with pytest.raises(mbdyn_ros.InputError, match=f"the rotor's {name}"):
        Rotor(**numbers)  # type: ignore[arg-type]


def test_bad_input_is_refused() -> None:
    robot = mbdyn_ros.load(ARM)
    cases = [
        (([0.0], ROTOR, [0, 0], "hand"), "expected .2,."),
        (([0.0, np.nan], ROTOR, [0, 0], "hand"), "position of twist is nan"),
        (([0.0, 0.0], ROTOR, [0, np.inf], "hand"), "torque of twist is inf"),
        (([0.0, 0.0], ROTOR, [0, 0, 0], "hand"), "torque has shape"),
        (([0.0, 0.0], ROTOR, [0, 0], "foot"), "no link 'foot'"),
        (([0.0, 0.0], ROTOR, [0, 0], 3), "no link 3"),
        (([0.0, 0.0], "rotor", [0, 0], "hand"), "must be a piezo.Rotor"),
    ]
    for arguments, message in cases:
        with pytest.raises(mbdyn_ros.InputError, match=message):
            pulse_windows(robot, *arguments)  # type: ignore[arg-type]
    for angle in (np.nan, "half", [[0.0]], None):
        with pytest.raises(mbdyn_ros.InputError, match="rotor's angle"):
            generalized_torques(robot, [0, 0], ROTOR, angle, "hand")  # type: ignore[arg-type]
    heavy = ARM.replace('<link name="world"/>', link("world"))
    flying = mbdyn_ros.load(heavy, floating_base=True)
    with pytest.raises(mbdyn_ros.InputError, match="floating base"):
        pulse_windows(flying, np.zeros(9), ROTOR, np.zeros(8), "hand")


def test_public_names() -> None:
    assert mbdyn_ros.piezo.Rotor is Rotor
