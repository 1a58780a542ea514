"""Simulation through change points by inertia, where two ways of a mechanism cross."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner
from planar_robots import body, own, pin, robot_of, switches, turn

import mbdyn_ros
from benchmarks.loop_robots import ROBOTS
from mbdyn_ros.__main__ import main
from mbdyn_ros.assembly.closure_gap import tree_gap
from mbdyn_ros.simulation.trajectory import CHANGE_POINT

simulate = partial(mbdyn_ros.simulate, joint_limits=False, through_change_points=True)
PARALLELOGRAM, RHOMBUS, KITE = (0.5, 1.0, 0.5), (1.0, 1.0, 1.0), (1.0, 0.5, 0.5)
"""Crank, coupler and rocker on pivots 1 m apart."""


def parts(crank: float, coupler: float, rocker: float) -> tuple[str, ...]:
    return (
        body("a", 0, crank / 2), body("b", coupler / 2, 0), body("c", 0, rocker / 2),
        turn("crank", "ground", "a"), turn("knee", "a", "b", f"0 0 {crank}"),
        turn("rocker", "ground", "c", "1 0 0"), pin("b", f"{coupler} 0 0", "c", f"0 0 {rocker}"),
    )  # fmt: skip


def four_bar(lengths: tuple[float, float, float], **options: object) -> mbdyn_ros.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        return robot_of(*parts(*lengths), **options)


def widest_gap(robot: mbdyn_ros.Robot, trajectory: mbdyn_ros.Trajectory) -> float:
    rows = list(robot.system.coordinates.joint_rows[0])
    whole = np.zeros(robot.system.tree.nq)
    gaps = []
    for position in trajectory.joint_position:
        whole[rows] = position
        gaps.append(tree_gap(robot.system, whole)[0].largest)
    return max(gaps)


def instants(trajectory: mbdyn_ros.Trajectory) -> list[float]:
    return [one.time for one in trajectory.transitions if one.mode == CHANGE_POINT]


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("lengths", "home"),
    [(PARALLELOGRAM, {}), (RHOMBUS, {}), (KITE, {"crank": 1.0, "rocker": -1.5, "knee": -0.5})],
    ids=["parallelogram", "rhombus", "kite"],
)
def test_linkages_pass_by_inertia(
    lengths: tuple[float, float, float], home: dict[str, float]
) -> None:
    robot = four_bar(lengths, home=home)
    q0 = [1.1]
    with switches() as texts:
        found = simulate(robot, q0, [2.0], 0.45)
    assert instants(found) and found.time[-1] == 0.45
    assert sum("change point" in text and "inertia" in text for text in texts) == 1
    assert f"t = {instants(found)[0]:.9g} s" in texts[0] and "'pin'" in texts[0]
    assert found.relative_imbalance < 1e-8
    assert widest_gap(robot, found) < 1e-13
    with pytest.raises(mbdyn_ros.SimulationError, match="change point"):
        simulate(robot, q0, [2.0], 0.45, through_change_points=False)


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_nothing_accelerates() -> None:
    """A parallelogram without gravity turns evenly, at every sample of a step across, too."""
    robot = four_bar(PARALLELOGRAM, gravity=(0, 0, 0))
    times = np.linspace(0.0, 2.0, 101)
    with switches():
        found = simulate(robot, [0.3], [3.0], 2.0, times=times)
        every = simulate(robot, [0.3], [3.0], 0.5)
    np.testing.assert_array_equal(found.time, times)
    angle = 0.3 + 3.0 * times
    expected = dict(crank=angle, knee=-angle, rocker=angle)
    for name, values in expected.items():
        place = robot.joint_names.index(name)
        np.testing.assert_allclose(found.joint_position[:, place], values, atol=1e-10)
    np.testing.assert_allclose(found.v[:, 0], 3.0, atol=1e-10)
    np.testing.assert_allclose(found.a, 0.0, atol=1e-7)
    np.testing.assert_allclose(
        instants(found), [(np.pi / 2 - 0.3) / 3, (3 * np.pi / 2 - 0.3) / 3], atol=1e-7
    )
    assert every.time[-1] == 0.5 and (np.diff(every.time) > 0).all()


@pytest.mark.usefixtures("interpreted")
def test_the_branch_is_that_of_least_change() -> None:
    """Both ways are possible beyond; on the one not taken, velocities would have to jump."""
    robot = four_bar(PARALLELOGRAM)
    with switches():
        first = simulate(robot, [1.1], [2.0], 0.45)
        (at,) = instants(first)
        times = at + 1e-3 * np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
        found = simulate(robot, [1.1], [2.0], 0.45, times=times)
    rocker = robot.joint_names.index("rocker")
    velocity = found.joint_velocity[:, rocker]
    slopes = np.diff(velocity) / np.diff(times)
    assert np.abs(np.diff(slopes)).max() < 0.1  # one smooth curve
    after = found.joint_position[4]
    crank, length = after[robot.joint_names.index("crank")], 0.5
    elbow = np.array([length * np.sin(crank), length * np.cos(crank)])
    way = np.array([1.0, 0.0]) - elbow  # the other triangle over the diagonal
    along = way / np.hypot(*way)
    tip = elbow + np.array([1.0 * np.sin(after[rocker] * 0 + np.pi / 2), 0.0])
    mirrored = elbow + 2 * along * (along @ (tip - elbow)) - (tip - elbow)
    home = {
        "crank": crank,
        "rocker": float(np.arctan2(mirrored[0] - 1.0, mirrored[1])),
        "knee": float(np.arctan2(-(mirrored - elbow)[1], (mirrored - elbow)[0]) - crank),
    }
    crossed = four_bar(PARALLELOGRAM, home=home)
    position, other, _ = crossed.joint_state(found.q[4], found.v[4])
    assert widest_gap(crossed, found) < 1e-13
    assert abs(position[rocker] - after[rocker]) > 1e-3
    assert abs(other[rocker] - velocity[2]) > 100 * abs(velocity[4] - velocity[2])


@pytest.mark.usefixtures("interpreted")
def test_turning_back_at_a_change_point_is_refused() -> None:
    """With just the energy to come there, both ways are as good."""
    robot = four_bar(PARALLELOGRAM, home={"crank": 2.2, "knee": -2.2, "rocker": 2.2})
    rise = np.diff([robot.energy([q], [0.0])[1] for q in (2.2, np.pi / 2 + 1e-6)])[0]
    speed = np.sqrt(rise / robot.energy([2.2], [1.0])[0])
    with pytest.raises(mbdyn_ros.SimulationError, match="by inertia it is not passed: the"):
        simulate(robot, [2.2], [-speed], 2.0)


@pytest.mark.usefixtures("interpreted")
def test_a_start_at_a_change_point_is_refused() -> None:
    robot = four_bar(PARALLELOGRAM)
    with pytest.raises(mbdyn_ros.SimulationError, match="not passed: the motion starts"):
        simulate(robot, [np.pi / 2 - 1e-6], [1.0], 1.0)


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_losses_are_counted_on() -> None:
    rubbing = parts(*PARALLELOGRAM)[3].replace(
        "</joint>", '<dynamics friction="0.8" damping="0.3"/></joint>'
    )
    limited = parts(*PARALLELOGRAM)[5].replace("continuous", "revolute").replace(
        "</joint>", '<limit lower="-1" upper="2.9" effort="1" velocity="1"/></joint>'
    )
    one, two, three, _, five, _, seven = parts(*PARALLELOGRAM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        robot = robot_of(one, two, three, rubbing, five, limited, seven)
    with switches():
        found = simulate(
            robot, [1.1], [2.0], 0.3, joint_limits=True, effort=lambda t, q, v: 0.1 * q
        )
    assert len(instants(found)) == 1
    assert found.work[-1, 0] > 0.01 and found.work[-1, 1] > 0.1
    assert found.relative_imbalance < 1e-8


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_a_palletizer_goes_on() -> None:
    robot = own("parallelogram_arm")
    with switches():
        found = simulate(robot, np.zeros(4), [0.0, 3.0, 0.0, 0.0], 0.5)
    assert len(instants(found)) == 1
    assert found.relative_imbalance < 1e-9 and widest_gap(robot, found) < 1e-13


def test_the_command_reports_it(tmp_path: object) -> None:
    text = f'<robot name="bars"><link name="ground"/>{"".join(parts(*PARALLELOGRAM))}</robot>'
    runner = CliRunner()
    asked = ["simulate", "-", "--duration", "0.45", "--position", "1.1", "--velocity", "2"]
    stops = runner.invoke(main, asked, input=text)
    assert stops.exit_code and "change point" in stops.output
    goes = runner.invoke(main, [*asked, "--through-change-points"], input=text)
    assert not goes.exit_code, goes.output
    assert "loop 'pin' passed a change point by inertia" in goes.output


def agile_eye() -> str:
    """Three arms of two links each, whose nine axes meet in one point at right angles."""
    axes = ("1 0 0", "0 1 0", "0 0 1")
    near = ("0.1 0.05 0", "0 0.1 0.05", "0.05 0 0.1")
    text = '<robot name="eye"><link name="base"/>'
    for k in range(3):
        far = " ".join(reversed(near[k].split()))
        for name, at in ((f"near{k}", near[k]), (f"far{k}", far)):
            text += f"""<link name="{name}"><inertial><origin xyz="{at}"/><mass value="1"/><inertia
              ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        text += turn(f"motor{k}", "base", f"near{k}", axis=axes[k])
        text += turn(f"elbow{k}", f"near{k}", f"far{k}", axis=axes[(k + 1) % 3])
    text += body("eye", 0.1, 0.15) + turn("pivot", "far0", "eye", axis=axes[2])
    for k in (1, 2):
        closing = pin(f"far{k}", "0 0 0", "eye", "0 0 0").replace("0 1 0", axes[(k + 2) % 3])
        text += closing.replace('name="pin"', f'name="pin{k}"')
    return text + "</robot>"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["delta", "agile eye"])
def test_spatial_robots_go_on(kind: str) -> None:
    """Of the delta's own coordinates two vanish there; others lead through."""
    if kind == "delta":
        robot, v0, duration = mbdyn_ros.load(ROBOTS["delta"]()), [0.0, 0.0, 0.0], 0.7
    else:
        motors = "{independent: [motor0, motor1, motor2]}"
        robot = mbdyn_ros.load(agile_eye(), mechanism=motors)
        v0, duration = [6.0, -7.0, -9.0], 0.3
    with switches():
        found = simulate(robot, np.zeros(3), v0, duration)
    assert instants(found) and found.relative_imbalance < 1e-9
    assert widest_gap(robot, found) < 1e-12
