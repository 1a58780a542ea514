"""Rotors and springs at joints: Pinocchio's and MuJoCo's numbers, energy, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from corpus import urdf_file
from own_robots import assert_close
from robot_text import joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import ModelError
from mbdyn_ros.equations.programs import accelerations
from mbdyn_ros.export.operation_count import formulation_counts
from mbdyn_ros.model.examples import CART, PENDULUM
from mbdyn_ros.robot import Robot

OWN = Path(__file__).parents[2] / "urdf"


def sled_text(dynamics: str, mass: float = 2.0) -> str:
    rail = joint("rail", "world", "mass", "1 0 0", kind="prismatic", more=f"<dynamics {dynamics}/>")
    return robot_text(link("mass", mass), rail, name="sled")


def sled(dynamics: str, mass: float = 2.0) -> Robot:
    return mbdyn_ros.load(sled_text(dynamics, mass))


def driven(robot: Robot, springs: bool = True, **options: bool) -> Robot:
    """The same robot with a rotor and a spring at every joint that can have one."""
    rng = np.random.default_rng(4)
    joints = []
    for moved in robot.model.joints:
        if moved.nv:
            moved = replace(moved, armature=rng.uniform(0.1, 2.0))
        if moved.nv and moved.nq == moved.nv and springs:
            stiffness, reference = rng.uniform(1.0, 50.0), rng.uniform(-0.5, 0.5)
            moved = replace(moved, spring_stiffness=stiffness, spring_reference=reference)
        joints.append(moved)
    return Robot(replace(robot.model, joints=tuple(joints)), **options)


def state(robot: Robot, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = robot.home_position.copy()
    q = robot.integrate(q, 0.02 * rng.normal(size=robot.nv))
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def slopes(
    robot: Robot, function: Callable[..., np.ndarray], args: Sequence[np.ndarray], place: int
) -> np.ndarray:
    """Central differences by one argument of a method; q moves along the velocities."""
    columns, step = [], 1e-5
    for unit in np.eye(robot.nv if place == 0 else len(args[place])):
        ends = []
        for side in (step, -step):
            moved = list(args)
            way = side * unit
            moved[place] = args[place] + way if place else robot.integrate(args[0], way)
            ends.append(function(*moved))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("name", "floating_base"), [("ur5_robot", False), ("hyq_no_sensors", True)]
)
def test_rotors_are_those_of_pinocchio(name: str, floating_base: bool) -> None:
    pin = pytest.importorskip("pinocchio")
    from judge import Judge

    path = urdf_file(f"{name}.urdf")
    plain = mbdyn_ros.load(path, floating_base=floating_base)
    robot = driven(plain, springs=False, floating_base=floating_base)
    judge = Judge(str(path), robot.model, floating_base)
    armature = np.zeros(robot.nv)
    armature[6 * floating_base :] = [joint.armature for joint in robot.model.joints if joint.nv]
    judge.pin.armature = judge.matrix @ armature
    q, v, a = judge.random_state(5)
    full = judge.position(q), judge.matrix @ v
    assert_close(robot.mass_matrix(q), judge.mass_matrix(q), "mass matrix")
    ours = robot.inverse_dynamics(q, v, a, friction=False)
    assert_close(ours, judge.inverse_dynamics(q, v, a), "inverse dynamics")
    if not floating_base:
        derivatives = pin.computeRNEADerivatives(judge.pin, judge.data, *full, judge.matrix @ a)
        turned = [judge.matrix.T @ one @ judge.matrix for one in derivatives[:2]]
        ours = robot.inverse_dynamics_derivatives(q, v, a, friction=False)
        for mine, other in zip(ours, [*turned, judge.mass_matrix(q)], strict=True):
            assert_close(mine, other, "derivatives of inverse dynamics")
    ours = robot.forward_dynamics(q, v, a, friction=False)
    assert_close(ours, judge.forward_dynamics(q, v, a), "forward dynamics")
    assert_close(robot.inverse_mass_matrix(q), np.linalg.inv(judge.mass_matrix(q)), "inverse")
    coriolis = pin.computeCoriolisMatrix(judge.pin, judge.data, *full)
    ours = robot.coriolis_matrix(q, v)
    assert_close(ours, judge.matrix.T @ coriolis @ judge.matrix, "Coriolis matrix")


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["boom", "four_bar", "manipulator"])
def test_loops_with_rotors_and_springs_agree_with_themselves(name: str) -> None:
    """What every joint feels does its work along the rates of the loops."""
    plain = mbdyn_ros.load(OWN / f"{name}.urdf")
    robot = driven(plain)
    q, v, a = state(robot)
    rates = np.stack([robot.joint_state(q, unit)[1] for unit in np.eye(robot.nv)], axis=-1)
    positions = robot.joint_state(q)[0]
    joints = [joint for joint in robot.model.joints if joint.nv]
    armature, stiffness, reference = (
        np.array([getattr(joint, name) for joint in joints])
        for name in ("armature", "spring_stiffness", "spring_reference")
    )
    extra, stretch = rates.T @ (armature[:, None] * rates), positions - reference
    mass = robot.mass_matrix(q)
    assert_close(mass - plain.mass_matrix(q), extra, "mass matrix")
    assert_close(robot.spring_vector(q), rates.T @ (stiffness * stretch), "springs")
    gravity = robot.bias_vector(q, v) - robot.coriolis_vector(q, v)
    assert_close(gravity, plain.gravity_vector(q), "gravity")
    kinetic, potential = np.array(robot.energy(q, v)) - np.array(plain.energy(q, v))
    assert_close(kinetic, v @ extra @ v / 2, "energy of rotors")
    assert_close(potential, stiffness @ stretch**2 / 2, "energy of springs")
    effort = robot.inverse_dynamics(q, v, a)
    assert_close(robot.forward_dynamics(q, v, effort), a, "forward dynamics")
    coriolis = robot.coriolis_matrix(q, v)
    assert_close(coriolis @ v, robot.coriolis_vector(q, v), "Coriolis matrix times v")
    ahead, behind = (robot.mass_matrix(robot.integrate(q, s * 1e-5 * v)) for s in (1, -1))
    skew = ((ahead - behind) / 2e-5 - 2 * coriolis) / np.abs(mass).max()
    assert_close(skew, -skew.T, "dM/dt - 2 C", 1e-7)
    numbers = [ca.DM(x) for x in (q, positions[robot.system.numerical_dependent_rows], v, effort)]
    for way in accelerations(robot.system, deep=False).values():
        found = ca.evalf(way(*map(ca.SX, numbers), None, True))
        assert_close(np.array(found)[:, 0], a, "accelerations")
    for by, place in zip(robot.forward_dynamics_derivatives(q, v, effort), range(3), strict=True):
        found = slopes(robot, robot.forward_dynamics, (q, v, effort), place)
        assert_close(by, found, "derivatives of forward dynamics", 1e-5)
    for by, place in zip(robot.inverse_dynamics_derivatives(q, v, a), range(3), strict=True):
        found = slopes(robot, robot.inverse_dynamics, (q, v, a), place)
        assert_close(by, found, "derivatives of inverse dynamics", 1e-5)


def test_springs_and_rotors_are_those_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = mbdyn_ros.load(PENDULUM)
    spec = """<mujoco><compiler angle="radian"/><option><flag contact="disable"/></option>
      <worldbody><body><joint axis="0 1 0" stiffness="7" springref="0.4" armature="0.3"
      damping="0.2"/><inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody>
      </mujoco>"""
    model = mujoco.MjModel.from_xml_string(spec)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    joint = replace(
        robot.model.joints[0], armature=0.3, spring_stiffness=7.0, spring_reference=0.4, damping=0.2
    )
    robot = Robot(replace(robot.model, joints=(joint,)))
    for q, v, effort in ((-0.7, 0.6, 0.3), (2.0, -1.0, 5.0)):
        data.qpos[0], data.qvel[0], data.qfrc_applied[0] = q, v, effort
        mujoco.mj_forward(model, data)
        passive = robot.spring_vector([q]) + robot.friction_vector([q], [v])
        assert_close(-passive, data.qfrc_passive, "passive efforts")
        assert_close(robot.bias_vector([q], [v]), data.qfrc_bias, "bias")
        assert_close(robot.forward_dynamics([q], [v], [effort]), data.qacc, "acceleration")
        potential, kinetic = data.energy
        assert_close(robot.energy([q], [v]), (kinetic, potential), "energy")


@pytest.mark.long
def test_motions_with_springs_are_those_by_hand() -> None:
    """m x'' + k (x - x0) = 0 with m of the sled and of its rotor; energy is kept."""
    robot = sled('armature="3" spring_stiffness="20" spring_reference="0.5"')
    times, rate = np.linspace(0.0, 5.0, 51), 2.0
    found = mbdyn_ros.simulate(robot, [0.0], [1.0], 5.0, times=times)
    exact = 0.5 - 0.5 * np.cos(rate * times) + np.sin(rate * times) / rate
    np.testing.assert_allclose(found.q[:, 0], exact, atol=1e-9)
    total = np.sum(robot.energy(found.q, found.v), axis=0)
    np.testing.assert_allclose(total, total[0], rtol=1e-9)
    for method in ("rk4", "semi_implicit"):
        motion = mbdyn_ros.Stepper(robot, 1e-3, method=method)
        motion.set_state([0.0], [1.0])
        motion.advance(1000)
        assert abs(motion.q[0] - exact[10]) < 2e-3 if method != "rk4" else 1e-9


def test_dry_friction_stops_a_sprung_sled_where_it_does_by_hand() -> None:
    """Every half swing takes 2 F / k of its width: from 1 m in halves of 0.2 to rest at 0.0."""
    robot = sled('spring_stiffness="20" friction="2"')
    found = mbdyn_ros.simulate(robot, [0.95], [0.0], 10.0)
    assert abs(found.q[-1, 0] + 0.05) < 1e-9 or abs(found.q[-1, 0] - 0.05) < 1e-9
    assert found.v[-1, 0] == 0.0
    motion = mbdyn_ros.Stepper(robot, 1e-3)
    motion.set_state([0.95], [0.0])
    motion.advance(6000)
    assert abs(motion.v[0]) < 1e-12 and abs(abs(motion.q[0]) - 0.05) < 1e-3


def test_impacts_feel_rotors() -> None:
    """A sled of 2 kg with a rotor of 3 kg loses 3/4 of the energy of both at e = 1/2."""
    wall = mbdyn_ros.Surface.plane(
        point=(0.3, 0, 0), normal=(-1, 0, 0), restitution=0.5, friction=0.0
    )
    environment = mbdyn_ros.Environment([wall], points=[("mass", (0, 0, 0))])
    stepper = mbdyn_ros.Stepper(sled('armature="3"'), 1e-3, environment)
    stepper.set_state([0.0], [1.0])
    stepper.advance(400)
    np.testing.assert_allclose([stepper.v[0], stepper.lost], [-0.5, 1.875], rtol=1e-9)


def test_links_without_mass_are_moved_by_their_rotors() -> None:
    massless = sled("", mass=0.0)
    assert massless.massless_links == ("mass",)
    assert massless.operation_counts()["forward_dynamics"], "it can be written down all the same"
    robot = sled('armature="4"', mass=0.0)
    assert robot.massless_links == ()
    np.testing.assert_allclose(robot.forward_dynamics([0.0], [0.0], [2.0]), [0.5])


def test_no_rotor_costs_nothing() -> None:
    robot = mbdyn_ros.load(CART)
    plain, more = (formulation_counts(one.system) for one in (robot, driven(robot)))
    key = "inverse_dynamics by Newton-Euler"
    assert more[key]["multiplications"] == plain[key]["multiplications"] + robot.nv
    key = "mass_matrix by composite bodies"  # which has its numbers folded
    assert more[key] == plain[key]


@pytest.mark.parametrize(
    ("dynamics", "words"),
    [
        ('armature="-1"', 'armature="-1" is negative; no rotor has that inertia'),
        ('spring_stiffness="soft"', "soft"),
    ],
)
def test_what_cannot_be_is_refused(dynamics: str, words: str) -> None:
    with pytest.raises(ModelError, match=re.escape(words)):
        sled(dynamics)


def test_side_cars_say_what_acts_on_joints() -> None:
    text = "joints: [{name: rail, armature: 3, spring_stiffness: 20, spring_reference: 0.5}]\n"
    urdf = sled_text('damping="0.1"')
    robot = mbdyn_ros.load(urdf, mechanism=text)
    assert robot.mass_matrix([0.0])[0, 0] == 5.0 and robot.spring_vector([0.0])[0] == -10.0
    assert robot.model.joint("rail").damping == 0.1 and robot.model.joint("rail").limits.upper == 9
    with pytest.raises(ModelError, match=r'joint "rail": armature: -3 is negative; no rotor'):
        mbdyn_ros.load(urdf, mechanism="joints: [{name: rail, armature: -3}]\n")


def test_springs_of_joints_without_angles_are_refused() -> None:
    ball = sled_text('spring_stiffness="3"', 1).replace("prismatic", "spherical")
    with pytest.raises(ModelError, match="'rail' is spherical, and a spring"):
        mbdyn_ros.load(ball)
    with pytest.warns(mbdyn_ros.ModelWarning, match="drives the joint away"):
        sled('spring_stiffness="-3"')


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["boom", "tree_robot"])
def test_damping_at_the_end_of_a_step_resists_accelerations(name: str) -> None:
    """(M + h D) a = M a', where a' has the damping of now; in loops and in trees."""
    plain = mbdyn_ros.load(OWN / f"{name}.urdf")
    damped = [replace(one, damping=0.5 + k) for k, one in enumerate(plain.model.joints)]
    robot = Robot(replace(plain.model, joints=tuple(damped)))
    q, v, effort = state(robot)
    effort, h = effort[: len(robot.effort_labels)], 0.1
    rates = np.stack([robot.joint_state(q, unit)[1] for unit in np.eye(robot.nv)], axis=-1)
    damping = np.array([one.damping for one in robot.model.joints if one.nv])
    mass = robot.mass_matrix(q)
    load = mass @ robot.forward_dynamics(q, v, effort)
    expected = np.linalg.solve(mass + h * rates.T @ (damping[:, None] * rates), load)
    slides = ca.SX.zeros(robot.system.tree.nv)
    numbers = [ca.DM(x) for x in (q, robot.joint_state(q)[0][:0], v, effort)]
    for way in accelerations(robot.system, deep=False, slides=slides, step=ca.SX(h)).values():
        found = ca.evalf(way(*map(ca.SX, numbers), None, True))
        assert_close(np.array(found)[:, 0], expected, "accelerations")
