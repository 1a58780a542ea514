"""Two closed-loop robots whose values three independent methods agree on (shared/cases)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from agreed_cases import CASES, HOMES, Case, arrays
from night import is_night
from random_loops import walked

import mbdyn_ros
from mbdyn_ros import Robot

CLOSE = 1e-10

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="the shared cases are not next to this repository"
)
names = pytest.mark.parametrize("name", HOMES)
written = pytest.mark.parametrize("how", ["yaml", "yaml swapped", "urdf+", "urdf+ swapped"])






def check(ours: object, theirs: object, turns: bool = False, close: float = CLOSE) -> None:
    """Each row within `close` of its largest number; angles modulo whole turns."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    gap = np.abs(np.angle(np.exp(1j * (ours - theirs))) if turns else ours - theirs)
    rows = (len(theirs), -1)
    size = np.abs(theirs.reshape(rows)).max(axis=1)
    if turns:
        size = np.maximum(size, 1.0)
    assert (gap.reshape(rows).max(axis=1) <= close * size).all()


def check_golden(robot: Robot, case: Case, close: float = CLOSE, every: int = 1) -> None:
    """Every golden value, or those of every n-th state (`every`), as batches."""
    states = case.golden["states"][::every]
    order = case.golden["tree_joint_order"]
    columns = [robot.joint_names.index(name) for name in order]
    q, v = arrays(states, "q_ind"), arrays(states, "v_ind")
    a, tau = arrays(states, "ID", "a"), arrays(states, "ID", "tau")
    assert len(q) == 20 // every and robot.independent_joints == tuple(case.golden["independent"])
    rest = np.zeros_like(v)

    position, velocity, acceleration = robot.joint_state(q, v, a)
    assert velocity is not None and acceleration is not None
    check(position[:, columns], arrays(states, "q_tree"), turns=True, close=close)
    check(velocity[:, columns], arrays(states, "v_tree"), close=close)
    check(acceleration[:, columns], arrays(states, "ID", "a_tree"), close=close)
    dependent = [robot.joint_names.index(name) for name in case.golden["dependent"]]
    _, unit, drift = robot.joint_state(q, np.ones_like(v), rest)
    assert unit is not None and drift is not None
    check(unit[:, dependent], arrays(states, "G_dep")[:, :, 0], close=close)
    _, _, drift = robot.joint_state(q, v, rest)
    assert drift is not None
    check(drift[:, dependent], arrays(states, "gdot_dep"), close=close)

    check(robot.mass_matrix(q), arrays(states, "M_red"), close=close)
    bias = robot.coriolis_vector(q, v) + robot.gravity_vector(q)
    check(bias, arrays(states, "h_red"), close=close)
    check(robot.inverse_dynamics(q, v, rest), arrays(states, "h_red"), close=close)
    check(robot.gravity_vector(q), arrays(states, "g_red"), close=close)
    kinetic, potential = robot.energy(q, v)
    check(kinetic, arrays(states, "T"), close=close)
    check(potential, arrays(states, "V"), close=close)

    check(robot.inverse_dynamics(q, v, a), tau, close=close)
    found = robot.forward_dynamics(q, v, arrays(states, "FD", "tau"))
    check(found, arrays(states, "FD", "a"), close=close)
    _, _, whole = robot.joint_state(q, v, found)
    assert whole is not None
    check(whole[:, columns], arrays(states, "FD", "a_tree"), close=close)
    check(robot.forward_dynamics(q, v, tau), a, close=1e-13)
    for kind in ("ID", "FD"):
        forces = robot.loop_forces(q, v, arrays(states, kind, "a"))
        check_forces(robot, case, forces, states, kind, close)


def check_forces(
    robot: Robot,
    case: Case,
    forces: dict[str, np.ndarray],
    states: list[dict[str, Any]],
    kind: str,
    close: float,
) -> None:
    """The pin's force: on the record's child, in its frame F1, also if the loop is swapped."""
    (loop,) = robot.model.loops
    ours, q = forces[loop.name], arrays(states, "q_ind")
    assert np.abs(ours[:, 3:]).max() <= 1e-12 * np.abs(ours).max()  # a pin takes no moment here
    rotations = robot.frame_pose(q, loop.predecessor)[:, :3, :3] @ loop.predecessor_frame.rotation
    world = np.einsum("nij,nj->ni", rotations, ours[:, :3])
    if loop.predecessor == case.record["loops"][0]["parent"]["link"]:
        check(ours[:, :3], arrays(states, kind, "force_on_child_F1")[:, 0], close=close)
        check(world, arrays(states, kind, "force_on_child_world")[:, 0], close=close)
    else:
        check(-world, arrays(states, kind, "force_on_child_world")[:, 0], close=close)
        poses = robot.frame_pose(q, loop.successor)
        parent = poses[:, :3, :3] @ loop.successor_frame.rotation
        in_f1 = np.einsum("nji,nj->ni", parent, -world)
        check(in_f1, arrays(states, kind, "force_on_child_F1")[:, 0], close=close)


@pytest.mark.sparse
@names
@written
def test_golden_values(name: str, how: str, interpreted: None) -> None:
    case = Case.read(name)
    check_golden(case.load(how), case)


@pytest.mark.sparse
@names
def test_golden_values_compiled(name: str) -> None:
    case = Case.read(name)
    check_golden(case.load(), case)


@names
def test_pin_and_tip_poses(name: str, interpreted: None) -> None:
    case = Case.read(name)
    robot, states = case.load(), case.golden["states"]
    q, v = arrays(states, "q_ind"), arrays(states, "v_ind")
    (loop,) = robot.model.loops
    poses = {link: robot.frame_pose(q, link) for link in (loop.predecessor, loop.successor)}
    frames = {
        loop.predecessor: loop.predecessor_frame,
        loop.successor: loop.successor_frame,
    }
    pins = {link: pose @ frames[link].matrix() for link, pose in poses.items()}
    for pin in pins.values():
        check(pin[:, :3, 3], arrays(states, "pin_pos_world")[:, 0])
    turn = np.swapaxes(pins[loop.predecessor], 1, 2)[:, :3, :3] @ pins[loop.successor][:, :3, :3]
    angle = np.arctan2(turn[:, 1, 0], turn[:, 0, 0])[:, None]
    check(angle, arrays(states, "pin_angle"), turns=True)
    if "tip_link" in states[0]:
        tip = states[0]["tip_link"]
        pose = robot.frame_pose(q, tip)
        check(pose[:, :3, 3], arrays(states, "tip_pos_world"))
        check(pose[:, :3, :3], arrays(states, "tip_R_world"))
        velocity = np.einsum("nij,nj->ni", robot.jacobian(q, tip), v)
        check(velocity[:, :3], arrays(states, "tip_vel_world"))


@pytest.mark.sparse
@names
def test_any_joint_may_be_independent(name: str, interpreted: None) -> None:
    """The actuated joint stays; the planned one is another: the same motion, the same effort."""
    case = Case.read(name)
    states, order = case.golden["states"], case.golden["tree_joint_order"]
    base = case.load()
    states = states[:4]
    tree = {key: arrays(states, key) for key in ("q_tree", "v_tree")}
    for independent in case.golden["dependent"]:
        column = order.index(independent)
        for k, state in enumerate(states):
            # only on this branch: a rocker's angle has two crank angles
            q = tree["q_tree"][k, [column]]
            home = dict(zip(order, state["q_tree"], strict=True))
            robot = mbdyn_ros.load(
                CASES / case.record["urdf"], case.yaml(independent=[independent]), home=home
            )
            assert robot.independent_joints == (independent,)
            assert robot.actuated_joints == base.actuated_joints
            v, a = tree["v_tree"][k, [column]], np.array(state["ID"]["a_tree"])[[column]]
            found = robot.inverse_dynamics(q, v, a)
            assert np.allclose(found, state["ID"]["tau"], rtol=CLOSE, atol=0)
            columns = [robot.joint_names.index(joint) for joint in order]
            _, v_tree, a_tree = robot.joint_state(q, v, a)
            assert v_tree is not None and a_tree is not None
            assert np.allclose(v_tree[columns], state["v_tree"], rtol=CLOSE, atol=0)
            a_fd = robot.forward_dynamics(q, v, np.array(state["FD"]["tau"]))
            expected = np.array(state["FD"]["a_tree"])[[column]]
            assert np.allclose(a_fd, expected, rtol=CLOSE, atol=0)
            assert np.allclose(robot.energy(q, v), (state["T"], state["V"]), rtol=CLOSE, atol=0)


@pytest.mark.sparse
@names
def test_closed_form_and_newton_agree(name: str, interpreted: None) -> None:
    case = Case.read(name)
    exact = case.load()
    newton = walked(exact)
    assert exact.system.nz == 0 and newton.system.nz == 2
    every = 1 if is_night() else 5
    check_golden(newton, case, every=every)
    states = case.golden["states"][::every]
    q, v = arrays(states, "q_ind"), arrays(states, "v_ind")
    a = arrays(states, "ID", "a")
    check(newton.joint_state(q)[0], exact.joint_state(q)[0], close=1e-12)
    for method in ("inverse_dynamics", "forward_dynamics"):
        check(getattr(newton, method)(q, v, a), getattr(exact, method)(q, v, a), close=1e-12)


def test_angles_are_continuous_over_fifty_turns() -> None:
    """Closed form, compiled walk: the same angles however far the crank turns."""
    case = Case.read("A1_fourbar")
    exact = case.load()
    newton = walked(exact)
    far = 2 * np.pi * 50
    for q in (np.linspace(0.9, far, 4000), np.linspace(0.9, -far, 4000), np.array([far, -far, 1])):
        one, two = (robot.joint_state(q[:, None])[0] for robot in (exact, newton))
        assert np.abs(one - two).max() <= 1e-12 * far
        if len(q) > 3:
            assert np.abs(np.diff(one, axis=0)).max() < 0.5


@names
def test_documents_of_other_tools_say_the_same(name: str) -> None:
    """What this file writes is what the record holds."""
    case = Case.read(name)
    one, two = (case.load(how).model for how in ("yaml", "urdf+"))
    for loops in zip(one.loops, two.loops, strict=True):
        for field in ("name", "type", "predecessor", "successor"):
            assert getattr(loops[0], field) == getattr(loops[1], field)
        assert np.array_equal(loops[0].axis, loops[1].axis)
    assert re.search(r"<loop ", case.urdf_plus()) and one.independent == two.independent
