"""Forces in closing joints: by hand, by free bodies, and where they are not determined.

Random loops are in `test_loops.py`, agreed values in `test_cases.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from random_loops import draw
from robot_text import joint, link

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")
G = 9.81


def body(name: str, mass: float, x: float, z: float = 0.0) -> str:
    return link(name, mass, 0.1, f"{x} 0 {z}")


def hinge(name: str, parent: str, child: str, xyz: str, more: str = "") -> str:
    return joint(name, parent, child, "0 -1 0", xyz, more=more)


def truss(turn: float = 0.0, loss: str = "", swapped: bool = False) -> mbdyn_ros.Robot:
    """Two bars of 1 m that meet at right angles above their hinges; one carries 2 kg at its end.

    `turn` (rad) turns the frame of the pin in the loaded bar; the second bar is massless.
    """
    side = np.sqrt(0.5)
    one = f"{{link: loaded, xyz: [1, 0, 0], rpy: [0, {turn}, 0]}}"
    two = f"{{link: strut, xyz: [1, 0, 0], rpy: [0, {turn - np.pi / 2}, 0]}}"
    first, second = (two, one) if swapped else (one, two)
    return mbdyn_ros.load(
        '<robot name="truss"><link name="ground"/>'
        + body("loaded", 2.0, 1.0)
        + body("strut", 1e-9, 0.0)
        + body("slider", 1e-9, 0.0)
        + hinge("left", "ground", "loaded", "0 0 0", loss)
        + joint("rail", "ground", "slider", "1 0 0", f"{2 * side} 0 0", kind="prismatic")
        + hinge("right", "slider", "strut", "0 0 0")
        + "</robot>",
        "loops:\n  - {name: top, type: revolute, axis: [0, 1, 0],\n"
        f"     predecessor: {first}, successor: {second}}}\n"
        "independent: [rail]\n"
        f"home: {{left: {np.pi / 4}, right: {3 * np.pi / 4}, rail: 0}}\n",
    )


def test_a_truss() -> None:
    """At rest the strut pushes along itself with half the load times the root of 2."""
    robot, rest = truss(), [0.0]
    force = robot.loop_forces(rest, rest, rest)["top"]
    push = 2.0 * G / 2 * np.sqrt(2)
    # in the loaded bar's axes (x along it, z to its upper left) the strut pushes towards +z;
    # the answer is what the loaded bar does to the strut
    assert np.allclose(force, [0, 0, -push, 0, 0, 0], atol=1e-6)
    assert robot.inverse_dynamics(rest, rest, rest) == pytest.approx([-2.0 * G / 2], rel=1e-6)


@pytest.mark.sparse
@pytest.mark.parametrize("turn", [0.0, 0.3, -2.0])
def test_the_other_way_round_is_the_opposite_in_the_other_frame(turn: float) -> None:
    one, two = truss(turn), truss(turn, swapped=True)
    (loop,) = one.model.loops
    state = [0.02], [0.3], [-1.0]
    force, back = one.loop_forces(*state)["top"], two.loop_forces(*state)["top"]
    for robot, wrench, sign in ((one, force, 1), (two, back, -1)):
        (end,) = robot.model.loops
        rotation = robot.frame_pose(state[0], end.predecessor)[:3, :3]
        world = rotation @ end.predecessor_frame.rotation @ wrench[:3]
        if sign > 0:
            expected = world
        else:
            assert np.allclose(-world, expected, rtol=1e-10, atol=1e-10)
    assert loop.name == "top" and abs(force[1]) <= 1e-12 * np.abs(force).max()


def test_friction_in_a_passive_joint_loads_the_pin() -> None:
    """The strut takes the moment of a damped hinge: 3 N m s/rad at the loaded bar's root."""
    plain, rubbing = truss(), truss(loss='<dynamics damping="3" friction="0"/>')
    state = [0.0], [0.4], [0.0]
    _, rates, _ = plain.joint_state(*state)
    assert rates is not None
    change = rubbing.loop_forces(*state)["top"] - plain.loop_forces(*state)["top"]
    # the loaded bar needs 3 w more about its root, and has the pin's reaction at 1 m alone
    assert change[2] == pytest.approx(-3.0 * rates[plain.joint_names.index("left")], rel=1e-6)
    assert np.abs(change[[1, 3, 4, 5]]).max() < 1e-9


@pytest.mark.sparse
@pytest.mark.parametrize("kind", ["spatial fixed", "spatial revolute", "spatial prismatic"])
def test_a_cut_joint_may_be_any_joint(kind: str) -> None:
    """Forces of closing joints do no work: what they do on both sides cancels in every motion."""
    pair = draw(kind, 3).pair()
    q, v, a, _ = pair.state(0)
    (loop,) = pair.robot.model.loops
    wrench = pair.robot.loop_forces(q, v, a)[loop.name]
    frame = pair.robot.frame_pose(q, loop.predecessor) @ loop.predecessor_frame.matrix()
    force, moment = frame[:3, :3] @ wrench[:3], frame[:3, :3] @ wrench[3:]
    rates = []
    for end in (loop.predecessor, loop.successor):
        jacobian = pair.robot.jacobian(q, end)
        arm = frame[:3, 3] - pair.robot.frame_pose(q, end)[:3, 3]
        linear = jacobian[:3] + np.cross(jacobian[3:].T, arm).T
        rates.append(force @ linear + moment @ jacobian[3:])
    scale = np.abs(wrench).max()
    assert np.abs(rates[1] - rates[0]).max() <= 1e-10 * scale and scale > 1


def test_a_gear_is_no_loop() -> None:
    robot = draw("coupling", 0).load()
    q = [robot.home[name] for name in robot.independent_joints]
    assert list(robot.loop_forces(q, np.zeros(robot.nv), np.zeros(robot.nv))) == ["loop0"]


def test_a_tree_has_none() -> None:
    text = '<robot name="r"><link name="a"/>' + body("b", 1, 1) + hinge("j", "a", "b", "0 0 0")
    assert mbdyn_ros.load(text + "</robot>").loop_forces([0.0], [0.0], [0.0]) == {}


def test_the_order_is_that_of_the_document() -> None:
    m = draw("chain", 0)
    m.loops.reverse()
    robot = m.load()
    rest = np.zeros(robot.nv)
    q = [robot.home[name] for name in robot.independent_joints]
    names = [loop.name for loop in robot.model.loops]
    assert len(names) > 1 and list(robot.loop_forces(q, rest, rest)) == names


def test_wrong_input() -> None:
    robot = truss()
    with pytest.raises(mbdyn_ros.InputError, match="acceleration"):
        robot.loop_forces([0.0], [0.0], [0.0, 1.0])
    with pytest.raises(mbdyn_ros.InputError, match="rail"):
        robot.loop_forces([0.0], [0.0], [np.nan])
    with pytest.raises(mbdyn_ros.InputError, match="loop 'top' cannot be closed at rail"):
        robot.loop_forces([5.0], [0.0], [0.0])


@pytest.mark.sparse
@pytest.mark.parametrize("kind", ["spatial floating", "Watt", "chain"])
def test_batches(kind: str) -> None:
    """Rows are single calls; a row that cannot be closed, or is NaN, is NaN alone."""
    pair = draw(kind, 1).pair()
    q, v, a, _ = pair.state(3)
    many = np.tile(q, (4, 1)), np.linspace(0, 1, 4)[:, None] * v, a
    many[0][2, -1] = np.nan
    forces = pair.robot.loop_forces(*many)
    for name, found in forces.items():
        assert found.shape == (4, 6) and np.isnan(found[2]).all()
        for k in (0, 1, 3):
            single = pair.robot.loop_forces(many[0][k], many[1][k], a)[name]
            np.testing.assert_allclose(found[k], single, rtol=0, atol=1e-9 * np.abs(single).max())
