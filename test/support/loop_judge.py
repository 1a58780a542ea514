"""Pinocchio's tree and the null space of its own constraint Jacobian: the judge of closed loops.

The constraints are written here as position equations between two Pinocchio frames, and
differentiated by the product rule: nothing is shared with the rows of the library. The motion
follows from the singular value decomposition of their Jacobian, redundant rows and all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mbdyn_ros.model import Combination, Model
from mbdyn_ros.model.model import Loop

Array = np.ndarray
RANK = 1e-8
WORLD_AXES = pin.LOCAL_WORLD_ALIGNED


def across(axis: Array) -> tuple[Array, Array]:
    """(e1, e2): with the axis a right-handed frame; e1 and e2 are the pins of a universal joint.

    e1 is at right angles to the coordinate axis that is farthest from `axis`, x before y before z.
    """
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    e1 = np.cross(helper, axis)
    e1 /= np.linalg.norm(e1)
    return e1, np.cross(axis, e1)


@dataclass
class Motion:
    """One end of a loop: pose, Jacobians and the accelerations that velocities cause."""

    rotation: Array
    point: Array
    linear: Array
    angular: Array
    v: Array
    w: Array
    dv: Array
    dw: Array

    def vector(self, local: Array) -> tuple[Array, Array, Array, Array]:
        """A vector fixed in the frame, its Jacobian, its velocity and its drift, in the world."""
        x = self.rotation @ local
        jacobian = np.cross(self.angular.T, x).T
        rate = np.cross(self.w, x)
        return x, jacobian, rate, np.cross(self.dw, x) + np.cross(self.w, rate)


def dot(one: tuple[Array, ...], two: tuple[Array, ...]) -> tuple[float, Array, float]:
    """Value, Jacobian row and drift of the scalar product of two moving vectors."""
    (x, jx, dx, ax), (y, jy, dy, ay) = one, two
    return x @ y, y @ jx + x @ jy, ax @ y + 2 * dx @ dy + x @ ay


class LoopJudge:
    """A robot with closed loops in Pinocchio.

    Parameters
    ----------
    text : plain URDF of the spanning tree, planar joints written as three.
    model : where loops, couplings and mimic joints are listed.
    labels : names of `text`'s movable joints, the order of tree positions and velocities here
        (behind the base's seven and six where it floats).
    """

    def __init__(
        self, text: str, model: Model, labels: tuple[str, ...], floating_base: bool = False
    ) -> None:
        root = (pin.JointModelFreeFlyer(),) if floating_base else ()
        self.pin = pin.buildModelFromXML(text, *root)
        self.model, self.labels, self.base = model, labels, 6 * floating_base
        for loop in model.loops:
            ends = (
                ("predecessor", loop.predecessor, loop.predecessor_frame),
                ("successor", loop.successor, loop.successor_frame),
            )
            for end, link, pose in ends:
                body = self.pin.frames[self.pin.getFrameId(link, pin.BODY)]
                place = body.placement * pin.SE3(
                    np.array(pose.rotation), np.array(pose.translation)
                )
                self.pin.addFrame(
                    pin.Frame(f"{loop.name}/{end}", body.parentJoint, place, pin.OP_FRAME)
                )
        self.data = self.pin.createData()
        self.joints = [self.pin.joints[self.pin.getJointId(name)] for name in labels]
        self.rows = [*range(self.base), *(joint.idx_v for joint in self.joints)]
        own = {joint.name for joint in model.joints}
        self.damping, self.friction = (
            np.array(
                [0.0] * self.base
                + [
                    getattr(model.joint(name if name in own else name.split("/")[0]), kind)
                    for name in labels
                ]
            )
            for kind in ("damping", "friction")
        )

    def position(self, x: Array) -> Array:
        """Tree positions in Pinocchio's coordinates."""
        result = pin.neutral(self.pin)
        start = 7 * (self.base > 0)
        result[:start] = x[:start]
        for joint, angle in zip(self.joints, x[start:], strict=True):
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            result[place] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
        return result

    def velocity(self, v: Array) -> Array:
        """Tree velocities (or efforts) in Pinocchio's order."""
        result = np.zeros(self.pin.nv)
        result[self.rows] = v
        return result

    def at(self, x: Array, v: Array | None = None) -> State:
        """What the judge knows of a tree state; v need not satisfy the constraints."""
        return State(self, x, np.zeros(len(self.rows)) if v is None else v)

    def wrenches(self, wrenches: dict[str, Array]) -> pin.StdVec_Force:
        """Wrenches on links, at Pinocchio's joints."""
        forces = [pin.Force.Zero() for _ in range(self.pin.njoints)]
        for link, wrench in wrenches.items():
            frame = self.pin.frames[self.pin.getFrameId(link, pin.BODY)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(np.asarray(wrench)))
        result = pin.StdVec_Force()
        result.extend(forces)
        return result

    def gears(self) -> list[tuple[dict[str, float], float]]:
        """Couplings and mimic joints: factors by joint label, and the constant."""
        result = []
        for joint in self.model.joints:
            if joint.mimic is not None:
                factors = {joint.name: 1.0, joint.mimic.joint: -joint.mimic.multiplier}
                result.append((factors, -joint.mimic.offset))
        for coupling in self.model.couplings:
            if isinstance(coupling, Combination):
                result.append((dict(coupling.factors), -coupling.offset))
                continue
            inner, outer = (
                self._above(link) for link in (coupling.predecessor, coupling.successor)
            )
            factors = {name: 1.0 for name in outer if name not in inner}
            factors |= {name: -coupling.ratio for name in inner if name not in outer}
            result.append((factors, 0.0))
        return result

    def _above(self, link: str) -> list[str]:
        names = []
        while (joint := self.model.joint_to(link)) is not None:
            if joint.nv:
                names.append(joint.name)
            link = joint.parent
        return names


class State:
    """Constraints and dynamics at a tree state (x, v)."""

    def __init__(self, judge: LoopJudge, x: Array, v: Array) -> None:
        self.judge, self.x, self.v = judge, x, v
        model, data, rows = judge.pin, judge.data, judge.rows
        self._q, self._v = judge.position(x), judge.velocity(v)
        full = pin.crba(model, data, self._q)
        full = np.triu(full) + np.triu(full, 1).T
        self.mass = full[np.ix_(rows, rows)]
        self.bias = pin.rnea(model, data, self._q, self._v, np.zeros(model.nv))[rows]
        self.gravity = pin.computeGeneralizedGravity(model, data, self._q)[rows]
        pin.computeJointJacobians(model, data, self._q)
        pin.forwardKinematics(model, data, self._q, self._v, np.zeros(model.nv))
        pin.updateFramePlacements(model, data)
        self.loss = judge.damping * v + judge.friction * np.sign(v)
        residual: list[float] = []
        matrix: list[Array] = []
        drift: list[float] = []
        self._ends: list[tuple[Loop, Motion, Motion]] = []
        self._gears: list[Array] = []
        for loop in judge.model.loops:
            one, two = (self._end(f"{loop.name}/{end}") for end in ("predecessor", "successor"))
            for value, row, term in _equations(loop, one, two):
                residual.append(value)
                matrix.append(row)
                drift.append(term)
            self._ends.append((loop, one, two))
        start = 7 * (judge.base > 0)
        for factors, constant in judge.gears():
            row = np.zeros(len(rows))
            for name, factor in factors.items():
                row[judge.base + judge.labels.index(name)] = factor
            values = {name: x[start + judge.labels.index(name)] for name in factors}
            residual.append(constant + sum(factors[name] * values[name] for name in factors))
            matrix.append(row)
            drift.append(0.0)
            self._gears.append(row)
        self.residual, self.drift = np.array(residual), np.array(drift)
        self.matrix = np.array(matrix).reshape(-1, len(rows))
        self.rank = int(_rank(self.matrix))

    def _end(self, name: str) -> Motion:
        model, data = self.judge.pin, self.judge.data
        frame = model.getFrameId(name)
        jacobian = pin.getFrameJacobian(model, data, frame, WORLD_AXES)[:, self.judge.rows]
        rate = pin.getFrameVelocity(model, data, frame, WORLD_AXES)
        drift = pin.getFrameClassicalAcceleration(model, data, frame, WORLD_AXES)
        pose = data.oMf[frame]
        return Motion(
            pose.rotation.copy(), pose.translation.copy(), jacobian[:3], jacobian[3:],
            rate.linear.copy(), rate.angular.copy(), drift.linear.copy(), drift.angular.copy(),
        )  # fmt: skip

    def embedding(self, independent: list[int]) -> tuple[Array, Array]:
        """G and g of v_tree = G v, a_tree = G a + g; g belongs to the state's v."""
        size = self.matrix.shape[1]
        if not len(self.matrix):
            return np.eye(size)[:, independent], np.zeros(size)
        null = np.linalg.svd(self.matrix)[2][self.rank :].T
        assert null.shape[1] == len(independent)
        embedding = null @ np.linalg.inv(null[independent])
        particular = -np.linalg.pinv(self.matrix, rcond=RANK) @ self.drift
        return embedding, particular - embedding @ particular[independent]

    def regularity(self, independent: list[int]) -> float:
        """How well the independent joints determine the rest: 0 (not at all) to 1."""
        if not len(self.matrix):
            return 1.0
        null = np.linalg.svd(self.matrix)[2][self.rank :].T
        if null.shape[1] != len(independent):
            return 0.0
        return float(np.linalg.svd(null[independent], compute_uv=False).min(initial=1.0))

    def efforts(self, a: Array, wrenches: dict[str, Array] | None = None) -> Array:
        """What the free tree's joints would need for the accelerations a, friction included."""
        external = self.judge.wrenches(wrenches or {})
        model, data = self.judge.pin, self.judge.data
        needed = pin.rnea(model, data, self._q, self._v, self.judge.velocity(a), external)
        return needed[self.judge.rows] + self.loss

    def loop_forces(self, missing: Array) -> dict[str, Array]:
        """Least-norm wrenches of the loops that carry the efforts `missing`."""
        wrenches = [(loop.name, *_wrench_rows(loop, one, two)) for loop, one, two in self._ends]
        rows = [row for _, of_loop, _ in wrenches for row in of_loop] + self._gears
        matrix = np.array(rows).reshape(-1, len(missing))
        multipliers = np.linalg.pinv(matrix.T, rcond=1e-10) @ missing
        result, first = {}, 0
        for name, _, share in wrenches:
            result[name] = share @ multipliers[first : first + share.shape[1]]
            first += share.shape[1]
        return result


def _equations(loop: Loop, one: Motion, two: Motion) -> list[tuple[float, Array, float]]:
    """Position constraints of a loop: value, Jacobian row, drift."""
    axis = np.array(loop.axis)
    e1, e2 = across(axis)
    gap = (
        two.point - one.point,
        two.linear - one.linear,
        two.v - one.v,
        two.dv - one.dv,
    )
    if loop.type in ("prismatic", "cylindrical"):
        equations = [dot(one.vector(e), gap) for e in (e1, e2)]
    elif loop.type == "planar":
        equations = [dot(one.vector(axis), gap)]
    else:
        equations = [(gap[0][k], gap[1][k], gap[3][k]) for k in range(3)]
    if loop.type in ("revolute", "continuous", "cylindrical", "planar"):
        equations += [dot(one.vector(e), two.vector(axis)) for e in (e1, e2)]
    elif loop.type == "universal":
        equations.append(dot(one.vector(e1), two.vector(e2)))
    elif loop.type in ("fixed", "prismatic"):
        pairs = ((e1, e2), (e2, axis), (axis, e1))
        equations += [dot(one.vector(x), two.vector(y)) for x, y in pairs]
    return equations


def _wrench_rows(loop: Loop, one: Motion, two: Motion) -> tuple[list[Array], Array]:
    """Rows of unit wrenches acting at the successor's frame, and these wrenches (6, m).

    They are given about the predecessor frame's origin in its axes.
    """
    axis = np.array(loop.axis)
    e1, e2 = (one.rotation @ e for e in across(axis))
    along = one.rotation @ axis
    arm = two.point - one.point
    slide = two.linear - one.linear - np.cross(one.angular.T, arm).T
    turn = two.angular - one.angular
    forces = {"prismatic": [e1, e2], "cylindrical": [e1, e2], "planar": [along]}
    moments = {
        "spherical": [],
        "universal": [np.cross(one.rotation @ across(axis)[0], two.rotation @ across(axis)[1])],
        "fixed": list(np.eye(3)),
        "prismatic": list(np.eye(3)),
    }
    rows, wrenches = [], []
    for force in forces.get(loop.type, list(np.eye(3))):
        rows.append(force @ slide)
        wrenches.append(np.hstack([one.rotation.T @ force, one.rotation.T @ np.cross(arm, force)]))
    for moment in moments.get(loop.type, [e1, e2]):
        rows.append(moment @ turn)
        wrenches.append(np.hstack([np.zeros(3), one.rotation.T @ moment]))
    return rows, np.array(wrenches).T


def _rank(matrix: Array) -> int:
    values = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    return int((values > RANK * values.max(initial=1e-300)).sum())
