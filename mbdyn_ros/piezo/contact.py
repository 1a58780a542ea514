"""Contacts of spheres and cylinders, and the rotor's drive, as a closer look sees them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..model.model import Array
from ..robot import Robot, load
from .rotor import Rotor

ROTOR_JOINT = "piezo_rotor"
"""Name of the joint of a rotor that is a body."""


@dataclass(frozen=True)
class Contact:
    """Dry friction of a joint, and how soon vibration takes it away.

    A joint whose transducer is off holds up to `holding` and slips beyond. While the transducer
    vibrates the friction is holding (1 - e), with the envelope e of the vibration: e' = (1 - e) /
    ring_up when it is on, e' = -e / ring_down when it is off; 0 means at once.

    Parameters
    ----------
    holding : N m or N, the same for all joints. ring_up, ring_down : s.

    Raises
    ------
    InputError
        A number is not finite, the friction not positive or a time negative.

    Examples
    --------
    >>> contact = Contact(holding=0.5, ring_up=1e-3, ring_down=5e-4)
    >>> contact.envelope(np.zeros(1), np.ones(1), 1e-3).round(4)
    array([0.6321])
    """

    holding: float
    ring_up: float = 0.0
    ring_down: float = 0.0

    def __post_init__(self) -> None:
        for name in ("holding", "ring_up", "ring_down"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and math.isfinite(value) and value >= 0):
                raise InputError(f"{name} of the contact is {value!r}; it must be 0 or more")
        if not self.holding:
            raise InputError("holding of the contact is 0: nothing would hold the joints")

    def envelope(self, start: Array, on: Array, time: float) -> Array:
        """The envelopes (n,) some time (s) after they were `start`; on : (n,) 1 or 0."""
        goal = np.where(on, 1.0, 0.0)
        constant = np.where(on, self.ring_up, self.ring_down)
        decay = np.exp(-time / np.where(constant > 0, constant, 1.0))
        found: Array = goal + (start - goal) * np.where(constant > 0, decay, 0.0)
        return found


@dataclass(frozen=True)
class RotorDrive:
    """A motor between the rotor's link and the rotor: torque falls linearly with the speed.

    Its torque acts on the rotor, its reaction on the link.

    Parameters
    ----------
    stall : torque at rest, N m. no_load : speed at which it has none, rad/s.
    inertia : of the rotating parts without the unbalance, about its axis, kg m^2.

    Raises
    ------
    InputError
        A number is not finite, or not positive (the inertia: negative).
    """

    stall: float
    no_load: float
    inertia: float = 0.0

    def __post_init__(self) -> None:
        for name in ("stall", "no_load", "inertia"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and math.isfinite(value) and value >= 0):
                raise InputError(f"{name} of the rotor's drive is {value!r}; it must be positive")
        if not (self.stall and self.no_load):
            raise InputError("stall and no_load of the rotor's drive must be positive")

    def torque(self, speed: float) -> float:
        """Torque on the rotor (N m) at its speed against the link, rad/s."""
        return self.stall * (1.0 - speed / self.no_load)


def with_rotor(robot: Robot, rotor: Rotor, link: str, inertia: float) -> Robot:
    """The robot with the rotor as one more body: the joint `ROTOR_JOINT` about z of the link.

    Parameters
    ----------
    inertia : of the rotating parts without the unbalance, a point mass, about its axis, a
        thin disc; kg m^2.
    """
    across = float(inertia) / 2
    body = load(
        '<robot name="unbalance"><link name="rotor_hub"/><link name="rotor_mass"><inertial>'
        f'<origin xyz="{rotor.radius!r} 0 0"/><mass value="{rotor.mass!r}"/>'
        f'<inertia ixx="{across!r}" iyy="{across!r}" izz="{float(inertia)!r}" ixy="0" ixz="0" '
        f'iyz="0"/></inertial></link><joint name="{ROTOR_JOINT}" type="continuous">'
        '<axis xyz="0 0 1"/><parent link="rotor_hub"/><child link="rotor_mass"/></joint></robot>'
    )
    return robot.attached(body, link)
