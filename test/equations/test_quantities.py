"""Motion of frames, momentum, Coriolis matrix and inverses: Pinocchio's, on trees and on loops."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from corpus import label, readable_urdf_files
from robot_text import hinge_text

import mbdyn_ros
from mbdyn_ros import InputError, SingularMassMatrixError
from mbdyn_ros.robot import Robot

pin = pytest.importorskip("pinocchio")
from judge import Judge  # noqa: E402
from own_robots import OWN, assert_close  # noqa: E402

AXES = {"world": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL, "spatial": pin.WORLD}
QUICK = ("ur5_robot", "panda", "double_pendulum", "hyq_no_sensors", "iris")
"""Robots of the corpus that run every time, on one base each; the others take a minute."""

ROBOTS = [
    pytest.param(
        path,
        bool(place % 2),
        id=f"{label(path)}-{'floating' if place % 2 else 'fixed'}",
        marks=[] if path.stem in QUICK else pytest.mark.long,
    )
    for place, path in enumerate(readable_urdf_files())
]

LOOPS = [
    pytest.param(name, base, id=f"{name}-{'floating' if base else 'fixed'}")
    for name, base in (("boom", True), ("manipulator", False), ("parallelogram_arm", False))
]




@pytest.mark.sparse(of=6)
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("path", "floating_base"), ROBOTS)
def test_trees_agree_with_pinocchio(path: Path, floating_base: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        robot = mbdyn_ros.load(path, floating_base=floating_base)
    judge = Judge(str(path), robot.model, floating_base)
    q, v, a = judge.random_state(3)
    if not robot.nv:
        return
    state = judge.position(q), judge.matrix @ v, judge.matrix @ a
    check_motion(robot, judge, (q, v, a), state, judge.matrix)
    coriolis = pin.computeCoriolisMatrix(judge.pin, judge.data, *state[:2])
    ours = robot.coriolis_matrix(q, v)
    assert_close(ours, judge.matrix.T @ coriolis @ judge.matrix, "Coriolis matrix")
    check_inverses(robot, judge.mass_matrix(q), judge.jacobian(q, last(robot)), q)


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("name", "floating_base"), LOOPS)
def test_loops_agree_with_the_tree_of_pinocchio(name: str, floating_base: bool) -> None:
    """Pinocchio has the tree, at the positions, velocities and accelerations that loops make."""
    path = OWN / f"{name}.urdf"
    robot = mbdyn_ros.load(path, floating_base=floating_base)
    judge = Judge(str(path), robot.model, floating_base)
    rng = np.random.default_rng(5)
    q, v, a = robot.home_position, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    base = 6 * floating_base
    matrix = np.zeros((judge.nv, robot.nv))  # of the judge's velocities, all joints free
    matrix[:base, :base] = np.eye(base)
    for k, unit in enumerate(np.eye(robot.nv)):
        matrix[base:, k] = robot.joint_state(q, unit)[1]
    positions, velocities, accelerations = robot.joint_state(q, v, a)
    tree = (
        judge.position(np.concatenate([q[: 7 * floating_base], positions])),
        judge.matrix @ np.concatenate([v[:base], velocities]),
        judge.matrix @ np.concatenate([a[:base], accelerations]),
    )
    check_motion(robot, judge, (q, v, a), tree, judge.matrix @ matrix)
    mass, coriolis = robot.mass_matrix(q), robot.coriolis_matrix(q, v)
    assert_close(coriolis @ v, robot.coriolis_vector(q, v), "Coriolis matrix times v")
    step = 1e-5
    ahead, behind = (robot.mass_matrix(robot.integrate(q, s * step * v)) for s in (1, -1))
    rate = (ahead - behind) / (2 * step)
    skew = (rate - 2 * coriolis) / np.abs(mass).max()
    assert_close(skew, -skew.T, "dM/dt - 2 C", 1e-7)
    jacobian = robot.jacobian(q, last(robot))
    check_inverses(robot, mass, jacobian, q)
    for axes in AXES:
        far, near = (
            robot.jacobian(robot.integrate(q, s * step * v), last(robot), axes) for s in (1, -1)
        )
        difference = (far - near) / (2 * step)
        assert_close(robot.jacobian_rate(q, v, last(robot), axes), difference, "dJ/dt", 1e-7)


def last(robot: Robot) -> str:
    return robot.moving_links[-1]


def check_motion(
    robot: Robot,
    judge: Judge,
    ours: tuple[np.ndarray, ...],
    state: tuple[np.ndarray, ...],
    ties: np.ndarray,
) -> None:
    """Frames and momentum at `ours`, which is Pinocchio's `state`, with its v = ties v."""
    model, data, link = judge.pin, judge.data, last(robot)
    (q, v, a), (pq, pv, pa) = ours, state
    pin.forwardKinematics(model, data, pq, pv, pa)
    pin.updateFramePlacements(model, data)
    pin.computeJointJacobiansTimeVariation(model, data, pq, pv)
    frame = model.getFrameId(link, pin.BODY)
    for axes, reference in AXES.items():
        velocity = pin.getFrameVelocity(model, data, frame, reference).vector
        assert_close(robot.frame_velocity(q, v, link, axes), velocity, f"velocity, {axes}")
        acceleration = pin.getFrameClassicalAcceleration(model, data, frame, reference)
        if axes == "spatial":
            acceleration = pin.getFrameAcceleration(model, data, frame, reference)
        found = robot.frame_acceleration(q, v, a, link, axes)
        assert_close(found, acceleration.vector, f"acceleration, {axes}")
        jacobian = pin.getFrameJacobian(model, data, frame, reference) @ ties
        assert_close(robot.jacobian(q, link, axes), jacobian, f"Jacobian, {axes}")
        if len(ties.T) == len(judge.matrix.T):  # else the ties change too
            rate = pin.getFrameJacobianTimeVariation(model, data, frame, reference) @ ties
            assert_close(robot.jacobian_rate(q, v, link, axes), rate, f"dJ/dt, {axes}")
    moved = robot.bias_vector(q, v) + robot.mass_matrix(q) @ a
    assert_close(moved, ties.T @ pin.rnea(model, data, pq, pv, pa), "bias vector")
    if not robot.total_mass:
        return
    assert_close(robot.total_mass, pin.computeTotalMass(model), "mass")
    assert_close(robot.center_of_mass(q), pin.centerOfMass(model, data, pq, pv), "centre of mass")
    assert_close(robot.center_of_mass_velocity(q, v), data.vcom[0], "its velocity")
    center = pin.jacobianCenterOfMass(model, data, pq) @ ties
    assert_close(robot.center_of_mass_jacobian(q), center, "its Jacobian")
    pin.computeCentroidalMomentumTimeVariation(model, data, pq, pv, pa)
    assert_close(robot.centroidal_momentum(q, v), data.hg.vector, "momentum")
    assert_close(robot.centroidal_momentum_rate(q, v, a), data.dhg.vector, "rate of momentum")
    matrix = pin.ccrba(model, data, pq, pv) @ ties
    assert_close(robot.centroidal_momentum_matrix(q), matrix, "momentum matrix")
    energies = robot.link_energies(q, v)
    assert_close([one.sum() for one in energies], robot.energy(q, v), "energies of links")


def check_inverses(robot: Robot, mass: np.ndarray, jacobian: np.ndarray, q: np.ndarray) -> None:
    link = last(robot)
    if robot.massless_links:
        for refused in (robot.inverse_mass_matrix, lambda q: robot.operational_mobility(q, link)):
            with pytest.raises(SingularMassMatrixError, match="no mass resists"):
                refused(q)
        return
    condition = np.linalg.cond(mass)
    inverse = robot.inverse_mass_matrix(q)
    assert_close(inverse @ mass, np.eye(robot.nv), "inverse", 1e-15 * condition + 1e-12)
    mobility = robot.operational_mobility(q, link)
    theirs = jacobian @ np.linalg.solve(mass, jacobian.T)
    scale = np.abs(theirs).max()
    assert_close(mobility / scale, theirs / scale, "mobility", 1e-15 * condition + 1e-12)
    if robot.nv < 6:
        with pytest.raises(InputError, match="move no link in six directions"):
            robot.operational_inertia(q, link)
    elif (condition := np.linalg.cond(mobility)) < 1e9:
        found = robot.operational_inertia(q, link) @ mobility
        assert_close(found, np.eye(6), "operational inertia", 1e-14 * condition + 1e-11)


@pytest.mark.usefixtures("interpreted")
def test_every_quantity_in_batches_and_symbols() -> None:
    """Rows of batches are single states; CasADi functions give the same numbers."""
    robot = mbdyn_ros.load(OWN / "manipulator.urdf")
    rng = np.random.default_rng(0)
    q = robot.home_position + rng.uniform(-0.02, 0.02, (3, robot.nq))
    values = {"q": q, "v": rng.normal(size=q.shape), "a": rng.normal(size=q.shape)}
    for name, inputs, about in QUANTITIES:
        call = getattr(robot, name)
        given = [values[key] for key in inputs.split()]
        whole = call(*given, *about)
        out = np.empty_like(whole)
        assert call(*given, *about, out=out) is out and np.array_equal(out, whole)
        function = robot.casadi(name, *about[:1], axes=about[1] if len(about) > 1 else "world")
        for k in range(3):
            one = call(*(x[k] for x in given), *about)
            assert_close(whole[k], one, f"row of {name}", 1e-12)
            assert_close(np.array(function(*(x[k] for x in given))).reshape(one.shape), one, name)


QUANTITIES = [
    ("bias_vector", "q v", ()),
    ("coriolis_matrix", "q v", ()),
    ("inverse_mass_matrix", "q", ()),
    ("center_of_mass", "q", ()),
    ("center_of_mass_velocity", "q v", ()),
    ("center_of_mass_jacobian", "q", ()),
    ("centroidal_momentum", "q v", ()),
    ("centroidal_momentum_matrix", "q", ()),
    ("centroidal_momentum_rate", "q v a", ()),
    ("frame_velocity", "q v", ("tool", "local")),
    ("frame_acceleration", "q v a", ("tool", "spatial")),
    ("jacobian_rate", "q v", ("tool", "local")),
    ("operational_mobility", "q", ("tool",)),
]


@pytest.mark.usefixtures("interpreted")
def test_what_has_no_answer_is_said() -> None:
    robot = mbdyn_ros.load(next(p for p in readable_urdf_files() if p.stem == "ur5_robot"))
    straight = np.zeros(6)
    with pytest.raises(SingularMassMatrixError, match="cannot be moved in all six directions"):
        robot.operational_inertia(straight, "wrist_3_link")
    with pytest.raises(InputError, match="axes must be one of world, local, spatial; got 'body'"):
        robot.jacobian(straight, "wrist_3_link", axes="body")
    light = mbdyn_ros.load(hinge_text(mass=0))
    with pytest.raises(InputError, match="no centre of mass"):
        light.center_of_mass([0.0])


def test_compiled_by_name_the_plain_call_is_short() -> None:
    """Programs of links run in C once they are compiled by name, and give what they gave."""
    robot = mbdyn_ros.load(OWN / "boom.urdf")
    q, v = robot.home_position, np.ones(robot.nv)
    before = robot.jacobian_rate(q, v, "boom")
    robot.compile("jacobian_rate", link="boom")
    for _ in range(2):
        np.testing.assert_allclose(robot.jacobian_rate(q, v, "boom"), before, rtol=1e-12)
