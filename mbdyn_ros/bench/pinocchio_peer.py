"""Pinocchio on the same robot and state, for timing and for checking. Optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiler.threads import most_threads
from ..errors import MbdynError
from ..model.model import Array
from ..robot import Robot

PINOCCHIO_AGREEMENT = 1e-9
"""Largest relative difference between two right answers."""

FUNCTIONS = {
    "inverse_dynamics": "rnea",
    "forward_dynamics": "aba",
    "mass_matrix": "crba",
    "gravity_vector": "computeGeneralizedGravity",
    "inverse_dynamics_derivatives": "computeRNEADerivatives",
    "forward_dynamics_derivatives": "computeABADerivatives",
}
"""Pinocchio's functions by our methods, where it has a single one."""

POOLS = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
"""Pinocchio's functions for many states, on threads, by our methods."""


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
        self.q = self.positions(q)
        self.embedding = self._embedding(q)
        self.v, self.a = self.embedding @ v, self.embedding @ a
        self.effort: Array = pin.rnea(self.model, self.data, self.q, self.v, self.a).copy()

    def positions(self, q: Array) -> Array:
        """Positions (nq,) or (N, nq) in Pinocchio's coordinates."""
        robot = self._robot
        neutral: Array = self.pin.neutral(self.model)
        result = np.tile(neutral, (*q.shape[:-1], 1)).reshape(*q.shape[:-1], -1)
        positions, _, _ = robot.joint_state(q)
        blocks = robot.system.coordinates.joint_blocks
        numbers = {name: positions[..., block.q] for name, block in blocks.items()}
        if robot.floating_base:
            numbers["root_joint"] = q[..., :7]
        for name, value in numbers.items():
            joint = self._joint(name)
            if joint.nq == value.shape[-1] + 1:  # planar and continuous: an angle's cosine and sine
                angle = value[..., -1:]
                value = np.concatenate([value[..., :-1], np.cos(angle), np.sin(angle)], axis=-1)
            result[..., joint.idx_q : joint.idx_q + joint.nq] = value
        return result

    def _embedding(self, q: Array) -> Array:
        robot = self._robot
        _, rates, _ = robot.joint_state(q, np.eye(robot.nv))
        assert rates is not None
        result = np.zeros((self.nv, robot.nv))
        for name, block in robot.system.coordinates.joint_blocks.items():
            joint = self._joint(name)
            result[joint.idx_v : joint.idx_v + joint.nv] = rates[:, block.v].T
        if robot.floating_base:
            result[:6, :6] = np.eye(6)
        return result

    def _joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(name)]

    def pool(self, name: str, q: Array, v: Array, last: Array) -> dict[str, Any]:
        """The arguments of function(threads, pool, q, v, last, result) for states (N, ...)."""
        states = (self.positions(q), v @ self.embedding.T, last @ self.embedding.T)
        columns = [np.asfortranarray(x.T) for x in (*states, np.zeros((len(q), self.nv)))]
        return {
            **dict(zip(("q", "v", "last", "result"), columns, strict=True)),
            "function": getattr(self.pin, POOLS[name]),
            "threads": most_threads(),
            "pool": self.pin.ModelPool(self.model, most_threads()),
        }

    def check(self, programs: Sequence[str]) -> float | None:
        """Largest relative difference of the answers of these programs; None where it knows none.

        Raises
        ------
        DisagreementError
            They differ by more than 1e-9.
        """
        gaps = [
            self.require_agreement(name, *self._answers(name))
            for name in programs
            if name in FUNCTIONS
        ]
        return max(gaps, default=None)

    def require_agreement(self, name: str, ours: Array, theirs: Array) -> float:
        """Largest relative difference of two answers, refused where it is not rounding."""
        gap = float(np.abs(ours - theirs).max(initial=0) / np.abs(theirs).max(initial=1e-300))
        if not gap <= PINOCCHIO_AGREEMENT:
            raise DisagreementError(
                f"{self._robot.model.source}: {name.replace('_', ' ')} differs from Pinocchio's by "
                f"{gap:.1e} relative"
            )
        return gap

    def _answers(self, name: str) -> tuple[Array, Array]:
        """Our answer, and Pinocchio's in our coordinates."""
        robot, (q, v, a) = self._robot, (self._our_q, self._our_v, self._our_a)
        effort = self.embedding.T @ self.effort
        if name == "inverse_dynamics":
            return robot.inverse_dynamics(q, v, a, friction=False), effort
        if name == "forward_dynamics":
            return robot.forward_dynamics(q, v, effort, friction=False), a
        if name == "gravity_vector":
            theirs = self.pin.computeGeneralizedGravity(self.model, self.data, self.q)
            return robot.gravity_vector(q), self.embedding.T @ theirs
        upper = self.pin.crba(self.model, self.data, self.q)
        mass = self.embedding.T @ (np.triu(upper) + np.triu(upper, 1).T) @ self.embedding
        if name == "mass_matrix":
            return robot.mass_matrix(q), mass
        self.pin.computeRNEADerivatives(self.model, self.data, self.q, self.v, self.a)
        parts = [
            self.embedding.T @ x @ self.embedding for x in (self.data.dtau_dq, self.data.dtau_dv)
        ]
        if name == "inverse_dynamics_derivatives":
            found = robot.inverse_dynamics_derivatives(q, v, a, friction=False)
            return np.hstack(found), np.hstack([*parts, mass])
        found = robot.forward_dynamics_derivatives(q, v, effort, friction=False)
        right = np.hstack([-parts[0], -parts[1], np.eye(robot.nv)])
        return np.hstack(found), np.linalg.solve(mass, right)
