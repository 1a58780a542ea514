"""Virtual decomposition control: the decay that it promises, in simulation and by Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
from corpus import urdf_file

import mbdyn_ros
from benchmarks.crane_tracking import follow, on_valves
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.control import Controller
from mbdyn_ros.control.actuator_commands import ActuatorCommands
from mbdyn_ros.equations.control_laws import virtual_decomposition

pytestmark = pytest.mark.usefixtures("interpreted")
ROOT = Path(__file__).resolve().parents[2]
CONTROL = (ROOT / "docs" / "control.md").read_text()


def test_error_of_bodies_by_pinocchio() -> None:
    """d/dt (s^T M s / 2) = -s^T (k M + K) s."""
    path = urdf_file("ur5_robot.urdf")
    robot = mbdyn_ros.load(path)
    control = Controller(robot)
    control.enforced = False
    control.set_gains(required_rate=[9.0, 8, 7, 6, 5, 4], body_rate=[15.0], required_damping=[2.0])
    random = np.random.default_rng(0)
    control.q[:], control.v[:] = random.uniform(-1, 1, (2, 6))
    control.switch("virtual_decomposition")
    control.rest()
    for one in (control.wanted_q, control.wanted_v, control.wanted_a):
        one[:] = random.uniform(-1, 1, 6)
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    a = pinocchio.aba(model, data, control.q, control.v, control.cycle(0.0))
    rate = np.array([9.0, 8, 7, 6, 5, 4])
    error, slow = control.wanted_q - control.q, control.wanted_v - control.v
    s = slow + rate * error

    def energy(t: float) -> float:
        q = control.q + t * control.v + t * t / 2 * a
        inertia = np.array(pinocchio.crba(model, data, q))
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        now = s + t * (control.wanted_a - a + rate * slow)
        return float(now @ inertia @ now) / 2

    slope = (energy(1e-5) - energy(-1e-5)) / 2e-5
    assert slope == pytest.approx(-15 * 2 * energy(0.0) - 2 * s @ s, rel=1e-6)


def test_energy_of_errors_dies_out_in_a_machine_with_loops() -> None:
    """As exp(-2 k t), where the joints add nothing."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "manipulator.urdf")
    rate, k = 3.0, 8.0
    bound = Bound(robot.calls.kernel(virtual_decomposition, None))
    goal = np.asarray(robot.home_position)

    def effort(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        bound.q[:], bound.v[:], bound.error[:] = q, v, goal - q
        bound.rate[:], bound.body_rate[:] = rate, k
        bound()
        return bound.result.copy()

    start = goal + [0.3, 0.05, -0.04, 0.1]
    motion = mbdyn_ros.simulate(robot, start, [0.1, 0.05, 0.0, -0.1], 0.2, effort=effort, rtol=1e-7)
    energies = [
        (s := -v + rate * (goal - q)) @ robot.mass_matrix(q) @ s / 2
        for q, v in zip(motion.q, motion.v, strict=True)
    ]
    expected = energies[0] * np.exp(-2 * k * motion.time)
    np.testing.assert_allclose(energies, expected, rtol=1e-4)
    assert energies[-1] < 0.05 * energies[0]


@pytest.mark.sparse
@pytest.mark.parametrize("mode", ["computed_torque", "virtual_decomposition"])
def test_tracking_of_the_crane(mode: str) -> None:
    """As on the page: the crane with a load that the controller does not know."""
    (line,) = (line for line in CONTROL.splitlines() if line.startswith(f"| {mode} |"))
    rms, most = (float(cell) for cell in line.strip("|").split("|")[1:3])
    found = follow(mode, duration=4.0)
    assert 1e3 * found.gap.max() < 1.02 * most and 0.5 * rms < 1e3 * found.rms < 1.5 * rms


@pytest.mark.long
def test_crane_on_valves() -> None:
    (line,) = (line for line in CONTROL.splitlines() if line.startswith("| on valves |"))
    most = float(line.strip("|").split("|")[2])
    assert 1e3 * on_valves(duration=0.5).gap.max() < 1.02 * most


@pytest.mark.long
def test_commands_of_actuators_hold_and_move_steadily() -> None:
    """A cylinder at the opening found goes at the speed, under the force, in the simulation."""
    files = ROOT / "urdf" / "boom.urdf", ROOT / "urdf" / "manipulator_actuators.yaml"
    settings = files[1].read_text().split("- name: lift")[1].split("- name: tilt")[0]
    settings = settings.replace("lift_rod_joint", "slide").split("friction")[0]
    cart = """<robot name="cart"><link name="w"/><link name="c"><inertial><mass value="200"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint
      name="slide" type="prismatic"><axis xyz="0 0 1"/><parent link="w"/><child link="c"/>
      <limit lower="-0.2" upper="0.2" effort="1e6" velocity="2"/></joint></robot>"""
    robot = mbdyn_ros.load(cart, mechanism="actuators:\n- name: lift" + settings)
    for speed in (0.1, -0.1):
        wanted = ActuatorCommands(robot).at(np.array([200 * 9.81]), np.array([speed]))
        run = mbdyn_ros.simulate(robot, [-speed], [0.0], 0.8, commands=wanted)
        assert run.v[-1, 0] == pytest.approx(speed, rel=1e-3)
