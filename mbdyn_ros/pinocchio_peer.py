"""Pinocchio beside us on the same robot and state, for timing and for checking. Optional."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model.errors import MbdynError
from .model.model import Array
from .robot import Robot

AGREEMENT = 1e-9
"""Largest relative difference between two right answers."""

FUNCTIONS = {
    "inverse_dynamics": "rnea",
    "forward_dynamics": "aba",
    "mass_matrix": "crba",
    "gravity_vector": "computeGeneralizedGravity",
    "coriolis_vector": None,
    "energy": None,
}
"""What Pinocchio calls the method of the same meaning, where it has a single one."""


class DisagreementError(MbdynError, RuntimeError):
    """Two libraries give different answers for one robot: one of them is wrong."""


class PinocchioPeer:
    """The robot in Pinocchio, mimic joints left free there (its model has them as coordinates).

    q, v, a, effort : a state of the robot in Pinocchio's coordinates; `effort` causes `a`.
    ties : G of v_pinocchio = G v.
    """

    def __init__(self, robot: Robot, text: str, q: Array, v: Array, a: Array) -> None:
        import pinocchio as pin

        self.pin = pin
        root = (pin.JointModelFreeFlyer(),) if robot.floating_base else ()
        self.model: Any = pin.buildModelFromXML(text, *root)
        self.model.gravity.linear = np.array(robot.gravity)
        self.data = self.model.createData()
        self.nv: int = self.model.nv
        self._robot = robot
        self._our_q, self._our_v, self._our_a = q, v, a
        self.q = self._position(q)
        self.ties = self._ties(q)
        self.v, self.a = self.ties @ v, self.ties @ a
        self.effort: Array = pin.rnea(self.model, self.data, self.q, self.v, self.a).copy()

    def _position(self, q: Array) -> Array:
        pin, robot = self.pin, self._robot
        result: Array = pin.neutral(self.model)
        positions, _, _ = robot.joint_state(q)
        numbers = {}
        start = 0
        for name in robot.joint_names:
            size = robot.model.joint(name).nq
            numbers[name] = positions[start : start + size]
            start += size
        if robot.floating_base:
            numbers["root_joint"] = q[:7]
        for name, value in numbers.items():
            joint = self._joint(name)
            if joint.nq == len(value) + 1:  # planar and continuous: an angle's cosine and sine
                value = np.concatenate([value[:-1], [np.cos(value[-1]), np.sin(value[-1])]])
            result[joint.idx_q : joint.idx_q + joint.nq] = value
        return result

    def _ties(self, q: Array) -> Array:
        robot = self._robot
        _, rates, _ = robot.joint_state(q, np.eye(robot.nv))
        assert rates is not None
        result = np.zeros((self.nv, robot.nv))
        start = 0
        for name in robot.joint_names:
            joint = self._joint(name)
            result[joint.idx_v : joint.idx_v + joint.nv] = rates[:, start : start + joint.nv].T
            start += joint.nv
        if robot.floating_base:
            result[:6, :6] = np.eye(6)
        return result

    def _joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(name)]

    def check(self) -> float:
        """Largest relative difference of inverse dynamics, forward dynamics and mass matrix.

        Raises
        ------
        DisagreementError
            They differ by more than 1e-9.
        """
        robot, (q, v, a) = self._robot, (self._our_q, self._our_v, self._our_a)
        full = self.pin.crba(self.model, self.data, self.q)
        full = np.triu(full) + np.triu(full, 1).T
        effort = robot.inverse_dynamics(q, v, a, friction=False)
        pairs = {
            "inverse dynamics": (effort, self.ties.T @ self.effort),
            "mass matrix": (robot.mass_matrix(q), self.ties.T @ full @ self.ties),
        }
        if not robot.massless_links:
            pairs["forward dynamics"] = (robot.forward_dynamics(q, v, effort, friction=False), a)
        worst = 0.0
        for name, (ours, theirs) in pairs.items():
            gap = float(np.abs(ours - theirs).max(initial=0) / np.abs(theirs).max(initial=1e-300))
            if gap > AGREEMENT:
                raise DisagreementError(
                    f"{robot.model.source}: {name} differs from Pinocchio's by {gap:.1e} relative"
                )
            worst = max(worst, gap)
        return worst
