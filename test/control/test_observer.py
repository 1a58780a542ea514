"""External efforts by the generalized momentum: programs, filters, and pushes that MuJoCo gives."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from night import at_night

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.control import Observer, wrench_at
from mbdyn_ros.equations.momentum import momentum_balance, payload_momentum
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.examples import CART
from mbdyn_ros.model.read.installed import find_robot

STEP = 1e-3
DELAY = 0.01
"""s, the observers' time constant."""

TOOLS = {"ur5": "tool0", "panda": "panda_link8", "crane": "tool", "excavator": "bucket",
         "delta": "platform", "quadruped": "front_left_foot"}  # fmt: skip


def box(name: str, **options: object) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(find_robot(name), **options)  # type: ignore[arg-type]


def state(robot: mbdyn_ros.Robot, seed: int = 0) -> tuple[Array, Array, Array]:
    """A random state near home, and efforts."""
    random = np.random.default_rng(seed)
    q = robot.integrate(robot.home_position, random.uniform(-0.05, 0.05, robot.nv))
    return q, random.uniform(-1, 1, robot.nv), random.uniform(-9, 9, len(robot.effort_labels))


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["ur5", "crane", *at_night("excavator", "delta")])
def test_the_momentum_and_its_rate(name: str, floating: bool) -> None:
    """M v, and d/dt (M v) = M a + (C + C^T) v at the accelerations of forward dynamics."""
    robot = box(name, floating_base=floating or None)
    q, v, effort = state(robot)
    balance = Bound(robot.calls.kernel(momentum_balance))
    balance.q[:], balance.v[:], balance.effort[:] = q, v, effort
    balance.held[:] = 0.5 * effort
    balance()
    mass, coriolis = robot.mass_matrix(q), robot.coriolis_matrix(q, v)
    a = robot.forward_dynamics(q, v, effort)
    expected = mass @ a + (coriolis + coriolis.T) @ v
    np.testing.assert_allclose(balance.result[:, 0], mass @ v, atol=1e-11 * np.abs(mass).max())
    np.testing.assert_allclose(balance.result[:, 2], expected, atol=1e-11 * np.abs(expected).max())
    balance.effort[:] = balance.held
    balance()
    np.testing.assert_allclose(balance.result[:, 1], balance.result[:, 2])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["ur5", "crane"])
def test_the_momentum_of_a_payload_is_linear(name: str) -> None:
    """Its parameters times their columns make what `set_payload` adds."""
    link = TOOLS[name]
    robot = box(name, variable=[link])
    q, v, effort = state(robot)
    balance, columns = (
        Bound(robot.calls.kernel(*one)) for one in ((momentum_balance,), (payload_momentum, link))
    )
    for one in (balance, columns):
        one.q[:], one.v[:] = q, v
    balance.effort[:] = effort
    balance()
    before = balance.result.copy()
    columns()
    center, moments = np.array([0.1, -0.05, 0.2]), np.diag([0.02, 0.03, 0.04])
    robot.set_payload(link, 3.0, center, moments)
    balance()
    about = moments + 3.0 * (center @ center * np.eye(3) - np.outer(center, center))
    payload = np.concatenate([[3.0], 3.0 * center, about[np.triu_indices(3)]])
    added = columns.result.reshape(-1, 2, 10)[:, [0, 1, 1]] @ payload
    np.testing.assert_allclose(balance.result - before, added, atol=1e-9 * np.abs(added).max())


def pushed_cart(variant: str, steps: Array, **options: float) -> Array:
    """External efforts of 2 kg that 6 N accelerate, after steps of time."""
    observer, time, result = Observer(mbdyn_ros.load(CART), DELAY, variant, **options), 0.0, []
    for step in (0.0, *steps):
        time += step
        observer.v[:] = 3.0 * time
        result.append(observer.cycle(time)[0])
    return np.array(result[1:])


def test_the_first_order_is_exactly_its_exponential() -> None:
    """At any step, also a longer one than its time constant, and at steps that change."""
    for steps in (np.full(60, 1e-3), np.tile([1e-3, 7e-3, 0.03], 5)):
        found = pushed_cart("first", steps)
        np.testing.assert_allclose(found, 6 * (1 - np.exp(-np.cumsum(steps) / DELAY)), atol=1e-9)


def test_the_second_order_does_not_depend_on_the_steps() -> None:
    """It is within 1 % three time constants after the push began, and stays there."""
    fine, coarse = (
        pushed_cart("second", np.full(count, 0.1 / count)) for count in (100, 20)
    )
    np.testing.assert_allclose(fine[4::5], coarse, atol=1e-9)
    assert np.abs(fine[29:] / 6 - 1).max() < 0.01 < abs(fine[24] / 6 - 1)


def test_the_kalman_filter_follows_its_noise() -> None:
    """More noise of the momentum makes it slower; it ends at the push."""
    quick, slow = (
        pushed_cart("kalman", np.full(300, 1e-3), deviation=noise, drift=10.0)
        for noise in (0.01, 0.1)
    )
    assert np.argmax(quick > 3) < np.argmax(slow > 3)
    np.testing.assert_allclose([quick[-1], slow[-1]], 6.0, rtol=2e-3)


def test_the_kalman_filter_is_that_of_its_noise() -> None:
    """Of all gains nearby its own leave the least error: simulated, with the noise that it has."""
    robot, random = mbdyn_ros.load(CART), np.random.default_rng(0)
    count, noise, drift = 5000, 0.05, 8.0
    push = np.cumsum(random.normal(size=count)) * drift * np.sqrt(STEP)
    momentum = np.cumsum(push) * STEP
    seen = momentum + noise * random.normal(size=count)
    errors = []
    for share in (0.4, 1.0, 2.5):
        observer = Observer(robot, variant="kalman", deviation=share * noise, drift=drift)
        found = []
        for k in range(count):
            observer.v[:] = seen[k] / 2
            found.append(observer.cycle(STEP * k)[0])
        errors.append(np.std(np.array(found) - push))
    assert errors[1] < min(errors[0], errors[2])


class Mujoco:
    """A tree that MuJoCo moves in samples of 1 ms."""

    def __init__(self, robot: mbdyn_ros.Robot, q: Array, path: Path) -> None:
        robot.save_mjcf(path)
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.timestep = STEP / 4
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.data, self.floating = mujoco.MjData(self.model), robot.floating_base
        self.data.qpos[:] = q
        if self.floating:
            self.data.qpos[3:7] = q[[6, 3, 4, 5]]
        mujoco.mj_forward(self.model, self.data)

    def state(self) -> tuple[Array, Array]:
        q, v = self.data.qpos.copy(), self.data.qvel.copy()
        if self.floating:
            q[3:7] = self.data.qpos[[4, 5, 6, 3]]
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, self.data.qpos[3:7])
            v[:3] = turn.reshape(3, 3).T @ v[:3]
        return q, v

    def advance(self, effort: Array, link: str, pose: Array, wrench: Array) -> None:
        """One sample on, under a wrench at a link's origin in world axes."""
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link)
        for _ in range(4):
            self.data.qfrc_applied[:] = effort
            mujoco.mj_applyFT(self.model, self.data, wrench[:3, None], wrench[3:, None],
                              pose[:3, 3:], body, self.data.qfrc_applied)  # fmt: skip
            mujoco.mj_step(self.model, self.data)


class Ours:
    """The same of closed loops: our simulator, whose dynamics MuJoCo and Pinocchio judge."""

    def __init__(self, robot: mbdyn_ros.Robot, q: Array, path: Path) -> None:
        self.stepper = mbdyn_ros.Stepper(robot, STEP / 4)
        self.stepper.set_state(q, np.zeros(robot.nv))

    def state(self) -> tuple[Array, Array]:
        return self.stepper.q.copy(), self.stepper.v.copy()

    def advance(self, effort: Array, link: str, pose: Array, wrench: Array) -> None:
        turned = wrench.reshape(2, 3) @ pose[:3, :3]
        self.stepper.effort[:] = effort
        self.stepper.wrenches = {link: turned.ravel()}
        self.stepper.advance(4)


def by_pinocchio(
    robot: mbdyn_ros.Robot, name: str, q: Array, v: Array, effort: Array, link: str, wrench: Array
) -> Array:
    """Accelerations of the independent joints by the KKT equations of Pinocchio's tree.

    Each loop is closed by the points of its frames; a wrench acts at a link's origin, world axes.
    """
    model = pin.buildModelFromUrdf(str(find_robot(name)))
    data, axes = model.createData(), pin.LOCAL_WORLD_ALIGNED
    positions, rates, _ = robot.joint_state(q, v)
    assert rates is not None
    x, dx, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    rows = {one: model.joints[model.getJointId(one)].idx_v for one in robot.joint_names}
    for one, position, rate in zip(robot.joint_names, positions, rates, strict=True):
        joint = model.joints[model.getJointId(one)]
        place = slice(joint.idx_q, joint.idx_q + joint.nq)
        x[place] = (np.cos(position), np.sin(position)) if joint.nq == 2 else position
        dx[joint.idx_v] = rate
    tau[[rows[one] for one in robot.actuated_joints]] = effort
    ends = []
    for loop in robot.model.loops:
        for body, pose in ((loop.predecessor, loop.predecessor_frame),
                           (loop.successor, loop.successor_frame)):  # fmt: skip
            frame = model.frames[model.getFrameId(body, pin.BODY)]
            place = frame.placement * pin.SE3(np.array(pose.rotation), np.array(pose.translation))
            added = pin.Frame(f"end {len(ends)}", frame.parentJoint, place, pin.OP_FRAME)
            ends.append(model.addFrame(added))
    data = model.createData()
    pin.forwardKinematics(model, data, x, dx, 0 * dx)
    pin.updateFramePlacements(model, data)
    pin.computeJointJacobians(model, data, x)
    at = model.getFrameId(link, pin.BODY)
    tau += pin.getFrameJacobian(model, data, at, axes).T @ wrench
    closing, drift = [], []
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        assert np.linalg.norm(data.oMf[a].translation - data.oMf[b].translation) < 1e-9
        columns = [pin.getFrameJacobian(model, data, one, axes)[:3] for one in (a, b)]
        moved = [pin.getFrameClassicalAcceleration(model, data, one, axes).linear for one in (a, b)]
        closing.append(columns[0] - columns[1])
        drift.append(moved[0] - moved[1])
    rigid = np.vstack(closing)
    mass, n = pin.crba(model, data, x), model.nv
    mass = np.triu(mass) + np.triu(mass, 1).T
    whole = np.block([[mass, rigid.T], [rigid, np.zeros((len(rigid), len(rigid)))]])
    bias = pin.nonLinearEffects(model, data, x, dx)
    right = np.concatenate([tau - bias, *(-one for one in drift)])
    found = np.linalg.lstsq(whole, right, rcond=1e-10)[0][:n]
    return found[[rows[one] for one in robot.independent_joints]]


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["crane", "excavator"])
def test_pushed_loops_move_as_pinocchio_says(name: str) -> None:
    """What `Ours` integrates in the tests of pushes."""
    robot, random = box(name), np.random.default_rng(4)
    link, wrench = TOOLS[name], np.array(PUSHES[name])
    for seed in range(3):
        q, v, _ = state(robot, seed)
        effort = robot.inverse_dynamics(q, v, random.normal(size=robot.nv), friction=False)
        turned = (wrench.reshape(2, 3) @ robot.frame_pose(q, link)[:3, :3]).ravel()
        found = robot.forward_dynamics(q, v, effort, wrenches={link: turned}, friction=False)
        expected = by_pinocchio(robot, name, q, v, effort, link, wrench)
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


WORLDS = {"ur5": Mujoco, "panda": Mujoco, "quadruped": Mujoco, "crane": Ours, "excavator": Ours,
          "delta": Ours}  # fmt: skip
STARTS = {"ur5": [0.0, -1.2, 1.4, -0.6, 1.1, 0.3], "panda": [0.1, 0.3, -0.2, -1.8, 0.3, 1.9, 0.5]}
PUSHES = {"crane": [300.0, -200, 400, 0, 0, 0], "excavator": [900.0, 500, -2000, 0, 0, 0],
          "delta": [3.0, -2, 4, 0, 0, 0], "quadruped": [3.0, -2, 4, 0.2, -0.1, 0.3]}  # fmt: skip


@pytest.mark.sparse(first=0)
@pytest.mark.parametrize(
    "name", ["ur5", "quadruped", "crane", *at_night("panda", "excavator", "delta")]
)
def test_a_push_on_a_moving_robot(name: str, tmp_path: Path) -> None:
    """Its wrench, or its force where joints are few, is within 1 % from three time constants on.

    Before it there is nothing but the integration error of efforts that are held.
    """
    floating = name == "quadruped"
    robot = box(name, floating_base=floating or None, variable=["armature"])
    for joint in robot.independent_joints if WORLDS[name] is Mujoco else ():
        robot.set_armature(joint, 0.1)  # as drives have it: wrists without take off like tops
    link, few = TOOLS[name], robot.nv < 6
    wrench = np.array(PUSHES.get(name, [12.0, -9, 14, 0.8, -0.5, 1.1]))
    size = np.linalg.norm(wrench)
    start = np.array(robot.home_position)
    start[7 * floating :] = STARTS.get(name, start[7 * floating :])
    world = WORLDS[name](robot, start, tmp_path / "robot.xml")
    observer = Observer(robot, DELAY / 2, held=True)
    inertia = robot.mass_matrix(start).diagonal()
    wanted = 0.1 * np.arange(robot.nv)
    errors, before = [], []
    for k in range(400):
        t = STEP * k
        q, v = world.state()
        error = 0.1 * np.sin(4 * t + wanted) - robot.difference(start, q)
        a = 400 * error - 40 * v
        effort = inertia * a if floating else robot.inverse_dynamics(q, v, a)
        effort[: 6 * floating] = 0.0
        observer.q[:], observer.v[:], observer.effort[:] = q, v, effort
        observer.cycle(t)
        if t >= 0.3 + 1.5 * DELAY:
            found = observer.wrench(link, moment=not few)
            assert found.rank == (3 if few else 6)
            scale = np.array([1.0, 1, 1, 4, 4, 4])  # torques by a lever of 0.25 m
            errors.append(np.linalg.norm(scale * (found.array - wrench)) / size)
        elif 0.1 < t < 0.3:
            before.append(observer.wrench(link, moment=not few).array / size)
        world.advance(effort, link, robot.frame_pose(q, link), wrench * (t >= 0.3))
    assert np.abs(before).max() < 1e-4
    assert len(errors) > 50 and max(errors) < 0.01


@pytest.fixture
def arm(interpreted: None) -> mbdyn_ros.Robot:
    return box("ur5", variable=["tool0", "friction"])


def at_rest(observer: Observer, q: list[float], begin: float, cycles: int = 50) -> None:
    """The robot is held there."""
    observer.q[:], observer.v[:] = q, 0.0
    observer.effort[:] = observer.robot.inverse_dynamics(q, np.zeros(6), np.zeros(6))
    for k in range(cycles):
        observer.cycle(begin + STEP * k)


def test_it_begins_without_a_bump(arm: mbdyn_ros.Robot) -> None:
    """Also after a gap, after time that goes back, and where the payload changes."""
    observer = Observer(arm)
    at_rest(observer, STARTS["ur5"], 0.0)
    assert np.abs(observer.external).max() < 1e-12
    for begin in (9.0, 3.0):
        at_rest(observer, [0.3, -1, 1, 0, 0, 0], begin)
        assert np.abs(observer.external).max() < 1e-12
    assert observer.restarts == 2
    arm.set_payload("tool0", 5.0)
    at_rest(observer, [0.3, -1, 1, 0, 0, 0], 3.05)
    assert np.abs(observer.external).max() < 1e-12 and observer.restarts == 2


def test_friction_that_runs_now_is_taken_off(arm: mbdyn_ros.Robot) -> None:
    """What is identified while the observer runs, too: somebody else moves the elbow against it."""
    observer = Observer(arm)
    arm.set_friction("elbow_joint", 2.0, 5.0)
    for k in range(200):
        q = np.array(STARTS["ur5"]) + [0, 0, 0.5 * STEP * k, 0, 0, 0]
        observer.q[:], observer.v[:] = q, [0, 0, 0.5, 0, 0, 0]
        observer.effort[:] = arm.inverse_dynamics(q, observer.v, np.zeros(6), friction=False)
        observer.cycle(STEP * k)
    np.testing.assert_allclose(observer.external, [0, 0, 6, 0, 0, 0], atol=1e-3)


def test_the_wrench_in_the_axes_of_its_link(arm: mbdyn_ros.Robot) -> None:
    """It is what inverse dynamics takes, wherever on the link it is given."""
    q, still, external = np.array(STARTS["ur5"]), np.zeros(6), np.array([3.0, -2, 1, 4, 2, 1])
    found = wrench_at(arm, q, external, "tool0", [0.1, -0.2, 0.3])
    bare = arm.inverse_dynamics(q, still, still)
    pushed = arm.inverse_dynamics(q, still, still, {"tool0": found.local})
    np.testing.assert_allclose(bare - pushed, external, atol=1e-10)


def test_what_a_link_leaves_undetermined_is_named(arm: mbdyn_ros.Robot) -> None:
    """Behind two joints two parts of six can be determined; the others are zero."""
    external = np.array([3.0, -2, 0, 0, 0, 0])
    found = wrench_at(arm, np.zeros(6), external, "upper_arm_link")
    assert found.rank == 2 and found.undetermined.sum() == pytest.approx(4)
    assert "does not determine force" in found.remark
    efforts = arm.jacobian(np.zeros(6), "upper_arm_link").T @ found.array
    np.testing.assert_allclose(efforts, external, atol=1e-12)
    np.testing.assert_allclose(found.left, 0, atol=1e-12)


def test_bad_input(arm: mbdyn_ros.Robot) -> None:
    """It is refused by its name; no effort comes out of nothing."""
    for options, words in (
        ({"time_constant": 0.0}, "must be above zero"),
        ({"time_constant": 1e-4}, "shorter than the step of samples"),
        ({"time_constant": [0.1, 0.1]}, "time_constant has shape"),
        ({"variant": "third"}, "there is no variant 'third'"),
        ({"variant": "kalman"}, "needs deviation"),
        ({"drift": 1.0}, "drift is for the variant kalman"),
    ):
        with pytest.raises(InputError, match=words):
            Observer(arm, **options)  # type: ignore[arg-type]
    observer = Observer(arm)
    at_rest(observer, STARTS["ur5"], 0.0)
    kept = observer.external.copy()
    for one, words in (
        (observer.effort, "effort of elbow_joint"), (observer.v, "velocity of elbow_joint")
    ):  # fmt: skip
        one[2] = np.nan
        with pytest.raises(InputError, match=words):
            observer.cycle(0.05)
        one[2] = 0.0
    np.testing.assert_array_equal(observer.external, kept)
    with pytest.raises(InputError, match="fill it in place"):
        observer.q = np.zeros(6)  # type: ignore[misc]
    with pytest.raises(InputError, match="is fixed to the world"):
        observer.wrench("base_link")
    with pytest.raises(InputError, match="there is no link 'elbow'"):
        observer.wrench("elbow")


def test_an_actuator_at_its_limit_is_reported(arm: mbdyn_ros.Robot) -> None:
    observer = Observer(arm)
    observer.effort[1] = -150.0
    assert observer.saturated() == ("shoulder_lift_joint",)
