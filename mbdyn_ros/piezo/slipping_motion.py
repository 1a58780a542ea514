"""The motion of a piezo robot whose contacts slip, whose transducers ring, whose rotor is a body.

`PiezoMotion` holds a joint at once and forever, and its rotor turns whatever happens. Here
every joint has dry friction between +-T_i, T_i = holding (1 - e_i) with the envelope e_i of its
transducer's vibration (`Contact`): it sticks while it can and slips beyond. With a `RotorDrive`
the rotor is a body of the robot: its motor's torque acts back on the link, the link's motion on
the rotor, and its speed is no longer given.

Moreau's time stepping: over a step h with mass matrix H and bias taken in its middle,

    H (v' - v) = h (Q - bias) + p,   |p_i| <= h T_i,   p_i = -h T_i sign(v'_i) where v'_i is not 0.

It is of order 1 where contacts begin and cease to slip.
"""

from __future__ import annotations

import math

import numpy as np

from ..arguments import single_vector
from ..compiler.kernel import Bound
from ..errors import InputError
from ..model.model import Array
from ..robot import Robot
from ..simulation.contact.impulses import Blocks, contact_impulses
from . import programs
from .contact import ROTOR_JOINT, Contact, RotorDrive, with_rotor
from .motion import Pulse
from .programs import require_rotor
from .pulse_equations import TURN
from .pulses import PulseWindows
from .rotor import Rotor

REST_NOISE = 1e-9
"""Share of the change of velocity in a step under which a velocity is rounding."""


class SlippingMotion:
    """The motion of one piezo robot, in steps of a given part of the rotor's turn.

    Parameters
    ----------
    robot, rotor, link : as in `PiezoMotion`.
    contact : friction of all joints.
    drive : of the rotor; without it the rotor turns at its speed, whatever happens.
    step : largest part of a turn of one step, rad.

    Attributes
    ----------
    q, v : (n,) the state of the joints. free : (n,) 1 where the transducer is on.
    envelope : (n,) of the vibrations, 0 to 1.
    time, angle, pulses : as in `PiezoMotion`; `achieved` is that of the centrifugal force, and
        the displacement and speed are those when the transducer goes off.

    Raises
    ------
    InputError
        A floating base, closed loops, dry friction of the robot's own, or bad numbers.
    """

    def __init__(
        self,
        robot: Robot,
        rotor: Rotor,
        link: str,
        contact: Contact,
        drive: RotorDrive | None = None,
        step: float = 0.05,
    ) -> None:
        require_rotor(robot, rotor, link)
        if robot.floating_base or robot.model.loops or robot.dependent_joints:
            raise InputError(
                f"{robot.model.source}: the motion of piezo robots is for trees on the ground only"
            )
        if any(body.friction for body in robot.system.tree.bodies):
            raise InputError(
                f"{robot.model.source}: a joint has dry friction and that of its "
                "contact too; set the former to 0"
            )
        if not (math.isfinite(step) and 0 < step <= 1):
            raise InputError(f"the step is {step} rad; it must be above 0 and at most 1")
        self.robot, self.link, self.rotor, self.contact = robot, link, rotor, contact
        self.drive, self.step = drive, step
        whole = robot if drive is None else with_rotor(robot, rotor, link, drive.inertia)
        whole.require_mass("simulation")
        labels = list(whole.velocity_labels)
        self._joints = [labels.index(name) for name in robot.velocity_labels]
        self._turns = labels.index(ROTOR_JOINT) if drive is not None else -1
        self._mass, self._bias = whole.bind("mass_matrix"), whole.bind("bias_vector")
        self._components = Bound(robot.calls.kernel(programs.rotor_torques, link))
        size = len(labels)
        self._q, self._v, self._guess, self._rate = np.zeros((4, size))
        self.free, self.envelope, self._felt = np.zeros((3, robot.nv))
        self.time, self._angle = 0.0, 0.0
        self.pulses: list[Pulse] = []
        self._windows = np.zeros((3, robot.nv))
        self._next = np.full(robot.nv, math.inf)
        self._begun: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * robot.nv
        self.speed = rotor.speed

    @property
    def q(self) -> Array:
        """Positions of the joints (n,), a copy."""
        return self._q[self._joints]

    @property
    def v(self) -> Array:
        """Velocities of the joints (n,), a copy."""
        return self._v[self._joints]

    @property
    def angle(self) -> float:
        """Angle of the rotor against its link since the start, rad."""
        return self._angle if self.drive is None else float(self._q[self._turns])

    @property
    def speed(self) -> float:
        """Speed of the rotor against its link, rad/s."""
        return self.rotor.speed if self.drive is None else float(self._v[self._turns])

    @speed.setter
    def speed(self, speed: float) -> None:
        if self.drive is not None:
            self._v[self._turns] = speed

    def set_state(self, q: Array, angle: float = 0.0) -> None:
        """Put the robot somewhere else: at rest, all transducers off, the rotor at its speed."""
        position = single_vector("position", q, self.robot.position_labels)
        for one in (self._q, self._v, self._guess, self._rate):
            one[:] = 0.0
        self._q[self._joints] = position
        self._angle = angle
        if self.drive is not None:
            self._q[self._turns] = angle
        self.speed = self.rotor.speed
        self.free[:], self.envelope[:], self._windows[:] = 0.0, 0.0, 0.0
        self._next[:] = math.inf

    def command(self, windows: PulseWindows) -> None:
        """Set the windows of the coming pulses; one that has begun keeps its own."""
        self._windows[:] = windows.on, windows.off, windows.mean_torque
        for k in np.flatnonzero(self.free == 0).tolist():
            self._next[k] = self._opening(k)

    def advance(self, duration: float) -> None:
        """Move on by a time, s.

        Raises
        ------
        InputError
            The duration is negative or not finite.
        """
        if not (math.isfinite(duration) and duration >= 0):
            raise InputError(f"the duration is {duration} s; it must be 0 or more")
        end = self.time + duration
        while end - self.time > 1e-15 * max(1.0, end):
            speed = max(abs(self.speed), 0.01 * self.rotor.speed)
            ahead = min(self.step, max(float(self._next.min()) - self.angle, 1e-9))
            self._take(min(ahead / speed, end - self.time))
            for k in np.flatnonzero(self._next <= self.angle + 1e-9).tolist():
                self._switch(k)
        self.time = end

    def _opening(self, k: int) -> float:
        """The angle at which the transducer of a joint goes on next."""
        on, off, _ = self._windows[:, k]
        return self.angle + (on - self.angle) % TURN if on != off else math.inf

    def _switch(self, k: int) -> None:
        """Switch a transducer."""
        on, off, mean = self._windows[:, k].tolist()
        if not self.free[k]:
            self.free[k], self._felt[k] = 1.0, 0.0
            self._begun[k] = (self.angle, float(self.q[k]), mean)
            self._next[k] = self.angle + (off - on) % TURN
            return
        began, start, requested = self._begun[k]
        self.free[k] = 0.0
        displacement, speed, felt = self.q[k] - start, self.v[k], self._felt[k] / TURN
        name = self.robot.velocity_labels[k]
        one = Pulse(
            name, began, self.angle, requested, float(felt), float(displacement), float(speed)
        )
        self.pulses.append(one)
        self._next[k] = self._opening(k)

    def _take(self, h: float) -> None:
        """One step of length h, s."""
        middle = self._q + h / 2 * self._v
        faster = self._v + h / 2 * self._rate  # in the middle, as the last step went
        self._mass.q[:], self._bias.q[:], self._bias.v[:] = middle, middle, faster
        self._mass()
        self._bias()
        inverse = np.asarray(np.linalg.inv(self._mass.result), dtype=np.float64)
        force = -self._bias.result
        self._components.q[:] = middle[self._joints]
        self._components()
        phase = self.angle + h / 2 * self.speed
        felt = self._components.result @ (math.cos(phase), math.sin(phase))
        felt *= self.rotor.mass * self.rotor.radius * self.speed**2
        if self.drive is None:
            force[self._joints] += felt
        else:
            force[self._turns] += self.drive.torque(float(faster[self._turns]))
        bound: Array = np.zeros(len(force))
        half = self.contact.envelope(self.envelope, self.free, h / 2)
        bound[self._joints] = h * self.contact.holding * (1.0 - half)
        without = self._v + h * inverse @ force
        self._guess = contact_impulses(inverse, without, Blocks.dry(bound), self._guess)
        before, turned = self._v, self.angle
        self._v = without + inverse @ self._guess
        self._v[np.abs(self._v) < REST_NOISE * np.abs(without - before).max(initial=0.0)] = 0.0
        self._rate = (self._v - before) / h
        self._q = middle + h / 2 * self._v
        self.envelope = self.contact.envelope(self.envelope, self.free, h)
        self._angle += h * self.rotor.speed
        self._felt += felt * (self.angle - turned)
        self.time += h
