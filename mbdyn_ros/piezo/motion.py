"""The motion of a piezo robot: joints that are freed and held at phases of the rotor's turn.

A joint whose transducer is off is held by friction, whatever the load. One whose transducer is on
moves without friction, under the rotor's force, gravity and the inertia of all:

    H_ff a_f = (Q(wt) - bias(q, v))_f,   v = 0 of all joints that are held.

Freeing a joint changes no velocity. Holding a joint that moves is an inelastic impulse in that
joint alone: the other free joints keep their momenta, (H v)_f, and kinetic energy is lost.

A transducer that is on stays so until the `off` that was set when it went on, and one that is
about to go on keeps its window. So every pulse is whole, however often the windows change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arguments import require_unit_quaternions, single_vector
from ..compiler.kernel import Bound
from ..errors import InputError
from ..integration.methods import RK4, FixedSteps
from ..model.model import Array
from ..names import former_name
from ..robot import Robot
from . import programs
from .programs import require_rotor
from .pulse_equations import TURN
from .pulses import PulseWindows
from .rotor import Rotor

ARMED = 0.2
"""A pulse that begins within this keeps its window, rad: windows move a little with the robot,
and the beginning of one must not be put back into the past."""


@dataclass(frozen=True)
class Pulse:
    """One pulse of one joint, when it is over.

    joint : name.
    on, off : angles of the rotor since the start, rad; not wrapped.

    requested, achieved : mean torque over a turn, N m or N: that of its window, and the real one.
    displacement : rad or m. speed : before the joint was held, rad/s or m/s.
    """

    joint: str
    on: float
    off: float
    requested: float
    achieved: float
    displacement: float
    speed: float

    asked = former_name("requested")
    way = former_name("displacement")


class PiezoMotion:
    """The motion of one piezo robot, from instant to instant at which a transducer switches.

    Between the instants the classical Runge-Kutta method of order 4; no step ends beyond one.

    Parameters
    ----------
    robot : on the ground, without dry friction.
    rotor : turns about the z axis of `link`, at its origin.
    link : name of the link that carries the rotor.
    step : largest part of a turn that one step of integration covers, rad.

    Attributes
    ----------
    q, v : (nq,), (nv,) the state. Change it with `set_state`.
    free : (nv,) 1 for joints that are free now, else 0.
    time : simulated seconds.
    angle : of the rotor since the start, rad; the phase is its remainder by 2 pi.
    pulses : those that ended, oldest first; clear it when it has been read.

    Raises
    ------
    InputError
        Closed loops, a floating base or joint, dry friction, or a step outside (0, 1].
    SingularMassMatrixError
        A link without mass can move alone; the message names it.
    """

    def __init__(self, robot: Robot, rotor: Rotor, link: str, step: float = 0.1) -> None:
        require_rotor(robot, rotor, link)
        robot.require_mass("simulation")
        robot.require_single("simulation")
        if robot.system.coordinates.quaternions:
            raise InputError(f"{robot.model.source}: a floating joint has no transducer to hold it")
        if robot.model.loops or robot.dependent_joints:
            raise InputError(f"{robot.model.source}: the motion of piezo robots is for trees only")
        rubbing = [body.joint for body in robot.system.tree.bodies if body.friction]
        if rubbing:
            raise InputError(
                f"{robot.model.source}: joint {rubbing[0]!r} has dry friction, but a transducer "
                "that is on takes it away; set its friction to 0"
            )
        if not (math.isfinite(step) and 0 < step <= 1):
            raise InputError(f"the step is {step} rad; it must be above 0 and at most 1")
        self.robot, self.link, self.step = robot, link, step
        self._motion = Bound(robot.calls.kernel(programs.pulsed_motion, link))
        self._mass = robot.bind("mass_matrix")
        size = robot.nv
        self._stepper = FixedSteps(RK4, robot.home_position, np.zeros((2, size)))
        self.q, self.free = self._stepper.q, np.zeros(size)
        self.v, self._felt = self._stepper.v  # the latter: integral of the torque over the angle
        self.time = self.angle = 0.0
        self.pulses: list[Pulse] = []
        self._windows: tuple[list[float], list[float], list[float]]
        self._next: list[float]  # angle at which each joint switches next
        self.stop()
        self._armed = [(0.0, 0.0)] * size  # width of the coming pulse, and its mean torque
        self._begun: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * size
        self.rotor = rotor

    @property
    def phase(self) -> float:
        """The phase of the rotor, rad, in [0, 2 pi)."""
        return self.angle % TURN

    def set_state(self, q: Array, angle: float = 0.0) -> None:
        """Put the robot somewhere else: at rest, all joints held, without windows."""
        position = single_vector("position", q, self.robot.position_labels)
        require_unit_quaternions(self.robot.system.coordinates, position)
        self.q[:] = position
        self.angle = angle
        self.stop()

    def stop(self) -> None:
        """Hold all joints at once, and set no windows."""
        size = self.robot.nv
        self.v[:], self.free[:] = 0.0, 0.0
        self._windows = [0.0] * size, [0.0] * size, [0.0] * size
        self._next = [math.inf] * size

    def command(self, windows: PulseWindows) -> None:
        """Set the windows of the coming pulses."""
        if windows.joints != tuple(self.robot.velocity_labels):
            raise InputError(
                f"the windows are of {', '.join(windows.joints)}, not of "
                f"{', '.join(self.robot.velocity_labels)}"
            )
        self.set_windows(windows.on.tolist(), windows.off.tolist(), windows.mean_torque.tolist())

    def set_windows(self, on: list[float], off: list[float], mean_torque: list[float]) -> None:
        """Set the windows from plain numbers in the order of the joints, unchecked."""
        self._windows = on, off, mean_torque
        for k in range(len(on)):
            if self.free[k]:
                continue
            if on[k] == off[k]:
                self._next[k] = math.inf
            elif self._next[k] > self.angle + ARMED:
                self._next[k] = self.angle + (on[k] - self.angle) % TURN
                self._armed[k] = (off[k] - on[k]) % TURN, mean_torque[k]

    def advance(self, duration: float) -> None:
        """Move on by a time, s; the rotor turns at its speed.

        Raises
        ------
        InputError
            The duration is negative or not finite.
        """
        if not (math.isfinite(duration) and duration >= 0):
            raise InputError(f"the duration is {duration} s; it must be 0 or more")
        end, start = self.angle + duration * self.rotor.speed, self.angle
        while self.angle < end:
            until = min(end, *self._next) if self._next else end
            self._move(until)
            self.angle = until
            for k, angle in enumerate(self._next):
                if angle <= until:
                    self._switch(k)
        self.time += (end - start) / self.rotor.speed

    def _switch(self, k: int) -> None:
        """Free a held joint for its window, or hold a free one."""
        if not self.free[k]:
            width, mean = self._armed[k]
            self.free[k] = 1.0
            self._felt[k] = 0.0
            self._begun[k] = (self.angle, float(self.q[k]), mean)
            self._next[k] = self.angle + width
            return
        angle, start, requested = self._begun[k]
        speed = float(self.v[k])
        self._hold(k)
        achieved, displacement = float(self._felt[k]) / TURN, float(self.q[k]) - start
        name = self.robot.velocity_labels[k]
        self.pulses.append(Pulse(name, angle, self.angle, requested, achieved, displacement, speed))
        on, off, mean = (values[k] for values in self._windows)
        self._next[k] = self.angle + (on - self.angle) % TURN if on != off else math.inf
        self._armed[k] = (off - on) % TURN, mean

    def _hold(self, k: int) -> None:
        """Stop a joint by an impulse in it: the other free ones keep their momenta."""
        self.free[k] = 0.0
        if self.v[k] == 0.0:
            return
        others = np.flatnonzero(self.free)
        if len(others):
            self._mass.q[:] = self.q
            self._mass()
            matrix = self._mass.result
            momenta = matrix[others] @ self.v
            self.v[others] = np.linalg.solve(matrix[np.ix_(others, others)], momenta)
        self.v[k] = 0.0

    def _move(self, until: float) -> None:
        """Integrate up to an angle of the rotor, at which the first transducer switches."""
        span = until - self.angle
        if not (span > 0 and self.free.any()):
            return
        program, speed = self._motion, self.rotor.speed
        count = math.ceil(span / self.step)
        part = span / count
        h = part / speed
        program.free[:], program.force[:] = self.free, self.rotor.amplitude

        def rate(q: Array, v: Array, result: Array) -> None:
            result[:] = v[0]

        def accelerate(share: float, q: Array, v: Array, result: Array) -> None:
            program.q[:], program.v[:], program.phase[0] = q, v[0], start + share * part
            program()
            result[:] = program.motion
            result[1] *= speed

        for n in range(count):
            start = self.angle + n * part
            self._stepper.advance(h, rate, accelerate)
