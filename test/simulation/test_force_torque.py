"""Force-torque sensors in joints: against Pinocchio, by hand, and through floors and impacts."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from robot_text import joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import Environment, InputError, Stepper, Surface
from mbdyn_ros.simulation.sensors import ForceTorque

MOMENTS = (0.1, 0.2, 0.25, 0.01)
TURNED = {"at": "0.1 0.2 0.3", "rpy": "0.1 0.2 0.3"}
ARM = robot_text(
    *(link(name, mass, MOMENTS, "0.2 0 0.1")
      for mass, name in enumerate(("plate", "arm", "hand", "tip"), 1)),
    joint("bolts", "world", "plate", kind="fixed", **TURNED),
    joint("hinge", "plate", "arm", "0 1 0", **TURNED),
    joint("wrist", "arm", "hand", kind="fixed", **TURNED),
    joint("roll", "hand", "tip", "1 0 0", **TURNED),
)  # fmt: skip

STAND = robot_text(
    link("trunk", 2, MOMENTS), link("foot", 0.5, MOMENTS),
    joint("ankle", "trunk", "foot", at="0 0 -0.2", kind="fixed"),
    base="",
)  # fmt: skip


@pytest.mark.usefixtures("interpreted")
def test_every_joint_against_pinocchio() -> None:
    """Fixed joints are judged as hinges that stand still."""
    robot = mbdyn_ros.load(ARM)
    q, v, a = np.array([0.3, 0.1]), np.array([1.0, 2.0]), np.array([3.0, -1.0])
    outside = {"tip": [1, 2, 3, 0.1, 0.2, 0.3], "hand": [0, 1, 0, 0, 0, 2], "plate": [0, 0, 5] * 2}
    model = pin.buildModelFromXML(ARM.replace('"fixed"', '"continuous"'))
    data, state = model.createData(), np.zeros((3, model.nv))
    rows = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
    state[:, rows] = q, v, a
    forces = pin.StdVec_Force([pin.Force.Zero()] * model.njoints)
    for name, wrench in outside.items():
        frame = model.frames[model.getFrameId(name)]
        moved = frame.placement.act(pin.Force(np.array(wrench, dtype=float)))
        forces[frame.parentJoint] = forces[frame.parentJoint] + moved
    pin.rnea(model, data, pin.integrate(model, pin.neutral(model), state[0]), *state[1:], forces)
    for name in ("bolts", "hinge", "wrist", "roll"):
        wanted = data.f[model.getJointId(name)]
        found = ForceTorque(robot, name).read(q, v, a, outside)
        np.testing.assert_allclose(found, [*wanted.linear, *wanted.angular], atol=1e-10)
    with pytest.raises(InputError, match="no joint 'wist'.*wrist"):
        ForceTorque(robot, "wist")


@pytest.mark.usefixtures("interpreted")
def test_loops_carry_wrenches_too() -> None:
    """Pushed at rest, joints carry along their axes what motors exert, and nothing else."""
    robot = mbdyn_ros.load("urdf/four_bar.urdf")
    q, rest = np.full(robot.nv, 0.1), np.zeros(robot.nv)
    pushed = {robot.model.joints[-1].child: [3.0, 1.0, -2.0, 0.0, 0.5, 0.0]}
    effort = robot.inverse_dynamics(q, rest, rest, pushed)
    found = robot.joint_wrenches(q, rest, rest, wrenches=pushed)
    for name in robot.joint_names:
        wanted = dict(zip(robot.effort_labels, effort, strict=True)).get(name, 0.0)
        assert found[name][3:] @ robot.model.joint(name).axis == pytest.approx(wanted, abs=1e-9)


def test_an_ankle_in_the_air_at_the_impact_and_at_rest() -> None:
    """The trunk of 2 kg falls, is stopped within one step, stands, and is pushed down by 5 N."""
    robot = mbdyn_ros.load(STAND, floating_base=True)
    floor = Surface.plane((0, 0, -0.3), restitution=0.0, friction=0.5, name="floor")
    feet = [("foot", (x, y, -0.05)) for x in (-0.3, 0.3) for y in (-0.3, 0.3)]
    stepper = Stepper(robot, 1e-3, Environment([floor], feet))
    stepper.set_state([0, 0, -0.05 + 1e-2, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(20)
    np.testing.assert_allclose(stepper.force_torque("ankle"), 0, atol=1e-9)
    while not stepper.impacts:
        before = stepper.v[2]
        stepper.advance()
    stopped = -2 * (9.81 - before / 1e-3)
    np.testing.assert_allclose(stepper.force_torque("ankle")[:3], [0, 0, stopped], atol=1e-6)
    stepper.advance(10)
    np.testing.assert_allclose(stepper.force_torque("ankle"), [0, 0, -19.62, 0, 0, 0], atol=1e-6)
    stepper.wrenches = {"trunk": [0, 0, -5.0, 0, 0, 0]}
    stepper.advance()
    np.testing.assert_allclose(stepper.force_torque("ankle")[:3], [0, 0, -24.62], atol=1e-6)
    stepper.wrenches = {"foot": [0, 0, -5.0, 0, 0, 0]}
    stepper.advance()
    np.testing.assert_allclose(stepper.force_torque("ankle")[:3], [0, 0, -19.62], atol=1e-6)
