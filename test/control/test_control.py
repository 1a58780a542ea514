"""Control laws: the loops they close, changes of mode without a jump, sampled stability."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import yaml
from corpus import urdf_file
from night import at_night

import mbdyn_ros
from mbdyn_ros.control import Controller, complaint, default_gains, growth
from mbdyn_ros.model.examples import CART
from mbdyn_ros.model.read.installed import find_robot

pytestmark = pytest.mark.usefixtures("interpreted")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def ur5() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(urdf_file("ur5_robot.urdf"))


@pytest.fixture(scope="module")
def panda() -> mbdyn_ros.Robot:
    """Seven joints: one more than its hand has ways to move."""
    return mbdyn_ros.load(urdf_file("panda.urdf"))


@pytest.fixture(scope="module")
def crane() -> mbdyn_ros.Robot:
    """Two closed loops."""
    return mbdyn_ros.load(ROOT / "urdf" / "manipulator.urdf")


@pytest.fixture
def cart() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(CART)  # 2 kg on a rail


def excited(control: Controller, seed: int) -> Controller:
    """The controller at a random state, that wants another one to go on from."""
    random = np.random.default_rng(seed)
    robot, n = control.robot, control.robot.nv
    home = np.asarray(robot.home_position)
    control.q[:], control.v[:] = home + random.uniform(-0.1, 0.1, n), random.uniform(-1, 1, n)
    control.switch(control.mode)
    for one in (control.wanted_v, control.wanted_a, control.twist, control.twist_rate):
        one[:] = random.uniform(-1, 1, len(one))
    control.wanted_q += random.uniform(-0.2, 0.2, n)
    control.posture += random.uniform(-0.2, 0.2, n)
    control.place += random.uniform(-0.1, 0.1, 3)
    control.turn += random.uniform(-0.1, 0.1, 4)
    control.turn /= np.linalg.norm(control.turn)
    control.enforced = False
    control.rest()
    return control


def test_computed_torque_makes_errors_linear(ur5: mbdyn_ros.Robot) -> None:
    """By Pinocchio's forward dynamics: a = a_w + Kp e + Kd e'."""
    control = Controller(ur5)
    control.set_gains(kp=[100.0, 90, 80, 70, 60, 50], kd=[20.0])
    control.switch("computed_torque")
    excited(control, 0)
    model = pinocchio.buildModelFromUrdf(str(urdf_file("ur5_robot.urdf")))
    effort = control.cycle(0.0)
    found = pinocchio.aba(model, model.createData(), control.q, control.v, effort)
    error, rate = control.wanted_q - control.q, control.wanted_v - control.v
    expected = control.wanted_a + np.array([100, 90, 80, 70, 60, 50]) * error + 20 * rate
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_joint_impedance_is_passive(ur5: mbdyn_ros.Robot) -> None:
    """The energy of errors falls as the dampers take it, by Pinocchio's M and forward dynamics."""
    control = Controller(ur5)
    control.set_gains(joint_stiffness=[300.0], joint_damping=[30.0])
    control.switch("joint_impedance")
    excited(control, 1)
    model = pinocchio.buildModelFromUrdf(str(urdf_file("ur5_robot.urdf")))
    data = model.createData()
    a = pinocchio.aba(model, data, control.q, control.v, control.cycle(0.0))
    error, rate = control.wanted_q - control.q, control.wanted_v - control.v

    def energy(t: float) -> float:
        q = control.q + t * control.v + t * t / 2 * a
        e = error + t * rate + t * t / 2 * (control.wanted_a - a)
        inertia = np.array(pinocchio.crba(model, data, q))
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        w = rate + t * (control.wanted_a - a)
        return float(w @ inertia @ w + 300 * e @ e) / 2

    slope = (energy(1e-5) - energy(-1e-5)) / 2e-5
    assert slope == pytest.approx(-30 * rate @ rate, rel=1e-6)


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["ur5", "panda", "crane"])
def test_cartesian_impedance(name: str, request: pytest.FixtureRequest) -> None:
    """The link moves as its inertia between springs, whatever the posture asks for.

    The crane's tool cannot be moved in all directions: what it feels is reported in those it has.
    """
    robot = request.getfixturevalue(name)
    link = {"ur5": "tool0", "panda": "panda_link8", "crane": "tool"}[name]
    control = Controller(robot, link)
    control.set_gains(
        link_stiffness=[800.0, 700, 600, 50, 40, 30], link_damping=[80.0, 70, 60, 5, 4, 3],
        posture_stiffness=[40.0], posture_damping=[4.0],
    )  # fmt: skip
    control.switch("cartesian_impedance")
    excited(control, 2)
    q, v = control.q, control.v
    a = robot.forward_dynamics(q, v, control.cycle(0.0), friction=False)
    columns = robot.jacobian(q, link)
    pose = robot.frame_pose(q, link)
    wanted = pinocchio.Quaternion(*control.turn[[3, 0, 1, 2]]).matrix()
    turn = pinocchio.log3(wanted @ pose[:3, :3].T)
    angle = np.linalg.norm(turn)
    turn *= 2 * np.sin(angle / 2) / angle
    force = np.array([800.0, 700, 600, 50, 40, 30]) * np.append(control.place - pose[:3, 3], turn)
    force += np.array([80.0, 70, 60, 5, 4, 3]) * (control.twist - columns @ v)
    mobility = columns @ robot.inverse_mass_matrix(q) @ columns.T
    expected = mobility @ force
    drift = robot.frame_acceleration(q, v, np.zeros(robot.nv), link)
    reach = mobility @ np.linalg.pinv(mobility + 1e-6 * np.trace(mobility) / 6 * np.eye(6))
    expected += reach @ (control.twist_rate - drift) + drift
    found = robot.frame_acceleration(q, v, a, link)
    np.testing.assert_allclose(found, expected, atol=2e-4 * np.abs(expected).max())


def test_the_posture_is_reached_beside_the_task(panda: mbdyn_ros.Robot) -> None:
    """The seventh freedom of the arm moves; its hand stays."""
    control = Controller(panda, "panda_link8")
    control.set_gains(
        link_stiffness=[2000.0, 2000, 2000, 100, 100, 100], link_damping=[100.0, 100, 100, 2, 2, 2],
        posture_stiffness=[20.0], posture_damping=[5.0],
    )  # fmt: skip
    control.q[:7] = 0.1, 0.3, -0.2, -1.8, 0.3, 1.9, 0.5
    control.switch("cartesian_impedance")
    control.posture[0] += 0.3
    start = panda.frame_pose(control.q, "panda_link8")
    before = np.abs(control.posture - control.q).max()
    for _ in range(1000):
        a = panda.forward_dynamics(control.q, control.v, control.cycle(0.0), friction=False)
        control.v += 1e-3 * a
        control.q += 1e-3 * control.v
    assert np.abs(panda.frame_pose(control.q, "panda_link8") - start).max() < 2e-3
    assert np.abs(control.q - panda.home_position).max() > 0.1
    assert np.abs(control.posture[:7] - control.q[:7]).max() < 0.9 * before


@pytest.mark.parametrize("turn", [0.1, 1.0, 3.1, -3.1])
def test_the_error_of_orientation_is_the_shortest_way(turn: float) -> None:
    """Also where the quaternion's sign is the other one, and beyond half a turn."""
    robot = mbdyn_ros.load(CART.replace('"prismatic"', '"continuous"'))
    control = Controller(robot, "cart")
    control.set_gains(link_stiffness=[1.0])
    control.switch("cartesian_impedance")
    axis = np.array([1.0, 0, 0])
    for sign in (1, -1):
        control.turn[:] = sign * np.append(np.sin(turn / 2) * axis, np.cos(turn / 2))
        effort = control.cycle(0.0)
        assert effort == pytest.approx([2 * np.sin(turn / 2)], abs=1e-12)


def test_loops_follow_through_their_actuators(crane: mbdyn_ros.Robot) -> None:
    control = Controller(crane)
    control.set_gains(kp=[100.0], kd=[20.0])
    control.switch("computed_torque")
    excited(control, 3)
    a = crane.forward_dynamics(control.q, control.v, control.cycle(0.0), friction=False)
    expected = control.wanted_a + 100 * (control.wanted_q - control.q)
    expected += 20 * (control.wanted_v - control.v)
    friction = crane.friction_vector(control.q, control.wanted_v)
    expected += np.linalg.solve(crane.mass_matrix(control.q), friction)
    np.testing.assert_allclose(a, expected, atol=1e-8 * np.abs(expected).max())
    held = Controller(crane)
    held.q[:] = control.q
    a = crane.forward_dynamics(held.q, np.zeros(4), held.cycle(0.0))
    np.testing.assert_allclose(a, 0, atol=1e-9)


def test_modes_change_without_a_jump(ur5: mbdyn_ros.Robot) -> None:
    """In the middle of errors, twice within one fading, and with gains that change."""
    control = Controller(ur5, "tool0", fading=0.3)
    control.set_gains(kp=[400.0], kd=[40.0], joint_stiffness=[500.0], link_stiffness=[1000.0])
    control.switch("computed_torque")
    control.q[:] = 0.3, -1.0, 1.2, -0.4, 0.7, 0.1
    control.capture()
    control.wanted_q += 0.05
    sent, now = [control.cycle(0.0).copy()], 0.0
    assert np.abs(sent[0] - ur5.gravity_vector(control.q)).max() > 5  # at once where it was at rest
    modes = {100: "gravity_compensation", 500: "cartesian_impedance", 600: "joint_impedance"}
    for k in range(1, 1400):
        now += 1e-3
        if k in modes:
            control.switch(modes[k])
        if k == 1000:
            control.wanted_q += 0.0
            control.set_gains(joint_stiffness=[900.0])
        control.q += 1e-5 * np.sin(now * np.arange(1, 7))
        sent.append(control.cycle(now).copy())
    jumps = np.abs(np.diff(sent, axis=0)).max(axis=1)
    assert jumps.max() < 0.01 * np.abs(sent[100] - sent[450]).max()
    np.testing.assert_allclose(sent[450], ur5.gravity_vector(control.q), atol=1)


def test_efforts_are_clamped_and_reported(cart: mbdyn_ros.Robot) -> None:
    control = Controller(cart)
    control.bound[:] = 5.0
    control.set_gains(kp=[100.0])
    control.switch("computed_torque")
    control.wanted_q[:] = 1.0
    assert control.cycle(0.0) == [5.0]
    assert control.farthest() == ("rail", 1.0)
    assert control.saturated() == ["rail (200 wanted, 5 allowed)"] and not control.saturated()
    control.enforced = False
    assert control.cycle(0.0) == [200.0]


def sampled_growth(robot: mbdyn_ros.Robot, kp: float, kd: float, period: float) -> float:
    """Growth (1/s) of a cart on a spring law, sampled with a period's delay, found by stepping."""
    x, v, held, sizes = 1e-3, 0.0, 0.0, []
    for _ in range(600):
        wanted = -2.0 * (kp * x + kd * v)
        a = held / 2.0
        x, v, held = x + v * period + a * period**2 / 2, v + a * period, wanted
        sizes.append(np.hypot(x, v * period))
    half = len(sizes) // 2
    return float(np.log(max(sizes[-50:]) / max(sizes[half - 50 : half])) / (half * period))


@pytest.mark.parametrize(("kp", "kd"), [(400.0, 40.0), (100.0, 2.0), (4e3, 60.0), (1e4, 5.0)])
def test_eigenvalues_of_the_sampled_loop(cart: mbdyn_ros.Robot, kp: float, kd: float) -> None:
    """Their size is the growth of the loop, stable or not."""
    control = Controller(cart)
    control.set_gains(kp=[kp], kd=[kd])
    control.switch("computed_torque")
    found = growth(control.eigenvalues(0.005), 0.005)
    assert found == pytest.approx(sampled_growth(cart, kp, kd, 0.005), rel=0.05, abs=0.2)
    assert bool(complaint(control.eigenvalues(0.005), 0.005)) == (found > 1)


def test_eigenvalues_of_an_arm(ur5: mbdyn_ros.Robot) -> None:
    """Computed torque makes each joint a mass of its own: the eigenvalues are those of one."""
    control = Controller(ur5)
    control.q[:] = 0.3, -1.0, 1.2, -0.4, 0.7, 0.1
    control.set_gains(kp=[400.0], kd=[40.0])
    control.switch("computed_torque")
    found = control.twin().eigenvalues(0.002)
    n, t = 6, 0.002
    one = np.linalg.eigvals([[1, t, t * t / 2], [0, 1, t], [-400, -40, 0]])
    expected = np.repeat(one[np.argsort(-np.abs(one))], n)
    np.testing.assert_allclose(np.sort(np.abs(found)), np.sort(np.abs(expected)), atol=2e-3)
    assert not complaint(found, t)
    control.set_gains(kp=[1e5])
    assert "swings at" in complaint(control.eigenvalues(t), t)


def test_the_example_gains_are_stable() -> None:
    ur5 = mbdyn_ros.load(find_robot("ur5"))
    given = yaml.safe_load((ROOT / "config" / "computed_torque_ur5.yaml").read_text())
    gains = given["/**"]["computed_torque"]["ros__parameters"]
    period = 1 / gains.pop("rate")
    control, random = Controller(ur5, "tool0"), np.random.default_rng(4)
    control.set_gains(**gains)
    for mode in control.modes:
        for _ in range(5):
            control.q[:] = [0.0, -1.2, 1.4, -0.6, 0.5, 0.0] + random.uniform(-0.4, 0.4, 6)
            control.switch(mode)
            assert not complaint(control.eigenvalues(period), period)
    control.set_gains(guiding_damping=[5.0])  # too much for the wrist
    control.switch("gravity_compensation")
    assert "swings at" in complaint(control.eigenvalues(period), period)


@pytest.mark.sparse(first=0, of=6)
@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("boom", "load"), ("excavator", "bucket"), ("four_bar", "coupler"),
        ("gripper", "left_jaw"), ("manipulator", "tool"), ("panda", "panda_link8"),
        ("parallelogram_arm", "wrist"), ("quadruped", ""), ("slider_crank", "slider"),
        ("ur5", "tool0"), *at_night(("delta", ""), ("stewart", "")),
    ],
)  # fmt: skip
def test_gains_that_nobody_gave_are_stable(interpreted: None, name: str, link: str) -> None:
    """At the node's rate, in every mode, at home and in poses that the gains were not made for."""
    robot = mbdyn_ros.load(find_robot(name))
    period, control = 1 / 500, Controller(robot, link)
    given = default_gains(robot, 1 / period, link)
    control.set_gains(**given)
    for q in (robot.home_position, robot.random(8)):
        control.q[:] = q
        for mode in control.modes:
            control.switch(mode)
            assert not complaint(control.eigenvalues(period), period)
    control.set_gains(joint_damping=1000 * given["joint_damping"])
    control.switch("joint_impedance")
    assert complaint(control.eigenvalues(period), period)


def test_refusals(cart: mbdyn_ros.Robot) -> None:
    control = Controller(cart)
    for given, words in (
        ({"kp": [1.0, 2.0]}, "kp has 2 numbers; give none, one for all, or 1: rail"),
        ({"kp": [-1.0]}, "kp is .-1.0.: gains are 0 or more"),
        ({"ki": [1.0]}, "there is no gain 'ki'; there are guiding_damping, kp"),
    ):
        with pytest.raises(mbdyn_ros.InputError, match=words):
            control.set_gains(**given)
    with pytest.raises(mbdyn_ros.InputError, match="cartesian_impedance needs a link"):
        control.switch("cartesian_impedance")
    with pytest.raises(mbdyn_ros.InputError, match="there is no link 'hand'"):
        Controller(cart, "hand")
    with pytest.raises(mbdyn_ros.InputError, match="'world' is fixed to the world"):
        Controller(cart, "world")
    with pytest.raises(mbdyn_ros.InputError, match="without quaternions"):
        Controller(mbdyn_ros.load(CART, floating_base=True))
    control.set_gains(kp=[1.0])
    control.switch("computed_torque")
    control.set_gains(kp=[1e308])
    with pytest.raises(mbdyn_ros.InputError, match="its numbers are too large"):
        control.eigenvalues(0.01)
    control.set_gains(kp=[1.0])
    control.wanted_q[:] = np.inf
    with pytest.raises(mbdyn_ros.InputError, match="the effort of rail is inf"):
        control.cycle(0.0)


def test_what_is_assigned_to_a_controller_is_copied_or_refused(cart: mbdyn_ros.Robot) -> None:
    control = Controller(cart)
    control.set_gains(kp=[100.0], kd=[20.0])
    path = np.array([[0.1], [0.2]])
    control.wanted_q = path[0]
    control.switch("computed_torque")  # wants where it is: the path of the caller stays
    assert path[0, 0] == 0.1 and control.wanted_q[0] == 0.0
    control.wanted_q = [0.1]
    np.testing.assert_allclose(control.cycle(0.0), [20.0])
    with pytest.raises(mbdyn_ros.InputError, match=r"wanted_q has shape \(2,\)"):
        control.wanted_q = [0.1, 0.2]
    with pytest.raises(mbdyn_ros.InputError, match="mode of a Controller cannot be assigned: swit"):
        control.mode = "joint_impedance"
    with pytest.raises(mbdyn_ros.InputError, match="robot of a Controller"):
        control.robot = cart  # type: ignore[misc]
