"""Closed loops of every kind against Pinocchio's tree and a null space (see `loop_judge`)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from interpreting import compiling
from loop_judge import across
from random_loops import FREE, KINDS, LoopPair, Mechanism, draw, four_bar, kinds
from random_robots import assert_close

import mbdyn_ros

Array = np.ndarray
CLOSE = 1e-9
STEP = 5e-4
STENCIL = {1: 5 / 6, 2: -5 / 21, 3: 5 / 84, 4: -5 / 504, 5: 1 / 1260}
"""Central difference of order ten: weights of f(k h) - f(-k h)."""


pytestmark = [pytest.mark.usefixtures("interpreted_module"), pytest.mark.sparse(first=0, of=6)]
OTHERS = (
    "double-crank", "double-rocker", "triple-rocker", "branches", "Watt", "chain",
    "spatial fixed", "spatial revolute", "spatial prismatic", "spatial spherical",
)  # fmt: skip
"""Kinds like others, of which a look at the efforts is enough where time is short."""


@pytest.fixture(scope="module", params=kinds(*OTHERS))
def pair(request: pytest.FixtureRequest) -> LoopPair:
    return draw(request.param, 0).pair()


@pytest.fixture(scope="module")
def motion(pair: LoopPair) -> tuple[Array, ...]:
    return pair.state(1)


def derivative(values: Array) -> Array:
    """d/dt at 0 of values at t = -5 h .. 5 h."""
    return sum(w * (values[5 + k] - values[5 - k]) for k, w in STENCIL.items()) / STEP


# -- one kind after the other ----------------------------------------------------------------------


@pytest.mark.sparse(of=6)
def test_loops_close(pair: LoopPair) -> None:
    """At random places, by the poses of the links and nothing else."""
    robot = pair.robot
    for seed in range(3):
        q = pair.state(seed)[0]
        for loop in robot.model.loops:
            one = robot.frame_pose(q, loop.predecessor) @ loop.predecessor_frame.matrix()
            two = robot.frame_pose(q, loop.successor) @ loop.successor_frame.matrix()
            relative = np.linalg.inv(one) @ two
            e3 = np.array(loop.axis)
            e1, e2 = across(e3)
            turn, shift = relative[:3, :3], relative[:3, 3]
            free = FREE[loop.type]
            held = [e for e, letter in ((e1, "x"), (e2, "y"), (e3, "z")) if letter not in free]
            assert all(abs(e @ shift) <= 1e-12 for e in held)
            if free in ("t", "tz", "txy"):
                assert np.abs(turn @ e3 - e3).max() <= 1e-12
            elif free == "bc":
                assert abs(e1 @ turn @ e2) <= 1e-12
            elif free in ("", "z"):
                assert np.abs(turn - np.eye(3)).max() <= 1e-12
        state = pair.judge.at(pair.whole(q))
        assert np.abs(state.residual).max(initial=0.0) <= 1e-12
        assert len(state.v) - state.rank == robot.nv


@pytest.mark.sparse(of=6)
def test_joint_motion(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    q, v, a, _ = motion
    _, embedding, drift = pair.judged(q, v)
    _, velocity, acceleration = pair.robot.joint_state(q, v, a)
    base = pair.judge.base
    assert_close(velocity, (embedding @ v)[base:], CLOSE)
    assert_close(acceleration, (embedding @ a + drift)[base:], CLOSE)
    assert_close(pair.robot.independent_state(pair.whole(q)), q, 1e-12)


@pytest.mark.sparse(of=6)
def test_dynamics(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    robot, (q, v, a, effort) = pair.robot, motion
    state, g, drift = pair.judged(q, v)
    mass = g.T @ state.mass @ g
    rest = g.T @ (state.bias + state.mass @ drift)
    loss, drive = g.T @ state.loss, g[pair.actuated]
    assert_close(robot.mass_matrix(q), mass, CLOSE)
    assert_close(robot.gravity_vector(q), g.T @ state.gravity, CLOSE)
    assert_close(
        robot.coriolis_vector(q, v), rest - g.T @ state.gravity, CLOSE, floor=np.abs(rest).max()
    )
    assert_close(robot.friction_vector(q, v), loss, CLOSE, floor=1.0)

    needed = mass @ a + rest + loss
    found = robot.inverse_dynamics(q, v, a)
    assert_close(found, np.linalg.solve(drive.T, needed), CLOSE)
    assert_close(robot.forward_dynamics(q, v, found), a, 1e-11)
    expected = np.linalg.solve(mass, drive.T @ effort - rest - loss)
    assert_close(robot.forward_dynamics(q, v, effort), expected, CLOSE)

    judge = pair.judge
    x, rate = judge.position(state.x), judge.velocity(g @ v)
    kinetic, potential = robot.energy(q, v)
    assert_close(kinetic, pin.computeKineticEnergy(judge.pin, judge.data, x, rate), CLOSE)
    expected = pin.computePotentialEnergy(judge.pin, judge.data, x)
    assert_close(potential, expected, CLOSE, floor=1.0)


@pytest.mark.sparse(of=6)
def test_loop_forces(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    """What the joints miss for the motion, friction in passive joints too, the loops carry."""
    q, v, a, _ = motion
    state, g, drift = pair.judged(q, v)
    needed = state.efforts(g @ a + drift)
    given = np.zeros(len(needed))
    given[pair.actuated] = np.linalg.solve(g[pair.actuated].T, g.T @ needed)
    expected = state.loop_forces(needed - given)
    found = pair.robot.loop_forces(q, v, a)
    assert set(found) == set(expected)
    scale = max([np.abs(one).max() for one in expected.values()], default=1.0)
    for name, wrench in expected.items():
        assert_close(found[name], wrench, CLOSE, floor=scale)


@pytest.mark.sparse(of=6)
def test_wrenches_from_outside(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    robot, (q, v, a, effort) = pair.robot, motion
    random = np.random.default_rng(2)
    names = random.choice([link.name for link in robot.model.links], 2, replace=False)
    wrenches = {str(name): random.normal(size=6) * 20 for name in names}
    state, g, drift = pair.judged(q, v)
    drive = g[pair.actuated]
    needed = g.T @ state.efforts(g @ a + drift, wrenches)
    assert_close(robot.inverse_dynamics(q, v, a, wrenches), np.linalg.solve(drive.T, needed), CLOSE)
    without = robot.forward_dynamics(q, v, effort)
    rows = g.T @ (state.efforts(g @ without + drift, wrenches)) - drive.T @ effort
    change = np.linalg.solve(g.T @ state.mass @ g, -rows)
    found = robot.forward_dynamics(q, v, effort, wrenches)
    assert_close(found, without + change, CLOSE, floor=np.abs(without).max())


@pytest.mark.sparse(of=6)
def test_links_move_as_their_jacobians_say(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    q, v, _, _ = motion
    _, g, _ = pair.judged(q, v)
    judge, x = pair.judge, pair.judge.position(pair.whole(q))
    pin.framesForwardKinematics(judge.pin, judge.data, x)
    for link in pair.robot.model.links[-3:]:
        frame = judge.pin.getFrameId(link.name, pin.BODY)
        full = pin.computeFrameJacobian(judge.pin, judge.data, x, frame, pin.LOCAL_WORLD_ALIGNED)
        assert_close(pair.robot.jacobian(q, link.name), full[:, judge.rows] @ g, CLOSE, floor=1.0)
        pin.framesForwardKinematics(judge.pin, judge.data, x)
        pose = judge.data.oMf[frame].homogeneous
        assert_close(pair.robot.frame_pose(q, link.name), pose, 1e-12)


def test_power_balance(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    """What the actuators give is what the energy gains and friction loses.

    The energy is differentiated along a parabola, whose every point is closed anew.
    """
    robot, (q, v, a, _) = pair.robot, motion
    if robot.floating_base:
        pytest.skip("a floating base does not move along parabolas")
    t = STEP * np.arange(-5, 6)[:, None]
    path, rate = q + v * t + a * t**2 / 2, v + a * t
    growth = derivative(sum(robot.energy(path, rate)))
    state, g, _ = pair.judged(q, v)
    lost = state.loss @ (g @ v)
    power = robot.inverse_dynamics(q, v, a) @ (g @ v)[pair.actuated]
    scale = np.abs(robot.inverse_dynamics(q, v, a)) @ np.abs((g @ v)[pair.actuated])
    assert abs(power - growth - lost) <= 1e-10 * max(scale, abs(growth), 1.0)
    assert_close(v @ robot.friction_vector(q, v), lost, CLOSE, floor=1.0)


def test_statics(pair: LoopPair, motion: tuple[Array, ...]) -> None:
    """At rest the efforts are the slope of the potential energy."""
    robot, (q, _, _, _) = pair.robot, motion
    if robot.floating_base:
        pytest.skip("a floating base does not move along lines")
    rest = np.zeros(robot.nv)
    _, g, _ = pair.judged(q, rest)
    drive = g[pair.actuated]
    steps = STEP * np.arange(-5, 6)[:, None]
    slope = [derivative(robot.energy(q + steps * e, rest)[1]) for e in np.eye(robot.nq)]
    assert_close(robot.gravity_vector(q), slope, 1e-10, floor=10.0)
    held = robot.inverse_dynamics(q, rest, rest)
    assert_close(drive.T @ held, slope, 1e-10, floor=10.0)
    assert np.abs(robot.forward_dynamics(q, rest, held)).max() <= 1e-9


# -- more of them, quickly -------------------------------------------------------------------------


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        *((kind, 1) for kind in OTHERS),
        *(
            pytest.param(kind, seed, marks=pytest.mark.long)
            for kind in KINDS for seed in (1, 2) if seed == 2 or kind not in OTHERS
        ),
    ],
)  # fmt: skip
def test_inverse_dynamics_of_more_mechanisms(kind: str, seed: int) -> None:
    pair = draw(kind, seed).pair()
    q, v, a, _ = pair.state(seed)
    state, g, drift = pair.judged(q, v)
    expected = np.linalg.solve(g[pair.actuated].T, g.T @ state.efforts(g @ a + drift))
    assert_close(pair.robot.inverse_dynamics(q, v, a), expected, CLOSE)


@pytest.mark.parametrize(
    "kind",
    ["Stephenson", pytest.param("chain", marks=pytest.mark.long), "spatial cylindrical"],
)
def test_compiled_programs_and_batches(kind: str) -> None:
    """C gives what the interpreter gives; many states, in any order, what each gives alone."""
    mechanism = draw(kind, 0)
    pair = mechanism.pair()
    slow = pair.robot
    states = [pair.state(seed) for seed in range(6)]
    q, v, a, effort = (np.array(column) for column in zip(*states, strict=True))
    with compiling():
        fast = mechanism.load()
        fast.compile("inverse_dynamics", "forward_dynamics")
    for method, last in (("inverse_dynamics", a), ("forward_dynamics", effort)):
        singles = np.array([getattr(fast, method)(*row) for row in zip(q, v, last, strict=True)])
        assert_close(singles, getattr(slow, method)(q, v, last), 1e-10)
        assert_close(getattr(fast, method)(q[::-1], v[::-1], last[::-1])[::-1], singles, 1e-11)
        assert_close(getattr(fast, method)(q, v[0], last[0])[0], singles[0], 1e-11)
        bound = fast.bind(method)
        for k in (3, 0, 5):
            for array, value in zip(bound.arguments, (q, v, last), strict=True):
                array[:] = value[k]
            bound()
            assert_close(bound.result, singles[k], 1e-11)


def test_batches_of_everything() -> None:
    pair = draw("Watt", 0).pair()
    states = [pair.state(seed) for seed in range(3)]
    q, v, a, _ = (np.array(column) for column in zip(*states, strict=True))
    robot = pair.robot
    many = robot.loop_forces(q, v, a)
    kinetic, potential = robot.energy(q, v)
    positions, velocities, accelerations = robot.joint_state(q, v, a)
    for k, row in enumerate(zip(q, v, a, strict=True)):
        for name, wrench in robot.loop_forces(*row).items():
            assert_close(many[name][k], wrench, 1e-11)
        assert_close((kinetic[k], potential[k]), robot.energy(*row[:2]), 1e-11)
        for batch, single in zip(
            (positions, velocities, accelerations), robot.joint_state(*row), strict=True
        ):
            assert_close(batch[k], single, 1e-11)


def test_more_actuators_than_needed_share_by_least_norm() -> None:
    m = Mechanism(np.random.default_rng(3), losses=False)
    four_bar(m, (0.4, 1.0, 0.8, 0.9))
    assert m.choose(1)
    names = [joint.name for joint in m.joints]
    m.actuated = names[::-1]
    pair = m.pair()
    q, v, a = np.array([m.home[m.independent[0]]]), np.array([0.7]), np.array([-1.1])
    state, g, drift = pair.judged(q, v)
    needed = g.T @ state.efforts(g @ a + drift)
    found = pair.robot.inverse_dynamics(q, v, a)
    drive = g[[names.index(name) for name in m.actuated]]
    assert_close(found, np.linalg.lstsq(drive.T, needed, rcond=None)[0], CLOSE)
    assert_close(pair.robot.forward_dynamics(q, v, found), a, 1e-12)


def test_fewer_actuators_than_needed_have_no_inverse_dynamics() -> None:
    m = draw("nested", 0)
    m.actuated = m.actuated[:1] if m.actuated else None
    robot = m.load()
    q, v = np.array([m.home[name] for name in robot.independent_joints]), np.zeros(2)
    idle = next(one for one in robot.independent_joints if one not in m.actuated)
    with pytest.raises(
        mbdyn_ros.InputError,
        match=f"2 coordinates move.*at 1 .*{m.actuated[0]}.*forward dynamics.*such as .*{idle}.*"
        "robot.locked",
    ):
        robot.inverse_dynamics(q, v, v)
    with pytest.raises(mbdyn_ros.InputError, match="name more actuated joints"):
        robot.bind("inverse_dynamics")
    assert np.isfinite(robot.forward_dynamics(q, v, np.array([3.0]))).all()
