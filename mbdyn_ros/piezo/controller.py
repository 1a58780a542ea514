"""The pulses that keep a piezo robot on its path, cycle after cycle."""

from __future__ import annotations

import math

import numpy as np

from ..arguments import single_vector
from ..compiler.kernel import Bound
from ..errors import InputError
from ..model.model import Array
from ..robot import Robot
from . import programs
from .programs import require_rotor
from .pulse_equations import CONTROL_ROWS
from .pulses import PulseWindows
from .rotor import Rotor


class PulseController:
    """Computes pulses from the measured positions and where the joints are wanted.

    A joint is wanted to go wanted_v + gain (wanted_q - q) times the time of a turn in the next
    turn of the rotor. Inverse dynamics of the joint, free alone and from rest, gives the mean
    torque that it takes; `pulse_equations` has the equations. Joints within `tolerance` of where
    they are wanted are left to the friction that holds them.

    Parameters
    ----------
    robot : with a fixed base; one position for each velocity.
    rotor : turns about the z axis of `link`, at its origin.
    link : name of the link that carries the rotor.
    gain : 1/s; it may be set between cycles. A cycle corrects what earlier pulses have not yet
        shown, too: keep gain times the time between measured states and pulses below 1.
    tolerance : rad or m.

    Attributes
    ----------
    q, wanted_q, wanted_v : (n,), to be filled in place before each cycle (rad, rad/s or m, m/s).
    on, off, mean_torque, saturated, able : (n,) results: phases, rad; mean torques over a turn,
        N m or N; 1 where the joint will go less far than wanted; 0 where the rotor cannot move
        the joint in the wanted direction at all.
    """

    def __init__(
        self,
        robot: Robot,
        rotor: Rotor,
        link: str,
        gain: float = 50.0,
        tolerance: float = 1e-5,
    ) -> None:
        if robot.system.coordinates.quaternions:
            raise InputError(f"{robot.model.source}: a floating joint has no transducer to pulse")
        require_rotor(robot, rotor, link)
        robot.require_mass("control by pulses")
        self.robot, self.link = robot, link
        program = Bound(robot.calls.kernel(programs.pulse_control, link))
        self._program = program
        self.q, self.wanted_q, self.wanted_v = program.q, program.wanted_q, program.wanted_v
        (
            self.on, self.off, self.mean_torque, self.saturated, self._amplitude, self._phase,
            self._displacement, self.able,
        ) = program.result  # fmt: skip
        assert len(CONTROL_ROWS) == len(program.result)
        self.cycle = program
        self.gain, self.tolerance = gain, tolerance
        self.rotor = rotor

    @property
    def rotor(self) -> Rotor:
        """The rotor; set one of another speed when it has changed."""
        return self._rotor

    @rotor.setter
    def rotor(self, rotor: Rotor) -> None:
        self._rotor = rotor
        self._program.force[0], self._program.speed[0] = rotor.amplitude, rotor.speed

    @property
    def gain(self) -> float:
        """The gain of the feedback, 1/s."""
        return float(self._program.gain[0])

    @gain.setter
    def gain(self, gain: float) -> None:
        self._program.gain[0] = _not_negative("gain", gain)

    @property
    def tolerance(self) -> float:
        """Error that is left alone, rad or m."""
        return float(self._program.tolerance[0])

    @tolerance.setter
    def tolerance(self, tolerance: float) -> None:
        self._program.tolerance[0] = _not_negative("tolerance", tolerance)

    @property
    def windows(self) -> PulseWindows:
        """The pulses of the last cycle."""
        return PulseWindows.of(self.robot, self._program.result)

    def pulses(self, q: Array, wanted_q: Array, wanted_v: Array) -> PulseWindows:
        """One cycle with checked input.

        Raises
        ------
        InputError
            Wrong shape, NaN or infinity; the message names the joint.
        """
        labels = self.robot.velocity_labels
        for what, memory, value in (
            ("position", self.q, q),
            ("wanted position", self.wanted_q, wanted_q),
            ("wanted velocity", self.wanted_v, wanted_v),
        ):
            memory[:] = single_vector(what, value, labels)
        self.cycle()
        return self.windows

    def unable(self) -> list[str]:
        """Joints that are wanted elsewhere but that the rotor cannot move there in this pose."""
        return self._names(self.able == 0)

    def slow(self) -> list[str]:
        """Joints that a full pulse in every turn moves more slowly than wanted."""
        return self._names((self.saturated != 0) & (self.able != 0))

    def _names(self, chosen: np.ndarray) -> list[str]:
        return [self.robot.velocity_labels[k] for k in np.flatnonzero(chosen).tolist()]


def _not_negative(what: str, value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"the {what} is {value}; it must be 0 or more")
    return value
