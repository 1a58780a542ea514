"""Hydraulic cylinders and electric drives, integrated with the robot that they move."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hydraulics import LIFT, SCREW, SLED, WEIGHT
from scipy.integrate import solve_ivp

import mbdyn_ros
from mbdyn_ros import InputError, ModelError, SimulationError
from mbdyn_ros.simulation.actuation import SteppedActuation

OWN = Path(__file__).parents[2] / "urdf"


def lift(
    air: float = 0.0, leakage: float = 0.0, bandwidth: float = 0.0, relief: float = 2.5e7
) -> mbdyn_ros.Robot:
    text = LIFT.format(air=air, leakage=leakage, bandwidth=bandwidth, relief=f"{relief:.3e}")
    return mbdyn_ros.load(SLED, mechanism=text)


def column(trajectory: mbdyn_ros.Trajectory, label: str) -> np.ndarray:
    return trajectory.actuator_states[:, trajectory.actuator_labels.index(label)]


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("air", [0.0, 0.01])
def test_a_cylinder_with_a_mass_is_that_of_equations_by_hand(air: float) -> None:
    """Written out, and integrated by SciPy's BDF in SI units."""

    def opening(t: float) -> float:
        return 0.6 * math.sin(2 * math.pi * 2 * t)

    area, ring = math.pi / 4 * 0.08**2, math.pi / 4 * (0.08**2 - 0.04**2)

    def edge(u: float, drop: float) -> float:
        return 1e-3 / math.sqrt(3.5e6) * u * drop / (drop**2 + 1e8) ** 0.25

    def stiff(p: float) -> float:
        soft = air * (101325 / p) ** (1 / 1.4) / (1.4 * p)
        return 1 / (1 / 1.4e9 + soft)

    def rates(t: float, y: np.ndarray) -> list[float]:
        x, v, a, b, u = y
        supply_a, supply_b = edge(max(u, 0), 2e7 - a), edge(max(-u, 0), 2e7 - b)
        tank_a, tank_b = edge(max(-u, 0), a - 2e5), edge(max(u, 0), b - 2e5)
        leak = 1e-12 * (a - b)
        friction = (200 + 200 * math.exp(-((v / 0.02) ** 2))) * math.tanh(v / 0.005) + 1000 * v
        force = (a - 101325) * area - (b - 101325) * ring - friction
        return [
            v,
            force / 500 - 9.81,
            stiff(a) / (2e-4 + area * (0.25 + x)) * (supply_a - tank_a - leak - area * v),
            stiff(b) / (2e-4 + ring * (0.25 - x)) * (supply_b - tank_b + leak + ring * v),
            2 * math.pi * 40 * (opening(t) - u),
        ]

    times = np.linspace(0.0, 0.5, 26)
    y0 = [0.0, 0.0, 8e6, 1e7, 0.0]
    judge = solve_ivp(rates, (0, 0.5), y0, "BDF", times, rtol=1e-9, atol=[1e-10, 1e-9, 1, 1, 1e-9])
    robot = lift(air, 1e-12, 40.0)
    found = mbdyn_ros.simulate(
        robot, [0.0], [0.0], 0.5, commands=lambda t, q, v: [opening(t)], times=times, rtol=1e-8,
        actuator_start={"lift/pressure_a": 8e6, "lift/pressure_b": 1e7},
    )  # fmt: skip
    assert found.actuator_labels == ("lift/pressure_a", "lift/pressure_b", "lift/opening")
    ours = np.column_stack([found.q, found.v, found.actuator_states])
    size = np.abs(judge.y).max(axis=1)
    assert size[0] > 0.01
    np.testing.assert_allclose(ours / size, judge.y.T / size, atol=3e-6)
    assert found.relative_imbalance < 1e-7


def steady_speed(conductance: float, speed: float) -> float:
    """Of the load on an open valve, where friction is that of a speed beyond Stribeck's."""
    area, ring = math.pi / 4 * 0.08**2, math.pi / 4 * (0.08**2 - 0.04**2)
    load = WEIGHT + 200 + 1000 * speed + 101325 * (area - ring)
    drop = (2e7 * area - 2e5 * ring - load) / (area**3 + ring**3)
    return conductance * math.sqrt(drop)


@pytest.mark.usefixtures("interpreted")
def test_an_open_valve_moves_a_load_as_fast_as_by_hand() -> None:
    """Flows in steady motion: K u sqrt(p_s - p_a) = A v, K u sqrt(p_b - p_t) = B v, and forces."""
    robot = lift()
    area, ring = math.pi / 4 * 0.08**2, math.pi / 4 * (0.08**2 - 0.04**2)
    found = mbdyn_ros.simulate(robot, [-0.2], [0.0], 0.6, commands=[0.3], rtol=1e-8)
    speed, conductance = found.v[-1, 0], 0.3 * 1e-3 / math.sqrt(3.5e6)
    assert speed == pytest.approx(steady_speed(conductance, speed), rel=1e-4)
    a, b = column(found, "lift/pressure_a")[-1], column(found, "lift/pressure_b")[-1]
    assert a == pytest.approx(2e7 - (area * speed / conductance) ** 2, rel=1e-4)
    assert b == pytest.approx(2e5 + (ring * speed / conductance) ** 2, rel=1e-3)


@pytest.mark.usefixtures("interpreted")
def test_closed_valves_hold_a_load_at_rest() -> None:
    found = mbdyn_ros.simulate(lift(), [0.1], [0.0], 1.0, commands=[0.0], rtol=1e-8)
    assert np.abs(found.q - 0.1).max() < 1e-9
    assert found.effort[-1, 0] == pytest.approx(WEIGHT, rel=1e-7)
    pressures = found.actuator_states
    assert np.ptp(pressures, axis=0).max() < 1.0


@pytest.mark.usefixtures("interpreted")
def test_pressures_stay_between_a_vacuum_and_relief() -> None:
    """A load that falls into a closed cylinder compresses one side and empties the other."""
    robot = lift(air=0.005, relief=1e7)
    start = {"lift/pressure_a": 2e5, "lift/pressure_b": 2e5}
    found = mbdyn_ros.simulate(
        robot, [0.0], [-0.5], 0.1, commands=[0.0], rtol=1e-7, actuator_start=start
    )
    a, b = column(found, "lift/pressure_a"), column(found, "lift/pressure_b")
    assert 0.99e7 < a.max() < 1.1e7
    assert 0 < b.min() < 2e5


@pytest.mark.usefixtures("interpreted")
def test_stiff_cylinders_take_implicit_steps() -> None:
    """Little oil behind a wide valve settles in microseconds."""
    text = LIFT.format(air=0, leakage=0, bandwidth=0, relief=2.5e7)
    for old, new in (("2.0e-4", "1.0e-6"), ("stroke: 0.5", "stroke: 0.02"), ("0.25", "0.01")):
        text = text.replace(old, new)
    robot = mbdyn_ros.load(SLED, mechanism=text)
    found = mbdyn_ros.simulate(robot, [0.0], [0.0], 0.08, commands=[0.2], rtol=1e-6, atol=1e-8)
    speed = found.v[-1, 0]
    conductance = 0.2 * 1e-3 / math.sqrt(3.5e6)
    assert speed == pytest.approx(steady_speed(conductance, speed), rel=1e-3)
    assert found.steps < 500


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("inductance", [0.0, 5e-3])
def test_an_electric_drive_runs_as_its_equations_say(inductance: float) -> None:
    """The current settles, then the speed, where V = R i + k w and the forces are in balance."""
    robot = mbdyn_ros.load(SLED, mechanism=SCREW.format(inductance=inductance))
    ratio = 2 * math.pi / 0.01
    mass = 500 + 1e-4 * ratio**2
    assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(mass)
    found = mbdyn_ros.simulate(robot, [-0.2], [0.0], 0.5, commands=[48.0], rtol=1e-9)
    pull = ratio * 0.1
    slope, drive = pull**2 / 0.5 + 2000, pull * 48 / 0.5 - WEIGHT
    if not inductance:
        exact = drive / slope * (1 - np.exp(-slope / mass * found.time))
        np.testing.assert_allclose(found.v[:, 0], exact, rtol=1e-7, atol=1e-9)
        assert found.actuator_labels == ()
        return
    judge = solve_ivp(
        lambda t, y: [
            (pull * y[1] - 2000 * y[0] - WEIGHT) / mass,
            (48 - 0.5 * y[1] - pull * y[0]) / inductance,
        ],
        (0, 0.5), [0.0, WEIGHT / pull], "Radau", [0.5], rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    ours = found.v[-1, 0], column(found, "spindle/current")[-1]
    np.testing.assert_allclose(ours, judge.y[:, 0], rtol=1e-6)


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_a_crane_with_valves_in_and_pressures_out() -> None:
    """The lift's rod goes as fast as its oil comes, in a loop; power balances."""
    robot = mbdyn_ros.load(OWN / "manipulator.urdf", mechanism=OWN / "manipulator_actuators.yaml")
    names = [one.name for one in robot.model.actuators]
    assert names == ["slew", "lift", "tilt", "telescope"]
    found = mbdyn_ros.simulate(
        robot, robot.home_position, np.zeros(4), 0.8, rtol=1e-6, atol=1e-8,
        commands=lambda t, q, v: [20 * math.sin(t), 0.3, 0.0, 0.0],
    )  # fmt: skip
    assert found.relative_imbalance < 1e-8
    area, speed = math.pi / 4 * 0.0864**2, found.v[-1, 1]
    drop = 2e7 - column(found, "lift/pressure_a")[-1]
    opening = column(found, "lift/opening")[-1]
    flow = opening * 8e-4 * math.sqrt(drop / 3.5e6)
    assert speed == pytest.approx(flow / area, rel=0.02) and speed > 0.03
    still = found.q[:, [2, 3]] - found.q[0, [2, 3]]
    assert np.abs(still).max() < 3e-3  # closed valves give way by their oil alone


@pytest.mark.usefixtures("interpreted")
def test_commands_out_of_range_are_refused_by_name() -> None:
    robot = lift()
    run = (robot, [0.0], [0.0], 0.1)
    with pytest.raises(InputError, match="valve command of 'lift' is 1.5; it must be from -1 to 1"):
        mbdyn_ros.simulate(*run, commands=[1.5])
    with pytest.raises(SimulationError, match="valve command of 'lift' is nan at t = "):
        mbdyn_ros.simulate(*run, commands=lambda t, q, v: [math.nan])
    with pytest.raises(InputError, match="expected 1 numbers in the order lift"):
        mbdyn_ros.simulate(*run, commands=[0.0, 1.0])
    with pytest.raises(InputError, match="no actuator has the state 'lift/pressure'"):
        mbdyn_ros.simulate(*run, commands=[0.0], actuator_start={"lift/pressure": 1e5})
    with pytest.raises(InputError, match="commands are of actuators, and the robot has none"):
        mbdyn_ros.simulate(mbdyn_ros.load(SLED), [0.0], [0.0], 0.1, commands=[0.0])
    electric = mbdyn_ros.load(SLED, mechanism=SCREW.format(inductance=0))
    with pytest.raises(InputError, match="voltage of 'spindle' is 50 V; it must be from -48 to 48"):
        mbdyn_ros.simulate(electric, [0.0], [0.0], 0.1, commands=[50.0])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bore: 0.08", "bore: -1", 'actuator "lift": its bore is -1; it must be above 0'),
        ("rod: 0.04", "rod: 0.09", r"its rod \(0.09 m\) fills its bore"),
        ("  stroke: 0.5\n", "", 'actuator "lift" has no stroke; add it'),
        ("joint: rail", "joint: rial", '"rial" is not a joint of this robot .*"rail"'),
        ("type: hydraulic", "type: hydrolic", 'there is no actuator "hydrolic" .*"hydraulic"'),
        ("tank: 2.0e+5", "tank: 3.0e+7", "its tank .* is not below its supply"),
        ("drop: 3.5e+6", "dorp: 3.5e+6", 'valve of actuator "lift" has no "dorp" .*"drop"'),
    ],
)
def test_settings_that_cannot_be_are_refused(old: str, new: str, words: str) -> None:
    text = LIFT.format(air=0, leakage=0, bandwidth=0, relief=2.5e7)
    assert old in text
    with pytest.raises(ModelError, match=words):
        mbdyn_ros.load(SLED, mechanism=text.replace(old, new))
    if "joint" in old:
        turning = SLED.replace("prismatic", "revolute")
        with pytest.raises(ModelError, match='joint "rail" is revolute; it takes one that slides'):
            mbdyn_ros.load(turning, mechanism=text)


@pytest.mark.sparse
@pytest.mark.parametrize("command", [0.3, 0.0])
def test_equal_steps_take_turns_with_their_actuators(command: float) -> None:
    """They agree with `simulate`, to the order of their steps; closed valves hold."""
    robot = lift(air=0.005, bandwidth=20.0)
    found = mbdyn_ros.simulate(robot, [-0.1], [0.0], 0.5, commands=[command], rtol=1e-7)
    motion, actuators = mbdyn_ros.Stepper(robot, 1e-3), SteppedActuation(robot)
    motion.set_state([-0.1], [0.0])
    actuators.rest(robot, motion.q)
    for _ in range(500):
        motion.effort[:] = command
        actuators.drive(motion.effort, motion.q, motion.v, 1e-3)
        motion.advance()
    assert motion.v[0] == pytest.approx(found.v[-1, 0], rel=1e-3, abs=1e-6)
    assert motion.q[0] == pytest.approx(found.q[-1, 0], abs=2e-4)
    np.testing.assert_allclose(actuators.values[:2], found.actuator_states[-1, :2], rtol=2e-3)
