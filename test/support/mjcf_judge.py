"""MuJoCo on a file that was written for it, in our independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

import mbdyn_ros

RANK = 1e-8


@dataclass
class Projected:
    """MuJoCo's mass matrix (nv, nv) and bias (nv,) along our coordinates; how far loops are open.

    mobility : of what MuJoCo's equalities leave free.
    """

    mass_matrix: np.ndarray
    bias: np.ndarray
    open: float = 0.0
    mobility: int = 0


class MjcfJudge:
    """MuJoCo's answers for a robot and the MJCF that was written of it."""

    def __init__(self, robot: mbdyn_ros.Robot, path: Path) -> None:
        self.robot, self.model = robot, mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.data = mujoco.MjData(self.model)
        self._base = 6 * robot.floating_base

    def _dofs(self, names: tuple[str, ...]) -> list[int]:
        labels = []
        for name in names:
            planar = self.robot.model.joint(name).type == "planar"
            labels += [f"{name}/{key}" for key in ("x", "y", "theta")] if planar else [name]
        return [int(self.model.joint(label).dofadr[0]) for label in labels]

    def _mass_matrix(self) -> np.ndarray:
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        return full

    def at_home(self) -> Projected:
        """At rest at the keyframe, along the null space of the equalities' Jacobian."""
        model, data = self.model, self.data
        data.qpos[:] = model.key("home").qpos
        mujoco.mj_forward(model, data)
        rows = data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        jacobian = data.efc_J.reshape(-1, model.nv)[: data.nefc][rows]
        _, sizes, right = np.linalg.svd(jacobian)
        free = right[int((sizes > RANK * sizes[0]).sum()) :].T
        own = [*range(self._base), *self._dofs(self.robot.independent_joints)]
        mobility = free.shape[1]
        if mobility == len(own):
            free = free @ np.linalg.inv(free[own])
        gap = float(np.abs(data.efc_pos[: data.nefc][rows]).max())
        return Projected(
            free.T @ self._mass_matrix() @ free, free.T @ data.qfrc_bias, gap, mobility
        )

    def at(self, q: np.ndarray, v: np.ndarray) -> Projected:
        """At our q and v, mimics by our own factors."""
        ways, drift = self._placed(q, v)
        mass = self._mass_matrix()
        self.data.qvel[:] = ways @ v
        mujoco.mj_forward(self.model, self.data)
        return Projected(ways.T @ mass @ ways, ways.T @ (self.data.qfrc_bias + mass @ drift))

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Efforts by `mj_inverse`, without what acts on joints."""
        ways, drift = self._placed(q, v)
        model, off = self.model, mujoco.mjtDisableBit
        for numbers in (model.dof_damping, model.dof_frictionloss, model.jnt_stiffness):
            numbers[:] = 0
        model.opt.disableflags |= int(off.mjDSBL_CONTACT) | int(off.mjDSBL_LIMIT)
        self.data.qvel[:] = ways @ v
        self.data.qacc[:] = ways @ a + drift
        mujoco.mj_inverse(self.model, self.data)
        return ways.T @ self.data.qfrc_inverse

    def _placed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Set the positions; the velocities of MuJoCo's for ours, and their drift."""
        robot, model, data, base = self.robot, self.model, self.data, self._base
        dofs = self._dofs(robot.joint_names)
        starts = [int(model.joint(name).qposadr[0]) for name in robot.joint_names]
        data.qpos[starts] = robot.joint_state(q)[0]
        ways, drift = np.zeros((model.nv, robot.nv)), np.zeros(model.nv)
        ways[dofs] = np.array([robot.joint_state(q, unit)[1] for unit in np.eye(robot.nv)]).T
        drift[dofs] = robot.joint_state(q, v, np.zeros(robot.nv))[2]
        if base:
            data.qpos[:3], data.qpos[3:7] = q[:3], q[[6, 3, 4, 5]]
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, data.qpos[3:7])
            ways[:3, :3], ways[3:6, 3:6] = turn.reshape(3, 3), np.eye(3)
            drift[:3] = turn.reshape(3, 3) @ np.cross(v[3:6], v[:3])
        data.qvel[:] = 0
        mujoco.mj_forward(model, data)
        return ways, drift
