"""Samples of a running simulation, and the trajectory they make."""

from __future__ import annotations

import numpy as np

from ...equations import programs
from ...model.model import Array
from ...robot import Robot
from ..trajectory import Trajectory
from .integrator import Step
from .motion import Motion

Sample = tuple[float, Array, Array, Array, Array]
"""Time, state, accelerations, efforts, and the home from which loops are closed."""


class Recorder:
    """Keeps states: of every accepted step and before every impact, or at given times (N,) only.

    An impact has two rows, for the states before and after it: the former is the last number
    before the instant, so that times rise.

    homes : from which the loops of every sample are closed; with the trajectory.
    """

    homes: Array

    def __init__(self, robot: Robot, motion: Motion, times: Array | None) -> None:
        self._robot = robot
        self._motion = motion
        self._times = times
        self._next = 0
        self._samples: list[Sample] = []
        self._ending: Sample | None = None

    def step(self, step: Step) -> None:
        """Keep what a step has to give, its end excluded, in the mode in which it was made."""
        if self._times is None:
            self.keep(step.start, step.initial)
            self._ending = None
            if step.ended:
                instant = float(np.nextafter(step.end, -np.inf))
                self._ending = self._sample(instant, step.state(step.end), None)
            return
        until = int(np.searchsorted(self._times, step.end))
        if until > self._next:
            times = self._times[self._next : until]
            states = step.states(times)
            self._motion.normalize(states)
            for t, y in zip(times.tolist(), states, strict=True):
                self.keep(t, y)
            self._next = until

    def jumped(self) -> None:
        """Keep the end of the last step: an impact follows."""
        if self._ending is not None and self._ending[0] > self._samples[-1][0]:
            self._samples.append(self._ending)
        self._ending = None

    def finish(self, t: float, y: Array) -> None:
        """Keep the last state, if it was asked for."""
        if self._times is None or (self._next < len(self._times) and self._times[self._next] == t):
            self.keep(t, y)

    def rewind(self, t: float) -> None:
        """Forget the samples from t on."""
        self._samples = [sample for sample in self._samples if sample[0] < t]
        if self._times is not None:
            self._next = int(np.searchsorted(self._times, t))

    def keep(self, t: float, y: Array, a: Array | None = None) -> None:
        """Keep a state; the loops are closed from where home is now.

        a : (nv,) accelerations, if they are not those of the present mode.
        """
        self._samples.append(self._sample(t, y, a))

    def _sample(self, t: float, y: Array, a: Array | None) -> Sample:
        q, v = self._motion.split(y)
        effort = self._motion.effort_at(t, y)
        if a is None:
            a = self._motion.dynamics.acceleration(q, v, effort)
        home = self._robot.calls.home.copy()
        return t, y.copy(), a.copy(), np.array(effort), home

    def trajectory(self, steps: int) -> Trajectory:
        """The trajectory of the samples so far. steps : that the integrator took."""
        robot, motion = self._robot, self._motion
        count = len(self._samples)
        sizes = motion.size, robot.nv, len(robot.effort_labels), len(robot.calls.home)
        empty = 0.0, *(np.zeros(size) for size in sizes)
        columns = zip(*self._samples, empty, strict=True)  # so that none has no shape
        time, states, a, effort, homes = (np.array(column)[:count] for column in columns)
        self.homes = homes
        q, v = states[:, : robot.nq], states[:, robot.nq : robot.nq + robot.nv]
        energy = robot.calls.along(programs.energy, (q, v), homes)
        joint_position, joint_velocity = all_joints(robot, q, v, homes)
        actuator_states, actuator_labels = motion.actuator_record(states)
        return Trajectory(
            time=time,
            q=q,
            v=v,
            a=a,
            joint_position=joint_position,
            joint_velocity=joint_velocity,
            effort=effort,
            energy=energy,
            work=motion.work(states),
            position_labels=robot.position_labels,
            velocity_labels=robot.velocity_labels,
            effort_labels=robot.effort_labels,
            actuator_states=actuator_states,
            actuator_labels=actuator_labels,
            steps=steps,
        )


def all_joints(robot: Robot, q: Array, v: Array, homes: Array) -> tuple[Array, Array]:
    """Positions and velocities (N, n) of all joints, at states that are reached from homes."""
    system = robot.system
    coordinates = system.coordinates
    rows_q, rows_v = map(list, coordinates.joint_rows)
    if system.linkages:
        position = robot.calls.along(programs.joint_position, (q,), homes)
        velocity = robot.calls.along(programs.joint_velocity, (q, v), homes)
        return position[:, rows_q], velocity[:, rows_v]
    # nothing to compute or, where it is new, to compile
    in_q = [coordinates.q.index(row) for row in rows_q]
    in_v = [coordinates.v.index(row) for row in rows_v]
    return q[:, in_q], v[:, in_v]
