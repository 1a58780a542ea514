"""Boxes, cylinders and meshes of links that come near each other, which events do not see."""

from __future__ import annotations

from ...errors import ContactError
from ...model.model import Array
from ...robot import Robot
from ..contact.contacts import Contacts
from ..contact.environment import Environment
from ..stepped.solid_slots import AHEAD, SolidSlots
from ..stepped.step_in_c import StepInC


class Nearby:
    """The end of a part of a motion before shapes of links may touch: equal steps go on there."""

    def __init__(self, robot: Robot, environment: Environment) -> None:
        contacts = Contacts(robot, environment, only_watch=True)
        self._slots = SolidSlots(contacts, StepInC.among(robot, contacts))

    def refuse(self, q: Array, v: Array, span: float) -> None:
        """Refuse a step of this length (s) from a state in which shapes may touch.

        Raises
        ------
        ContactError
            They may; the message names their links.
        """
        near = self._slots.near(q, v, AHEAD * span)
        if near:
            raise ContactError(f"{', '.join(near)}: they are near each other")
