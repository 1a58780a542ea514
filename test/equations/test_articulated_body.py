"""Forward dynamics: both formulations against Pinocchio, and against inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from corpus import urdf_file  # noqa: E402
from random_robots import (  # noqa: E402
    Array,
    Pair,
    RandomRobot,
    assert_close,
    explore,
    number,
    robots,
)

from mbdyn_ros.equations import articulated_body as subject  # noqa: E402
from mbdyn_ros.equations import programs  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import SX, constant  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")


def condition(pair: Pair, q: Array) -> float:
    """Of the mass matrix; massless links between almost parallel axes are passed over."""
    worst = float(np.linalg.cond(pair.judge.mass_matrix(q))) if pair.robot.nv else 1.0
    assume(worst < 1e7)
    return worst


@explore(2)
@given(robots(), st.booleans(), st.integers(0, 99))
def test_random_robots(random_robot: RandomRobot, floating_base: bool, seed: int) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    q, v, a = pair.state(seed)
    tolerance = 1e-13 + 1e-14 * condition(pair, q)
    assert robot.massless_links == ()
    effort = judge.inverse_dynamics(q, v, a)
    ours = robot.forward_dynamics(q, v, effort, friction=False)
    assert_close(ours, a, tolerance, 1.0)
    assert_close(ours, judge.forward_dynamics(q, v, effort), tolerance, 1.0)
    # with losses, our two ways undo each other
    effort = robot.inverse_dynamics(q, v, a)
    assert_close(robot.forward_dynamics(q, v, effort), a, tolerance, 1.0)


@explore(2)
@given(robots(), st.booleans(), st.booleans())
def test_both_formulations(random_robot: RandomRobot, floating_base: bool, loaded: bool) -> None:
    """A robot uses the cheaper one, a deep one has no choice; both must be right."""
    pair = Pair(random_robot, floating_base)
    tree, judge = pair.tree, pair.judge
    q, v, a = pair.state(7)
    tolerance = 1e-13 + 1e-14 * condition(pair, q)
    on_bodies, on_links = np.zeros((6, len(tree.bodies))), {}
    random = np.random.default_rng(3)
    for link, (body, frame) in tree.frames.items():
        if loaded and body >= 0:
            force, torque = random.normal(size=(2, 3))
            on_links[link] = np.concatenate([force, torque])
            force = frame.rotation @ force
            moment = frame.rotation @ torque + np.cross(frame.translation, force)
            on_bodies[:, body] += [*force, *moment]
    full = judge.position(q), judge.matrix @ v, judge.matrix @ a, pair.external(on_links)
    effort = judge.matrix.T @ pin.rnea(judge.pin, judge.data, *full)
    state = constant(q), SX(0, 1), constant(v), constant(effort)
    builds = programs.accelerations(pair.system, deep=False).values()
    assert len(builds) == 2
    for build in builds:
        found = number(build(*state, constant(on_bodies) if loaded else None, False)).ravel()
        assert_close(found, a, tolerance, 1.0)


@explore(2)
@given(robots(), st.booleans())
def test_wrenches_of_random_robots(random_robot: RandomRobot, floating_base: bool) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    random = np.random.default_rng(4)
    wrenches = {link.name: random.normal(size=6) for link in random_robot.links[::2]}
    q, v, a = pair.state(2)
    tolerance = 1e-13 + 1e-14 * condition(pair, q)
    full = judge.position(q), judge.matrix @ v, judge.matrix @ a, pair.external(wrenches)
    effort = judge.matrix.T @ pin.rnea(judge.pin, judge.data, *full)
    ours = robot.forward_dynamics(q, v, effort, wrenches, friction=False)
    assert_close(ours, a, tolerance, 1.0)


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize("name", ["solo12.urdf", "talos_reduced.urdf"])
@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_articulated_inertias_of_branched_robots(
    name: str, floating_base: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a parent feels of each joint that is free to move, in the frame of its child link."""
    found: list[tuple[subject.Inertia, Array, Array]] = []

    def watch(kind: type[subject.Inertia]) -> None:
        wrench = kind.wrench

        def record(self: subject.Inertia, angular: SX, linear: SX) -> tuple[SX, SX]:
            found.append((self, number(angular), number(linear)))
            return wrench(self, angular, linear)

        monkeypatch.setattr(kind, "wrench", record)

    watch(subject.ArticulatedInertia)
    watch(subject.CompositeInertia)
    pair = Pair(urdf_file(name).read_text(), floating_base)
    q, v, effort = pair.state()
    tree, judge = pair.tree, pair.judge
    found.clear()
    state, gravity = (constant(v), constant(effort)), pair.robot.gravity
    embedding, clusters = pair.embedding(q), pair.system.clusters
    subject.articulated_body(tree, clusters, embedding, *state, gravity)
    full = judge.position(q), judge.matrix @ v, judge.matrix @ effort
    pin.aba(judge.pin, judge.data, *full, pin.Convention.LOCAL)
    assert len(found) == len(tree.bodies)
    for body, (inertia, *motions) in zip(reversed(tree.bodies), found, strict=True):
        if body.parent < 0:
            continue  # Pinocchio does not reduce the first one
        inertia = subject.ArticulatedInertia.of(inertia)
        angular, mixed, linear = map(number, (inertia.angular, inertia.mixed, inertia.linear))
        whole = np.block([[linear, mixed.T], [mixed, angular]])  # forces first, as Pinocchio has
        s = np.vstack(motions[::-1])[:, :-1]  # the last column is the motion at rest
        u = whole @ s
        whole = whole - u @ np.linalg.solve(s.T @ u, u.T)
        frame = tree.frames[body.name][1]
        action = pin.SE3(frame.rotation, frame.translation).action
        theirs = judge.data.Yaba[judge.pin.getJointId(body.joint)]
        assert_close(action.T @ whole @ action, theirs, 1e-12)


@explore(2)
@given(robots(joints=6), st.booleans())
def test_the_power_balances(random_robot: RandomRobot, floating_base: bool) -> None:
    """The energy grows by the work of the efforts, less the losses."""
    pair = Pair(random_robot, floating_base)
    robot = pair.robot
    q, v, effort = pair.state(1)
    condition(pair, q)
    a = robot.forward_dynamics(q, v, effort)
    step = 1e-5

    def energy(time: float) -> float:
        moved = moved_by(robot.position_labels, q, (v + a * time / 2) * time)
        return sum(robot.energy(moved, v + a * time))

    growth = (energy(step) - energy(-step)) / (2 * step)
    power = float(v @ (effort - robot.friction_vector(q, v)))
    scale = pair.weight * (1 + np.abs(a).max(initial=0.0)) * (1 + np.abs(v).max(initial=0.0))
    assert abs(growth - power) < 1e-8 * scale


@explore(2)
@given(robots(joints=6), st.booleans())
def test_gravity_is_the_slope_of_the_potential(
    random_robot: RandomRobot, floating_base: bool
) -> None:
    pair = Pair(random_robot, floating_base)
    robot = pair.robot
    q, v, _ = pair.state(1)
    step = 1e-5
    slopes = []
    for direction in np.eye(robot.nv):
        ends = [moved_by(robot.position_labels, q, s * direction) for s in (step, -step)]
        slopes.append((robot.energy(ends[0], v)[1] - robot.energy(ends[1], v)[1]) / (2 * step))
    assert_close(np.array(slopes), robot.gravity_vector(q), 1e-8, pair.weight)


def moved_by(labels: tuple[str, ...], q: Array, step: Array) -> Array:
    """The position q after a small motion `step` of the velocity coordinates."""
    result, iq, iv = q.copy(), 0, 0
    while iq < len(q):
        if iq + 3 < len(q) and labels[iq + 3].endswith("/qx"):
            place = pin.SE3(pin.Quaternion(q[iq + 3 : iq + 7]).matrix(), q[iq : iq + 3])
            place = place * pin.exp6(step[iv : iv + 6])
            result[iq : iq + 7] = pin.SE3ToXYZQUAT(place)
            iq, iv = iq + 7, iv + 6
        else:
            result[iq] += step[iv]
            iq, iv = iq + 1, iv + 1
    return result
