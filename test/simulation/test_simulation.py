"""Simulated motion against closed forms, conservation laws and Pinocchio."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreting import compiling
from scipy.integrate import solve_ivp

import mbdyn_ros
from mbdyn_ros.assembly.closure_gap import tree_gap
from mbdyn_ros.compiler.gcc import toolchain_cpp
from mbdyn_ros.compiler.runtime.library import events
from mbdyn_ros.simulation.contact.impulses import Blocks, contact_impulses, solver

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
    pytest.mark.usefixtures("interpreted"),
]
FOUR_BAR = Path(__file__).parents[2] / "urdf" / "four_bar.urdf"
M, K = 2.0, 50.0  # kg, N/m
W = np.sqrt(K / M)


def body(name: str, mass: float = 1.0, length: float = 1.0) -> str:
    """A rod that hangs from its joint, with the moments of a slender one."""
    moment = mass * length**2 / 12
    return f"""<link name="{name}"><inertial><origin xyz="0.01 0.02 {-length / 2}"/>
      <mass value="{mass}"/><inertia ixx="{moment}" iyy="{moment}" izz="{moment / 9}" ixy="0"
      ixz="0" iyz="0"/></inertial></link>"""


def joint(name: str, parent: str, child: str, kind: str = "continuous", more: str = "") -> str:
    return f"""<joint name="{name}" type="{kind}"><origin xyz="0 0 {-1.0 * (parent != "world")}"/>
      <axis xyz="0 1 0"/><parent link="{parent}"/><child link="{child}"/>{more}</joint>"""


def robot_of(*parts: str, **options: object) -> mbdyn_ros.Robot:
    text = f'<robot name="test"><link name="world"/>{"".join(parts)}</robot>'
    return mbdyn_ros.load(text, **options)


def cart(dynamics: str = "") -> mbdyn_ros.Robot:
    """A mass of 2 kg on a rail across gravity."""
    return robot_of(body("cart", M), joint("rail", "world", "cart", "prismatic", dynamics))


def double_pendulum(first: str = "", second: str = "") -> mbdyn_ros.Robot:
    return robot_of(
        body("upper"),
        body("lower", 0.7),
        joint("shoulder", "world", "upper", more=first),
        joint("elbow", "upper", "lower", more=second),
    )


def spring(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -K * q


def test_double_pendulum_keeps_its_energy() -> None:
    trajectory = mbdyn_ros.simulate(double_pendulum(), [2.0, 1.0], [0.0, 0.0], 10.0)
    assert trajectory.relative_imbalance < 1e-9
    assert np.ptp(trajectory.energy.sum(axis=1)) < 1e-9 * trajectory.energy[:, 0].max()
    assert trajectory.time[0] == 0 and trajectory.time[-1] == 10
    assert trajectory.impacts == ()
    assert len(trajectory) == trajectory.steps + 1


def test_spring_is_harmonic() -> None:
    times = np.linspace(0, 10, 101)
    trajectory = mbdyn_ros.simulate(cart(), [0.3], [0.0], 10.0, effort=spring, times=times)
    assert np.array_equal(trajectory.time, times)
    np.testing.assert_allclose(trajectory.q[:, 0], 0.3 * np.cos(W * times), atol=1e-9)
    np.testing.assert_allclose(trajectory.v[:, 0], -0.3 * W * np.sin(W * times), atol=1e-8)
    np.testing.assert_allclose(trajectory.a, -K * trajectory.q / M, rtol=1e-12)
    np.testing.assert_allclose(trajectory.effort, -K * trajectory.q)
    work = K * (0.3**2 - trajectory.q[:, 0] ** 2) / 2
    np.testing.assert_allclose(trajectory.work[:, 0], work, atol=1e-9)


def test_damping_decays() -> None:
    robot = cart('<dynamics damping="3"/>')
    trajectory = mbdyn_ros.simulate(robot, [0.0], [1.0], 4.0)
    np.testing.assert_allclose(trajectory.v[:, 0], np.exp(-3 / M * trajectory.time), rtol=1e-9)
    loss = M / 2 * (1 - trajectory.v[:, 0] ** 2)
    np.testing.assert_allclose(trajectory.work[:, 1], loss, atol=1e-10)


@pytest.mark.long
def test_stiff_damping_does_not_hold_up() -> None:
    """2e6 N s/m on 2 kg: the force decides the speed within microseconds."""
    robot = cart('<dynamics damping="2e6"/>')
    trajectory = mbdyn_ros.simulate(
        robot, [0.0], [0.5], 10.0, effort=lambda t, q, v: np.array([1e6 * np.sin(t)])
    )
    assert trajectory.steps < 20_000
    slow = trajectory.time > 1e-4
    expected = 0.5 * np.sin(trajectory.time[slow] - M / 2e6)
    np.testing.assert_allclose(trajectory.v[slow, 0], expected, atol=1e-9)
    assert trajectory.relative_imbalance < 1e-8


@pytest.mark.long
def test_two_ways_of_dry_friction_agree() -> None:
    """Events located exactly, and impulses over short steps: two programs, one motion."""
    rough = '<dynamics friction="1.5" damping="0.1"/>', '<dynamics friction="0.6"/>'
    exact = mbdyn_ros.simulate(double_pendulum(*rough), [1.5, -0.5], [0.0, 3.0], 2.0)
    with compiling():
        stepped = mbdyn_ros.Stepper(double_pendulum(*rough), 2e-4)
    stepped.set_state([1.5, -0.5], [0.0, 3.0])
    stepped.advance(10_000)
    np.testing.assert_allclose(stepped.q, exact.q[-1], atol=2e-3)


def test_free_body_keeps_its_momentum() -> None:
    robot = mbdyn_ros.load(
        f"""<robot name="free">{body("base", 3.0)}{body("arm")}{body("tip", 0.5)}
        {joint("a", "base", "arm")}{joint("b", "arm", "tip", "prismatic")}</robot>""",
        floating_base=True,
        gravity=(0, 0, 0),
    )
    q0 = np.array([0.1, 0.2, 0.3, 0.5, -0.5, 0.1, 0.7, 0.4, 0.2])
    q0[3:7] /= np.linalg.norm(q0[3:7])
    v0 = np.array([0.1, -0.4, 0.3, 2.0, -3.0, 1.0, -4.0, 1.0])
    trajectory = mbdyn_ros.simulate(robot, q0, v0, 5.0)
    assert np.abs(np.linalg.norm(trajectory.q[:, 3:7], axis=1) - 1).max() < 1e-12

    def momentum(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Linear and angular momentum about the world's origin."""
        base = (robot.mass_matrix(q) @ v)[:6]  # about the base's origin in its axes
        pose = robot.frame_pose(q, "base")
        linear, angular = pose[:3, :3] @ base[:3], pose[:3, :3] @ base[3:]
        return np.concatenate([linear, angular + np.cross(pose[:3, 3], linear)])

    history = [momentum(q, v) for q, v in zip(trajectory.q, trajectory.v, strict=True)]
    np.testing.assert_allclose(history, np.tile(history[0], (len(history), 1)), atol=1e-8)
    assert trajectory.relative_imbalance < 1e-9


def test_falling_floating_joint_turns_steadily() -> None:
    """A ball in a floating joint of the description: a parabola and a constant spin."""
    robot = mbdyn_ros.load("""<robot name="ball"><link name="world"/><link name="ball"><inertial>
      <mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="fly" type="floating"><parent link="world"/><child link="ball"/></joint></robot>
      """)
    spin = 3.0
    trajectory = mbdyn_ros.simulate(
        robot, [0, 0, 0, 0, 0, 0, 1], [1.0, 0, 0, 0, 0, spin], 20.0, times=[0.0, 7.0, 20.0]
    )
    t = trajectory.time
    np.testing.assert_allclose(trajectory.q[:, 0], t, atol=1e-8)
    np.testing.assert_allclose(trajectory.q[:, 2], -9.81 / 2 * t**2, rtol=1e-9)
    np.testing.assert_allclose(trajectory.q[:, 5], np.sin(spin * t / 2), atol=1e-8)
    assert np.abs(np.linalg.norm(trajectory.q[:, 3:7], axis=1) - 1).max() < 1e-15


@pytest.mark.sparse
@pytest.mark.parametrize("file, floating_base", [("ur5_robot.urdf", False), ("solo12.urdf", True)])
def test_agrees_with_pinocchio(file: str, floating_base: bool) -> None:
    pin = pytest.importorskip("pinocchio")
    from judge import Judge

    robot = mbdyn_ros.load(urdf_file(file), floating_base=floating_base)
    judge = Judge(str(urdf_file(file)), robot.model, floating_base)
    q0, v0, _ = judge.random_state(seed=3)
    effort = np.linspace(-0.01, 0.01, robot.nv)
    start, drive = judge.position(q0), judge.matrix @ effort

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[: judge.pin.nq], y[judge.pin.nq :]
        unit = pin.normalize(judge.pin, q)
        a = pin.aba(judge.pin, judge.data, unit, v, drive)
        h = 1e-6  # q' by a central difference of pin.integrate: owes nothing to our map
        behind, ahead = (pin.integrate(judge.pin, unit, step * v) for step in (-h, h))
        return np.concatenate([(ahead - behind) / (2 * h), a])

    y0 = np.concatenate([start, judge.matrix @ v0])
    theirs = solve_ivp(rate, (0, 0.5), y0, method="DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
    ours = mbdyn_ros.simulate(robot, q0, v0, 0.5, effort=effort)
    gap = np.abs(judge.position(ours.q[-1]) - theirs[: judge.pin.nq]).max()
    assert gap < 1e-7
    np.testing.assert_allclose(judge.matrix @ ours.v[-1], theirs[judge.pin.nq :], atol=1e-6)


def test_sliding_block_stops_where_it_should() -> None:
    force, speed = 3.0, 2.0
    trajectory = mbdyn_ros.simulate(
        cart(f'<dynamics friction="{force}"/>'), [0.0], [speed], 5.0, effort=[1.0]
    )
    stop = M * speed / (force - 1.0)
    assert [(one.joint, one.mode) for one in trajectory.transitions] == [
        ("rail", "slides +"),
        ("rail", "sticks"),
    ]
    assert trajectory.transitions[1].time == pytest.approx(stop, abs=1e-12)
    assert trajectory.q[-1, 0] == pytest.approx(speed * stop / 2, abs=1e-11)
    assert trajectory.v[-1, 0] == 0 and trajectory.a[-1, 0] == 0
    assert trajectory.relative_imbalance < 1e-12


def test_spring_with_friction_loses_the_same_at_every_turn() -> None:
    """Each half swing is 2 F / k shorter; it ends within F / k of the middle."""
    force, start = 1.0, 0.31
    trajectory = mbdyn_ros.simulate(
        cart(f'<dynamics friction="{force}"/>'), [start], [0.0], 20.0, effort=spring
    )
    turns = [one for one in trajectory.transitions if one.time > 0]
    slip, expected, times = force / K, start, []
    while abs(expected) > slip:
        expected = -np.sign(expected) * (abs(expected) - 2 * slip)
        times.append((len(times) + 1) * np.pi / W)
    np.testing.assert_allclose([one.time for one in turns], times, atol=1e-10)
    assert turns[-1].mode == "sticks"
    assert {one.mode for one in turns[:-1]} == {"slides +", "slides -"}
    assert trajectory.q[-1, 0] == pytest.approx(expected, abs=1e-11)


def test_block_pulled_by_a_moving_spring_sticks_and_slips() -> None:
    """x' = V (1 - cos w (t - t1)) from t1 = F / (k V) on; it touches rest once a period."""
    force, pull = 5.0, 0.4
    t1 = force / (K * pull)
    times = np.linspace(0, 6, 61)
    trajectory = mbdyn_ros.simulate(
        cart(f'<dynamics friction="{force}"/>'),
        [0.0],
        [0.0],
        6.0,
        effort=lambda t, q, v: K * (pull * t - q),
        times=times,
    )
    assert trajectory.transitions[0].mode == "sticks"
    assert trajectory.transitions[1].mode == "slides +"
    assert trajectory.transitions[1].time == pytest.approx(t1, rel=1e-9)
    late = np.maximum(times - t1, 0.0)
    np.testing.assert_allclose(trajectory.v[:, 0], pull * (1 - np.cos(W * late)), atol=1e-8)
    np.testing.assert_allclose(trajectory.q[:, 0], pull * (late - np.sin(W * late) / W), atol=1e-8)


@pytest.mark.long
def test_breaks_away_from_long_rest_in_time() -> None:
    """Steps do not grow over an effort that changes while nothing moves."""
    force, rate = 3.0, 0.7
    trajectory = mbdyn_ros.simulate(
        cart(f'<dynamics friction="{force}"/>'),
        [0.0],
        [0.0],
        20.0,
        effort=lambda t, q, v: np.array([3.2 * np.sin(2 * np.pi * rate * t)]),
    )
    first = np.arcsin(force / 3.2) / (2 * np.pi * rate)
    assert trajectory.transitions[1].time == pytest.approx(first, rel=1e-9)
    # twice a period it breaks away, until 20 s are over
    assert len(trajectory.transitions) == 1 + 2 * 2 * 14
    assert trajectory.relative_imbalance < 1e-9


@pytest.mark.long
def test_two_rough_joints_balance() -> None:
    robot = double_pendulum(
        '<dynamics friction="1.5" damping="0.1"/>', '<dynamics friction="0.6"/>'
    )
    trajectory = mbdyn_ros.simulate(robot, [1.5, -0.5], [0.0, 3.0], 20.0)
    assert trajectory.relative_imbalance < 1e-9
    assert {one.joint for one in trajectory.transitions} == {"shoulder", "elbow"}
    assert not trajectory.v[-1].any(), "friction brings it to rest"
    held = robot.gravity_vector(trajectory.q[-1])
    assert (np.abs(held) <= [1.5, 0.6]).all()
    # where both slide, the accelerations are those of the robot's own forward dynamics
    both = (np.abs(trajectory.v) > 1e-6).all(axis=1)
    ours = robot.forward_dynamics(trajectory.q[both], trajectory.v[both], trajectory.effort[both])
    np.testing.assert_allclose(trajectory.a[both], ours, rtol=1e-9, atol=1e-9)


def test_friction_of_a_mimic_joint_counts_by_its_ratio() -> None:
    robot = robot_of(
        body("a", M),
        body("b", M),
        joint("lead", "world", "a", "prismatic"),
        joint(
            "follow",
            "world",
            "b",
            "prismatic",
            '<mimic joint="lead" multiplier="-2"/><dynamics friction="3" damping="0.5"/>',
        ),
    )
    trajectory = mbdyn_ros.simulate(robot, [0.0], [1.0], 8.0)
    mass, dry, damping = 5 * M, 6.0, 2.0
    stop = mass / damping * np.log(1 + damping / dry)
    assert trajectory.transitions[-1].time == pytest.approx(stop, rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_complementarity_holds(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    matrix = root @ root.T + 0.1 * np.eye(n)
    free, limit = random.normal(size=n) * 3, random.uniform(0.1, 2, n)
    r = contact_impulses(matrix, free, Blocks.dry(limit))
    a, stuck = matrix @ r + free, np.abs(r) < limit * (1 - 1e-12)
    assert (np.abs(r) <= limit).all()
    assert ((a * r)[~stuck] <= 1e-9).all() and np.abs(a[stuck]).max(initial=0) < 1e-9


@pytest.fixture(scope="module")
def rough() -> mbdyn_ros.Robot:
    return double_pendulum(
        '<dynamics friction="0.4"/>', '<dynamics friction="0.2" damping="0.05"/>'
    )


@settings(max_examples=5, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_any_motion_balances_its_power(rough: mbdyn_ros.Robot, numbers: list[float]) -> None:
    q0, v0, drive = numbers[:2], numbers[2:4], np.array(numbers[4:])
    trajectory = mbdyn_ros.simulate(
        rough, q0, v0, 2.0, effort=lambda t, q, v: drive * np.cos(3 * t) - 0.1 * v
    )
    assert np.abs(trajectory.imbalance).max() < 1e-8
    assert (np.diff(trajectory.work[:, 1]) >= -1e-12).all(), "friction only takes"
    assert (np.diff(trajectory.time) > 0).all()


def own_robot(name: str, *replacements: tuple[str, str], **options: object) -> mbdyn_ros.Robot:
    text = (Path(__file__).parents[2] / "urdf" / f"{name}.urdf").read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return mbdyn_ros.load(text, **options)


def test_four_bar_keeps_its_energy_and_stays_closed() -> None:
    robot = own_robot("four_bar")
    trajectory = mbdyn_ros.simulate(robot, [robot.home["crank_joint"]], [3.0], 10.0)
    assert trajectory.relative_imbalance < 1e-9
    assert np.ptp(trajectory.energy.sum(axis=1)) < 1e-9 * trajectory.energy[:, 0].max()
    gaps = [tree_gap(robot.system, whole)[0].metres for whole in trajectory.joint_position]
    assert len(gaps) > 100 and max(gaps) < 1e-12


def test_dry_friction_inside_a_loop() -> None:
    """What the slider rubs off, the crank feels by a ratio that changes as it turns."""
    robot = own_robot("slider_crank", ('damping="4"', 'damping="4" friction="6"'))
    trajectory = mbdyn_ros.simulate(robot, [robot.home["crank_joint"]], [20.0], 10.0)
    assert trajectory.relative_imbalance < 1e-8
    assert trajectory.v[-1, 0] == 0 and trajectory.transitions[-1].mode == "sticks"
    sliding = np.abs(trajectory.v[:, 0]) > 1e-6
    ours = robot.forward_dynamics(
        trajectory.q[sliding], trajectory.v[sliding], trajectory.effort[sliding]
    )
    np.testing.assert_allclose(trajectory.a[sliding], ours, rtol=1e-8, atol=1e-8)
    held = robot.inverse_dynamics(trajectory.q[-1], [0.0], [0.0], friction=False)
    creeping = robot.friction_vector(trajectory.q[-1], [1e-300])
    assert np.abs(held) <= np.abs(creeping)


@pytest.mark.parametrize("rough", ["", '<dynamics damping="0.01" friction="0.05"/>'])
def test_efforts_may_act_elsewhere(rough: str) -> None:
    """The crank drives, the rocker is the coordinate: the same motion as with the crank's."""
    rub = ("<axis xyz", f"{rough}<axis xyz")
    crank = own_robot("four_bar", rub)
    swapped = mbdyn_ros.load(
        re.sub(r' independent="\w+"', "", FOUR_BAR.read_text()).replace(*rub),
        mechanism="{independent: [rocker_joint], actuated: [crank_joint]}",
    )
    assert swapped.independent_joints == ("rocker_joint",)
    assert swapped.effort_labels == ("crank_joint",)
    q, v = [crank.home["crank_joint"]], [0.5]
    positions, velocities, _ = crank.joint_state(np.array(q), np.array(v))
    rocker = swapped.joint_names.index("rocker_joint")
    times = np.linspace(0, 0.2, 11)
    ours = mbdyn_ros.simulate(crank, q, v, 0.2, effort=[0.4], times=times)
    other = mbdyn_ros.simulate(
        swapped, positions[[rocker]], velocities[[rocker]], 0.2, effort=[0.4], times=times
    )
    angles, _, _ = crank.joint_state(ours.q)
    np.testing.assert_allclose(other.q[:, 0], angles[:, rocker], atol=1e-9)
    np.testing.assert_allclose(other.work, ours.work, atol=1e-9)
    assert other.relative_imbalance < 1e-9


def test_cylinder_in_line_with_its_pins_is_passed() -> None:
    """The boom falls on where its cylinder's stroke stands still, a dead centre of the rod."""
    robot = own_robot("boom")
    with pytest.warns(mbdyn_ros.SimulationWarning, match="rod_joint.*dead centre"):
        trajectory = mbdyn_ros.simulate(robot, [0.0], [0.0], 2.0, joint_limits=False)
    assert trajectory.time[-1] == 2.0 and trajectory.relative_imbalance < 1e-9


def test_open_loop_is_refused_at_the_start() -> None:
    with pytest.raises(mbdyn_ros.InputError, match="cannot be closed"):
        mbdyn_ros.simulate(own_robot("boom"), [2.0], [0.0], 1.0)


def test_robot_without_joints_stays() -> None:
    trajectory = mbdyn_ros.simulate(robot_of(), [], [], 1.0)
    assert trajectory.q.shape == (len(trajectory), 0)
    assert mbdyn_ros.simulate(cart(), [0.5], [0.1], 0.0).q.tolist() == [[0.5]]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(q0=[0.0, 0.0, 0.0]), ["initial position", "shoulder, elbow"]),
        (dict(q0=[0.0, np.nan]), ["initial position of elbow is nan"]),
        (dict(v0=[[0.0, 0.0]]), ["initial velocity"]),
        (dict(v0=[np.inf, 0.0]), ["initial velocity of shoulder is inf"]),
        (dict(duration=-1.0), ["duration", "-1"]),
        (dict(duration=np.nan), ["duration", "nan"]),
        (dict(rtol=0.0), ["rtol"]),
        (dict(atol=-1.0), ["atol"]),
        (dict(effort=[1.0]), ["effort", "shoulder, elbow"]),
        (dict(effort=[1.0, np.nan]), ["effort of elbow is nan"]),
        (dict(effort="strong"), ["effort must be numbers"]),
        (dict(environment=object()), ["must be an Environment"]),
        (dict(times=[0.0, 2.0]), ["times run from 0 to 2 s"]),
        (dict(times=[0.5, 0.2]), ["rise"]),
        (dict(max_step=0.0), ["max_step"]),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], words: list[str]) -> None:
    full = dict(q0=[0.0, 0.0], v0=[0.0, 0.0], duration=1.0) | arguments
    with pytest.raises(mbdyn_ros.InputError) as caught:
        mbdyn_ros.simulate(double_pendulum(), **full)  # type: ignore[arg-type]
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "effort, words",
    [
        (lambda t, q, v: [0.0, np.nan if t > 0.5 else 0.0], ["returned nan for elbow"]),
        (lambda t, q, v: [0.0] * (2 if t < 0.5 else 3), ["expected 2 numbers", "shoulder, elbow"]),
        (lambda t, q, v: [0.0, 1.0] if t < 0.5 else None, ["None"]),
        (lambda t, q, v: [0.0, 1 / (t < 0.5)], ["ZeroDivisionError"]),
        (lambda t, q, v: 1e9 * np.tan(v) ** 3, ["t = "]),
    ],
)
def test_failure_keeps_the_trajectory(effort: object, words: list[str]) -> None:
    with pytest.raises(mbdyn_ros.SimulationError) as caught:
        mbdyn_ros.simulate(double_pendulum(), [0.1, 0.2], [0.3, 0.0], 1.0, effort=effort)
    message, kept = str(caught.value), caught.value.trajectory
    assert "t = " in message and "q = [" in message
    assert all(word in message for word in words), message
    assert len(kept) == len(kept.energy) == len(kept.a)
    assert f"t = {kept.time[-1]:.9g} s" in message


def test_massless_link_is_refused_by_name() -> None:
    robot = robot_of('<link name="ghost"/>', joint("hinge", "world", "ghost"))
    with pytest.raises(mbdyn_ros.SingularMassMatrixError, match="ghost"):
        mbdyn_ros.simulate(robot, [0.0], [0.0], 1.0)


def test_progress_is_reported() -> None:
    reported: list[float] = []
    mbdyn_ros.simulate(double_pendulum(), [1.0, 0.0], [0.0, 0.0], 1.0, progress=reported.append)
    assert reported == sorted(reported) and reported[-1] == 1.0


def test_dry_friction_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its solver is compiled, also where programs are interpreted."""
    rough = double_pendulum('<dynamics friction="0.4"/>', "")
    kept = toolchain_cpp, events, solver
    monkeypatch.setenv("CXX", "none-such")
    for one in kept:
        one.cache_clear()
    try:
        with pytest.raises(mbdyn_ros.SimulationError, match=r"\(Debian and Ubuntu: g\+\+\)"):
            mbdyn_ros.simulate(rough, [1.0, 0.0], [0.0, 0.0], 1.0)
        assert len(mbdyn_ros.simulate(double_pendulum(), [1.0, 0.0], [0.0, 0.0], 0.1)) > 1
    finally:
        for one in kept:
            one.cache_clear()
