"""Forces and moments in all joints: their work, their balance, and what nothing determines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")
URDF = Path(__file__).resolve().parents[2] / "urdf"
LOOPED = ["boom", "four_bar", "manipulator", "slider_crank", "parallelogram_arm"]


def robot(name: str) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(str(URDF / f"{name}.urdf"))


def motion(made: mbdyn_ros.Robot, seed: int = 0) -> np.ndarray:
    return 0.05 * np.random.default_rng(seed).normal(size=(3, made.nv))


@pytest.mark.sparse
@pytest.mark.parametrize("name", LOOPED)
def test_along_its_axis_a_joint_carries_its_motor_less_its_friction(name: str) -> None:
    made = robot(name)
    q, v, a = motion(made)
    wrenches = made.joint_wrenches(q, v, a)
    effort = dict(zip(made.effort_labels, made.inverse_dynamics(q, v, a), strict=True))
    _, rates, _ = made.joint_state(q, v, a)
    for joint, rate in zip(made.joint_names, rates, strict=True):
        one = made.model.joint(joint)
        along = wrenches[joint][:3] if one.type == "prismatic" else wrenches[joint][3:]
        lost = one.damping * rate + one.friction * np.sign(rate)
        wanted = effort.get(joint, 0.0) - lost
        assert along @ one.axis == pytest.approx(wanted, abs=1e-9, rel=1e-9), joint


def test_a_robot_without_loops_agrees_with_pinocchio() -> None:
    made = robot("tree_robot")
    q, v, a = motion(made)
    model = pin.buildModelFromUrdf(str(URDF / "tree_robot.urdf"))
    data = model.createData()
    rows = [made.velocity_labels.index(name) for name in list(model.names)[1:]]
    pin.rnea(model, data, pin.integrate(model, pin.neutral(model), q[rows]), v[rows], a[rows])
    wrenches = made.joint_wrenches(q, v, a)
    for index in range(1, model.njoints):
        expected = data.f[index]
        assert wrenches[model.names[index]] == pytest.approx(
            np.r_[expected.linear, expected.angular], abs=1e-10
        )
    assert made.undetermined_wrenches(q) == {}


@pytest.mark.sparse
@pytest.mark.parametrize("name", LOOPED)
def test_the_ground_carries_the_weight(name: str) -> None:
    made = robot(name)
    rest = np.zeros(made.nv)
    q = motion(made)[0]
    wrenches = made.joint_wrenches(q, rest, rest)
    root, held = made.model.root, np.zeros(3)
    for joint in made.model.joints:
        if joint.parent == root and joint.name in wrenches:
            held += made.frame_pose(q, joint.child)[:3, :3] @ wrenches[joint.name][:3]
    for loop in made.model.loops:
        turn = made.frame_pose(q, loop.predecessor)[:3, :3] @ loop.predecessor_frame.rotation
        force = turn @ wrenches[loop.name][:3]
        held += (loop.predecessor == root) * force - (loop.successor == root) * force
    mass = sum(made.model.link(one).inertia.mass for one in made.moving_links)
    assert held == pytest.approx([0, 0, 9.81 * mass], abs=1e-9 * mass * 9.81)


def test_what_goes_across_a_planar_loop_is_named_and_shared_by_stiffness() -> None:
    made = robot("four_bar")
    q, v, a = motion(made)
    across = ("fy", "tx", "tz")
    names = ("crank_joint", "coupler_joint", "rocker_joint", "coupler_pin")
    assert made.undetermined_wrenches(q) == dict.fromkeys(names, across)
    assert made.undetermined_wrenches([q, q + 0.1]) == dict.fromkeys(names, across)
    least = made.joint_wrenches(q, v, a)
    assert least["coupler_pin"][[1, 3, 5]] == pytest.approx(0, abs=1e-12)
    soft = {name: [1e6, 1e6, 1e6, 1e3, 1e3, 1e3] for name in names}
    shared = made.joint_wrenches(q, v, a, soft)
    for name in names:
        assert shared[name][[0, 2, 4]] == pytest.approx(least[name][[0, 2, 4]], abs=1e-12)

    def energy(wrenches: dict[str, np.ndarray]) -> float:
        return sum(float((wrenches[name] ** 2 / soft[name]).sum()) for name in names)

    way = {name: shared[name] - least[name] for name in names}
    assert max(np.abs(one).max() for one in way.values()) > 1e-3
    energies = [energy({n: least[n] + s * way[n] for n in names}) for s in (0.9, 1.0, 1.1)]
    assert energies[1] == min(energies)
    stiff_pin = made.joint_wrenches(q, v, a, {**soft, "coupler_pin": [1e2] * 6})
    assert np.abs(stiff_pin["coupler_pin"][[1, 3, 5]]).max() < 1e-2, "a soft pin carries less"


def test_many_states_at_once() -> None:
    made = robot("boom")
    states = np.stack([motion(made, seed) for seed in range(3)], axis=1)
    many = made.joint_wrenches(*states)
    for k in range(3):
        for name, one in made.joint_wrenches(*states[:, k]).items():
            assert many[name][k] == pytest.approx(one, abs=1e-8)


@pytest.mark.parametrize(
    ("stiffness", "words"),
    [
        ({"boom": [1.0] * 6}, "there is no joint 'boom'; there are"),
        ({"rod_pin": [1.0] * 3}, "stiffness of rod_pin is"),
        ({"rod_pin": [0.0] * 6}, "six positive numbers"),
    ],
)
def test_refusals(stiffness: dict[str, list[float]], words: str) -> None:
    made = robot("boom")
    with pytest.raises(mbdyn_ros.InputError, match=words):
        made.joint_wrenches(*motion(made), stiffness)
    with pytest.raises(mbdyn_ros.InputError, match="single states"):
        made.joint_wrenches(*np.zeros((3, 2, made.nv)), stiffness)
