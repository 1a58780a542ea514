"""Words for walls that compiled steps have passed unseen, or that hold nothing."""

from __future__ import annotations

from ...array import Array
from ...errors import SimulationError, SimulationWarning, warn
from ..contact.contacts import Contacts
from ..contact.refusals import refuse_unsound
from .step_in_c import MotionInC


class Noticed:
    """Walls that were passed unseen, or have no value, in the steps of one motion.

    Parameters
    ----------
    source : of the robot, for messages.
    """

    def __init__(self, source: str, contacts: Contacts, motion: MotionInC) -> None:
        self._source, self._contacts, self._motion = source, contacts, motion.motion
        self._said = False

    def say_unseen(self) -> None:
        """Warn, once a motion, where a step was too long for how fast the robot moves."""
        motion = self._motion
        if not motion.unseen or self._said:
            return
        self._said = True
        warn(
            f"{self._source}: {self._contacts.name(motion.passed)} may have been missed at "
            f"t = {motion.passed_at:.6g} s: the point moves farther in one step of "
            f"{motion.step:g} s than its distance to the wall. Use shorter steps. Further cases "
            "are only counted, in `unseen`",
            SimulationWarning,
        )

    def refuse_unsound(self, q: Array, v: Array) -> None:
        """Refuse a wall that has no value, no normal or no inside where the last step met it.

        Raises
        ------
        SimulationError
            It is; the message names point, wall, time and place.
        """
        met, self._motion.unsound = self._motion.unsound, 0
        if not met:
            return
        try:
            refuse_unsound(self._contacts, met - 1, q, v)
        except SimulationError as error:
            time = self._motion.time
            raise SimulationError(f"{self._source}: at t = {time:.6g} s {error}") from None
