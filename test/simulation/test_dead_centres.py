"""Simulation through dead centres of the coordinates, and up to change points of the mechanism."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from interpreting import compiling, interpreting
from planar_robots import URDF, body, own, pin, robot_of, switches, turn

import mbdyn_ros
from mbdyn_ros.recording.bag import joint_columns
from mbdyn_ros.simulation.stepped.prepared_stepper import PreparedStepper

INTERPRETED = pytest.mark.usefixtures("interpreted")
simulate = partial(mbdyn_ros.simulate, joint_limits=False)  # dead centres are often beyond them
State = tuple[np.ndarray, np.ndarray]


def four_bar(coupler: float, **options: object) -> mbdyn_ros.Robot:
    """Cranks of 0.5 m on pivots 1 m apart: a parallelogram where the coupler is 1 m long."""
    return robot_of(
        body("a", 0, 0.25), body("b", 0.5, 0), body("c", 0, 0.25),
        turn("crank", "ground", "a"), turn("knee", "a", "b", "0 0 0.5"),
        turn("rocker", "ground", "c", "1 0 0"), pin("b", f"{coupler} 0 0", "c", "0 0 0.5"),
        **options,
    )  # fmt: skip


def carried(
    robot: mbdyn_ros.Robot, q: list[float], v: list[float], other: mbdyn_ros.Robot
) -> State:
    """The state of `robot` in the joints of `other` (no floating base)."""
    position, velocity, _ = robot.joint_state(np.array(q), np.array(v))
    places = [robot.joint_names.index(name) for name in other.independent_joints]
    return position[places], velocity[places]


def gap(name: str, positions: np.ndarray) -> float:
    """Largest distance (m) of the loop's two pins: from the tree's poses, which know no loop."""
    model = own(name).model
    text = re.sub("<loop.*?</loop>", "", (URDF / f"{name}.urdf").read_text(), flags=re.DOTALL)
    tree = mbdyn_ros.load(re.sub(r' independent="\w+"', "", text))
    assert tree.joint_names == tuple(joint.name for joint in model.joints if joint.nv)
    (loop,) = model.loops
    with interpreting():
        ends = [
            tree.frame_pose(positions, link)[:, :3] @ np.append(frame.translation, 1.0)
            for link, frame in (
                (loop.predecessor, loop.predecessor_frame),
                (loop.successor, loop.successor_frame),
            )
        ]
    return float(np.linalg.norm(ends[1] - ends[0], axis=1).max())


@pytest.mark.sparse
@pytest.mark.parametrize(
    "name, joint, start, speed",
    [
        ("slider_crank", "slider_joint", 0.3, 20.0),
        pytest.param("four_bar", "rocker_joint", 0.0, 10.0, marks=pytest.mark.long),
        ("four_bar", "coupler_joint", 0.0, 10.0),
    ],
)
def test_same_motion_as_in_the_crank(name: str, joint: str, start: float, speed: float) -> None:
    """Both dead centres, round after round: one switch, and then the crank's own motion."""
    crank = own(name)
    other = own(name, joint, "crank_joint")
    times = np.linspace(0, 1, 101)
    expected = simulate(crank, [start], [speed], 1.0, times=times)
    assert expected.joint_position[:, crank.joint_names.index("crank_joint")].max() > 6.3
    q0, v0 = carried(crank, [start], [speed], other)
    with switches() as texts:
        found = simulate(other, q0, v0, 1.0, times=times)
    assert len(texts) == (joint != "coupler_joint")
    assert all("dead centre" in text and joint in text and " s " in text for text in texts)
    np.testing.assert_array_equal(found.time, times)
    np.testing.assert_allclose(found.joint_position, expected.joint_position, atol=1e-8)
    np.testing.assert_allclose(found.joint_velocity, expected.joint_velocity, atol=1e-7)
    np.testing.assert_allclose(found.energy, expected.energy, atol=1e-8)
    place = other.joint_names.index(joint)
    assert found.position_labels == (joint,)
    np.testing.assert_array_equal(found.q[:, 0], found.joint_position[:, place])
    np.testing.assert_array_equal(found.v[:, 0], found.joint_velocity[:, place])
    assert found.relative_imbalance < 1e-9
    assert gap(name, found.joint_position) < 1e-12


def test_a_stepper_passes_dead_centres() -> None:
    """Both of a slider, round after round, as in the crank; the state stays the slider's."""
    crank = own("slider_crank")
    slider = own("slider_crank", "slider_joint", "crank_joint")
    free = mbdyn_ros.Environment([], joint_limits=False)
    with compiling():
        steppers = [mbdyn_ros.Stepper(robot, 1e-3, free) for robot in (crank, slider)]
        steppers[0].set_state([0.3], [20.0])
        steppers[1].set_state(*carried(crank, [0.3], [20.0], slider))
        turned = []
        for _ in range(50):
            for stepper in steppers:
                stepper.advance(20)
            expected, found = (stepper.tree_state() for stepper in steppers)
            np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
            np.testing.assert_allclose(found[1], expected[1], atol=1e-3)
            place = slider.joint_names.index("slider_joint")
            assert steppers[1].q[0] == found[0][place] and steppers[1].v[0] == found[1][place]
            turned.append(steppers[0].q[0])
        assert turned[-1] > 6.3 and steppers[1].time == pytest.approx(1.0)
        assert steppers[1].energy.sum() == pytest.approx(steppers[0].energy.sum(), abs=1e-5)
        steppers[1].set_state(*carried(crank, [0.3], [20.0], slider))
        assert steppers[1].tree_state()[0][crank.joint_names.index("crank_joint")] == pytest.approx(
            0.3
        )


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["parallelogram_arm", "gripper"])
def test_a_stepper_ends_before_a_change_point(name: str) -> None:
    """In words, where it went on with other energy, or with NaN."""
    robot = own(name)
    with compiling():
        stepper = mbdyn_ros.Stepper(robot, 2e-3, mbdyn_ros.Environment([], joint_limits=False))
        with pytest.raises(mbdyn_ros.SimulationError, match="pin.* comes to a change point"):
            stepper.advance(1000)
    assert stepper.time == pytest.approx(1.012 if name == "parallelogram_arm" else 0.144, abs=4e-3)
    assert np.isfinite(stepper.q).all()


@pytest.mark.long
@pytest.mark.parametrize("seed, expected", [(2, 1.610), (8, 0.856)])
def test_a_stepper_passes_legs_along_the_axes_of_their_forks(seed: int, expected: float) -> None:
    """A floating Stewart platform, whose legs lengthen to 6 m: a fork turns by 125 rad/s then."""
    robot = own("stewart", floating_base=True)
    start = np.random.default_rng(seed).normal(size=robot.nv)
    with compiling():
        stepper = mbdyn_ros.Stepper(robot, 2e-3, mbdyn_ros.Environment([], joint_limits=False))
        stepper.set_state(robot.neutral(), start)
        before, fastest, energies, largest = stepper.energy.sum(), (0.0, 0.0), [], 0.0
        for _ in range(1000):
            stepper.advance()
            kinetic, potential = stepper.energy
            energies.append(kinetic + potential - before)
            largest = max(largest, kinetic)
            fastest = max(fastest, (float(np.abs(stepper.tree_state()[1]).max()), stepper.time))
    assert stepper.time == pytest.approx(2.0) and stepper.step == 2e-3
    assert fastest[0] > 50 and fastest[1] == pytest.approx(expected, abs=6e-3)
    assert max(energies) < 1e-6 * largest and min(energies) > -2e-6 * largest


@pytest.mark.long
def test_a_stepper_passes_a_quarter_turn_of_a_pitch() -> None:
    """Yaw and roll of the platform are nearly one there, and both turn fast."""
    robot = own("stewart", floating_base=True)
    with compiling():
        stepper = mbdyn_ros.Stepper(robot, 2e-3, mbdyn_ros.Environment([], joint_limits=False))
        stepper.set_state(robot.neutral(), np.random.default_rng(14).normal(size=robot.nv))
        pitch = robot.joint_names.index("platform_joint/pitch")
        rows = robot.system.coordinates.joint_rows[0]
        before, cosines, energies = stepper.energy.sum(), [], []
        for _ in range(650):
            stepper.advance()
            energies.append(stepper.energy.sum() - before)
            cosines.append(abs(np.cos(stepper.tree_state()[0][rows[pitch]])))
    assert min(cosines) < 0.02
    assert np.abs(energies).max() < 1e-6 * stepper.energy[0]


@pytest.mark.long
@INTERPRETED
def test_ten_seconds_of_a_free_four_bar() -> None:
    robot = own("four_bar")
    trajectory = simulate(robot, [0.0], [3.0], 10.0, rtol=1e-10)
    assert gap("four_bar", trajectory.joint_position) < 1e-12
    total = trajectory.energy.sum(axis=1)
    assert np.ptp(total) < 1e-9 * trajectory.energy[:, 0].max()
    assert trajectory.relative_imbalance < 1e-9


@pytest.mark.long
@INTERPRETED
def test_boom_falls_over() -> None:
    """It passes the dead centre of its cylinder, swings below, and comes back."""
    rod, pin_ = own("boom"), own("boom", "boom_joint", "rod_joint")
    times = np.linspace(0, 4, 81)
    q0, v0 = carried(rod, [0.0], [0.0], pin_)
    expected = simulate(pin_, q0, v0, 4.0, times=times)
    with switches() as texts:
        found = simulate(rod, [0.0], [0.0], 4.0, times=times)
    assert len(texts) == 1 and "rod_joint" in texts[0] and "boom_joint" in texts[0]
    np.testing.assert_allclose(found.joint_position, expected.joint_position, atol=1e-8)
    assert found.relative_imbalance < 1e-9
    assert gap("boom", found.joint_position) < 1e-12
    # q fits two configurations now, and the robot knows only the one that is reached from home
    lowest = int(np.argmin(found.joint_position[:, 0]))
    at_home, _, _ = rod.joint_state(found.q[lowest])
    assert abs(at_home[0] - found.joint_position[lowest, 0]) > 0.1
    names, positions, velocities, _ = joint_columns(rod, found)
    assert names == list(rod.joint_names)
    np.testing.assert_array_equal(positions, found.joint_position)
    np.testing.assert_array_equal(velocities, found.joint_velocity)


# -- change points -----------------------------------------------------------------------------


@pytest.mark.sparse
@INTERPRETED
@pytest.mark.parametrize("joint", ["crank", "knee", "rocker"])
@pytest.mark.parametrize("gravity", [9.81, 0.0])
def test_parallelogram_stops_where_it_is_flat(joint: str, gravity: float) -> None:
    robot = four_bar(1.0, mechanism=f"{{independent: [{joint}]}}", gravity=(0, 0, -gravity))
    q0, v0 = carried(four_bar(1.0), [0.3], [3.0], robot)
    with switches() as texts, pytest.raises(mbdyn_ros.SimulationError) as caught:
        simulate(robot, q0, v0, 100.0)
    message, kept = str(caught.value), caught.value.trajectory
    assert texts == []
    for word in ("change point", "'pin'", "crank", "more than one way", "t = 0.", "q = [", "v = ["):
        assert word in message
    assert message.count("t = 0.") == 1
    end = kept.time[-1]
    assert f"t = {end:.9g} s" in message
    flat = kept.joint_position[-1, robot.joint_names.index("crank")]
    assert flat == pytest.approx(np.pi / 2, abs=1e-3)
    if not gravity:
        assert end == pytest.approx((np.pi / 2 - 0.3) / 3, abs=1e-3)
    assert kept.relative_imbalance < 1e-7
    assert (np.diff(kept.time) > 0).all()


@INTERPRETED
def test_change_point_between_samples_and_long_steps() -> None:
    """Nothing accelerates, so that a step could leap over it."""
    robot = four_bar(1.0, gravity=(0, 0, 0))
    with pytest.raises(mbdyn_ros.SimulationError, match="change point") as caught:
        simulate(robot, [0.3], [1e-3], 1e4, times=[0.0, 1000.0, 1e4])
    np.testing.assert_array_equal(caught.value.trajectory.time, [0.0, 1000.0])
    stopped = re.search(r"stops at t = ([\d.]+) s", str(caught.value))
    assert stopped and 1270 < float(stopped[1]) < 1271


@INTERPRETED
def test_start_at_a_change_point() -> None:
    with pytest.raises(mbdyn_ros.SimulationError, match="t = 0 s.*change point"):
        simulate(four_bar(1.0), [np.pi / 2 - 1e-6], [0.0], 1.0)


@pytest.mark.long
@INTERPRETED
@pytest.mark.parametrize("miss", [pytest.param(0.03, marks=pytest.mark.long), -1e-3])
def test_passes_near_a_change_point(miss: float) -> None:
    """1 mm aside of it, where all coordinates are poor, the best of them still serve."""
    robot = four_bar(1.0 + miss)
    with switches() as texts:
        trajectory = simulate(robot, [0.3], [3.0], 2.0)
    assert trajectory.time[-1] == 2.0 and trajectory.relative_imbalance < 2e-9
    assert (np.diff(trajectory.time) > 0).all()
    assert 1 <= len(texts) <= 6
    steps = [re.search(r"joints \((\w+)\).* goes on in (\w+)", text) for text in texts]
    chosen = [step.groups() for step in steps if step]
    assert all(old != new for old, new in chosen)
    assert all(one[1] == two[0] for one, two in zip(chosen, chosen[1:], strict=False))
    with switches():
        tight = simulate(robot, [0.3], [3.0], 0.6, rtol=1e-12, times=[0.6])
        loose = simulate(robot, [0.3], [3.0], 0.6, times=[0.6])
    np.testing.assert_allclose(loose.joint_position, tight.joint_position, atol=1e-6)


@INTERPRETED
@pytest.mark.long  # `test_change_points` goes on from there
def test_palletizer_folds_flat() -> None:
    """The elbow of the parallelogram arm comes to lie in line."""
    robot = own("parallelogram_arm")
    with pytest.raises(mbdyn_ros.SimulationError, match="'bar_pin' is at a change point") as caught:
        simulate(robot, np.zeros(4), [0.0, 3.0, 0.0, 0.0], 3.0)
    assert caught.value.trajectory.relative_imbalance < 1e-6


# -- starts ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slider() -> mbdyn_ros.Robot:
    return own("slider_crank", "slider_joint", "crank_joint")


@INTERPRETED
def test_start_at_a_dead_centre(slider: mbdyn_ros.Robot) -> None:
    """At rest there is no doubt where it goes; a velocity of the slider says nothing."""
    crank = own("slider_crank")
    place = crank.joint_names.index("slider_joint")
    angles = np.linspace(1.6, 1.8, 2001)
    _, velocities, _ = crank.joint_state(angles[:, None], np.ones((2001, 1)))
    k = int(np.argmin(np.abs(velocities[:, place])))
    q0, _ = carried(crank, [angles[k]], [0.0], slider)
    with switches() as texts:
        trajectory = simulate(slider, q0, [0.0], 0.5, times=[0.0, 0.5])
    assert len(texts) == 1 and "t = 0 s" in texts[0]
    expected = simulate(crank, [angles[k]], [0.0], 0.5, times=[0.0, 0.5])
    np.testing.assert_allclose(trajectory.joint_position, expected.joint_position, atol=1e-6)
    low = 0.09941125495  # a few 1e-11 m from the end of its way
    with pytest.raises(mbdyn_ros.SimulationError, match="dead centre of slider_joint") as caught:
        simulate(slider, [low], [0.1], 0.5)
    assert "independent" in str(caught.value)


# -- what else goes on through a switch --------------------------------------------------------


@INTERPRETED
def test_efforts_are_asked_in_the_robots_own_coordinates(slider: mbdyn_ros.Robot) -> None:
    crank = own("slider_crank")
    place = crank.joint_names.index("slider_joint")
    seen: list[tuple[int, int, float]] = []

    def of_slider(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        seen.append((len(q), len(v), float(q[0])))
        return np.array([0.5 * np.sin(5 * t) - 4 * q[0] - 0.1 * v[0]])

    def of_crank(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        position, velocity, _ = crank.joint_state(q, v)
        return of_slider(t, position[[place]], velocity[[place]])

    q0, v0 = carried(crank, [0.3], [20.0], slider)
    with switches() as texts:
        found = simulate(slider, q0, v0, 0.5, effort=of_slider)
    assert len(texts) == 1 and {one[:2] for one in seen} == {(1, 1)}
    assert -0.0813 < min(one[2] for one in seen) and max(one[2] for one in seen) < 0.0995
    expected = simulate(crank, [0.3], [20.0], 0.5, effort=of_crank, times=[0.5])
    np.testing.assert_allclose(found.joint_position[-1], expected.joint_position[-1], atol=1e-8)
    np.testing.assert_allclose(
        found.effort[:, 0],
        [of_slider(t, q, v)[0] for t, q, v in zip(found.time, found.q, found.v, strict=True)],
        atol=1e-9,
    )
    assert found.relative_imbalance < 1e-9 and abs(found.work[-1, 0]) > 1e-3

    def breaks(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return of_slider(t, q, v) * (np.nan if t > 0.2 else 1)

    with switches(), pytest.raises(mbdyn_ros.SimulationError, match="nan for crank_joint"):
        simulate(slider, q0, v0, 0.5, effort=breaks)


@pytest.mark.sparse
@INTERPRETED
@pytest.mark.parametrize("times", [[], [0.5], [0.0, 0.5], [0.2, 0.200001, 0.3]])
def test_samples_where_asked(slider: mbdyn_ros.Robot, times: list[float]) -> None:
    q0, v0 = carried(own("slider_crank"), [0.3], [20.0], slider)
    with switches():
        trajectory = simulate(slider, q0, v0, 0.5, times=times)
        every = simulate(slider, q0, v0, 0.5)
    np.testing.assert_array_equal(trajectory.time, times)
    assert trajectory.q.shape == (len(times), 1) and trajectory.joint_position.shape[1] == 3
    assert trajectory.relative_imbalance < 1e-9
    assert (np.diff(every.time) > 0).all() and len(every) == every.steps + 1


@pytest.mark.long
@INTERPRETED
def test_dry_friction_across_a_switch() -> None:
    """It slides through the dead centre, turns back, and sticks in the end."""
    rub = ('damping="4"', 'damping="4" friction="6"')
    crank = own("slider_crank", "crank_joint", "crank_joint", rub)
    slider = own("slider_crank", "slider_joint", "crank_joint", rub)
    q0, v0 = carried(crank, [0.3], [20.0], slider)
    times = np.linspace(0, 2, 21)
    expected = simulate(crank, [0.3], [20.0], 2.0, times=times)
    with switches() as texts:
        found = simulate(slider, q0, v0, 2.0, times=times)
    assert len(texts) == 1
    np.testing.assert_allclose(found.joint_position, expected.joint_position, atol=1e-8)
    np.testing.assert_allclose(found.work, expected.work, atol=1e-8)
    assert found.relative_imbalance < 1e-9
    later = [(one.joint, one.mode) for one in found.transitions[1:]]
    assert later == [(one.joint, one.mode) for one in expected.transitions[1:]]
    assert later[-1][1] == "sticks" and not found.v[-1].any()


@pytest.mark.long
@INTERPRETED
def test_floating_base() -> None:
    crank = own("four_bar", floating_base=True)
    rocker = own("four_bar", "rocker_joint", "crank_joint", floating_base=True)
    q0 = np.array([0, 0, 0, 0, 0, 0, 1, 0.0])
    v0 = np.array([0.1, 0.2, 0.3, 1, -1, 0.5, 10.0])
    position, velocity, _ = crank.joint_state(q0, v0)
    place = crank.joint_names.index("rocker_joint")
    times = np.linspace(0, 0.5, 6)
    expected = simulate(crank, q0, v0, 0.5, times=times)
    with switches() as texts:
        found = simulate(
            rocker, [*q0[:7], position[place]], [*v0[:6], velocity[place]], 0.5, times=times
        )
    assert len(texts) == 1
    np.testing.assert_allclose(found.joint_position, expected.joint_position, atol=1e-8)
    np.testing.assert_allclose(found.q[:, :7], expected.q[:, :7], atol=1e-8)
    np.testing.assert_allclose(found.v[:, :6], expected.v[:, :6], atol=1e-7)


@pytest.mark.long
@INTERPRETED
def test_manipulator_falls_over_two_cylinders() -> None:
    robot = own("manipulator")
    with switches() as texts:
        trajectory = simulate(robot, np.zeros(4), np.zeros(4), 1.0)
    assert len(texts) == 2 and "tilt_rod_joint" in texts[0] and "lift_rod_joint" in texts[1]
    assert trajectory.relative_imbalance < 1e-9


@pytest.mark.long
@INTERPRETED
def test_loop_in_space() -> None:
    """Without closed form: positions are followed by Newton's method in every coordinate."""
    parts = (
        body("a", 0, 0.05), body("x", 0, 0), body("b", 0.3, 0), body("c", 0, 0.2),
        turn("crank", "ground", "a"), turn("u1", "a", "x", "0 0 0.15", "0 0 1"),
        turn("u2", "x", "b"), turn("rocker", "ground", "c", "0.6 0.2 0", "0.2 1 0"),
        pin("b", "0.65 0 0", "c", "0 0 0.35", "spherical"),
    )  # fmt: skip
    crank = robot_of(*parts)
    home = ", ".join(f"{name}: {value!r}" for name, value in crank.home.items())
    mechanism = f"{{independent: [rocker], actuated: [crank], home: {{{home}}}}}"
    rocker = robot_of(*parts, mechanism=mechanism)
    q0, v0 = carried(crank, [0.0], [12.0], rocker)
    times = np.linspace(0, 0.2, 6)
    expected = simulate(crank, [0.0], [12.0], 0.2, times=times)
    with switches() as texts:
        found = simulate(rocker, q0, v0, 0.2, times=times)
    assert 1 <= len(texts) <= 4
    np.testing.assert_allclose(found.joint_position, expected.joint_position, atol=1e-8)


@pytest.mark.long
@INTERPRETED
def test_five_bar_keeps_its_branch_far_from_home() -> None:
    """Two freedoms: the way from home decides how it is closed, and is not a straight line."""
    parts = (
        body("a", 0, 0.2), body("b", 0.2, 0), body("c", 0, 0.2), body("d", -0.2, 0),
        turn("q1", "ground", "a"), turn("q2", "a", "b", "0 0 0.4"),
        turn("q3", "ground", "c", "0.7 0 0"), turn("q4", "c", "d", "0 0 0.45"),
        pin("b", "0.45 0 0.1", "d", "-0.4 0 0"),
    )  # fmt: skip
    robot = robot_of(*parts, mechanism="{independent: [q1, q2]}")
    home = ", ".join(f"{name}: {value!r}" for name, value in robot.home.items())
    other = robot_of(*parts, mechanism=f"{{independent: [q2, q4], home: {{{home}}}}}")
    q, v = [robot.home["q1"], robot.home["q2"]], [3.0, -5.0]
    times = np.linspace(0, 1, 11)
    with switches():
        one = simulate(robot, q, v, 1.0, times=times)
        two = simulate(other, *carried(robot, q, v, other), 1.0, times=times)
    np.testing.assert_allclose(two.joint_position, one.joint_position, atol=1e-6)
    assert max(one.relative_imbalance, two.relative_imbalance) < 2e-9
    with compiling():
        steps = PreparedStepper(robot_of(*parts, mechanism="{independent: [q1, q2]}"), 1e-3)
        steps.set_state(np.array(q), np.array(v))
        for _ in range(300):
            steps.advance()
    np.testing.assert_allclose(steps.joint_position, one.joint_position[3], atol=1e-7)
    here, now, _, _ = steps.snapshot()()
    np.testing.assert_allclose(here.joint_state(now)[0], steps.joint_position, atol=1e-12)
