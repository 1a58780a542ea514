"""Pinocchio as an independent judge, in our coordinates."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from mbdyn_ros.model.model import Model


class Judge:
    """Pinocchio's answers for a URDF, reduced to our independent coordinates.

    Pinocchio leaves mimic joints free here; they are tied afterwards by the matrix G of
    v_pinocchio = G v, so that its answers owe nothing to our code.
    """

    def __init__(self, path: str, model: Model, floating_base: bool = False) -> None:
        root = (pin.JointModelFreeFlyer(),) if floating_base else ()
        self.pin = pin.buildModelFromUrdf(str(path), *root)
        self.data = self.pin.createData()
        free = [joint for joint in model.joints if joint.nv and joint.mimic is None]
        self.names = (["root_joint"] if floating_base else []) + [joint.name for joint in free]
        # continuous joints are one angle for us, cosine and sine for Pinocchio
        sizes = {
            name: max(self._joint(name).nv, self._joint(name).nq // 7 * 7) for name in self.names
        }
        self.nq = sum(sizes.values())
        self.nv = sum(self._joint(name).nv for name in self.names)
        self.matrix = np.zeros((self.pin.nv, self.nv))
        self.starts: dict[str, tuple[int, int]] = {}
        iq = iv = 0
        for name in self.names:
            joint = self._joint(name)
            self.matrix[joint.idx_v : joint.idx_v + joint.nv, iv : iv + joint.nv] = np.eye(joint.nv)
            self.starts[name] = (iq, iv)
            iq, iv = iq + sizes[name], iv + joint.nv
        self.mimics = []
        for joint in model.joints:
            if joint.mimic is not None:
                factor, shift, leader = 1.0, 0.0, joint
                while leader.mimic is not None:
                    shift += factor * leader.mimic.offset
                    factor *= leader.mimic.multiplier
                    leader = model.joint(leader.mimic.joint)
                row = self._joint(joint.name).idx_v
                self.matrix[row, self.starts[leader.name][1]] = factor
                self.mimics.append((joint.name, leader.name, factor, shift))

    def _joint(self, name: str) -> pin.JointModel:
        return self.pin.joints[self.pin.getJointId(name)]

    def position(self, q: np.ndarray) -> np.ndarray:
        """Our q in Pinocchio's coordinates."""
        result = pin.neutral(self.pin)
        angles = {name: q[start] for name, (start, _) in self.starts.items()}
        for name, leader, factor, shift in self.mimics:
            angles[name] = factor * angles[leader] + shift
        for name, angle in angles.items():
            joint = self._joint(name)
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq == 7:
                start = self.starts[name][0]
                result[place] = q[start : start + 7]
            elif joint.nq == 2:
                result[place] = np.cos(angle), np.sin(angle)
            else:
                result[place] = angle
        return result

    def random_state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A state of our coordinates and an acceleration."""
        random = np.random.default_rng(seed)
        q = random.uniform(-1.0, 1.0, self.nq)
        for name, (start, _) in self.starts.items():
            if self._joint(name).nq == 7:
                q[start + 3 : start + 7] /= np.linalg.norm(q[start + 3 : start + 7])
        return q, random.normal(size=self.nv), random.normal(size=self.nv)

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        efforts = pin.rnea(self.pin, self.data, self.position(q), self.matrix @ v, self.matrix @ a)
        return self.matrix.T @ efforts

    def gravity_vector(self, q: np.ndarray) -> np.ndarray:
        gravity = pin.computeGeneralizedGravity(self.pin, self.data, self.position(q))
        return self.matrix.T @ gravity

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        full = pin.crba(self.pin, self.data, self.position(q))
        full = np.triu(full) + np.triu(full, 1).T
        return self.matrix.T @ full @ self.matrix

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        if not self.mimics:  # then G is a permutation
            full = self.position(q), self.matrix @ v, self.matrix @ effort
            return self.matrix.T @ pin.aba(self.pin, self.data, *full)
        bias = self.inverse_dynamics(q, v, np.zeros(self.nv))
        return np.linalg.solve(self.mass_matrix(q), effort - bias)

    def energy(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        kinetic = pin.computeKineticEnergy(self.pin, self.data, self.position(q), self.matrix @ v)
        return kinetic, pin.computePotentialEnergy(self.pin, self.data, self.position(q))

    def frame_pose(self, q: np.ndarray, link: str) -> np.ndarray:
        pin.framesForwardKinematics(self.pin, self.data, self.position(q))
        return self.data.oMf[self.pin.getFrameId(link, pin.BODY)].homogeneous

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        frame = self.pin.getFrameId(link, pin.BODY)
        reference = pin.LOCAL_WORLD_ALIGNED
        full = pin.computeFrameJacobian(self.pin, self.data, self.position(q), frame, reference)
        return full @ self.matrix
