"""MuJoCo as judge of what was read from a MJCF: its state for ours, and its terms in ours."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from mbdyn_ros import Robot
from mbdyn_ros.array import Array

FREE, BALL = 0, 1
SIZES = {FREE: (7, 6), BALL: (4, 3)}
BASE = "floating_base"


class MujocoJudge:
    """A robot and the model that MuJoCo makes of the same file.

    Joints must have names in the file. Contacts, limits, dry friction and actuators are left out.
    """

    def __init__(self, robot: Robot, model: Any) -> None:
        self.robot, self.model, self.data = robot, model, mujoco.MjData(model)
        bits = mujoco.mjtDisableBit
        for bit in (bits.mjDSBL_CONTACT, bits.mjDSBL_LIMIT, bits.mjDSBL_FRICTIONLOSS,
                    bits.mjDSBL_ACTUATION):  # fmt: skip
            model.opt.disableflags |= int(bit)
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.joints = {model.joint(k).name or BASE: k for k in range(model.njnt)}
        free = [BASE] if robot.floating_base else []
        self.order = [self.joints[name] for name in [*free, *robot.independent_joints]]

    def places(self, joint: int) -> tuple[slice, slice]:
        """Places of a joint in qpos and qvel."""
        nq, nv = SIZES.get(self.model.jnt_type[joint], (1, 1))
        at, rate = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
        return slice(at, at + nq), slice(rate, rate + nv)

    def position(self, qpos: Array) -> Array:
        """Our q: scalars last in quaternions."""
        parts = []
        for joint in self.order:
            one = qpos[self.places(joint)[0]]
            if self.model.jnt_type[joint] in SIZES:
                one = np.concatenate([one[:-4], one[-3:], one[-4:-3]])
            parts.append(one)
        return np.concatenate(parts)

    def rates(self, qpos: Array) -> Array:
        """The matrix of MuJoCo's qvel in our v: a free body's velocity is in its own axes here."""
        result, column = np.zeros((self.model.nv, self.robot.nv)), 0
        for joint in self.order:
            at, rate = self.places(joint)
            size = rate.stop - rate.start
            block = np.eye(size)
            if self.model.jnt_type[joint] == FREE:
                turned = np.zeros(9)
                mujoco.mju_quat2Mat(turned, qpos[at][3:])
                block[:3, :3] = turned.reshape(3, 3)
            result[rate, column : column + size] = block
            column += size
        return result

    def drift(self, qpos: Array, v: Array) -> Array:
        """The part of qacc that our v makes without our a."""
        result = np.zeros(self.model.nv)
        if self.robot.floating_base:
            rate = self.places(self.joints[BASE])[1]
            turned = self.rates(qpos)[rate, :3][:3]
            result[rate][:3] = turned @ np.cross(v[3:6], v[:3])
        return result

    def random_position(self, seed: int) -> Array:
        """A qpos of an open tree."""
        rng = np.random.default_rng(seed)
        qpos = self.model.qpos0.copy()
        mujoco.mj_integratePos(self.model, qpos, rng.normal(size=self.model.nv), 1.0)
        return qpos

    def compare(self, seed: int) -> None:
        """Mass matrix, bias, inverse dynamics and poses of an open tree."""
        rng, robot, data = np.random.default_rng(seed), self.robot, self.data
        qpos = self.random_position(seed)
        q, rates = self.position(qpos), self.rates(qpos)
        v, a = rng.normal(size=(2, robot.nv))
        data.qpos[:], data.qvel[:] = qpos, rates @ v
        mujoco.mj_forward(self.model, data)
        data.qacc[:] = rates @ a + self.drift(qpos, v)
        mujoco.mj_inverse(self.model, data)
        np.testing.assert_allclose(robot.mass_matrix(q), rates.T @ self.full() @ rates, atol=1e-12)
        bias = rates.T @ (data.qfrc_bias + self.full() @ self.drift(qpos, v))
        np.testing.assert_allclose(robot.bias_vector(q, v), bias, atol=1e-12)
        efforts = robot.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(efforts, rates.T @ data.qfrc_inverse, atol=1e-12)
        for body in range(1, self.model.nbody):
            pose = robot.frame_pose(q, self.model.body(body).name)
            np.testing.assert_allclose(pose[:3, :3].ravel(), data.xmat[body], atol=1e-12)
            np.testing.assert_allclose(pose[:3, 3], data.xpos[body], atol=1e-12)

    def full(self) -> Array:
        """MuJoCo's mass matrix where it is."""
        result = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, result)
        return result

    def compare_closed(self, held: float) -> None:
        """The mass matrix at home, projected on what MuJoCo's constraints leave free.

        held : where a joint stands that an equality has made fixed.
        """
        robot, data = self.robot, self.data
        for name, joint in self.joints.items():
            data.qpos[self.places(joint)[0]] = robot.home.get(name, held)
        mujoco.mj_forward(self.model, data)
        jacobian = data.efc_J[: data.nefc * self.model.nv].reshape(data.nefc, self.model.nv)
        np.testing.assert_allclose(data.efc_pos[: data.nefc], 0.0, atol=1e-12)
        *_, singular, rows = np.linalg.svd(jacobian)
        left = rows[np.count_nonzero(singular > 1e-9) :].T
        assert left.shape[1] == robot.nv
        independent = np.concatenate([np.r_[self.places(joint)[1]] for joint in self.order])
        free = left @ np.linalg.inv(left[independent])
        np.testing.assert_allclose(
            robot.mass_matrix(robot.home_position), free.T @ self.full() @ free, atol=1e-12
        )

    def compare_moving(self, held: float, seed: int) -> None:
        """Inverse dynamics away from home, without the forces of MuJoCo's constraints.

        Of a fixed base and joints of one coordinate; `held` as in `compare_closed`.
        """
        robot, data, rng = self.robot, self.data, np.random.default_rng(seed)
        v, a = rng.normal(size=(2, robot.nv))
        q = robot.integrate(robot.home_position, 0.1 * rng.normal(size=robot.nv))
        motion = dict(zip(robot.joint_names, np.array(robot.joint_state(q, v, a)).T, strict=True))
        acceleration = np.zeros(self.model.nv)
        for name, joint in self.joints.items():
            (at, rate), moved = self.places(joint), motion.get(name, (held, 0.0, 0.0))
            data.qpos[at], data.qvel[rate], acceleration[rate] = moved
        mujoco.mj_forward(self.model, data)
        jacobian = data.efc_J[: data.nefc * self.model.nv].reshape(data.nefc, self.model.nv).copy()
        np.testing.assert_allclose(data.efc_pos[: data.nefc], 0.0, atol=1e-12)
        *_, singular, rows = np.linalg.svd(jacobian)
        left = rows[np.count_nonzero(singular > 1e-9) :].T
        free = left @ np.linalg.inv(left[[self.places(joint)[1].start for joint in self.order]])
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
        data.qacc[:] = acceleration
        mujoco.mj_inverse(self.model, data)
        efforts = robot.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(efforts, free.T @ data.qfrc_inverse, atol=1e-11)
