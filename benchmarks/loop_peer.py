"""Robots with closed loops in Pinocchio, which is given what our calls find out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from mbdyn_ros import Robot
from mbdyn_ros.array import Array
from mbdyn_ros.bench.benchmark import Call


class LoopPeer:
    """A tree in Pinocchio with a point contact at every closing joint, and the states of a motion.

    Pinocchio is given positions and velocities of all joints, passive ones too.

    Parameters
    ----------
    text : URDF of the tree.
    q, v : states (N, nv) of the independent joints. effort : of the actuated joints.
    accuracy, iterations : of `ProximalSettings`, with a step of 1e-12.
    """

    def __init__(
        self,
        robot: Robot,
        text: str,
        q: Array,
        v: Array,
        effort: Array,
        accuracy: float,
        iterations: int,
    ) -> None:
        self.model = pin.buildModelFromXML(text)
        self.contacts = pin.StdVec_RigidConstraintModel()
        for loop in robot.model.loops:
            ends: list[Any] = []
            for link, pose in (
                (loop.predecessor, loop.predecessor_frame),
                (loop.successor, loop.successor_frame),
            ):
                frame = self.model.frames[self.model.getFrameId(link, pin.BODY)]
                place = pin.SE3(np.array(pose.rotation), np.array(pose.translation))
                ends += [frame.parentJoint, frame.placement * place]
            contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *ends)
            self.contacts.append(contact)
        joints = [self.model.joints[self.model.getJointId(name)] for name in robot.joint_names]
        rows = {name: joint.idx_v for name, joint in zip(robot.joint_names, joints, strict=True)}
        self.rows = [rows[name] for name in robot.independent_joints]
        self.effort = np.zeros(self.model.nv)
        self.effort[[rows[name] for name in robot.actuated_joints]] = effort
        self.few = pin.ProximalSettings(1e-12, accuracy, iterations)
        positions, rates, _ = robot.joint_state(q, v)
        assert rates is not None and np.isfinite(positions).all(), "out of reach"
        self.states = []
        for whole, rate in zip(positions, rates, strict=True):
            x, dx = pin.neutral(self.model), np.zeros(self.model.nv)
            for joint, angle, one in zip(joints, whole, rate, strict=True):
                place = slice(joint.idx_q, joint.idx_q + joint.nq)
                x[place] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
                dx[joint.idx_v] = one
            self.states.append((x, dx))

    def call(self, function: str) -> Call:
        """`constraintDynamics` or `lcaba` at all states, with data of its own."""
        data = self.model.createData()
        buffers = pin.StdVec_RigidConstraintData()
        buffers.extend(contact.createData() for contact in self.contacts)
        if function == "lcaba":
            pin.computeJointMinimalOrdering(self.model, data, self.contacts)
        else:
            pin.initConstraintDynamics(self.model, data, self.contacts, buffers)
        names = {name: getattr(self, name) for name in ("model", "states", "effort", "contacts")}
        names |= {"call": getattr(pin, function), "data": data, "buffers": buffers}
        names["few"] = self.few
        return Call(
            "for q, v in states: call(model, data, q, v, effort, contacts, buffers, few)", names
        )

    def accelerations(self) -> Array:
        """Of the independent joints (N, nv) at all states, by `constraintDynamics`."""
        names = self.call("constraintDynamics").names
        given = [names[name] for name in ("effort", "contacts", "buffers", "few")]
        model, data = names["model"], names["data"]
        found = [pin.constraintDynamics(model, data, *one, *given).copy() for one in self.states]
        return np.array(found)[:, self.rows]
